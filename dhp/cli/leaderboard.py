"""`dhp leaderboard`: a static site of many runs."""

import click

from dhp.cli.command import Command
from dhp.cli.options import setting
from dhp.cli.output import OutputOptions, say
from dhp.cli.protocol_options import ALLOW
from dhp.core.progress import progress_of
from dhp.leaderboard import FOLDER


class _SiteUnlessNamed(click.Group):
    """Runs `site` if no command is named, so that runs can follow directly."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # `--help` is that of the group, which names both commands.
        named = bool(args) and (args[0] in self.commands or args[0] == "--help")
        return super().parse_args(ctx, args if named else ["site", *args])


@click.group(cls=_SiteUnlessNamed)
def leaderboard() -> None:
    """Write a static site of many runs, or add results.

    dhp leaderboard RUN... --out DIR; dhp leaderboard add FILE --to BOARD.
    """


@leaderboard.command(cls=Command)
@click.argument("run", nargs=-1)
@click.option("--out", default=FOLDER, metavar="DIR", help="Folder of the site.")
@setting(OutputOptions, "latex")
@ALLOW
def site(run: tuple[str, ...], out: str, latex: bool, allow: tuple[str, ...]) -> None:
    """Write a leaderboard as a static site.

    The site holds pages, the tables as JSON, CSV, Markdown and LaTeX, and the JSON Schema of results files,
    schema.json. Each RUN is a run folder, a results file, or a folder of them. Results of unlike
    data, texts, method, weights, statistics or size stand in separate tables. A run is refused whose figures
    do not follow from its ratings; intervals are not computed anew.

    --latex prints one table of judges and sets for a paper instead.

    Example: dhp leaderboard runs/one runs/two --out site/
    """
    from dhp.leaderboard.paper import as_latex
    from dhp.leaderboard.reading import read_entries
    from dhp.leaderboard.site import write_site
    from dhp.leaderboard.tables import make_tables

    with progress_of(True) as show:
        tables = make_tables(read_entries(run, show), allow, show)
        if not latex:
            write_site(tables, out, show)
    if latex:
        click.echo(as_latex(tables), nl=False)
        return
    rows = sum(len(table.rows) for table in tables)
    say(f"{out.rstrip('/')}/index.html: {_number(rows, 'result')} in {_number(len(tables), 'table')}")


@leaderboard.command(cls=Command)
@click.argument("file")
@click.option("--to", "board", required=True, metavar="BOARD", help="Folder of results files to add it to.")
@click.option(
    "--ratings", metavar="FILE", help="Ratings of these results; all figures are recomputed from them."
)
@click.option("--weights", metavar="FILE", help="Expert weights of these results, unless bundled with dhp.")
def add(file: str, board: str, ratings: str | None, weights: str | None) -> None:
    """Check a results file and add it to a board.

    FILE is a run folder or a results.json; the schema is schema.json in every site. With --ratings, and for a
    run folder, a file is refused whose figures do not follow from its ratings.

    Example: dhp leaderboard add results.json --to board --ratings ratings.parquet
    """
    from dhp.leaderboard.reading import add_results

    for path in add_results(file, board, ratings=ratings, weights=weights):
        say(f"written: {path}")


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"
