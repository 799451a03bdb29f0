"""Results as JSON, CSV and Markdown."""

import json
import re
from collections.abc import Collection, Sequence

from tabulate import tabulate

from dhp.analysis.results import Results
from dhp.core.text import printable, spreadsheet_safe
from dhp.report.advice import warnings
from dhp.report.findings import Findings, findings, sentences
from dhp.report.notes import notes
from dhp.report.tables import TextTable, doses_table, kinds_table, verdict_table

_MARKS = re.compile(r"[\\`*\[\]<>|~$&#]|(?<![^\W_])_|_(?![^\W_])")
"""Characters that Markdown would take for markup; an underscore only at the edge of a word."""


def json_text(results: Results) -> str:
    """What `results.json` holds."""
    return json.dumps(results.to_dict(), ensure_ascii=False, indent=1) + "\n"


def csv_text(results: Results) -> str:
    """Comma-separated values, one row a (model, protocol, dataset, variant, metric), to the last digit.

    An empty cell is undefined.
    """
    frame = results.to_frame().map(spreadsheet_safe)
    return str(frame.to_csv(index=False, lineterminator="\n"))


def markdown_text(results: Results) -> str:
    """The sentence on each judge, the table of verdicts, then each result with its kinds of damage."""
    found = [findings(result) for result in results]
    parts = [f"**{markdown_cell(str(sentence))}**\n" for sentence in sentences(found)]
    if plain := [each for each in found if each.damage]:
        parts.append(markdown_of(verdict_table(plain)))
    parts += [f"- {markdown_cell(line)}" for line in warnings(found)]
    return "\n".join([*parts, *map(_section, found), ""])


def _section(findings: Findings) -> str:
    tables = [kinds_table(findings)] if findings.damage or findings.probes else []
    tables += map(doses_table, findings.result.curves)
    said = [f"- {markdown_cell(note)}" for note in notes(findings.result)]
    return "\n".join(["", *map(markdown_of, tables), *said, f"- {_code(findings.result.signature)}"])


def markdown_of(table: TextTable) -> str:
    """The table under its title."""
    right = [column for column, heading in enumerate(table.headings) if heading in table.right]
    rows = [[markdown_cell(cell) for cell in row] for row in table.rows]
    return f"### {markdown_cell(table.title)}\n\n{markdown_table(table.headings, rows, right)}\n"


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int]) -> str:
    """A table of cells that are Markdown already; the columns at the places `right` are aligned right."""
    aligned = ["right" if column in right else "left" for column in range(len(headings))]
    shown = [markdown_cell(heading) for heading in headings]
    return str(tabulate(rows, shown, tablefmt="pipe", disable_numparse=True, colalign=aligned))


def markdown_cell(text: str) -> str:
    """The text on one line, without markup or control characters: for a cell of a table and elsewhere."""
    return _MARKS.sub(r"\\\g<0>", " ".join(printable(text).split()))


def _code(text: str) -> str:
    """The text as Markdown code, also if it holds back quotes."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence, space = "`" * (longest + 1), " " if longest else ""
    return f"{fence}{space}{printable(text)}{space}{fence}"
