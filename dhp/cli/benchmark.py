"""`dhp benchmark`: degrade, judge, analyse.

The options go as keywords to `dhp.run`, or with `--dry-run` to `dhp.estimate`, as a user of Python states
them. What only the command line can know is checked before: which options were typed, and whether they have
an effect for these judges. After the run `_check_scored` says why ratings have no score.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import click

from dhp.analysis.config import AnalysisConfig
from dhp.cli.command import Command
from dhp.cli.config_file import config_option
from dhp.cli.criteria import Criteria
from dhp.cli.language_models import check_filler, estimates_shown, refuse_unused
from dhp.cli.missing import on_missing
from dhp.cli.options import settings, stated
from dhp.cli.output import OutputOptions, say
from dhp.cli.protocol_options import (
    DATASET,
    DEFAULT_PROTOCOL,
    DRY_RUN,
    PROTOCOL,
    SEED,
    ProtocolChanges,
    model_option,
)
from dhp.core.checks import Checked, exclusive
from dhp.core.errors import InputError, StoppedEarly
from dhp.core.options import option
from dhp.core.plugins import load_target, offered
from dhp.core.presets import PresetName, paper_settings
from dhp.judge.adapters.settings import JudgeSettings
from dhp.llm.settings import ModelSettings
from dhp.perturb.settings import Choice, PerturbModel

if TYPE_CHECKING:
    from dhp.analysis.results import Results

COMMON = (
    "--model --dataset --field --prompt-file --metric --scale --pass-mark --name --base-url --n --samples "
    "--dry-run --out --config --details"
)
"""The options that most people need, in the order of their use."""
_FORMS = ("json", "csv", "markdown", "quiet")
"""Forms of the results, which a dry run has none of."""


@dataclass(frozen=True)
class Preset(Checked):
    """Settings of a publication."""

    preset: PresetName | None = option(
        "All settings of the DHP paper: its six sets, steps by the model, five answers at temperature 0, "
        "its statistics, no controls. --prompt-file and files of steps may stand beside it.",
        default=None,
    )


def _refuse_beside_preset(
    protocol: tuple[str, ...], choice: Choice, changes: ProtocolChanges, analysis: AnalysisConfig
) -> None:
    """Raise `InputError` for an option that was typed and contradicts the paper.

    `dhp.run` refuses a setting that differs from the paper and from its default. That a default was typed,
    as in `--statistics default`, is known here alone.
    """
    if protocol != (DEFAULT_PROTOCOL,):
        raise _contradiction("--protocol", "protocol", DEFAULT_PROTOCOL)
    records: dict[str, object] = {"choice": choice, "changes": changes, "analysis": analysis}
    if isinstance(choice.perturb_model, PerturbModel):
        records["choice.perturb_model"] = choice.perturb_model
    for parameter, record in records.items():
        for name, value in paper_settings(parameter, record).items():
            options = stated(f"{parameter}.{name}")
            if options and getattr(record, name) != value:
                raise _contradiction(options[0], name, value)


def _contradiction(option: str, name: str, value: object) -> InputError:
    """The error for an option that states another value than the paper has."""
    has = f"no {name}" if value in ((), None) or value is False else f"{name} {value}"
    return InputError(
        f"{option}: contradicts --preset paper, which has {has.replace('_', ' ')}; leave one of them out"
    )


@click.command(cls=Command, common=COMMON, rules=[exclusive("dry_run", f"output.{form}") for form in _FORMS])
@settings("preset", Preset)
@model_option(several=True)
@DATASET
@PROTOCOL
@SEED
@DRY_RUN
@click.option(
    "--out", metavar="DIR", help="Folder of the run; default: runs/NAME, or a name made from the options."
)
@config_option
@settings("choice", Choice)
@settings("criteria", Criteria)
@settings("changes", ProtocolChanges)
@settings("settings", ModelSettings)
@settings("judge_settings", JudgeSettings)
@settings("analysis", AnalysisConfig)
@settings("output", OutputOptions, only=("json", "csv", "markdown", "details", "quiet"))
def benchmark(
    preset: Preset,
    model: tuple[str, ...],
    dataset: tuple[str, ...],
    protocol: tuple[str, ...],
    seed: int,
    dry_run: bool,
    out: str | None,
    choice: Choice,
    criteria: Criteria,
    changes: ProtocolChanges,
    settings: ModelSettings,
    judge_settings: JudgeSettings,
    analysis: AnalysisConfig,
    output: OutputOptions,
) -> None:
    """Degrade texts, let a judge rate them, test whether it noticed.

    Example: python -m dhp.benchmark --model baseline/surface --dataset mini/summeval
    """
    from dhp.run import estimate, run
    from dhp.runs.writer import run_folder

    # Options that would have no effect are refused before anything is read.
    if preset.preset is not None:
        _refuse_beside_preset(protocol, choice, changes, analysis)
    perturb_model = choice.perturb_model.model if isinstance(choice.perturb_model, PerturbModel) else None
    refuse_unused(model, protocol, perturb_model=perturb_model is not None)
    check_filler(settings, (*model, perturb_model), dry_run=dry_run)

    keywords: dict[str, Any] = {
        "model": model or _scorers_of_log(dataset),
        "dataset": dataset or None,
        "protocol": [changes.changed(name) for name in protocol],
        "prompt": changes.prompt,
        "metrics": criteria.metrics,
        "scale": criteria.scale,
        "labels": criteria.words,
        "settings": settings,
        "judge_settings": judge_settings,
        "seed": seed,
        "analysis": analysis,
        "preset": preset.preset,
    }
    # `dhp.run` takes each field of `Choice` as a keyword of its own.
    for field in fields(choice):
        keywords[field.name] = getattr(choice, field.name)
    if dry_run:
        say(*estimates_shown(estimate(**keywords)))
        return

    # After the estimate, which needs no folder.
    folder = run_folder(out, changes.name)
    with output.working() as progress:
        results = run(**keywords, out=folder, progress=progress)
    output.show(results)
    output.say(f"report  {folder.path / 'report.html'}")
    _check_scored(results, output)


def _check_scored(results: "Results", output: OutputOptions) -> None:
    """Say why many ratings have no score; raises `StoppedEarly` if most of a result have none."""
    names = ("scored", "unparsed", "refused", "out_of_scale", "failed")
    stopped: StoppedEarly | None = None
    for result in results:
        counts = {name: result.ratings.get(name, 0) for name in names}
        try:
            line = on_missing(f"{result.judge} on {result.dataset}", counts, result.failures)
            if line:
                output.say(line)
        except StoppedEarly as e:  # the others are said first
            if stopped:
                output.say(str(stopped))
            stopped = e
    if stopped:
        raise stopped


def _scorers_of_log(dataset: Sequence[str]) -> list[object]:
    """The scorers of the only log, if no judge is named."""
    if len(dataset) == 1:
        for target in offered("log_scorers").values():
            scorers: list[object] | None = load_target(target)(dataset[0])
            if scorers is not None:
                return scorers
    raise InputError(
        "--model: is missing; name a judge, e.g. openai/NAME, python:FILE.py:OBJECT or baseline/surface"
    )
