"""A gate against an earlier run: shift of level, JUnit XML."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel

import dhp as library
from dhp.core.errors import InputError
from dhp.runs.conditions import Gate
from dhp.runs.gate_chance import _exchanged, _resampled, chance_of_failing

from .conftest import Run

Written = Callable[..., None]


@pytest.fixture(scope="module")
def result() -> library.Results:
    return library.run("mock/ideal", "mini/story_cloze", n=8)


@pytest.fixture
def written(tmp_path: Path, result: library.Results) -> Written:
    """Writes a run whose scores are those of a fixed table, moved by `moved(rng, rows)`."""

    def write(
        name: str, moved: Callable[[np.random.Generator, int], object] = lambda *_: 0.0, **kept: object
    ) -> None:
        (r,) = result
        r = replace(r, **kept)  # type: ignore[arg-type]
        names, metrics = ["original", *(v.variant for v in r.variants)], list(r.variants[0].metrics)
        rng = np.random.default_rng(3)
        rows = []
        for example in range(8):
            level = rng.normal()
            for variant in names:
                for metric in metrics:
                    score = 4.0 - (variant != "original") + 0.1 * level
                    rows.append((f"e{example}", variant, metric, score, r.model, r.protocol, r.dataset))
        columns = ["example", "variant", "metric", "score", "model", "protocol", "dataset"]
        frame = pd.DataFrame(rows, columns=columns)
        frame["score"] += np.asarray(moved(np.random.default_rng(4), len(frame)))
        (tmp_path / name).mkdir()
        (tmp_path / name / "results.json").write_text(json.dumps(library.Results([r]).to_dict()))
        frame.to_parquet(tmp_path / name / "ratings.parquet")

    return write


def noise(rng: np.random.Generator, rows: int) -> object:
    return rng.normal(-0.2, 0.3, size=rows)


@pytest.mark.slow
def test_a_judge_that_is_stricter_everywhere_fails(dhp: Run, written: Written) -> None:
    written("old")
    written("new", lambda *_: -0.4)
    without = dhp("gate", "new", "--against", "old", "--max-drop", "5")
    assert without.code == 0, "detection is the same"
    assert "level of the same texts moved: " in without.out
    assert "and 2 more of 3 metrics" in without.out
    assert "-0.40 points (-0.40 to -0.40)" in without.out
    assert (
        "no level moved, by 0.00 points at most"
        in dhp("gate", "old", "--against", "old", "--max-drop", "5").out
    )
    done = dhp("gate", "new", "--against", "old", "--max-shift", "0.3")
    assert (done.code, done.out.count("\n")) == (1, 1)
    assert "points (-0.40 to -0.40), more than 0.3" in done.out
    for limit in ("0.4", "0.5"):
        assert dhp("gate", "new", "--against", "old", "--max-shift", limit).code == 0


@pytest.mark.slow
def test_the_interval_is_that_of_students_paired_test_over_examples(
    written: Written, tmp_path: Path, result: library.Results
) -> None:
    written("old")
    written("new", noise)
    outcome = library.gate(tmp_path / "new", against=tmp_path / "old", max_shift=9)
    (shifts,) = outcome.shifts.values()
    tables = [pd.read_parquet(tmp_path / name / "ratings.parquet") for name in ("new", "old")]
    for shift in shifts:
        means = [t[t["metric"] == shift.metric].groupby("example")["score"].mean() for t in tables]
        test = ttest_rel(*means)
        level = 1 - 0.05 / len(shifts)
        assert shift.points == pytest.approx(test.statistic * (means[0] - means[1]).std() / 8**0.5)
        expected = test.confidence_interval(level)
        assert shift.ci == pytest.approx((expected.low, expected.high))
        assert shift.n == 8


@pytest.mark.slow
def test_a_limit_within_the_interval_is_undecided(dhp: Run, written: Written, tmp_path: Path) -> None:
    written("old")
    written("new", noise)
    (shifts,) = library.gate(tmp_path / "new", against=tmp_path / "old", max_shift=9).shifts.values()
    widest = max((s for s in shifts if s.ci), key=lambda s: -s.ci[0] if s.ci else 0.0)
    assert widest.ci is not None
    inside = f"{-(widest.ci[0] + 0.001):.4f}"
    done = dhp("gate", "new", "--against", "old", "--max-shift", inside)
    assert (done.code, done.out.startswith("undecided: ")) == (0, True)
    assert "texts would decide" in done.out
    assert dhp("gate", "new", "--against", "old", "--max-shift", inside, "--require-proof").code == 1


@pytest.mark.slow
def test_scores_on_other_scales_have_no_shift(
    written: Written, tmp_path: Path, result: library.Results
) -> None:
    (r,) = result
    written("old", signature=str(replace(r.signed, metrics="1@other")))
    written("new")
    kept = library.gate(tmp_path / "new", against=tmp_path / "old", max_drop=5, allow="metrics")
    assert kept.shifts == {}
    with pytest.raises(InputError, match="`max_shift` compares scores; allowed: judges that rate texts"):
        library.gate(tmp_path / "new", against=tmp_path / "old", max_shift=1, allow="metrics")


@pytest.mark.slow
def test_junit_has_a_case_for_each_condition(dhp: Run, written: Written, tmp_path: Path) -> None:
    written("old")
    written("new", lambda *_: -0.4)
    limits = ("--against", "old", "--max-drop", "5", "--max-shift", "0.3", "--min-detection", "97")
    done = dhp("gate", "new", *limits, "--junit", "gate.xml")
    assert done.code == 1
    root = ElementTree.parse(tmp_path / "gate.xml").getroot()
    (suite,) = root
    cases = {case.get("name"): case for case in suite}
    assert (root.tag, suite.tag, suite.get("name")) == ("testsuites", "testsuite", "mini/story_cloze")
    assert set(cases) == {"max-missing", "false alarms", "min-detection", "max-drop", "max-shift"}
    assert {case.get("classname") for case in suite} == {"mock/ideal"}
    assert all(float(case.get("time", "")) >= 0 for case in root.iter() if case.tag.startswith("test"))
    (failure,) = cases["max-shift"]
    assert failure.tag == "failure"
    assert "more than 0.3" in failure.get("message", "")
    (skipped,) = cases["min-detection"]
    assert skipped.tag == "skipped"
    assert "may or may not reach 97 %" in skipped.get("message", "")
    (unknown,) = cases["false alarms"]
    assert unknown.tag == "skipped", "8 examples are too few to pass harmless edits"
    assert unknown.get("message", "").startswith("undecided: harmless edits: not tested, ")
    undecided = len(cases["max-drop"])
    for element in (root, suite):
        counts = [int(element.get(name, "-1")) for name in ("tests", "failures", "errors", "skipped")]
        assert counts == [5, 1, 0, 2 + undecided]
    dhp("gate", "new", "--min-detection", "97", "--require-proof", "--junit", "strict.xml")
    strict = ElementTree.parse(tmp_path / "strict.xml").getroot()
    assert (strict.get("failures"), strict.get("skipped")) == ("1", "1"), "harmless edits fail no gate"


def test_junit_has_a_suite_for_each_dataset_and_survives_strange_names(
    dhp: Run, tmp_path: Path, result: library.Results
) -> None:
    (r,) = result
    evil = [replace(r, dataset=f'set {i} <&\x00"', model="a<b>\n]]>") for i in range(2)]
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "results.json").write_text(json.dumps(library.Results(evil).to_dict()))
    dhp("gate", "r", "--min-detection", "10", "--junit", "x.xml")
    root = ElementTree.parse(tmp_path / "x.xml").getroot()
    assert [suite.get("tests") for suite in root] == ["3", "3"]
    assert root[0].get("name", "").startswith("set 0 <&")


@pytest.mark.slow
def test_the_chance_that_an_unchanged_judge_fails(dhp: Run, tmp_path: Path) -> None:
    """None for a judge that always says the same, all where the limit cannot be proven from so few texts."""
    library.run("mock/ideal", "mini/story_cloze", n=12, out=tmp_path / "r")
    met = dhp("gate", "r", "--against", "r", "--max-drop", "40", "--dry-run")
    assert (met.code, met.out.count("\n")) == (0, 1)
    assert "fails this gate in about 0 % of runs (0–4): answers swapped between the two runs" in met.out
    lost = dhp("gate", "r", "--min-detection", "100", "--require-proof", "--dry-run")
    assert (lost.code, "in about 100 % of runs (96–100): other texts like these" in lost.out) == (0, True)
    refused = dhp("gate", "r", "--min-detection", "50", "--dry-run", "--junit", "h.xml")
    assert (refused.code, (tmp_path / "h.xml").exists()) == (2, False)


def test_the_chance_of_failing_at_a_pass_mark() -> None:
    """At the lowest score every text passes: no original fails, and all damaged texts pass."""
    results = library.run("mock/ideal", "mini/story_cloze", n=8, pass_mark=1, progress=False)
    assert chance_of_failing(results, Gate(max_fail=50), repeats=2).failed == 0
    assert chance_of_failing(results, Gate(max_pass=1), repeats=2).failed == 2


def test_answers_are_swapped_in_whole_examples(result: library.Results) -> None:
    (new,) = result.rated
    old = replace(new, means=new.means + 10)
    mine, theirs = _exchanged(new, old, 1)
    moved = (mine.means > 9).all(axis=(0, 1))
    assert 0 < moved.sum() < moved.size
    np.testing.assert_array_equal(mine.means + theirs.means, new.means + old.means)
    assert ((mine.means > 9).any(axis=(0, 1)) == moved).all()


def test_clusters_are_drawn_whole(result: library.Results) -> None:
    (ratings,) = result.rated
    grouped = replace(ratings, clusters=np.arange(8) // 2)
    drawn = _resampled(grouped, 3)
    assert len(drawn.examples) == 8
    assert np.bincount(drawn.clusters).tolist() == [2, 2, 2, 2]
