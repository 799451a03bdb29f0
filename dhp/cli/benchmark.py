"""`dhp benchmark`: degrade, judge, analyse."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dhp.analysis.config import AnalysisConfig
from dhp.analysis.schedules import ALL
from dhp.cli.language_models import check_filler, estimates_shown, refuse_unused
from dhp.cli.missing import on_missing
from dhp.cli.options import Command, config_option, plugin_flags, settings, stated
from dhp.cli.output import OutputOptions, say
from dhp.cli.protocol_options import (
    DATASET,
    DEFAULT_PROTOCOL,
    DRY_RUN,
    OWN,
    PROTOCOL,
    SEED,
    Criteria,
    ProtocolChanges,
    model_option,
)
from dhp.core.errors import InputError, StoppedEarly, one_of
from dhp.core.options import option
from dhp.core.plugins import load_target, offered
from dhp.core.presets import PRESETS, paper_settings
from dhp.judge.adapters.settings import JudgeSettings
from dhp.llm.settings import ModelSettings
from dhp.perturb.settings import Choice, PerturbModel

if TYPE_CHECKING:
    from dhp.analysis.results import Results

R = TypeVar("R")


@dataclass(frozen=True)
class Preset:
    """Settings of a publication."""

    preset: str | None = field(
        default=None,
        metadata=option(
            "All settings of the DHP paper: its six sets, steps by the model, five answers at temperature 0, "
            "its statistics, no controls. --prompt-file and files of steps may stand beside it.",
            metavar="|".join(PRESETS),
        ),
    )

    def __post_init__(self) -> None:
        if self.preset is not None:
            one_of("preset", self.preset, PRESETS)

    def datasets(self, given: tuple[str, ...]) -> tuple[str, ...]:
        """The datasets that are given, else all six of the paper."""
        return given or (("all",) if self.preset else ())

    def applied(
        self,
        protocol: tuple[str, ...],
        changes: ProtocolChanges,
        analysis: AnalysisConfig,
        choice: Choice,
        schedule: str,
    ) -> tuple[ProtocolChanges, AnalysisConfig, Choice]:
        """The settings with those of the preset; raises `InputError` for an option that contradicts it."""
        if self.preset is None:
            return changes, analysis, choice
        if protocol != (DEFAULT_PROTOCOL,):
            raise _contradiction("--protocol", "protocol", DEFAULT_PROTOCOL)
        if schedule != ALL.name:
            raise _contradiction(f"--{schedule.replace('_', '-')}", schedule, None)
        choice = _fixed(choice, "choice")
        if isinstance(choice.perturb_model, PerturbModel):
            model = _fixed(choice.perturb_model, "choice.perturb_model")
            choice = replace(choice, perturb_model=model)
        return _fixed(changes, "changes"), _fixed(analysis, "analysis"), choice


def _fixed(record: R, parameter: str) -> R:
    settings = paper_settings(parameter, record)
    for name, value in settings.items():
        if getattr(record, name) != value and (options := stated(f"{parameter}.{name}")):
            raise _contradiction(options[0], name, value)
    whole: Any = record
    changed: R = replace(whole, **settings)
    return changed


def _contradiction(option: str, name: str, value: object) -> InputError:
    has = f"no {name}" if value in ((), None) or value is False else f"{name} {value}"
    return InputError(
        f"{option}: contradicts --preset paper, which has {has.replace('_', ' ')}; leave one of them out"
    )


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
    from dhp.run import estimate, run
    from dhp.runs.writer import run_folder

    output.check(dry_run)
    schedule = schedule or ALL.name
    changes, analysis, choice = preset.applied(protocol, changes, analysis, choice, schedule)
    dataset = preset.datasets(dataset)
    judges = model or _scorers_of_log(dataset)
    perturb_model = choice.perturb_model.model if isinstance(choice.perturb_model, PerturbModel) else None
    refuse_unused(model, protocol, perturb_model=perturb_model is not None)
    check_filler(settings, (*model, perturb_model), dry_run=dry_run)
    named = model or (OWN,)  # the scorers of a log are objects, too
    way: dict[str, Any] = {
        "protocol": [changes.changed(name) for name in protocol],
        "prompt_files": changes.prompt_files,
        "metrics": criteria.chosen(named),
        "settings": settings,
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
        results = run(judges, dataset or None, out=folder, progress=progress, **way)
    output.show(results)
    output.say(f"report  {folder.path / 'report.html'}")
    _check_scored(results, output)


def _check_scored(results: "Results", output: OutputOptions) -> None:
    """Say why many ratings have no score; raises `StoppedEarly` where most of a result have none."""
    names = ("scored", "unparsed", "refused", "out_of_scale", "failed")
    stopped: StoppedEarly | None = None
    for result in results:
        counts = {name: result.ratings.get(name, 0) for name in names}
        try:
            if line := on_missing(f"{result.judge} on {result.dataset}", counts, result.failures):
                output.say(line)
        except StoppedEarly as e:  # the others are said first
            if stopped:
                output.say(str(stopped))
            stopped = e
    if stopped:
        raise stopped


def _scorers_of_log(dataset: Sequence[str]) -> list[object]:
    """The scorers of the one log that is given, where no judge is named."""
    if len(dataset) == 1:
        for target in offered("log_scorers").values():
            scorers: list[object] | None = load_target(target)(dataset[0])
            if scorers is not None:
                return scorers
    raise InputError(
        "--model: is missing; name a judge, e.g. openai/NAME, python:FILE.py:OBJECT or baseline/surface"
    )
