"""Sequences of records: few in memory, many in a temporary file."""

import pickle
import tempfile
import threading
import weakref
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import accumulate, chain
from typing import IO, Generic, NamedTuple, TypeVar, overload

from dhp.core.errors import InputError
from dhp.core.files import unwritable
from dhp.core.records import grouped

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

KEPT = 10_000
"""Records that a spool keeps in memory; beyond it all of them go to disk."""
BLOCK = 256
"""Records that are read at a time."""


class _File:
    """A file without a name, which goes with the last sequence that reads it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        try:
            self._file: IO[bytes] = tempfile.TemporaryFile(prefix="dhp-")  # noqa: SIM115
        except OSError as e:
            raise _unwritable(e) from None
        weakref.finalize(self, _close, self._file)

    def write(self, data: bytes) -> int:
        """Where it begins."""
        try:
            with self._lock:
                start = self._file.seek(0, 2)
                self._file.write(data)
        except OSError as e:
            raise _unwritable(e) from None
        return start

    def read(self, start: int, size: int) -> bytes:
        """What was written there."""
        try:
            with self._lock:
                self._file.seek(start)  # what is still buffered is written now
                return self._file.read(size)
        except OSError as e:
            raise _unwritable(e) from None


def _close(file: IO[bytes]) -> None:
    with suppress(OSError):  # of a full disk, which was reported before
        file.close()


def _unwritable(error: OSError) -> InputError:
    fault = unwritable(tempfile.gettempdir(), error)
    return type(fault)(f"{fault}; TMPDIR names another folder for texts that do not fit into memory")


class _Block(NamedTuple):
    """Some records in a file."""

    file: _File
    start: int
    size: int
    records: int


class Spooled(Sequence[T]):
    """Records on disk, of which one block is in memory. Equal only to itself; pickled as a tuple."""

    def __init__(self, blocks: Sequence[_Block]) -> None:
        self._blocks = tuple(blocks)
        self._ends = list(accumulate(block.records for block in blocks))
        self._last: tuple[int, list[T]] = (-1, [])

    def __reduce__(self) -> tuple[type, tuple[tuple[T, ...]]]:
        return tuple, (tuple(self),)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __iter__(self) -> Iterator[T]:
        for block in self._blocks:
            yield from _records(block)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...

    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        index = range(len(self))[index]
        number = bisect_right(self._ends, index)
        known, records = self._last
        if known != number:
            records = list(_records(self._blocks[number]))
            self._last = number, records
        return records[index - self._ends[number] + self._blocks[number].records]


def _records(block: _Block) -> Iterator[T]:
    yield from pickle.loads(block.file.read(block.start, block.size))


class Spool(Generic[K, T]):
    """Takes records group by group and gives them back in any order of the groups."""

    def __init__(self) -> None:
        self._held: dict[K, tuple[T, ...]] = {}
        self._count = 0
        self._file: _File | None = None
        self._blocks: dict[K, list[_Block]] = {}

    @property
    def groups(self) -> list[K]:
        """The groups that were put here."""
        return [*self._blocks, *self._held]

    def put(self, group: K, records: Iterable[T]) -> None:
        """Take the records of a group, all at once."""
        self._held[group] = tuple(records)
        self._count += len(self._held[group])
        if self._count > KEPT:
            self._file = self._file or _File()
            for name, held in self._held.items():
                self._blocks[name] = [_written(self._file, some) for some in grouped(held, BLOCK)]
            self._held.clear()

    def read(self, groups: Iterable[K]) -> Sequence[T]:
        """The records of these groups, one after the other: a tuple while nothing is on disk."""
        if self._file is None:
            return tuple(chain.from_iterable(self._held[group] for group in groups))
        return Spooled([block for group in groups for block in self._blocks[group]])


def _written(file: _File, records: Sequence[object]) -> _Block:
    data = pickle.dumps(records, protocol=pickle.HIGHEST_PROTOCOL)
    return _Block(file, file.write(data), len(data), len(records))


def spooled(records: Iterable[T]) -> Sequence[T]:
    """The records in their order: a tuple, or if they are very many `Spooled`."""
    if isinstance(records, tuple | Spooled):
        return records
    spool: Spool[int, T] = Spool()
    for place, some in enumerate(grouped(records, BLOCK)):
        spool.put(place, some)
    return spool.read(spool.groups)
