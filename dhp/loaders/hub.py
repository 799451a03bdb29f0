"""Hugging Face datasets as tables."""

import logging
from importlib import import_module
from pathlib import Path
from typing import Any

from dhp.core.errors import InputError, suggest
from dhp.core.files import reason
from dhp.core.tables import Table, from_arrow
from dhp.loaders.extras import require
from dhp.loaders.subsets import Subset

HUB_PREFIX = "hf:"


def hub_table(name: str, subset: Subset | None = None) -> Table:
    """The rows of `ORG/NAME[:SPLIT]`, or of a local folder `./FOLDER[:SPLIT]`; see `read_examples`.

    With `subset` those of its configuration, else of its files, else of its split.
    """
    require("datasets", purpose=f"{HUB_PREFIX}{name}")
    place = f"{HUB_PREFIX}{name}"
    address, split = (name, "") if Path(name).exists() else _parted(name)
    if not address:
        raise InputError(f"{place}: no name; allowed: hf:ORG/NAME, hf:ORG/NAME:SPLIT, hf:./FOLDER")
    splits = _load(place, address, subset)
    if subset is not None:
        splits = {name: splits[name] for name in subset.files(place, list(splits))}
    if not split and len(splits) > 1:
        raise InputError(f"{place}: has several splits; allowed: {', '.join(f'{place}:{s}' for s in splits)}")
    if split and split not in splits:
        raise InputError(f"{place}: no split '{split}'; {suggest(split, splits)}")
    rows = splits[split or next(iter(splits))]
    return from_arrow(place, rows.with_format("arrow")[:])


def _parted(name: str) -> tuple[str, str]:
    address, _, split = name.partition(":")
    return address, split


def _load(place: str, address: str, subset: Subset | None) -> dict[str, Any]:
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
        if saved:
            loaded = datasets.load_from_disk(address)
        else:
            loaded = datasets.load_dataset(address, **_part(datasets, place, address, subset))
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


def _part(datasets: Any, place: str, address: str, subset: Subset | None) -> dict[str, Any]:
    """What `load_dataset` must be told to load a subset alone: its configuration, or its files.

    Without that a folder a subset would be read as one table of them all.
    """
    if subset is None:
        return {}
    names = datasets.get_dataset_config_names(address)
    if len(names) > 1 or subset.fitting(names):
        return {"name": subset.only(place, names)}
    (name,) = subset.files(place, names)
    given = datasets.load_dataset_builder(address, name).config.data_files or {}
    splits = {str(split): [str(file) for file in files] for split, files in given.items()}
    base = Path(address).resolve().as_posix() if Path(address).is_dir() else f"datasets/{address}"
    paths = {_below(file, base): file for files in splits.values() for file in files}
    if subset.fitting(list(splits)) or len(chosen := subset.files(place, list(paths))) == len(paths):
        return {"name": name}
    kept = {split: [f for f in files if _below(f, base) in chosen] for split, files in splits.items()}
    return {"data_files": {split: files for split, files in kept.items() if files}}


def _below(file: str, base: str) -> str:
    """The path of a file in the folder or repository `base`: `hf://datasets/ORG/NAME@REVISION/PATH`."""
    _, found, path = file.partition(base)
    return path.partition("/")[2] if found else file
