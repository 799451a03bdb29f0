"""SummEval: the table mteb/summeval, one row a news article."""

from collections.abc import Iterator
from pathlib import Path

from dhp.core.files import inner_file
from dhp.core.records import Example
from dhp.core.specs import Card
from dhp.core.tables import Row, read_table
from dhp.core.text import sentences


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
