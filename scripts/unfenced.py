"""Measure whether code and data without a fence stay whole, and prose that looks like them stays prose.

    python scripts/unfenced.py /usr/share /usr/lib/python3 site-packages
    python scripts/unfenced.py /usr/share --pieces 20 --show YAML

Of each kind of file in the folders, pieces of 6 to 40 lines are taken as they are, and once more between
two paragraphs of prose: how many are damaged by a rule or control of the suite `general`, and in how many
the paragraphs round them are taken for code. A piece begins at the start of a file or behind a blank line,
outside comments over several lines; of one folder come a few files at most. Of HTML the tags must stay, not
the words, and of Perl what is no documentation. The other side are the texts of
`tests/core/prose_like_code.yaml` and of the bundled sets: in how many a line is taken for code.
"""

import argparse
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

import pandas as pd
import yaml

import dhp
from dhp.core.markdown import code_spans
from dhp.loaders.resolve import resolve_datasets

KINDS: Mapping[str, str] = {
    "Python": "py pyx",
    "JavaScript": "js mjs ts jsx",
    "C": "c h cpp cc hpp",
    "Java, Go, Rust": "java go rs kt",
    "Perl": "pl pm",
    "PHP": "php",
    "SQL": "sql",
    "HTML": "html htm",
    "XML": "xml svg",
    "CSS": "css scss",
    "YAML": "yaml yml",
    "TOML": "toml",
    "JSON": "json jsonl",
    "shell": "sh bash",
    "log": "log",
    "CSV": "csv tsv",
    "TeX": "tex sty bib",
    "diff": "diff patch",
    "settings": "ini cfg conf service desktop",
    "CMake": "cmake mk",
    "Fortran": "f f90",
    "vim, Tcl, Lua": "vim tcl lua el",
}
"""Kind -> the endings of its files."""
PROSE_LIKE = Path(__file__).resolve().parent.parent / "tests" / "core" / "prose_like_code.yaml"
BEFORE = "Here is one way to do it. It works in any version, and it is short."
BEHIND = "Call it with the name of the file. I hope that this helps you."
CUTS_OFF = "broken_form"
"""The kind of damage that cuts a text off, whatever it holds."""
_LENGTHS = (6, 12, 25, 40)
_LEAST_LINES, _WIDEST, _LONGEST = 5, 400, 400_000
_ENCLOSED = (("/*", "*/"), ("<!--", "-->"), ("=head", "=cut"), ("=pod", "=cut"))


def files_by_kind(folders: Sequence[str]) -> Mapping[str, list[str]]:
    """Kind -> its files in the folders."""
    kinds = {ending: kind for kind, endings in KINDS.items() for ending in endings.split()}
    found = defaultdict[str, list[str]](list)
    for folder in folders:
        for parent, _, names in os.walk(folder):
            for name in names:
                kind = kinds.get(name.rpartition(".")[2].lower())
                if kind and "." in name:
                    found[kind].append(f"{parent}/{name}")
    return found


def pieces(files: Sequence[str], count: int, rng: Random) -> Iterator[str]:
    """Pieces of as many of the files."""
    files = rng.sample(sorted(files), k=len(files))
    taken = Counter[str]()
    most = max(3, count // 10)
    for file in files:
        folder = "/".join(file.split("/")[:7])
        if taken.total() < count and taken[folder] < most:
            piece = _piece(Path(file), rng)
            if piece:
                taken[folder] += 1
                yield piece


def _piece(file: Path, rng: Random) -> str | None:
    try:
        lines = file.read_bytes()[:_LONGEST].decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    if len(lines) < _LEAST_LINES or max(map(len, lines)) > _WIDEST:
        return None
    starts = [0, *(i for i in range(1, len(lines) - 4) if not lines[i - 1].strip() and lines[i].strip())]
    flush = [i for i in starts if lines[i][:1] not in " \t"]
    start = rng.choice(flush or starts)
    if _is_enclosed("\n".join(lines[:start])):
        return None
    piece = "\n".join(lines[start : start + rng.choice(_LENGTHS)]).strip("\n")
    if sum(map(bool, map(str.strip, piece.splitlines()))) < _LEAST_LINES - 1 or _is_object(piece):
        return None
    return piece


def _is_object(piece: str) -> bool:
    """Whether a piece is an object in JSON as a whole: in a table of texts it is refused."""
    try:
        return isinstance(json.loads(piece), dict)
    except ValueError:
        return False


def _is_enclosed(before: str) -> bool:
    """Whether a comment or a string over several lines has begun and not ended."""
    if any(before.count(opening) > before.count(closing) for opening, closing in _ENCLOSED):
        return True
    if len(re.findall(r"\[=+\[", before)) > len(re.findall(r"\]=+\]", before)):
        return True
    return bool(before.count('"""') % 2 or before.count("'''") % 2)


def damaged(texts: Sequence[str], whole: Sequence[Sequence[str]]) -> list[bool]:
    """Whether a copy of each text lacks one of the parts that have to stay whole."""
    table = pd.DataFrame({"id": [str(i) for i in range(len(texts))], "output": list(texts)})
    parts = dhp.perturb_datasets(table, suite="general", progress=False)
    found = [False] * len(texts)
    for part in parts:
        for name, copies in part.by_variant.items():
            for copy in copies if not name.startswith(CUTS_OFF) else ():
                number = int(copy.example)
                if copy.text is not None and not all(some in copy.text for some in whole[number]):
                    found[number] = True
    return found


def kept_whole(piece: str, kind: str) -> list[str]:
    """What must stay of a piece: its tags in HTML, else each of its lines, but documentation in Perl."""
    if kind == "HTML":
        return re.findall(r"</?[a-z][^<>\n]*>", piece)
    if kind == "Perl":
        piece = re.sub(r"(?ms)^=\w.*?(?:^=cut$|\Z)", "", piece)
    return [line for line in piece.splitlines() if any(map(str.isalpha, line))]


def is_taken_for_code(text: str) -> bool:
    """Whether a line of prose is taken for one of code."""
    return bool(code_spans(text))


def prose_as_code(framed: str) -> bool:
    """Whether one of the sentences around a piece of code is taken for code."""
    return any(framed[start:end] in (BEFORE, BEHIND) for start, end in code_spans(framed))


def shares_of_code(found: Mapping[str, Sequence[str]], show: str | None) -> Iterator[str]:
    """A row for each kind of file."""
    every = [(kind, piece) for kind, some in found.items() for piece in some]
    whole = [kept_whole(piece, kind) for kind, piece in every]
    alone = damaged([piece for _, piece in every], whole)
    framed = [f"{BEFORE}\n\n{piece}\n\n{BEHIND}" for _, piece in every]
    between = damaged(framed, whole)
    swallowed = [prose_as_code(text) for text in framed]
    for kind in [*found, "all"]:
        rows = [i for i, (name, _) in enumerate(every) if kind in (name, "all")]
        shares = []
        for some in (alone, between, swallowed):
            count = sum(some[i] for i in rows)
            shares.append(f"{count / max(len(rows), 1):.0%}")
        yield f"| {kind} | {len(rows)} | {' | '.join(shares)} |"
    for i, (kind, piece) in enumerate(every):
        if kind == show and alone[i]:
            yield f"\n---- damaged {kind}\n{piece}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure whether code without a fence stays whole.")
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--pieces", type=int, default=40, help="of each kind of file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", metavar="KIND", help="print the damaged pieces of a kind, too")
    asked = parser.parse_args()
    files = files_by_kind(asked.folders)
    found = {
        kind: list(pieces(files[kind], asked.pieces, Random(f"{asked.seed} {kind}")))
        for kind in KINDS
        if kind in files
    }
    print(
        "| code and data | pieces | damaged alone | damaged between prose | prose round them taken for code |"
    )
    print("|---|" + "---:|" * 4)
    print("\n".join(shares_of_code(found, asked.show)))
    print("\n| prose | texts | taken for code |\n|---|---:|---:|")
    like: Mapping[str, list[str]] = yaml.safe_load(PROSE_LIKE.read_text("utf-8"))
    outputs = [example.output for part in resolve_datasets(["mini"]) for example in part.examples]
    for kind, texts in {**like, "bundled texts": outputs}.items():
        print(f"| {kind} | {len(texts)} | {sum(map(is_taken_for_code, texts))} |")


if __name__ == "__main__":
    main()
