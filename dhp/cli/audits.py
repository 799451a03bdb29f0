"""Terminal output of the audit of a perturbation set."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dhp.core.text import printable
from dhp.perturb.set_audit import Spread, VariantAudit, audited

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from dhp.perturb.sets.part import SetPart


@dataclass(frozen=True, slots=True)
class _Column:
    header: str
    cell: Callable[[VariantAudit], str]


def _edits(audit: VariantAudit) -> str:
    return "–" if audit.asked is None else f"{audit.made}/{audit.asked}"


def _middle(spread: Spread | None, form: str) -> str:
    return "–" if spread is None else f"{spread.median:{form}}"


def _range(spread: Spread | None, form: str) -> str:
    return "–" if spread is None else f"{spread.min:{form}} to {spread.max:{form}}"


_COLUMNS = (
    _Column("variant", lambda a: a.variant.name),
    _Column("texts", lambda a: f"{a.applicable}/{a.n}"),
    _Column("edits", _edits),
    _Column("similar", lambda a: _middle(a.similarity, ".2f")),
    _Column("from – to", lambda a: _range(a.similarity, ".2f")),
    _Column("length %", lambda a: _middle(a.length_change, "+.0f")),
    _Column("from – to %", lambda a: _range(a.length_change, "+.0f")),
    _Column("same", lambda a: str(a.duplicates)),
    _Column("unchanged", lambda a: str(a.unchanged)),
)
_DROPPED_FIRST = ("from – to %", "from – to", "same", "unchanged", "edits")
"""Columns that a narrow terminal goes without, in this order; what is wrong in them is also said below."""


def print_audit(parts: "Sequence[SetPart]", console: "Console") -> None:
    """Print a table for each dataset, and below it what to look at."""
    from rich.text import Text

    for part in parts:
        audits = audited(part)
        console.print()
        console.print(_fitting_table(part, audits, console))
        for found in audits:
            for line in _remarks(found):
                console.print(Text(f"  {printable(line)}"), soft_wrap=True)
        if part.left_out:
            console.print(Text(f"  not in the set: {printable(', '.join(part.left_out))}"), soft_wrap=True)


def _fitting_table(part: "SetPart", audits: Sequence[VariantAudit], console: "Console") -> "Table":
    """The table with as many columns as fit the console."""
    from dhp.report.tables import fits

    for count in range(len(_DROPPED_FIRST) + 1):
        table = _table(part, audits, _DROPPED_FIRST[:count])
        if fits(table, console):
            break
    return table


def _table(part: "SetPart", audits: Sequence[VariantAudit], dropped: Collection[str]) -> "Table":
    from rich.text import Text

    from dhp.report.tables import plain_table

    title = f"{part.dataset}  ·  suite {part.suite}  ·  seed {part.seed}  ·  n = {len(part.examples)}"
    columns = [c for c in _COLUMNS if c.header not in dropped]
    headings = [column.header for column in columns]
    table = plain_table(title, headings, right=headings[1:])
    for found in audits:
        table.add_row(*(Text(printable(c.cell(found))) for c in columns))
    return table


def _remarks(audit: VariantAudit) -> list[str]:
    """What the figures of a variant leave unsaid, or say too softly, one line each."""
    name, lines = audit.variant.name, []
    if audit.unchanged:
        said = "as a control may be" if audit.variant.level == "control" else "must be 0"
        lines.append(f"{name}: {audit.unchanged} texts equal their original ({said})")
    if audit.made is not None and audit.asked is not None and audit.made < audit.asked:
        lines.append(f"{name}: {audit.made} of {audit.asked} edits made")
    if audit.duplicates:
        lines.append(f"{name}: {audit.duplicates} texts equal the text of another example")
    for what, reasons in (("not applicable", audit.not_applicable), ("answers rejected", audit.rejected)):
        if reasons:
            lines.append(f"{name}: {what}: {_counted(reasons)}")
    lines += [f"{name}, example '{o.example}': {o.why}" for o in audit.outliers]
    return lines


def _counted(reasons: Mapping[str, int]) -> str:
    return "; ".join(f"{count} × {why.partition(';')[0]}" for why, count in reasons.items())
