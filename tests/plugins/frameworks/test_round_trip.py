"""A set that `dhp perturb --out` wrote and another program had rated has the figures of `dhp benchmark`."""

import csv
import json
import re
from pathlib import Path

import pandas as pd
import pytest

import dhp
from dhp.analysis.results import Result
from tests.cli.conftest import Run

RECORDED = Path(__file__).parents[2] / "data" / "round_trip"
"""`set.csv`, and what promptfoo 0.123.1, inspect_ai 0.3.285 and deepeval 4.3.1 wrote when their own runners
rated its texts by `judge`; that of inspect_ai without its events."""


def judge(output: str, source: str) -> float:
    """The share of the words of a text that its source has, less for texts of under 40 words."""
    words = re.findall(r"\w+", output.lower())
    known = set(re.findall(r"\w+", source.lower()))
    held = sum(word in known for word in words) / len(words)
    return round(held * min(1, len(words) / 40), 2)


def figures(result: Result) -> dict[str, object]:
    kinds = (*result.variants, *result.controls)
    return {row.variant: (row.level, row.n, row.detection, row.detection_ci, row.p) for row in kinds}


@pytest.mark.parametrize("tool", ["promptfoo", "inspect_ai", "deepeval"])
def test_logs_of_real_runners_hold_the_scores_of_the_judge(tool: str) -> None:
    with (RECORDED / "set.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    rated = [{**row, "score": judge(row["output"], row["source"]), "metric": "quality"} for row in rows]
    names = ["dataset", "example", "variant", "level", "metric", "score"]
    (expected,) = dhp.analyze(pd.DataFrame(rated)[names])
    (found,) = dhp.analyze(RECORDED / f"{tool}.json")
    assert found.n == expected.n == 4
    assert len(figures(expected)) == 4
    assert figures(found) == figures(expected)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_texts_rated_elsewhere_have_the_figures_of_a_run(dhp: Run, suffix: str) -> None:
    name = f"set.{suffix}"
    done = dhp("perturb", "--dataset", "mini/summeval", "--n", "8", "--out", name)
    assert done.code == 0, done.err
    assert "8 originals and 104 degraded texts written" in done.out
    assert "dhp analyze LOG" in done.out
    text = Path(name).read_text("utf-8")
    if suffix == "csv":
        rows = list(csv.DictReader(text.splitlines(keepends=True)))
    else:
        rows = [json.loads(line) for line in text.splitlines()]
    entries = [{"vars": row, "gradingResult": {"score": judge(row["output"], row["source"])}} for row in rows]
    Path("log.json").write_text(json.dumps({"results": {"version": 3, "results": entries}}))
    (logged,) = json.loads(f"[{dhp('analyze', 'log.json', '--json').out}]")
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parents[3])!r})\n"
    Path("mine.py").write_text(f"{code}from tests.plugins.frameworks.test_round_trip import judge\n")
    run = ("benchmark", "--model", "python:mine.py:judge", "--scale", "0..1", "--dataset", "mini/summeval")
    (benchmark,) = json.loads(f"[{dhp(*run, '--n', '8', '--out', 'run', '--json').out}]")
    for part in ("d_avg", "d_min", "detection", "n", "dataset"):
        assert logged[part] == benchmark[part], part
    for part in ("variants", "controls"):
        assert [row_figures(row) for row in logged[part]] == [row_figures(row) for row in benchmark[part]]


def row_figures(row: dict[str, object]) -> dict[str, object]:
    """The figures of a kind of damage or a harmless edit."""
    names = ("variant", "level", "detection", "detection_ci", "p", "d", "verdict", "state", "n")
    return {name: row[name] for name in names if name in row}


def test_a_table_of_another_format_is_refused_before_texts_are_made(dhp: Run) -> None:
    done = dhp("perturb", "--dataset", "mini/summeval", "--out", "set.xlsx")
    assert (done.code, done.err) == (2, "dhp: set.xlsx: must end in .csv or .jsonl\n")


def test_further_columns_and_clusters_go_with_the_texts(dhp: Run) -> None:
    rows = [
        {"id": i, "question": f"Who has key {i}?", "cluster": f"c{i // 2}", "source": f"Ann has key {i}.",
         "output": f"Ann has the key number {i}, says the list. Nobody else has it."}
        for i in range(4)
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv("mine.csv", index=False)
    done = dhp("perturb", "--dataset", "mine.csv", "--task", "question_answering", "--out", "set.csv")
    assert done.code == 0, done.err
    read = pd.read_csv("set.csv", dtype=str)
    assert list(read.columns)[:5] == ["dataset", "example", "variant", "level", "cluster"]
    originals = read[read["variant"] == "original"].set_index("example")
    assert originals["question"].to_dict() == {str(row["id"]): row["question"] for row in rows}
    assert originals["output"].to_dict() == {str(row["id"]): row["output"] for row in rows}
    assert originals["level"].isna().all()
    assert read.groupby("example")["cluster"].nunique().eq(1).all()
