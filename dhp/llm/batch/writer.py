"""Writing of request files, split at a provider's limits."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from dhp.core.errors import InputError
from dhp.core.files import check_writable, unwritable
from dhp.llm.batch.lines import request_line

MOST_REQUESTS = 50_000
MOST_BYTES = 200_000_000


@dataclass(slots=True)
class Part:
    """One file of requests to one model."""

    path: Path
    model: str
    endpoint: str
    requests: int = 0
    size: int = 0
    """Size of the file in bytes."""


class BatchWriter:
    """Files of requests: `FILE.jsonl`, `FILE-2.jsonl` and so on, each to one model.

    Parameters
    ----------
    path
        The first of them; no file of that name may be there, so that none is sent twice by mistake.
    most_requests, most_bytes
        In one file.

    Raises
    ------
    InputError
        If the file is there already, or cannot be written.
    """

    def __init__(
        self, path: Path, *, most_requests: int = MOST_REQUESTS, most_bytes: int = MOST_BYTES
    ) -> None:
        _check_free(path)
        check_writable(path)
        self._parts: list[Part] = []
        self._open: dict[tuple[str, str], tuple[Part, BinaryIO]] = {}
        self._path = path
        self._most_requests = most_requests
        self._most_bytes = most_bytes

    def add(self, model: str, endpoint: str, custom_id: str, body: Mapping[str, object]) -> None:
        """Write one request; raises `InputError` where that fails, and leaves nothing behind."""
        line = request_line(custom_id, body)
        with self._or_nothing():
            part, file = self._open.get((model, endpoint)) or self._next(model, endpoint)
            full = part.requests >= self._most_requests or part.size + len(line) > self._most_bytes
            if full and part.requests:
                file.close()
                part, file = self._next(model, endpoint)
            file.write(line)
        part.requests += 1
        part.size += len(line)

    def close(self) -> list[Part]:
        """Give the files their names; returns what was written. `InputError` as from `add`."""
        with self._or_nothing():
            for _, file in self._open.values():
                file.close()
            for part in self._parts:
                _check_free(part.path)
        for part in self._parts:
            _unfinished(part.path).replace(part.path)
        return self._parts

    def discard(self) -> None:
        """Remove what was written so far."""
        for _, file in self._open.values():
            with suppress(OSError):  # what a full disk did not take is tried again
                file.close()
        for part in self._parts:
            _unfinished(part.path).unlink(missing_ok=True)

    def _next(self, model: str, endpoint: str) -> tuple[Part, BinaryIO]:
        number = len(self._parts) + 1
        path = self._path if number == 1 else self._path.with_stem(f"{self._path.stem}-{number}")
        _check_free(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._parts.append(part := Part(path, model, endpoint))
        self._open[model, endpoint] = part, _unfinished(path).open("wb")
        return self._open[model, endpoint]

    @contextmanager
    def _or_nothing(self) -> Iterator[None]:
        try:
            yield
        except InputError:
            self.discard()
            raise
        except OSError as e:
            self.discard()
            raise unwritable(f"`batch_write` {self._path}", e) from None


def _check_free(path: Path) -> None:
    if path.exists():
        raise InputError(f"`batch_write` {path}: is there already; choose a name for the next file")


def _unfinished(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")
