"""A data set is known by its texts and ids: the order of its rows is no part of it."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

import dhp
from dhp.core.seeding import natural_order

ROWS = [
    {"id": f"t{i}", "source": f"Ann has {i} cats in Rome.", "output": f"Ann has {i} cats. She lives in Rome."}
    for i in range(25)
]


def length(output: str) -> float:
    return float(len(output) % 5)


def letters(output: str) -> float:
    return float(output.count("e") % 5)


def run_of(
    rows: Sequence[Mapping[str, object]], folder: Path, judge: Callable[[str], float] = length
) -> Path:
    folder.mkdir()
    (folder / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    scale = dhp.JudgeSettings(scale=(0, 5))
    named = {"task": "summarization", "metrics": ["fluency"]} if "output" in rows[0] else {}
    dhp.run(judge, folder / "mine.jsonl", out=folder / "run", judge_settings=scale, progress=False, **named)
    return folder / "run"


def figures_of(run: Path) -> dict[str, object]:
    """The figures of a run, without what its calls took."""
    result = json.loads((run / "results.json").read_text())
    of_this_run = ("created", "usage", "latency", "cost", "checksum")
    return {name: value for name, value in result.items() if name not in of_this_run}


@pytest.mark.slow
def test_shuffled_rows_are_the_same_data_with_the_same_figures(tmp_path: Path) -> None:
    shuffled = random.Random(1).sample(ROWS, len(ROWS))
    runs = [run_of(rows, tmp_path / name) for name, rows in (("a", ROWS), ("b", shuffled))]
    assert figures_of(runs[0]) == figures_of(runs[1])
    assert dhp.gate(runs[1], against=runs[0], max_drop=5).passed
    other_judge = run_of(shuffled, tmp_path / "c", letters)
    compared = [dhp.compare(run, other_judge) for run in runs]
    assert compared[0][0].to_json() == compared[1][0].to_json()
    other = [*ROWS[:-1], {**ROWS[-1], "output": "Another text."}]
    with pytest.raises(dhp.InputError, match="dataset differs"):
        dhp.gate(run_of(other, tmp_path / "e"), against=runs[0], max_drop=5)


WITHOUT_IDS = [{"source": row["source"], "output": row["output"]} for row in ROWS]
PAIRS = [
    {**row, "perturbed": row["output"].replace(word, ""), "kind": kind}
    for row in WITHOUT_IDS
    for kind, word in (("place", "Rome"), ("name", "Ann"), ("place", "cats"))
]
TALKS = [
    {
        "messages": [
            {"role": "user", "content": row["source"]},
            {"role": "assistant", "content": row["output"]},
        ]
    }
    for row in WITHOUT_IDS
]


@pytest.mark.slow
@pytest.mark.parametrize("rows", [WITHOUT_IDS, PAIRS, TALKS], ids=["texts", "pairs", "conversations"])
def test_without_ids_the_texts_are_the_ids(rows: list[dict[str, object]], tmp_path: Path) -> None:
    """Two rows are equal, and of pairs two kinds of an example have several texts."""
    rows = [*rows, rows[3]]
    shuffled = random.Random(1).sample(rows, len(rows))
    runs = [run_of(each, tmp_path / name) for name, each in (("a", rows), ("b", shuffled))]
    assert figures_of(runs[0]) == figures_of(runs[1])
    assert dhp.gate(runs[1], against=runs[0], max_drop=5).passed
    (compared,) = dhp.compare(runs[0], run_of(shuffled, tmp_path / "c", letters))
    (again,) = dhp.compare(runs[1], tmp_path / "c" / "run")
    assert compared.to_json() == again.to_json()


def test_names_are_sorted_as_people_count() -> None:
    names = ["t2", "t10", "t02", "a", "1", "10", "9", "t2b", "9" * 5000, ""]
    found = sorted(names, key=natural_order)
    assert found == ["", "1", "9", "10", "9" * 5000, "a", "t02", "t2", "t2b", "t10"]
    assert sorted(names, key=natural_order) == found
