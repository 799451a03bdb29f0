"""Download of one file over HTTP(S), with a checksum."""

import hashlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from dhp.core.errors import InputError
from dhp.core.files import reason, replacing

Progress = Callable[[str, int, int | None], None]
"""Told (file name, bytes done, bytes in all or None) as a transfer goes on."""

TIMEOUT = 60.0
"""Seconds without an answer after which a server counts as down."""
_USER_AGENT = "dhp-loaders/1 (DHP benchmark)"
_CHUNK = 1 << 18
MOST_BYTES = 10 * 2**30
"""Most bytes of a file that are fetched."""


def download(url: str, path: Path, sha256: str | None = None, progress: Progress | None = None) -> None:
    """Fetch `url` into `path`; the file appears there only when it is complete and checked.

    `sha256` is the digest in hex the content must have. Raises `InputError` where the server is down or
    answers with an error or a web page, the transfer breaks off, or the digest differs.
    """
    if urlsplit(url).scheme not in ("http", "https"):
        raise InputError(f"{path.name}: address '{url}'; allowed: http, https")
    with replacing(path) as new:
        digest = _transfer(url, new, progress)
        if sha256 is not None and digest != sha256.lower():
            raise InputError(
                f"{path.name}: sha256 of {url} is {digest[:12]}..., expected: {sha256[:12].lower()}...; "
                f"the file was removed"
            )


def _transfer(url: str, path: Path, progress: Progress | None) -> str:
    """Write what `url` answers to `path` and return its sha256 in hex."""
    request = urllib.request.Request(url, headers={"User-Agent": _USER_AGENT, "Accept": "*/*"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as reply, path.open("wb") as file:
            if reply.headers.get_content_type() in ("text/html", "application/xhtml+xml"):
                raise InputError(f"{path.name}: {url} answered with a web page; expected: the file itself")
            length = reply.headers.get("Content-Length")
            total = int(length) if length and length.isdigit() else None
            return _copy(reply, file, url, path.name, total, progress)
    except urllib.error.HTTPError as e:
        raise InputError(f"{path.name}: {url} answered {e.code} {e.reason}".rstrip()) from None
    except urllib.error.URLError as e:
        cause = reason(e.reason) if isinstance(e.reason, BaseException) else str(e.reason)
        raise InputError(f"{path.name}: {url} cannot be reached ({cause})") from None
    except (OSError, ValueError, http.client.HTTPException) as e:
        raise InputError(f"{path.name}: the transfer from {url} failed ({reason(e)})") from None


def _copy(
    reply: IO[bytes], file: IO[bytes], url: str, name: str, total: int | None, progress: Progress | None
) -> str:
    digest, done = hashlib.sha256(), 0
    while chunk := reply.read(_CHUNK):
        if done == 0 and chunk[:200].lstrip().lower().startswith((b"<!doctype html", b"<html")):
            raise InputError(f"{name}: {url} answered with a web page; expected: the file itself")
        if done + len(chunk) > MOST_BYTES:
            raise InputError(f"{name}: {url} answered with more than {MOST_BYTES:,} bytes")
        file.write(chunk)
        digest.update(chunk)
        done += len(chunk)
        if progress:
            progress(name, done, total)
    if total is not None and done != total:
        raise InputError(
            f"{name}: the transfer from {url} broke off after {done} of {total} bytes; try again"
        )
    if done == 0:
        raise InputError(f"{name}: {url} answered with nothing; expected: the file")
    return digest.hexdigest()
