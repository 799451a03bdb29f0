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
from dhp.report.printout import LATEX_HEAD, latex_text

_FIGURES = {r"$D_\mathrm{avg}$": D_AVG, r"$D_\mathrm{min}$": D_MIN, r"det.\ \%": DETECTION}
_PARTIAL, _ALARM = r"\textsuperscript{\textdagger}", r"\textsuperscript{*}"
_WIDE = 2
"""Sets that fit into the width of a column of text."""


def as_latex(tables: Sequence[Table]) -> str:
    """One `table` for the package `booktabs`: a row for each judge, three columns for each set."""
    judges = judges_of(tables)
    names = _names([entry.result for entry, _ in judges])
    kind = "table*" if len(tables) > _WIDE else "table"
    rows = []
    for name, (_, results) in zip(names, judges, strict=True):
        cells = [name]
        for row in results:
            cells += _cells(None if row is None else row.entry.result)
        rows.append(cells)
    lines = [
        LATEX_HEAD,
        rf"\begin{{{kind}}}",
        r"\centering",
        rf"\caption{{{_caption(tables)}}}",
        *([r"\small", r"\setlength{\tabcolsep}{3pt}"] if len(tables) > _WIDE else []),
        rf"\begin{{tabular}}{{l{'rrr' * len(tables)}}}",
        r"\toprule",
        _row(["", *(rf"\multicolumn{{3}}{{c}}{{{latex_text(name)}}}" for name in _sets(tables))]),
        " ".join(rf"\cmidrule(lr){{{3 * k + 2}-{3 * k + 4}}}" for k in range(len(tables))),
        _row(["judge", *(list(_FIGURES) * len(tables))]),
        r"\midrule",
        *map(_row, rows),
        r"\bottomrule",
        r"\end{tabular}",
        rf"\end{{{kind}}}",
        "",
    ]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _cells(result: Result | None) -> Iterator[str]:
    for column in _FIGURES.values():
        if result is None:
            yield latex_text("–")
            continue
        shown = column.form(column.value(result)).removesuffix("%").strip()
        if column is DETECTION:
            mark = _ALARM if result.alarms else ""
        else:
            mark = _PARTIAL if PARTIAL in column.shown(result) else ""
        yield latex_text(shown) + mark


def _names(results: Sequence[Result]) -> list[str]:
    """Judges by model, with the name of the protocol if models have several; the same names are numbered."""
    different = {(r.model, r.protocol) for r in results}
    judges = Counter(model for model, _ in different)
    names = [r.judge if judges[r.model] > 1 else r.model for r in results]
    return [latex_text(name) for name in _told_apart(names)]


def _sets(tables: Sequence[Table]) -> list[str]:
    """The names of the sets with their number of examples; the same names are numbered."""
    sizes = []
    for table in tables:
        sizes.append(_span([entry.result.n for entry in table.entries]))
    shared = shared_folder([table.dataset for table in tables])
    names = [table.dataset.removeprefix(shared) for table in tables]
    return _told_apart([f"{name} (n = {size})" for name, size in zip(names, sizes, strict=True)])


def _span(sizes: Sequence[int]) -> str:
    return "–".join(str(size) for size in sorted({min(sizes), max(sizes)}))


def _told_apart(names: Sequence[str]) -> list[str]:
    counts, seen = Counter(names), Counter[str]()
    lines = []
    for name in names:
        seen[name] += 1
        lines.append(f"{name}, {seen[name]}" if counts[name] > 1 else name)
    return lines


def _caption(tables: Sequence[Table]) -> str:
    """What the figures are, in words; averages that leave out kinds are named."""
    results = list(chain.from_iterable(table.results for table in tables))
    asked = {protocol_name(each.protocol) for each in results if each.asked}
    way = f", all asked by the protocol {asked.pop()}" if len(asked) == 1 else ""
    meaning = (
        f"Judges by data{way}. D is the logarithm to base 0.05 of the p-value that scores of damaged "
        "texts fell, 1 is p = 0.05: its mean over levels and the lowest of a kind; it grows with n. "
        "Detection (det.) is how often the damaged text got the lower score, ties counted half, in per cent."
    )
    partial = [line.removeprefix(PARTIAL).strip() for line in legend(results) if line.startswith(PARTIAL)]
    notes = [f" {_PARTIAL} {latex_text(line)}." for line in partial]
    if any(each.alarms for each in results):
        notes.append(f" {_ALARM} {FALSE_ALARM}: harmless edits lower the score as damage does.")
    return "".join([latex_text(meaning), *notes])
