"""Published datasets of whole texts: SummEval, the Story Cloze Test, Answer Equivalence and SumPubMed."""

import re
from collections.abc import Iterator
from pathlib import Path

from dhp.core.card_spec import Card
from dhp.core.errors import InputError
from dhp.core.files import inner_file, inner_files, read_text
from dhp.core.records import Example
from dhp.core.tables import Row, read_table
from dhp.core.text import sentences

_ID = "InputStoryid"
_SENTENCES = tuple(f"InputSentence{i}" for i in range(1, 5))
_ENDINGS = ("RandomFifthSentenceQuiz1", "RandomFifthSentenceQuiz2")
_ANSWER = "AnswerRightEnding"
_SECTION = "BACKGROUND"
_EXPECTED = (
    "expected: a folder that holds the folders text/ (text_1.txt, ...) and abstract/ (abstract_1.txt, ...)"
)


def read_summeval(card: Card, path: Path) -> Iterator[tuple[str, Example]]:
    """(place, example) of each article; its output is the human summary with the most sentences."""
    table = read_table(inner_file(path, (".jsonl", ".parquet"), "the table mteb/summeval"))
    table.need(("id", "text", "human_summaries"))
    for row in table.rows:
        summary = max(_summaries(row), key=lambda text: len(sentences(text)))
        yield row.place, Example(row.text("id"), row.text("text").strip(), summary)


def _summaries(row: Row) -> list[str]:
    given = row.values.get("human_summaries")
    texts = given if isinstance(given, list) else []
    kept = [row.encodable("human_summaries", t.strip()) for t in texts if isinstance(t, str) and t.strip()]
    if not kept:
        raise row.fault("column 'human_summaries' holds no summary; allowed: a list of texts")
    return kept


def read_story_cloze(card: Card, path: Path) -> Iterator[tuple[str, Example]]:
    """(place, example) of each story: the right ending is the output, the other one `wrong_ending`."""
    table = read_table(inner_file(path, (".csv",), "the Story Cloze Test as CSV"))
    table.need((*_SENTENCES, *_ENDINGS, _ANSWER))
    for number, row in enumerate(table.rows, 1):
        answer = row.text(_ANSWER).strip()
        if answer not in ("1", "2"):
            raise row.fault(f"column '{_ANSWER}' is '{answer}'; allowed: 1, 2")
        right, wrong = _ENDINGS if answer == "1" else reversed(_ENDINGS)
        yield (
            row.place,
            Example(
                id=row.text(_ID).strip() if _ID in table.columns else str(number),
                source=" ".join(row.text(column).strip() for column in _SENTENCES),
                output=row.text(right).strip(),
                fields={"wrong_ending": row.text(wrong).strip()},
            ),
        )


def read_answer_equivalence(card: Card, path: Path) -> Iterator[tuple[str, Example]]:
    """(place, example) of the first row of each question whose reference is long enough."""
    seen: set[str] = set()
    for file in inner_files(path, (".jsonl",), "the Answer Equivalence files"):
        table = read_table(file)
        table.need(("qid", "question", "context", "reference"))
        for row in table.rows:
            qid, reference = row.text("qid"), row.text("reference").strip()
            if len(reference) > (card.min_characters or 0) and qid not in seen:
                seen.add(qid)
                fields = {"question": row.text("question").strip()}
                yield row.place, Example(qid, row.text("context").strip(), reference, fields)


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
        if source and len(output) > (card.min_characters or 0):
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
