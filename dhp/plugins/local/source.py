"""The source of a model, and its identity."""

import hashlib
import importlib.util
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dhp.core.errors import InputError, suggest
from dhp.plugins.local.quiet import quiet

DTYPES = ("auto", "float32", "float16", "bfloat16")
_DEVICE = re.compile(r"auto|all|cpu|cuda(:\d+)?")
_READ = {".json", ".jinja", ".txt", ".model", ".safetensors", ".bin"}
_WHOLE = 32 << 20
_PIECES = 64
_PIECE = 64 << 10


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
    """Number type of the computation; `auto` only where the checkpoint does not name one."""
    identity: str
    """Commit, or a digest of the folder."""


def find(name: str, dtype: str, provider: str = "hf") -> Source:
    """Find a model, in a folder or on the hub (its cache where there is no network).

    Raises
    ------
    InputError
        If torch or transformers are not installed, the dtype is unknown, or there is no such model.
    """
    model = f"{provider}/{name}"
    needed = ("torch", "transformers") if provider == "hf" else ("vllm",)
    for package in needed:
        if importlib.util.find_spec(package) is None:
            raise InputError(f"model '{model}': {package} is not installed; pip install {' '.join(needed)}")
    if dtype not in DTYPES:
        raise InputError(f"model '{model}': unknown dtype '{dtype}'; {suggest(dtype, DTYPES)}")
    folder = Path(name).expanduser()
    if name and folder.is_dir():
        config, path, revision, identity = folder / "config.json", str(folder), None, ""
        if not config.is_file():
            raise InputError(f"model '{model}': {config} is missing; must be a folder saved by transformers")
        identity = f"digest={_digest(folder)}"
    elif name.startswith(("/", "./", "../", "~")) or name.count("/") > 1 or not name:
        raise InputError(f"model '{model}': no such folder; must be a folder or a name on the hub")
    else:
        config, path = _hub_config(model, name), name
        revision = config.parent.name
        identity = f"revision={revision}"
    return Source(model, path, revision, _dtype(model, config) if dtype == "auto" else dtype, identity)


def check_device(model: str, device: str) -> None:
    """Raise `InputError` unless there is such a device here; only `cuda` needs torch to tell."""
    if not _DEVICE.fullmatch(device):
        allowed = ("auto", "cpu", "cuda", "cuda:N", "all")
        raise InputError(f"model '{model}': unknown device '{device}'; {suggest(device, allowed)}")
    if device == "all" and importlib.util.find_spec("accelerate") is None:
        raise InputError(
            f"model '{model}': device 'all' needs the package accelerate; pip install accelerate, or "
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
        other = f"the hub does not give it: {' '.join(str(e).split())[:200]}"
        reason = next((reason for kind, reason in reasons.items() if isinstance(e, kind)), other)
        raise InputError(f"model '{model}': {reason}") from None


def _dtype(model: str, config: Path) -> str:
    try:
        read: Any = json.loads(config.read_text(encoding="utf-8"))
        found = read.get("dtype") or read.get("torch_dtype") or "auto"
    except (OSError, ValueError, AttributeError) as e:
        raise InputError(f"model '{model}': {config} cannot be read: {e}") from None
    return str(found).removeprefix("torch.")


def _digest(folder: Path) -> str:
    """Hash of the files that determine the answers; of large files their size and some pieces."""
    digest = hashlib.sha256()
    for file in sorted(f for f in folder.iterdir() if f.suffix in _READ and f.is_file()):
        size = file.stat().st_size
        digest.update(f"{file.name}\0{size}\0".encode())
        with file.open("rb") as stream:
            if size <= _WHOLE:
                digest.update(stream.read())
                continue
            for piece in range(_PIECES):
                stream.seek((size - _PIECE) * piece // (_PIECES - 1))
                digest.update(stream.read(_PIECE))
    return digest.hexdigest()[:12]
