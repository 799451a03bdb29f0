"""Tables of the Hugging Face Hub."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from dhp.core.errors import InputError, one_of, require
from dhp.core.files import reason
from dhp.core.tables import (
    AT_ONCE,
    TABLE_SUFFIXES,
    Table,
    from_arrow,
)

HUB_PREFIX = "hf:"
"""What the names of datasets of the Hub start with."""


def hub_table(name: str) -> Table:
    """The rows of `ORG/NAME[:SPLIT]`, or of a local folder `./FOLDER[:SPLIT]`; see `read_texts`."""
    require("datasets", purpose=f"{HUB_PREFIX}{name}", extra="data")
    place = f"{HUB_PREFIX}{name}"
    address, split = name, ""
    if not Path(name).exists():  # the path of a folder may have a colon of its own
        address, _, split = name.partition(":")
    if not address:
        raise InputError(f"{place}: no name; allowed: hf:ORG/NAME, hf:ORG/NAME:SPLIT, hf:./FOLDER")
    splits = _load(place, address)
    if split:
        one_of("split", split, splits, place)
    elif len(splits) == 1:
        (split,) = splits
    else:  # none is guessed: train and test texts give other figures
        allowed = ", ".join(f"{place}:{each}" for each in splits)
        raise InputError(f"{place}: has several splits; allowed: {allowed}")
    rows = splits[split]
    return from_arrow(place, rows.with_format("arrow").iter(AT_ONCE))


def hub_folder(place: str) -> Path:
    """The tables of the repository `hf:ORG/NAME`, downloaded as they are; of `hf:./FOLDER` the folder."""
    address = place.removeprefix(HUB_PREFIX)
    if _is_local(place, address):
        return Path(address)
    require("huggingface_hub", purpose=place)
    from huggingface_hub import snapshot_download

    patterns = [f"*{suffix}" for suffix in TABLE_SUFFIXES]
    with _quiet():
        try:
            return Path(snapshot_download(address, repo_type="dataset", allow_patterns=patterns))
        except (OSError, ValueError, RuntimeError) as e:
            raise InputError(f"{place}: cannot be downloaded ({reason(e)})") from None


def _is_local(place: str, address: str) -> bool:
    """Whether it is a folder here; raises `InputError` if it is written as one and does not exist."""
    folder = Path(address)
    local = address.startswith((".", "/", "~")) or folder.is_dir()
    if local and not folder.is_dir():
        raise InputError(f"{place}: folder {address} does not exist")
    return local


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the notes on every retry."""
    log = logging.getLogger("huggingface_hub")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


def _load(place: str, address: str) -> dict[str, Any]:
    """Split -> `datasets.Dataset`; whatever keeps the library from loading it becomes an `InputError`."""
    # Not an import statement: checkers would take it for the content folder datasets/.
    datasets: Any = import_module("datasets")
    _is_local(place, address)
    # What `save_to_disk` wrote is read by another function than a folder of tables.
    saved = any((Path(address) / name).is_file() for name in ("state.json", "dataset_dict.json"))
    read = datasets.load_from_disk if saved else datasets.load_dataset
    with _quiet():
        try:
            loaded = read(address)
        except (
            OSError,
            ValueError,
            RuntimeError,
            LookupError,
            TypeError,
            datasets.exceptions.DatasetsError,
        ) as e:
            raise InputError(f"{place}: cannot be loaded ({reason(e)})") from None
    # What was saved as a single table has no splits, and gets a name for its only one.
    return dict(loaded) if isinstance(loaded, datasets.DatasetDict) else {"all": loaded}
