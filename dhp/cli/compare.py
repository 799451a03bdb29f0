"""`dhp compare`: which of several judges is better, as far as the same examples can tell."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from dhp.comparing import DatasetComparison

_SHOWN = {"d_avg": "D_avg", "d_min": "D_min", "d_avg_ew": "D_avg_EW", "d_min_ew": "D_min_EW"}


def compare(
    run: Annotated[list[str], typer.Argument(metavar="RUN...", help="Folders of finished runs.")],
    allow: Annotated[
        list[str], typer.Option("--allow", metavar="PART", help="What may differ, e.g. protocol.")
    ] = [],  # noqa: B006  typer reads defaults, never changes them
    resamples: Annotated[
        int, typer.Option("--resamples", metavar="K", help="Of the examples, for intervals and p-values.")
    ] = 2000,
    json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Compare judges that rated the same texts: differences, intervals, ranks, groups.

    Example: dhp compare runs/one runs/two
    """
    from dhp.comparing import compare_runs

    found = compare_runs(run, allow=allow, resamples=resamples)
    if json:
        from json import dumps

        print(dumps([each.to_json() for each in found], ensure_ascii=False, indent=1))
        return
    from rich.console import Console

    console = Console()
    for each in found:
        _print(each, console)


def _print(found: "DatasetComparison", console: "Console") -> None:
    from dhp.report.plain import plain_table
    from dhp.report.reading import figure
    from dhp.text import printable

    def table(title: str, *headings: str) -> "Table":
        made = plain_table(title)
        for place, heading in enumerate(headings):
            made.add_column(heading, justify="right" if place else "left", overflow="fold")
        return made

    def shown(value: float) -> str:
        return figure(None if value != value else value)

    for quantity, comparison in found.scores.items():
        name = _SHOWN[quantity]
        ranks = table(f"{found.dataset}  ·  {name}  ·  n = {found.n}", "judge", name, "95 %", "rank", "group")
        for k in sorted(range(len(found.judges)), key=lambda k: comparison.rank[k]):
            judge = found.judges[k]
            letters = "".join(chr(ord("a") + g) for g, group in enumerate(comparison.groups) if k in group)
            ends = f"{shown(comparison.low[k])}–{shown(comparison.high[k])}"
            rank = f"{comparison.rank[k]:g} ({comparison.rank_low[k]:g}–{comparison.rank_high[k]:g})"
            ranks.add_row(*map(printable, (judge, shown(comparison.point[k]), ends, rank, letters)))
        console.print()
        console.print(ranks)
        pairs = table(f"differences in {name}", "judges", "difference", "95 %", "p", "p (Holm)")
        for pair in comparison.pairs:
            judges = f"{found.judges[pair.first]} – {found.judges[pair.second]}"
            ends = f"{shown(pair.low)} to {shown(pair.high)}"
            pairs.add_row(
                *map(printable, (judges, shown(pair.difference), ends, f"{pair.p:.3g}", f"{pair.p_holm:.3g}"))
            )
        console.print(pairs)
    console.print("judges that share a group letter cannot be told apart at 0.05", highlight=False)
