"""Measure a model in process on a GPU: judgements a second, memory, and whether ratings are those on the CPU.

    python scripts/gpu.py FOLDER [--texts 400] [--dtype bfloat16]

FOLDER is a causal language model. Each way to run it is a process of its own, which first loads it with one
text. The texts are those of `mini/summeval`, by the protocol g-eval-prob, whose scores are means under token
probabilities, so that a small difference shows. The CPU rates the first texts only.
"""

import argparse
import importlib.util
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import dhp

TEXTS_ON_CPU = 20
Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Measured:
    """One way to run the model."""

    scores: dict[Key, float]
    """By example, variant and metric."""
    seconds: float
    judgements: int
    memory: float
    """Of the GPU in use at the end, in GB."""


def gpu_name() -> str | None:
    """Of the first GPU that torch sees; None where there is none."""
    if importlib.util.find_spec("torch") is None:
        return None
    import torch

    return torch.cuda.get_device_name(0) if torch.cuda.is_available() else None


def rated(model: str, device: str, dtype: str, number: int) -> Measured:
    """Rate texts with the model, which is loaded before."""
    settings = dhp.ModelSettings(device=device, dtype=dtype, store=False, keep_going=True)
    judge = dhp.llm_judge(model, "g-eval-prob", settings=settings)
    part = dhp.perturb_datasets("mini/summeval")[0]
    texts = part.candidates()[:number]
    list(judge.rate(texts[:1], part.dataset.task))
    began = time.perf_counter()
    ratings = list(judge.rate(texts, part.dataset.task))
    seconds = time.perf_counter() - began
    scores = {(r.example, r.variant, r.metric): r.score for r in ratings if r.score is not None}
    return Measured(scores, seconds, len(ratings), _memory_in_use())


def _memory_in_use() -> float:
    import torch

    if not torch.cuda.is_available():
        return 0.0
    free, total = torch.cuda.mem_get_info()
    return float(total - free) / 1e9


def measured(model: str, device: str, dtype: str, number: int) -> Measured:
    """The same in a process of its own, whose memory is free afterwards."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as alone:
        return alone.submit(rated, model, device, dtype, number).result()


def compared(here: Measured, there: Measured) -> str:
    """How far the ratings of the same texts lie apart."""
    both = here.scores.keys() & there.scores.keys()
    if not both:
        return "no rating in common"
    apart = sorted(abs(here.scores[key] - there.scores[key]) for key in both)
    median, most = apart[len(apart) // 2], apart[-1]
    return f"{len(both)} ratings of both, median {median:.4f} and at most {most:.4f} from those on the CPU"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--texts", type=int, default=400, help="on the GPU, at most 456; default 400")
    parser.add_argument("--dtype", default="bfloat16")
    args = parser.parse_args()
    name = gpu_name()
    if name is None:
        sys.exit("no GPU here: torch sees none, so nothing is measured")
    print(f"{name}, {args.dtype}, texts of mini/summeval on four metrics")
    cpu = measured(f"hf/{args.folder}", "cpu", args.dtype, min(TEXTS_ON_CPU, args.texts))
    print(f"hf   cpu   {cpu.judgements / cpu.seconds:8.2f} judgements a second")
    for provider, device in (("hf", "cuda"), ("vllm", "auto")):
        if provider == "vllm" and importlib.util.find_spec("vllm") is None:
            print("vllm       not installed")
            continue
        gpu = measured(f"{provider}/{args.folder}", device, args.dtype, args.texts)
        speed = f"{gpu.judgements / gpu.seconds:8.2f} judgements a second, {gpu.memory:.1f} GB of the GPU"
        print(f"{provider:4} {device:5} {speed}; {compared(gpu, cpu)}")


if __name__ == "__main__":
    main()
