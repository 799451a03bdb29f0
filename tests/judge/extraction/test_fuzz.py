"""A short run of the script that mutates answers."""

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "fuzz_extraction.py"
ANSWERS = [
    "The plot is clear, but 2 names are wrong, which keeps it from being a 5 out of 5. Rating: 4/5",
    "评分：4分。理由：内容完整，有1个错误。",
    "Output (a) names the mayor. Therefore, Output (a) is better.",
    '{"score": 3.5, "reason": "between 3 and 4"}',
    "8 7\nThe first text is shorter.",
]


@pytest.mark.slow
def test_mutated_answers_neither_raise_nor_hang() -> None:
    found = runpy.run_path(str(SCRIPT))["fuzz"](ANSWERS, 100, seed=1)
    assert sum(outcome.read for outcome in found.values()) == 100
    assert {name: outcome.faults for name, outcome in found.items() if outcome.faults} == {}
