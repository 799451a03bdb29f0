"""SumPubMed: the folders `text/` and `abstract/`, one file an article."""

import re
from collections.abc import Iterator
from pathlib import Path

from dhp.core.card_spec import Card
from dhp.core.errors import InputError
from dhp.core.files import read_text
from dhp.core.records import Example

_SECTION = "BACKGROUND"
_EXPECTED = (
    "expected: a folder that holds the folders text/ (text_1.txt, ...) and abstract/ (abstract_1.txt, ...)"
)


def background(text: str) -> str:
    """The section that a line BACKGROUND starts and the next line in capitals ends, white space collapsed.

    An empty string where there is no such section.
    """
    kept: list[str] = []
    inside = False
    for line in map(str.strip, text.splitlines()):
        if inside and line.isupper():
            break
        if inside:
            kept.append(line)
        inside = inside or line == _SECTION
    return " ".join(" ".join(kept).split())


def read_sumpubmed(card: Card, path: Path) -> Iterator[tuple[str, Example]]:
    """(place, example) of each article whose text and abstract both have the section, by number."""
    root = _root(path)
    articles = _numbered(root / "text", "text")
    abstracts = _numbered(root / "abstract", "abstract")
    for number in sorted(articles.keys() & abstracts.keys(), key=lambda n: (int(n), n)):
        source, output = _background_of(articles[number]), _background_of(abstracts[number])
        if source and output:
            yield str(articles[number]), Example(number, source, output)


def _background_of(file: Path) -> str:
    return background(read_text(file)) if file.stat().st_size else ""


def _root(path: Path) -> Path:
    if not path.exists():
        raise InputError(f"{path}: does not exist; {_EXPECTED}")
    if not path.is_dir():
        raise InputError(f"{path}: wrong kind of file; {_EXPECTED}")
    candidates = (path, *sorted(path.glob("*/")), *sorted(path.glob("*/*/")))
    for folder in candidates:
        if (folder / "text").is_dir() and (folder / "abstract").is_dir():
            return folder
    raise InputError(f"{path}: no articles in this folder; {_EXPECTED}")


def _numbered(folder: Path, stem: str) -> dict[str, Path]:
    pattern = re.compile(rf"{stem}_([0-9]+)\.txt")
    return {m[1]: p for p in folder.iterdir() if (m := pattern.fullmatch(p.name))}
