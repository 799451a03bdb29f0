"""`dhp leaderboard`: a static site of many runs, to which results are added by file."""

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from dhp.core.text import printable


class _SiteUnlessNamed(TyperGroup):
    """Runs `site` where no command is named, so that runs can follow directly."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        named = bool(args) and (args[0] in self.commands or args[0] == "--help")
        return super().parse_args(ctx, args if named else ["site", *args])


leaderboard = typer.Typer(
    cls=_SiteUnlessNamed,
    help="A static site of many runs: dhp leaderboard RUN... --out DIR; dhp leaderboard add FILE --to BOARD.",
    rich_markup_mode=None,
)


@leaderboard.command()
def site(
    run: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN...", help="Run folders, results files, or folders of results files."),
    ] = None,
    out: Annotated[str, typer.Option("--out", metavar="DIR", help="Folder of the site.")] = "site",
) -> None:
    """Write a leaderboard as a static site: pages, JSON, CSV, Markdown, LaTeX.

    Results of unlike data, texts, method, weights, statistics or size stand in separate tables. A run is
    refused whose figures do not follow from its ratings; intervals are not computed anew. The site holds the
    JSON Schema of results files, schema.json.

    Example: dhp leaderboard runs/one runs/two --out site/
    """
    from dhp.leaderboard.load import read_entries
    from dhp.leaderboard.site import write_site
    from dhp.leaderboard.tables import make_tables

    tables = make_tables(read_entries(run or []))
    write_site(tables, out)
    count = sum(len(table.rows) for table in tables)
    page = f"{out.rstrip('/')}/index.html"
    print(f"{page}: {_number(count, 'result')} in {_number(len(tables), 'table')}")


@leaderboard.command()
def add(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A results.json, or a run folder.")],
    to: Annotated[str, typer.Option("--to", metavar="BOARD", help="Folder of results files to add it to.")],
    ratings: Annotated[
        str | None,
        typer.Option("--ratings", metavar="FILE", help="Its ratings; all figures are computed anew."),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option("--weights", metavar="FILE", help="Its expert weights, if they do not ship."),
    ] = None,
    resamples: Annotated[
        int, typer.Option("--resamples", metavar="K", help="With which its intervals were computed.")
    ] = 2000,
) -> None:
    """Check a results file and add it to a board; the schema is schema.json in every site.

    With --ratings, and for a run folder, a file is refused whose figures do not follow from its ratings.

    Example: dhp leaderboard add results.json --to board --ratings ratings.parquet
    """
    from dhp.leaderboard.add import add_results

    for path in add_results(file, to, ratings=ratings, weights=weights, resamples=resamples):
        print(f"written: {printable(str(path))}")


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"
