"""The chance that a judge that did not change fails a gate.

Against an earlier run the answers of the two runs are swapped example by example, as they may be if both
are of one judge: the gate is held against each swap. So the texts stay, and only the answers vary. Without
one the examples are drawn anew, with replacement, twice: once for what is not known of the judge, and once
for the further texts that it meets. A gate decides each of these as it decides a run.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dhp.analysis.analyze import analyze_ratings
from dhp.analysis.config import AnalysisConfig
from dhp.analysis.ratings import RatingsArray
from dhp.analysis.results import Result, Results
from dhp.core.options import as_list
from dhp.core.progress import Progress, counted
from dhp.core.records import PROBES, Variant, parse_variant
from dhp.core.seeding import key_digest
from dhp.core.specs import Scale
from dhp.runs.conditions import Gate
from dhp.runs.gate import averaged_run, check_run
from dhp.runs.pairing import paired_results
from dhp.runs.reader import RunResult, RunSource
from dhp.stats.arrays import Ints, cluster_index

REPEATS = 100
"""Rounds. Chosen: the 95 % limits of a chance then lie about 10 points from it at most."""


@dataclass(frozen=True, slots=True)
class Chance:
    """How often a gate fails though the judge did not change."""

    failed: int
    """Of the repeats, how many failed."""
    repeats: int
    swapped: bool
    """Whether answers of two runs were swapped; else texts were drawn anew."""

    @property
    def ends(self) -> tuple[float, float]:
        """Clopper and Pearson's 95 % limits of the chance, for the number of repeats alone."""
        from scipy.stats import binomtest

        interval = binomtest(self.failed, self.repeats).proportion_ci()
        return float(interval.low), float(interval.high)

    def __str__(self) -> str:
        low, high = self.ends
        how = "answers swapped between the two runs" if self.swapped else "other texts like these"
        share = f"{100 * self.failed / self.repeats:.0f} % of runs ({100 * low:.0f}–{100 * high:.0f})"
        return f"a judge that did not change fails this gate in about {share}: {how}, {self.repeats} times"


def chance_of_failing(
    source: RunSource, gate: Gate, *, repeats: int = REPEATS, progress: Progress | None = None
) -> Chance:
    """The chance that a judge like that of a run fails a gate; errors as in `check_run`.

    The run, and the earlier one, must have ratings. It takes as long as that many analyses.
    """
    run = averaged_run(source, "the results")
    pairs: list[tuple[RunResult, RunResult]] = []
    if gate.against is not None:
        earlier = averaged_run(gate.against, "the earlier results")
        pairs = paired_results(run, earlier, as_list(gate.allow))

    failed = 0
    rounds = counted(progress, "holding the gate against unchanged judges", range(repeats), lambda _: "")
    for repeat in rounds:
        # The number of the round seeds its draws: a chance that is computed again is the same.
        new, old = _swapped(pairs, repeat) if pairs else (_drawn_anew(run.rated, repeat), None)
        if not check_run(new, replace(gate, against=old)).passed:
            failed += 1
    return Chance(failed, repeats, swapped=bool(pairs))


def _drawn_anew(rated: Sequence[RunResult], repeat: int) -> Results:
    """A run of the same judges on as many texts like these."""
    anew = [(each.result, _resampled(each.ratings, repeat)) for each in rated]
    return _analyzed(anew)


def _resampled(ratings: RatingsArray, repeat: int) -> RatingsArray:
    """Whole clusters of examples, drawn with replacement from such a draw."""
    index = cluster_index(ratings.clusters, len(ratings.examples))
    rng, groups = _random(ratings, repeat), int(index.max()) + 1
    # Twice: the first draw stands for the texts that a judge might have met, the second for the next ones.
    once = rng.integers(groups, size=groups)
    twice = once[rng.integers(groups, size=groups)]
    members = [np.flatnonzero(index == group) for group in twice]
    chosen = np.concatenate(members)
    # A cluster that was drawn twice is two clusters.
    sizes = [len(each) for each in members]
    clusters = np.repeat(np.arange(groups), sizes)

    # A text that was drawn twice is two examples: each gets a name of its own, in the order of the rows.
    names = [f"{number:09d}" for number in range(len(chosen))]
    return replace(
        ratings,
        examples=tuple(names),
        means=ratings.means[..., chosen],
        asked=ratings.asked[..., chosen],
        unread=ratings.unread[..., chosen],
        clusters=None if ratings.clusters is None else clusters,
        cluster_names=None,
    )


def _swapped(pairs: list[tuple[RunResult, RunResult]], repeat: int) -> tuple[Results, Results]:
    """Both runs with the answers of about half of the examples, or of their clusters, exchanged."""
    mine: list[tuple[Result, RatingsArray]] = []
    # By judge and dataset, as two results may be paired with one earlier result, which a run holds once.
    earlier: dict[tuple[str, str, str], tuple[Result, RatingsArray]] = {}
    for new, old in pairs:
        swapped_new, swapped_old = _exchanged(new.ratings, old.ratings, repeat)
        mine.append((new.result, swapped_new))
        earlier[old.result.model, old.result.protocol, old.result.dataset] = old.result, swapped_old
    # The earlier results are not analysed anew: a gate takes the ratings of that run, and no figure.
    results, ratings = zip(*earlier.values(), strict=True)
    return _analyzed(mine), Results(results, ratings)


def _exchanged(new: RatingsArray, old: RatingsArray, repeat: int) -> tuple[RatingsArray, RatingsArray]:
    """The ratings of both runs, those of examples that are drawn by a coin each in the other's place."""
    index = cluster_index(new.clusters, len(new.examples))
    heads = _random(new, repeat).integers(2, size=int(index.max()) + 1)
    rated_by_both = set(old.examples)
    names = []
    # `heads` has a coin for each cluster, `heads[index]` that of its cluster for each example.
    for example, head in zip(new.examples, heads[index].tolist(), strict=True):
        if head and example in rated_by_both:
            names.append(example)

    in_new, in_old = _cells(new, names, new, old), _cells(old, names, new, old)
    return _with(new, in_new, old, in_old), _with(old, in_old, new, in_new)


def _cells(
    ratings: RatingsArray, examples: list[str], new: RatingsArray, old: RatingsArray
) -> tuple[Ints, ...]:
    """Where these ratings hold the examples, in the variants and metrics of both runs."""
    variants = [name for name in new.variants if name in old.variants]
    metrics = [name for name in new.metrics if name in old.metrics]
    place = {example: number for number, example in enumerate(ratings.examples)}

    rows = [0]  # of the originals, before those of the variants
    rows += [1 + ratings.variants.index(name) for name in variants]
    columns = [ratings.metrics.index(name) for name in metrics]
    # The axes of these arrays are texts, metrics and examples.
    return np.ix_(rows, columns, [place[example] for example in examples])


def _with(
    mine: RatingsArray, places: tuple[Ints, ...], other: RatingsArray, other_places: tuple[Ints, ...]
) -> RatingsArray:
    """These ratings with the other's in some places."""
    changed = {}
    for name in ("means", "asked", "unread"):
        # A copy, as every round starts from the ratings as they were.
        changed[name] = getattr(mine, name).copy()
        changed[name][places] = getattr(other, name)[other_places]
    return replace(mine, **changed)


def _random(ratings: RatingsArray, repeat: int) -> np.random.Generator:
    return np.random.default_rng(int.from_bytes(key_digest(ratings.digest, "chance", str(repeat))))


def _analyzed(rated: list[tuple[Result, RatingsArray]]) -> Results:
    """The results of these ratings, each with its former result."""
    results, arrays = [], []
    for former, ratings in rated:
        results.append(_result(former, ratings))
        arrays.append(ratings)
    return Results(results, arrays)


def _result(result: Result, ratings: RatingsArray) -> Result:
    """What these ratings say instead of those of a result; a gate asks for no figure with weights."""
    known: list[Variant] = []
    for row in (*result.variants, *result.probes):
        perturber = parse_variant(row.variant).perturber
        known.append(Variant(row.variant, perturber, row.level, row.method or "", row.degree))
    perturbers = {variant.perturber for variant in known if variant.level not in PROBES}
    asked = AnalysisConfig(statistics=result.statistics, weights="uniform", floor=100 * result.floor)
    config = asked.resolve(None, perturbers, ratings.metrics)
    mark = result.pass_mark
    if mark is not None:  # as the run resolved it: the metrics with their scales and labels are not at hand
        config = replace(config, pass_mark=mark.mark, marks=mark.marks)
    scales = {metric: Scale(min=low, max=high) for metric, (low, high) in result.scales.items()}
    return analyze_ratings(
        ratings, config, known, levels=result.levels, signature=result.signed, scales=scales
    )
