"""Loading of models by transformers, without code from repositories."""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dhp.core.errors import InputError
from dhp.plugins.local.quiet import quiet
from dhp.plugins.local.source import Source

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase


def load_config(source: Source) -> "PreTrainedConfig":
    """The configuration of the model."""
    from transformers import AutoConfig

    config: PreTrainedConfig = _load(AutoConfig.from_pretrained, source)
    return config


def load_tokenizer(source: Source) -> "PreTrainedTokenizerBase":
    """The tokenizer of the model."""
    from transformers import AutoTokenizer

    tokenizer: PreTrainedTokenizerBase = _load(AutoTokenizer.from_pretrained, source)
    return tokenizer


def load_network(source: Source, device: str) -> "PreTrainedModel":
    """The model with its weights, on the device (`all`: spread over all of them), for inference."""
    import torch
    from transformers import AutoModelForCausalLM

    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    load = functools.partial(
        AutoModelForCausalLM.from_pretrained,
        dtype=source.dtype,
        output_loading_info=True,
        device_map="auto" if device == "all" else None,
    )
    network: PreTrainedModel
    network, report = _load(load, source)
    if report["missing_keys"]:
        missing = sorted(report["missing_keys"])
        raise InputError(
            f"model '{source.model}': the checkpoint lacks {len(missing)} weights, the first '{missing[0]}'; "
            f"must be a causal language model"
        )
    try:
        if device != "all":
            network.to(device)  # type: ignore[arg-type]
    except torch.OutOfMemoryError:
        raise InputError(f"model '{source.model}': does not fit into the memory of {device}") from None
    network.generation_config.cache_implementation = None  # any other cannot continue a shared beginning
    return network


def _load(load: Callable[..., Any], source: Source) -> Any:
    try:
        with quiet():
            return load(source.path, revision=source.revision, trust_remote_code=False)
    except Exception as e:  # of any kind: damaged files, unknown kinds of model, missing packages
        reason = " ".join(str(e).split())
        if "trust_remote_code" in reason:
            reason = "needs code from its repository, which is never run; choose one built into transformers"
        else:
            reason = f"cannot be loaded: {reason[:200] or type(e).__name__}"
        raise InputError(f"model '{source.model}': {reason}") from e
