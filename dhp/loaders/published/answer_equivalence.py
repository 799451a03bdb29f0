"""Answer Equivalence: JSONL files, several rows a question."""

from collections.abc import Iterator
from pathlib import Path

from dhp.core.files import inner_files
from dhp.core.records import Example
from dhp.core.specs import Card
from dhp.core.tables import read_jsonl

MIN_CHARACTERS = 150
"""A reference answer must be longer than this."""


def read_answer_equivalence(card: Card, path: Path) -> Iterator[tuple[str, Example]]:
    """(place, example) of the first row of each question whose reference is long enough."""
    seen: set[str] = set()
    for file in inner_files(path, (".jsonl",), "the Answer Equivalence files"):
        table = read_jsonl(file)
        table.need(("qid", "question", "context", "reference"))
        for row in table.rows:
            qid, reference = row.text("qid"), row.text("reference").strip()
            if len(reference) > MIN_CHARACTERS and qid not in seen:
                seen.add(qid)
                fields = {"question": row.text("question").strip()}
                yield row.place, Example(qid, row.text("context").strip(), reference, fields)
