"""Scores that others released, as they are typed: analysed, compared, and battles of recorded verdicts."""

import json

from .conftest import Run, write_rows


def judge(name: str, seen: str) -> str:
    """Ten prompts of each of two subsets; the judge sees what is worse in one of them alone."""
    rows = [
        {"id": str(i), "subset": subset, "judge": name, "scores": [[7, 7], [5 + 2 * (subset != seen)]]}
        for subset in ("Math", "Safety")
        for i in range(10)
    ]
    write_rows(f"{name}.jsonl", rows)
    return f"{name}.jsonl"


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
    write_rows("v.jsonl", rows)
    recorded = "battle --recorded v.jsonl --format judgebench"
    done = dhp(f"{recorded} --json")
    (found,) = json.loads(done.out)
    wanted = {"correct_as_given": 1, "correct_swapped": 0, "correct_together": 1 / 3, "n_invalid": 1}
    assert {name: found[name] for name in wanted} == wanted
    assert "together" in dhp(recorded).out
