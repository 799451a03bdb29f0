"""`dhp benchmark`: degrade, judge, analyse."""

from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from dhp.analysis.config import AnalysisConfig
from dhp.cli.language_models import refuse_unused, until_answered, with_deferral
from dhp.cli.options import Command, config_option, settings
from dhp.cli.output import OutputOptions, say
from dhp.cli.preset import Preset
from dhp.cli.protocol_options import DATASET, DRY_RUN, OWN, PROTOCOL, SEED, Criteria, ProtocolChanges
from dhp.core.errors import InputError
from dhp.core.plugins import offered
from dhp.judge.adapters.settings import JudgeSettings
from dhp.llm.settings import ModelSettings
from dhp.perturb.settings import Choice, PerturbModel

if TYPE_CHECKING:
    from collections.abc import Sequence


class _ScheduleOption(click.Option):
    """The option of a schedule."""

    heading = "Which texts are rated next, given the ratings so far; otherwise all"


def schedule_options(command: Callable[..., object]) -> Callable[..., object]:
    """Let a command take the name of a schedule: each that a plug-in adds is an option."""
    known = offered("schedules")

    @wraps(command)
    def wrapper(**given: object) -> object:
        chosen = [name for name in known if given.pop(name)]
        if len(chosen) > 1:
            raise InputError(f"`{chosen[0]}`: cannot be used with `{chosen[1]}`; allowed: one of them")
        return command(**given, schedule=chosen[0] if chosen else "all")

    for name, (_, help_text) in reversed(known.items()):
        flag = f"--{name.replace('_', '-')}"
        click.option(flag, name, cls=_ScheduleOption, is_flag=True, help=help_text)(wrapper)
    return wrapper


COMMON = (
    "--model --dataset --field --prompt-file --metric --scale --name --base-url --n --samples --controls "
    "--dry-run --out --config --details"
)
"""The options that most people need, in the order of their use."""


@click.command(cls=Command, common=COMMON)
@click.option(
    "--model",
    multiple=True,
    metavar="MODEL",
    help="Judge, e.g. openai/NAME, python:FILE.py:OBJECT or baseline/surface; may be repeated.",
)
@DATASET
@PROTOCOL
@SEED
@DRY_RUN
@click.option(
    "--out", metavar="DIR", help="Folder of the run; default: runs/NAME, or a name made from the options."
)
@config_option
@settings("preset", Preset)
@settings("choice", Choice)
@settings("criteria", Criteria)
@settings("changes", ProtocolChanges)
@settings("settings", ModelSettings)
@settings("judge_settings", JudgeSettings)
@settings("analysis", AnalysisConfig)
@schedule_options
@settings("output", OutputOptions)
def benchmark(
    model: tuple[str, ...],
    dataset: tuple[str, ...],
    protocol: tuple[str, ...],
    seed: int,
    dry_run: bool,
    out: str | None,
    preset: Preset,
    choice: Choice,
    criteria: Criteria,
    changes: ProtocolChanges,
    settings: ModelSettings,
    judge_settings: JudgeSettings,
    analysis: AnalysisConfig,
    schedule: str,
    output: OutputOptions,
) -> None:
    """Degrade texts, let a judge rate them, test whether it noticed.

    Example: python -m dhp.benchmark --model baseline/surface --dataset mini/summeval
    """
    from dhp.analysis.schedules import find_schedule
    from dhp.cli.estimates import estimates_shown
    from dhp.run import estimate, run
    from dhp.runs.writer import run_folder

    output.check(dry_run)
    changes, analysis, choice = preset.applied(protocol, changes, analysis, choice, schedule)
    dataset = preset.datasets(dataset)
    judges = model or _scorers_of_log(dataset)
    perturb_model = choice.perturb_model.model if isinstance(choice.perturb_model, PerturbModel) else None
    refuse_unused(model, protocol, perturb_model=perturb_model is not None)
    named = model or (OWN,)  # the scorers of a log are objects, too
    way: dict[str, Any] = {
        "protocol": [changes.changed(name) for name in protocol],
        "prompt_files": changes.prompt_files,
        "metrics": criteria.chosen(named),
        "settings": with_deferral(settings, (*model, perturb_model), dry_run=dry_run),
        "judge_settings": criteria.of_functions(named, judge_settings),
        "seed": seed,
        "analysis": analysis,
        "schedule": schedule,
        **{field.name: getattr(choice, field.name) for field in fields(choice)},
    }
    if dry_run:
        limit = find_schedule(schedule).limit
        found = estimates_shown(estimate(judges, dataset or None, **way))
        say(*found, *([f"upper limit: {limit}"] if limit else []))
        return
    folder = run_folder(out, changes.name)
    with output.working() as progress:
        results = until_answered(lambda: run(judges, dataset or None, out=folder, progress=progress, **way))
    output.show(results)
    output.say(f"report  {folder.path / 'report.html'}")


def _scorers_of_log(dataset: "Sequence[str]") -> list[object]:
    """The scorers of the one log of inspect_ai that is given, where no judge is named."""
    from dhp.core.plugins import load_target, offered
    from dhp.loaders.logs import is_inspect_log

    if len(dataset) != 1 or not is_inspect_log(dataset[0]):
        raise InputError(
            "--model: is missing; name a judge, e.g. openai/NAME, python:FILE.py:OBJECT or baseline/surface"
        )
    scorers: list[object] = load_target(offered("log_scorers")["inspect_ai"])(dataset[0])
    return scorers
