"""The checksum of figures and of the ratings they were computed from, by which the two belong together.

It finds what was edited, replaced or mixed up. It is no signature: who edits can compute it anew.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dhp.core.files import opened

CHECKSUM = "checksum"
"""Its field in an object of `results.json`."""
_AT_ONCE = 1 << 20
"""Bytes that are read at a time, as a file of ratings may be larger than memory. Chosen."""


def of_ratings(path: Path) -> str:
    """sha256, as hex digits, of a file of ratings or of a folder of such; raises `InputError` as `opened`."""
    parts = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    digests = []
    for part in parts:
        with opened(part) as file:
            digest = hashlib.sha256()
            chunk = file.read(_AT_ONCE)
            while chunk:
                digest.update(chunk)
                chunk = file.read(_AT_ONCE)
            digests.append(digest.hexdigest())
    if len(digests) == 1:
        return digests[0]
    # Of a folder: the checksum of those of its parts, in the order of their names.
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def sealed(figures: Mapping[str, Any], ratings: str) -> dict[str, Any]:
    """The figures with their checksum; `ratings` is that of the ratings."""
    return {**figures, CHECKSUM: {"ratings": ratings, "figures": _of_figures(figures, ratings)}}


def holds(result: Mapping[str, Any]) -> bool:
    """Whether figures that carry a checksum are as they were written; the layout of the file is free."""
    stated = result[CHECKSUM]
    figures = {name: value for name, value in result.items() if name != CHECKSUM}
    ratings = stated.get("ratings") if isinstance(stated, dict) else None
    if not isinstance(ratings, str):
        return False
    return bool(stated == sealed(figures, ratings)[CHECKSUM])


def _of_figures(figures: Mapping[str, Any], ratings: str) -> str:
    # Sorted keys and no indentation, so that the layout of the file does not count.
    text = json.dumps([figures, ratings], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
