"""The matrix of judges and sets in LaTeX, as a paper prints it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from dhp.analysis.results import Result
from dhp.core.signature import protocol_name
from dhp.core.verdicts import FALSE_ALARM
from dhp.leaderboard.tables import Table, judges_of
from dhp.report.columns import D_AVG, D_MIN, DETECTION, PARTIAL, legend
from dhp.report.labels import shared_folder
from dhp.report.latex import LATEX_HEAD, latex_text

_FIGURES = {r"$D_\mathrm{avg}$": D_AVG, r"$D_\mathrm{min}$": D_MIN, r"det.\ \%": DETECTION}
"""Heading in LaTeX -> the column: what each set has."""
_PARTIAL = r"\textsuperscript{\textdagger}"
"""Marks an average that leaves out kinds of damage."""
_ALARM = r"\textsuperscript{*}"
"""Marks a judge with false alarms."""
_WIDE = 2
"""Chosen: so many sets fit into a column of text; more take the width of the page and smaller type."""


def as_latex(tables: Sequence[Table]) -> str:
    """One `table` for the package `booktabs`: a row for each judge, three columns for each set."""
    is_wide = len(tables) > _WIDE
    kind = "table*" if is_wide else "table"
    lines = [LATEX_HEAD, rf"\begin{{{kind}}}", r"\centering", rf"\caption{{{_caption(tables)}}}"]
    if is_wide:
        lines += [r"\small", r"\setlength{\tabcolsep}{3pt}"]
    lines += [rf"\begin{{tabular}}{{l{'rrr' * len(tables)}}}", r"\toprule"]
    lines += _head(tables)
    lines.append(r"\midrule")
    judges = judges_of(tables)
    names = _names([entry.result for entry, _ in judges])
    for name, (_, rows_of_sets) in zip(names, judges, strict=True):
        cells = [name]
        for row in rows_of_sets:
            cells += _cells(None if row is None else row.entry.result)
        lines.append(_line(cells))
    lines += [r"\bottomrule", r"\end{tabular}", rf"\end{{{kind}}}", ""]
    return "\n".join(lines)


def _head(tables: Sequence[Table]) -> list[str]:
    """The names of the sets, a rule below each, and the headings of their columns."""
    # The empty cell is above the names of the judges.
    sets, rules = [""], []
    for number, name in enumerate(_sets(tables)):
        sets.append(rf"\multicolumn{{3}}{{c}}{{{latex_text(name)}}}")
        first = 3 * number + 2  # columns of LaTeX count from 1, and the first has the judges
        rules.append(rf"\cmidrule(lr){{{first}-{first + 2}}}")
    headings = ["judge", *(list(_FIGURES) * len(tables))]
    return [_line(sets), " ".join(rules), _line(headings)]


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cells(result: Result | None) -> Iterator[str]:
    """The figures of a judge on a set, with their marks; dashes if it has no result there."""
    for column in _FIGURES.values():
        if result is None:
            yield latex_text("–")
            continue
        shown = column.form(column.value(result)).removesuffix("%").strip()  # the heading says per cent
        # False alarms are marked at the detection, averages that leave out kinds at each D.
        if column is DETECTION:
            mark = _ALARM if result.alarms else ""
        else:
            mark = _PARTIAL if PARTIAL in column.shown(result) else ""
        yield latex_text(shown) + mark


def _names(results: Sequence[Result]) -> list[str]:
    """Judges by model, with the name of the protocol if models have several; the same names are numbered."""
    protocols: dict[str, set[str]] = {}
    for result in results:
        protocols.setdefault(result.model, set()).add(result.protocol)
    names = []
    for result in results:
        has_several = len(protocols[result.model]) > 1
        names.append(result.judge if has_several else result.model)
    return [latex_text(name) for name in _told_apart(names)]


def _sets(tables: Sequence[Table]) -> list[str]:
    """The names of the sets with their number of examples; the same names are numbered."""
    shared = shared_folder([table.dataset for table in tables])
    names = []
    for table in tables:
        # All results of a table have the same number of examples, which is a part of the signature.
        size = table.entries[0].result.n
        names.append(f"{table.dataset.removeprefix(shared)} (n = {size})")
    return _told_apart(names)


def _told_apart(names: Sequence[str]) -> list[str]:
    """The names; those that are there several times get numbers: `a, 1`, `b`, `a, 2`."""
    counts, seen = Counter(names), Counter[str]()
    different = []
    for name in names:
        seen[name] += 1
        different.append(f"{name}, {seen[name]}" if counts[name] > 1 else name)
    return different


def _caption(tables: Sequence[Table]) -> str:
    """What the figures are, in words; averages that leave out kinds are named."""
    results = list(chain.from_iterable(table.results for table in tables))
    protocols = {protocol_name(result.protocol) for result in results if result.asked}
    way = f", all asked by the protocol {protocols.pop()}" if len(protocols) == 1 else ""
    meaning = (
        f"Judges by data{way}. D is the logarithm to base 0.05 of the p-value that scores of damaged "
        "texts fell, 1 is p = 0.05: its mean over levels and the lowest of a kind; it grows with n. "
        "Detection (det.) is how often the damaged text got the lower score, ties counted half, in per cent."
    )
    caption = latex_text(meaning)
    for line in legend(results):
        if line.startswith(PARTIAL):  # its mark is a sign in other forms
            caption += f" {_PARTIAL} {latex_text(line.removeprefix(PARTIAL).strip())}."
    if any(result.alarms for result in results):
        caption += f" {_ALARM} {FALSE_ALARM}: harmless edits lower the score as damage does."
    return caption
