"""Runs that look for thresholds: where doses are placed, how many calls that takes, what is said of them."""

from pathlib import Path

import pytest

import dhp
from dhp.analysis.results import Result
from dhp.core.errors import InputError
from dhp.core.records import ORIGINAL, parse_variant
from dhp.plugins.adaptive.threshold_search import AT_ONCE, find_threshold
from dhp.report.findings import sentences
from tests.judges import ByRule

UNIFORM = dhp.AnalysisConfig(weights="uniform")
FIND = {"analysis": UNIFORM}


def said(result: Result) -> str:
    """The sentence on a result in doses."""
    (sentence,) = sentences([result])
    return sentence.text


SUITE = """suite: typing
task: summarization
source: own
perturbers:
  random_typos:
    level: character
    method: rule
    degrees: {minor: {k: 2}}
"""


def sees(threshold: float) -> ByRule:
    """Lowers its score from a dose on; below it, the score rises as often as it falls."""

    def score(c: dhp.Candidate, metric: str) -> float:
        dose = parse_variant(c.variant)[2] or 0
        by_chance = 3 + ((int(c.example) * 7 + dose * 3) % 2 - 0.5)
        return 3.0 if c.variant == ORIGINAL else 1.0 if dose >= threshold else by_chance

    return ByRule(score)


def texts(n: int) -> dhp.Dataset:
    words = "The council will meet again in spring to settle the plan for the new bridge. " * 3
    examples = [dhp.Example(f"{i}", f"Report {i}.", f"In {1900 + i} it rained. {words}") for i in range(n)]
    return dhp.Dataset.of(examples, name="bridges", task="summarization")


@pytest.fixture
def suite(tmp_path: Path) -> str:
    path = tmp_path / "typing.yaml"
    path.write_text(SUITE)
    return str(path)


@pytest.mark.slow
@pytest.mark.parametrize("dose", [6, 23])
def test_it_asks_where_the_threshold_is(suite: str, tmp_path: Path, dose: int) -> None:
    judge = sees(dose)
    way = {"suite": suite, **FIND, "metrics": ["fluency"], "controls": False}
    (result,) = find_threshold(judge, texts(30), out=tmp_path / "r", **way)  # type: ignore[arg-type]
    (curve,) = result.curves
    assert dose / 1.6 <= (curve.t75.value or 0) <= dose * 1.2
    asked = [variant for turn in judge.turns for _, variant in turn]
    copies = [parse_variant(v)[2] for v in asked if v != ORIGINAL]
    assert len(copies) == 50
    assert len(asked) <= (30 + 7 * 30) / 3
    assert max(len(turn) for turn in judge.turns) <= 2 * AT_ONCE
    near = [k for k in copies if dose / 3 <= (k or 0) <= dose * 3]
    assert len(near) > 0.7 * len(copies)
    assert len(set(map(tuple, (pair for turn in judge.turns for pair in turn)))) == len(asked)
    (again,) = dhp.analyze(tmp_path / "r" / "ratings.parquet", analysis=dhp.AnalysisConfig(weights="uniform"))
    assert again.curves[0].t75 == curve.t75
    assert said(result).startswith("notices ")
    assert f"in {curve.characters} characters" in said(result)
    assert "characters" not in said(again)
    assert all(row.not_applicable == 0 for row in result.variants)


def test_a_judge_that_never_moves_has_no_threshold(suite: str) -> None:
    (result,) = find_threshold(
        ByRule(lambda c, metric: 3.0), texts(12), suite=suite, **FIND, metrics=["fluency"], controls=True
    )
    assert {curve.t75 for curve in result.curves} <= {None}
    if result.curves:
        assert said(result).startswith("no T75 of typos")
    assert {cell.n for row in result.controls for cell in row.metrics.values()} == {12}


def test_what_cannot_be_searched_is_one_line(suite: str, tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    text = SUITE.replace("random_typos", "wrong_ending").replace("character", "sentence")
    other.write_text(text.replace("degrees: {minor: {k: 2}}", "params: {}"))
    with pytest.raises(InputError, match=r"no perturber takes a dose"):
        find_threshold(sees(4), texts(12), suite=str(other), **FIND)
    short = dhp.Dataset.of([dhp.Example("1", "A cat.", "Cat.")], name="short", task="summarization")
    with pytest.raises(InputError, match="no text takes two doses, which a threshold needs"):
        find_threshold(sees(4), short, suite=suite, doses=(20, 30), **FIND)
    with pytest.raises(InputError, match="compares texts; a threshold needs one that rates"):
        find_threshold("mock/noisy", texts(6), suite=suite, protocol="choose", **FIND)
