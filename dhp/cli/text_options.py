"""Options of texts that several commands share."""

import click

DATASET = click.option(
    "--dataset",
    multiple=True,
    metavar="NAME|FILE",
    help="Texts: mini (default), mini/NAME, NAME, all, a table or log of your own, or hf:ORG/NAME; may be "
    "repeated.",
)
RELEASED = click.option(
    "--format",
    "form",
    metavar="NAME",
    help="Released scores: bump, judgebench, llmbar, rewardbench2 or trajectory.",
)
SEED = click.option("--seed", default=0, metavar="K", help="Seed of every random choice.")
ALLOW = click.option(
    "--allow",
    multiple=True,
    metavar="PART",
    help="Part of the signature that may differ between runs: protocol or metrics; may be repeated.",
)
