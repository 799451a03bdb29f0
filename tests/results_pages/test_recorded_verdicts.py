"""Recorded verdicts: the accuracies that LLMBar's authors print, and what they did not."""

import json
from pathlib import Path

import pytest
from results_pages.recorded_verdicts import (
    RecordedCell,
    compared_ways,
    llmbar_choice,
    read_judgebench_verdicts,
    read_llmbar_answers,
    read_llmbar_pairs,
    recorded_cells,
)

from dhp.core.errors import InputError

PUBLISHED = ("correct_False", "correct_True", "correct_both", "equal")
"""Counts of the authors: right as given, swapped and in both orders, and the same verdict in both."""


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def labels(folder: Path) -> Path:
    rows = [{"id": str(i), "subset": "S", "label": 1 + i % 2} for i in range(4)]
    return write(folder / "pairs.jsonl", *rows)


def test_hand_worked_cell(tmp_path: Path) -> None:
    pairs = read_llmbar_pairs(labels(tmp_path))
    said = ["Output (a)", "Output (b)"]
    both = [(0, 1), (1, 0), (0, 0), (0, 1)]  # right twice, right twice, follows the place, wrong twice
    rows = [
        {"id": str(i), "model": "M", "protocol": "P", "answer_as_given": said[a], "answer_swapped": said[b]}
        for i, (a, b) in enumerate(both)
    ]
    answers = read_llmbar_answers([write(tmp_path / "a.jsonl", *rows)], pairs)
    (cell,) = recorded_cells(answers, pairs)
    assert (cell.model, cell.protocol, cell.subset, cell.n) == ("M", "P", "S", 4)
    assert (cell.correct, cell.correct_both, cell.correct_together, cell.same) == ((3, 2), 2, 2, 3)
    assert (cell.figures.invalid, cell.figures.bias.share if cell.figures.bias else None) == (0, 0.25)
    assert cell.figures.win_rate.value == 0.625
    # log base 0.05 of 4 / 8: one of three wins or more of three
    assert cell.figures.d == pytest.approx(0.2313782)


def test_equal_ratings_prefer_the_second_place(tmp_path: Path) -> None:
    pairs = read_llmbar_pairs(labels(tmp_path))
    rows = [
        {"id": str(i), "model": "M", "protocol": "Rating", "score_1": one, "score_2": two}
        for i, (one, two) in enumerate([("7", "5"), ("7", "5"), ("6", "6"), ("none", "3")])
    ]
    (cell,) = recorded_cells(read_llmbar_answers([write(tmp_path / "a.jsonl", *rows)], pairs), pairs)
    assert cell.pointwise
    assert (cell.correct, cell.correct_both, cell.same) == ((1, 3), 1, 2)


@pytest.mark.parametrize(
    ("first", "second", "better"), [(4, 3, 1), (3, 4, -1), (4, 4, -1), (None, 4, 1), (3, None, 1)]
)
def test_two_ratings_are_compared_as_llmbar_does(
    first: float | None, second: float | None, better: int
) -> None:
    assert llmbar_choice(first, second) == better


def verdict(pair: str, given: object, swapped: object, better: str = "A", **more: str) -> dict[str, object]:
    row = {"pair_id": pair, "kind": "code", "judge": "J", "better": better, **more}
    return {**row, "verdict_as_given": given, "verdict_swapped": swapped}


def test_two_verdicts_of_judgebench_count_together(tmp_path: Path) -> None:
    """By hand: A wins, A wins with a tie beside, a flip, B wins, no verdict in one order."""
    rows = [
        verdict("1", "A>>B", "B>A"),
        verdict("2", "B>A", "A=B", better="B"),
        verdict("3", "A>B", "A>>B"),
        verdict("4", "B>>A", "A>B"),
        verdict("5", "A>B", None),
    ]
    answers, pairs = read_judgebench_verdicts([write(tmp_path / "v.jsonl", *rows)])
    (cell,) = recorded_cells(answers, pairs)
    assert (cell.n, cell.correct, cell.correct_both, cell.correct_together) == (5, (4, 1), 1, 2)
    assert cell.scores == {"1": 1.0, "2": 0.5, "3": 0.0, "4": -1.0}
    assert cell.figures.win_rate.value == pytest.approx(2.5 / 4)
    assert cell.figures.invalid == 1


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([verdict("1", "A", "B")], "line 1: column 'verdict_as_given' is 'A'; allowed: A>>B, A>B, A=B, B>A"),
        ([verdict("1", "A>B", "B>A", better="C")], "line 1: column 'better' is 'C'; allowed: A or B"),
        ([verdict("1", "A>B", "B>A")] * 2, "line 2: a second answer of J, none, about '1'; allowed: one"),
        (
            [verdict("1", "A>B", "B>A"), verdict("1", "A>B", "B>A", better="B", judge="K")],
            "line 2: pair '1' has another kind or label than before; allowed: the same",
        ),
        ([{"pair_id": "1"}], "column 'kind' is missing"),
    ],
)
def test_wrong_verdicts_of_judgebench_are_one_line(
    tmp_path: Path, rows: list[dict[str, object]], message: str
) -> None:
    with pytest.raises(InputError, match=message) as fault:
        read_judgebench_verdicts([write(tmp_path / "v.jsonl", *rows)])
    assert "\n" not in str(fault.value)


@pytest.mark.realdata
def test_published_accuracies_of_o1_mini_on_judgebench(real: Path) -> None:
    answers, pairs = read_judgebench_verdicts([real / "judgebench" / "verdicts_o1-mini.jsonl"])
    cells = {cell.subset: cell for cell in recorded_cells(answers, pairs)}
    kinds = [cells[kind] for kind in ("knowledge", "reasoning", "math", "code")]
    counts = [(cell.correct_together, cell.n) for cell in kinds]
    total = tuple(map(sum, zip(*counts, strict=True)))
    shares = [round(100 * k / n, 2) for k, n in (*counts, total)]
    assert shares == [58.44, 62.24, 82.14, 78.57, 65.71]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "9", "answer_as_given": "a", "answer_swapped": "b"}, "id '9' is not one of the 4 pairs"),
        ({"id": "1"}, "line 1: holds no answers; allowed: answer_as_given and answer_swapped or score_1"),
    ],
)
def test_faults_are_one_line(tmp_path: Path, row: dict[str, str], message: str) -> None:
    pairs = read_llmbar_pairs(labels(tmp_path))
    file = write(tmp_path / "a.jsonl", {"model": "M", "protocol": "P", **row})
    with pytest.raises(InputError, match=message):
        read_llmbar_answers([file], pairs)
    with pytest.raises(InputError, match="column 'label' is '3'; allowed: 1 or 2"):
        read_llmbar_pairs(write(tmp_path / "p.jsonl", {"id": "1", "subset": "S", "label": 3}))


@pytest.fixture(scope="module")
def llmbar_cells(real: Path) -> list[RecordedCell]:
    folder = real / "llmbar"
    pairs = read_llmbar_pairs(folder / "pairs.jsonl")
    files = [folder / f"answers-{judge}.jsonl" for judge in ("gpt-4", "chatgpt", "llama2")]
    return recorded_cells(read_llmbar_answers(files, pairs), pairs)


@pytest.mark.slow
@pytest.mark.realdata
def test_every_published_cell_of_three_judges_is_equal(llmbar_cells: list[RecordedCell], real: Path) -> None:
    lines = (real / "llmbar" / "published.jsonl").read_text().splitlines()
    expected = {(p["model"], p["protocol"], p["subset"]): p for p in map(json.loads, lines)}
    assert len(llmbar_cells) == len(expected) == 185
    for cell in llmbar_cells:
        printed = expected[cell.model, cell.protocol, cell.subset]
        counts = (*cell.correct, cell.correct_both, cell.same)
        for theirs, ours in zip(PUBLISHED, counts, strict=True):
            count, total = printed[theirs].split(" = ")[0].split(" / ")
            assert (ours, cell.n) == (int(count), int(total)), (printed, theirs)


@pytest.mark.slow
@pytest.mark.realdata
def test_protocols_of_one_judge_are_compared_by_their_ways(llmbar_cells: list[RecordedCell]) -> None:
    ways = compared_ways([cell for cell in llmbar_cells if cell.model == "GPT-4"])
    assert {(w.pairwise, w.pointwise) for w in ways} == {
        ("Vanilla", "Rating"),
        ("Vanilla_NoRules", "Rating_NoRules"),
        ("Reference", "Rating_Reference"),
        ("Metrics", "Rating_Metrics"),
        ("Metrics_Reference", "Rating_Metrics_Reference"),
    }
    assert all(w.ci and w.ci[0] <= w.difference <= w.ci[1] for w in ways)
