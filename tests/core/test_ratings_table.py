"""Ratings read by columns: the values and messages of reading row by row, and not much slower than pandas."""

import json
from pathlib import Path

import pytest

from dhp.analysis.split_ratings import split_ratings
from dhp.core import ratings_table
from dhp.core.errors import InputError
from dhp.core.ratings_table import ratings_columns, read_ratings

HEAD = "example,variant,metric,sample,score,raw\n"
ROWS = [
    {"example": e, "variant": v, "metric": "m", "sample": s, "score": 3 + s, "raw": "four"}
    for e in range(3)
    for v in ("original", "w")
    for s in range(2)
]
CSV = HEAD + "".join(",".join(map(str, row.values())) + "\n" for row in ROWS)
LINES = "\n".join(map(json.dumps, ROWS)) + "\n"
BY_COLUMNS = {
    "plain.csv": CSV,
    "windows.csv": "\ufeff" + CSV.replace("\n", "\r\n"),
    "semicolons.csv": CSV.replace(",", ";"),
    "tabs.tsv": CSV.replace(",", "\t"),
    "quotes.csv": CSV.replace("four", '"He said ""4"", so:\nfour"'),
    "zeros.csv": CSV.replace("\n1,", "\n01,"),
    "empty.csv": CSV.replace(",3,", ",,"),
    "lines.jsonl": LINES,
    "null.jsonl": LINES.replace('"score": 3', '"score": null').replace('"four"', "null"),
    "lacking.jsonl": LINES.replace(', "raw": "four"', "", 3),
    "fractions.jsonl": LINES.replace('"score": 3', '"score": 3.25'),
}
BY_ROWS = {
    "ragged.csv": CSV + "1,w,m\n",
    "quotes.csv": CSV.replace(",four", ',""four', 1),
    "words.csv": CSV.replace(",3,", ",good,", 1),
    "nan.csv": CSV.replace(",3,", ",nan,", 1),
    "blank.csv": CSV.replace(",3,", ", ,", 1),
    "twice.csv": CSV.replace("raw", "score"),
    "nothing.csv": HEAD,
    "returns.csv": CSV.replace("four", '"fo\rur"'),
    "infinite.jsonl": LINES.replace('"score": 3', '"score": Infinity', 1),
    "flag.jsonl": LINES.replace('"score": 3', '"score": true', 1),
    "list.jsonl": LINES.replace('"score": 3', '"score": [3]', 1),
    "deep.jsonl": LINES + "[" * 100_000 + "\n",
    "names.jsonl": LINES.replace('"example": 1', '"example": 1.0', 1),
    "half.jsonl": LINES.replace("four", "\\ud800"),
    "two.jsonl": LINES.replace("}\n{", "} {", 1),
    "broken.jsonl": LINES + "{\n",
}


def outcome(path: Path) -> object:
    """What the file says, or the message."""
    try:
        return [
            (r.examples, r.variants, r.metrics, r.digest, r.means.tolist(), r.counts, r.failures)
            for r in split_ratings(read_ratings(path))
        ]
    except InputError as e:
        return str(e)


@pytest.mark.parametrize("name", [*BY_COLUMNS, *(f"rows-{name}" for name in BY_ROWS)])
def test_columns_say_what_rows_say(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / name
    by_rows = name.startswith("rows-")
    text = BY_ROWS[name.removeprefix("rows-")] if by_rows else BY_COLUMNS[name]
    path.write_bytes(text.encode())
    assert (ratings_columns(path) is None) == by_rows
    found = outcome(path)
    monkeypatch.setattr(ratings_table, "ratings_columns", lambda path, **_: None)
    assert repr(outcome(path)) == repr(found)
