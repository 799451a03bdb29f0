"""`dhp early-stopping` and `dhp find-threshold`."""

from dataclasses import replace
from typing import Any

import click

from dhp.cli.benchmark import COMMON, RunOptions, run_options
from dhp.cli.command import Command


@click.command("early-stopping", cls=Command, common=COMMON)
@run_options
def early_stopping(**options: Any) -> None:
    """Benchmark that stops rating a kind of damage once its verdict is decided.

    There are four looks, after a quarter, a half, three quarters and all of the texts, which share the error
    of the verdicts. One judge at a time.

    Example: dhp early-stopping --model openai/NAME --dataset mini/summeval
    """
    from dhp.plugins.adaptive.early_stopping import early_stopping as run

    RunOptions(**options).carry_out(run, "kinds of damage that are decided early need fewer ratings")


@click.command("find-threshold", cls=Command, common=COMMON)
@run_options
def find_threshold(**keywords: Any) -> None:
    """Find the smallest dose that is noticed (T75) with few calls.

    Doses are chosen by the ratings that came before: about a third of the calls of a grid of seven doses.
    Without --doses there are those from 1 to 64 to choose from. One judge at a time.

    Example: dhp find-threshold --model openai/NAME --dataset mini/summeval
    """
    from dhp.plugins.adaptive.threshold_search import DOSES
    from dhp.plugins.adaptive.threshold_search import find_threshold as run

    options = RunOptions(**keywords)
    options = replace(options, choice=replace(options.choice, doses=options.choice.doses or DOSES))
    options.carry_out(run, "doses are chosen as ratings come in, and most texts are never rated")
