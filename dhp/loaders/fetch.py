"""Download of published datasets: sources, checksums, safe unpacking, prepared copies.

`prepare` goes three steps. `fetch` downloads the files of a card beside their place, checks their sums and
renames them, or copies what sacrebleu has downloaded. `unpack` writes the regular files of an archive. The
examples that may be chosen from are then written to one file in the cache, which later runs read
(`load_prepared`).
"""

import hashlib
import http.client
import shutil
import tarfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any
from urllib.parse import urlsplit

from dhp.content.catalog import read_task
from dhp.core.errors import InputError, require
from dhp.core.files import BROKEN_DATA, cache_folder, json_line, reason
from dhp.core.records import PerturbedText
from dhp.core.specs import Card, Download
from dhp.core.writing import (
    inner_folder,
    make_folder,
    replacing_folder,
    unwritable,
    write_lines,
    writing,
)
from dhp.loaders.dataset import Dataset
from dhp.loaders.published import TRANSLATOR, read_set
from dhp.loaders.user import read_texts

Progress = Callable[[str, int, int | None], None]
"""Told (file name, bytes done, bytes in all or None) as a transfer goes on."""

TIMEOUT = 60.0
"""Seconds without an answer after which a server counts as down. Chosen."""
_USER_AGENT = "dhp-loaders/1 (DHP benchmark)"
"""Tells servers who asks."""
_CHUNK = 256 * 1024
"""Bytes that are read at once, and after which progress is shown. Chosen."""
MOST_BYTES = 10 * 2**30
"""Most bytes that are fetched as a file, or unpacked from one. Chosen: no set of the cards comes near it."""


def download(url: str, path: Path, sha256: str | None = None, progress: Progress | None = None) -> None:
    """Fetch `url` into `path`; the file appears there only when it is complete and checked.

    `sha256` is the digest in hex the content must have. Raises `InputError` if the server is down or
    answers with an error or a web page, the transfer breaks off, or the digest differs.
    """
    if urlsplit(url).scheme not in ("http", "https"):  # urllib would also read local files by `file:`
        raise InputError(f"{path.name}: address '{url}'; allowed: http, https")
    with writing(path) as file:
        digest = _transfer(url, file, path.name, progress)
        if sha256 is not None and digest != sha256.lower():
            raise InputError(
                f"{path.name}: sha256 of {url} is {digest[:12]}..., expected: {sha256[:12].lower()}...; "
                f"the file was removed"
            )


def _transfer(url: str, file: IO[bytes], name: str, progress: Progress | None) -> str:
    """Write what `url` answers to a file, which messages call `name`; returns its sha256 in hex."""
    request = urllib.request.Request(url, headers={"User-Agent": _USER_AGENT, "Accept": "*/*"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as reply:
            if reply.headers.get_content_type() in ("text/html", "application/xhtml+xml"):
                raise InputError(f"{name}: {url} answered with a web page; expected: the file itself")
            length = reply.headers.get("Content-Length")
            # A server need not say how long its answer is.
            total = int(length) if length and length.isdigit() else None
            return _copy(reply, file, url, name, total, progress)
    except urllib.error.HTTPError as e:
        raise InputError(f"{name}: {url} answered {e.code} {e.reason}".rstrip()) from None
    except urllib.error.URLError as e:
        cause = reason(e.reason) if isinstance(e.reason, BaseException) else str(e.reason)
        raise InputError(f"{name}: {url} cannot be reached ({cause})") from None
    except (OSError, ValueError, http.client.HTTPException) as e:
        raise InputError(f"{name}: the transfer from {url} failed ({reason(e)})") from None


def _copy(
    reply: IO[bytes], file: IO[bytes], url: str, name: str, total: int | None, progress: Progress | None
) -> str:
    """Copy a reply to a file; returns its sha256 in hex. Raises `InputError` if it is not the whole file."""
    digest = hashlib.sha256()
    done = 0
    while True:
        chunk = reply.read(_CHUNK)
        if not chunk:
            break
        # Only the beginning of an answer shows what it is.
        if done == 0 and _is_page(chunk):
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


def _is_page(start: bytes) -> bool:
    """Whether a reply is a web page: some servers send a page of errors with the type and code of a file."""
    return start[:200].lstrip().lower().startswith((b"<!doctype html", b"<html"))


ARCHIVE = ".tar.gz"
"""The suffix of the archives that cards name."""


def unpack(archive: Path, folder: Path) -> None:
    """Unpack `archive` as `folder`, whole or not at all; what stood there before is replaced.

    Regular files and folders only: links, pipes and devices are left out. Raises `InputError` for a member
    that leads out of the folder, for more than `MOST_BYTES`, and for a broken archive.
    """
    try:
        with replacing_folder(folder) as new, tarfile.open(archive, "r:gz") as packed:
            room = MOST_BYTES
            for member in packed:
                if not (member.isreg() or member.isdir()):
                    continue
                # A few bytes may unpack to a full disk. No more is read of a member than this size.
                room -= member.size
                if room < 0:
                    raise InputError(f"{archive.name}: holds more than {MOST_BYTES:,} bytes when unpacked")
                packed.extract(member, new, filter="data")  # which refuses a name that leads out
    except (tarfile.TarError, *BROKEN_DATA) as e:
        raise InputError(f"{archive.name}: broken archive ({reason(e)})") from None
    except (OSError, ValueError) as e:
        raise InputError(f"{archive.name}: cannot be unpacked ({reason(e)})") from None


def fetch(card: Card, folder: Path, progress: Progress | None = None) -> Path:
    """Get the published files of a dataset into `folder`; returns what `read_published` reads.

    That is the file or the unpacked archive if there is only one, else `folder`. `progress` gets (file name,
    bytes done, bytes in all or None). Raises `InputError` if the owners give the data out on request only,
    the server fails, or a file is not the one expected; a failed file leaves nothing behind.
    """
    if not card.fetchable:
        raise InputError(f"{card.dataset}: nothing to download. {card.access} Then use --data PATH.")
    try:
        make_folder(folder)
        if card.download is None:
            return _fetch_wmt(card, folder, progress)
        got = [_fetch_file(card.download, name, folder, progress) for name in card.download.files]
    except OSError as e:
        raise unwritable(folder, e) from None
    return got[0] if len(got) == 1 else folder


def _fetch_file(source: Download, name: str, folder: Path, progress: Progress | None) -> Path:
    """Download one file and unpack it if it is an archive; returns the file or unpacked folder."""
    # A card might name a path that leads out of the folder.
    if Path(name).name != name:
        raise InputError(f"{folder}: download file '{name}'; allowed: a plain file name")
    url, digest = source.files[name], source.sha256.get(name)
    if not name.endswith(ARCHIVE):
        download(url, folder / name, digest, progress)
        return folder / name
    unpacked = folder / name.removesuffix(ARCHIVE)
    # The archive goes when it is unpacked: it takes as much room again.
    with TemporaryDirectory(prefix=".archive.", dir=folder) as temporary:
        download(url, Path(temporary) / name, digest, progress)
        unpack(Path(temporary) / name, unpacked)
    return unpacked


def _fetch_wmt(card: Card, folder: Path, progress: Progress | None) -> Path:
    """Copy source, reference and document ids from sacrebleu, which downloads and checks them."""
    require("sacrebleu", "lxml", purpose=f"fetching {card.dataset}", extra="data")
    from sacrebleu import DATASETS

    pair = card.sacrebleu
    again = "delete its folder wmt22 and try again"
    if progress:
        progress("wmt22", 0, None)  # sacrebleu tells nobody how far it is
    try:  # sacrebleu raises whatever its downloads and parsers raise, or ends the process
        dataset: Any = DATASETS["wmt22"]
        files = dict(zip(dataset.fieldnames(pair), dataset.get_files(pair), strict=True))
    except SystemExit:
        raise InputError(f"{card.dataset}: sacrebleu gave up, for the reason it logged; {again}") from None
    except (
        OSError,
        ValueError,
        SyntaxError,  # lxml's errors
        AssertionError,
        tarfile.TarError,
        *BROKEN_DATA,
        http.client.HTTPException,
    ) as e:
        raise InputError(f"{card.dataset}: sacrebleu could not get WMT22 ({reason(e)}); {again}") from None
    for field in ("src", f"ref:{TRANSLATOR}", "docid"):
        if field not in files:
            raise InputError(f"{card.dataset}: sacrebleu has no field '{field}'; found: {', '.join(files)}")
        _copy_file(Path(files[field]), folder / f"wmt22.{pair}.{field.replace(':', '-')}", progress)
    return folder


def _copy_file(source: Path, target: Path, progress: Progress | None) -> None:
    with source.open("rb") as published, writing(target) as file:
        shutil.copyfileobj(published, file)
    size = target.stat().st_size
    if progress:
        progress(target.name, size, size)


def prepared_file(card: Card) -> Path:
    """Where the prepared examples of a dataset are, or would be."""
    return cache_folder() / "datasets" / f"{card.dataset}.jsonl"


def prepare(
    card: Card, source: Path | None, progress: Progress | None = None, fields: Mapping[str, str] | None = None
) -> Path:
    """Write all eligible examples of a dataset, or its pairs, as JSONL.

    `source` is the data in the form that their owners publish; None fetches them. `fields` are columns of
    pairs instead of those that the card names. The file that is returned takes its place only when
    complete. Errors as in `read_set` and `fetch`.
    """
    if source is None:
        source = fetch(card, inner_folder(cache_folder(), "downloads", card.dataset), progress)
    rows = _rows(read_set(card, source, fields))
    path = prepared_file(card)
    inner_folder(cache_folder(), path.parent.name)  # makes it
    write_lines(path, map(json_line, rows))
    return path


def is_prepared(card: Card) -> bool:
    """Whether `prepare` has run."""
    return prepared_file(card).is_file()


def unprepared(card: Card) -> str:
    """What to say of a dataset that has no prepared copy: how to get it."""
    how = f"dhp data prepare {card.dataset}"
    if not card.fetchable:
        how += " --data FILE"
    return f"{card.dataset} is not prepared yet: {how}  ({card.access})"


def load_prepared(card: Card) -> Dataset:
    """The examples or pairs that `prepare` wrote, without a suite.

    Raises `InputError` if it has not run, and for a damaged file.
    """
    if not is_prepared(card):
        raise InputError(unprepared(card))
    return read_texts(prepared_file(card), read_task(card.task), name=card.dataset)


def _rows(loaded: Dataset) -> Iterator[dict[str, str]]:
    """The columns that `read_texts` reads, a row for each example or pair."""
    variants = {variant.name: variant for variant in loaded.pair_variants}  # none in a set of examples
    texts: dict[str, list[PerturbedText]] = {}
    for text in loaded.pairs:
        texts.setdefault(text.example, []).append(text)
    for example in loaded.examples:
        row = {"id": example.id, "source": example.source, "output": example.output, **example.fields}
        if not variants:
            yield row
        for text in texts.get(example.id, []):
            variant = variants[text.variant]
            # The columns by which `read_pairs` makes the same variants again.
            pair = {"perturbed": text.text or "", "kind": variant.perturber, "level": variant.level}
            if variant.degree:
                pair["degree"] = variant.degree
            yield row | pair
