"""`dhp benchmark`: degrade, judge, analyse.

`RunOptions` are the options of the command, which `--preset` changes first (`Preset.applied`).
`RunOptions.keywords` makes of them the keywords of `dhp.run`, and `carry_out` runs it or estimates its cost.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dhp.analysis.config import AnalysisConfig
from dhp.cli.command import Command
from dhp.cli.config_file import config_option
from dhp.cli.criteria import OWN, Criteria
from dhp.cli.language_models import check_filler, estimates_shown, refuse_unused
from dhp.cli.missing import on_missing
from dhp.cli.options import AnyCommand, settings, stated
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

R = TypeVar("R")


@dataclass(frozen=True)
class Preset(Checked):
    """Settings of a publication."""

    preset: PresetName | None = option(
        "All settings of the DHP paper: its six sets, steps by the model, five answers at temperature 0, "
        "its statistics, no controls. --prompt-file and files of steps may stand beside it.",
        default=None,
    )

    def applied(self, options: "RunOptions") -> "RunOptions":
        """The options with those of the preset; raises `InputError` for an option that contradicts it."""
        if self.preset is None:
            return options
        if options.protocol != (DEFAULT_PROTOCOL,):
            raise _contradiction("--protocol", "protocol", DEFAULT_PROTOCOL)
        choice = _fixed(options.choice, "choice")
        if isinstance(choice.perturb_model, PerturbModel):
            model = _fixed(choice.perturb_model, "choice.perturb_model")
            choice = replace(choice, perturb_model=model)
        return replace(
            options,
            dataset=options.dataset or ("all",),
            choice=choice,
            changes=_fixed(options.changes, "changes"),
            analysis=_fixed(options.analysis, "analysis"),
        )


def _fixed(record: R, parameter: str) -> R:
    settings = paper_settings(parameter, record)
    for name, value in settings.items():
        options = stated(f"{parameter}.{name}")
        if options and getattr(record, name) != value:
            raise _contradiction(options[0], name, value)
    whole: Any = record
    changed: R = replace(whole, **settings)
    return changed


def _contradiction(option: str, name: str, value: object) -> InputError:
    """The error for an option that states another value than the paper has."""
    has = f"no {name}" if value in ((), None) or value is False else f"{name} {value}"
    return InputError(
        f"{option}: contradicts --preset paper, which has {has.replace('_', ' ')}; leave one of them out"
    )


COMMON = (
    "--model --dataset --field --prompt-file --metric --scale --pass-mark --name --base-url --n --samples "
    "--dry-run --out --config --details"
)
"""The options that most people need, in the order of their use."""


@dataclass(frozen=True)
class RunOptions(Checked):
    """The options of a run, but for presets."""

    rules = (*(exclusive("dry_run", f"output.{form}") for form in ("json", "csv", "markdown", "quiet")),)

    model: tuple[str, ...]
    dataset: tuple[str, ...]
    protocol: tuple[str, ...]
    seed: int
    dry_run: bool
    out: str | None
    choice: Choice
    criteria: Criteria
    changes: ProtocolChanges
    settings: ModelSettings
    judge_settings: JudgeSettings
    analysis: AnalysisConfig
    output: OutputOptions

    def keywords(self) -> dict[str, Any]:
        """Keywords of `dhp.run`, but `out` and `progress`; raises `InputError` for a contradiction."""
        judges = self.model or _scorers_of_log(self.dataset)
        # Options that would have no effect are refused before anything is read.
        asked = self.choice.perturb_model
        perturb_model = asked.model if isinstance(asked, PerturbModel) else None
        refuse_unused(self.model, self.protocol, perturb_model=perturb_model is not None)
        check_filler(self.settings, (*self.model, perturb_model), dry_run=self.dry_run)
        named = self.model or (OWN,)  # the scorers of a log are objects, too
        return {
            "model": judges,
            "dataset": self.dataset or None,
            "protocol": [self.changes.changed(name) for name in self.protocol],
            "prompt": self.changes.prompt,
            "metrics": self.criteria.chosen(named, prompted=bool(self.changes.prompt)),
            "settings": self.settings,
            "judge_settings": self.criteria.of_functions(named, self.judge_settings),
            "seed": self.seed,
            "analysis": self.analysis,
            **{field.name: getattr(self.choice, field.name) for field in fields(self.choice)},
        }

    def carry_out(self, run: "Callable[..., Results]", limit: str = "") -> None:
        """Run it, by `dhp.run` or what takes the same keywords, and show the results; or estimate it.

        `limit` says why the estimate is an upper limit.
        """
        from dhp.run import estimate
        from dhp.runs.writer import run_folder

        keywords = self.keywords()
        if self.dry_run:
            say(*estimates_shown(estimate(**keywords)), *([f"upper limit: {limit}"] if limit else []))
            return
        folder = run_folder(self.out, self.changes.name)
        with self.output.working() as progress:
            results = run(**keywords, out=folder, progress=progress)
        self.output.show(results)
        self.output.say(f"report  {folder.path / 'report.html'}")
        _check_scored(results, self.output)


def run_options(command: AnyCommand) -> AnyCommand:
    """Let a command take the fields of `RunOptions`."""
    takes: list[Callable[[AnyCommand], AnyCommand]] = [
        model_option(several=True),
        DATASET,
        PROTOCOL,
        SEED,
        DRY_RUN,
        click.option(
            "--out",
            metavar="DIR",
            help="Folder of the run; default: runs/NAME, or a name made from the options.",
        ),
        config_option,
        settings("choice", Choice),
        settings("criteria", Criteria),
        settings("changes", ProtocolChanges),
        settings("settings", ModelSettings),
        settings("judge_settings", JudgeSettings),
        settings("analysis", AnalysisConfig),
        settings("output", OutputOptions, only=("json", "csv", "markdown", "details", "quiet")),
    ]
    for take in reversed(takes):
        command = take(command)
    return command


@click.command(cls=Command, common=COMMON)
@settings("preset", Preset)
@run_options
def benchmark(preset: Preset, **keywords: Any) -> None:
    """Degrade texts, let a judge rate them, test whether it noticed.

    Example: python -m dhp.benchmark --model baseline/surface --dataset mini/summeval
    """
    from dhp.run import run

    preset.applied(RunOptions(**keywords)).carry_out(run)


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
