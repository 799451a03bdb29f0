"""Download sources of published datasets."""

import http.client
import shutil
import tarfile
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dhp.core.card_spec import Card, Download
from dhp.core.errors import InputError, require
from dhp.core.files import reason, unwritable, write_whole
from dhp.loaders.fetch.archives import archive_stem, unpack
from dhp.loaders.fetch.download import Progress, download
from dhp.loaders.published.wmt import TRANSLATOR


def fetch(card: Card, folder: Path, progress: Progress | None = None) -> Path:
    """Get the published files of a dataset into `folder`; returns what `read_published` reads.

    That is the file or unpacked archive where there is one, else `folder`. `progress` gets (file name,
    bytes done, bytes in all or None). Raises `InputError` where the owners give the data out on request
    only, the server fails, or a file is not the one expected; a failed file leaves nothing behind.
    """
    if not card.fetchable:
        raise InputError(f"{card.dataset}: nothing to download. {card.access} Then use --data PATH.")
    _make(folder)
    if card.download is None:
        return _fetch_wmt(card, folder, progress)
    try:
        got = [_fetch_file(card.download, name, folder, progress) for name in card.download.files]
    except OSError as e:
        raise unwritable(folder, e) from None
    return got[0] if len(got) == 1 else folder


def _fetch_file(given: Download, name: str, folder: Path, progress: Progress | None) -> Path:
    """Download one file, unpack it where it is an archive; returns the file or unpacked folder."""
    if Path(name).name != name:
        raise InputError(f"{folder}: download file '{name}'; allowed: a plain file name")
    url, digest, stem = given.files[name], given.sha256.get(name), archive_stem(name)
    if stem is None:
        download(url, folder / name, digest, progress)
        return folder / name
    with TemporaryDirectory(prefix=".archive.", dir=folder) as temporary:
        download(url, Path(temporary) / name, digest, progress)
        unpack(Path(temporary) / name, folder / stem)
    return folder / stem


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise InputError(f"{folder}: cannot be made ({reason(e)})") from None


def _fetch_wmt(card: Card, folder: Path, progress: Progress | None) -> Path:
    """Copy source, reference and document ids from sacrebleu, which downloads and checks them."""
    require("sacrebleu", "lxml", purpose=f"fetching {card.dataset}")
    from sacrebleu import DATASETS

    pair, again = card.sacrebleu, "delete its folder wmt22 and try again"
    if progress:
        progress("wmt22", 0, None)
    try:
        dataset: Any = DATASETS["wmt22"]
        files = dict(zip(dataset.fieldnames(pair), dataset.get_files(pair), strict=True))
    except SystemExit:
        raise InputError(f"{card.dataset}: sacrebleu gave up, for the reason it logged; {again}") from None
    except (
        OSError,
        EOFError,
        ValueError,
        SyntaxError,  # lxml's errors
        AssertionError,
        tarfile.TarError,
        zlib.error,
        http.client.HTTPException,
    ) as e:
        raise InputError(f"{card.dataset}: sacrebleu could not get WMT22 ({reason(e)}); {again}") from None
    for field in ("src", f"ref:{TRANSLATOR}", "docid"):
        if field not in files:
            raise InputError(f"{card.dataset}: sacrebleu has no field '{field}'; found: {', '.join(files)}")
        _copy(Path(files[field]), folder / f"wmt22.{pair}.{field.replace(':', '-')}", progress)
    return folder


def _copy(source: Path, target: Path, progress: Progress | None) -> None:
    write_whole(target, lambda path: shutil.copyfile(source, path))
    size = target.stat().st_size
    if progress:
        progress(target.name, size, size)
