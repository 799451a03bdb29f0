"""The tables and all figures of a result, as parts of a document.

`kinds_table` is what every output shows of a result; `figures_of` is all that is known of it, for the page.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from dhp.analysis.results import DoseResponse, ResponseStyle, Result, VariantResult
from dhp.content.catalog import kind_name
from dhp.core.records import PROBES
from dhp.report.columns import BY_RULE, DRAWN, KIND, LEVEL, METRICS, kind_columns, row_name, with_degrees
from dhp.report.document import Code, Column, Facts, Heading, Note, Part, Points, Table, item, shaded
from dhp.report.labels import figure, listed, percent, t75
from dhp.report.notes import notes
from dhp.report.reasons_table import reasons_table


def kinds_table(result: Result, *, details: int = 0, doses: bool = False) -> Table[VariantResult]:
    """A row for each kind of damage, control and attack; all but a page show equal rows in one."""
    damage = result.damage or (result.variants if doses else ())
    rows = (*damage, *result.probes)
    first = [LEVEL, KIND] if details > 1 else [KIND]
    return Table(
        f"{result.dataset}: {result.judge}, {result.n:,} examples",
        [*first, *kind_columns(rows, details=details)],
        rows,
        word=lambda row: row.state,
        folded=None if details > 1 else _folded,
        group=_probe_level,
        titled=False,
    )


def _probe_level(row: VariantResult) -> str:
    """`control` or `attack`; empty for damage."""
    return row.level if row.level in PROBES else ""


def drawn_kinds(result: Result, start: float) -> Table[VariantResult]:
    """The same rows with the detection drawn, on tracks that begin at `start`."""
    table = kinds_table(result)
    kind, *others = table.columns
    return replace(
        table,
        title=f"{table.title}: detection",
        columns=[kind, DRAWN, *others],
        css="drawn",
        start=start,
    )


def _folded(rows: Sequence[VariantResult]) -> str:
    """The names of all rows, the degrees of a kind together."""
    if len(rows) == 1:
        label = row_name(rows[0])
    else:
        named = []
        for row in rows:
            kind = kind_name(row.variant)
            named.append((f"{kind} {BY_RULE}" if row.stand_in else kind, row.variant))
        label = listed(with_degrees(named))
    cells = list(chain.from_iterable(row.metrics.values() for row in rows))
    # A control or attack that ties is as it should be, so this is said of damage alone.
    if all(cell.tied == 1 for cell in cells) and not _probe_level(rows[0]):
        return f"{label}: no score moved"
    return label


def metrics_table(result: Result) -> Table[Any]:
    """A row for each metric under each kind of damage."""
    rows = []
    for row in (*(result.damage or result.variants), *result.probes):
        rows += [(row, metric, cell) for metric, cell in row.metrics.items()]
    # A row is (kind, metric, its test); each column looks at one of the three.
    columns = [KIND.on(item(0)), Column[Any]("metric", item(1), right=False)]
    columns += [column.on(item(2)) for column in METRICS]
    return Table("Metrics under each kind of damage", columns, rows, titled=False)


DOSES: Sequence[Column[DoseResponse]] = (
    Column("kind", lambda curve: kind_name(curve.perturber), names=True, right=False),
    Column("T75 [95 %]", lambda curve: curve.t75 and curve.t75.value, words=t75),
    Column("exponent", lambda curve: curve.power, figure),
    Column("lapses", lambda curve: curve.lapse, percent),
    Column("characters", lambda curve: curve.characters),
)
_OF_DOSES = (
    "Damaged copies beside harmlessly edited ones, where these were rated. Lapses: how far the curve stays "
    "below 100 % at any dose. Characters: of the median original."
)
_OF_D = (
    "D is the logarithm to base 0.05 of the p-value that some metric fell: 1 is p = 0.05; it grows with the "
    "number of examples. D_EW weighs the metrics by the {} weights; misplaced: share of the drop on metrics "
    "where these do not expect it."
)
_OF_HALO = (
    "Spearman's correlation between metrics over texts: metrics that always move together say one thing "
    "several times."
)
_OF_SAMPLES = (
    "Within, between: variance over the samples of one text, and between texts. ICC: the share of a single "
    "score's variance that is the texts' own. Identical: texts whose samples are all the same. "
)
_OF_SCORES = (
    "Dominance: share of the most common score. Entropy of the scores in bits; distinct: how many different "
    "ones."
)


def _metric(heading: str = "metric") -> Column[Any]:
    """The name of a row that is a pair of a metric and its figures."""
    return Column(heading, item(0), names=True, right=False)


_SPREAD = (
    Column[Any]("mean", lambda spread: spread.mean, figure),
    Column[Any]("sd", lambda spread: spread.sd, figure),
    Column[Any]("5 %", lambda spread: spread.low, figure),
    Column[Any]("95 %", lambda spread: spread.high, figure),
)
"""Where the scores of some texts lie."""


def styles_table(result: Result) -> Table[tuple[str, ResponseStyle]]:
    """How the judge uses its scale of each metric."""
    # A row is (metric, how the judge uses its scale).
    columns = [_metric(), Column[Any]("style", lambda row: row[1].words, words=_style, right=False)]
    columns += [column.on(lambda row: row[1].originals) for column in _of_texts("originals")]
    columns += [column.on(lambda row: row[1].degraded) for column in _of_texts("degraded")]
    return Table("How it uses its scales", columns, [*result.styles.items()], titled=False)


def _of_texts(texts: str) -> list[Column[Any]]:
    """The columns of the scores of these texts, the first of which names them."""
    # The first column tells which texts these and the columns after it are of.
    mean, *others = _SPREAD
    return [replace(mean, heading=f"{texts} {mean.heading}"), *others]


def _style(row: tuple[str, ResponseStyle]) -> str:
    words = row[1].words
    return "scale unknown" if words is None else ", ".join(words) or "–"


def halo_table(side: str, table: Mapping[str, Mapping[str, float | None]]) -> Table[Any]:
    """The correlation of every two metrics."""
    # A row is (metric, other metric -> their correlation).
    columns = [_metric("")]
    columns += [shaded(name, figure).on(item(1, name)) for name in table]
    return Table(side, columns, [*table.items()], css="map")


def _count(number: float | None) -> str:
    return "–" if number is None else f"{number:,.0f}"


_REPEATS = {"identical": percent, "dominance": percent, "distinct": _count}
"""Figures on single scores that are no plain figures."""


def repeats_table(result: Result) -> Table[Any] | None:
    """Figures on single scores and their samples; None if there are none."""
    known: dict[str, None] = {}
    for figures in result.repeats.values():
        for name, value in figures.items():
            if value is not None:
                known[name] = None
    if not known:
        return None
    columns = [_metric()]
    for name in known:
        column = Column[Any](name.replace("icc", "ICC"), item(name), _REPEATS.get(name, figure))
        columns.append(column.on(item(1)))
    # A count that was read from a file is a float: a page must say the same of both.
    rows = []
    for metric, figures in result.repeats.items():
        shown = {name: None if value is None else float(value) for name, value in figures.items()}
        rows.append((metric, shown))
    return Table("Single scores", columns, rows, titled=False)


def counts(result: Result) -> dict[str, str]:
    """Ratings, usage, cost, time and rules."""
    facts: dict[str, str] = {}
    for name, n in result.ratings.items():
        # A count of 0 is left out, but for these two, by which the others are measured.
        if n or name in ("asked", "scored"):
            facts[name.replace("_", " ")] = _count(n)
    for name, n in result.usage.items():
        facts[name.replace("_", " ")] = _count(n)
    if result.cost is not None:
        prices = f"list prices ({result.priced})" if result.priced else "the prices given"
        facts[f"cost at {prices}"] = f"{result.cost:,.4f}"
    elif result.latency:
        facts["cost"] = "unknown: no list price of this model, and none given"
    if result.latency:
        median, slow = result.latency[:2]
        facts["seconds a call, median and 95 %"] = f"{median:.2g}, {slow:.2g}"
    for rule, n in result.rules.items():
        facts[f"read by rule {rule}"] = _count(n)
    return facts


def figures_of(result: Result, level: int) -> Iterator[Part]:
    """All figures of a result, under headings of this level."""
    if result.curves:
        yield Table("Dose and detection", DOSES, result.curves, titled=False)
        yield Note(_OF_DOSES)
    if result.damage or result.variants or result.probes:
        yield kinds_table(result, details=2, doses=True)
        yield Note(_OF_D.format(result.weights) + _weighed(result))
        yield metrics_table(result)
    if result.reasons:
        yield Heading("Reason against verdict", level)
        yield reasons_table(result.reasons)
    if result.styles:
        yield Heading("How it uses its scales", level)
        yield styles_table(result)
    if result.halo:
        yield Heading("Halo", level)
        yield Note(_OF_HALO)
        yield from (halo_table(side, table) for side, table in result.halo.items())
    repeats = repeats_table(result)
    if repeats is not None:
        samples = any(column.heading == "ICC" for column in repeats.columns)
        yield Heading(f"Single scores{' and sample consistency' if samples else ''}", level)
        yield repeats
        yield Note((_OF_SAMPLES if samples else "") + _OF_SCORES)
    yield Heading(f"Ratings{', usage and cost' if result.usage else ''}", level)
    yield Facts(counts(result))
    method = f"statistics {result.statistics} ({result.combination}), weights {result.weights}"
    yield Points([*notes(result), f"n = {result.n} examples, {method}, floor {percent(result.floor)}"])
    yield Code(result.signature, faint=True)


def _weighed(result: Result) -> str:
    """What D is with weights, if there are weights."""
    if result.weights == "uniform" or result.curves:
        return ""
    return f" With these weights D_avg_EW is {figure(result.d_avg_ew)}, D_min_EW {figure(result.d_min_ew)}."
