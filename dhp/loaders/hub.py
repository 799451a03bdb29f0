"""Hugging Face datasets as tables."""

import logging
from importlib import import_module
from pathlib import Path
from typing import Any

from dhp.errors import InputError, near
from dhp.files import reason
from dhp.loaders.extras import require
from dhp.tables import Table, from_arrow

HUB_PREFIX = "hf:"


def hub_table(name: str) -> Table:
    """The rows of `ORG/NAME[:SPLIT]`, or of a local folder `./FOLDER[:SPLIT]`; see `read_examples`."""
    require("datasets", purpose=f"{HUB_PREFIX}{name}")
    place = f"{HUB_PREFIX}{name}"
    address, split = (name, "") if Path(name).exists() else _parted(name)
    if not address:
        raise InputError(f"{place}: no name; allowed: hf:ORG/NAME, hf:ORG/NAME:SPLIT, hf:./FOLDER")
    splits = _load(place, address)
    if not split and len(splits) > 1:
        raise InputError(f"{place}: has several splits; allowed: {', '.join(f'{place}:{s}' for s in splits)}")
    if split and split not in splits:
        raise InputError(f"{place}: no split '{split}'; {near(split, splits)}")
    rows = splits[split or next(iter(splits))]
    return from_arrow(place, rows.with_format("arrow")[:])


def _parted(name: str) -> tuple[str, str]:
    address, _, split = name.partition(":")
    return address, split


def _load(place: str, address: str) -> dict[str, Any]:
    """Split -> `datasets.Dataset`; whatever keeps the library from loading it becomes an `InputError`."""
    # Not an import statement: checkers would take it for the content folder datasets/.
    datasets: Any = import_module("datasets")
    folder = Path(address)
    local = address.startswith((".", "/", "~")) or folder.is_dir()
    if local and not folder.is_dir():
        raise InputError(f"{place}: folder {address} does not exist")
    saved = any((folder / name).is_file() for name in ("state.json", "dataset_dict.json"))
    log = logging.getLogger("huggingface_hub")
    level = log.level
    log.setLevel(logging.ERROR)  # its notes on every retry would bury the one line that counts
    try:
        loaded = datasets.load_from_disk(address) if saved else datasets.load_dataset(address)
    except (
        OSError,
        ValueError,
        RuntimeError,
        LookupError,
        TypeError,
        datasets.exceptions.DatasetsError,
    ) as e:
        raise InputError(f"{place}: cannot be loaded ({reason(e)})") from None
    finally:
        log.setLevel(level)
    return dict(loaded) if isinstance(loaded, datasets.DatasetDict) else {"all": loaded}
