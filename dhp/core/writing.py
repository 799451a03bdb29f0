"""The one door for everything that is written.

How a file is written:

1. `check_output` refuses what stands under the name already, unless it is a regular file with one name. A
   path may come from anybody, as part of a folder or of a file of options: a link in it could lead anywhere.
2. `Temporary` makes a folder beside the path, and the file is written there. No library gets the path.
3. `put` gives the whole file its name in one step. So a command that is stopped leaves what was there.

Secrets are hidden in all lines. A folder of output is an `OutputFolder`: one command at a time writes to it,
and its first file says what it holds. Only the folder that a user names may be a link itself.
"""

import errno
import json
import logging
import os
import re
import shutil
import socket
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO

from dhp._version import __version__
from dhp.core.errors import DiskFull, InputError
from dhp.core.files import indented_json, reason
from dhp.core.hiding import hidden, hidden_bytes

if TYPE_CHECKING:
    from filelock import BaseFileLock

MANIFEST = "manifest.json"
"""The first file in a folder of ours: by it the folder is known."""
RUN = "run"
"""What the folder of a run holds, by its manifest."""
MAKE_ROOM = "make room, and the same command goes on"
# No space left; over the quota of a user; over the size of a file that the system allows.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# SQLite has names of its own; the last one is said when the file that processes share cannot grow.
_FULL_OF_SQLITE = ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_SHMSIZE")
_LOCK = ".lock"
_MOMENT = 0.2
"""Seconds for which a lock is tried; whoever gives it free needs less to remove its file."""


def is_full(error: BaseException) -> bool:
    """Whether there is no room left on a disk, or for this user."""
    by_sqlite = getattr(error, "sqlite_errorname", "") in _FULL_OF_SQLITE
    return by_sqlite or getattr(error, "errno", None) in _FULL


def unwritable(place: object, error: OSError) -> InputError:
    """The error for a file that cannot be written; a `DiskFull` if there is no room."""
    message = f"{place}: cannot be written ({reason(error)})"
    return DiskFull(f"{message}; {MAKE_ROOM}") if is_full(error) else InputError(message)


def output_path(path: str | Path) -> Path:
    """The path that a user means, `~` being the home folder, as no shell expands it in a file of options."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise InputError(f"{path}: there is no such home folder; give the whole path") from None


def check_place(path: Path) -> None:
    """Raise `InputError` unless `path` is new or a regular file with one name."""
    try:
        existing = path.lstat()  # of a link itself, and not of what it leads to
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as e:
        raise unwritable(path, e) from None
    if stat.S_ISLNK(existing.st_mode):
        raise InputError(f"{path}: is a symbolic link, which is not written through; name what it leads to")
    if stat.S_ISDIR(existing.st_mode):
        raise InputError(f"{path}: is a folder; must be a new file, or a file to replace")
    if not stat.S_ISREG(existing.st_mode):
        raise InputError(f"{path}: is not a regular file; must be a new file, or a file to replace")
    if existing.st_nlink > 1:
        # To replace it would leave the old text under its other name, without a word.
        raise InputError(f"{path}: has another name as well (hard link), whose file is kept; remove {path}")


def check_folder(path: Path) -> None:
    """Raise `InputError` unless `path` is new or a folder; a link to one is refused."""
    if path.is_symlink():
        raise InputError(f"{path}: is a symbolic link, which is not written through; name what it leads to")
    if path.exists() and not path.is_dir():
        raise InputError(f"{path}: is a file; must be a new folder")


def check_output(path: str | Path) -> None:
    """Raise `InputError` unless a file can be written there."""
    place = output_path(path)
    check_place(place)
    check_parent(place)


def check_parent(path: Path, name: object = None) -> None:
    """Raise `InputError` if no file or folder can be made at `path`; `name` is what the message calls it."""
    # The folders in between are made later: what counts is the nearest one that exists.
    for above in path.absolute().parents:
        if above.exists():
            break
    if not (above.is_dir() and os.access(above, os.W_OK)):
        raise InputError(f"{name or path}: cannot be written (cannot create files in {above})")


def make_folder(path: Path) -> Path:
    """Make a folder and those above it, if they are not there; raises `OSError` if that fails."""
    path.mkdir(parents=True, exist_ok=True)
    return path


def inner_folder(folder: str | Path, *names: str) -> Path:
    """A folder that the user named, or one of ours in it: made, and none of `names` may be a link.

    Raises `InputError` if it cannot be made.
    """
    inner = output_path(folder)
    for name in names:
        inner /= name
        check_folder(inner)
    try:
        return make_folder(inner)
    except OSError as e:
        raise unwritable(inner, e) from None


def new_file(path: Path) -> BinaryIO:
    """A file to write to, which must not be there yet; raises `OSError` as `open`."""
    return path.open("xb")  # `x` follows no link that somebody puts there in between


class Temporary(TemporaryDirectory[str]):
    """A new folder beside `path`, in which the new `path` is made; a context manager.

    It is locked while its command lives. One that nobody has locked was left by a command that was killed:
    it goes when the same path is written again.
    """

    def __init__(self, path: Path) -> None:
        make_folder(path.parent)
        remove_left(path)
        # Beside the path, as a rename is one step only within a file system.
        super().__init__(prefix=f".{path.name}.", dir=path.parent, ignore_cleanup_errors=True)
        self._lock = _lock_of(Path(self.name))

    def cleanup(self) -> None:
        """Remove it with all that is in it."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        super().cleanup()


def remove_left(path: Path) -> None:
    """Remove the temporary folders of `path` that commands left which were killed."""
    # What `tempfile` adds: eight of these characters, as in `.report.html.k3_x9ab1`. A hidden file of the
    # user's has another name.
    temporary = re.compile(rf"\.{re.escape(path.name)}\.[a-z0-9_]{{8}}")
    for left in path.parent.glob(f".{escape(path.name)}.????????"):
        if not temporary.fullmatch(left.name) or left.is_symlink() or not left.is_dir():
            continue
        lock = _lock_of(left)
        if lock is not None:  # else the command that made it still writes
            shutil.rmtree(left, ignore_errors=True)
            os.close(lock)


def _lock_of(folder: Path) -> int | None:
    """An open file that locks a folder until it is closed; None if another has it, or there are no locks."""
    try:
        import fcntl  # not on Windows

        lock = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def put(new: Path, path: Path) -> None:
    """Give a new file or folder its place; what is there goes into the folder that `new` is in."""
    if path.exists() and (path.is_dir() or new.is_dir()):
        # No folder can be replaced in one step; a command that is killed here leaves the old one hidden.
        path.rename(new.with_name(f"{new.name}.before"))
    os.replace(new, path)  # noqa: PTH105  an existing file goes in the same step


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """A new temporary folder that takes the place of `path` at the end, whole or not at all."""
    with Temporary(path) as beside:
        new = Path(beside) / path.name
        new.mkdir()
        yield new
        put(new, path)


@contextmanager
def writing(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write to, which becomes `path` at the end of the block; an error leaves what is there.

    Raises `InputError` if it cannot be written.
    """
    place = output_path(path)
    check_output(place)
    try:
        with Temporary(place) as beside:
            new = Path(beside) / place.name
            with new_file(new) as file:
                yield file
            put(new, place)
    except OSError as e:
        raise unwritable(path, e) from None


def write_lines(path: str | Path, lines: Iterable[str]) -> None:
    """Write lines, which bring their own ends, one after the other; see `writing`."""
    with writing(path) as file:
        for line in lines:
            file.write(hidden(line).encode())


def write_folder(path: str | Path, contents: Mapping[str, bytes]) -> None:
    """Write a folder of files as a whole, in place of an earlier one; raises `InputError` if it fails.

    `contents` is name -> what the file holds; a name may have folders.
    """
    folder = output_path(path).resolve()  # the folder itself may be a link
    # First all names are looked at, so that nothing is replaced if one of them is refused.
    for name in contents:
        # All folders within a name: of `a/b/c` these are `a/b` and `a`; the last one is `.`.
        for above in Path(name).parents[:-1]:
            check_folder(folder / above)
        check_place(folder / name)
    try:
        with replacing_folder(folder) as new:
            for name, data in contents.items():
                make_folder((new / name).parent)
                with new_file(new / name) as file:
                    file.write(hidden_bytes(data))
    except OSError as e:
        raise unwritable(path, e) from None


def this_process() -> str:
    """What messages of other processes call this one."""
    return f"process {os.getpid()} on {socket.gethostname()}"


class OutputFolder:
    """A folder that one command at a time writes to; a context manager that gives it free.

    It is known by its first file, `manifest.json`, so a command that was stopped at any moment can be
    repeated. A folder with other files and no such manifest is refused.
    """

    def __init__(self, path: str | Path, holds: str, names: Sequence[str] = ()) -> None:
        self.path = output_path(path)
        self._holds = holds
        self._names = (MANIFEST, *names)
        """The files that are written here, as far as they are known beforehand."""
        self._lock: BaseFileLock | None = None
        self._made: list[Path] = []
        """The folders that were made for the lock, the innermost first."""

    def __enter__(self) -> "OutputFolder":
        return self

    def __exit__(self, *error: object) -> None:
        if self._lock is None:
            return
        lock_file = self.path / _LOCK
        with suppress(OSError):
            # The file goes while it is locked: after that it may be another's.
            if _is_ours(lock_file):
                lock_file.unlink(missing_ok=True)
            # Of a command that has written nothing, nothing stays. A folder that holds anything ends this.
            for folder in self._made:
                folder.rmdir()
        self._lock.release()
        self._lock = None

    def check_free(self) -> None:
        """Raise `InputError` unless the folder is new, empty, or of the same kind.

        Hidden files do not count. The folder is not taken, and nothing in it is read.
        """
        if self.path.exists() and not self.path.is_dir():
            raise InputError(f"`out` {self.path}: is a file; must be a new folder or that of a {self._holds}")
        check_parent(self.path / MANIFEST, f"`out` {self.path}")
        visible = []
        if self.path.exists():
            for inner in self.path.iterdir():
                if not inner.name.startswith("."):
                    visible.append(inner.name)
        if visible and MANIFEST not in visible:
            raise InputError(
                f"`out` {self.path}: holds other files and no {self._holds}; must be a new or empty folder"
            )

    def take(self) -> None:
        """Take the folder for this object, if it has not; its names are free after that.

        Raises `InputError` if another process writes there, or something else stands under a name.
        """
        self.check_free()
        if self._lock is None:
            absolute = self.path.absolute()
            upwards = [absolute, *absolute.parents]
            # What does not exist yet is made for the lock, and goes again if nothing is written.
            self._made = [folder for folder in upwards if not folder.exists()]
            self._lock = _locked(inner_folder(self.path) / _LOCK, f"`out` {self.path}")
        for name in self._names:
            # The folder is taken: what lies there beside the name was left by a command that is gone.
            remove_left(self.place(name))

    def claim(self, identity: str = "") -> "OutputFolder":
        """Take the folder, and write first of all what is made here; raises `InputError` as `take`.

        A folder that holds something else is refused. `identity` must be the same when the command is
        repeated.
        """
        self.take()  # before it is read: another command may be writing it
        earlier = self.manifest()
        if earlier and earlier.get("identity") != identity:
            raise InputError(
                f"`out` {self.path}: holds the {self._holds} of another judge, prompt or texts; choose "
                "another folder"
            )
        self.write_manifest({"identity": identity})
        return self

    def manifest(self) -> dict[str, Any] | None:
        """What the manifest says; None without one.

        Raises `InputError` for a broken one, and for one of something else.
        """
        path = self.place(MANIFEST)
        if not path.exists():
            return None
        try:
            written, holds = _manifest_in(path)
        except (OSError, ValueError, AttributeError):
            raise InputError(f"`out` {self.path}: its {MANIFEST} is broken; choose another folder") from None
        if holds != self._holds:
            raise InputError(f"`out` {self.path}: holds a {holds}, no {self._holds}; choose another folder")
        return dict(written)

    def write_manifest(self, content: Mapping[str, object]) -> None:
        """Write the manifest: what the folder holds, and who made it, beside `content`."""
        of_dhp = {"schema": "dhp.manifest/1", "holds": self._holds, "dhp": __version__}
        self.write(MANIFEST, [indented_json({**of_dhp, **content})])

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        self.place(name).unlink(missing_ok=True)

    def place(self, name: str) -> Path:
        """The path of a file in the folder; raises `InputError` if something else stands there."""
        for above in list(Path(name).parents)[:-1]:
            check_folder(self.path / above)
        check_place(self.path / name)
        return self.path / name

    def write(self, name: str, lines: Iterable[str]) -> None:
        """Write a file of lines; see `write_lines`."""
        write_lines(self.place(name), lines)


def held_in(folder: Path) -> str | None:
    """What a folder holds, by its manifest: `run`, `battle`, `probe` ...; None if it has none.

    A broken manifest is taken for that of a run.
    """
    path = folder / MANIFEST
    if not path.is_file():
        return None
    try:
        _, holds = _manifest_in(path)
    except (OSError, ValueError, AttributeError):
        return RUN
    return holds


def _manifest_in(path: Path) -> tuple[dict[str, Any], str]:
    """What a manifest says, and what its folder holds: a run, if it does not say."""
    written = json.loads(path.read_text(encoding="utf-8"))
    return written, written.get("holds", RUN)


def _locked(path: Path, name: str) -> "BaseFileLock":
    """The lock of a folder, taken; raises `InputError` if another process has it.

    A file system without locks is said, and the command goes on. Who gives the lock free removes the file
    first. Another process that had opened it before locks a file without a name: `FileLock` sees that and
    tries again, for which it gets a moment.
    """
    from filelock import FileLock, Timeout

    check_place(path)  # else the lock would follow a link, and empty what it leads to
    lock = FileLock(path, timeout=_MOMENT)
    try:
        lock.acquire(poll_interval=_MOMENT / 10)
    except Timeout:
        holder = _text(path).strip() or "another process"
        raise InputError(f"{name}: is being written by {holder}; wait for it or choose another") from None
    except (FileNotFoundError, PermissionError) as e:
        raise unwritable(name, e) from None
    except (OSError, NotImplementedError):
        logging.getLogger("dhp").warning(
            "%s: its file system has no locks; let one command at a time write there", name
        )
        return lock
    try:
        if _is_ours(path):
            path.write_text(f"{this_process()} since {time.strftime('%Y-%m-%d %H:%M')}\n")
    except OSError as e:
        lock.release()
        raise unwritable(name, e) from None
    return lock


def _is_ours(path: Path) -> bool:
    """Whether a lock file is new or was written here; that of another program is left as it is."""
    text = _text(path)
    return not text or text.startswith("process ")


def _text(path: Path) -> str:
    """The beginning of a lock file; empty if it was just removed."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(200)
    except FileNotFoundError:
        return ""
