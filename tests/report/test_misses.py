"""The pairs that a reader sees first are the clearest misses."""

from pathlib import Path

import pytest

import dhp
from dhp.report.misses import Miss, misses
from dhp.runs.reader import Run, read_run
from tests.quick import undrawn_charts

__all__ = ["undrawn_charts"]

PREFERRED = "random_typos"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A judge that prefers texts with typos and sees no other word or sentence."""
    folder: Path = tmp_path_factory.mktemp("run")
    judge = f"mock/ideal?{PREFERRED}=-0.5&fictional_named_entities=0&grammatical_errors=0&reordering=0&step=0"
    dhp.run(judge, "mini/summeval", out=folder, progress=False)
    return read_run(folder)


def found(run: Run) -> list[Miss]:
    before = {e["id"]: e["output"] for e in run.examples}
    texts = {(t["example"], t["variant"]): {**t, "before": before[t["example"]]} for t in run.perturbed}
    return misses(run.rated, {"mini/summeval": texts})


@pytest.mark.slow
def test_the_worst_kinds_come_first_and_none_that_was_noticed(run: Run) -> None:
    shown = [miss.kind for miss in found(run)]
    assert shown[0] == "typos"
    assert set(shown[1:]) <= {"wrong names", "grammatical errors", "reordered sentences"}
    assert len(shown) == 3
    assert "rephrased repetitions" not in shown


@pytest.mark.slow
def test_the_clearest_pairs_are_those_whose_score_rose_most(run: Run) -> None:
    typos = found(run)[0]
    means = run.ratings.groupby(["example", "variant"])["score"].mean().unstack()
    rises = means.filter(like=PREFERRED).sub(means["original"], axis=0).stack().sort_values(ascending=False)
    shown = [pair.degraded - pair.original for pair in typos.pairs]
    assert shown == pytest.approx(rises.iloc[:3].tolist())
    assert shown == pytest.approx([rises[pair.row["example"], pair.row["variant"]] for pair in typos.pairs])
    assert shown[0] > 0


@pytest.mark.slow
def test_of_ties_the_largest_change_comes_first_and_every_pair_shows_one(run: Run) -> None:
    sizes = {(t["example"], t["variant"]): (t["audit"] or {}).get("distance") or 0 for t in run.perturbed}
    tied = [miss for miss in found(run) if miss.pairs[0].original == miss.pairs[0].degraded]
    assert tied
    for miss in tied:
        shown = [sizes[p.row["example"], p.row["variant"]] for p in miss.pairs]
        assert shown == sorted(shown, reverse=True)
        variants = {p.row["variant"] for p in miss.pairs}
        assert shown[0] == max(size for (_, variant), size in sizes.items() if variant in variants)
        assert all(any(operation != "=" for operation, _ in pair.change) for pair in miss.pairs)
