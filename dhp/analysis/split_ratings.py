"""From a table of ratings to arrays, one `RatingsArray` for each model, protocol and dataset.

The rows are checked (`dhp.analysis.ratings_checks`) and parted. In each part a row gets the number of its
*cell*: one text (original or variant) by one metric of one example. Sums over rows by cell then give means,
counts and whatever else is an array. All is done by numbers of categories, never by names, and without copies
that can be avoided, as a table may have millions of rows. A table too large for memory comes in parts, which
`dhp.analysis.merged_ratings` puts together.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dhp.analysis.named_change import REASON, TEXT, with_named
from dhp.analysis.ratings import UNKNOWN, RatingsArray
from dhp.analysis.ratings_checks import GROUPING, blank, checked_ratings
from dhp.analysis.unread import causes
from dhp.core.errors import InputError, suggest
from dhp.core.rating_forms import BESIDE, NAMED, ONE_SILENT, is_pairwise, stated_columns
from dhp.core.ratings_table import place_of
from dhp.core.records import ASKED_AGAIN, ORIGINAL, RATING_STATUSES, SECOND, UNREAD
from dhp.core.specs import Scale
from dhp.stats.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    import pandas as pd

_LARGEST = 1e306
"""Largest score: differences of larger ones overflow."""


def split_ratings(frame: "pd.DataFrame", scales: Mapping[str, Scale] | None = None) -> Iterator[RatingsArray]:
    """Check a ratings table and split it by (model, protocol, dataset), in order of appearance.

    Parameters and errors as for `checked_ratings`; duplicate samples, examples without their original
    and variants with two levels are errors too.
    """
    table, place = checked_ratings(frame, scales), place_of(frame)
    del frame  # which may be the only reference to it
    present = [name for name in GROUPING if name in table]
    if not present:
        # A table of one judge and one dataset, which it does not name.
        yield _array(table, {}, place)
        return
    firsts = table[present].drop_duplicates()
    if len(firsts) == 1:  # `groupby` would copy what may be millions of rows
        names = [str(name) for name in firsts.iloc[0]]
        yield _array(table, dict(zip(present, names, strict=True)), place)
        return
    for key, part in table.groupby(present, sort=False, observed=True):
        names = [str(name) for name in key] if isinstance(key, tuple) else [str(key)]
        yield _array(part, dict(zip(present, names, strict=True)), place)


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of a table by number, and the names that the numbers stand for."""

    variants: Sequence[str]
    """Without the original."""
    metrics: Sequence[str]
    examples: Sequence[str]
    text: Ints
    """Of each row 0 for the original, else 1 + the number of its variant."""
    metric: Ints
    """Of each row the number of its metric."""
    example: Ints
    """Of each row the number of its example."""
    shape: tuple[int, int, int]
    """Numbers of texts, metrics and examples."""
    cell: Ints
    """Of each row the number of its cell in an array of this shape."""


def _rows_of(table: "pd.DataFrame", place: str) -> _Rows:
    example, examples = _numbered(table["example"], sort=True)
    metric, metrics = _numbered(table["metric"])
    variants = [name for name in table["variant"].unique() if name != ORIGINAL]
    if len(variants) == table["variant"].nunique():
        raise InputError(f"{place}: no rows of the variant '{ORIGINAL}'; {suggest(ORIGINAL, variants)}")
    number = {name: i for i, name in enumerate([ORIGINAL, *variants])}
    column = table["variant"].array
    # A part of a table keeps the categories of the whole; those that do not occur in it get -1.
    of_category = np.array([number.get(name, -1) for name in column.categories], np.int32)
    text = of_category[column.codes]
    shape = (1 + len(variants), len(metrics), len(examples))
    return _Rows(
        variants,
        list(metrics),
        list(examples),
        text,
        metric,
        example,
        shape=shape,
        cell=np.ravel_multi_index((text, metric, example), shape),
    )


def _numbered(column: "pd.Series[Any]", *, sort: bool = False) -> "tuple[Any, pd.Index[Any]]":
    """The number of each row's name, in half the memory, and the names, in order of appearance or sorted."""
    import pandas as pd

    numbers, names = pd.factorize(column, sort=sort)
    return numbers.astype(np.int32), names


def _array(table: "pd.DataFrame", names: Mapping[str, str], file: str) -> RatingsArray:
    """The ratings of one part of the table, whose model, protocol and dataset are `names`."""
    place = f"{file}: model '{names['model']}'" if "model" in names else file
    _check_samples(table, place)
    table = _with_named(table)
    rows = _rows_of(table, place)
    cell, shape = rows.cell, rows.shape
    size = int(np.prod(shape))
    score = table["score"].to_numpy()
    scored = (table["status"] == "scored").to_numpy()
    read_or_not = scored | table["status"].isin(UNREAD).to_numpy()  # what did not fail
    asked = np.bincount(cell, minlength=size).reshape(shape)
    answered = np.bincount(cell[read_or_not], minlength=size).reshape(shape)
    samples = np.bincount(cell[scored], minlength=size).reshape(shape)
    sums = np.bincount(cell[scored], weights=score[scored], minlength=size).reshape(shape)
    _check_originals(asked, rows, place)
    with np.errstate(invalid="ignore"):
        means = sums / samples  # NaN without a score
    if np.abs(means[samples > 0]).max(initial=0) > _LARGEST:
        raise InputError(f"{place}: a score is larger than {_LARGEST:g}")
    of_metric: dict[str, Bools] = {}
    for m, metric in enumerate(rows.metrics):
        of_metric[metric] = scored & (rows.metric == m)
    mass = _missing_mass(table, place)
    clusters = _clusters(table, place) if "cluster" in table else None
    return RatingsArray(
        place=place,
        model=names.get("model", UNKNOWN),
        protocol=names.get("protocol", UNKNOWN),
        dataset=names.get("dataset", UNKNOWN),
        examples=tuple(rows.examples),
        variants=tuple(rows.variants),
        metrics=tuple(rows.metrics),
        means=means,
        samples={metric: _by_text(cell[chosen], score[chosen]) for metric, chosen in of_metric.items()},
        asked=asked > 0,
        unread=(answered > 0) & (samples == 0),
        answers=_answers(table),
        levels=_levels(table, place) if "level" in table else None,
        counts=_counts(table),
        causes=causes(table),
        failures=_counted(table, "raw", "failed"),
        rules=dict(sorted(_counted(_asked_of_the_judge(table), "rule", "scored").items())),
        missing_mass=None if mass is None else float(mass.mean()),
        masses=0 if mass is None else int(mass.count()),
        clusters=None if clusters is None else cluster_numbers(clusters),
        cluster_names=clusters,
        columns=frozenset(map(str, table.columns)),
        shares=_shares(table, rows, of_metric),
        stated=_stated(table, rows, place),
    )


def _shares(table: "pd.DataFrame", rows: _Rows, of_metric: Mapping[str, Bools]) -> dict[str, Floats]:
    """`RatingsArray.shares`; a metric whose rows differ in the number of points has none.

    `of_metric` says which rows are scored by a metric.
    """
    if "probabilities" not in table:
        return {}
    present = ~blank(table["probabilities"]).to_numpy()
    texts, _, examples = rows.shape
    shares = {}
    for metric, chosen in of_metric.items():
        # The rows that are scored by this metric and state probabilities.
        at = np.flatnonzero(chosen & present)
        lists = [json.loads(text) for text in table["probabilities"].iloc[at]]  # e.g. "[0.1, 0.2, 0.7]"
        lengths = {len(each) for each in lists}
        if len(lengths) != 1:
            continue
        places = (rows.text[at], rows.example[at])
        sums = np.zeros((texts, examples, lengths.pop()))
        counts = np.zeros((texts, examples, 1))
        # `sums[places] += ...` would add only one of several samples of the same text.
        np.add.at(sums, places, np.array(lists))
        np.add.at(counts, places, 1)
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


def _stated(table: "pd.DataFrame", rows: _Rows, place: str) -> dict[str, Floats]:
    """`RatingsArray.stated`; a column with other values than those from 0 to 1 means something else."""
    stated: dict[str, Floats] = {}
    size = int(np.prod(rows.shape))
    for name, numbers in stated_columns(table, place):
        column = numbers.to_numpy()
        present = ~np.isnan(column)
        values = column[present]
        # Other values mean something else by the same name, such as per cent.
        if values.size and (values >= 0).all() and (values <= 1).all():
            cells = rows.cell[present]
            counts = np.bincount(cells, minlength=size)
            sums = np.bincount(cells, weights=values, minlength=size)
            stated[name] = (sums / np.where(counts, counts, np.nan)).reshape(rows.shape)
    return stated


def _check_samples(table: "pd.DataFrame", place: str) -> None:
    """Refuse two rows for one sample, which would count twice."""
    if "sample" not in table:
        return
    keys = ["example", "variant", "metric", "sample"]
    columns = [table[key].array for key in keys]
    sizes = [len(column.categories) for column in columns]
    # By numbers first, as `duplicated` takes many times as long.
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
    if failed.any():
        table = table[~failed]
    read = (table["status"] == "scored").astype(float)
    if "rule" in table:
        # One of two orders has a verdict: half an answer.
        read -= 0.5 * (table["rule"] == ONE_SILENT)
    by_variant = read.groupby(table["variant"], sort=False, observed=True)
    totals, numbers = by_variant.sum(), by_variant.size()
    answers: dict[str, tuple[float, int]] = {}
    for name, total, number in zip(totals.index, totals, numbers, strict=True):
        answers[str(name)] = (float(total), int(number))
    return answers


def _counts(table: "pd.DataFrame") -> dict[str, int]:
    """Rows, rows by status, and if there are any, rows whose answer was asked for again."""
    table = _asked_of_the_judge(table)
    by_status = table["status"].value_counts()
    counts: dict[str, int] = {"asked": len(table)}
    for status in RATING_STATUSES:
        counts[status] = int(by_status.get(status, 0))
    if "rule" in table:
        rules = table["rule"].astype(str)
        # `again`, or `again:` with the rule that read the second answer.
        again = (rules == SECOND) | rules.str.startswith(f"{SECOND}:")
        if again.any():
            counts[ASKED_AGAIN] = int(again.sum())
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
    """The number of each example's cluster, examples sorted by name; None if each is in one of its own."""
    if len(set(clusters.values())) == len(clusters):
        return None
    # In the order of the examples of a `RatingsArray`, which are sorted.
    names = [clusters[example] for example in sorted(clusters)]
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def _by_text(texts: Ints, scores: Floats) -> Floats:
    """The scores of each text as a row, in the order in which they come; shorter rows end with NaN."""
    # Stable, so that the scores of a text stay in the order of their rows.
    order = np.argsort(texts, kind="stable")
    _, row, counts = np.unique(texts[order], return_inverse=True, return_counts=True)
    # Where the scores of each text begin in that order; a score's distance from there is its column.
    first_of_row = np.cumsum(counts) - counts
    column = np.arange(texts.size) - np.repeat(first_of_row, counts)
    table = np.full((counts.size, counts.max(initial=0)), np.nan)
    table[row, column] = scores[order]
    return table


def _counted(table: "pd.DataFrame", column: str, status: str) -> dict[str, int]:
    """What a column says in the rows with a status, and how often, the most frequent first."""
    if column not in table:
        return {}
    texts = table.loc[table["status"] == status, column]
    counts: Counter[str] = Counter()
    for text, count in texts[~blank(texts)].value_counts().items():
        counts[str(text)] += int(count)  # 1 and "1" are one text
    return dict(counts)


def _missing_mass(table: "pd.DataFrame", place: str) -> "pd.Series[float] | None":
    if "missing_mass" not in table or blank(table["missing_mass"]).all():
        return None
    import pandas as pd

    mass = pd.to_numeric(table["missing_mass"].mask(blank(table["missing_mass"])), errors="coerce")
    if not mass.dropna().between(0, 1).all():
        raise InputError(f"{place}: column 'missing_mass' holds a value outside [0, 1]")
    return mass


def _check_originals(asked: Ints, rows: _Rows, place: str) -> None:
    """Refuse an example with a variant and no original by some metric: there is nothing to compare with."""
    # Of each metric and example: some variant has a row, the original has none.
    orphans = (asked[1:].sum(axis=0) > 0) & (asked[0] == 0)
    if orphans.any():
        m, e = np.argwhere(orphans)[0]
        raise InputError(
            f"{place}: example '{rows.examples[e]}' has no rating of its original "
            f"for metric '{rows.metrics[m]}'"
        )


def _levels(table: "pd.DataFrame", place: str) -> dict[str, str]:
    """Variant -> its level, of the variants that have one."""
    levelled = (table["variant"] != ORIGINAL) & (table["level"] != "")
    pairs = table.loc[levelled, ["variant", "level"]].drop_duplicates()
    return levels_of_pairs(pairs.to_numpy().tolist(), place)


def levels_of_pairs(pairs: Iterable[Sequence[str]], place: str) -> dict[str, str]:
    """Variant -> its level, from pairs of both; refuses a variant with two."""
    levels: dict[str, str] = {}
    for variant, level in pairs:
        if levels.setdefault(variant, level) != level:
            raise InputError(
                f"{place}: variant '{variant}' has two levels, '{levels[variant]}' and '{level}'"
            )
    return levels
