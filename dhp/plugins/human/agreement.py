"""Agreement of judges with human ratings: correlations, tests between judges, raters.

`correlate` reads both tables and brings people and judge to the same sources and systems, metric by metric.
Each judge is then correlated with people (`_metric`), every two judges are compared with one another
(`_pair`), and the raters among themselves (`rater_agreement`). `Agreement` holds all of it, as a sentence for
each judge, as a table and as JSON.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from dhp.core.errors import one_of
from dhp.core.options import near_keywords
from dhp.plugins.human.correlation import (
    COEFFICIENTS,
    LEVELS,
    RESAMPLES,
    Coefficient,
    Correlation,
    Level,
    correlations,
)
from dhp.plugins.human.pair_accuracy import PairAccuracy, pair_accuracy
from dhp.plugins.human.scores import (
    RaterAgreement,
    Scores,
    human_scores,
    mean_over,
    rater_agreement,
    scores_by_judge,
    shared_items,
    shared_metrics,
)
from dhp.plugins.human.swap_test import Swap, swap_test
from dhp.plugins.human.williams import Williams, williams
from dhp.stats.arrays import Floats

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

SCHEMA = "dhp.agreement/2"

_SHOWN = 10
"""Judges in a `repr`. Chosen."""


@dataclass(frozen=True, slots=True)
class MetricAgreement:
    """How a judge agrees with humans on one metric."""

    metric: str
    """Name of the metric."""
    items: int
    """Number of items that both the judge and humans scored."""
    systems: int
    """Number of systems whose texts these are."""
    single: int
    """Number of sources of which both scored one system alone: nothing to correlate within them."""
    correlations: tuple[Correlation, ...]
    """Correlation at each level by each coefficient."""
    pair_accuracy: PairAccuracy | None
    """Pairwise accuracy; None if there are no pairs."""


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """How a judge agrees with humans."""

    judge: str
    """Name of the judge."""
    metrics: tuple[MetricAgreement, ...]
    """Agreement by each metric."""
    mean: Mapping[str, float | None]
    """`LEVEL.COEFFICIENT` -> mean over the metrics; None if one is undefined."""


@dataclass(frozen=True, slots=True)
class JudgePair:
    """Two judges on the items that both scored."""

    first: str
    """Name of the first judge."""
    second: str
    """Name of the second judge."""
    metric: str
    """Name of the metric."""
    items: int
    """Scored by both and by humans."""
    williams: Williams | None
    """Williams' test of the pooled Pearson correlations, which takes the items for independent."""
    swap: Swap | None
    """Swap test of the pooled Pearson correlations."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The result of `correlate`."""

    judges: tuple[JudgeAgreement, ...]
    """Agreement of each judge with humans."""
    pairs: tuple[JudgePair, ...]
    """Comparison of every two judges on every metric."""
    raters: Mapping[str, RaterAgreement | None]
    """Metric -> agreement of the human raters; None for a single one."""

    @property
    def sentences(self) -> list[str]:
        """How far each judge agrees with people, in a sentence for each."""
        return [_sentence(judge, self.raters) for judge in self.judges]

    def __repr__(self) -> str:
        shown = []
        for each in self.judges[:_SHOWN]:
            shown.append(f"{each.judge} on {len(each.metrics)} metrics")
        if len(self.judges) > _SHOWN:
            shown.append(f"and {len(self.judges) - _SHOWN} more")
        return f"Agreement({', '.join(shown)}; {len(self.pairs)} pairs of judges)"

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON values."""
        return {"schema": SCHEMA, **asdict(self)}

    def to_frame(self) -> "pd.DataFrame":
        """One row a level and judge.

        Columns `level, judge`, then `METRIC.COEFFICIENT` and `mean.COEFFICIENT`; NaN if undefined, or
        if the judge has no scores of the metric.
        """
        import pandas as pd

        levels: list[Level] = []
        for judge in self.judges:
            for each in judge.metrics[0].correlations:  # all metrics have the same levels
                if each.level not in levels:
                    levels.append(each.level)

        rows: list[dict[str, object]] = []
        for level in levels:
            for judge in self.judges:
                row: dict[str, object] = {"level": level, "judge": judge.judge}
                for metric in judge.metrics:
                    for one in metric.correlations:
                        if one.level == level:
                            row[f"{metric.metric}.{one.coefficient}"] = one.value
                            row[f"mean.{one.coefficient}"] = judge.mean[f"{level}.{one.coefficient}"]
                rows.append(row)
        frame = pd.DataFrame(rows)

        # A judge may lack a metric of the others, whose column then comes behind the means.
        means_last = sorted(frame.columns, key=lambda column: str(column).startswith("mean."))
        figures = [column for column in means_last if column not in ("level", "judge")]
        # `float` makes NaN of None, also in a column of nothing else.
        return frame[means_last].astype(dict.fromkeys(figures, float))


def _sentence(judge: JudgeAgreement, raters: Mapping[str, RaterAgreement | None]) -> str:
    """By Pearson's correlation over all texts, metric by metric, beside what people allow."""
    several = len(judge.metrics) > 1
    words = []
    for metric in judge.metrics:
        about = f"{metric.metric} " if several else ""
        words.append(about + _agreement_in_words(metric, raters.get(metric.metric)))
    systems = max(metric.systems for metric in judge.metrics)
    here = f", on texts of these {systems} systems" if systems > 1 else ""
    return f"{judge.judge} agrees with people{here}: {', '.join(words)}"


def _agreement_in_words(metric: MetricAgreement, agreed: RaterAgreement | None) -> str:
    r = None
    for each in metric.correlations:
        if each.level == "pooled" and each.coefficient == "pearson":
            r = each
    # Who asks for other levels or coefficients alone has no Pearson correlation over all texts.
    if r is None or r.value is None:
        return f"undefined over {metric.items:,} texts, as there are fewer than three or all scores are equal"
    limits = "" if r.ci is None else f" ({r.ci[0]:.2f} to {r.ci[1]:.2f})"
    words = f"r = {r.value:.2f}{limits} over {metric.items:,} texts"
    if r.ci is not None and r.ci[0] <= 0 <= r.ci[1]:
        words += ", which is not shown to be more than chance"
    if agreed is not None and agreed.ceiling is not None:
        words += f"; people among themselves allow {agreed.ceiling:.2f}"
    return words


@near_keywords
def correlate(
    ratings: "str | Path | pd.DataFrame",
    human: "str | Path | pd.DataFrame",
    *,
    levels: Sequence[Level] = LEVELS,
    coefficients: Sequence[Coefficient] = ("pearson", "spearman", "kendall"),
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Agreement:
    """Agreement of judges with human ratings.

    Parameters
    ----------
    ratings
        A file or table with the columns `source, score`; perhaps `system, metric, sample, model, protocol`.
    human
        The same of humans, perhaps with `rater`; raters are averaged.
    levels, coefficients
        What to compute; see `dhp.plugins.human.correlation`.
    resamples
        How often sources are drawn anew, for intervals, and judges are swapped, for tests; 0 for neither.
    seed
        Seed of these draws and swaps.

    Raises
    ------
    InputError
        For a broken table, an unknown level or coefficient, metrics or items that the two do not share.
    """
    for level in levels:
        one_of("level", level, LEVELS)
    for coefficient in coefficients:
        one_of("coefficient", coefficient, COEFFICIENTS)
    people, rated = human_scores(human), scores_by_judge(ratings)

    agreements = []
    aligned: dict[tuple[str, str], tuple[Scores, Scores]] = {}  # judge, metric -> scores of people and judge
    for name, metrics in rated.items():
        # A classical metric has one score for a text, which is held against each metric of people.
        if len(metrics) == 1 and not metrics.keys() & people.keys():
            (only,) = metrics.values()
            metrics = dict.fromkeys(people, only)
        shared = shared_metrics(name, metrics, people)
        each = []
        for metric in people:
            if metric not in shared:
                continue
            scores = metrics[metric]
            items = shared_items(people[metric], scores, name, f"has human scores of '{metric}'")
            truth, samples = mean_over(people[metric].at(*items)), scores.at(*items)
            # Kept whole: two judges are compared on the items of both, which may be others than these.
            aligned[name, metric] = (people[metric], scores)
            each.append(_metric(metric, truth, samples, levels, coefficients, resamples, seed))
        agreements.append(JudgeAgreement(name, tuple(each), _means(each)))

    pairs = _pairs(list(rated), list(people), aligned, resamples, seed)
    raters = {metric: rater_agreement(scores.samples) for metric, scores in people.items()}
    return Agreement(tuple(agreements), tuple(pairs), raters)


def _metric(
    metric: str,
    truth: Floats,
    samples: Floats,
    levels: Sequence[Level],
    coefficients: Sequence[Coefficient],
    resamples: int,
    seed: int,
) -> MetricAgreement:
    mean = mean_over(samples)
    by_level = correlations(
        truth,
        mean,
        levels=levels,
        coefficients=coefficients,
        resamples=resamples,
        # Begun anew for each, so judges on the same sources see the same resamples.
        rng=np.random.default_rng(seed),
    )
    both = ~np.isnan(truth) & ~np.isnan(mean)  # shape (sources, systems)
    of_source = both.sum(axis=1)
    return MetricAgreement(
        metric=metric,
        items=int(of_source.sum()),
        systems=int(both.any(axis=0).sum()),
        single=int((of_source == 1).sum()),
        correlations=tuple(by_level),
        pair_accuracy=pair_accuracy(truth, mean),
    )


def _means(metrics: Sequence[MetricAgreement]) -> dict[str, float | None]:
    # Correlations of all metrics stand in the same order, so a place is a level with a coefficient.
    means = {}
    for place, one in enumerate(metrics[0].correlations):
        values = [metric.correlations[place].value for metric in metrics]
        defined = [value for value in values if value is not None]
        # A mean over some of the metrics could not be compared with that of another judge.
        mean = float(np.mean(defined)) if len(defined) == len(values) else None
        means[f"{one.level}.{one.coefficient}"] = mean
    return means


def _pairs(
    judges: Sequence[str],
    metrics: Sequence[str],
    aligned: Mapping[tuple[str, str], tuple[Scores, Scores]],
    resamples: int,
    seed: int,
) -> list[JudgePair]:
    """Every two judges by each of the metrics that both have."""
    pairs = []
    for first, second in combinations(judges, 2):
        for metric in metrics:
            if (first, metric) in aligned and (second, metric) in aligned:
                pairs.append(_pair(first, second, metric, aligned, resamples, seed))
    return pairs


def _pair(
    first: str,
    second: str,
    metric: str,
    aligned: Mapping[tuple[str, str], tuple[Scores, Scores]],
    resamples: int,
    seed: int,
) -> JudgePair:
    people, of_first = aligned[first, metric]
    _, of_second = aligned[second, metric]
    # All three in the order of people's table; what a judge did not score is NaN.
    truth = mean_over(people.at(people.sources, people.systems))
    one = mean_over(of_first.at(people.sources, people.systems))
    other = mean_over(of_second.at(people.sources, people.systems))

    # All three must have scored an item, so that both correlations are of the same items.
    defined = ~(np.isnan(truth) | np.isnan(one) | np.isnan(other))
    n = int(defined.sum())
    test = None
    # Williams' t has n - 3 degrees of freedom; constant scores have no correlation.
    if n > 3 and all(np.ptp(scores[defined]) > 0 for scores in (truth, one, other)):
        r = np.corrcoef([truth[defined], one[defined], other[defined]])
        test = williams(float(r[0, 1]), float(r[0, 2]), float(r[1, 2]), n)
    swap = swap_test(truth, one, other, resamples=resamples, seed=seed) if resamples else None
    return JudgePair(first, second, metric, n, test, swap)
