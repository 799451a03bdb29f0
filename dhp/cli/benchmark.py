"""`dhp benchmark`: degrade, judge, analyse."""

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from dhp.analysis.config import AnalysisConfig
from dhp.cli.language_models import refuse_unused, until_answered, with_deferral
from dhp.cli.options import Command, config_option, plugin_flags, settings
from dhp.cli.output import OutputOptions, say
from dhp.cli.preset import Preset
from dhp.cli.protocol_options import (
    DATASET,
    DRY_RUN,
    OWN,
    PROTOCOL,
    SEED,
    Criteria,
    ProtocolChanges,
    model_option,
)
from dhp.core.errors import InputError
from dhp.core.plugins import load_target, offered
from dhp.judge.adapters.settings import JudgeSettings
from dhp.llm.settings import ModelSettings
from dhp.perturb.settings import Choice, PerturbModel

if TYPE_CHECKING:
    from collections.abc import Sequence


COMMON = (
    "--model --dataset --field --prompt-file --metric --scale --name --base-url --n --samples --controls "
    "--dry-run --out --config --details"
)
"""The options that most people need, in the order of their use."""


@click.command(cls=Command, common=COMMON)
@model_option(several=True)
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
@plugin_flags("schedules", "schedule", "Which texts are rated next, given the ratings so far; otherwise all")
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
    schedule: str | None,
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
    schedule = schedule or "all"
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
    """The scorers of the one log that is given, where no judge is named."""
    if len(dataset) == 1:
        for target in offered("log_scorers").values():
            scorers: list[object] | None = load_target(target)(dataset[0])
            if scorers is not None:
                return scorers
    raise InputError(
        "--model: is missing; name a judge, e.g. openai/NAME, python:FILE.py:OBJECT or baseline/surface"
    )
