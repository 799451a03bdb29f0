"""Files of requests that a provider answers later.

Lines go into files in a temporary folder, one for each model, and a further one where a file is full. `close`
moves all of them to their places at once, so that a run that ends early leaves nothing half written.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from filecmp import cmp
from pathlib import Path
from typing import BinaryIO

from dhp.core.errors import InputError
from dhp.core.hiding import hidden_value
from dhp.core.writing import (
    Temporary,
    check_parent,
    check_place,
    new_file,
    output_path,
    put,
    unwritable,
)

_URL = "/v1/chat/completions"

_MOST_REQUESTS = 50_000
_MOST_BYTES = 200_000_000
"""Of one file: OpenAI takes no larger ones."""


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

    Beside each file that is `keyed` one of the keys under which its replies are stored. Raises `InputError`
    if the first of them, `path`, cannot be written.
    """

    def __init__(self, path: Path, *, keyed: bool = False) -> None:
        self._path = output_path(path)
        check_place(self._path)
        check_parent(self._path)
        self._parts: list[Part] = []
        self._open: dict[tuple[str, str], tuple[Part, list[BinaryIO]]] = {}
        self._temporary: Temporary | None = None
        """The folder in which the files lie until all are complete."""
        self._keyed = keyed

    def add(
        self,
        model: str,
        endpoint: str,
        body: Mapping[str, object],
        keys: Mapping[int, bytes],
        run: str = "",
    ) -> None:
        """Write one request; raises `InputError` if that fails, and leaves nothing behind.

        `keys` are the store's, of the samples that it asks for. That of the first one, in hexadecimal digits,
        is its custom_id. `run` is the run that pays for it.
        """
        if hidden_value(body) != body:
            raise InputError(
                f"`batch_write` {self._path}: a request holds a key or another secret, which would be in the "
                "file; leave it out of `body`, or of the texts"
            )
        first, *_ = keys.values()
        custom_id = first.hex()
        request = {"custom_id": custom_id, "method": "POST", "url": _URL, "body": body}
        line = json.dumps(request, ensure_ascii=False).encode() + b"\n"
        with self._or_nothing():
            # A file has requests to one model, as providers want it.
            part, files = self._open.get((model, endpoint)) or self._next(model, endpoint)
            full = part.requests >= _MOST_REQUESTS or part.size + len(line) > _MOST_BYTES
            if full and part.requests:  # a line that is too long by itself goes into a file all the same
                _close(files)
                part, files = self._next(model, endpoint)
            files[0].write(line)
            if self._keyed:
                named = {}
                for sample, key in keys.items():
                    named[str(sample)] = key.hex()
                keyed = {"run": run, "keys": named}
                files[1].write(json.dumps(keyed).encode() + b"\n")
        part.requests += 1
        part.size += len(line)

    def close(self) -> list[Part]:
        """Give the files their names; returns what was written. `InputError` as from `add`.

        A file with other requests is refused, as these may have been sent. A file with the same ones was
        written by the same command.
        """
        with self._or_nothing():
            for _, files in self._open.values():
                _close(files)
            for part in self._parts:
                if not part.path.exists():
                    continue
                if not cmp(part.path, self._unfinished(part.path), shallow=False):
                    raise InputError(
                        f"`batch_write` {part.path}: holds other requests; choose a name for the next file"
                    )
            for path in self._paths():
                put(self._unfinished(path), path)
        self._clear()
        return self._parts

    def discard(self) -> None:
        """Remove what was written so far."""
        for _, files in self._open.values():
            with suppress(OSError):  # what a full disk did not take is tried again
                _close(files)
        self._clear()

    def _clear(self) -> None:
        if self._temporary is not None:
            self._temporary.cleanup()
        self._temporary = None

    def _unfinished(self, path: Path) -> Path:
        if self._temporary is None:
            self._temporary = Temporary(self._path)
        return Path(self._temporary.name) / path.name

    def _paths(self) -> list[Path]:
        # Keys first: a file of requests without them could not be read again.
        paths = [part.path for part in self._parts]
        return [*map(keys_file, paths), *paths] if self._keyed else paths

    def _next(self, model: str, endpoint: str) -> tuple[Part, list[BinaryIO]]:
        number = len(self._parts) + 1
        path = self._path if number == 1 else self._path.with_stem(f"{self._path.stem}-{number}")
        part = Part(path, model, endpoint)
        self._parts.append(part)
        files: list[BinaryIO] = []
        self._open[model, endpoint] = part, files
        for each in [path, keys_file(path)] if self._keyed else [path]:
            check_place(each)
            files.append(new_file(self._unfinished(each)))
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


def keys_file(path: Path) -> Path:
    """The file of keys beside a file of requests: a line each, `{"run": ..., "keys": {sample: key}}`."""
    return path.with_suffix(".keys.jsonl")


def _close(files: Iterable[BinaryIO]) -> None:
    for file in files:
        file.close()
