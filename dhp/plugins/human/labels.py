"""`dhp correlate` for pass / fail labels: Cohen's kappa and both error rates of a judge."""

import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from dhp.core.errors import InputError
from dhp.core.tables import is_blank
from dhp.judge.adapters.returned import VERDICTS
from dhp.plugins.human.scores import (
    Scores,
    human_scores,
    mean_over,
    read_frame,
    scores_by_judge,
    shared_items,
    shared_metrics,
)
from dhp.report.document import Column, Part, Strong, Table, item
from dhp.report.labels import figure, in_brackets
from dhp.report.printout import Printout
from dhp.stats.arrays import Bools, Floats, Ints, cluster_sums
from dhp.stats.examples_needed import examples_to_separate
from dhp.stats.influences import mean_influences, wilson_interval
from dhp.stats.repeated_answers import FlipRate, flip_rate

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "dhp.labels/1"
LABEL = "label"
"""The metric of verdicts that name none."""
WORDS = {
    **{word: float(passes) for word, passes in VERDICTS.items()},
    **dict.fromkeys(("1", "1.0", "up", "good", "👍"), 1.0),
    **dict.fromkeys(("0", "0.0", "-1", "-1.0", "down", "bad", "👎"), 0.0),
}
"""What a label or a thumb may be, in lower case, and whether it passes."""
Z = NormalDist().inv_cdf(0.975)
"""Half of a 95 % interval in standard errors."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share of texts."""

    value: float
    ci: tuple[float, float]
    """95 % Wilson interval; texts of one source count as dependent."""
    n: int
    """Number of texts."""


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """How the verdicts of a judge agree with pass / fail labels of people, by one metric."""

    judge: str
    metric: str
    n: int
    """Number of texts with a label and a verdict."""
    counts: tuple[int, int, int, int]
    """Number of texts: good that pass, good that fail, bad that pass, bad that fail; people decide what is
    good."""
    left_out: int
    """Labelled texts without a verdict, or whose raters or answers are split in halves."""
    agreement: Share
    """Share of texts of which judge and people say the same."""
    always_same: float
    """That share for a judge that always says what people say more often."""
    kappa: float | None
    """Cohen's kappa in [-1, 1]: 0 for a judge that always says the same; None if people and judge do."""
    kappa_ci: tuple[float, float] | None
    """95 % interval; see `kappa_interval`."""
    true_positive_rate: Share | None
    """Share of good texts that pass; None without a good text."""
    true_negative_rate: Share | None
    """Share of bad texts that fail; None without a bad text."""
    flips: FlipRate | None
    """How often the judge's verdict changes when a text is judged again; None without several samples."""
    n_to_decide: int | None
    """Labels that would show, with a chance of 80 %, whether kappa differs from 0, if it is not shown yet;
    None if it is, or if no number up to 100,000 would."""

    @property
    def verdict(self) -> str:
        """Whether the judge is better than one that always says the same."""
        if self.kappa_ci is None:
            return "undefined"
        return "better" if self.kappa_ci[0] > 0 else "worse" if self.kappa_ci[1] < 0 else "undecided"


def cohens_kappa(shares: Floats) -> float:
    """Cohen's kappa (1960) of a table of two raters, counts or shares, shape (2, 2); NaN if undefined."""
    p = shares / shares.sum()
    expected = float(p.sum(axis=1) @ p.sum(axis=0))
    return math.nan if expected >= 1 else (float(np.trace(p)) - expected) / (1 - expected)


def kappa_interval(people: Ints, judge: Ints, clusters: Ints) -> tuple[float, float]:
    """95 % interval of Cohen's kappa from the labels of texts.

    The large-sample variance of Fleiss, Cohen and Everitt (1969), of the table with one text added to each of
    its four cells: without them the interval of a judge that never errs has no width. The variance is
    multiplied by the design effect of the clusters, at least 1. Labels are 1 if a text passes, else 0.
    Clusters are 0, 1, ...: texts with the same one are not independent.
    """
    counts = np.zeros((2, 2))
    np.add.at(counts, (people, judge), 1)
    n = counts.sum() + 4
    p = (counts + 1) / n
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    kappa = cohens_kappa(p)
    chance = 1 - float(rows @ columns)
    # Derivative of kappa by the share of each cell.
    slope = (np.eye(2) - (1 - kappa) * (columns[:, None] + rows[None, :])) / chance
    variance = float((p * slope**2).sum() - (p * slope).sum() ** 2) / n
    of_text = slope[people, judge] - slope[people, judge].mean()
    alone = float((of_text**2).sum())
    together = float((cluster_sums(of_text, clusters) ** 2).sum())
    effect = max(1.0, together / alone) if alone > 0 else 1.0
    half = Z * math.sqrt(variance * effect)
    plain = cohens_kappa(counts)
    return max(-1.0, min(kappa - half, plain)), min(1.0, max(kappa + half, plain))


def label_agreement(
    ratings: "str | Path | pd.DataFrame", human: "str | Path | pd.DataFrame", passes: float | None = None
) -> list[LabelAgreement]:
    """Agreement of judges with pass / fail labels of people.

    Ratings have the columns `source, score`, or `label`; perhaps `system, metric, sample, model, protocol`.
    People's table has `label` (pass or fail, true or false, 1 or 0) and perhaps `rater`; without `metric` its
    labels are held against every metric of a judge. Of several raters, and of several verdicts of a judge,
    the majority counts. `passes` is the lowest mean score that passes (of a judge whose scores are all 0 or
    1, the majority of its answers counts); None: the judge's scores are labels themselves. Raises
    `InputError` for a broken table, an unknown label, metrics or texts that the two do not share.
    """
    people, rated = _read(human, "human"), _read(ratings, "ratings", labels=passes is None)
    if "system" not in people and "system" in rated and rated["system"].nunique() > 1:
        raise InputError("human: column 'system' is missing; the ratings have several systems")
    any_metric = "metric" not in people
    if "system" not in people or "system" not in rated:
        people, rated = people.assign(system=""), rated.assign(system="")
    if "metric" not in rated:
        rated = rated.assign(metric=LABEL)
    labels = human_scores(people.assign(metric=LABEL) if any_metric else people)
    agreements = []
    for name, metrics in scores_by_judge(rated).items():
        for metric in metrics if any_metric else shared_metrics(name, metrics, labels):
            truth = labels[LABEL if any_metric else metric]
            agreements.append(_agreement(name, metric, truth, metrics[metric], passes))
    return agreements


def _read(table: "str | Path | pd.DataFrame", role: str, *, labels: bool = True) -> "pd.DataFrame":
    """A table whose scores are 1 and 0 if they are `labels`."""
    import pandas as pd

    name = role if isinstance(table, pd.DataFrame) else str(table)
    frame = table if isinstance(table, pd.DataFrame) else read_frame(table)
    if not labels:
        return frame
    column = "label" if "label" in frame else "score"
    if column not in frame:
        raise InputError(f"{name}: column 'label' is missing")
    texts = frame[column].map(lambda value: "" if pd.isna(value) else str(value).strip().lower())
    wrong = ~texts.isin(["", *WORDS])
    if wrong.any():
        row = int(wrong.to_numpy().argmax())
        scores = "; scores need --passes" if column == "score" else ""
        raise InputError(
            f"{name}: row {row + 1}: {column} '{frame[column].iloc[row]}'; "
            f"allowed: pass, fail, true, false, 1, 0 or nothing{scores}"
        )
    return frame.assign(score=texts.map(WORDS))


def has_labels(table: "pd.DataFrame") -> bool:
    """Whether a table has labels in place of scores: a column `label`, and none `score`."""
    return "label" in table and "score" not in table


def labels_as_scores(people: "pd.DataFrame") -> "pd.DataFrame":
    """The table with its labels as scores of 1 and 0; raises `InputError` for an unknown label."""
    return _read(people, "human").drop(columns="label")


def judge_labels(ratings: "pd.DataFrame") -> bool:
    """Whether judges say pass or fail, too, or nothing."""
    column = "label" if "label" in ratings else "score"
    words = {str(value).strip().lower() for value in ratings.get(column, ()) if not is_blank(value)}
    return words <= {*WORDS}


def _agreement(name: str, metric: str, truth: Scores, scores: Scores, passes: float | None) -> LabelAgreement:
    items = shared_items(truth, scores, name, f"has a label of '{metric}'", "people labelled")
    answers = scores.at(*items)
    votes = bool(np.isin(answers[~np.isnan(answers)], (0, 1)).all())
    if votes and passes is not None:  # a mean of 2/3 is a majority, and would miss a mark of 1
        answers = np.where(np.isnan(answers), np.nan, answers >= passes)
    y, f = mean_over(truth.at(*items)), mean_over(answers)
    split = (y == 0.5) | (votes & (f == 0.5))
    both = ~np.isnan(y) & ~np.isnan(f) & ~split
    if not both.any():
        raise InputError(f"human: no text of judge '{name}' has both a label of '{metric}' and a verdict")
    left_out = int((~np.isnan(mean_over(truth.samples))).sum()) - int(both.sum())
    people = (y[both] > 0.5).astype(np.intp)
    judge = ((f[both] > 0.5) if votes or passes is None else (f[both] >= passes)).astype(np.intp)
    clusters = np.unique(np.nonzero(both)[0], return_inverse=True)[1]
    counts = [int(((people == y) & (judge == f)).sum()) for y in (1, 0) for f in (1, 0)]
    kappa = cohens_kappa(np.array(counts, dtype=np.float64).reshape(2, 2))
    ci = None if math.isnan(kappa) else kappa_interval(people, judge, clusters)
    n, needed = len(people), None
    if ci is not None and ci[0] <= 0 <= ci[1]:
        needed = examples_to_separate(n, kappa, *ci, 0.0)
    everywhere = np.ones(n, dtype=bool)
    agreed = _share(people == judge, everywhere, clusters)
    assert agreed is not None
    return LabelAgreement(
        name,
        metric,
        n,
        (counts[0], counts[1], counts[2], counts[3]),
        left_out,
        agreed,
        max(people.mean(), 1 - people.mean()).item(),
        None if ci is None else kappa,
        ci,
        _share(judge == 1, people == 1, clusters),
        _share(judge == 0, people == 0, clusters),
        _flips(scores, 0.5 if passes is None else passes),
        needed,
    )


def _flips(scores: Scores, passes: float) -> FlipRate | None:
    """Over all texts that the judge saw."""
    samples, sources, systems = scores.samples.shape
    of_texts = scores.samples.reshape(samples, sources * systems).T
    return flip_rate(of_texts, passes, np.repeat(np.arange(sources), systems))


def flip_words(judge: str, metric: str, flips: FlipRate) -> str:
    """A line about how often a judge changes its verdicts."""
    share = "{:.0%} [{:.0%}, {:.0%}]".format(flips.value, *flips.ci)
    return f"{judge}, {metric}: asked again, the verdict on a text changes in {share} ({flips.n:,} texts)"


def _share(right: Bools, of: Bools, clusters: Ints) -> Share | None:
    """The share of the texts `of` that are `right`."""
    if not of.any():
        return None
    mean = mean_influences(np.where(of, right, np.nan))
    low, high = map(float, wilson_interval(mean, clusters))
    return Share(float(mean.value), (0.0, 1.0) if math.isnan(low) else (low, high), int(of.sum()))


def label_sentence(each: LabelAgreement) -> str:
    """How far a judge agrees with people, in a sentence."""
    agreed, limits = each.agreement, each.kappa_ci
    low, high = agreed.ci
    about = "" if each.metric == LABEL else f" by {each.metric}"
    kappa = "" if limits is None else f"; kappa {each.kappa:.2f} ({limits[0]:.2f} to {limits[1]:.2f})"
    return (
        f"{each.judge} agrees with people on {_percent(agreed.value)} of {each.n:,} texts{about} "
        f"({_percent(low)} to {_percent(high)}); one that always says the same would on "
        f"{_percent(each.always_same)}{kappa}"
    )


def label_printout(ratings: "pd.DataFrame", human: "pd.DataFrame", passes: float | None) -> Printout:
    """The agreement of the judges in a table; parameters and errors as of `label_agreement`."""
    agreements = label_agreement(ratings, human, passes)
    parts: list[Part] = [*(Strong(label_sentence(each)) for each in agreements), "", label_table(agreements)]
    parts += (
        f"  note: {flip_words(each.judge, each.metric, each.flips)}"
        for each in agreements
        if each.flips is not None
    )
    for metric in dict.fromkeys(each.metric for each in agreements):
        left_out = [each.left_out for each in agreements if each.metric == metric]
        most = max(left_out)
        if most:
            range_text = f"{min(left_out)} to {most}" if min(left_out) < most else str(most)
            parts.append(
                f"  note: {metric}: labelled texts without a verdict, or split in halves: {range_text}"
            )
    rows = [{**asdict(each), "verdict": each.verdict} for each in agreements]
    return Printout(parts, {"schema": SCHEMA, "agreement": rows})


_Rate = tuple[float | None, tuple[float, float] | None]
"""A figure with its limits, if it has any."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A judge, or one that always says the same, as the table shows it."""

    judge: str
    metric: str
    n: int
    agreement: _Rate
    kappa: _Rate
    good_pass: _Rate
    bad_fail: _Rate
    decided: str


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"


def _percent_limits(ends: tuple[float, float]) -> str:
    return f"[{100 * ends[0]:.0f}, {100 * ends[1]:.0f}]"


_RATE = Column[_Rate]("rate", item(0), _percent, ends=item(1), limits_form=_percent_limits)
_KAPPA = Column[_Rate](
    "kappa",
    item(0),
    lambda kappa: "undefined" if kappa is None else figure(kappa),
    ends=item(1),
    limits_form=in_brackets,
)
_COLUMNS: tuple[Column[_Row], ...] = (
    Column("judge", lambda row: row.judge, names=True, right=False),
    Column("metric", lambda row: row.metric, right=False),
    Column("texts", lambda row: row.n),
    replace(_RATE, heading="agreement").on(lambda row: row.agreement),
    _KAPPA.on(lambda row: row.kappa),
    replace(_RATE, heading="good ones pass").on(lambda row: row.good_pass),
    replace(_RATE, heading="bad ones fail").on(lambda row: row.bad_fail),
    Column("kappa above 0", lambda row: row.decided, right=False),
)


def label_table(agreements: list[LabelAgreement]) -> Table[_Row]:
    """A row a judge and metric; after those of each metric a judge that always says the same."""
    rows = []
    for metric in dict.fromkeys(each.metric for each in agreements):
        judges = [each for each in agreements if each.metric == metric]
        rows += [_row(each) for each in judges]
        rows.append(_always_the_same(max(judges, key=lambda each: each.n)))
    return Table("pass / fail labels of people: Cohen's kappa and both rates, 95 %", _COLUMNS, rows)


def _row(each: LabelAgreement) -> _Row:
    kappa: _Rate = (None, None)
    if each.kappa is not None and each.kappa_ci is not None:
        kappa = (each.kappa, each.kappa_ci)
    decided = {"better": "yes", "worse": "no, below", "undefined": "undefined"}.get(each.verdict)
    if decided is None:
        number = "no number of" if each.n_to_decide is None else f"{each.n_to_decide:,}"
        decided = f"{number} labels would decide"
    return _Row(
        each.judge,
        each.metric,
        each.n,
        _rate(each.agreement),
        kappa,
        _rate(each.true_positive_rate),
        _rate(each.true_negative_rate),
        decided,
    )


def _rate(share: Share | None) -> _Rate:
    return (None, None) if share is None else (share.value, share.ci)


def _always_the_same(judged: LabelAgreement) -> _Row:
    """A judge that says of each of these texts what people say of most."""
    good = judged.counts[0] + judged.counts[1]
    good_pass = 1.0 if 2 * good >= judged.n else 0.0
    return _Row(
        "always the same",
        judged.metric,
        judged.n,
        (judged.always_same, None),
        (0.0, None),
        (good_pass, None),
        (1 - good_pass, None),
        "",
    )
