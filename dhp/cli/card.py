"""`dhp card`: one page on a judge, for people with a minute."""

from pathlib import Path

import click

from dhp.cli.output import print_line
from dhp.core.text import printable


@click.command()
@click.argument("run")
@click.option("--out", metavar="DIR", help="Where the files go; default: the run's folder.")
def card(run: str, out: str | None) -> None:
    """Write what a judge sees and misses on one page: card.html, card.md and card.json.

    RUN is the folder of a finished run; a judge on several datasets has one card.

    Example: dhp card runs/one
    """
    from dhp.core.files import write_lines
    from dhp.report.card import card_json, card_markdown, card_page, judge_cards
    from dhp.runs.reader import read_run

    found = read_run(run)
    cards = judge_cards(found.results)
    folder = found.folder if out is None else Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"card.html": card_page(cards), "card.md": card_markdown(cards), "card.json": card_json(cards)}
    for name, text in texts.items():
        write_lines(folder / name, [text])
    for each in cards:
        print_line(printable(f"{each.judge}: {each.summary}"))
    print(f"written to {printable(str(folder))}: {', '.join(texts)}")
