"""The chance that a judge that did not change fails a gate.

Against an earlier run the answers of the two runs are swapped example by example, as they may be if both
are of one judge: the gate is held against each swap. So the texts stay, and only the answers vary. Without
one the examples are drawn anew, with replacement, twice: once for what is not known of the judge, and once
for the further texts that it meets. A gate decides each of these as it decides a run.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from dhp.analysis.analyze import analyze_ratings
from dhp.analysis.config import AnalysisConfig
from dhp.analysis.ratings import RatingsArray
from dhp.analysis.results import Result, Results
from dhp.core.options import as_list
from dhp.core.progress import Progress
from dhp.core.records import PROBES, Variant, parse_variant
from dhp.core.seeding import key_digest
from dhp.runs.conditions import Gate
from dhp.runs.gate import averaged_run, check_run
from dhp.runs.pairing import paired_results
from dhp.runs.reader import RunResult, RunSource
from dhp.stats.arrays import Ints, cluster_index

REPEATS = 100


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
    failed = 0
    rounds: Iterator[tuple[Results, Results | None]]
    if gate.against is None:
        rounds = (_drawn_anew(run.rated, repeat) for repeat in range(repeats))
    else:
        earlier = averaged_run(gate.against, "the earlier results")
        pairs = paired_results(run, earlier, as_list(gate.allow))
        rounds = (_swapped(pairs, repeat) for repeat in range(repeats))
    for done, (new, old) in enumerate(rounds, 1):
        failed += not check_run(new, replace(gate, against=old)).passed
        if progress:
            progress("holding the gate against unchanged judges", done, repeats, "")
    return Chance(failed, repeats, gate.against is not None)


def _drawn_anew(rated: tuple[RunResult, ...], repeat: int) -> tuple[Results, None]:
    """A run of the same judges on as many texts like these."""
    return _analyzed([(each.result, _resampled(each.ratings, repeat)) for each in rated]), None


def _resampled(ratings: RatingsArray, repeat: int) -> RatingsArray:
    """Whole clusters of examples, drawn with replacement from such a draw."""
    index = cluster_index(ratings.clusters, len(ratings.examples))
    rng, groups = _random(ratings, repeat), int(index.max()) + 1
    drawn = rng.integers(groups, size=groups)[rng.integers(groups, size=groups)]
    members = [np.flatnonzero(index == group) for group in drawn]
    chosen = np.concatenate(members)
    clusters = np.repeat(np.arange(groups), [len(each) for each in members])
    return replace(
        ratings,
        examples=tuple(f"{number:09d}" for number in range(len(chosen))),
        means=ratings.means[..., chosen],
        asked=ratings.asked[..., chosen],
        unread=ratings.unread[..., chosen],
        clusters=None if ratings.clusters is None else clusters,
        cluster_names=None,
    )


def _swapped(pairs: list[tuple[RunResult, RunResult]], repeat: int) -> tuple[Results, Results]:
    """Both runs with the answers of about half of the examples, or of their clusters, exchanged."""
    both = [(new, old, *_exchanged(new.ratings, old.ratings, repeat)) for new, old in pairs]
    earlier = {(old.result.model, old.result.protocol, old.result.dataset): (old, x) for _, old, _, x in both}
    return (
        _analyzed([(new.result, ratings) for new, _, ratings, _ in both]),
        Results([old.result for old, _ in earlier.values()], [x for _, x in earlier.values()]),
    )


def _exchanged(new: RatingsArray, old: RatingsArray, repeat: int) -> tuple[RatingsArray, RatingsArray]:
    index = cluster_index(new.clusters, len(new.examples))
    chosen = _random(new, repeat).integers(2, size=int(index.max()) + 1)[index] == 1
    here, swapped_old = [e for e, swap in zip(new.examples, chosen, strict=True) if swap], set(old.examples)
    names = [example for example in here if example in swapped_old]
    cells = [_cells(ratings, names, new, old) for ratings in (new, old)]
    return _with(new, cells[0], old, cells[1]), _with(old, cells[1], new, cells[0])


def _cells(
    ratings: RatingsArray, examples: list[str], new: RatingsArray, old: RatingsArray
) -> tuple[Ints, ...]:
    """Where these ratings hold the examples, in the variants and metrics of both runs."""
    place = {example: number for number, example in enumerate(ratings.examples)}
    rows = [0, *(1 + ratings.variants.index(name) for name in new.variants if name in old.variants)]
    metrics = [ratings.metrics.index(name) for name in new.metrics if name in old.metrics]
    return np.ix_(rows, metrics, [place[example] for example in examples])


def _with(
    mine: RatingsArray, places: tuple[Ints, ...], other: RatingsArray, other_places: tuple[Ints, ...]
) -> RatingsArray:
    copies = {name: getattr(mine, name).copy() for name in ("means", "asked", "unread")}
    for name, copy in copies.items():
        copy[places] = getattr(other, name)[other_places]
    return replace(mine, **copies)


def _random(ratings: RatingsArray, repeat: int) -> np.random.Generator:
    return np.random.default_rng(int.from_bytes(key_digest(ratings.digest, "chance", str(repeat))))


def _analyzed(rated: list[tuple[Result, RatingsArray]]) -> Results:
    results = [_result(result, ratings) for result, ratings in rated]
    return Results(results, [ratings for _, ratings in rated])


def _result(result: Result, ratings: RatingsArray) -> Result:
    """What these ratings say instead of those of a result; a gate asks for no figure with weights."""
    rows = (*result.variants, *result.probes)
    known = [
        Variant(row.variant, parse_variant(row.variant).perturber, row.level, row.method or "", row.degree)
        for row in rows
    ]
    perturbers = {variant.perturber for variant in known if variant.level not in PROBES}
    asked = AnalysisConfig(statistics=result.statistics, weights="uniform", floor=100 * result.floor)
    config = asked.resolve(None, perturbers, ratings.metrics)
    return analyze_ratings(ratings, config, known, levels=result.levels, signature=result.signed)
