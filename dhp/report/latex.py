"""The parts of a document as LaTeX: its tables, with all that is said as comments."""

from collections.abc import Collection, Iterable, Sequence

from dhp.core.shown import printable
from dhp.report.document import Code, Edited, FirstThatFits, Part, Strong
from dhp.report.plain_grid import Flat, Grid, flat, marked

LATEX_HEAD = r"% \usepackage{booktabs}"
"""The package that the tables need."""
_LATEX = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "–": "--",
}
"""A character that LaTeX would read as a command -> how it is written."""


def latex_text(text: str) -> str:
    """The text for LaTeX, on one line."""
    return "".join(_LATEX.get(c, c) for c in " ".join(printable(text).split()))


def latex(parts: Iterable[Part]) -> str:
    """The parts as LaTeX."""
    return "\n".join([LATEX_HEAD, *map(_part, flat(parts)), ""])


def _part(part: Flat) -> str:
    match part:
        case Grid():
            return latex_table(part.title, part.headings, part.rows, part.right)
        case FirstThatFits(forms):
            return "\n".join(map(_part, flat(forms[0])))
        case Strong(text) | Code(text):
            return _comment(text)
        case Edited():
            return _comment(marked(part).plain)
        case str():
            return _comment(part) if part else ""


def _comment(text: str) -> str:
    return f"% {' '.join(printable(text).split())}"


def latex_table(
    caption: str, headings: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int]
) -> str:
    """A `table` for the package `booktabs`; the columns at the places `right` are aligned right."""
    lines = [r"\begin{table}"]
    if caption:
        lines.append(rf"\caption{{{latex_text(caption)}}}")
    # A listing has no headings, so its rows tell the number of columns.
    width = max(map(len, [headings, *rows]))
    alignment = "".join("r" if place in right else "l" for place in range(width))
    lines += [rf"\begin{{tabular}}{{{alignment}}}", r"\toprule"]
    if headings:
        lines += [_row(headings), r"\midrule"]
    lines += map(_row, rows)
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}", ""]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return " & ".join(map(latex_text, cells)) + r" \\"
