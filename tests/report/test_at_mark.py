"""What passes at a pass mark, on every surface: sentence, tables, page, JSON, gate."""

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

import dhp
from dhp.analysis.results import Results
from dhp.core.errors import InputError
from dhp.report.findings import sentences
from dhp.report.terminal import results_in_terminal
from dhp.report.terminal_printer import print_parts
from dhp.runs.compare import Comparisons, compare_rated
from dhp.runs.reader import open_run
from tests.quick import undrawn_charts
from tests.report.made import control

__all__ = ["undrawn_charts"]
N = 20


def ratings() -> pd.DataFrame:
    """A judge that scores every damaged text below its original: typos by a hair, wrong names plainly."""
    rows = []
    for i in range(N):
        original = 9 if i else 6  # one good text fails at 7
        for variant, level, score in (
            ("original", "", original),
            ("random_typos", "character", original - 1),
            ("wrong_names", "word", 3 if i < 15 else original - 0.5),
        ):
            rows.append((f"e{i}", variant, "usefulness", float(score), level))
    return pd.DataFrame(rows, columns=["example", "variant", "metric", "score", "level"])


def analyzed(mark: object = None) -> dhp.Results:
    return dhp.analyze(ratings(), analysis=dhp.AnalysisConfig(pass_mark=mark))  # type: ignore[arg-type]


def test_shares_at_the_mark_by_hand() -> None:
    (result,) = analyzed(7)
    assert result.pass_mark is not None
    assert result.pass_mark.mark == "7"
    assert result.pass_mark.fails is not None
    assert result.pass_mark.fails.share == 1 / N
    passing = {row.variant: row.passes for row in result.variants}
    assert {name: share.share for name, share in passing.items() if share} == {
        "random_typos": 19 / 20,
        "wrong_names": 5 / 20,
    }
    assert all(row.detection == 1 for row in result.variants), "the judge sees all of it"
    assert result.sweep is None


def cells(results: Results, width: int = 200) -> set[str]:
    """All that stands in the tables of a wide terminal, headings too."""
    console = Console(file=io.StringIO(), width=width)
    with console.capture() as captured:
        print_parts(results_in_terminal(results), console)
    return set(re.split(r" {2,}|\n", captured.get()))


def test_sentence_and_tables_say_what_passes() -> None:
    results = analyzed(7)
    (sentence,) = sentences(results)
    assert "at your mark of 7, 95% of texts with typos pass (60% of all damaged texts)" in str(sentence)
    assert "5% of the good texts fail" in str(sentence)
    assert sentence.parts[0].text.startswith("at your mark"), "what passes is said first"
    of_marks = {"passes", "damaged pass", "mean pass", "good fail"}
    assert of_marks <= cells(results)
    assert not of_marks & cells(analyzed())
    assert results.to_frame()["passes"].dropna().tolist() == [0.95, 0.25]


@pytest.mark.parametrize(
    ("width", "left_out"), [(200, set()), (96, {"mean pass"}), (80, {"mean pass", "lowest kind"})]
)
def test_a_narrow_table_loses_what_the_sentence_has(width: int, left_out: set[str]) -> None:
    two = Results([replace(one, dataset=name) for one in analyzed(7) for name in ("mini/a", "mini/b")])
    headings = {"damaged pass", "mean pass", "good fail", "D_avg", "detection", "lowest kind"}
    assert headings - cells(two, width) == left_out


@pytest.mark.parametrize(("state", "shown"), [("still", False), ("false alarm", True), ("not tested", True)])
def test_controls_have_a_column_if_one_tells_something(state: str, shown: bool) -> None:
    alike, other = (
        replace(one, dataset=name, controls=(control(word),))
        for one in analyzed(7)
        for name, word in (("mini/a", "still"), ("mini/b", state))
    )
    assert ("controls" in cells(Results([alike, other]))) == shown


def test_without_a_mark_both_shares_are_known_over_all() -> None:
    (result,) = analyzed()
    assert result.pass_mark is None
    sweep = result.sweep
    assert sweep is not None
    at = sweep.marks.index(8)
    assert sweep.passes["random_typos"][at] == 19 / 20
    assert sweep.fails[at] == 1 / N
    assert sweep.best == 9
    assert sweep.elsewhere is not None


@pytest.mark.slow
def test_the_page_shows_columns_or_all_marks(tmp_path: Path) -> None:
    for mark, shown, not_shown in (
        (4, "damaged pass", "at each mark"),
        (None, "at each mark", "damaged pass"),
    ):
        out = tmp_path / str(mark)
        dhp.run(
            "mock/noisy",
            "mini/story_cloze",
            n=8,
            out=out,
            progress=None,
            analysis=dhp.AnalysisConfig(pass_mark=mark),
        )
        page = (out / "report.html").read_text("utf-8")
        assert shown in page
        assert not_shown not in page
        stored = json.loads((out / "results.json").read_text())
        assert (stored["pass_mark"] is None) == (mark is None)
        assert (stored["sweep"] is None) == (mark is not None)


def test_a_gate_limits_both_shares() -> None:
    results = analyzed(7)
    lenient = dhp.gate(results, max_pass=100, max_fail=40)
    assert lenient.state == "met"
    strict = dhp.gate(results, max_pass=10, max_fail=40)
    assert strict.state == "not met"
    assert strict.sentence.startswith("not met: ")
    assert (
        "at the mark of 7 texts with typos pass: 95.0 % (75.1–99.9), at most 10 % allowed" in strict.sentence
    )
    assert dhp.gate(results, max_fail=5).state == "undecided", "1 of 20 may be more than 5 %"
    with pytest.raises(InputError, match=r"`max_pass`: .* has no pass mark; repeat the run with `pass_mark`"):
        dhp.gate(analyzed(), max_pass=10)


Scores = dict[str, list[float]]


def judged(**judges: Scores) -> Comparisons:
    """Judges with these scores of variants, one for each of 40 examples in turn, at a mark of 7."""
    rated = []
    for model, scores in judges.items():
        rows = [
            (f"e{i}", variant, "usefulness", of[i % len(of)], "" if variant == "original" else "word", model)
            for variant, of in scores.items()
            for i in range(40)
        ]
        frame = pd.DataFrame(rows, columns=["example", "variant", "metric", "score", "level", "model"])
        (one,) = open_run(dhp.analyze(frame, analysis=dhp.AnalysisConfig(pass_mark=7)), model).rated
        signature = str(replace(one.result.signed, dataset="the same texts"))
        rated.append(replace(one, result=replace(one.result, signature=signature)))
    return Comparisons(compare_rated({"ratings": rated}), {"ratings": rated}, [])


LENIENT = {"original": [9, 9, 8, 7], "wrong_names": [8, 7, 7, 3], "typos": [8, 8, 7, 5]}
STRICT = {"original": [9, 8, 6, 7], "wrong_names": [3, 2, 5, 3], "typos": [7, 6, 4, 3]}


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (
            STRICT,
            "b is a trade: 12 instead of 75 % of damaged texts pass, 25 instead of 0 % of good ones fail",
        ),
        (
            STRICT | {"original": [9]},
            "b is better: 12 instead of 75 % of damaged texts pass, 0 % of good ones fail by both",
        ),
        (
            LENIENT,
            "b is not shown to differ: 75 % of damaged texts pass by both, 0 % of good ones fail by both",
        ),
        (LENIENT | {"original": [9, 8, 8, 6]}, "b is worse: 75 % of damaged texts pass by both, 25 instead"),
    ],
)
def test_a_comparison_begins_with_what_passes(new: Scores, said: str, tmp_path: Path) -> None:
    compared = judged(a=LENIENT, b=new)
    assert compared.sentence.startswith(f"at your mark of 7 {said}")
    (one,) = compared
    assert one.marks == ("7", "7")
    share = one.to_json()["scores"]["damaged_pass"]["pairs"][0]
    assert share["low"] <= share["difference"] <= share["high"]
    page = dhp.report(compared, tmp_path / "page.html").read_text("utf-8")
    for words in (said, "mean pass", "good fail", "b - a"):
        assert words in page


def test_without_marks_a_comparison_says_what_is_noticed() -> None:
    frame = pd.concat([ratings().assign(model=name) for name in "ab"])
    compared = dhp.compare(dhp.analyze(frame), progress=None)
    assert compared.sentence.startswith("b does not differ significantly from a")
    assert "damaged_pass" not in compared[0].scores
    assert compared[0].marks == ()


@pytest.mark.slow
def test_of_several_judges_that_with_the_fewest_errors_is_named() -> None:
    compared = judged(a=LENIENT, b=STRICT, c=STRICT | {"original": [9]})
    said = "at your mark of 7 c has the fewest errors: 12% of damaged texts pass and 0% of good ones fail"
    assert compared.sentence.startswith(said)
