"""How sure a judge is and how right at the user's mark, and what is left if a person sees texts near it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dhp.analysis.passing import PassShare, share_of
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
"""Shares of the texts that go to a person, of which each is told."""
_STRICT: Mapping[str, str | bool] = {"extra": "forbid", "allow_inf_nan": False}
_SURE = 0.9
_FEWEST_CLUSTERS = 20


@dataclass(frozen=True, slots=True)
class Certainty:
    """How sure and how right the judge is, originals and copies half and half.

    It is taken that each second text is bad, and that the damage must fail. Only kinds of damage count that
    change what a text says.
    """

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = _STRICT

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

    __pydantic_config__: ClassVar[Mapping[str, str | bool]] = _STRICT

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
    """None if the judge gives no probabilities for a metric with a mark, or no kind changes content."""
    kinds = [name for name in variants if _is_content(ratings, name)]
    each = [_likelihoods(ratings, metric, mark, scales) for metric, mark in marks.items()]
    by_metric = [likely for _, likely in each if likely is not None]
    if len(by_metric) < len(each) or not kinds:
        return None
    verdicts = passes(np.moveaxis(ratings.means, 1, 2), _row_of_marks(ratings, marks))
    likely, rows = _of_all(by_metric, verdicts), [1 + ratings.variants.index(name) for name in kinds]
    good, bad = likely[0], likely[rows].T
    figures = sureness(good, bad, verdicts[0], verdicts[rows].T, ratings.clusters)
    if figures is None:
        return None
    several = len(marks) > 1
    tails = {name: _tail(likely[row], ratings) for name, row in zip(kinds, rows, strict=True)}
    return Certainty(
        each[0][0],
        replace(figures, brier=None) if several else figures,
        () if several else tuple(diagram(good, bad)),
        {name: tail for name, tail in tails.items() if tail is not None},
        _tail(1 - good, ratings),
        several,
    )


def _of_all(by_metric: Sequence[Floats], verdicts: Floats) -> Floats:
    """Probability of passing by all metrics, shape (1 + variants, examples): that least sure of the verdict.

    It is at most that of the metric by which the text passes least likely, and at least 1 less all that the
    metrics lack of 1, whatever they have to do with each other (Fréchet 1935).
    """
    likely = np.array(by_metric)
    least = np.maximum(likely.sum(axis=0) - (len(likely) - 1), 0)
    return np.asarray(np.where(verdicts == 1, least, likely.min(axis=0)))


def _row_of_marks(ratings: "RatingsArray", marks: Mapping[str, float]) -> Floats:
    """The mark of each metric, NaN without one."""
    return np.array([marks.get(metric, np.nan) for metric in ratings.metrics])


def asking_of(
    ratings: "RatingsArray",
    variants: Sequence[str],
    marks: Mapping[str, float],
    scales: "Mapping[str, Scale]",
) -> Asking | None:
    """None with too few examples or clusters, or if no kind changes content.

    Near is what is near the mark by the metric in which a text is lowest over its mark, as a share of the
    scale; of a judge that states its probability of passing, what is near .5.
    """
    kinds = [name for name in variants if _is_content(ratings, name)]
    if not kinds:
        return None
    rows = [0, *(1 + ratings.variants.index(name) for name in kinds)]
    row = _row_of_marks(ratings, marks)
    scores = np.moveaxis(ratings.means[rows], 1, 2)  # (texts of an example, examples, metrics)
    outcomes = passes(scores, row).T
    near = _distance(ratings, rows, scores, row, marks, scales).T
    usable = ~np.isnan(outcomes[:, 0]) & ~np.isnan(outcomes[:, 1:]).all(axis=1)
    clusters = None if ratings.clusters is None else ratings.clusters[usable]
    if usable.sum() < FEWEST or (clusters is not None and len(np.unique(clusters)) < _FEWEST_CLUSTERS):
        return None
    of_all, of_passing = (
        asked_curve(
            near[usable],
            outcomes[usable],
            SHARES,
            np.random.default_rng(int.from_bytes(key_digest(ratings.digest, "asking"))),
            clusters,
            only_passing=only_passing,
        )
        for only_passing in (False, True)
    )
    return Asking(tuple(of_all), tuple(of_passing), int(usable.sum()))


def _is_content(ratings: "RatingsArray", variant: str) -> bool:
    return variant in ratings.variants and changes_content(parse_variant(variant).perturber)


def _distance(
    ratings: "RatingsArray",
    rows: Sequence[int],
    scores: Floats,
    row: Floats,
    marks: Mapping[str, float],
    scales: "Mapping[str, Scale]",
) -> Floats:
    """How far texts are from the mark, shape (texts of an example, examples)."""
    if len(marks) == 1:
        ((metric, mark),) = marks.items()
        source, likely = _likelihoods(ratings, metric, mark, scales)
        if likely is not None and source == "column" and "probability" in ratings.stated:
            return np.asarray(np.abs(likely[rows] - 0.5))
    widths = [scales[m].max - scales[m].min if m in scales else 1.0 for m in ratings.metrics]
    above = (scores - _between(scores, row)) / np.array(widths)
    known = ~np.isnan(above).all(axis=2)
    lowest = np.where(known, np.min(np.where(np.isnan(above), np.inf, above), axis=2), np.nan)
    return np.asarray(np.abs(lowest))


def _between(scores: Floats, row: Floats) -> Floats:
    """Of each mark the middle between the nearest scores on either side of it.

    Whole scores just at the mark would else be nearer to it than those just below, and texts that pass come
    first whatever the judge knows.
    """
    ends = []
    for m, mark in enumerate(row):
        known = scores[..., m][~np.isnan(scores[..., m])]
        up = known >= mark - 1e-9
        ends.append((known[up].min() + known[~up].max()) / 2 if up.any() and not up.all() else mark)
    return np.array(ends)


def _likelihoods(
    ratings: "RatingsArray", metric: str, mark: float, scales: "Mapping[str, Scale]"
) -> tuple[str, Floats | None]:
    """Where probabilities of passing come from, and those of each text, shape (1 + variants, examples)."""
    m = ratings.metrics.index(metric)
    if metric in ratings.shares and metric in scales:
        scale, shares = scales[metric], ratings.shares[metric]
        points = np.linspace(scale.min, scale.max, shares.shape[2])
        return "probabilities", shares[..., points >= mark - 1e-9].sum(axis=2)
    if "probability" in ratings.stated:
        return "column", ratings.stated["probability"][:, m]
    if CONFIDENCE in ratings.stated:
        confidence = ratings.stated[CONFIDENCE][:, m]
        verdicts = passes(ratings.means[:, m, :, None], [mark])
        return "column", np.where(verdicts == 1, confidence, 1 - confidence) + 0 * verdicts
    samples = ratings.samples.get(metric)
    if samples is None or samples.shape[1] < 2:
        return "", None
    outcomes = passes(samples[..., None], [mark])
    read = ~np.isnan(samples)
    of_text = np.where(read, outcomes, 0.0).sum(axis=1) / read.sum(axis=1)
    likely = np.full(ratings.means[:, m].shape, np.nan)
    likely[~np.isnan(ratings.means[:, m])] = of_text
    return "samples", likely


def _tail(likely: Floats, ratings: "RatingsArray") -> PassShare | None:
    """Share of texts with a probability above .9."""
    above = np.where(np.isnan(likely), np.nan, (likely > _SURE).astype(np.float64))
    return share_of(above, np.zeros(above.shape, dtype=np.bool_), ratings.clusters)
