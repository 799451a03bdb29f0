"""What the tests of the loaders share: a real local server, real data, writers of published forms."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from dhp.content.catalog import read_task
from tests.server import Scripted, scripted_server

ROOT = Path(__file__).resolve().parents[2]
TASK = read_task("summarization")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scripted]:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "*")
    with scripted_server() as running:
        yield running


def write_jsonl(path: Path, rows: Sequence[object]) -> Path:
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), encoding="utf-8")
    return path


def write_json(path: Path, rows: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def write_csv(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_parquet(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([dict(r) for r in rows]), path)
    return path


def wmt_xml(documents: Mapping[str, Sequence[tuple[str, str]]], pair: str = "de-en", **more: str) -> str:
    """WMT's XML with references B and A and a system's output; `more` maps document ids to attributes."""
    source, target = pair.split("-")
    parts = []
    for name, segments in documents.items():

        def side(tag: str, texts: Sequence[str]) -> str:
            body = "\n".join(f'<seg id="{i}">{t}</seg>' for i, t in enumerate(texts, 1))
            return f"<{tag}><p>{body}</p></{tag.split()[0]}>"

        sources, references = [s for s, _ in segments], [r for _, r in segments]
        parts.append(
            f'<doc origlang="{source}" id="{name}" {more.get(name, "")}>'
            + side(f'src lang="{source}"', sources)
            + side(f'ref lang="{target}" translator="B"', ["wrong" * 100] * len(segments))
            + side(f'ref lang="{target}" translator="A"', references)
            + side(f'hyp lang="{target}" system="Online-A"', ["bad" * 200] * len(segments))
            + "</doc>"
        )
    body = "".join(parts)
    return (
        f"<?xml version='1.0' encoding='utf-8'?>\n<dataset id=\"wmttest2022\">\n"
        f'<collection id="general">{body}</collection></dataset>\n'
    )
