"""Opens language models by name, `provider/name`."""

from pathlib import Path

from dhp.core.errors import InputError, suggest
from dhp.llm.api import Client, LocalModel

PROVIDERS = ("openai", "litellm", "hf")


def open_model(
    model: str,
    *,
    base_url: str | None = None,
    timeout: float = 120.0,
    transport: str | None = None,
    device: str = "auto",
    dtype: str = "auto",
    batch_size: int | None = None,
    chat_template: str | Path | None = None,
) -> Client | LocalModel:
    """The model called `openai/NAME` (any server by `base_url`), `litellm/NAME` or `hf/NAME_OR_PATH`.

    Raises
    ------
    InputError
        For an unknown provider, an empty name, or what the model itself cannot do with these.
    """
    provider, _, name = model.partition("/")
    if provider not in PROVIDERS:
        raise InputError(f"model '{model}': unknown provider '{provider}'; {suggest(provider, PROVIDERS)}")
    if not name.strip("/"):
        raise InputError(f"model '{model}': its name is missing; must have the form {provider}/NAME")
    if provider == "litellm":
        from dhp.llm.clients.litellm import litellm_client

        if transport is not None:
            raise InputError(f"`transport` {transport}: is for openai/NAME; {model} is reached by litellm")
        return litellm_client(name, base_url, timeout=timeout)
    if provider == "openai":
        from dhp.llm.clients.openai_client import OpenAIClient

        if base_url is not None and not base_url.strip():
            raise InputError("`base_url`: is empty; allowed: the address of a server, up to /v1")
        if chat_template is not None:
            raise InputError(f"`chat_template` {chat_template}: is for hf/NAME; a server has its own")
        return OpenAIClient(name, base_url, timeout=timeout, transport=transport)
    if base_url is not None:
        raise InputError(f"`base_url` {base_url}: is for openai/NAME; {model} runs in this process")
    from dhp.llm.hf.model import HfModel

    return HfModel(name, device=device, dtype=dtype, batch_size=batch_size, chat_template=chat_template)
