"""Columns of the tables of results: each is declared here once, and every output shows it from that.

Terminal, Markdown, CSV, LaTeX, pages, notebooks and data frames all take `RUNS` for tables with a row for
each result, `KINDS` for tables with a row for each kind of damage, control or attack, and `METRICS` for each
metric under these. A new column is one more entry. `run_columns` and `kind_columns` leave out the columns
that would tell nothing of the rows at hand; files have every column.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain

from dhp.analysis.passing import PassShare
from dhp.analysis.results import FEWEST_PAIRS, Cell, Result, VariantResult
from dhp.content.catalog import kind_name, variant_name
from dhp.core.records import parse_variant
from dhp.core.verdicts import NOTICED, foremost
from dhp.report.document import Column, filled
from dhp.report.findings import control_words
from dhp.report.labels import at_mark, figure, p_value, percent
from dhp.report.matrix import MatrixRow
from dhp.runs.changed_pairs import ChangedKind
from dhp.runs.compare import Pair

_UNDEFINED = "–"
_OURS = ("uniform", "design")
"""Weights that no experts gave: with these D_EW says little that D does not."""
LEGEND = (
    "D = log_0.05 p; 1 is p = 0.05. It grows with N: compare judges on the same N only. EW: {} weights{}."
)


def _text(value: str | None) -> str:
    return value or _UNDEFINED


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _wide_percent(value: float | None) -> str:
    # The column is aligned left, as limits follow the figure: the padding keeps ` 55%` below `100%`.
    return f"{percent(value):>4}"


def _floor_percent(value: float | None) -> str:
    """A lower limit, which is not rounded up; 1e-7 is for floating point, which has 28.999 for 29."""
    return _UNDEFINED if value is None else f"{math.floor(100 * value + 1e-7)}%"


def _p(row: VariantResult) -> float | None:
    """The combined p-value; 0 if it is too small for a number."""
    return 0.0 if row.p is None and row.d is not None else row.p


def _cell_p(cell: Cell) -> float | None:
    # No p-value beside its logarithm: p is too small for a float, and `p_value` writes 0 as `< 1e-300`.
    return 0.0 if cell.p is None and cell.log10_p is not None else cell.p


def _noticed(result: Result) -> str | None:
    # How many of several doses are noticed depends on which were tried.
    return None if result.too_few or result.curves else result.noticed_of


def _all_noticed(results: Sequence[Result]) -> str:
    """How many kinds are noticed on all datasets together."""
    rows = list(chain.from_iterable(each.damage for each in results if not each.too_few))
    good = [row for row in rows if row.state.is_good]
    return f"{len(good)} of {len(rows)}" if rows else _UNDEFINED


def _all_controls(results: Sequence[Result]) -> str:
    """The worst state of a control on all datasets together."""
    states = [each.control.state for each in results if each.control is not None]
    # A false alarm on one set is one of the judge, however still the control is on the others.
    return str(foremost(states)) if states else _UNDEFINED


def _lowest(result: Result) -> str | None:
    if result.too_few:
        return f"needs {FEWEST_PAIRS} examples"
    lowest = result.lowest
    return None if lowest is None else f"{percent(lowest.detection)} {variant_name(lowest.variant)}"


def _insignificant(result: Result) -> str | None:
    """The kinds of damage with D below 1, their degrees in brackets; None for a run with doses."""
    if result.curves:
        return None
    low = [row.variant for row in result.variants if row.d is not None and row.d < 1]
    # An empty text would be shown as a dash, which means undefined.
    return ", ".join(with_degrees((kind_name(variant), variant) for variant in low)) or "none"


def with_degrees(named: Iterable[tuple[str, str]]) -> list[str]:
    """Names of kinds, each once with its degrees in brackets, from pairs of a name and a variant."""
    degrees: dict[str, list[str]] = {}
    for name, variant in named:
        of_kind = degrees.setdefault(name, [])
        degree = parse_variant(variant).degree
        if degree:
            of_kind.append(degree)
    return [f"{name} ({', '.join(of_kind)})" if of_kind else name for name, of_kind in degrees.items()]


PARTIAL = "†"
"""Marks an average over fewer kinds of damage than the suite has."""


def _average(value: Callable[[Result], float | None]) -> Callable[[Result], str]:
    """The words of an average, with a mark if it leaves out kinds of damage."""

    def words(result: Result) -> str:
        partial = value(result) is not None and result.not_averaged
        return figure(value(result)) + (PARTIAL if partial else "")

    return words


def _plain(name: str) -> Callable[[Result], float | None]:
    """An average; None for a run with doses."""
    return lambda result: None if result.curves else getattr(result, name)


def _share_words(share: PassShare | None) -> str:
    return _UNDEFINED if share is None else at_mark(share.share, share.most)


def _points(difference: float | None) -> str:
    """In whole points; what rounds to zero has no sign."""
    # What rounds to zero is `+0` with `+z`, from either side; no other number begins so.
    return _UNDEFINED if difference is None else f"{100 * difference:+z.0f}".replace("+0", "0")


def points_apart(pair: Pair, *, limits: bool = True) -> str:
    """The difference of two judges in points, `+12 (6 to 18) *`; the star means significant at 0.05."""
    # NaN, if no pair of both judges counts.
    if math.isnan(pair.difference):
        return _UNDEFINED
    words = _points(pair.difference)
    if limits and not math.isnan(pair.low):
        words += f" ({100 * pair.low:z.0f} to {100 * pair.high:z.0f})"
    return f"{words} *" if pair.differs else words


D_AVG = Column[Result](
    "D_avg",
    _plain("d_avg"),
    figure,
    "mean over levels of D, the logarithm to base 0.05 of the p-value that scores fell: 1 is p = 0.05",
    words=_average(_plain("d_avg")),
)
D_MIN = Column[Result](
    "D_min",
    _plain("d_min"),
    figure,
    "the lowest D of a kind of damage",
    words=_average(_plain("d_min")),
)
D_AVG_EW = Column[Result](
    "D_avg_EW",
    lambda r: r.d_avg_ew,
    figure,
    "D_avg, metrics weighed as for each kind of damage",
    words=_average(lambda r: r.d_avg_ew),
)
D_MIN_EW = Column[Result](
    "D_min_EW",
    lambda r: r.d_min_ew,
    figure,
    "the lowest weighed D of a kind of damage",
    words=_average(lambda r: r.d_min_ew),
)
INSIGNIFICANT = Column[Result](
    "kinds with D < 1",
    _insignificant,
    _text,
    "kinds of damage of which it is not shown at p = 0.05",
    right=False,
)
DETECTION = Column[Result](
    "detection",
    lambda r: None if r.too_few else r.detection.avg,
    percent,
    "how often the damaged text got the lower score, ties counted half: the mean over levels of damage",
    ends=lambda r: None if r.too_few else r.detection.ci["avg"],
    right=False,
)
READ = Column[Result](
    "read",
    lambda r: r.read,
    percent,
    "answers with a score; what the judge left unread counts as a tie",
    optional=True,
    tells=lambda r: r.partly_read,
)
LOWEST = Column[Result](
    "lowest kind", _lowest, _text, "the kind of damage with the lowest detection", right=False
)
_WITH_SILENT = "to: with those that get no score"
# What three columns of a share at the mark have in common; `on` tells where each finds its `PassShare`.
_SHARE = Column[PassShare | None](
    "share",
    lambda share: None if share is None else share.share,
    percent,
    words=_share_words,
    ends=lambda share: None if share is None else share.ci,
    right=False,
    optional=True,
)
PASSING: Column[Result] = replace(
    _SHARE,
    heading="damaged pass",
    help=f"damaged texts that still pass at your mark, of the kind of which most do; {_WITH_SILENT}",
).on(lambda r: r.most_passing)
MEAN_PASS = Column[Result](
    "mean pass",
    # `mean_passing` is a pair: without what got no score, and with it.
    lambda r: r.mean_passing and r.mean_passing[0],
    percent,
    f"damaged texts that still pass at your mark, the mean over levels of damage; {_WITH_SILENT}",
    words=lambda r: at_mark(*(r.mean_passing or (None, None))),
    optional=True,
)
GOOD_FAILS: Column[Result] = replace(
    _SHARE, heading="good fail", help=f"originals that fail at your mark; {_WITH_SILENT}"
).on(lambda r: None if r.pass_mark is None else r.pass_mark.fails)
CONTROLS = Column[Result](
    "controls",
    lambda r: None if r.control is None else r.control.state,
    _text,
    "whether scores stay where they should: the control in the worst state",
    words=lambda r: control_words(r.control),
    total=_all_controls,
    right=False,
)
RUNS: list[Column[Result]] = [
    PASSING,
    MEAN_PASS,
    GOOD_FAILS,
    D_AVG,
    D_MIN,
    Column(NOTICED, _noticed, _text, "kinds of damage that are noticed, of how many", total=_all_noticed),
    DETECTION,
    READ,
    CONTROLS,
    LOWEST,
]
"""Columns of a table of results, after judge and data."""
AVERAGES: tuple[Column[Result], ...] = (D_AVG, D_MIN, D_AVG_EW, D_MIN_EW)
"""D over all kinds of damage."""
PAPER: tuple[Column[Result], ...] = (*AVERAGES, INSIGNIFICANT)
"""Columns as the DHP paper reports them."""


def weighed(results: Iterable[Result]) -> bool:
    """Whether D with weights is asked for, by weights of experts or by the statistics of the paper."""
    return any(r.weights not in _OURS or r.statistics == "paper" for r in results if not r.curves)


def run_columns(results: Iterable[Result]) -> list[Column[Result]]:
    """The columns of one table of these results: D first, with weights if these are asked for."""
    listed_results = list(results)
    if not weighed(listed_results):
        return filled(RUNS, listed_results)
    others = [column for column in RUNS if column not in PAPER]
    # The names of kinds with D < 1 are the widest cells: their column stands last.
    return filled([*AVERAGES, *others, INSIGNIFICANT], listed_results)


def legend(results: Sequence[Result]) -> list[str]:
    """The lines below a table of results: the meaning of the paper's columns, and of the marks."""
    lines = [_of_paper(results)] if weighed(results) else []
    lines += _partial(results)
    variants = chain.from_iterable(result.variants for result in results)
    rules = stand_ins((row.variant, row.stand_in) for row in variants)
    return [*lines, *(f"{BY_RULE}: {line}" for line in rules)]


def stand_ins(made: Iterable[tuple[str, str | None]]) -> list[str]:
    """A line on the rules that stand in for a language model, from variants and their rules; or no line."""
    pairs: dict[str, None] = {}
    for variant, rule in made:
        if rule:
            pairs[f"{rule} for {kind_name(variant)}"] = None
    return [f"without a perturb model rules stand in: {', '.join(pairs)}"] if pairs else []


def _partial(results: Sequence[Result]) -> list[str]:
    """The levels that averages hold, and the kinds of damage that they leave out, a line for each suite."""
    # Keys of a dict, not a set: what holds of several results is said once, in order of appearance.
    lines: dict[str, None] = {}
    for result in results:
        without = result.not_averaged
        if without and not result.curves and result.d_avg is not None:
            every = len(result.variants) + len(result.left_out)
            levels = dict.fromkeys(row.level for row in result.variants if row.variant not in without)
            missing = with_degrees((kind_name(variant), variant) for variant in without)
            line = f"{PARTIAL} over {every - len(without)} of {every} kinds of damage ({', '.join(levels)}), "
            lines[f"{line}without {', '.join(missing)}"] = None
    return list(lines)


def _of_paper(results: Sequence[Result]) -> str:
    names = list(dict.fromkeys(r.weights for r in results))
    ours = ", not the experts'" if all(name in _OURS for name in names) else ""
    return LEGEND.format(" and ".join(names), ours)


BY_RULE = "(rule)"
"""Marks a kind of damage that a rule makes for want of a language model."""


def row_name(row: VariantResult | MatrixRow) -> str:
    """The kind of damage as tables name it, with the mark of a rule that stands in."""
    return f"{variant_name(row.variant)} {BY_RULE}" if row.stand_in else variant_name(row.variant)


KIND = Column[VariantResult](
    "kind",
    lambda r: variant_name(r.variant),
    str,
    "kind of damage, control or attack",
    words=row_name,
    right=False,
    names=True,
)
LEVEL = Column[VariantResult](
    "level", lambda r: r.level, str, "what is damaged, or control or attack", right=False
)
_METRIC = Column[VariantResult](
    "best metric", lambda r: r.best_metric, _text, "the metric that sees the damage best", right=False
)
_D_EW = Column[VariantResult](
    "D_EW", lambda r: r.d_ew, figure, "D, metrics weighed as for this kind of damage", details=1
)
_MISPLACED = Column[VariantResult](
    "misplaced",
    lambda r: r.misplaced,
    percent,
    "share of the drop on metrics where the weights do not expect it",
    details=1,
)
KINDS: list[Column[VariantResult]] = [
    Column(
        "detection",
        lambda r: r.detection,
        _wide_percent,
        "how often the damaged text got the lower score, ties counted half, by the metric that saw it best",
        ends=lambda r: r.detection_ci,
        right=False,
    ),
    Column(
        "read",
        lambda r: r.read,
        percent,
        "answers about these texts with a score; what the judge left unread counts as a tie",
        optional=True,
        tells=lambda r: r.partly_read,
    ),
    Column(
        "verdict",
        lambda r: r.state,
        str,
        "whether the damage is noticed; by a hair: only beside its own original, not beside other good texts",
        words=lambda r: f"{r.state}, by a hair" if r.by_a_hair else r.state,
        right=False,
    ),
    Column(
        "at least",
        lambda r: r.at_least,
        _floor_percent,
        "the one-sided 95 % lower limit of detection, by which noticed damage lies above 55 %",
        optional=True,
        details=1,
    ),
    replace(
        _SHARE,
        heading="passes",
        help=f"damaged texts that still pass at your mark; {_WITH_SILENT}",
        tags={"label": "passes"},  # stays on narrow screens
    ).on(lambda r: r.passes),
    Column(
        "stopped",
        lambda r: None if r.passes is None else r.passes.rest,
        percent,
        "damaged texts that are stopped at your mark",
        optional=True,
        details=1,
    ),
    Column(
        "no score",
        lambda r: None if r.passes is None else r.passes.no_score,
        percent,
        "damaged texts that are neither, as the judge gave no score",
        optional=True,
        tells=lambda r: r.passes is not None and r.passes.no_score > 0,
        details=1,
    ),
    Column(
        "of texts",
        lambda r: None if r.passes is None else r.passes.n,
        _count,
        "damaged texts that the judge answered about, of which these shares are",
        optional=True,
        details=1,
    ),
    _METRIC,
    Column(
        "any text",
        lambda r: None if r.best is None else r.best.auroc,
        percent,
        "how often a damaged text got a lower score than any good text, not only its own original (AUROC)",
        details=1,
    ),
    Column("pairs", lambda r: r.n, _count, "pairs of a damaged text and its original"),
    Column(
        "D", lambda r: r.d, figure, "logarithm to base 0.05 of the p-value that some metric fell", details=1
    ),
    _D_EW,
    _MISPLACED,
    Column(
        "to decide",
        lambda r: None if r.n_to_decide is None else r.n_to_decide[1],
        _count,
        "examples with which an undecided kind is decided with a chance of 50 to 80 %; in files of 80 %",
        words=lambda r: r.needed,
        details=1,
    ),
    Column("p", _p, p_value, "p-value that some metric fell", details=2),
    Column("not applicable", lambda r: r.not_applicable, _count, "examples without such a text", details=2),
    Column("method", lambda r: r.method, _text, "how the texts were made", right=False, details=2),
    Column(
        "stand-in",
        lambda r: r.stand_in,
        _text,
        "the rule that made the texts for want of a language model",
        right=False,
        optional=True,
        details=2,
    ),
    Column("name in files", lambda r: r.variant, str, "name of the variant", right=False, details=2),
]
"""Columns of a table of kinds of damage, controls and attacks, after their names."""
# `KINDS[0]` is detection: here its limits are drawn as a bar.
DRAWN = replace(
    KINDS[0],
    heading="detection, drawn",
    help="dot: detection; bar: its 95 % interval; upright line: 50 %, blind",
    drawn=True,
)

METRICS: list[Column[Cell]] = [
    Column(
        "detection",
        lambda c: c.detection,
        percent,
        "how often this metric scored the damaged text lower, ties counted half",
        ends=lambda c: c.detection_ci,
    ),
    Column("fell", lambda c: c.fell, percent, "share of the pairs in which the score fell"),
    Column("tied", lambda c: c.tied, percent, "share of the pairs in which it stayed"),
    Column("rose", lambda c: c.rose, percent, "share of the pairs in which it rose"),
    Column("mean drop", lambda c: c.mean_drop, figure, "mean fall of the score, in points of the scale"),
    Column("in sd", lambda c: c.standardised_drop, figure, "the same in standard deviations of the scores"),
    Column("AUROC", lambda c: c.auroc, figure, "how well the score tells degraded texts from any original"),
    Column("p", _cell_p, p_value, "p-value that the score fell"),
    Column("pairs", lambda c: c.n, _count, "pairs that count"),
    Column("unread", lambda c: c.unread, _count, "pairs that are ties, as the judge left a side unread"),
    Column("missing", lambda c: c.missing, _count, "pairs left out, as a call failed"),
    Column("weight", lambda c: c.weight, percent, "weight of the metric under this kind of damage"),
]
"""Columns of a table of metrics under kinds of damage, after the names of both."""


DIFFERENCE = Column[Pair](
    "difference",
    lambda p: None if math.isnan(p.difference) else p.difference,
    _points,
    "detection by the second less that by the first, in points, with its 95 % limits; * significant at 0.05",
    words=points_apart,
)
"""Of two judges."""
NEWLY = Column[ChangedKind](
    "newly noticed", lambda c: c.newly, _count, "texts whose score fell by the second judge only"
)
NO_LONGER = Column[ChangedKind](
    "no longer noticed", lambda c: c.no_longer, _count, "texts whose score fell by the first judge only"
)


def kind_columns(rows: Sequence[VariantResult], *, details: int) -> list[Column[VariantResult]]:
    """The columns up to this level that say something of the rows.

    Without the metric if there is one only, weights if none are given, and stops if none came.
    """
    empty: list[Column[VariantResult]] = []
    if all(len(row.metrics) <= 1 for row in rows):
        empty.append(_METRIC)
    if all(row.misplaced is None for row in rows):
        empty += [_D_EW, _MISPLACED]
    columns = [column for column in KINDS if column.details <= details and column not in empty]
    return filled(columns, rows)
