"""A picture of weights: perturbers x metrics, as a heat map on a page or in the terminal."""

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING

from dhp.core.specs import Weights
from dhp.core.text import printable

if TYPE_CHECKING:
    from rich.table import Table

_STYLE = """
:root { color-scheme: light dark; --heat: light-dark(#e88b2d, #a85a10); }
:root { --weak: light-dark(#595959, #b0b0b0); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: separate; border-spacing: 2px; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .5rem 0; }
th { text-align: left; font-weight: 500; padding: .3rem .8rem .3rem 0; }
td { text-align: center; min-width: 4.5rem; padding: .4rem .6rem; border-radius: .2rem; }
td { background: color-mix(in srgb, var(--heat) var(--weight), #8882); }
.note { color: var(--weak); font-size: .85rem; overflow-wrap: anywhere; }
"""


def weights_page(weights: Weights) -> str:
    """The weights of each task as a heat map, on one self-contained page without script."""
    title = f"Weights {weights.weights}, version {weights.version}"
    tables = "\n".join(_heat_map(task, rows) for task, rows in weights.tasks.items())
    notes = "\n".join(f'<p class="note">{escape(line)}</p>' for line in about(weights))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p>How much each metric should suffer from each perturbation; a row sums to 1.</p>
{tables}
{notes}
</body>
</html>
"""


def _heat_map(task: str, rows: Mapping[str, Mapping[str, float]]) -> str:
    metrics = list(next(iter(rows.values()), {}))
    head = "".join(f'<th scope="col">{escape(m)}</th>' for m in metrics)
    body = "\n".join(
        f'<tr><th scope="row">{escape(perturber)}</th>'
        + "".join(f'<td style="--weight: {row[m]:.0%}">{row[m]:.2f}</td>' for m in metrics)
        + "</tr>"
        for perturber, row in rows.items()
    )
    return f"""<div class="wide"><table>
<caption>{escape(task)}</caption>
<thead><tr><td></td>{head}</tr></thead>
<tbody>
{body}
</tbody>
</table></div>"""


def about(weights: Weights) -> list[str]:
    """Where weights come from: provenance, date, experts, agreement; a line each."""
    lines = [f"provenance: {weights.provenance}"]
    if weights.date is not None:
        lines.append(f"date: {weights.date}")
    if weights.experts is not None:
        roles = f" ({', '.join(weights.roles)})" if weights.roles else ""
        lines.append(f"experts: {weights.experts}{roles}")
    for task, found in weights.agreement.items():
        interval = "" if found.low is None else f", 95 % interval {found.low:.2f} to {found.high:.2f}"
        lines.append(f"agreement, {task}: Fleiss' kappa {found.kappa:.2f}{interval}")
    if weights.otherwise is not None:
        lines.append(f"perturbers without a row: {weights.otherwise}")
    return lines


def weights_table(task: str, rows: Mapping[str, Mapping[str, float]]) -> "Table":
    """The weights of a task for a terminal; where there is colour, the darker the heavier."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(task, style="bold"), title_justify="left", box=None, pad_edge=False)
    table.add_column("perturber", overflow="fold")
    metrics = list(next(iter(rows.values()), {}))
    for metric in metrics:
        table.add_column(metric, justify="right")
    for perturber, row in rows.items():
        cells = (Text(f"{row[m]:.2f}", style=_heat(row[m])) for m in metrics)
        table.add_row(Text(printable(perturber)), *cells)
    return table


def _heat(weight: float) -> str:
    """Black on white to orange."""
    return f"black on rgb(255,{round(255 - 115 * weight)},{round(255 - 210 * weight)})"
