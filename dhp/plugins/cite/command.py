"""`dhp cite`: print what to cite."""

import click

from dhp.cli.command import Command
from dhp.plugins.cite.references import cite as references


@click.command(cls=Command)
@click.argument("source", nargs=-1)
def cite(source: tuple[str, ...]) -> None:
    """Print what to cite for a run, a dataset or a protocol, in BibTeX.

    SOURCE is the folder of a run, or the name of a dataset or protocol; without it dhp cites the benchmark
    and this program. Bundled examples were written for this project and add nothing.

    Example: dhp cite summeval > references.bib
    """
    click.echo(references(*source), nl=False)
