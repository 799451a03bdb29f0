"""The ratings of one judge on one dataset, laid out as arrays."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dhp.analysis.interim import InterimAnalyses, read_interim_analyses
from dhp.analysis.ratings_table import GROUPING, blank, checked_ratings, place_of
from dhp.core.errors import InputError, suggest
from dhp.core.records import ORIGINAL, RATING_STATUSES, STOPPED
from dhp.core.seeding import text_hash
from dhp.core.specs import Scale

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
_UNKNOWN = "unknown"
_REASONS_KEPT = 5
_LARGEST = 1e306  # beyond it differences overflow


@dataclass(frozen=True, slots=True)
class RatingsArray:
    """The ratings of one (model, protocol, dataset)."""

    place: str
    """Where the ratings come from, for error messages."""
    model: str
    protocol: str
    dataset: str
    examples: tuple[str, ...]
    variants: tuple[str, ...]
    """Without the original, in order of appearance."""
    metrics: tuple[str, ...]
    means: Floats
    """Mean score, shape (1 + variants, metrics, examples), the original first; NaN where there is none."""
    samples: dict[str, Floats]
    """Metric -> single scores, shape (texts with a score, samples), NaN where one is missing."""
    asked: Bools
    """Whether there is any row, scored or failed; same shape."""
    interim: InterimAnalyses | None
    """In a run that asked no more about variants once they were resolved; else None."""
    levels: dict[str, str] | None
    """variant -> level, where the table has that column."""
    counts: dict[str, int]
    """Rows asked, and rows by status."""
    failures: dict[str, int]
    """The most frequent reasons of failed rows, where the table holds them."""
    rules: dict[str, int]
    """Scored rows by the rule that read the score, where the table says it."""
    missing_mass: float | None
    """Mean of that column, where there is one."""
    clusters: Ints | None = None
    """Which examples belong together, for the examples sorted by name, shape (examples,); None where each
    stands alone."""

    @property
    def digest(self) -> str:
        """A hash of what the figures depend on; the order of the rows is no part of it."""
        names = (self.variants, self.metrics, self.examples)
        variants, metrics, examples = (np.argsort(list(each)) for each in names)
        means = self.means[np.ix_(np.append(0, 1 + variants), metrics, examples)]
        course = b"" if self.interim is None else self.interim.course.encode()
        groups = b"" if self.clusters is None else self.clusters.tobytes()
        return text_hash(repr([sorted(each) for each in names]).encode() + means.tobytes() + course + groups)

    @property
    def size(self) -> str:
        """The number of examples, for signatures."""
        return str(len(self.examples)) if self.interim is None else self.interim.size

    def not_applicable(self, variant: str) -> int:
        """Number of examples about which nothing was asked under this variant."""
        if variant not in self.variants:
            return len(self.examples)
        reached = len(self.examples) if self.interim is None else self.interim.reached(variant)
        return reached - int(self.asked_about(variant).sum())

    def missing(self, variant: str, metric: str) -> int:
        """Number of pairs that lack a score, of those about which the variant was asked at all."""
        if variant not in self.variants:
            return 0
        wanted = self.asked[1 + self.variants.index(variant), self.metrics.index(metric)]
        return int((wanted & np.isnan(self.differences(variant, metric))).sum())

    def asked_about(self, variant: str) -> Bools:
        """Whether anything was asked about a variant, shape (examples,), sorted by name."""
        if variant not in self.variants:
            return np.zeros(len(self.examples), dtype=np.bool_)
        asked = self.asked[1 + self.variants.index(variant)].any(axis=0)
        return np.asarray(asked[np.argsort(self.examples)])

    def failed(self, variant: str) -> Bools | None:
        """Whether a metric lacks a score, of the original and the variant, shape (2, examples asked about).

        None for a variant that was not rated.
        """
        if variant not in self.variants:
            return None
        places = [0, 1 + self.variants.index(variant)]
        lacking = np.any(self.asked[places] & np.isnan(self.means[places]), axis=1)
        return np.asarray(lacking[:, np.any(self.asked[places[1]], axis=0)])

    def score_tables(self, variants: Sequence[str]) -> tuple[Floats, Floats]:
        """Scores of originals (examples, metrics) and of variants (examples, variants, metrics), by name.

        NaN all over for a variant that was not rated.
        """
        order = np.argsort(self.examples)
        degraded = np.full((len(order), len(variants), len(self.metrics)), np.nan)
        for v, name in enumerate(variants):
            if name in self.variants:
                degraded[:, v] = self.means[1 + self.variants.index(name)].T[order]
        return self.means[0].T[order], degraded

    def difference_table(
        self, variants: Sequence[str], metrics: Sequence[str], rounded: bool = True
    ) -> Floats:
        """`differences`, shape (examples, variants, metrics), for resampling: examples sorted by name.

        NaN all over for a variant that was not rated.
        """
        table = np.full((len(self.examples), len(variants), len(metrics)), np.nan)
        order = np.argsort(self.examples)
        for v, name in enumerate(variants):
            if name in self.variants:
                for m, metric in enumerate(metrics):
                    table[:, v, m] = self.differences(name, metric, rounded)[order]
        return table

    def differences(self, variant: str, metric: str, rounded: bool = True) -> Floats:
        """Original minus a rated variant, shape (examples,); NaN where a score is missing.

        Rounded to twelve significant digits of the typical score: means of samples lie on a grid of
        rational numbers, which floating point would split into false non-ties. As published it is not
        `rounded`.
        """
        m = self.metrics.index(metric)
        original, degraded = self.means[0, m], self.means[1 + self.variants.index(variant), m]
        difference = original - degraded
        if not rounded:
            return np.asarray(difference)
        paired = ~np.isnan(difference)
        size = (np.abs(original[paired]) + np.abs(degraded[paired])) / 2
        typical = float(np.median(size[size > 0])) if size.any() else 1.0
        unit = 10.0 ** np.floor(np.log10(typical))
        return np.asarray(np.round(difference / unit, 11) * unit + 0.0)


def split_ratings(frame: "pd.DataFrame", scales: Mapping[str, Scale] | None = None) -> Iterator[RatingsArray]:
    """Check a ratings table and split it by (model, protocol, dataset), in order of appearance.

    Parameters and errors as for `checked_ratings`; samples that stand twice, examples without their original
    and variants with two levels are errors too.
    """
    table, place = checked_ratings(frame, scales), place_of(frame)
    present = [c for c in GROUPING if c in table]
    if not present:
        yield _array(table, {}, place)
        return
    if len(firsts := table[present].drop_duplicates()) == 1:  # no copy of what may be millions of rows
        yield _array(table, dict(zip(present, map(str, firsts.iloc[0]), strict=True)), place)
        return
    for key, part in table.groupby(present, sort=False):
        names = key if isinstance(key, tuple) else (key,)
        yield _array(part, dict(zip(present, map(str, names), strict=True)), place)


def _array(table: "pd.DataFrame", names: dict[str, str], file: str) -> RatingsArray:
    import pandas as pd

    place = f"{file}: model '{names['model']}'" if "model" in names else file
    keys = ["example", "variant", "metric", "sample"]
    if "sample" in table and (repeated := table.duplicated(keys)).any():
        row = table[repeated].iloc[0]
        raise InputError(
            f"{place}: sample {row['sample']} of example '{row['example']}', variant '{row['variant']}', "
            f"metric '{row['metric']}' stands twice"
        )
    example, examples = pd.factorize(table["example"])
    metric, metrics = pd.factorize(table["metric"])
    variants = [v for v in table["variant"].unique() if v != ORIGINAL]
    if len(variants) == table["variant"].nunique():
        raise InputError(f"{place}: no rows of the variant '{ORIGINAL}'; {suggest(ORIGINAL, variants)}")
    variant = table["variant"].map({name: i for i, name in enumerate([ORIGINAL, *variants])}).to_numpy()
    shape = (1 + len(variants), len(metrics), len(examples))
    cell = np.ravel_multi_index((variant, metric, example), shape)
    size = int(np.prod(shape))
    scored = (table["status"] == "scored").to_numpy()
    rows = np.bincount(cell[(table["status"] != STOPPED).to_numpy()], minlength=size).reshape(shape)
    samples = np.bincount(cell[scored], minlength=size).reshape(shape)
    sums = np.bincount(cell[scored], weights=table["score"].to_numpy()[scored], minlength=size).reshape(shape)
    _check_originals(rows, list(metrics), list(examples), place)
    with np.errstate(invalid="ignore"):
        means = sums / samples
    if np.abs(means[samples > 0]).max(initial=0) > _LARGEST:
        raise InputError(f"{place}: a score is larger than {_LARGEST:g}")
    counts = table["status"].value_counts()
    interim = read_interim_analyses(table, place)
    kinds = RATING_STATUSES if interim is None else (*RATING_STATUSES, STOPPED)
    return RatingsArray(
        place=place,
        model=names.get("model", _UNKNOWN),
        protocol=names.get("protocol", _UNKNOWN),
        dataset=names.get("dataset", _UNKNOWN),
        examples=tuple(examples),
        variants=tuple(variants),
        metrics=tuple(metrics),
        means=means,
        samples={
            name: _by_text(cell[chosen], table["score"].to_numpy()[chosen])
            for m, name in enumerate(metrics)
            for chosen in [scored & (metric == m)]
        },
        asked=rows > 0,
        interim=interim,
        levels=_levels(table, place) if "level" in table else None,
        counts={"asked": int(rows.sum()), **{s: int(counts.get(s, 0)) for s in kinds}},
        failures=_failures(table),
        rules=_rules(table),
        missing_mass=_missing_mass(table, place),
        clusters=_clusters(table, place) if "cluster" in table else None,
    )


def _clusters(table: "pd.DataFrame", place: str) -> Ints | None:
    """The number of each example's cluster, sorted by name; None where every example is one of its own."""
    own = table[["example", "cluster"]].drop_duplicates()
    if (twice := own["example"].duplicated()).any():
        raise InputError(
            f"{place}: example '{own['example'][twice].iloc[0]}' is in two clusters; allowed: one"
        )
    if own["cluster"].nunique() == len(own):
        return None
    return np.unique(own.sort_values("example")["cluster"], return_inverse=True)[1].astype(np.int64)


def _by_text(texts: Ints, scores: Floats) -> Floats:
    """The scores of each text as a row, in the order in which they come."""
    order = np.argsort(texts, kind="stable")
    _, row, counts = np.unique(texts[order], return_inverse=True, return_counts=True)
    place = np.arange(texts.size) - np.repeat(np.cumsum(counts) - counts, counts)
    table = np.full((counts.size, counts.max(initial=0)), np.nan)
    table[row, place] = scores[order]
    return table


def _failures(table: "pd.DataFrame") -> dict[str, int]:
    if "raw" not in table:
        return {}
    reasons = table.loc[table["status"] == "failed", "raw"]
    counts = reasons[~blank(reasons)].astype(str).value_counts()
    return {str(reason): int(count) for reason, count in counts.head(_REASONS_KEPT).items()}


def _rules(table: "pd.DataFrame") -> dict[str, int]:
    if "rule" not in table:
        return {}
    rules = table.loc[table["status"] == "scored", "rule"]
    return {str(rule): int(count) for rule, count in rules[~blank(rules)].value_counts().sort_index().items()}


def _missing_mass(table: "pd.DataFrame", place: str) -> float | None:
    if "missing_mass" not in table or blank(table["missing_mass"]).all():
        return None
    import pandas as pd

    mass = pd.to_numeric(table["missing_mass"].mask(blank(table["missing_mass"])), errors="coerce")
    if not mass.dropna().between(0, 1).all():
        raise InputError(f"{place}: column 'missing_mass' holds a value outside [0, 1]")
    return float(mass.mean())


def _check_originals(rows: Ints, metrics: Sequence[str], examples: Sequence[str], place: str) -> None:
    if (orphan := (rows[1:].sum(axis=0) > 0) & (rows[0] == 0)).any():
        m, e = np.argwhere(orphan)[0]
        raise InputError(
            f"{place}: example '{examples[e]}' has no rating of its original for metric '{metrics[m]}'"
        )


def _levels(table: "pd.DataFrame", place: str) -> dict[str, str]:
    pairs = table.loc[table["variant"] != ORIGINAL, ["variant", "level"]].drop_duplicates()
    levels: dict[str, str] = {}
    for variant, level in pairs.itertuples(index=False):
        if levels.setdefault(variant, level) != level:
            raise InputError(
                f"{place}: variant '{variant}' has two levels, '{levels[variant]}' and '{level}'"
            )
    return levels
