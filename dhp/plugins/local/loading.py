"""Loading of local models: source, settings, vocabulary.

`find` says what a name means, a folder or a repository on the hub, and what tells its answers from those of
another model: the commit, or a digest of the folder. Nothing of the model is loaded for that, so that a
wrong name fails at once. Configuration, tokenizer and network are loaded later, each when it is first
needed.
"""

import contextlib
import functools
import hashlib
import importlib.util
import json
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dhp.core.errors import InputError, install_command, one_of

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """No messages, warnings or progress bars of the hub or of transformers inside; as it was afterwards."""
    from huggingface_hub import utils

    hub: Any = utils
    bars = not hub.are_progress_bars_disabled()
    # transformers is silenced only if it is loaded already; a model is looked up without it.
    logs: list[Any] = [hub.logging]
    if "transformers" in sys.modules:
        from transformers.utils import logging

        logs.append(logging)
    levels = [log.get_verbosity() for log in logs]
    own_bars = [log for log in logs[1:] if log.is_progress_bar_enabled()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for log in own_bars:
            log.disable_progress_bar()
        for log in logs:
            log.set_verbosity_error()
        hub.disable_progress_bars()
        try:
            yield
        finally:
            for log, level in zip(logs, levels, strict=True):
                log.set_verbosity(level)
            for log in own_bars:
                log.enable_progress_bar()
            if bars:
                hub.enable_progress_bars()


DTYPES = ("auto", "float32", "float16", "bfloat16")
_DEVICE = re.compile(r"auto|all|cpu|cuda(:\d+)?")
"""A device: "cpu", "cuda:1"."""
_READ = {".json", ".jinja", ".txt", ".model", ".safetensors", ".bin"}
"""Endings of the files that determine a model's answers."""
_WHOLE = 32 << 20
"""Bytes of a file that is read whole for the digest; of a larger one, such as weights, pieces are read.

This and the two below are chosen: 4 MB of a file are read within moments, and other weights differ there."""
_PIECES = 64
"""Number of pieces that are read of a large file."""
_PIECE = 64 << 10
"""Bytes of a piece."""


@dataclass(frozen=True, slots=True)
class Source:
    """A model that was found, with nothing of it loaded."""

    model: str
    """Model as the user names it, `hf/NAME_OR_PATH` or `vllm/NAME_OR_PATH`."""
    path: str
    """A folder or the name of a hub repository."""
    revision: str | None
    """Commit of the hub repository; None for a folder."""
    dtype: str
    """Number type of the computation; `auto` only if the checkpoint does not name one."""
    identity: str
    """Commit, or a digest of the folder."""


def find(name: str, dtype: str, provider: str = "hf") -> Source:
    """Find a model, in a folder or on the hub (its cache if there is no network).

    Raises `InputError` if torch or transformers are not installed, the dtype is unknown, or there is no such
    model.
    """
    model = f"{provider}/{name}"
    needed = ("torch", "transformers") if provider == "hf" else ("vllm",)
    for package in needed:
        if importlib.util.find_spec(package) is None:
            command = install_command("hf") if provider == "hf" else "pip install vllm"
            raise InputError(f"model '{model}': {package} is not installed; {command}")
    one_of("dtype", dtype, DTYPES, f"model '{model}'")
    folder = Path(name).expanduser()
    if name and folder.is_dir():
        config, path, revision = folder / "config.json", str(folder), None
        if not config.is_file():
            raise InputError(f"model '{model}': {config} is missing; must be a folder saved by transformers")
        identity = f"digest={_digest(folder)}"
    elif name.startswith(("/", "./", "../", "~")) or name.count("/") > 1 or not name:
        raise InputError(f"model '{model}': no such folder; must be a folder or a name on the hub")
    else:
        config, path = _hub_config(model, name), name
        revision = config.parent.name  # the cache of the hub has a folder for each commit
        identity = f"revision={revision}"
    if dtype == "auto":
        dtype = _dtype(model, config)
    return Source(model, path, revision, dtype, identity)


def check_device(model: str, device: str) -> None:
    """Raise `InputError` unless there is such a device here; only `cuda` needs torch to tell."""
    if not _DEVICE.fullmatch(device):
        one_of("device", device, ("auto", "cpu", "cuda", "cuda:N", "all"), f"model '{model}'")
    if device == "all" and importlib.util.find_spec("accelerate") is None:
        raise InputError(
            f"model '{model}': device 'all' needs the package accelerate; {install_command('gpus')}, or "
            "serve the model and use openai/NAME"
        )
    if device.startswith("cuda"):
        import torch

        number = int(device.partition(":")[2] or 0)
        if number >= torch.cuda.device_count():
            raise InputError(
                f"model '{model}': no device '{device}' here; torch sees {torch.cuda.device_count()} GPUs"
            )


def _hub_config(model: str, name: str) -> Path:
    from huggingface_hub import errors, hf_hub_download

    reasons: dict[type[Exception], str] = {  # from the most special on
        errors.GatedRepoError: "the hub gives it only to those who have accepted its terms and are logged in",
        errors.RepositoryNotFoundError: "there is no such folder, and no such repository on the hub",
        errors.LocalEntryNotFoundError: "there is no such folder, it is not in the cache of the hub, and the "
        "hub cannot be reached",
        errors.EntryNotFoundError: "its repository on the hub has no config.json",
        errors.HFValidationError: "there is no such folder, and it cannot be a name on the hub",
    }
    try:
        with quiet():
            return Path(hf_hub_download(name, "config.json"))
    except (OSError, errors.EntryNotFoundError, errors.HFValidationError) as e:
        words = " ".join(str(e).split())[:200]
        for kind, reason in reasons.items():
            if isinstance(e, kind):
                raise InputError(f"model '{model}': {reason}") from None
        raise InputError(f"model '{model}': the hub does not give it: {words}") from None


def _dtype(model: str, config: Path) -> str:
    try:
        read: Any = json.loads(config.read_text(encoding="utf-8"))
        name = read.get("dtype") or read.get("torch_dtype") or "auto"
    except (OSError, ValueError, AttributeError) as e:
        raise InputError(f"model '{model}': {config} cannot be read: {e}") from None
    return str(name).removeprefix("torch.")


def _digest(folder: Path) -> str:
    """Hash of the files that determine the answers; of large files their size and some pieces."""
    digest = hashlib.sha256()
    for file in sorted(folder.iterdir()):
        if file.suffix not in _READ or not file.is_file():
            continue
        size = file.stat().st_size
        digest.update(f"{file.name}\0{size}\0".encode())
        with file.open("rb") as stream:
            if size <= _WHOLE:
                digest.update(stream.read())
                continue
            for piece in range(_PIECES):  # spread evenly, from the first byte to the last
                stream.seek((size - _PIECE) * piece // (_PIECES - 1))
                digest.update(stream.read(_PIECE))
    return digest.hexdigest()[:12]


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
