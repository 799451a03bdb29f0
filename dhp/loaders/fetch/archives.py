"""Safe unpacking of archives (.zip, .tar.gz)."""

import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, Literal

from dhp.core.errors import InputError
from dhp.core.files import reason, replacing

_CHUNK = 2**20
MOST_BYTES = 10 * 2**30
"""Most bytes that an archive may hold when unpacked."""
ARCHIVE_SUFFIXES = (".zip", ".tar.gz", ".tgz")


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    kind: Literal["file", "folder", "link", "other"]
    target: str
    """Target of a link, as written in the archive."""
    open: Callable[[], IO[bytes] | None]


def archive_stem(name: str) -> str | None:
    """The name of an archive without its suffix; None where `name` is not an archive."""
    for suffix in ARCHIVE_SUFFIXES:
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return None


def unpack(archive: Path, folder: Path) -> None:
    """Unpack `archive` as `folder`, whole or not at all; what stood there before is replaced.

    Regular files and folders only. A link that stays inside is left out. Raises `InputError` at an
    absolute path, `..`, a link that leads out, a hard link or device, and for a broken archive.
    """
    members = _zip_members if archive.name.endswith(".zip") else _tar_members
    try:
        with replacing(folder) as new:
            new.mkdir()
            room = MOST_BYTES
            for member in members(archive):
                room -= _write(archive.name, member, new, room)
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError) as e:
        raise InputError(f"{archive.name}: broken archive ({reason(e)})") from None
    except (OSError, RuntimeError, NotImplementedError, ValueError) as e:
        raise InputError(f"{archive.name}: cannot be unpacked ({reason(e)})") from None


def _leads_out(name: str) -> bool:
    """Whether a path is absolute or has a `..`, by the rules of POSIX or of Windows."""
    path = PureWindowsPath(name)
    return bool(path.drive or path.root or ".." in path.parts or "\0" in name)


def _write(archive: str, member: _Member, folder: Path, room: int) -> int:
    """The bytes that were written, `room` at most."""

    def fault(what: str) -> InputError:
        return InputError(f"{archive}: member '{member.name}' {what}; allowed: files and folders inside")

    if _leads_out(member.name):
        raise fault("leads out of the archive")
    path = folder / member.name
    if member.kind == "folder":
        path.mkdir(parents=True, exist_ok=True)
    elif member.kind == "file":
        path.parent.mkdir(parents=True, exist_ok=True)
        if (source := member.open()) is None:
            raise fault("cannot be read")
        with source, path.open("xb") as file:
            while chunk := source.read(_CHUNK):
                if file.tell() + len(chunk) > room:
                    raise InputError(f"{archive}: holds more than {MOST_BYTES:,} bytes when unpacked")
                file.write(chunk)
            return file.tell()
    elif member.kind == "other":
        raise fault("is a device, pipe or hard link")
    elif _link_leads_out(member):
        raise fault(f"is a link to '{member.target}'")
    return 0


def _link_leads_out(member: _Member) -> bool:
    target = PureWindowsPath(member.target)
    if target.drive or target.root:
        return True
    depth = len(PurePosixPath(member.name).parts) - 1
    for part in target.parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            return True
    return False


def _tar_members(path: Path) -> Iterator[_Member]:
    with tarfile.open(path, "r:gz") as archive:
        for info in archive:
            kind: Literal["file", "folder", "link", "other"] = "other"
            if info.isreg():
                kind = "file"
            elif info.isdir():
                kind = "folder"
            elif info.issym():
                kind = "link"
            yield _Member(info.name, kind, info.linkname, partial(archive.extractfile, info))


def _zip_members(path: Path) -> Iterator[_Member]:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            mode = stat.S_IFMT(info.external_attr >> 16)
            kind: Literal["file", "folder", "link", "other"] = "other"
            if info.is_dir():
                kind = "folder"
            elif mode in (0, stat.S_IFREG):
                kind = "file"
            elif mode == stat.S_IFLNK:
                kind = "link"
            target = archive.read(info).decode(errors="replace") if kind == "link" else ""
            yield _Member(info.filename, kind, target, partial(archive.open, info))
