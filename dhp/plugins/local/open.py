"""Opens the models of this plug-in; refuses settings that they cannot use."""

from typing import TYPE_CHECKING

from dhp.core.errors import InputError
from dhp.llm.settings import ModelSettings

if TYPE_CHECKING:
    from dhp.plugins.local.hf import HfModel
    from dhp.plugins.local.vllm_model import VllmModel


def open_hf(name: str, settings: ModelSettings) -> "HfModel":
    """The model `hf/NAME_OR_PATH`; raises `InputError` for settings of a server."""
    _check(f"hf/{name}", settings)
    from dhp.plugins.local.hf import HfModel

    return HfModel(
        name,
        device=settings.device,
        dtype=settings.dtype,
        batch_size=settings.batch_size,
        chat_template=settings.chat_template,
    )


def open_vllm(name: str, settings: ModelSettings) -> "VllmModel":
    """The model `vllm/NAME_OR_PATH`; raises `InputError` for settings that vLLM chooses by itself."""
    _check(f"vllm/{name}", settings)
    from dhp.plugins.local.vllm_model import VllmModel

    if settings.batch_size is not None:
        raise InputError(f"`batch_size` {settings.batch_size}: is for hf/NAME; vLLM chooses it by itself")
    if settings.device not in ("auto", "all"):
        raise InputError(
            f"`device` {settings.device}: is for hf/NAME; vLLM takes the GPUs of CUDA_VISIBLE_DEVICES; "
            "allowed: auto (one of them), all"
        )
    return VllmModel(name, device=settings.device, dtype=settings.dtype, chat_template=settings.chat_template)


def _check(model: str, settings: ModelSettings) -> None:
    if settings.base_url is not None:
        raise InputError(f"`base_url` {settings.base_url}: is for openai/NAME; {model} runs in this process")
