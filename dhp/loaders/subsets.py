"""Which part of somebody's release is which dataset of the benchmark, by name."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from dhp.core.errors import InputError, suggest

_SHARD = re.compile(r"-\d+-of-\d+$")


@dataclass(frozen=True, slots=True)
class Subset:
    """One dataset of a release."""

    dataset: str
    """Our name, e.g. `wmt22_deen`."""
    known: tuple[str, ...]
    """Our names of all datasets that a release may hold."""

    def fitting(self, names: Sequence[str]) -> list[str]:
        """Those of `names` that mean this dataset, whatever their case, separators and digits."""
        ours = _letters(self.dataset)
        same = [name for name in names if _letters(name) in (ours, ours.removeprefix("wmt"))]
        return same or [name for name in names if ours in _letters(name)]

    def only(self, place: str, names: Sequence[str]) -> str:
        """The one of `names` that means this dataset; else `InputError`."""
        found = self.fitting(names)
        if len(found) > 1:
            raise InputError(f"{place}: {', '.join(found)} could each be '{self.dataset}'; leave one of them")
        if not found:
            raise self._absent(place, names)
        return found[0]

    def files(self, place: str, files: Sequence[str]) -> list[str]:
        """The files of this dataset among `files`, given as paths below the release, or bare names.

        A file belongs to a dataset by its own name or that of a folder. Where no file belongs to any dataset
        all are taken; where some belong to others only, that is an `InputError`.
        """
        found = self.named(files)
        others = (Subset(name, self.known).named(files) for name in self.known if name != self.dataset)
        if not found and any(others):
            raise self._absent(place, sorted({_SHARD.sub("", _parts(file)[0]) for file in files}))
        return found or list(files)

    def table(self, place: str, files: Sequence[str]) -> list[str]:
        """The file of this dataset, or its shards."""
        found = self.files(place, files)
        tables = sorted({_SHARD.sub("", str(PurePosixPath(file).with_suffix(""))) for file in found})
        if len(tables) > 1:
            raise InputError(
                f"{place}: {len(tables)} files could be '{self.dataset}' ({', '.join(tables[:3])}); "
                "leave one of them, or name its folder after the dataset"
            )
        return found

    def named(self, files: Sequence[str]) -> list[str]:
        """Those of `files` that are named after this dataset, by their own name or a folder's."""
        parts = {file: [_SHARD.sub("", part) for part in _parts(file)] for file in files}
        fitting = self.fitting([part for some in parts.values() for part in some])
        return [file for file, some in parts.items() if any(part in fitting for part in some)]

    def _absent(self, place: str, names: Sequence[str]) -> InputError:
        return InputError(f"{place}: nothing is called like '{self.dataset}'; {suggest(self.dataset, names)}")


def _parts(file: str) -> tuple[str, ...]:
    path = PurePosixPath(file)
    return (*path.parts[:-1], path.stem)


def _letters(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())
