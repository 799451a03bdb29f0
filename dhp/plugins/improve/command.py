"""`dhp improve`: try changes of a judge prompt, and confirm the best one on other texts."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from dhp.analysis.config import AnalysisConfig
from dhp.analysis.marks import resolved_marks
from dhp.cli.command import Command
from dhp.cli.config_file import config_option
from dhp.cli.criteria import Criteria
from dhp.cli.language_models import check_filler
from dhp.cli.options import settings
from dhp.cli.output import say
from dhp.cli.protocol_options import DATASET, DRY_RUN, PROTOCOL, SEED, ProtocolChanges, model_option
from dhp.core.errors import InputError
from dhp.core.writing import OutputFolder
from dhp.llm.api import providers
from dhp.llm.settings import ModelSettings
from dhp.perturb.settings import Choice

if TYPE_CHECKING:
    from dhp.plugins.improve.changes import Marks
    from dhp.plugins.improve.trials import Asked

_TEXTS = (
    "data",
    "task",
    "fields",
    "where",
    "n",
    "min_characters",
    "suite",
    "perturbers",
    "text_language",
    "judge_part",
    "controls",
)
"""What is chosen of texts: all but models, sets and doses of degraded texts, which a loop cannot take."""
_COMMON = (
    "--model --dataset --field --prompt-file --metric --scale --labels --pass-mark --base-url --n --max-cost "
    "--dry-run --out --config"
)


@click.command(cls=Command, common=_COMMON)
@model_option(required=True)
@DATASET
@PROTOCOL
@SEED
@DRY_RUN
@click.option("--out", default="runs/improve", show_default=True, metavar="DIR", help="Where to write.")
@config_option
@settings("choice", Choice, only=_TEXTS)
@settings("criteria", Criteria)
@settings("changes", ProtocolChanges)
@settings("settings", ModelSettings)
@settings("analysis", AnalysisConfig, only=("pass_mark",))
def improve(
    model: str,
    dataset: tuple[str, ...],
    protocol: tuple[str, ...],
    seed: int,
    dry_run: bool,
    out: str,
    choice: Choice,
    criteria: Criteria,
    changes: ProtocolChanges,
    settings: ModelSettings,
    analysis: AnalysisConfig,
) -> None:
    """Try changes of a judge prompt, and confirm the best one on other texts.

    Each change is tried alone on one half of the texts: reasons first, checks of facts, reading by the
    sentence, a wider scale, what the points mean, probability weighting, samples. The best one
    is compared with the prompt as it was on the other half; only if it is shown to help there, it is
    written as prompt file and dhp.yaml. What helps detects more damage; with --pass-mark fewer damaged texts
    pass and good texts fail, both together.

    Example: dhp improve --model openai/NAME --dataset mine.csv --prompt-file prompt.txt --metric tone
    """
    from dhp.plugins.improve.best_config import written
    from dhp.plugins.improve.trials import Trials, estimates
    from dhp.plugins.improve.words import confirmed_lines, heading, lines, planned

    _check(model, dataset, protocol, changes)
    check_filler(settings, (model,), dry_run=dry_run)
    folder = Path(out).expanduser()
    asked = _asked(model, dataset, protocol[0], seed, folder, choice, criteria, changes, settings, analysis)
    if dry_run:
        say(*planned(estimates(asked)))
        return

    asked.halves()  # refuses too few texts before the folder is made
    # The same trials go on in their folder; those of another judge or texts are refused there.
    with OutputFolder(folder, "improvement", ("dhp.yaml",)).claim(asked.identity()):
        trials = Trials(asked, progress=True)
        say(heading(trials))
        outcome = trials.outcome()
        say(*lines(outcome), *confirmed_lines(outcome))
        if outcome.helps:
            say(written(outcome, click.get_current_context()))


def _check(model: str, dataset: Sequence[str], protocol: Sequence[str], changes: ProtocolChanges) -> None:
    known = tuple(f"{provider}/" for provider in providers())
    if not model.startswith(known):
        allowed = ", ".join(f"{each}NAME" for each in known)
        raise InputError(
            f"`model` {model}: has no prompt that could be changed; allowed: a language model, {allowed}"
        )
    if not changes.prompt:
        raise InputError("`prompt`: is missing; name the prompt to improve")
    for name, value in (("dataset", dataset), ("protocol", protocol)):
        if len(value) > 1:
            raise InputError(f"`{name}`: there are {len(value)}; a prompt is improved for one at a time")


def _asked(
    model: str,
    dataset: Sequence[str],
    protocol: str,
    seed: int,
    out: Path,
    choice: Choice,
    criteria: Criteria,
    changes: ProtocolChanges,
    settings: ModelSettings,
    analysis: AnalysisConfig,
) -> "Asked":
    from dhp.content.catalog import override, with_metrics
    from dhp.judge.prompt_files import prompt_versions, prompts_by_metric, read_files
    from dhp.perturb.builder import found_datasets, with_own_task
    from dhp.plugins.improve.changes import JudgePrompt
    from dhp.plugins.improve.trials import ORIGINAL, Asked, sharing

    # How the judge is asked: one protocol, one version of the prompt.
    way = changes.changed(protocol)
    if way.pairwise:
        raise InputError(f"`protocol` {protocol}: compares texts; allowed: pointwise protocols")
    metrics = criteria.chosen(prompted=True)
    one_prompt = len(metrics) == 1 or way.answer == "json"
    if len(prompt_versions(changes.prompt, one_prompt=one_prompt)) > 1:
        raise InputError("`prompt`: names several versions of a prompt; one is improved at a time")

    # The texts: one set, with the user's metrics in its task.
    sets, _ = found_datasets(list(dataset) or None, with_own_task(list(dataset), choice, metrics), seed)
    if len(sets) > 1:
        names = ", ".join(each.name for each in sets)
        raise InputError(f"`dataset`: a prompt is improved on one set of texts; allowed: one of {names}")
    task = with_metrics(sets[0].task, metrics)

    # The prompt as it is; an answer in JSON holds all metrics, so it has one prompt for all of them.
    files = read_files(changes.prompt)
    if way.answer != "json":
        prompts_by_metric(files, task.metric_names, task.columns)
    resolved_marks(analysis.pass_mark, task.metric_names, task.metrics)  # refuses one that is on no scale
    marks = cast("Marks | None", analysis.pass_mark)  # a command reads it as a mapping
    prompt = JudgePrompt(files, override(way, protocol=ORIGINAL), tuple(task.metrics), pass_mark=marks)
    kept = {"perturbers": choice.perturbers, "controls": choice.controls}
    return Asked(model, prompt, sets[0], kept, sharing(settings), seed, out)
