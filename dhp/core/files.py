"""Reading of files, with errors in one line.

Bytes come from `opened` or, if a file is packed, from `unpacked`, which bounds them. `decoded` makes them a
text; `decoded_table` also reads what spreadsheets write. JSON is parsed strictly, or with the one fault that
people make.
"""

import itertools
import json
import logging
import lzma
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BufferedIOBase
from pathlib import Path
from typing import IO, Any, BinaryIO

from dhp.core.errors import InputError
from dhp.core.hiding import hidden

MOST_UNPACKED = 2**28
"""Most bytes of packed files that are unpacked into memory; what holds more is to be unpacked on disk."""

BROKEN_DATA = (EOFError, zlib.error, lzma.LZMAError)
"""What unpacking raises for packed data that is broken."""


def cache_folder() -> Path:
    """Where dhp keeps what it can make again: `$XDG_CACHE_HOME/dhp`, else `~/.cache/dhp`."""
    # The standard of XDG says that a relative path is to be ignored.
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if base.is_absolute():
        return base / "dhp"
    try:
        return Path.home() / ".cache" / "dhp"
    except RuntimeError:
        raise InputError("there is no home folder for the cache; set XDG_CACHE_HOME to a folder") from None


def reason(error: BaseException) -> str:
    """What an exception says, on one line of at most 200 characters; its name if it says nothing."""
    # `str` of an `OSError` repeats number and path: "[Errno 13] Permission denied: 'x'".
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(hidden(str(text)).split())[:200]


def read_bytes(path: Path) -> bytes:
    """What a file holds; raises `InputError` if it is missing or unreadable."""
    with opened(path) as file:
        return file.read()


def _near(path: Path) -> str:
    """The name of a file beside it that may be meant, as a question."""
    from difflib import get_close_matches

    with suppress(OSError):  # the folder may be missing, too
        # A folder may hold millions of files, and the name is only a hint.
        beside = itertools.islice(path.parent.iterdir(), _MOST_NEAR)
        names = [other.name for other in beside]
        close = get_close_matches(path.name, names, n=1)
        if close:
            return f"; did you mean '{close[0]}'?"
    return ""


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A file to be read; raises `InputError` if it is missing or unreadable."""
    try:
        # A pipe may never end. That of a shell's <(...) stands below /dev, and its command ends it.
        if path.is_fifo() and path.parts[1:2] != ("dev",):
            raise InputError(f"{path}: is a pipe; must be a file")
        with path.open("rb") as file:
            yield file
    except FileNotFoundError:
        raise InputError(f"{path}: does not exist{_near(path)}") from None
    except OSError as e:
        raise InputError(f"{path}: cannot be read ({reason(e)})") from None


def unpacked(name: str, packed: IO[bytes] | BufferedIOBase, before: int = 0) -> bytes:
    """What a packed file holds; raises `InputError` if it comes to too much, `before` bytes included."""
    # What an archive says of its sizes may be false: read one byte more than is allowed, and count.
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
            # Only the first line can begin with the byte order mark.
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
"""Share of bytes beyond ASCII above which a text is hardly Western, and Windows-1252 is the wrong guess."""


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

    # Any bytes are some text in Windows-1252: it is a guess, and refused for what is hardly Western.
    head = data[:100_000]
    beyond_ascii = sum(byte > 127 for byte in head)
    with suppress(UnicodeDecodeError):
        if data.startswith(_UTF_16_MARKS):
            return data.decode("utf-16")
        if beyond_ascii <= _FOREIGN * len(head):
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
    # `splitlines` would also end a line at marks such as U+2028, which texts hold.
    lines = read_text(path).split("\n")
    # Behind the last line feed there is no further line.
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
"""A comma before a closing bracket; strings are matched first, so that none is changed inside."""


def parse_careless_json(place: str, text: str) -> Any:
    """As `parse_json`, also if there is a comma behind the last entry of a list or an object."""
    try:
        return parse_json(place, text)
    except InputError as e:
        # The fault of the text as it is says more, if it has others.
        with suppress(ValueError, RecursionError):
            return json.loads(_NEEDLESS_COMMA.sub(lambda m: "" if m[0] == "," else m[0], text))
        raise e from None


def read_json(path: Path, *, careless: bool = False) -> Any:
    """What a JSON file holds; raises `InputError` if it cannot be read. See `parse_careless_json`."""
    parse = parse_careless_json if careless else parse_json
    return parse(str(path), read_text(path))


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
    named = [inner for inner in path.rglob("*") if inner.suffix.lower() in suffixes]
    files = sorted(inner for inner in named if inner.is_file())
    if not files:
        raise InputError(f"{path}: no such file in this folder; {expected}")
    return files


def inner_file(path: Path, suffixes: Sequence[str], content: str) -> Path:
    """The file `path` itself, or the only file with one of `suffixes` in the folder `path`."""
    files = inner_files(path, suffixes, content)
    if len(files) > 1:
        names = ", ".join(str(inner.relative_to(path)) for inner in files[:3])
        raise InputError(f"{path}: {len(files)} files could be meant ({names}); name the file itself")
    return files[0]


def indented_json(value: object) -> str:
    """A value as the whole text of a JSON file."""
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def json_line(value: object) -> str:
    """A value as one line of a file of JSON lines."""
    return json.dumps(value, ensure_ascii=False) + "\n"
