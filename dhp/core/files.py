"""File access: reading with one-line errors, atomic writing, locks."""

import contextlib
import errno
import itertools
import json
import logging
import lzma
import os
import re
import shutil
import socket
import stat
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedIOBase
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Any, BinaryIO

from dhp.core.errors import DiskFull, InputError

MOST_UNPACKED = 2**28
"""Most bytes of packed files that are unpacked into memory; what holds more is to be unpacked on disk."""

BROKEN_DATA = (EOFError, zlib.error, lzma.LZMAError)
"""What unpacking raises for packed data that is broken."""

MAKE_ROOM = "make room, and the same command goes on"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FULL_OF_SQLITE = (
    "SQLITE_FULL",
    "SQLITE_IOERR_WRITE",
    "SQLITE_IOERR_SHMSIZE",
)


def cache_folder() -> Path:
    """Where dhp keeps what it can make again: `$XDG_CACHE_HOME/dhp`, else `~/.cache/dhp`."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if base.is_absolute():
        return base / "dhp"
    try:
        return Path.home() / ".cache" / "dhp"
    except RuntimeError:
        raise InputError("there is no home folder for the cache; set XDG_CACHE_HOME to a folder") from None


def reason(error: BaseException) -> str:
    """What an exception says, on one line of at most 200 characters; its name if it says nothing."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(text).split())[:200]


def is_full(error: BaseException) -> bool:
    """Whether there is no room left on a disk, or for this user."""
    by_sqlite = getattr(error, "sqlite_errorname", "") in _FULL_OF_SQLITE
    return by_sqlite or getattr(error, "errno", None) in _FULL


def unwritable(place: object, error: OSError) -> InputError:
    """The error for a file that cannot be written; a `DiskFull` if there is no room."""
    message = f"{place}: cannot be written ({reason(error)})"
    return DiskFull(f"{message}; {MAKE_ROOM}") if is_full(error) else InputError(message)


def read_bytes(path: Path) -> bytes:
    """What a file holds; raises `InputError` if it is missing or unreadable."""
    with opened(path) as file:
        return file.read()


def _near(path: Path) -> str:
    """The name of a file beside it that may be meant, as a question."""
    from difflib import get_close_matches

    with suppress(OSError):
        names = [other.name for other in itertools.islice(path.parent.iterdir(), _MOST_NEAR)]
        if close := get_close_matches(path.name, names, n=1):
            return f"; did you mean '{close[0]}'?"
    return ""


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A file to be read; raises `InputError` if it is missing or unreadable."""
    try:
        with path.open("rb") as file:
            yield file
    except FileNotFoundError:
        raise InputError(f"{path}: does not exist{_near(path)}") from None
    except OSError as e:
        raise InputError(f"{path}: cannot be read ({reason(e)})") from None


def unpacked(name: str, packed: IO[bytes] | BufferedIOBase, before: int = 0) -> bytes:
    """What a packed file holds; raises `InputError` if it comes to too much, `before` bytes included."""
    data = packed.read(MOST_UNPACKED + 1 - before)
    if before + len(data) > MOST_UNPACKED:
        raise InputError(
            f"{name}: holds more than {MOST_UNPACKED:,} bytes when unpacked; unpack it and give what it holds"
        )
    return data


def text_lines(name: str, file: BinaryIO) -> Iterator[str]:
    """The lines of a UTF-8 file as they are read, without a byte order mark; errors as in `decoded`."""
    empty = True
    for number, line in enumerate(file, 1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{name}: line {number}: not UTF-8 text; must be UTF-8") from None
        empty = empty and not line.strip()
        yield text.removesuffix("\n")
    if empty:
        raise InputError(f"{name}: is empty")


_MOST_NEAR = 1_000
"""Files of a folder among which a near name is looked for."""
_UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_FOREIGN = 0.2
"""Share of bytes beyond ASCII above which a text is hardly Western."""


def is_utf8(data: bytes) -> bool:
    """Whether the bytes are a text in UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def decoded_table(name: str, data: bytes) -> str:
    """As `decoded`, also of UTF-16 and of Windows-1252, as spreadsheets write them; the latter is noted."""
    if is_utf8(data):
        return decoded(name, data)
    head = data[:100_000]
    with suppress(UnicodeDecodeError):
        if data.startswith(_UTF_16_MARKS):
            return data.decode("utf-16")
        if sum(byte > 127 for byte in head) <= _FOREIGN * len(head):
            text = data.decode("cp1252")
            logging.getLogger("dhp").warning(
                "%s: is not UTF-8, read as Windows-1252; if letters look wrong, save it as 'CSV UTF-8'", name
            )
            return text
    raise InputError(f"{name}: not UTF-8 text; save it as UTF-8, in a spreadsheet as 'CSV UTF-8'")


def decoded(name: str, data: bytes) -> str:
    """UTF-8 text without a byte order mark, line ends as they are.

    Raises `InputError` if it is empty or not UTF-8 (with the line).
    """
    if not data.strip():
        raise InputError(f"{name}: is empty")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = data.count(b"\n", 0, e.start) + 1
        raise InputError(f"{name}: line {line}: not UTF-8 text; must be UTF-8") from None


def read_text(path: Path) -> str:
    """The text of a file; see `decoded`."""
    return decoded(str(path), read_bytes(path))


def read_lines(path: Path) -> list[str]:
    """The lines of a UTF-8 file, ended by a line feed alone (other separators may be part of a text)."""
    lines = read_text(path).split("\n")
    return lines[:-1] if not lines[-1] else lines


def parse_json(place: str, text: str) -> Any:
    """The value of a JSON text; raises `InputError` with the place if it is not one."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as e:
        line = f"line {e.lineno}, " if e.lineno > 1 else ""
        raise InputError(f"{place}: broken JSON at {line}column {e.colno} ({e.msg})") from None
    except (ValueError, RecursionError) as e:
        raise InputError(f"{place}: broken JSON ({reason(e)})") from None


_NEEDLESS_COMMA = re.compile(r'"(?:\\.|[^"\\])*"|,(?=\s*[\]}])')


def parse_careless_json(place: str, text: str) -> Any:
    """As `parse_json`, also if there is a comma behind the last entry of a list or an object."""
    try:
        return parse_json(place, text)
    except InputError as e:
        with suppress(ValueError, RecursionError):
            return json.loads(_NEEDLESS_COMMA.sub(lambda m: "" if m[0] == "," else m[0], text))
        raise e from None


def read_json(path: Path, *, careless: bool = False) -> Any:
    """What a JSON file holds; raises `InputError` if it cannot be read. See `parse_careless_json`."""
    return (parse_careless_json if careless else parse_json)(str(path), read_text(path))


def inner_files(path: Path, suffixes: Sequence[str], content: str) -> list[Path]:
    """The file `path` itself, or the files with one of `suffixes` anywhere in the folder `path`, sorted.

    `content` says in the error message what was expected there.
    """
    expected = f"expected: {content} ({', '.join(suffixes)})"
    if not path.exists():
        raise InputError(f"{path}: does not exist; {expected}")
    if path.is_file():
        if path.suffix.lower() not in suffixes:
            raise InputError(f"{path}: wrong kind of file; {expected}")
        return [path]
    files = sorted(p for p in path.rglob("*") if p.suffix.lower() in suffixes and p.is_file())
    if not files:
        raise InputError(f"{path}: no such file in this folder; {expected}")
    return files


def inner_file(path: Path, suffixes: Sequence[str], content: str) -> Path:
    """The file `path` itself, or the only file with one of `suffixes` in the folder `path`."""
    files = inner_files(path, suffixes, content)
    if len(files) > 1:
        names = ", ".join(str(p.relative_to(path)) for p in files[:3])
        raise InputError(f"{path}: {len(files)} files could be meant ({names}); name the file itself")
    return files[0]


def check_no_link(path: Path) -> None:
    """Raise `InputError` if `path` itself is a symbolic link, which nothing is written through.

    A folder may come from anybody, with links in it that lead to files of whoever runs dhp there. A folder
    that the user names may be a link itself: who replaces a folder resolves it first.
    """
    if path.is_symlink():
        raise InputError(f"{path}: is a symbolic link, which is not written through; name what it leads to")


def inner_folder(folder: Path, *names: str) -> Path:
    """A folder of ours in one that the user named; made, and none of `names` may be a link.

    Raises `InputError` if it cannot be made.
    """
    inner = folder
    for name in names:
        inner /= name
        check_no_link(inner)
    try:
        inner.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise unwritable(inner, e) from None
    return inner


def open_regular(path: Path, flags: int) -> int:
    """A descriptor of a regular file, opened by `os.open` with O_CREAT and these `flags`; follows no link.

    Raises `InputError` for a link, another kind of file, and a file that has another name as well, as what
    is written would be there, too; else `OSError` as `os.open`.
    """
    check_no_link(path)  # some systems have no O_NOFOLLOW
    safe = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        descriptor = os.open(path, flags | os.O_CREAT | safe, 0o666)
    except OSError as e:
        if e.errno == errno.ELOOP:
            check_no_link(path)
        raise
    kept = os.fstat(descriptor)
    if not stat.S_ISREG(kept.st_mode) or kept.st_nlink > 1:
        os.close(descriptor)
        raise InputError(f"{path}: is not a regular file with one name; remove it")
    return descriptor


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path to write a file or folder to, which takes the place of `path` at the end.

    If the writer is stopped, `path` is as it was and nothing else is left. Raises `InputError` for a link.
    """
    check_no_link(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        new = Path(folder) / path.name
        yield new
        if path.is_dir():
            path.rename(Path(folder) / "before")  # goes with the temporary folder, when the new one stands
        os.replace(new, path)  # noqa: PTH105


def check_writable(path: Path) -> None:
    """Raise `InputError` unless `path` is a file or could become one, or a stream such as /dev/stdout."""
    if _is_stream(path):
        return
    check_no_link(path)
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is not a regular file; must be a new file, or a file to replace")
    parent = next(p for p in path.absolute().parents if p.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise InputError(f"{path}: cannot be written (cannot create files in {parent})")


_OF_STREAMS = (Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd"))


def _is_stream(path: Path) -> bool:
    """Whether a path takes bytes one after the other, as /dev/stdout does, whatever it leads to."""
    return path.parent in _OF_STREAMS and path.exists() and not path.is_dir()


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file that becomes `path` when it is complete; `InputError` if it can't.

    Into a stream such as /dev/stdout it is copied. No link is followed, see `check_no_link`.
    """
    check_writable(path)
    try:
        if not _is_stream(path):
            with replacing(path) as new:
                write(new)
            return
        with TemporaryDirectory(prefix="dhp-") as folder:
            write(new := Path(folder) / path.name)
            with new.open("rb") as whole, path.open("ab") as stream:
                shutil.copyfileobj(whole, stream)
    except OSError as e:
        raise unwritable(path, e) from None


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines, which bring their own ends, one after the other; see `write_whole`."""

    def write(new: Path) -> None:
        with new.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)

    write_whole(path, write)


def indented_json(value: object) -> str:
    """A value as the whole text of a JSON file."""
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def json_line(value: object) -> str:
    """A value as one line of a file of JSON lines."""
    return json.dumps(value, ensure_ascii=False) + "\n"


def check_free_folder(folder: Path, own_file: str, what: str) -> None:
    """Raise `InputError` unless a folder is new or empty, or holds the file `own_file` of an earlier `what`.

    Hidden files do not count.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"`out` {folder}: is a file; must be a new folder or that of a {what}")
    names = {path.name for path in folder.iterdir()} if folder.exists() else set()
    if own_file not in names and any(not name.startswith(".") for name in names):
        raise InputError(f"`out` {folder}: holds other files and no {what}; must be a new or empty folder")


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


_LEFT_BY_US = re.compile(r"$|process \d")
"""What a lock file may hold that is taken: nothing, or who held it and was killed."""


def _holder(file: IO[str]) -> str:
    """Who holds the lock: its first line, for which a holder that has just taken it is given a second."""
    for _ in range(20):
        file.seek(0)
        if holder := file.read(200).strip():
            return holder
        time.sleep(0.05)
    return "another process"


_PAUSE = 0.05
"""Seconds between two tries to take a lock."""


class Lock:
    """A lock file, which one object in all processes holds; a context manager that gives it up.

    If the file system has no locks this is said, and the object goes on as if it held one. Who takes it
    makes the file `path`, who gives it up removes it; its folders are made, and removed if left empty. `name`
    is what is locked, for messages; `wait` is for how many seconds it may be another's.
    """

    def __init__(self, path: Path, name: str, wait: float = 0.0) -> None:
        self._path = path
        self._name = name
        self._wait = wait
        self._file: IO[str] | None = None
        self._made: list[Path] = []

    def __enter__(self) -> "Lock":
        self.take()
        return self

    def __exit__(self, *error: object) -> None:
        self.give_up()

    def take(self) -> None:
        """Take the lock, if this object has not; raises `InputError` if another one keeps it."""
        until = time.monotonic() + self._wait
        while self._file is None:
            file = self._opened()
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() < until:
                    file.close()
                    time.sleep(_PAUSE)
                    continue
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
            try:
                file.seek(0)
                if not _LEFT_BY_US.match(file.read(200)):
                    with file:
                        raise InputError(f"{self._path}: holds something else than a lock; remove it")
                file.truncate(0)
                file.write(f"{this_process()} since {time.strftime('%Y-%m-%d %H:%M')}\n")
                file.flush()
            except OSError as e:
                raise unwritable(self._name, e) from None
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
            descriptor = open_regular(self._path, os.O_RDWR | os.O_APPEND)
            return os.fdopen(descriptor, "a+", encoding="utf-8", errors="replace")
        except OSError as e:
            raise unwritable(self._name, e) from None


def _is_at(file: IO[str], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False
