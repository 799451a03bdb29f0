"""`dhp correlate --correct`: means and shares of systems, corrected by human scores or known errors.

Two ways, each with its table. `corrected_means`: people scored some of the texts, and say how far the judge
is off there (prediction-powered inference). `corrected_shares`: a run says how often the judge passes good
texts and fails bad ones (`judge_errors`), and the share that it passes is turned back (Rogan and Gladen).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from dhp.core.errors import InputError
from dhp.plugins.human.labels import Z, flip_words
from dhp.plugins.human.scores import human_scores, mean_over, scores_by_judge, shared_metrics
from dhp.report.document import Column, Part, Table
from dhp.report.labels import figure, in_brackets, percent, percents_in_brackets
from dhp.report.printout import Printout
from dhp.runs.reader import Run, RunResult
from dhp.stats.arrays import Bools, Floats
from dhp.stats.error_rates import ErrorRates, error_rates
from dhp.stats.repeated_answers import FlipRate, flip_rate

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd


def judge_errors(run: Run, passes: float) -> dict[str, dict[str, ErrorRates]]:
    """How often each judge of a run passes good texts and fails bad ones.

    Judge (its model, and `model (protocol)`) -> metric -> its errors over all datasets of the run; a metric
    without scores of good or bad texts is left out. `passes` is the lowest score that passes, on the scale of
    the metric. Raises `InputError` for a run of pairwise judges, whose scores are no grades.
    """
    # Model, protocol -> metric -> scores of good and of bad texts, one pair of tables for each dataset.
    groups: dict[tuple[str, str], dict[str, list[tuple[Floats, Floats]]]] = {}
    for each in run.rated:  # a judge and dataset; errors are counted over all datasets
        # The test of pairwise judges alone.
        if each.result.statistics == "sign-flip":
            raise InputError(
                f"{run.folder}: its judges compare texts; allowed: a run of judges that rate them"
            )
        metrics = groups.setdefault((each.result.model, each.result.protocol), {})
        for metric, sides in _sides(each).items():
            metrics.setdefault(metric, []).append(sides)

    pooled = {}
    for judge, metrics in groups.items():
        pooled[judge] = {metric: _pooled(parts, passes) for metric, parts in metrics.items()}
    return _by_judge(pooled)


Rate = TypeVar("Rate")


def _by_judge(rates: Mapping[tuple[str, str], Mapping[str, Rate | None]]) -> dict[str, dict[str, Rate]]:
    """The rates that are known, by `model (protocol)`, and by the model alone for the first of its protocols.

    A table of ratings may name a judge either way.
    """
    by_judge: dict[str, dict[str, Rate]] = {}
    for (model, protocol), by_metric in rates.items():
        known = {metric: rate for metric, rate in by_metric.items() if rate is not None}
        by_judge[f"{model} ({protocol})"] = known
        by_judge.setdefault(model, known)
    return by_judge


def _sides(each: RunResult) -> dict[str, tuple[Floats, Floats]]:
    """Metric -> scores of good and of bad texts, shape (texts, examples)."""
    controls = {v.variant for v in each.result.controls if v.level == "control"}
    damage = {v.variant for v in each.result.variants}
    # Harmless edits are good texts as the originals are; attacks are neither good nor bad.
    good, bad = [0], []  # the original is row 0
    for row, name in enumerate(each.ratings.variants, 1):
        if name in controls:
            good.append(row)
        elif name in damage:
            bad.append(row)

    means = each.ratings.means  # shape (original and variants, metrics, examples)
    sides = {}
    for place, metric in enumerate(each.ratings.metrics):
        sides[metric] = (means[good, place], means[bad, place])
    return sides


def _pooled(parts: list[tuple[Floats, Floats]], passes: float) -> ErrorRates | None:
    """The error rates over all these datasets together."""
    good = _side_by_side([good for good, _ in parts])
    bad = _side_by_side([bad for _, bad in parts])
    return error_rates(good, bad, passes)


def _side_by_side(tables: Sequence[Floats]) -> Floats:
    """Tables of as many rows as the longest has; a dataset may have fewer variants than another."""
    most = max(map(len, tables))
    padded = []
    for table in tables:
        rows_below = (0, most - len(table))
        padded.append(np.pad(table, (rows_below, (0, 0)), constant_values=np.nan))
    return np.hstack(padded)


def flip_rates(run: Run, passes: float) -> dict[str, dict[str, FlipRate]]:
    """How often a verdict changes from one sample of a run to another, over all its texts.

    Judge (its model, and `model (protocol)`) -> metric -> its flip rate; a metric without several samples of
    a text is left out. `passes` is the lowest score that passes, on the scale of the metric.
    """
    rates = {}
    for (model, protocol), rows in run.ratings.groupby(["model", "protocol"], sort=False):
        by_metric = {}
        for metric, part in rows.groupby("metric", sort=False):
            by_metric[str(metric)] = _rate(part, passes)
        rates[str(model), str(protocol)] = by_metric
    return _by_judge(rates)


def _rate(rows: "pd.DataFrame", passes: float) -> FlipRate | None:
    """The flip rate in the ratings of one judge by one metric; None without a score."""
    scored = rows.dropna(subset=["score"])
    # The samples of a text are numbered as they come, without those that failed.
    text = scored.groupby(["dataset", "example", "variant"], sort=False)
    number, sample = text.ngroup().to_numpy(), text.cumcount().to_numpy()
    if not len(scored):
        return None

    scores = np.full((number.max() + 1, sample.max() + 1), np.nan)  # shape (texts, samples)
    scores[number, sample] = scored["score"]
    # Texts of one example are one cluster: they share their source, and most of their words.
    clusters = np.zeros(len(scores), dtype=np.intp)
    clusters[number] = scored.groupby(["dataset", "example"], sort=False).ngroup()
    return flip_rate(scores, passes, clusters)


@dataclass(frozen=True, slots=True)
class CorrectedMean:
    """An estimate with its interval and what it assumes."""

    value: float
    ci: tuple[float, float]
    """95 % confidence interval of the mean."""
    assumes: str


def prediction_powered_mean(
    human: npt.ArrayLike, judged: npt.ArrayLike, judged_only: npt.ArrayLike
) -> CorrectedMean:
    """The mean human score of all texts by prediction-powered inference, PPI++ (Angelopoulos et al. 2023).

    `human` and `judged`, shape (n,), are scores of the texts that humans scored, `judged_only`, shape (N,),
    the judge's scores of the others; both are of two texts at least.
    """
    # The names of the paper: y is what people say, f what the judge says of the same texts.
    y = np.asarray(human, dtype=float)
    f = np.asarray(judged, dtype=float)
    rest = np.asarray(judged_only, dtype=float)
    n, more = len(y), len(rest)

    variance = np.concatenate([f, rest]).var(ddof=1)
    covariance = float(np.cov(y, f, ddof=1)[0, 1])
    # The weight that minimises the variance of the estimate; 0 ignores the judge.
    weight = float(np.clip(covariance / ((1 + n / more) * variance), 0, 1)) if variance > 0 else 0.0

    # The judge's mean over the other texts, put right by its error on those that people scored.
    value = float(weight * rest.mean() + (y - weight * f).mean())
    error = np.sqrt(weight**2 * rest.var(ddof=1) / more + (y - weight * f).var(ddof=1) / n)
    low, high = value - Z * float(error), value + Z * float(error)
    return CorrectedMean(value, (low, high), "the texts that humans scored are a random sample of all texts")


def misclassification_corrected_share(
    passed: int, total: int, *, sensitivity: tuple[float, float], specificity: tuple[float, float]
) -> CorrectedMean | None:
    """The true share of good texts among those that a judge saw (Rogan and Gladen 1978).

    `passed` of `total` texts the judge took for good. `sensitivity` is how many good texts it took for good,
    of how many (originals or harmless edits of an audit), `specificity` how many bad ones for bad (degraded
    texts that it noticed). Value and interval are within [0, 1]; None for a judge no better than chance.
    """
    # p, se, sp: the share that passes, sensitivity and specificity, as textbooks call them.
    p = passed / total
    se = sensitivity[0] / sensitivity[1]
    sp = specificity[0] / specificity[1]
    youden = se + sp - 1
    if youden <= 0:  # bad texts pass as often as good ones: the share that passes says nothing
        return None
    value = (p + sp - 1) / youden

    # The delta method: over Youden's index the derivatives of the value by the three shares are 1, value and
    # 1 - value, but for signs.
    of_passed, of_good, of_bad = _variance(passed, total), _variance(*sensitivity), _variance(*specificity)
    variance = (of_passed + value**2 * of_good + (1 - value) ** 2 * of_bad) / youden**2
    half = Z * variance**0.5
    limits = (_as_share(value - half), _as_share(value + half))
    assumes = "the judge errs on these texts as often as on those of the audit"
    return CorrectedMean(_as_share(value), limits, assumes)


def _variance(hits: float, of: float) -> float:
    """The variance of a share.

    Agresti and Coull's shrinkage, two hits and two others more, keeps that of a share of 0 or 1 away from 0.
    """
    share = (hits + 2) / (of + 4)
    return share * (1 - share) / (of + 4)


def _as_share(value: float) -> float:
    """The value, within [0, 1]."""
    return min(1.0, max(0.0, value))


@dataclass(frozen=True, slots=True)
class SystemMean:
    """The mean human score of all texts of a system, estimated in three ways."""

    judge: str
    metric: str
    system: str
    texts: int
    """Number of texts that the judge scored."""
    labelled: int
    """Number of these texts that people scored, too."""
    judged: float
    """Mean of the judge's scores."""
    human: CorrectedMean | None
    """Mean of the human scores alone; None for fewer than two."""
    corrected: CorrectedMean | None
    """Mean estimated from both kinds of scores; None for fewer than two texts with human scores, or fewer
    than two without."""


@dataclass(frozen=True, slots=True)
class SystemShare:
    """The share of good texts of a system, as the judge sees it and corrected for its errors."""

    judge: str
    metric: str
    system: str
    texts: int
    judged: float
    """Share of the texts that pass."""
    sensitivity: float
    specificity: float
    corrected: CorrectedMean | None
    """Corrected share; None for a judge no better than chance."""


def corrected_means(
    ratings: "str | Path | pd.DataFrame", human: "str | Path | pd.DataFrame"
) -> list[SystemMean]:
    """The mean human score of each system, from a judge's scores of all its texts and human ones of a few.

    Prediction-powered inference (`prediction_powered_mean`), for each judge, metric and system by itself, so
    that no two texts of a row are of one source. Tables are as for `dhp.correlate`; human scores of several
    raters are averaged. Raises `InputError` for a broken table, metrics that the two do not share, and if
    no text has both scores.
    """
    people = human_scores(human)
    means = []
    for name, metrics in scores_by_judge(ratings).items():
        for metric in shared_metrics(name, metrics, people):
            scores = metrics[metric]
            # Of each text that the judge scored what people say, NaN for most of them.
            labels = mean_over(people[metric].at(scores.sources, scores.systems))
            if np.isnan(labels).all():
                raise InputError(f"human: no text of judge '{name}' has a human score of '{metric}'")
            for system, f, y in zip(scores.systems, mean_over(scores.samples).T, labels.T, strict=True):
                means.append(_system_mean((name, metric, system), f, y))
    return means


def corrected_shares(
    ratings: "str | Path | pd.DataFrame", passes: float, errors: Mapping[str, Mapping[str, ErrorRates]]
) -> list[SystemShare]:
    """The share of good texts of each system, corrected for a judge's known errors (Rogan and Gladen 1978).

    A text counts as good from the score `passes` on; `errors` has judge -> metric -> its error rates at that
    score (`judge_errors`). Raises `InputError` for a broken table, and if a judge has no known errors by
    any of its metrics.
    """
    shares = []
    for name, metrics in scores_by_judge(ratings).items():
        known = errors.get(name, {})
        shared = [metric for metric in metrics if metric in known]
        if not shared:
            in_run = [f"{judge}: {', '.join(of_judge)}" for judge, of_judge in errors.items()]
            raise InputError(
                f"audit: no error rates of judge '{name}' by {', '.join(metrics)}; "
                f"the run has {'; '.join(in_run)}"
            )
        for metric in shared:
            rates = known[metric]
            means = mean_over(metrics[metric].samples)
            for system, column in zip(metrics[metric].systems, means.T, strict=True):
                scored = column[~np.isnan(column)]
                if len(scored):
                    shares.append(_system_share((name, metric, system), scored >= passes, rates))
    return shares


def _system_mean(names: tuple[str, str, str], f: Floats, y: Floats) -> SystemMean:
    # Texts without a score of the judge tell nothing of how far it is off.
    f, y = f[~np.isnan(f)], y[~np.isnan(f)]
    both = ~np.isnan(y)
    labelled, texts = int(both.sum()), len(f)
    human = corrected = None
    # A variance needs two texts: of those with human scores, and below of those without.
    if labelled > 1:
        mean = float(y[both].mean())
        error = float(y[both].std(ddof=1)) / math.sqrt(labelled)
        assumes = "the texts that people scored are a random sample of all texts"
        human = CorrectedMean(mean, (mean - Z * error, mean + Z * error), assumes)
        if texts - labelled > 1:
            corrected = prediction_powered_mean(y[both], f[both], f[~both])
    judged = float(f.mean()) if texts else math.nan
    return SystemMean(*names, texts, labelled, judged, human, corrected)


def _system_share(names: tuple[str, str, str], passed: Bools, rates: ErrorRates) -> SystemShare:
    (right, good), (noticed, bad) = rates.sensitivity, rates.specificity
    corrected = misclassification_corrected_share(
        int(passed.sum()), len(passed), sensitivity=rates.sensitivity, specificity=rates.specificity
    )
    return SystemShare(*names, len(passed), float(passed.mean()), right / good, noticed / bad, corrected)


SCHEMA = "dhp.corrected/1"


def corrected_printout(
    rated: "str | pd.DataFrame",
    human: "str | pd.DataFrame | None",
    run_folder: str | None,
    passes: float | None,
) -> Printout:
    """Means corrected by human scores, and shares of good texts corrected by the errors of the judge.

    Human scores are of some of the texts. In the run, of the same judge, originals are good texts and
    degraded ones bad, from the score `passes` on.
    """
    from dhp.runs.reader import read_run

    if human is None and run_folder is None:
        raise InputError("--correct: needs --human FILE, or --runs RUN and --passes X")
    if (run_folder is None) != (passes is None):
        raise InputError(
            "--correct: --runs needs --passes, the lowest score of a good text, and --passes needs --runs"
        )

    # Means by human scores, shares by the errors of a run; both may be asked at once.
    means = corrected_means(rated, human) if human is not None else []
    shares: list[SystemShare] = []
    flips: dict[tuple[str, str], FlipRate] = {}
    if run_folder is not None and passes is not None:
        run = read_run(run_folder)
        shares = corrected_shares(rated, passes, judge_errors(run, passes))
        rates = flip_rates(run, passes)
        for share in shares:
            rate = rates.get(share.judge, {}).get(share.metric)
            if rate:
                # Once for each judge and metric: shares have a row for each system.
                flips[share.judge, share.metric] = rate

    parts: list[Part] = [*_mean_parts(means)] if means else []
    if shares and passes is not None:
        parts += _share_parts(shares, passes)
    rows = []
    for (judge, metric), rate in flips.items():
        parts.append(f"  note: {flip_words(judge, metric, rate)}")
        rows.append({"judge": judge, "metric": metric, **asdict(rate)})
    content = {
        "schema": SCHEMA,
        "means": [asdict(each) for each in means],
        "shares": [asdict(each) for each in shares],
        "flips": rows,
    }
    return Printout(parts, content)


_CORRECTED = Column["CorrectedMean | None"](
    "corrected",
    lambda mean: mean and mean.value,
    figure,
    ends=lambda mean: None if mean is None else mean.ci,
    limits_form=in_brackets,
)
_NAMES: tuple[Column[Any], ...] = (
    Column("judge", lambda each: each.judge, names=True, right=False),
    Column("metric", lambda each: each.metric, right=False),
    Column("system", lambda each: each.system, right=False),
    Column("texts", lambda each: each.texts),
)
_MEANS: tuple[Column[SystemMean], ...] = (
    *_NAMES,
    Column("scored by people", lambda each: each.labelled),
    Column("judge alone", lambda each: each.judged, figure),
    replace(_CORRECTED, heading="people alone").on(lambda each: each.human),
    _CORRECTED.on(lambda each: each.corrected),
)
_SHARES: tuple[Column[SystemShare], ...] = (
    *_NAMES,
    Column("judge alone", lambda each: each.judged, percent),
    Column("good ones pass", lambda each: each.sensitivity, percent),
    Column("bad ones fail", lambda each: each.specificity, percent),
    replace(_CORRECTED, form=percent, limits_form=percents_in_brackets).on(lambda each: each.corrected),
)


def _mean_parts(means: list[SystemMean]) -> Iterator[Part]:
    yield Table("mean human score of all texts, 95 %", _MEANS, means)
    yield from _note("corrected by prediction-powered inference (PPI++)", [m.corrected for m in means])
    if any(m.corrected is None for m in means):
        yield "  note: a dash: fewer than two texts with a human score, or fewer than two without"


def _share_parts(shares: list[SystemShare], passes: float) -> Iterator[Part]:
    yield Table(f"share of good texts (score {passes:g} or more), 95 %", _SHARES, shares)
    yield from _note("corrected by Rogan and Gladen", [s.corrected for s in shares])
    yield "  note: originals and harmless edits of the run count as good texts, degraded ones as bad"
    if any(s.corrected is None for s in shares):
        yield "  note: a dash: this judge passes bad texts as often as good ones, so its shares say nothing"


def _note(how: str, means: list[CorrectedMean | None]) -> Iterator[Part]:
    corrected = [each for each in means if each is not None]
    if corrected:  # all by one way assume the same
        yield f"  note: {how}; it assumes that {corrected[0].assumes}"
