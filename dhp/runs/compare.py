"""Comparison of judges on the same examples.

`compare` opens the runs and sorts their results by dataset; `compare_rated` compares the judges of each.
These must be alike in all but the judge (`dhp.runs.alike`), and only what all of them rated counts. The
statistics, label swaps example by example, are in `dhp.stats.compare`. If protocols differ, the names of
judges say so. Differences are those of the second run less the first.
"""

import logging
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from itertools import count, tee
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from dhp.analysis.results import Result, VariantResult
from dhp.analysis.styles import SharedStyles, shared_styles
from dhp.core.checks import check_number
from dhp.core.errors import InputError, unique
from dhp.core.options import as_list, near_keywords
from dhp.core.plugins import load_target
from dhp.core.progress import Progress, counted, numbered, progress_of
from dhp.core.seeding import key_digest
from dhp.core.signature import protocol_name
from dhp.runs.alike import check_alike, check_allowed, differ_in_size_alone, differences, rated_by_dataset
from dhp.runs.at_mark import DAMAGED_PASS, GOOD_FAIL, marked_shares
from dhp.runs.reader import Run, RunResult, RunSource, open_run, run_folders
from dhp.stats.arrays import Ints
from dhp.stats.compare import (
    QUANTITIES,
    SWAPS_PER_PAIR,
    Comparison,
    JudgeScores,
    compare_shares,
    compare_variants,
    in_common,
)
from dhp.stats.compare import Pair as Pair  # a part of `DatasetComparison`
from dhp.stats.compare import compare as compare_scores
from dhp.stats.defaults import RESAMPLES
from dhp.stats.swap_detection import detection_pairs

if TYPE_CHECKING:
    import pandas as pd


_SHOWN = 10
"""Judges in a `repr`. Chosen."""
_FEWER = "dataset '%s': compared by the %d examples that all runs have"


@dataclass(frozen=True, slots=True)
class DatasetComparison:
    """The judges of one dataset."""

    dataset: str
    """Name of the data."""
    n: int
    """Examples that all judges rated."""
    judges: tuple[str, ...]
    """Model, with the protocol if it differs."""
    names: tuple[str, ...]
    """What tells the judges apart, in short: the name of the prompt if the model is the same."""
    damage: tuple[tuple[VariantResult, ...], ...]
    """Result of each variant by each judge in its own run, shape (V, K)."""
    false_alarms: tuple[tuple[str, ...], ...]
    """The controls that are a false alarm, of each judge."""
    d_avg: tuple[float | None, ...]
    """D_avg of each judge in its own run. It grows with the number of examples, so it has no p-value."""
    d_min: tuple[float | None, ...]
    """The lowest D of each judge in its own run."""
    scores: dict[str, Comparison]
    """`detection`, `auroc`, `standardised_drop` -> the comparison by it; if every judge has a pass mark also
    `damaged_pass` and `good_fail`, shares of texts of which less is better."""
    styles: SharedStyles
    """How far the judges agree with each other, before and after damage."""
    marks: tuple[str, ...]
    """The pass mark of each judge as users write it; none if `scores` hold no shares at a mark."""
    by_variant: tuple[tuple[Pair, ...], ...] = ()
    """Comparison of every pair of judges by detection of each variant, shape (V, K (K - 1) / 2)."""

    @property
    def apart(self) -> dict[str, Pair]:
        """Variant -> the difference of two judges by detection of it; empty for more."""
        apart = {}
        # Not strict: without comparisons by variant `by_variant` is empty.
        for rows, pairs in zip(self.damage, self.by_variant, strict=False):
            if len(pairs) == 1:
                apart[rows[0].variant] = pairs[0]
        return apart

    def __repr__(self) -> str:
        # By the first quantity, which is detection unless others alone were asked for.
        by = next(iter(self.scores), "")
        points = self.scores[by].point.tolist() if self.scores else []
        judges = []
        for name, point in list(zip(self.judges, points, strict=False))[:_SHOWN]:
            judges.append(f"{name} {point:.2f}")
        if len(points) > _SHOWN:
            judges.append(f"and {len(points) - _SHOWN} more")
        return f"DatasetComparison({self.dataset}, n = {self.n}, {by}: {', '.join(judges)})"

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values; undefined figures are None."""
        damage = []
        for place, rows in enumerate(self.damage):
            pairs = self.by_variant[place] if self.by_variant else ()
            damage.append(
                {
                    "variant": rows[0].variant,
                    "level": rows[0].level,
                    "detection": [row.detection for row in rows],
                    "verdict": [row.verdict for row in rows],
                    "differences": [*map(_plain, pairs)],
                }
            )
        return {
            "dataset": self.dataset,
            "n": self.n,
            "judges": list(self.judges),
            "names": list(self.names),
            "d_avg": list(self.d_avg),
            "d_min": list(self.d_min),
            "damage": damage,
            "false_alarms": list(self.false_alarms),
            "marks": list(self.marks),
            "scores": _plain(self.scores),
            "styles": self.styles.to_json(),
        }


class Comparisons(Sequence[DatasetComparison]):
    """Comparisons of judges, one for each dataset."""

    def __init__(
        self,
        comparisons: Sequence[DatasetComparison],
        rated: Mapping[str, Sequence[RunResult]],
        runs: Sequence[Run],
    ) -> None:
        self._found = tuple(comparisons)
        self.rated = rated
        """Dataset -> the results that were compared."""
        self.runs = tuple(runs)
        """The runs that they are from."""

    @overload
    def __getitem__(self, index: int) -> DatasetComparison: ...
    @overload
    def __getitem__(self, index: slice) -> "Comparisons": ...
    def __getitem__(self, index: int | slice) -> "DatasetComparison | Comparisons":
        if isinstance(index, slice):
            return Comparisons(self._found[index], self.rated, self.runs)
        return self._found[index]

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return "\n".join([*map(repr, self), self.sentence])

    def _repr_html_(self) -> str:
        return str(_as_shown("comparisons_html", self))

    @property
    def sentence(self) -> str:
        """What changed from the first of two judges to the second; of several which detects most."""
        return str(load_target("dhp.report.compared:comparison_sentence")(self))

    def to_frame(self) -> "pd.DataFrame":
        """One row a (dataset, kind of damage, judge), with its difference from the first judge.

        `difference` is the detection of the judge less that of the first, in [-1, 1], with its 95 % limits
        `difference_low` and `difference_high` and `p_adjusted`, corrected over all kinds and pairs.
        """
        frame: pd.DataFrame = _as_shown("comparisons_frame", self)
        return frame


def _as_shown(form: str, of: object) -> Any:
    """What a function of `dhp.report.notebook` makes of a comparison.

    It is loaded by name, as the report imports this package, and not the reverse.
    """
    return load_target(f"dhp.report.notebook:{form}")(of)


@near_keywords
def compare(
    *runs: RunSource,
    allow: str | Collection[str] = (),
    resamples: int = RESAMPLES,
    progress: Progress | bool = True,
) -> Comparisons:
    """Compare judges, dataset by dataset, by swapping labels example by example; as `dhp compare`.

    Parameters
    ----------
    *runs
        Folders of finished runs, or that hold some, or results of `dhp.run` and `dhp.analyze`; each may hold
        several models and datasets.
    allow
        Parts of the signature that may differ: `protocol`, `metrics`.
    resamples
        Random swaps, at least 1; 40 for each pair of judges are taken if that is more, as the adjusted
        p-values of many pairs could not fall below 0.05 with fewer.
    progress
        True shows it on terminals and in notebooks; a function is called as `f(what, done, total, cost)`.

    Raises
    ------
    InputError
        For a folder that holds no run, a duplicate judge, fewer than two judges on every dataset (on
        some: these are left out with a warning), runs whose signatures differ in what must agree (names what
        differs), runs with doses or that did not rate all texts, and a judge that is `unpaired`.
    """
    allowed = as_list(allow)
    check_allowed(allowed)
    sources: list[RunSource] = []
    for run in runs:  # a folder may hold the folders of several runs
        sources += run_folders([run]) if isinstance(run, str | Path) else [run]
    opened = [open_run(run, f"results {number}") for number, run in enumerate(sources, 1)]
    with progress_of(progress) as show:
        by_dataset = rated_by_dataset(counted(show, "reading runs", opened, attrgetter("name")))
        comparisons = compare_rated(by_dataset, allow=allowed, resamples=resamples, progress=show)
    return Comparisons(comparisons, by_dataset, opened)


def compare_rated(
    rated: Mapping[str, Sequence[RunResult]],
    *,
    allow: Collection[str] = (),
    resamples: int = RESAMPLES,
    quantities: Collection[str] = QUANTITIES,
    progress: Progress | None = None,
) -> list[DatasetComparison]:
    """Compare judges by dataset -> their results; else as `compare`."""
    check_allowed(allow)
    check_number("resamples", resamples, int, ge=1)
    by_dataset = dict(rated)
    alone = [dataset for dataset, entries in by_dataset.items() if len(entries) < 2]
    if len(alone) < len(by_dataset):  # else none is left out, and `_judges` refuses the first
        for dataset in alone:
            del by_dataset[dataset]
            logging.getLogger("dhp").warning("dataset '%s' has one judge only and is left out", dataset)
    comparisons = []
    for place, (dataset, entries) in enumerate(by_dataset.items(), 1):
        judges = _judges(entries, allow)
        lack = unpaired(entries)
        if lack:
            judge, variant, metric = lack
            raise InputError(
                f"dataset '{dataset}': judge '{judges[judge]}' has no pair of scores in common with the "
                f"others for metric '{metric}' of variant '{variant}'; allowed: judges with scores in every "
                "test that another has"
            )
        show = numbered(progress, place, len(by_dataset))
        comparisons.append(_compared(entries, judges, resamples, quantities, show, by_variant=True))
    return comparisons


def compare_results(
    entries: Sequence[RunResult],
    allow: Collection[str] = (),
    progress: Progress | None = None,
) -> DatasetComparison:
    """Compare the judges of one dataset by detection; else as `compare`.

    A test in which a judge is `unpaired` is left out for all.
    """
    judges = _judges(entries, allow)
    return _compared(entries, judges, RESAMPLES, ("detection",), progress, by_variant=False)


def unpaired(entries: Sequence[RunResult]) -> tuple[int, str, str] | None:
    """The first test in which some judge has a pair of scores, but no pair is common to all judges.

    Returns the place of the judge with the fewest pairs (mostly 0), the variant and the metric; None if there
    is no such test. The signatures must agree, but for the protocol.
    """
    variants = [row.variant for row in entries[0].result.variants]
    scores, _ = judge_scores(entries, variants)
    # Shape (judges, examples, variants, metrics); the axes of what follows are those that are left.
    has_pair = ~np.isnan(np.stack([judge.differences for judge in scores]))
    pairs = has_pair.sum(axis=1)
    some_has_one = pairs.any(axis=0)
    # One example is enough, but all judges must have a pair of it.
    all_share_one = has_pair.all(axis=0).any(axis=0)
    lost = np.argwhere(some_has_one & ~all_share_one)
    if not lost.size:
        return None
    v, m = lost[0]
    return int(pairs[:, v, m].argmin()), variants[v], entries[0].ratings.metrics[m]


def _judges(entries: Sequence[RunResult], allow: Collection[str]) -> tuple[str, ...]:
    """The names of judges that can be compared."""
    dataset = entries[0].result.dataset
    if len(entries) < 2:
        raise InputError(f"{entries[0].place}: dataset '{dataset}' has one judge only; must have two or more")
    first, *others = entries
    for other in others:
        differing = differences(first.result, other.result, allow)
        # Reading the texts of two runs is slow: only where sizes differ may it help.
        if "n" not in differing or not differ_in_size_alone(first, other, differing):
            check_alike(first, other, differing, allow)
    for entry in entries:
        if entry.result.curves:
            raise InputError(
                f"{entry.place}: a run with `doses` compares with no other; allowed: runs without it"
            )

    results = [entry.result for entry in entries]
    names = [result.model for result in results]
    # Names of judges have the protocol only if it tells them apart.
    if any(result.protocol != results[0].protocol for result in results):
        names = [f"{result.model} ({result.protocol})" for result in results]
    unique("judge", names, f"dataset '{dataset}'")
    return tuple(names)


def _compared(
    entries: Sequence[RunResult],
    judges: tuple[str, ...],
    resamples: int,
    quantities: Collection[str],
    progress: Progress | None,
    *,
    by_variant: bool,
) -> DatasetComparison:
    """The comparison of judges that compare, by these names; that of each variant too if `by_variant`."""
    results = [entry.result for entry in entries]
    ratings = [entry.ratings for entry in entries]
    dataset, pairs = results[0].dataset, math.comb(len(entries), 2)
    done, total = count(1), pairs * len(quantities)

    def on_pair() -> None:
        if progress:
            progress(f"comparing judges on {dataset}", next(done), total, "")

    levels = {row.variant: row.level for row in results[0].variants}
    variants = list(levels)
    scores, clusters = judge_scores(entries, variants)
    n = len(scores[0].original)
    if any(len(each.examples) != len(ratings[0].examples) for each in ratings):
        logging.getLogger("dhp").warning(_FEWER, dataset, n)

    digests = [each.digest for each in ratings]
    common = [judge.differences for judge in in_common(scores)]
    # The comparison of all kinds and that of each take the same detections: they are computed once.
    detected, again = tee(detection_pairs(common, list(levels.values()), clusters))
    comparisons = compare_scores(
        scores,
        list(levels.values()),
        _random(*digests),
        clusters=clusters,
        pairs=detected,
        quantities=quantities,
        resamples=max(resamples, SWAPS_PER_PAIR * pairs),
        on_pair=on_pair,
    )
    marked = _at_marks(entries, levels, _random("marks", *digests), clusters, resamples)
    of_variants: Sequence[tuple[Pair, ...]] = ()
    if by_variant:
        rng = _random("variants", *digests)
        of_variants = compare_variants(scores, rng, clusters=clusters, resamples=resamples, pairs=again)

    return DatasetComparison(
        dataset=dataset,
        n=n,
        judges=judges,
        names=_short_names(results, judges),
        damage=_damage(results, variants),
        false_alarms=tuple(_false_alarms(result) for result in results),
        d_avg=tuple(result.d_avg for result in results),
        d_min=tuple(result.d_min for result in results),
        scores=comparisons | marked,
        styles=shared_styles(ratings, variants),
        marks=_marks(results) if marked else (),
        by_variant=tuple(of_variants),
    )


def _marks(results: Sequence[Result]) -> tuple[str, ...]:
    """The pass marks as users write them."""
    return tuple(result.pass_mark.mark for result in results if result.pass_mark)


def _false_alarms(result: Result) -> tuple[str, ...]:
    return tuple(row.variant for row in result.alarms)


def _damage(results: Sequence[Result], variants: Sequence[str]) -> tuple[tuple[VariantResult, ...], ...]:
    """The result of each variant by each judge, shape (V, K)."""
    by_judge = []
    for result in results:
        rows = {row.variant: row for row in result.variants}
        by_judge.append([rows[variant] for variant in variants])
    # From a row for each judge to a row for each variant.
    return tuple(zip(*by_judge, strict=True))


def _at_marks(
    entries: Sequence[RunResult],
    levels: Mapping[str, str],
    rng: np.random.Generator,
    clusters: Ints | None,
    resamples: int,
) -> dict[str, Comparison]:
    """The comparisons by what passes and what fails at the marks of the judges.

    Empty if one has no mark, or if no text of a side was answered by all.
    """
    shares = marked_shares(entries, levels)
    if not shares:
        return {}
    # From a pair for each judge to two lists with a share of each judge.
    passing, failing = zip(*shares, strict=True)
    compared = {}
    for name, of_judges in ((DAMAGED_PASS, passing), (GOOD_FAIL, failing)):
        compared[name] = compare_shares(of_judges, rng, clusters=clusters, resamples=resamples)
        if np.isnan(compared[name].point).any():
            return {}
    return compared


def _short_names(results: Sequence[Result], judges: tuple[str, ...]) -> tuple[str, ...]:
    """The names of the protocols of one model, or else of model and protocol, without hashes.

    The names of the judges if that does not tell them apart.
    """
    models = [result.model for result in results]
    protocols = [protocol_name(result.protocol) for result in results]
    if len({*models}) == 1 and all(result.asked for result in results):
        short = protocols
    elif len({*protocols}) > 1:
        short = []
        for model, protocol in zip(models, protocols, strict=True):
            short.append(f"{model} ({protocol})")
    else:
        short = models
    return tuple(short) if len({*short}) == len(short) else judges


def _random(*key: str) -> np.random.Generator:
    # Seeded by the ratings, with a word for each use: the same runs give the same figures, whatever else is
    # computed.
    return np.random.default_rng(int.from_bytes(key_digest(*key)))


def judge_scores(
    entries: Sequence[RunResult], variants: Sequence[str]
) -> tuple[list[JudgeScores], Ints | None]:
    """What judges said of the examples that all of them rated, by name, and the clusters of these.

    Raises `InputError` for judges without an example in common.
    """
    metrics = entries[0].ratings.metrics
    rated = [set(entry.ratings.examples) for entry in entries]
    common = sorted(set.intersection(*rated))
    if not common:
        raise InputError(
            f"dataset '{entries[0].result.dataset}': {entries[0].place} and {entries[1].place} have no "
            "example in common; judges must have rated the same examples"
        )

    scores = []
    for entry in entries:
        ratings = entry.ratings
        # Examples are sorted by name in all arrays: the rows that are left are the same examples in each.
        rows = np.isin(ratings.examples, common)
        # Two runs may have the same metrics in another order.
        original, degraded = ratings.score_tables(variants)
        order = [ratings.metrics.index(metric) for metric in metrics]
        differences = ratings.difference_table(variants, metrics)
        # Shapes (examples, metrics) and twice (examples, variants, metrics).
        scores.append(JudgeScores(original[rows][:, order], degraded[rows][..., order], differences[rows]))
    first = entries[0].ratings
    if first.clusters is None:
        return scores, None
    return scores, first.clusters[np.isin(sorted(first.examples), common)]


def _plain(value: Any) -> Any:
    """A value as JSON has it: records and arrays become mappings and lists, NaN and infinity None."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(inner) for inner in value]
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value
