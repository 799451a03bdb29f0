"""Released scores of judges, compared: a planted difference is found where it is, by common texts alone."""

import json
import logging
from pathlib import Path

import pandas as pd
import pytest
from results_pages.recorded_scores import read_recorded_scores

from dhp.core.errors import InputError
from dhp.runs.compare import DatasetComparison, compare_rated
from dhp.runs.rated_tables import recorded_results


def ratings(
    model: str, drops: dict[str, list[float]], protocol: str = "none", start: int = 0
) -> pd.DataFrame:
    """Prompts of two worse answers each, the score of each dropped as said."""
    rows = [
        (
            model,
            protocol,
            "set",
            f"{kind}/{start + i // 2}~{i % 2}",
            variant,
            "score",
            score,
            f"{kind}/{i // 2}",
        )
        for kind, own in drops.items()
        for i, drop in enumerate(own)
        for variant, score in (("original", 5.0), (kind, 5.0 - drop))
    ]
    columns = ["model", "protocol", "dataset", "example", "variant", "metric", "score", "cluster"]
    return pd.DataFrame(rows, columns=columns)


def compared(*frames: pd.DataFrame, **more: object) -> DatasetComparison:
    (found,) = compare_rated(recorded_results(pd.concat(frames)), **more)  # type: ignore[arg-type]
    return found


SEES = [1.0] * 40
BLIND = [1.0, -1.0] * 20


@pytest.mark.slow
def test_the_better_judge_is_named_kind_by_kind() -> None:
    found = compared(
        ratings("a", {"fact": SEES, "code": BLIND, "tone": SEES}),
        ratings("b", {"fact": BLIND, "code": SEES, "tone": SEES}),
    )
    assert (found.judges, found.n) == (("a", "b"), 120)
    fact, code, tone = (pairs[0] for pairs in found.by_variant)
    assert (fact.difference, code.difference, tone.difference) == (-0.5, 0.5, 0.0)
    assert max(fact.p_adjusted, code.p_adjusted) < 0.01 < tone.p_adjusted == 1
    assert found.scores["detection"].pairs[0].difference == 0
    plain = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert plain["damage"][0]["differences"] == [
        {"first": 0, "second": 1, "difference": -0.5, "low": fact.low, "high": fact.high}
        | {"p": fact.p, "p_adjusted": fact.p_adjusted}
    ]


@pytest.mark.slow
def test_prompts_and_not_answers_are_swapped() -> None:
    """Four prompts have 16 swaps, so that no p lies below 2 / 16; eight answers apart would have 256."""
    found = compared(ratings("a", {"fact": [1.0] * 8}), ratings("b", {"fact": [-1.0] * 8}))
    assert found.by_variant[0][0].p == pytest.approx(2 / 16)


@pytest.mark.slow
def test_judges_are_compared_by_the_texts_of_both(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    found = compared(ratings("a", {"fact": SEES + BLIND}), ratings("b", {"fact": SEES}))
    assert found.n == 40
    assert [row.detection for row in found.damage[0]] == [1.0, 1.0]
    assert "compared by the 40 of 80 examples that all judges rated" in caplog.text


@pytest.mark.slow
def test_unlike_texts_are_never_ranked_together() -> None:
    with pytest.raises(InputError, match="dataset 'set': no example was rated by all judges"):
        compared(ratings("a", {"fact": SEES}), ratings("b", {"fact": SEES}, start=100))
    other = ratings("b", {"fact": SEES})
    other["variant"] = other["variant"].replace("fact", "tone")
    with pytest.raises(InputError, match="dataset 'set': dataset differs"):
        compared(ratings("a", {"fact": SEES}), other)


@pytest.mark.slow
def test_protocols_are_not_mixed_in_silence() -> None:
    both = ratings("a", {"fact": SEES}, "plain"), ratings("a", {"fact": BLIND}, "reasoned")
    with pytest.raises(InputError, match=r"protocol differs, 'plain' .* or `allow` protocol"):
        compared(*both)
    assert compared(*both, allow=["protocol"]).judges == ("a (plain)", "a (reasoned)")


def test_one_judge_is_nothing_to_compare() -> None:
    with pytest.raises(InputError, match="dataset 'set'"):
        compared(ratings("a", {"fact": SEES}))


@pytest.mark.slow
@pytest.mark.realdata
def test_two_judges_differ_by_what_their_shares_differ_on_the_same_prompts(real: Path) -> None:
    files = [real / "rewardbench2_judges" / f"{name}.jsonl" for name in ("gpt-5.4", "gpt-5.4-mini")]
    rated = recorded_results(read_recorded_scores("rewardbench2", *files))
    (found,) = compare_rated(rated, resamples=100)
    assert found.n == 3 * 1730
    shares = {
        rows[0].variant: pairs[0].difference
        for rows, pairs in zip(found.damage, found.by_variant, strict=True)
    }
    counted = {"Factuality": 1.76, "Focus": 0.61, "Math": 6.28, "Precise IF": 3.98, "Safety": 0.16}
    assert {kind: -100 * share for kind, share in shares.items()} == pytest.approx(counted, abs=0.011)
