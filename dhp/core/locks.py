"""Locks on files: the system frees them when their process ends, however it ends."""

import contextlib
import logging
import os
import socket
import time
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from dhp.core.errors import InputError
from dhp.core.files import unwritable

fcntl: Any
try:
    import fcntl
except ImportError:  # not on every system
    fcntl = None


def this_process() -> str:
    """What messages of other processes call this one."""
    return f"process {os.getpid()} on {socket.gethostname()}"


def has_locks(folder: Path) -> bool:
    """Whether parts of a file in this folder can be locked, as SQLite does; raises `OSError` as `open`."""
    with TemporaryFile(dir=folder) as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (OSError, AttributeError):
            return False
    return True


def _holder(file: IO[str]) -> str:
    """Who holds the lock: its first line, for which a holder that has just taken it is given a second."""
    for _ in range(20):
        file.seek(0)
        if holder := file.read(200).strip():
            return holder
        time.sleep(0.05)
    return "another process"


class Lock:
    """A lock file, which one object in all processes holds; a context manager that gives it up.

    Where the file system has no locks this is said, and the object goes on as if it held one.

    Parameters
    ----------
    path
        Made by who takes it, removed by who gives it up; its folders are made, and removed if left empty.
    name
        What is locked, for messages.
    """

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        self._name = name
        self._file: IO[str] | None = None
        self._made: list[Path] = []

    def __enter__(self) -> "Lock":
        self.take()
        return self

    def __exit__(self, *error: object) -> None:
        self.give_up()

    def take(self) -> None:
        """Take the lock, if this object has not; raises `InputError` where another one holds it."""
        while self._file is None:
            file = self._opened()
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                with file:
                    message = (
                        f"{self._name}: is being written by {_holder(file)}; wait for it or choose another"
                    )
                raise InputError(message) from None
            except (OSError, AttributeError):
                logging.getLogger("dhp").warning(
                    "%s: its file system has no locks; let one command at a time write there", self._name
                )
            if not _is_at(file, self._path):  # who had it has removed the file meanwhile
                file.close()
                continue
            file.truncate(0)
            file.write(f"{this_process()} since {time.strftime('%Y-%m-%d %H:%M')}\n")
            file.flush()
            self._file = file

    def give_up(self) -> None:
        """Remove the file, if this object holds it."""
        if self._file is None:
            return
        with contextlib.suppress(OSError):
            self._path.unlink()
            for folder in self._made:
                folder.rmdir()
        self._file.close()
        self._file = None

    def _opened(self) -> IO[str]:
        folder = self._path.parent
        self._made += [path for path in (folder, *folder.absolute().parents) if not path.exists()]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return self._path.open("a+", encoding="utf-8")
        except OSError as e:
            raise unwritable(self._name, e) from None


def _is_at(file: IO[str], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False
