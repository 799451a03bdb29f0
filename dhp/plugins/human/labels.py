"""`dhp correlate` for pass / fail labels: Cohen's kappa and both error rates of a judge.

Both tables are read as scores of 1 and 0 (`_read`), or the scores of the judge are cut at a mark. Of each
metric the majorities of raters and of answers are held against each other (`_agreement`). Then follow the
sentence and the table for people, whose last row of a metric is a judge that always says the same.
"""

import math
from collections.abc import Iterable, Sequence
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
from dhp.report.document import Column, Part, Strong, Table
from dhp.report.labels import figure, in_brackets, percent, percents_in_brackets
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
    # `1.0` is how pandas writes a 1 of a column that has gaps.
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
    ci: tuple[float, float] | None
    """95 % Wilson interval; texts of one source count as dependent. None for a share that is no estimate."""
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
    """The same share for a judge that says of every text what people say of most."""
    kappa: float | None
    """Cohen's kappa in [-1, 1]: 0 for a judge that always says the same; None if people
    always say the same, too."""
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
        low, high = self.kappa_ci
        if low > 0:
            return "better"
        return "worse" if high < 0 else "undecided"


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
    counts = _table(people, judge)
    n = counts.sum() + 4
    p = (counts + 1) / n
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    kappa = cohens_kappa(p)
    chance = 1 - float(rows @ columns)
    # Derivative of kappa by the share of each cell; kappa is a ratio, so the quotient rule gives one line.
    slope = (np.eye(2) - (1 - kappa) * (columns[:, None] + rows[None, :])) / chance
    variance = float((p * slope**2).sum() - (p * slope).sum() ** 2) / n
    of_text = slope[people, judge] - slope[people, judge].mean()
    # Texts of one source may be judged alike: the design effect is how much more their sums vary for that.
    alone = float((of_text**2).sum())
    together = float((cluster_sums(of_text, clusters) ** 2).sum())
    effect = max(1.0, together / alone) if alone > 0 else 1.0
    half = Z * math.sqrt(variance * effect)
    # The added texts draw kappa towards 0; the interval must still hold kappa as it is printed.
    plain = cohens_kappa(counts)
    return max(-1.0, min(kappa - half, plain)), min(1.0, max(kappa + half, plain))


def _table(people: Ints, judge: Ints) -> Floats:
    """Number of texts by what people say (row) and what the judge says (column): 0 for fail, 1 for pass."""
    counts = np.zeros((2, 2))
    np.add.at(counts, (people, judge), 1)
    return counts


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

    # Both tables need the same columns: what neither tells apart is one system, or one metric.
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
        chosen = list(metrics) if any_metric else shared_metrics(name, metrics, labels)
        for metric in chosen:
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
        row = int(wrong.to_numpy().argmax())  # the first one
        scores = "; scores need --passes" if column == "score" else ""
        raise InputError(
            f"{name}: row {row + 1}: {column} '{frame[column].iloc[row]}'; "
            f"allowed: pass, fail, true, false, 1, 0 or nothing{scores}"
        )
    # An empty cell is no word of the list, and becomes NaN.
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
    return label_words(ratings.get(column, ())) <= {*WORDS}


def label_words(values: "Iterable[object]") -> set[str]:
    """The different values of a column that are not empty, as `WORDS` has labels."""
    words = set()
    for value in values:
        if not is_blank(value):
            words.add(str(value).strip().lower())
    return words


def _agreement(name: str, metric: str, truth: Scores, scores: Scores, passes: float | None) -> LabelAgreement:
    items = shared_items(truth, scores, name, f"has a label of '{metric}'", "people labelled")

    # Majorities of raters and of answers. A judge whose scores are all 0 or 1 votes; others have a mean.
    answers = scores.at(*items)
    votes = bool(np.isin(answers[~np.isnan(answers)], (0, 1)).all())
    if votes and passes is not None:  # a mean of 2/3 is a majority, and would miss a mark of 1
        answers = np.where(np.isnan(answers), np.nan, answers >= passes)
    labelled, judged = mean_over(truth.at(*items)), mean_over(answers)
    split = (labelled == 0.5) | (votes & (judged == 0.5))  # a graded score of .5 is a score like others
    both = ~np.isnan(labelled) & ~np.isnan(judged) & ~split  # shape (sources, systems)
    if not both.any():
        raise InputError(f"human: no text of judge '{name}' has both a label of '{metric}' and a verdict")
    # Of all labelled texts, also those that this judge has not seen.
    left_out = int((~np.isnan(mean_over(truth.samples))).sum()) - int(both.sum())

    # From here on a place is a text: 1 if it passes, 0 if it fails.
    people = (labelled[both] > 0.5).astype(np.intp)
    passed = judged[both] > 0.5 if votes or passes is None else judged[both] >= passes
    judge = passed.astype(np.intp)
    clusters = np.unique(np.nonzero(both)[0], return_inverse=True)[1]  # texts of one source

    counts = _table(people, judge)
    kappa = cohens_kappa(counts)
    ci = None if math.isnan(kappa) else kappa_interval(people, judge, clusters)
    needed = None
    if ci is not None and ci[0] <= 0 <= ci[1]:
        needed = examples_to_separate(len(people), kappa, *ci, 0.0)

    (bad_fail, bad_pass), (good_fail, good_pass) = counts.astype(int).tolist()
    return LabelAgreement(
        judge=name,
        metric=metric,
        n=len(people),
        counts=(good_pass, good_fail, bad_pass, bad_fail),
        left_out=left_out,
        agreement=_share(people == judge, clusters),
        always_same=max(people.mean(), 1 - people.mean()).item(),
        kappa=None if ci is None else kappa,
        kappa_ci=ci,
        true_positive_rate=_share_among(people == 1, judge == 1, clusters),
        true_negative_rate=_share_among(people == 0, judge == 0, clusters),
        # Labels are 1 and 0: any mark between them tells them apart.
        flips=_flips(scores, 0.5 if passes is None else passes),
        n_to_decide=needed,
    )


def _flips(scores: Scores, passes: float) -> FlipRate | None:
    """The flip rate over all texts that the judge saw."""
    samples, sources, systems = scores.samples.shape
    # Shape (texts, samples), a text for each system of a source; those of a source are one cluster.
    of_texts = scores.samples.reshape(samples, sources * systems).T
    return flip_rate(of_texts, passes, np.repeat(np.arange(sources), systems))


def flip_words(judge: str, metric: str, flips: FlipRate) -> str:
    """A line about how often a judge changes its verdicts."""
    share = f"{percent(flips.value)} {percents_in_brackets(flips.ci)}"
    return f"{judge}, {metric}: asked again, the verdict on a text changes in {share} ({flips.n:,} texts)"


def _share_among(texts: Bools, right: Bools, clusters: Ints) -> Share | None:
    """The share of these texts that are `right`; None without a text."""
    return _share(np.where(texts, right, np.nan), clusters) if texts.any() else None


def _share(right: Bools | Floats, clusters: Ints) -> Share:
    """The share of 1 among 1, 0 and NaN."""
    mean = mean_influences(right.astype(np.float64))
    low, high = map(float, wilson_interval(mean, clusters))
    limits = (0.0, 1.0) if math.isnan(low) else (low, high)  # of a single text nothing is known
    return Share(float(mean.value), limits, int(mean.defined.sum()))


def label_sentence(each: LabelAgreement) -> str:
    """How far a judge agrees with people, in a sentence."""
    agreed, kappa_limits = each.agreement, each.kappa_ci
    limits = "" if agreed.ci is None else f" ({percent(agreed.ci[0])} to {percent(agreed.ci[1])})"
    about = "" if each.metric == LABEL else f" by {each.metric}"
    kappa = ""
    if kappa_limits is not None:
        kappa = f"; kappa {each.kappa:.2f} ({kappa_limits[0]:.2f} to {kappa_limits[1]:.2f})"
    return (
        f"{each.judge} agrees with people on {percent(agreed.value)} of {each.n:,} texts{about}{limits}; "
        f"one that always says the same would on {percent(each.always_same)}{kappa}"
    )


def label_printout(ratings: "pd.DataFrame", human: "pd.DataFrame", passes: float | None) -> Printout:
    """The agreement of the judges in a table; parameters and errors are those of `label_agreement`."""
    agreements = label_agreement(ratings, human, passes)
    parts: list[Part] = [Strong(label_sentence(each)) for each in agreements]
    parts += ["", label_table(agreements)]
    for each in agreements:
        if each.flips is not None:
            parts.append(f"  note: {flip_words(each.judge, each.metric, each.flips)}")
    # How many texts are left out is much the same for all judges, so it is said once a metric.
    for metric, judges in _by_metric(agreements).items():
        left_out = [each.left_out for each in judges]
        if max(left_out):
            number = lowest_to_highest(left_out)
            parts.append(f"  note: {metric}: labelled texts without a verdict, or split in halves: {number}")
    rows = []
    for each in agreements:
        rows.append({**asdict(each), "verdict": each.verdict})
    return Printout(parts, {"schema": SCHEMA, "agreement": rows})


def _by_metric(agreements: Sequence[LabelAgreement]) -> dict[str, list[LabelAgreement]]:
    """Metric -> its judges."""
    by_metric: dict[str, list[LabelAgreement]] = {}
    for each in agreements:
        by_metric.setdefault(each.metric, []).append(each)
    return by_metric


def lowest_to_highest(numbers: Sequence[int]) -> str:
    """A number that may differ from judge to judge or metric to metric: `5`, or `3 to 5`."""
    lowest, highest = min(numbers), max(numbers)
    return f"{lowest} to {highest}" if lowest < highest else str(highest)


def _decided(each: LabelAgreement) -> str:
    if each.kappa is None:
        return "undefined"
    if each.kappa_ci is None:  # of a judge that always says the same kappa is 0, and nothing is to be decided
        return ""
    if each.verdict == "undecided":
        number = "no number of" if each.n_to_decide is None else f"{each.n_to_decide:,}"
        return f"{number} labels would decide"
    return "yes" if each.verdict == "better" else "no, below"


_SHARE = Column["Share | None"](
    "share",
    lambda share: share and share.value,
    percent,
    ends=lambda share: None if share is None else share.ci,
    limits_form=percents_in_brackets,
)
_COLUMNS: tuple[Column[LabelAgreement], ...] = (
    Column("judge", lambda each: each.judge, names=True, right=False),
    Column("metric", lambda each: each.metric, right=False),
    Column("texts", lambda each: each.n),
    replace(_SHARE, heading="agreement").on(lambda each: each.agreement),
    Column(
        "kappa",
        lambda each: each.kappa,
        lambda kappa: "undefined" if kappa is None else figure(kappa),
        ends=lambda each: each.kappa_ci,
        limits_form=in_brackets,
    ),
    replace(_SHARE, heading="good ones pass").on(lambda each: each.true_positive_rate),
    replace(_SHARE, heading="bad ones fail").on(lambda each: each.true_negative_rate),
    Column("kappa above 0", _decided, right=False),
)


def label_table(agreements: list[LabelAgreement]) -> Table[LabelAgreement]:
    """A row a judge and metric; after those of each metric a judge that always says the same."""
    rows = []
    for judges in _by_metric(agreements).values():
        # Judges may have scored other texts each: the row below them is about the most.
        rows += [*judges, _always_the_same(max(judges, key=lambda each: each.n))]
    return Table("pass / fail labels of people: Cohen's kappa and both rates, 95 %", _COLUMNS, rows)


def _always_the_same(judged: LabelAgreement) -> LabelAgreement:
    """A judge that says of each of these texts what people say of most."""
    good = judged.counts[0] + judged.counts[1]
    says_pass = 1.0 if 2 * good >= judged.n else 0.0
    return replace(
        judged,
        judge="always the same",
        agreement=Share(judged.always_same, None, judged.n),
        kappa=0.0,
        kappa_ci=None,
        true_positive_rate=Share(says_pass, None, good),
        true_negative_rate=Share(1 - says_pass, None, judged.n - good),
    )
