"""The tables of a leaderboard as JSON, CSV, Markdown and LaTeX; figures as in the results files."""

import json
from collections.abc import Sequence
from typing import Any

from dhp.analysis.result_parts import Ends
from dhp.content.damage import variant_name
from dhp.core.text import printable, spreadsheet_safe
from dhp.leaderboard.entries import Entry, noticed, score
from dhp.leaderboard.tables import RULES, Row, Table
from dhp.report.formats import markdown_cell, markdown_table
from dhp.report.labels import percent, percents

SCHEMA = "dhp.leaderboard/2"
QUANTITIES = {"detection": "detection", "lowest_detection": "lowest detection"}
_SHORT = ["rank", "model", "protocol"]
_FIGURES = ["noticed", *QUANTITIES.values(), "lowest kind", "harmless edits"]
_DETAILS = ("d_avg", "d_min", "d_avg_ew", "d_min_ew")
_LATEX = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def as_json(tables: Sequence[Table]) -> str:
    """The tables with all figures (schema `dhp.leaderboard/2`)."""
    found = [
        {
            **table.parts,
            "task": table.task,
            "rule": table.rule,
            "rows": [_record(row) for row in table.rows],
        }
        for table in tables
    ]
    return json.dumps({"schema": SCHEMA, "tables": found}, ensure_ascii=False, indent=1) + "\n"


def as_csv(tables: Sequence[Table]) -> str:
    """One line a result, what its table shares included; intervals as two columns, `_low` and `_high`."""
    import pandas as pd

    lines: list[dict[str, object]] = []
    for number, table in enumerate(tables, 1):
        for row in table.rows:
            record = _record(row)
            ends = {name: record.pop(f"{name}_ci") or (None, None) for name in QUANTITIES}
            for name, (low, high) in ends.items():
                record |= {f"{name}_low": low, f"{name}_high": high}
            lines.append({"table": number, "task": table.task, **table.parts, "rule": table.rule, **record})
    frame = pd.DataFrame(lines, dtype=object).map(spreadsheet_safe)
    return frame.to_csv(index=False, lineterminator="\n")


def as_markdown(tables: Sequence[Table]) -> str:
    """A heading, what they share and a table each."""
    parts = ["# Leaderboard"]
    head = [*_SHORT, *_FIGURES, "cost / 1,000"]
    for table in tables:
        shared = ", ".join(f"{name} {value}" for name, value in table.parts.items())
        rows = [list(map(markdown_cell, _cells(row))) for row in table.rows]
        parts += [
            f"## {markdown_cell(table.dataset)}",
            f"{markdown_cell(shared)}. {RULES[table.rule]}",
            markdown_table(head, rows, right=(*range(3, 6), len(head) - 1)),
        ]
    return "\n\n".join(parts) + "\n"


def as_latex(tables: Sequence[Table]) -> str:
    """A `table` each, for the package `booktabs`."""
    import pandas as pd

    parts = [r"% \usepackage{booktabs}"]
    head = [*_SHORT, *_FIGURES]
    for table in tables:
        shared = ", ".join(f"{name} {value}" for name, value in table.parts.items() if name != "dataset")
        rows = [list(map(_latex, _cells(row)[:-1])) for row in table.rows]
        parts.append(
            pd.DataFrame(rows, columns=head).to_latex(
                index=False,
                column_format="lllrrrll",
                caption=f"{_latex(table.dataset)}: {_latex(shared)}. 95\\,\\% intervals in brackets.",
            )
        )
    return "\n".join(parts)


def shown_rank(row: Row) -> str:
    """A rank, with `=` where others have it too."""
    return "–" if row.rank is None else f"{row.rank}{'=' * row.tied}"


def shown_cost(cost: float | None) -> str:
    """Two significant digits, or a dash for unknown."""
    return "–" if cost is None else f"{cost:.2g}" if cost < 100 else f"{cost:,.0f}"


def shown_size(billions: float | None) -> str:
    """Parameters in billions, or a dash for unknown."""
    return "–" if billions is None else f"{billions:g}B"


def _record(row: Row) -> dict[str, Any]:
    entry: Entry = row.entry
    r = entry.result
    scores = {name: score(r, name) for name in QUANTITIES}
    return {
        "rank": row.rank,
        "tied": row.tied,
        "groups": row.groups,
        "model": r.model,
        "provider": entry.provider,
        "size_billions": entry.size,
        "protocol": r.protocol,
        "noticed": noticed(r)[0],
        "kinds": noticed(r)[1],
        **{name: value for name, (value, _) in scores.items()},
        **{f"{name}_ci": ends for name, (_, ends) in scores.items()},
        "lowest_kind": r.detection.min_variant,
        "harmless_edits": r.harmless_edits,
        **{name: getattr(r, name) for name in _DETAILS},
        "cost_per_1000": entry.cost,
        "asked": r.ratings.get("asked"),
        "scored": r.ratings.get("scored"),
        "created": r.created,
        "signature": r.signature,
    }


def _cells(row: Row) -> list[str]:
    """The short row of a table to be printed."""
    r = row.entry.result
    figures = [_percent(*score(r, name)) for name in QUANTITIES]
    lowest = variant_name(r.detection.min_variant) if r.detection.min_variant else "–"
    seen = "{} of {}".format(*noticed(r))
    return [
        *(shown_rank(row), r.model, r.protocol, seen, *figures, lowest, r.harmless_edits),
        shown_cost(row.entry.cost),
    ]


def _percent(value: float | None, ends: Ends) -> str:
    return percent(value) + ("" if ends is None else f" [{percents(ends)}]")


def _latex(text: str) -> str:
    return "".join(_LATEX.get(c, c) for c in " ".join(printable(text).split())).replace("–", "--")
