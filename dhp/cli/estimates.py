"""Estimated calls, tokens, cost and time of a run as a table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dhp.core.text import printable

if TYPE_CHECKING:
    from rich.console import Console

    from dhp.llm.estimate import CostEstimate, Estimate

_WAYS = (
    ("together", "joint"),
    ("one by one", "single"),
    ("by probability", "by_probability"),
)


def print_estimates(estimates: Sequence["Estimate"], console: "Console") -> None:
    """One block a judge, over all its datasets."""
    if not estimates:
        console.print("no language model is asked: 0 calls")
        return
    for judge in dict.fromkeys((e.model, e.protocol) for e in estimates):
        parts = [e for e in estimates if (e.model, e.protocol) == judge]
        several = sum(e.samples for e in parts) > sum(e.prompts for e in parts)
        ways = [way for way in _WAYS if several or way[1] != "single"]
        _print_judge(judge, parts, console, ways[1:2] if several and parts[0].one_by_one else ways)


def _print_judge(
    judge: tuple[str, str],
    parts: Sequence["Estimate"],
    console: "Console",
    ways: Sequence[tuple[str, str]],
) -> None:
    from rich.text import Text

    from dhp.report.tables import plain_table

    samples, stored = sum(e.samples for e in parts), sum(e.stored for e in parts)
    title = f"{judge[0]}  ·  {judge[1]}  ·  {', '.join(e.dataset for e in parts)}"
    console.print(Text(printable(title), style="bold"))
    what = parts[0].what
    if controls := sum(e.controls * e.samples for e in parts) / max(samples, 1):
        said = (
            f"{controls:.0%} of the ratings are of controls (harmless edits); --no-controls leaves them out"
        )
        console.print(said, highlight=False)
    console.print(f"{samples:,} {what}, {stored:,} of them cached or duplicates; to ask:", highlight=False)
    several = samples > sum(e.prompts for e in parts)
    figures = ("calls", "tokens in", "out, at most", "cost, at most", "time")
    table = plain_table("", ("samples" if several else "", *figures), right=figures)
    for way, name in ways if what == "ratings" else ways[:1]:
        shown = way if several or name != "joint" else "as asked"
        table.add_row(shown, *_cells([getattr(e, name) for e in parts]))
    console.print(table)
    console.print(f"time: {parts[0].assumed}", highlight=False)
    if parts[0].priced:
        console.print(f"prices of {parts[0].priced}; --price-in and --price-out say others", highlight=False)
    if what == "texts":
        console.print("answers that fail the check are asked again, up to three times each", highlight=False)
    if not parts[0].exact:
        console.print("tokens are estimates: a quarter of the bytes", highlight=False)


def _cells(bills: Sequence["CostEstimate"]) -> list[str]:
    cost = sum(b.cost or 0.0 for b in bills) if bills[0].cost is not None else None
    return [
        f"{sum(b.calls for b in bills):,}",
        _short(sum(b.prompt_tokens for b in bills)),
        _short(sum(b.completion_tokens for b in bills)),
        "–" if cost is None else f"{cost:,.2f}",
        _duration(sum(b.seconds for b in bills)),
    ]


def _short(count: float) -> str:
    return f"{count / 1e6:,.2f}M" if count >= 1e6 else f"{count:,.0f}"


def _duration(seconds: float) -> str:
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}"
