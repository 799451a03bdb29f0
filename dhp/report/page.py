"""`report.html`: the tables of a run as one self-contained page."""

from html import escape

from dhp.report.notes import notes
from dhp.report.reading import between, figure, noticed, pairs, probe_verdict, threshold
from dhp.results import Curve, Result, VariantResult
from dhp.runs import Run

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --weak: light-dark(#666, #aaa); }
:root { --yes: light-dark(#1a7f4b, #63d69c); --no: light-dark(#b3541e, #ffa570); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 74rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin: 2.5rem 0 .2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .25rem .6rem; border-bottom: 1px solid var(--line); }
th, td { white-space: nowrap; }
th:first-child, td:first-child, .named :is(th, td):nth-child(2) { text-align: left; }
tfoot td { font-weight: 600; }
.warning { color: light-dark(#b3261e, #ff8a80); font-weight: 600; }
.noticed { color: var(--yes); } .missed, .raised, .lowered { color: var(--no); font-weight: 600; }
.note, .signature { color: var(--weak); font-size: .85rem; margin: .3rem 0; overflow-wrap: anywhere; }
"""


def html_report(run: Run) -> str:
    """A page with one table per result: D and D_EW per variant, effect per metric, notes, signature.

    No script, no network; every text in it is escaped.
    """
    body = "\n".join(_section(result) for result in run.results)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Discernment report</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>Discernment report</h1>
<p>Does the judge notice when a text gets worse? D = log<sub>0.05</sub> of the combined p-value; from D = 1 on
the drop in scores is significant at 0.05. The columns after D_EW give the effect per metric (matched-pairs
rank-biserial correlation: 1 where every score that moved fell, 0 where none moved).</p>
{body}
</body>
</html>
"""


def _section(result: Result) -> str:
    metrics = list(next(iter((*result.variants, *result.controls, *result.attacks))).metrics)
    head = "".join(f'<th scope="col">{escape(m)}</th>' for m in metrics)
    rows = "\n".join(_row(row, metrics, noticed(row.d)) for row in result.variants)
    remarks = "\n".join(f'<p class="warning">{escape(warning)}</p>' for warning in result.warnings)
    remarks += "\n".join(f'<p class="note">{escape(note)}</p>' for note in notes(result))
    totals = "" if result.curves else _totals(result, len(metrics))
    return f"""<section>
<h2>{escape(result.dataset)}: {escape(result.model)}</h2>
<p class="note">protocol {escape(result.protocol)}, n = {result.n}, statistics {escape(result.statistics)},
weights {escape(result.weights)}</p>
<div class="wide"><table class="named">
<thead><tr><th scope="col">variant</th><th scope="col">level</th>
<th scope="col">D</th><th scope="col">95 %</th><th scope="col">D_EW</th><th scope="col">at D = 1</th>
{head}<th scope="col">pairs</th></tr></thead>
<tbody>
{rows}
</tbody>
{totals}
</table></div>
{_probes(result, metrics)}{"".join(_curve(curve) for curve in result.curves)}
{remarks}
<p class="signature">{escape(result.signature)}</p>
</section>"""


def _totals(result: Result, metrics: int) -> str:
    empty = "<td></td>" * (metrics + 1)
    worst, worst_ew = escape(result.d_min_variant or ""), escape(result.d_min_variant_ew or "")
    return f"""<tfoot>
{_total("D_avg", figure(result.d_avg), result.ci.get("d_avg"), figure(result.d_avg_ew), empty)}
{_total(f"D_min ({worst})", figure(result.d_min), result.ci.get("d_min"), "", empty)}
{_total(f"D_min_EW ({worst_ew})", "", None, figure(result.d_min_ew), empty)}
</tfoot>"""


def _probes(result: Result, metrics: list[str]) -> str:
    rows = "\n".join(_row(row, metrics, probe_verdict(row)) for row in (*result.controls, *result.attacks))
    if not rows:
        return ""
    head = "".join(f'<th scope="col">{escape(m)}</th>' for m in metrics)
    return f"""<h3>Controls and attacks</h3>
<p class="note">A control must not lower a score, an attack must not raise one (two-sided test).</p>
<div class="wide"><table class="named">
<thead><tr><th scope="col">probe</th><th scope="col">kind</th><th scope="col">D</th><th scope="col">95 %</th>
<th scope="col">D_EW</th><th scope="col">verdict</th>{head}<th scope="col">pairs</th></tr></thead>
<tbody>{rows}</tbody>
</table></div>
"""


def _curve(curve: Curve) -> str:
    head = "".join(f'<th scope="col">k = {dose}</th>' for dose in curve.doses)
    rows = "\n".join(
        f"<tr><td>{escape(name)}</td>{''.join(f'<td>{figure(d)}</td>' for d in line.d)}"
        f"<td>{escape(threshold(curve, line))}</td></tr>"
        for name, line in curve.lines.items()
    )
    return f"""<h3>Dose-response: {escape(curve.perturber)}</h3>
<p class="note">D at each dose, and the dose at which it passes 1 with its 95 % bootstrap interval.</p>
<div class="wide"><table>
<thead><tr><th scope="col">metric</th>{head}<th scope="col">D = 1 at</th></tr></thead>
<tbody>{rows}</tbody>
</table></div>
"""


def _total(label: str, d: str, ends: tuple[float, float] | None, d_ew: str, empty: str) -> str:
    interval = between(ends) if ends else ""
    return f"<tr><td>{label}</td><td></td><td>{d}</td><td>{interval}</td><td>{d_ew}</td><td></td>{empty}</tr>"


def _row(row: VariantResult, metrics: list[str], verdict: str) -> str:
    effects = "".join(f"<td>{figure(row.metrics[m].effect)}</td>" for m in metrics)
    return (
        f"<tr><td>{escape(row.variant)}</td><td>{escape(row.level)}</td><td>{figure(row.d)}</td>"
        f"<td>{between(row.ci.get('d'))}</td><td>{figure(row.d_ew)}</td>"
        f'<td class="{verdict}">{verdict}</td>{effects}<td>{pairs(row)}</td></tr>'
    )
