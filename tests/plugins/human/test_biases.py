"""Partial correlations equal residuals' correlations; a planted self-preference is found, none is not."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dhp.core.errors import InputError
from dhp.plugins.human.comparison import partial_correlations, self_preference

RNG = np.random.default_rng(3)
SYSTEMS = ("gpt-3", "gpt-4", "t5", "bart", "lead")


def table(values: np.ndarray, model: str = "", metric: str = "quality") -> pd.DataFrame:
    rows = [
        {"source": f"s{i}", "system": SYSTEMS[j], "metric": metric, "score": v}
        for i, row in enumerate(values)
        for j, v in enumerate(row)
    ]
    return pd.DataFrame(rows).assign(**({"model": model} if model else {}))


HUMAN = RNG.normal(size=(60, 5))
OVERLAP = HUMAN + RNG.normal(size=HUMAN.shape)


def test_partial_correlation_is_that_of_the_residuals() -> None:
    judge = 0.8 * OVERLAP + 0.3 * RNG.normal(size=HUMAN.shape)
    ratings = pd.concat(
        [table(judge, "copies"), table(HUMAN + OVERLAP, "both"), table(OVERLAP, "rouge", "r")]
    )
    copies, both = partial_correlations(ratings, table(HUMAN), "rouge", resamples=99)
    x = OVERLAP.ravel()
    left = [v.ravel() - np.polyval(np.polyfit(x, v.ravel(), 1), x) for v in (HUMAN, judge)]
    assert copies.partial == pytest.approx(stats.pearsonr(*left).statistic)
    assert copies.plain == pytest.approx(stats.pearsonr(HUMAN.ravel(), judge.ravel()).statistic)
    assert copies.ci[0] < 0 < copies.ci[1]
    assert (both.judge, both.n, both.partial) == ("both", 300, pytest.approx(1.0))


def test_self_preference_is_found_where_it_is() -> None:
    fair = HUMAN + RNG.normal(0, 0.3, HUMAN.shape)
    partial = fair + np.array([1, 1, 0, 0, 0])
    ratings = pd.concat(
        [table(fair, "openai/gpt-fair"), table(partial, "openai/gpt-own"), table(fair, "other")]
    )
    even, own = self_preference(ratings, table(HUMAN), "GPT", resamples=199)
    assert even.ci[0] < 0 < even.ci[1]
    assert 0.5 < own.ci[0] < own.preference < own.ci[1]
    assert (own.systems, own.own, own.others) == (("gpt-3", "gpt-4"), 120, 180)


def test_constant_scores_are_undefined() -> None:
    ratings = pd.concat([table(HUMAN * 0, "flat"), table(OVERLAP, "rouge")])
    (flat,) = partial_correlations(ratings, table(HUMAN), "rouge", resamples=9)
    assert (flat.plain, flat.partial, flat.ci) == (None, None, None)


def test_faults() -> None:
    ratings = pd.concat([table(HUMAN, "gpt"), table(HUMAN, "lama")])
    with pytest.raises(InputError, match="unknown judge 'rouge'; allowed: gpt, lama"):
        partial_correlations(ratings, table(HUMAN), "rouge")
    with pytest.raises(InputError, match="no judge's name has 'claude' in it"):
        self_preference(ratings, table(HUMAN), "claude")
    with pytest.raises(InputError, match="no system's name has 'lama' in it"):
        self_preference(ratings, table(HUMAN), "lama")
