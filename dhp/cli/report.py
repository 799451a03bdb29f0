"""`dhp report`: rebuild the pages of a finished run."""

from pathlib import Path

import click

from dhp.cli.options import Command
from dhp.cli.output import say
from dhp.core.errors import InputError


@click.command(cls=Command)
@click.argument("run")
@click.option("--out", metavar="PATH", help="File of the report, or folder of the card; default: in the run.")
@click.option("--card", is_flag=True, help="One page on each judge instead: card.html, card.md, card.json.")
def report(run: str, out: str | None, card: bool) -> None:
    """Rebuild the report of a finished run, or write a card.

    RUN is the folder of the run. A card says on one page what a judge notices and misses, on all datasets.

    Example: dhp report runs/one --card
    """
    if card:
        _write_cards(run, out)
        return
    from dhp.core.progress import progress_shown
    from dhp.report.page import write_report

    with progress_shown("done") as show:
        path = write_report(run, out, show)
    say(f"written to {path}")


def _write_cards(run: str, out: str | None) -> None:
    from dhp.core.files import write_lines
    from dhp.report.card import card_json, card_markdown, card_page, judge_cards
    from dhp.runs.reader import read_run

    found = read_run(run)
    cards = judge_cards(found.results)
    folder = found.folder if out is None else Path(out)
    if folder.is_file():
        raise InputError(f"--out {out}: is a file; allowed with --card: a folder")
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"card.html": card_page(cards), "card.md": card_markdown(cards), "card.json": card_json(cards)}
    for name, text in texts.items():
        write_lines(folder / name, [text])
    say(*(f"{each.judge}: {each.summary}" for each in cards), f"written to {folder}: {', '.join(texts)}")
