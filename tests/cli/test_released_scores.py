"""Scores that others released, as they are typed: analysed, compared, and battles of recorded verdicts."""

import json
from pathlib import Path

import pytest

from .conftest import Run


def write(name: str, *rows: object) -> str:
    Path(name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return name


def judge(name: str, seen: str) -> str:
    """Ten prompts of each of two subsets; the judge sees what is worse in one of them alone."""
    rows = [
        {
            "id": str(i),
            "subset": subset,
            "judge": name,
            "scores": [[7, 7], [5, 5] if subset == seen else [7, 7]],
        }
        for subset in ("Math", "Safety")
        for i in range(10)
    ]
    return write(f"{name}.jsonl", *rows)


def test_files_of_judges_are_analysed_and_compared(dhp: Run) -> None:
    files = judge("left", "Math"), judge("right", "Safety")
    analysed = dhp("analyze", *files, "--format", "rewardbench2", "--json")
    assert (analysed.code, analysed.err) == (0, "")
    results = json.loads(analysed.out)
    found = {r["model"]: {v["variant"]: v["detection"] for v in r["variants"]} for r in results}
    assert found == {"left": {"Math": 1.0, "Safety": 0.5}, "right": {"Math": 0.5, "Safety": 1.0}}
    done = dhp("compare", *files, "--format", "rewardbench2")
    assert done.code == 0, done.err
    rows = {line.split()[0]: line.split() for line in done.out.splitlines() if line[:1].isupper()}
    assert rows["Math"][1:6] == ["100", "noticed", "50", "undecided", "+50"]
    assert rows["Safety"][1:6] == ["50", "undecided", "100", "noticed", "-50"]
    assert rows["Math"][-1] == rows["Safety"][-1] == "*"


def test_verdicts_of_judgebench_are_printed(dhp: Run) -> None:
    row = {"kind": "code", "judge": "J", "better": "A", "verdict_as_given": "A>B"}
    rows = [
        {**row, "pair_id": str(i), "verdict_swapped": said} for i, said in enumerate(["A=B", "A>B", None])
    ]
    recorded = ("battle", "--recorded", write("v.jsonl", *rows), "--format", "judgebench")
    done = dhp(*recorded, "--json")
    (found,) = json.loads(done.out)
    wanted = {"correct_as_given": 1, "correct_swapped": 0, "correct_together": 1 / 3, "n_invalid": 1}
    assert {name: found[name] for name in wanted} == wanted
    assert "together" in dhp(*recorded).out


FAULTS = [
    (("analyze", "a.jsonl", "a.jsonl"), "a.jsonl: a second file; allowed: one, or several with --format"),
    (
        ("analyze", "a.jsonl", "--format", "rewardbench"),
        "--format: unknown form 'rewardbench'; did you mean 'rewardbench2'",
    ),
    (("analyze", "a.jsonl", "--format", "judgebench"), "a.jsonl: column 'pair_id' is missing"),
    (("analyze", "none.jsonl", "--format", "rewardbench2"), "none.jsonl: does not exist"),
    (
        ("analyze", ".", "--format", "trajectory"),
        "trajectories.jsonl: no such file; it must be in the folder of",
    ),
    (("compare", "a.jsonl", "--format", "rewardbench2"), "'rewardbench2' has one judge only"),
    (("compare", "a.jsonl", "a.jsonl", "--format", "rewardbench2"), "a second score of left"),
    (("battle", "--recorded", "a.jsonl", "--format", "judgebench"), "a.jsonl: column 'pair_id' is missing"),
    (
        ("battle", "--recorded", "a.jsonl", "--format", "judgebench", "--pairs", "p.jsonl"),
        "--pairs: not with --format judgebench",
    ),
]


@pytest.mark.parametrize(
    ("given", "message"), FAULTS, ids=lambda part: part if isinstance(part, str) else " ".join(part)
)
def test_bad_input_is_one_line(dhp: Run, given: tuple[str, ...], message: str) -> None:
    judge("left", "Math")
    Path("left.jsonl").rename("a.jsonl")
    done = dhp(*given)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1
