"""What the report advises: blind spots with their clearest pairs, and remedies that follow from figures."""

from dataclasses import replace
from pathlib import Path

import pytest

import dhp
from dhp.analysis.results import Result
from dhp.report.next_steps import BlindSpot, blind_spot_pages, next_steps, shared_remedies
from dhp.runs.reader import Run, read_run
from tests.quick import undrawn_charts

__all__ = ["undrawn_charts"]

BLIND = "random_typos"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A judge that prefers texts with typos."""
    folder: Path = tmp_path_factory.mktemp("run")
    dhp.run(f"mock/ideal?{BLIND}=-0.5&step=0&noise=0.1", "mini/summeval", out=folder)
    return read_run(folder)


def spots(run: Run, **changes: object) -> list[BlindSpot]:
    (rated,) = run.rated
    before = {e["id"]: e["output"] for e in run.examples}
    texts = {(t["example"], t["variant"]): {**t, "before": before[t["example"]]} for t in run.perturbed}
    return blind_spot_pages(replace(rated.result, **changes), rated.ratings, texts)  # type: ignore[arg-type]


def test_the_clearest_pairs_are_those_whose_score_rose_most(run: Run) -> None:
    (spot,) = spots(run)
    assert spot.kind == "typos"
    frame = run.ratings
    means = frame.groupby(["example", "variant"])["score"].mean().unstack()
    rises = means.filter(like=BLIND).sub(means["original"], axis=0).stack().sort_values(ascending=False)
    assert [(p.example, p.variant) for p in spot.pairs] == list(rises.index[:3])
    for pair in spot.pairs:
        assert pair.degraded - pair.original == pytest.approx(rises[pair.example, pair.variant])
        assert any(operation != "=" for operation, _ in pair.change)
    page = (run.folder / "report.html").read_text("utf-8")
    assert (
        page.index("Detection by kind of damage") < page.index("Blind spot: typos") < page.index("In words")
    )
    assert all(pair.example in page[page.index("Blind spot: typos") :][:6000] for pair in spot.pairs)


def test_remedies_follow_from_how_the_judge_is_asked_and_from_its_ties(run: Run) -> None:
    (plain,), (asked,) = spots(run), spots(run, protocol="dhp@1")
    assert "check" in plain.remedies[0]
    assert "prompt of fluency" in asked.remedies[0], "the design weights expect typos in fluency"
    result = run.results[0]
    rows = tuple(
        replace(v, metrics={m: replace(c, tied=0.7) for m, c in v.metrics.items()}) for v in result.variants
    )
    (tied,) = spots(run, variants=rows)
    assert any(remedy.startswith("70% of its scores are tied") for remedy in tied.remedies)
    assert not any("tied" in remedy for remedy in plain.remedies)


def test_a_judge_that_sees_all_has_no_blind_spot_and_gets_harder_tests(run: Run) -> None:
    seen = tuple(replace(v, verdict="noticed") for v in run.results[0].variants)
    assert spots(run, variants=seen) == []
    said = " ".join(next_steps(replace(run.results[0], variants=seen, controls_passed=True)))
    assert "--doses" in said
    assert "harmless" not in said


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"controls_passed": False}, "lowers scores for harmless edits"),
        ({"controls_passed": None, "controls": ()}, "--controls"),
        ({"ratings": {"asked": 9, "scored": 7}}, "2 of 9 ratings have no score"),
    ],
)
def test_steps_follow_from_the_figures(run: Run, changes: dict[str, object], said: str) -> None:
    result: Result = run.results[0]
    healthy = replace(result, controls_passed=True, ratings={"asked": 9, "scored": 9})
    assert said not in " ".join(next_steps(healthy))
    assert said in " ".join(next_steps(replace(healthy, **changes)))  # type: ignore[arg-type]


def test_undecided_variants_name_the_examples_that_would_decide(run: Run) -> None:
    first, *others = run.results[0].variants
    rows = (replace(first, verdict="undecided", n_to_decide=321), *others)
    said = " ".join(next_steps(replace(run.results[0], variants=rows)))
    assert "rate about 321 examples to decide on missing letters" in said


def test_what_helps_against_all_blind_spots_is_said_once() -> None:
    spots = [BlindSpot(kind, kind, 0.5, [], [f"name {kind}", "more samples"]) for kind in ("typos", "names")]
    single, common = shared_remedies(spots)
    assert ([spot.remedies for spot in single], common) == (
        [["name typos"], ["name names"]],
        ["more samples"],
    )
    assert shared_remedies(spots[:1]) == (spots[:1], [])
    assert shared_remedies([]) == ([], [])
