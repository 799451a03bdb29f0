"""What reviewers found: how much damage is really worse, and how far they agree."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from dhp.perturb.sets import ReviewedKind, SetReview
from dhp.plugins.review.pairs import Key, Pair, ReviewableSet
from dhp.plugins.review.reviews import Decision, Review, Worse
from dhp.stats.agreement import krippendorff_alpha
from dhp.stats.arrays import Floats
from dhp.stats.influences import Influences, wilson_interval


def summary(reviewable: ReviewableSet, reviews: Sequence[Review]) -> SetReview:
    """The figures of a set's reviews, as its card holds them; texts without a decision do not count."""
    settled = list(decisions(reviews).values())
    return SetReview(
        of=reviewable.hash,
        texts=len(reviewable.pairs),
        reviewers={review.reviewer: len(review.texts) for review in reviews},
        rejected=settled.count("reject"),
        by_hand=settled.count("edit"),
        alpha=agreement(reviewable, reviews),
        kinds=list(_kinds(reviewable, reviews)),
    )


def decisions(reviews: Sequence[Review]) -> dict[Key, Decision]:
    """What is done with each reviewed text: one rejection rejects it, else one edit edits it."""
    said: dict[Key, set[Decision]] = {}
    for review in reviews:
        for key, text in review.texts.items():
            said.setdefault(key, set()).add(text.decision)
    ranked: tuple[Decision, ...] = ("reject", "edit", "accept")
    return {key: next(each for each in ranked if each in all_said) for key, all_said in said.items()}


def agreement(reviewable: ReviewableSet, reviews: Sequence[Review]) -> float | None:
    """Krippendorff's alpha, nominal, of the side that is worse: left, right or neither.

    Sides are drawn at random, so that alpha stays meaningful where nearly all damage is seen.
    """
    table = np.full((len(reviews), len(reviewable.pairs)), np.nan)
    for row, review in zip(table, reviews, strict=True):
        for column, (key, pair) in enumerate(reviewable.pairs.items()):
            if text := review.texts.get(key):
                row[column] = _side(text.worse, pair)
    return krippendorff_alpha(table, nominal=True)


def _side(worse: Worse, pair: Pair) -> int:
    """-1 for left, 1 for right, 0 for neither."""
    if worse == "same":
        return 0
    return -1 if (worse == "degraded") == pair.degraded_is_left else 1


def _kinds(reviewable: ReviewableSet, reviews: Sequence[Review]) -> Iterator[ReviewedKind]:
    shares: dict[tuple[str, str], list[Mapping[Worse, float]]] = {}
    for key in reviewable.pairs:
        if said := [review.texts[key].worse for review in reviews if key in review.texts]:
            answers: tuple[Worse, ...] = ("degraded", "same", "original")
            shares.setdefault(key[:2], []).append({each: said.count(each) / len(said) for each in answers})
    for part in reviewable.parts.values():
        for variant in part.variants:
            if found := shares.get((part.dataset, variant.name)):
                yield _kind(part.dataset, variant.name, found)


def _kind(dataset: str, variant: str, shares: Sequence[Mapping[Worse, float]]) -> ReviewedKind:
    worse = np.array([share["degraded"] for share in shares])
    low, high = share_interval(worse)
    return ReviewedKind(
        dataset=dataset,
        variant=variant,
        texts=len(shares),
        worse=float(worse.mean()),
        low=low,
        high=high,
        same=float(np.mean([share["same"] for share in shares])),
        better=float(np.mean([share["original"] for share in shares])),
    )


def share_interval(values: Floats) -> tuple[float | None, float | None]:
    """Wilson's 95 % interval of the mean of texts' shares; None with fewer than two texts."""
    n = len(values)
    mean = values.mean()
    there = np.ones((n, 1), dtype=bool)
    influences = Influences(np.array([mean]), ((values - mean) / n)[:, None], there, np.ones(1))
    low, high = wilson_interval(influences)
    return (None, None) if np.isnan(low[0]) else (float(low[0]), float(high[0]))
