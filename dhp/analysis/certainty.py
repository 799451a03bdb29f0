"""How sure a judge is and how right at the user's mark, and what is left if a person sees texts near it.

`_likelihoods` finds, for each metric with a mark, the probability with which each text passes: from
probabilities of the scores, from a column of the ratings, or from repeated samples. `certainty_of` sets these
beside the verdicts. `asking_of` orders texts by how near they lie to the mark, and says what goes wrong if
the nearest go to a person. Arrays of texts have the originals first, then the variants.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dhp.analysis.passing import PassShare, share_of
from dhp.analysis.record_values import STRICT
from dhp.content.catalog import changes_content
from dhp.core.rating_forms import CONFIDENCE
from dhp.core.records import parse_variant
from dhp.core.seeding import key_digest
from dhp.stats.arrays import Floats
from dhp.stats.asking import FEWEST as FEWEST
from dhp.stats.asking import Asked as Asked
from dhp.stats.asking import asked_curve
from dhp.stats.certainty import Bin, Sureness, diagram, sureness
from dhp.stats.pass_mark import passes

if TYPE_CHECKING:
    from dhp.analysis.ratings import RatingsArray
    from dhp.core.specs import Scale

SHARES = (0.0, 0.05, 0.1, 0.2, 0.5)
"""Shares of the texts that go to a person; a result says what each of them leaves."""
_SURE = 0.9
"""Probability above which a judge is sure; chosen."""
_FEWEST_CLUSTERS = 20
"""Clusters below which nothing is said of asking a person; chosen: the cut is found on one half of them
and used on the other."""


@dataclass(frozen=True, slots=True)
class Certainty:
    """How sure and how right the judge is, originals and copies half and half.

    It is taken that each second text is bad, and that the damage must fail. Only kinds of damage count that
    change what a text says.
    """

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

    source: str
    """Where its probabilities come from: `probabilities`, `column` or `samples`."""
    verdicts: Sureness
    """How sure and how right."""
    bins: tuple[Bin, ...]
    """Texts by their probability of passing; none with several marks."""
    sure_damaged: dict[str, PassShare]
    """Kind of damage -> share of its texts that pass with a probability above .9."""
    sure_fails: PassShare | None
    """Originals whose probability of passing is below .1."""
    at_least: bool = False
    """Whether it may be surer: several metrics have a mark, and it says nothing of how they go together."""


@dataclass(frozen=True, slots=True)
class Asking:
    """What is left if the texts nearest to the mark go to a person, who is right."""

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = STRICT

    of_all: tuple[Asked, ...]
    """Asked about any text."""
    of_passing: tuple[Asked, ...]
    """Asked only about texts that pass: all that it takes for damage to get through less."""
    n: int
    """Examples."""


def certainty_of(
    ratings: "RatingsArray",
    variants: Sequence[str],
    marks: Mapping[str, float],
    scales: "Mapping[str, Scale]",
) -> Certainty | None:
    """How sure and how right the judge is at the marks.

    None if it gives no probabilities for a metric with a mark, or if no kind changes content.
    """
    kinds = [name for name in variants if _is_content(ratings, name)]
    if not kinds:
        return None
    by_metric: list[Floats] = []
    sources: list[str] = []
    for metric, mark in marks.items():
        source, of_metric = _likelihoods(ratings, metric, mark, scales)
        if of_metric is None:
            return None
        sources.append(source)
        by_metric.append(of_metric)
    # Metrics go to the end, as `passes` takes them; verdicts are (1 + variants, examples).
    verdicts = passes(np.moveaxis(ratings.means, 1, 2), _mark_of_each(ratings, marks))
    likely = _by_all_metrics(by_metric, verdicts)
    rows = [ratings.row(name) for name in kinds]
    # Shapes (examples,) and (examples, kinds).
    originals, copies = likely[0], likely[rows].T
    figures = sureness(originals, copies, verdicts[0], verdicts[rows].T, ratings.clusters)
    if figures is None:
        return None
    sure_damaged: dict[str, PassShare] = {}
    for name, row in zip(kinds, rows, strict=True):
        tail = _sure_share(likely[row], ratings)
        if tail is not None:
            sure_damaged[name] = tail
    # Of several metrics only limits of the probability are known, and no figure of calibration follows.
    several = len(marks) > 1
    return Certainty(
        source=sources[0],
        verdicts=replace(figures, brier=None) if several else figures,
        bins=() if several else tuple(diagram(originals, copies)),
        sure_damaged=sure_damaged,
        sure_fails=_sure_share(1 - originals, ratings),
        at_least=several,
    )


def _by_all_metrics(by_metric: Sequence[Floats], verdicts: Floats) -> Floats:
    """Probability of passing by all metrics, shape (1 + variants, examples).

    It is at most that of the metric by which the text passes least likely, and at least 1 less all that the
    metrics lack of 1, whatever they have to do with each other (Fréchet 1935). Of these limits the one that
    is less sure of the verdict counts: the lower one for a text that passes, else the upper one.
    """
    likely = np.array(by_metric)
    lower = np.maximum(likely.sum(axis=0) - (len(likely) - 1), 0)
    upper = likely.min(axis=0)
    return np.asarray(np.where(verdicts == 1, lower, upper))


def _mark_of_each(ratings: "RatingsArray", marks: Mapping[str, float]) -> Floats:
    """The mark of each metric, NaN without one."""
    return np.array([marks.get(metric, np.nan) for metric in ratings.metrics])


def asking_of(
    ratings: "RatingsArray",
    variants: Sequence[str],
    marks: Mapping[str, float],
    scales: "Mapping[str, Scale]",
) -> Asking | None:
    """What is left if a person sees the texts nearest to the marks.

    None with too few examples or clusters, or if no kind changes content.

    Near is what is near the mark by the metric in which a text is lowest over its mark, as a share of the
    scale; of a judge that states its probability of passing, what is near .5.
    """
    kinds = [name for name in variants if _is_content(ratings, name)]
    if not kinds:
        return None
    # The original first, then the kinds.
    rows = [0] + [ratings.row(name) for name in kinds]
    scores = np.moveaxis(ratings.means[rows], 1, 2)  # (texts of an example, examples, metrics)
    outcomes = passes(scores, _mark_of_each(ratings, marks)).T  # (examples, texts of an example)
    # (examples, texts of an example), as `outcomes`
    near = _distance(ratings, rows, scores, marks, scales).T
    # An example needs a verdict on its original and on at least one damaged copy.
    usable = ~np.isnan(outcomes[:, 0]) & ~np.isnan(outcomes[:, 1:]).all(axis=1)
    if usable.sum() < FEWEST:
        return None
    clusters = None if ratings.clusters is None else ratings.clusters[usable]
    # Counted again, as clusters may have gone with the examples that cannot be used.
    if clusters is not None and len(np.unique(clusters)) < _FEWEST_CLUSTERS:
        return None
    curves = []
    for only_passing in (False, True):
        # The same seed for both: they differ by the question alone, not by the halves that are drawn.
        rng = np.random.default_rng(int.from_bytes(key_digest(ratings.digest, "asking")))
        curve = asked_curve(near[usable], outcomes[usable], SHARES, rng, clusters, only_passing=only_passing)
        curves.append(tuple(curve))
    return Asking(of_all=curves[0], of_passing=curves[1], n=int(usable.sum()))


def _is_content(ratings: "RatingsArray", variant: str) -> bool:
    """Whether a kind of damage was rated and changes what a text says."""
    return variant in ratings.variants and changes_content(parse_variant(variant).perturber)


def _distance(
    ratings: "RatingsArray",
    rows: Sequence[int],
    scores: Floats,
    marks: Mapping[str, float],
    scales: "Mapping[str, Scale]",
) -> Floats:
    """How far texts are from the mark, shape (texts of an example, examples).

    `rows` are the places of these texts in the ratings, `scores` their scores of the shape
    (texts of an example, examples, metrics).
    """
    if len(marks) == 1 and "probability" in ratings.stated:
        ((metric, mark),) = marks.items()
        source, likely = _likelihoods(ratings, metric, mark, scales)
        if likely is not None and source == "column":
            return np.asarray(np.abs(likely[rows] - 0.5))
    # Without a known scale a metric counts in its own points.
    widths = np.ones(len(ratings.metrics))
    for m, metric in enumerate(ratings.metrics):
        if metric in scales:
            widths[m] = scales[metric].max - scales[metric].min
    lines = _middles(scores, _mark_of_each(ratings, marks))
    above = (scores - lines) / widths
    known = ~np.isnan(above).all(axis=2)
    # Infinity is never the lowest: a metric without a mark or a score is passed over.
    lowest = np.min(np.where(np.isnan(above), np.inf, above), axis=2)
    return np.asarray(np.abs(np.where(known, lowest, np.nan)))


def _middles(scores: Floats, mark_of_each: Floats) -> Floats:
    """For each mark the middle between the nearest scores on either side of it.

    A score that is exactly the mark would otherwise be nearer to it than any score below: texts that pass
    would come first, whatever the judge knows. A mark with scores on one side only stays as it is.
    """
    middles = mark_of_each.copy()
    for m, mark in enumerate(mark_of_each):
        known = scores[..., m][~np.isnan(scores[..., m])]
        # Less a little, as the last bits of a mean may fall short of the mark; so does `passes`.
        up = known >= mark - 1e-9
        if up.any() and not up.all():
            middles[m] = (known[up].min() + known[~up].max()) / 2
    return middles


def _likelihoods(
    ratings: "RatingsArray", metric: str, mark: float, scales: "Mapping[str, Scale]"
) -> tuple[str, Floats | None]:
    """Where probabilities of passing come from, and those of each text, shape (1 + variants, examples).

    The best source that there is: what the judge states of each score, then of passing, then of its verdict,
    then the share of its samples that pass. `("", None)` without any.
    """
    m = ratings.metrics.index(metric)
    if metric in ratings.shares and metric in scales:
        scale, shares = scales[metric], ratings.shares[metric]
        # The scores that the probabilities belong to: evenly spaced over the scale.
        points = np.linspace(scale.min, scale.max, shares.shape[2])
        return "probabilities", shares[..., points >= mark - 1e-9].sum(axis=2)
    if "probability" in ratings.stated:
        return "column", ratings.stated["probability"][:, m]
    if CONFIDENCE in ratings.stated:
        confidence = ratings.stated[CONFIDENCE][:, m]
        verdicts = passes(ratings.means[:, m, :, None], [mark])
        likely = np.where(verdicts == 1, confidence, 1 - confidence)
        return "column", likely + 0 * verdicts  # NaN for a text without a verdict
    samples = ratings.samples.get(metric)
    if samples is None or samples.shape[1] < 2:
        return "", None
    outcomes = passes(samples[..., None], [mark])
    # Samples of a text may be fewer than of another: the row ends with NaN.
    read = ~np.isnan(samples)
    of_text = np.where(read, outcomes, 0.0).sum(axis=1) / read.sum(axis=1)
    means = ratings.means[:, m]
    likely = np.full(means.shape, np.nan)
    likely[~np.isnan(means)] = of_text  # `samples` has a row for each text with a score, in this order
    return "samples", likely


def _sure_share(likely: Floats, ratings: "RatingsArray") -> PassShare | None:
    """Share of the texts with a probability above .9; None without any text."""
    above = np.where(np.isnan(likely), np.nan, (likely > _SURE).astype(np.float64))
    # A text without a probability is left out, and counts neither way.
    nobody_silent = np.zeros(above.shape, dtype=np.bool_)
    return share_of(above, nobody_silent, ratings.clusters)
