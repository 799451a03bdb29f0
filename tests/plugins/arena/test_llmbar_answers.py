"""Answers about two texts read as the authors of LLMBar did: every cell that they print."""

import json
from collections import defaultdict
from pathlib import Path

import pytest

from dhp.core.specs import Scale
from dhp.judge.extraction.rating import read_rating
from dhp.judge.extraction.verdict import Choice
from dhp.plugins.arena.labelled_pairs import AnswerForm
from dhp.plugins.arena.recorded_verdicts import llmbar_choice, llmbar_verdict


@pytest.mark.realdata
def test_every_cell_that_llmbar_prints_is_reproduced(real: Path) -> None:
    folder = real / "llmbar"
    label = {}
    subset = {}
    for row in map(json.loads, (folder / "pairs.jsonl").read_text().splitlines()):
        label[row["id"]], subset[row["id"]] = row["label"], row["subset"]
    cells: dict[tuple[str, str, str], list[dict[str, str]]] = defaultdict(list)
    for judge in ("gpt-4", "chatgpt", "llama2"):
        for row in map(json.loads, (folder / f"answers-{judge}.jsonl").read_text().splitlines()):
            cells[subset[row["id"]], row["model"], row["protocol"]].append(row)
    published = list(map(json.loads, (folder / "published.jsonl").read_text().splitlines()))
    assert len(published) == len(cells) == 185
    for cell in published:
        rows = cells[cell["subset"], cell["model"], cell["protocol"]]
        both = [(label[row["id"]], *_better(row)) for row in rows]
        found = {
            "correct_False": sum(given == right for right, given, _ in both),
            "correct_True": sum(swapped == right for right, _, swapped in both),
            "correct_both": sum(given == swapped == right for right, given, swapped in both),
            "equal": sum(given == swapped for _, given, swapped in both),
        }
        assert found == {key: int(cell[key].split(" / ")[0]) for key in found}, cell


def _better(row: dict[str, str]) -> tuple[int | None, int | None]:
    """The number of the better output, as given and with the order swapped."""
    if "score_1" in row:
        scale = Scale(min=0.0, max=10.0)
        one, two = (read_rating(row[key], scale, "score-only").score for key in ("score_1", "score_2"))
        return _NUMBER[llmbar_choice(one, two)], _SWAPPED[llmbar_choice(two, one)]
    form: AnswerForm = "llmbar-cot" if "CoT" in row["protocol"] or "Swap" in row["protocol"] else "llmbar"
    given, swapped = (llmbar_verdict(row[key], form) for key in ("answer_as_given", "answer_swapped"))
    return given and _NUMBER[given], swapped and _SWAPPED[swapped]


_NUMBER: dict[Choice, int] = {"first": 1, "second": 2}
_SWAPPED: dict[Choice, int] = {"first": 2, "second": 1}


@pytest.mark.parametrize(
    ("first", "second", "choice"),
    [(4, 3, "first"), (3, 4, "second"), (4, 4, "second"), (None, 4, "first"), (3, None, "first")],
)
def test_two_ratings_are_compared_as_llmbar_does(
    first: float | None, second: float | None, choice: Choice
) -> None:
    assert llmbar_choice(first, second) == choice
