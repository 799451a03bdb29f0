"""The ratings of one judge on one dataset as arrays, from a table.

Rows become one mean for each text and metric, and the counts of what was read or failed. A table too large
for memory comes in parts, which `dhp.analysis.merged_ratings` puts together.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dhp.analysis.named_change import REASON, TEXT, with_named
from dhp.analysis.ratings_checks import GROUPING, blank, checked_ratings
from dhp.analysis.unread import causes
from dhp.core.errors import InputError, suggest
from dhp.core.rating_forms import BESIDE, NAMED, ONE_SILENT, is_pairwise, stated_columns
from dhp.core.ratings_table import place_of
from dhp.core.records import ASKED_AGAIN, ORIGINAL, RATING_STATUSES, SECOND, UNREAD
from dhp.core.seeding import text_hash
from dhp.core.specs import Scale
from dhp.stats.arrays import Bools, Floats, Ints, rounding_error, with_ties

if TYPE_CHECKING:
    import pandas as pd

UNKNOWN = "unknown"
"""Model, protocol or dataset of ratings that name none."""
_LARGEST = 1e306  # beyond it differences overflow


@dataclass(frozen=True, slots=True)
class RatingsArray:
    """The ratings of one (model, protocol, dataset)."""

    place: str
    """Source of the ratings, for error messages."""
    model: str
    protocol: str
    dataset: str
    examples: tuple[str, ...]
    """Names of the examples, sorted."""
    variants: tuple[str, ...]
    """Names of the variants without the original, in order of appearance."""
    metrics: tuple[str, ...]
    means: Floats
    """Mean score, shape (1 + variants, metrics, examples), the original first; NaN if there is none."""
    samples: dict[str, Floats]
    """Metric -> single scores, shape (texts with a score, samples), NaN if one is missing."""
    asked: Bools
    """Whether there is any row, scored or failed; same shape."""
    unread: Bools
    """Whether the judge answered and no answer has a score; same shape."""
    answers: dict[str, tuple[float, int]]
    """`original` or variant -> answers with a score, and all answers; calls that failed are none. Comparisons
    count by orders: one with a verdict in one of two is read by half."""
    levels: dict[str, str] | None
    """variant -> level, if the table has that column."""
    counts: dict[str, int]
    """Rows asked, rows by status, and rows whose answer was asked for again."""
    causes: dict[str, int]
    """Why answers have no score -> how many, the commonest first."""
    failures: dict[str, int]
    """The reasons of failed rows, the most frequent first, if the table holds them."""
    rules: dict[str, int]
    """Scored rows by the rule that read the score, if the table says it."""
    missing_mass: float | None
    """Mean of that column, if there is one."""
    inapplicable: Mapping[str, int] | None = None
    """Variant -> number of examples that it does not apply to; None if only the ratings are known."""
    masses: int = 0
    """Rows of which it is the mean."""
    clusters: Ints | None = None
    """Cluster of each example, shape (examples,); None if the examples are independent."""
    cluster_names: dict[str, str] | None = None
    """Example -> its cluster, if the table has that column."""
    columns: frozenset[str] = frozenset()
    """Names of the columns that the table of ratings had."""
    shares: Mapping[str, Floats] = field(default_factory=dict)
    """Metric -> mean probability of each of evenly spaced points of its scale, the worst first, shape
    (1 + variants, examples, points); NaN if there is none."""
    stated: Mapping[str, Floats] = field(default_factory=dict)
    """`probability` (of passing), `confidence` (in the verdict), `named` and `named_by_chance` (what reasons
    name, see `dhp.analysis.named_change`) as far as the table has these columns: their means, shaped as
    `means`."""

    @property
    def digest(self) -> str:
        """A hash of what the figures depend on; the order of the rows is no part of it."""
        names = (self.variants, self.metrics, self.examples)
        variants, metrics = (np.argsort(list(each)) for each in names[:2])
        means = self.means[np.append(0, 1 + variants)][:, metrics]
        groups = b"" if self.clusters is None else self.clusters.tobytes()
        unread = self.unread[np.append(0, 1 + variants)][:, metrics].tobytes() if self.unread.any() else b""
        return text_hash(repr([sorted(each) for each in names]).encode() + means.tobytes() + groups + unread)

    def read(self, texts: Iterable[str]) -> float | None:
        """Share of the answers about originals or variants that have a score; None without an answer."""
        counts = [self.answers.get(name, (0.0, 0)) for name in texts]
        answers = sum(n for _, n in counts)
        return sum(read for read, _ in counts) / answers if answers else None

    def of_pairs_read(self) -> "RatingsArray":
        """The same as if nobody had asked for what was left unread: its pairs are no ties."""
        return replace(self, unread=np.zeros_like(self.unread))

    @property
    def size(self) -> str:
        """The number of examples, for signatures."""
        return str(len(self.examples))

    @property
    def repeated(self) -> tuple[int, int]:
        """Texts and metrics with more scores than most have, and how many of these have different scores."""
        texts = different = 0
        for scores in self.samples.values():
            if not scores.size:
                continue
            counts = (~np.isnan(scores)).sum(axis=1)
            several = scores[counts > np.bincount(counts).argmax()]
            texts += len(several)
            different += sum(np.nanmin(several, axis=1) < np.nanmax(several, axis=1))
        return texts, int(different)

    def not_applicable(self, variant: str) -> int:
        """Number of examples that this variant does not apply to: that were not rated in it, if unknown."""
        if self.inapplicable is not None:
            return self.inapplicable.get(variant, 0)
        if variant not in self.variants:
            return len(self.examples)
        return len(self.examples) - int(self.asked[1 + self.variants.index(variant)].any(axis=0).sum())

    def asked_about(self, variant: str, metric: str) -> Bools:
        """Whether there is any row of the variant, scored or failed, shape (examples,)."""
        if variant not in self.variants:
            return np.zeros(len(self.examples), dtype=np.bool_)
        return np.asarray(self.asked[self._row(variant), self.metrics.index(metric)])

    def ties_unread(self, variant: str, metric: str, *, of: str = ORIGINAL) -> Bools:
        """Whether a pair is a tie as the judge left a side unread, shape (examples,).

        A judge that did not say which text is worse has not seen it. A call that failed, or a text that was
        not asked about, says nothing of the judge: such a pair is left out.
        """
        if variant not in self.variants or not self.unread.any():
            return np.zeros(len(self.examples), dtype=np.bool_)
        sides, m = [self._row(of), self._row(variant)], self.metrics.index(metric)
        unread = self.unread[sides, m]
        answered = unread | ~np.isnan(self.means[sides, m])
        return np.asarray(unread.any(axis=0) & answered.all(axis=0))

    def _row(self, variant: str) -> int:
        """The place of the original or a variant in `means`."""
        return 0 if variant == ORIGINAL else 1 + self.variants.index(variant)

    @property
    def unscored(self) -> dict[str, float]:
        """`original` or variant -> share of its texts and metrics, of those asked about, without a score."""
        asked = self.asked.sum(axis=(1, 2))
        lacking = (self.asked & np.isnan(self.means)).sum(axis=(1, 2))
        names = (ORIGINAL, *self.variants)
        return {
            name: n / of for name, n, of in zip(names, lacking.tolist(), asked.tolist(), strict=True) if of
        }

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
        """Scores of originals (examples, metrics) and of variants (examples, variants, metrics).

        NaN all over for a variant that was not rated.
        """
        degraded = np.full((len(self.examples), len(variants), len(self.metrics)), np.nan)
        for v, name in enumerate(variants):
            if name in self.variants:
                degraded[:, v] = self.means[self._row(name)].T
        return self.means[0].T, degraded

    def unread_tables(self, variants: Sequence[str]) -> tuple[Bools, Bools]:
        """Which of these scores are missing as the judge left them unread; shapes of `score_tables`."""
        degraded = np.zeros((len(self.examples), len(variants), len(self.metrics)), dtype=np.bool_)
        for v, name in enumerate(variants):
            if name in self.variants:
                degraded[:, v] = self.unread[self._row(name)].T
        return self.unread[0].T, degraded

    def difference_table(
        self, variants: Sequence[str], metrics: Sequence[str], ties: bool = True, *, of: str = ORIGINAL
    ) -> Floats:
        """`differences`, shape (examples, variants, metrics).

        NaN all over for a variant that was not rated.
        """
        table = np.full((len(self.examples), len(variants), len(metrics)), np.nan)
        for v, name in enumerate(variants):
            if name in self.variants:
                for m, metric in enumerate(metrics):
                    table[:, v, m] = self.differences(name, metric, ties, of=of)
        return table

    def differences(self, variant: str, metric: str, ties: bool = True, *, of: str = ORIGINAL) -> Floats:
        """Original minus a rated variant, shape (examples,); 0 for `ties_unread`, NaN for what is left out.

        Or another rated variant, `of`, minus it. At the precision of the scores: those that floating point
        alone tells apart are equal, except without `ties`, as published.
        """
        m = self.metrics.index(metric)
        original, degraded = self.means[self._row(of), m], self.means[self._row(variant), m]
        difference: Floats = np.where(self.ties_unread(variant, metric, of=of), 0.0, original - degraded)
        if not ties:
            return difference
        size = np.nan_to_num(np.fmax(np.abs(original), np.abs(degraded)))
        scores = self.samples[metric]
        if scores.shape[1] > 1 and (scores < 0).any():  # a mean may be smaller than what it was made of
            size = np.full_like(size, np.nanmax(np.abs(scores)))
        return with_ties(difference, rounding_error(size, scores.shape[1]))


def without_score(counts: Mapping[str, int]) -> dict[str, int]:
    """Reason in words -> number of ratings that have no score for it, as far as there are any."""
    other = ("asked", "scored", ASKED_AGAIN)
    return {name.replace("_", " "): n for name, n in counts.items() if n and name not in other}


def split_ratings(frame: "pd.DataFrame", scales: Mapping[str, Scale] | None = None) -> Iterator[RatingsArray]:
    """Check a ratings table and split it by (model, protocol, dataset), in order of appearance.

    Parameters and errors as for `checked_ratings`; duplicate samples, examples without their original
    and variants with two levels are errors too.
    """
    table, place = checked_ratings(frame, scales), place_of(frame)
    del frame  # which may be the only reference to it
    present = [c for c in GROUPING if c in table]
    if not present:
        yield _array(table, {}, place)
        return
    firsts = table[present].drop_duplicates()
    if len(firsts) == 1:  # no copy of what may be millions of rows
        yield _array(table, dict(zip(present, map(str, firsts.iloc[0]), strict=True)), place)
        return
    for key, part in table.groupby(present, sort=False, observed=True):
        names = key if isinstance(key, tuple) else (key,)
        yield _array(part, dict(zip(present, map(str, names), strict=True)), place)


def _array(table: "pd.DataFrame", names: dict[str, str], file: str) -> RatingsArray:
    place = f"{file}: model '{names['model']}'" if "model" in names else file
    _check_samples(table, place)
    table = _with_named(table)
    example, examples = _numbered(table["example"], sort=True)
    metric, metrics = _numbered(table["metric"])
    variants = [v for v in table["variant"].unique() if v != ORIGINAL]
    if len(variants) == table["variant"].nunique():
        raise InputError(f"{place}: no rows of the variant '{ORIGINAL}'; {suggest(ORIGINAL, variants)}")
    number = {name: i for i, name in enumerate([ORIGINAL, *variants])}
    column = table["variant"].array
    variant = np.array([number.get(name, -1) for name in column.categories], np.int32)[column.codes]
    shape = (1 + len(variants), len(metrics), len(examples))
    cell = np.ravel_multi_index((variant, metric, example), shape)
    size = int(np.prod(shape))
    score, scored = table["score"].to_numpy(), (table["status"] == "scored").to_numpy()
    rated = [scored & (metric == m) for m in range(len(metrics))]
    rows = np.bincount(cell, minlength=size).reshape(shape)
    samples = np.bincount(cell[scored], minlength=size).reshape(shape)
    sums = np.bincount(cell[scored], weights=score[scored], minlength=size).reshape(shape)
    _check_originals(rows, list(metrics), list(examples), place)
    with np.errstate(invalid="ignore"):
        means = sums / samples
    if np.abs(means[samples > 0]).max(initial=0) > _LARGEST:
        raise InputError(f"{place}: a score is larger than {_LARGEST:g}")
    answered = np.bincount(cell[scored | table["status"].isin(UNREAD).to_numpy()], minlength=size)
    mass = _missing_mass(table, place)
    clusters = _clusters(table, place) if "cluster" in table else None
    levels = None
    if "level" in table:
        levelled = (table["variant"] != ORIGINAL) & (table["level"] != "")
        pairs = table.loc[levelled, ["variant", "level"]].drop_duplicates()
        levels = levels_of_pairs(pairs.to_numpy().tolist(), place)
    by_text = [_by_text(cell[chosen], score[chosen]) for chosen in rated]
    return RatingsArray(
        place=place,
        model=names.get("model", UNKNOWN),
        protocol=names.get("protocol", UNKNOWN),
        dataset=names.get("dataset", UNKNOWN),
        examples=tuple(examples),
        variants=tuple(variants),
        metrics=tuple(metrics),
        means=means,
        samples=dict(zip(metrics, by_text, strict=True)),
        asked=rows > 0,
        unread=(answered.reshape(shape) > 0) & (samples == 0),
        answers=_answers(table),
        levels=levels,
        counts=_counts(table),
        causes=causes(table),
        failures=_counted(table, "raw", "failed"),
        rules=dict(sorted(_counted(_asked_of_the_judge(table), "rule", "scored").items())),
        missing_mass=None if mass is None else float(mass.mean()),
        masses=0 if mass is None else int(mass.count()),
        clusters=None if clusters is None else cluster_numbers(clusters),
        cluster_names=clusters,
        columns=frozenset(map(str, table.columns)),
        shares=_shares(table, dict(zip(metrics, rated, strict=True)), variant, example, shape),
        stated=_stated(table, cell, shape, place),
    )


def _numbered(column: "pd.Series[Any]", *, sort: bool = False) -> "tuple[Any, pd.Index[Any]]":
    """The number of each row's name, in half the memory, and the names, in order of appearance or sorted."""
    import pandas as pd

    numbers, names = pd.factorize(column, sort=sort)
    return numbers.astype(np.int32), names


def _shares(
    table: "pd.DataFrame", rated: Mapping[str, Bools], variant: Ints, example: Ints, shape: Sequence[int]
) -> dict[str, Floats]:
    """`RatingsArray.shares`; a metric whose rows differ in the number of points has none."""
    if "probabilities" not in table:
        return {}
    shares = {}
    for metric, chosen in rated.items():
        rows = np.flatnonzero(chosen & ~blank(table["probabilities"]).to_numpy())
        lists = [json.loads(text) for text in table["probabilities"].iloc[rows]]
        if not lists or len({len(each) for each in lists}) > 1:
            continue
        sums = np.zeros((shape[0], shape[2], len(lists[0])))
        counts = np.zeros((shape[0], shape[2], 1))
        np.add.at(sums, (variant[rows], example[rows]), np.array(lists))
        np.add.at(counts, (variant[rows], example[rows]), 1)
        shares[metric] = sums / np.where(counts, counts, np.nan)
    return shares


def _with_named(table: "pd.DataFrame") -> "pd.DataFrame":
    """The table with what its reasons about single texts name, unless it says that itself."""
    if NAMED in table or REASON not in table or is_pairwise(table.columns):
        return table
    texts: dict[tuple[str, str], str] = {}
    if TEXT in table:
        known = table[~blank(table[TEXT])]
        names = zip(known["example"], known["variant"], strict=True)
        texts = dict(zip(names, known[TEXT].astype(str), strict=True))
    return with_named(table, table[REASON], texts)


def _stated(table: "pd.DataFrame", cell: Ints, shape: Sequence[int], place: str) -> dict[str, Floats]:
    """`RatingsArray.stated`; a column with other values than those from 0 to 1 means something else."""
    stated, size = {}, int(np.prod(shape))
    for name, numbers in stated_columns(table, place):
        column = numbers.to_numpy()
        present = ~np.isnan(column)
        if present.any() and (column[present] >= 0).all() and (column[present] <= 1).all():
            counts = np.bincount(cell[present], minlength=size)
            sums = np.bincount(cell[present], weights=column[present], minlength=size)
            stated[name] = (sums / np.where(counts, counts, np.nan)).reshape(shape)
    return stated


def _check_samples(table: "pd.DataFrame", place: str) -> None:
    if "sample" not in table:
        return
    keys = ["example", "variant", "metric", "sample"]
    columns = [table[key].array for key in keys]
    sizes = [len(column.categories) for column in columns]
    numbers = np.sort(np.ravel_multi_index([column.codes for column in columns], sizes))
    if (numbers[1:] == numbers[:-1]).any():
        row = table[table.duplicated(keys)].iloc[0]
        raise InputError(
            f"{place}: sample {row['sample']} of example '{row['example']}', variant '{row['variant']}', "
            f"metric '{row['metric']}' is rated twice"
        )


def _asked_of_the_judge(table: "pd.DataFrame") -> "pd.DataFrame":
    """The rows without originals that have their score unasked, as others are compared with them."""
    return table[table["rule"] != BESIDE] if "rule" in table else table


def _answers(table: "pd.DataFrame") -> dict[str, tuple[float, int]]:
    """`original` or variant -> answers with a score, and all answers, in the order of appearance."""
    table = _asked_of_the_judge(table)
    failed = table["status"] == "failed"
    table = table[~failed] if failed.any() else table  # no copy of what may be millions of rows
    read = (table["status"] == "scored").astype(float)
    if "rule" in table:
        read -= 0.5 * (table["rule"] == ONE_SILENT)
    by_variant = read.groupby(table["variant"], sort=False, observed=True)
    return {
        str(name): (float(total), int(n))
        for name, total, n in zip(by_variant.sum().index, by_variant.sum(), by_variant.size(), strict=True)
    }


def _counts(table: "pd.DataFrame") -> dict[str, int]:
    """Rows, rows by status, and if there are any, rows whose answer was asked for again."""
    table = _asked_of_the_judge(table)
    by_status = table["status"].value_counts()
    counts: dict[str, int] = {"asked": len(table), **{s: int(by_status.get(s, 0)) for s in RATING_STATUSES}}
    if "rule" in table:
        rules = table["rule"].astype(str)
        again = int(((rules == SECOND) | rules.str.startswith(f"{SECOND}:")).sum())
        if again:
            counts[ASKED_AGAIN] = again
    return counts


def _clusters(table: "pd.DataFrame", place: str) -> dict[str, str]:
    """Example -> its cluster."""
    pairs = table[["example", "cluster"]].drop_duplicates()
    twice = pairs["example"].duplicated()
    if twice.any():
        raise InputError(
            f"{place}: example '{pairs['example'][twice].iloc[0]}' is in two clusters; must be in one"
        )
    return dict(zip(pairs["example"], pairs["cluster"], strict=True))


def cluster_numbers(clusters: Mapping[str, str]) -> Ints | None:
    """The number of each example's cluster, sorted by name; None if every example is one of its own."""
    if len(set(clusters.values())) == len(clusters):
        return None
    return np.unique([clusters[e] for e in sorted(clusters)], return_inverse=True)[1].astype(np.int64)


def _by_text(texts: Ints, scores: Floats) -> Floats:
    """The scores of each text as a row, in the order in which they come."""
    order = np.argsort(texts, kind="stable")
    _, row, counts = np.unique(texts[order], return_inverse=True, return_counts=True)
    place = np.arange(texts.size) - np.repeat(np.cumsum(counts) - counts, counts)
    table = np.full((counts.size, counts.max(initial=0)), np.nan)
    table[row, place] = scores[order]
    return table


def _counted(table: "pd.DataFrame", column: str, status: str) -> dict[str, int]:
    """What a column says in the rows with a status, and how often, the most frequent first."""
    if column not in table:
        return {}
    texts = table.loc[table["status"] == status, column]
    counts: Counter[str] = Counter()
    for text, count in texts[~blank(texts)].value_counts().items():
        counts[str(text)] += int(count)
    return dict(counts)


def _missing_mass(table: "pd.DataFrame", place: str) -> "pd.Series[float] | None":
    if "missing_mass" not in table or blank(table["missing_mass"]).all():
        return None
    import pandas as pd

    mass = pd.to_numeric(table["missing_mass"].mask(blank(table["missing_mass"])), errors="coerce")
    if not mass.dropna().between(0, 1).all():
        raise InputError(f"{place}: column 'missing_mass' holds a value outside [0, 1]")
    return mass


def _check_originals(rows: Ints, metrics: Sequence[str], examples: Sequence[str], place: str) -> None:
    orphan = (rows[1:].sum(axis=0) > 0) & (rows[0] == 0)
    if orphan.any():
        m, e = np.argwhere(orphan)[0]
        raise InputError(
            f"{place}: example '{examples[e]}' has no rating of its original for metric '{metrics[m]}'"
        )


def levels_of_pairs(pairs: Iterable[Sequence[str]], place: str) -> dict[str, str]:
    """Variant -> its level."""
    levels: dict[str, str] = {}
    for variant, level in pairs:
        if levels.setdefault(variant, level) != level:
            raise InputError(
                f"{place}: variant '{variant}' has two levels, '{levels[variant]}' and '{level}'"
            )
    return levels
