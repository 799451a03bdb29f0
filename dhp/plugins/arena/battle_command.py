"""`dhp battle`: compare systems pair by pair, or read recorded verdicts."""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dhp.cli.language_models import check_filler
from dhp.cli.options import Command, setting, settings
from dhp.cli.output import JSON, print_out, say
from dhp.cli.protocol_options import DRY_RUN, RELEASED, SEED, AnswerChanges, Criteria, model_option
from dhp.core.errors import InputError, one_of
from dhp.core.files import Lock, check_free_folder
from dhp.core.options import option
from dhp.llm.settings import ModelSettings
from dhp.perturb.settings import Choice
from dhp.plugins.arena.recorded_verdicts import (
    RecordedCell,
    compared_ways,
    read_judgebench_verdicts,
    read_llmbar_answers,
    read_llmbar_pairs,
    recorded_cells,
)
from dhp.report.labels import percents
from dhp.report.printout import Part, Printout, TextTable

if TYPE_CHECKING:
    from dhp.core.protocol_spec import Protocol


@dataclass(frozen=True)
class PairwiseChanges(AnswerChanges):
    """How a judge is asked about two texts; otherwise as the protocol says."""

    protocol: str = field(
        default="battle",
        metadata=option("battle, choose or swap, see dhp list protocols.", metavar="NAME|FILE.yaml"),
    )
    ties: bool | None = field(
        default=None, metadata=option("The judge may call a tie.", name="--ties/--no-ties")
    )

    def chosen(self) -> "Protocol":
        """The protocol with these changes."""
        from dhp.content.catalog import read_pairwise

        return read_pairwise(self.protocol, **self.given({"ties": self.ties}))


@dataclass(frozen=True)
class RecordedOptions:
    """Verdicts that are recorded; no judge is asked."""

    recorded: tuple[str, ...] = field(
        default=(), metadata=option("Recorded verdicts; may be repeated.", metavar="FILE", many=True)
    )
    pairs: str | None = field(
        default=None, metadata=option("The pairs that the verdicts are about (llmbar).", metavar="FILE")
    )


BATTLE_PROMPTS = click.option(
    "--battle-prompts", metavar="FILE", help="A battle prompt file of ColossalEval, used as it is."
)


@click.command(
    cls=Command,
    common="--model --out --task --metric --protocol --ties --samples --recorded --format --pairs --base-url "
    "--max-calls --json --dry-run",
)
@click.argument("answers", nargs=-1, metavar="[[NAME=]FILE]...")
@model_option()
@click.option("--out", metavar="DIR", help="Writes battle.json, verdicts.jsonl and report.html there.")
@JSON
@DRY_RUN
@SEED
@setting(Choice, "task")
@setting(Criteria, "metrics")
@BATTLE_PROMPTS
@RELEASED
@settings("changes", PairwiseChanges)
@settings("recordings", RecordedOptions)
@settings("settings", ModelSettings)
def battle(
    answers: tuple[str, ...],
    model: str | None,
    out: str | None,
    json: bool,
    dry_run: bool,
    seed: int,
    task: str | None,
    metrics: tuple[str, ...],
    battle_prompts: str | None,
    form: str | None,
    changes: PairwiseChanges,
    recordings: RecordedOptions,
    settings: ModelSettings,
) -> None:
    """Let a judge compare the answers of two systems or more.

    Each pair is judged in both orders. Each FILE holds the answers of one system: id, question (or
    instruction and input), output (or answer), optionally category. Its name is NAME, or the file's. The task
    is `instruction`, unless --task names another. The judge mock/first always prefers the text shown first.
    Recorded verdicts have the form llmbar, unless --format says judgebench.

    Example: dhp battle old.jsonl new.jsonl --model openai/gpt-4o-mini --out battles/new
    """
    if recordings.recorded:
        if answers or model or dry_run or out:
            raise InputError("--recorded: asks no judge; allowed with it: --format, --pairs and --json")
        print_out(recorded_verdicts(recordings.recorded, form or "llmbar", recordings.pairs), json=json)
        return
    if len(answers) < 2 or model is None:
        raise InputError("dhp battle: needs at least two answer files and --model, or --recorded FILE")
    from dhp.plugins.arena.battle import (
        BattleSpec,
        battle_estimate,
        battle_printout,
        read_systems,
    )

    folder = None if out is None else Path(out)
    if folder:
        check_free_folder(folder, "battle.json", "battle")
    check_filler(settings, (model,), dry_run=dry_run)
    spec = BattleSpec(
        systems=read_systems(answers),
        model=model,
        protocol=changes.chosen(),
        settings=settings,
        metrics=metrics,
        battle_prompts=battle_prompts,
        seed=seed,
    )
    if task is not None:
        spec = replace(spec, task=task)
    if dry_run:
        say(*battle_estimate(spec, spec.settings.context()))
        return
    with Lock(folder / ".lock", f"`out` {folder}") if folder else nullcontext():
        made = battle_printout(spec, folder)
    print_out(made, json=json)


_FORMS = ("judgebench", "llmbar")


_LEGEND = (
    "correct: in the order given, swapped, in both; together: the two verdicts favour the better output, "
    "one of them may be a tie. flips: pairs whose verdict follows the order."
)


def recorded_verdicts(files: Sequence[str], form: str, pairs: str | None) -> Printout:
    """The figures of recorded verdicts: one line, or one JSON object, a model, protocol and subset."""
    cells = _cells([Path(file) for file in files], form, pairs)
    by_model: dict[str, list[RecordedCell]] = defaultdict(list)
    for cell in cells:
        by_model[cell.model].append(cell)
    tables = [part for model, own in by_model.items() for part in _of_model(model, own)]
    return Printout([*tables, _LEGEND], [cell.to_dict() for cell in cells])


def _cells(files: Sequence[Path], form: str, pairs: str | None) -> list[RecordedCell]:
    one_of("form", form, _FORMS, "--format")
    if form == "judgebench":
        if pairs is not None:
            raise InputError("--pairs: not with --format judgebench, whose files say which answer is better")
        return recorded_cells(*read_judgebench_verdicts(files))
    if pairs is None:
        raise InputError("--recorded: needs --pairs FILE, the pairs that the verdicts are about")
    labels = read_llmbar_pairs(Path(pairs))
    return recorded_cells(read_llmbar_answers(files, labels), labels)


def _of_model(model: str, cells: Sequence[RecordedCell]) -> list[Part]:
    figures = ("n", "given", "swapped", "both", "together", "flips", "95 %", "detection", "95 %")
    title = f"{model}  ·  verdicts on labelled pairs"
    rows = [_row(cell) for cell in cells]
    parts: list[Part] = [TextTable(title, ("protocol", "asked", "subset", *figures), rows, figures), ""]
    if not (ways := compared_ways(cells)):
        return parts
    differences = [
        (
            *(way.pairwise, way.pointwise, way.subset),
            str(way.n),
            f"{way.detections[0]:.1%}",
            f"{way.detections[1]:.1%}",
            f"{way.difference:+.1%}",
            "–" if way.ci is None else f"{way.ci[0]:+.1%} to {way.ci[1]:+.1%}",
            f"{way.p:.3g}",
        )
        for way in ways
    ]
    title = f"{model}  ·  pairwise less pointwise detection, on the same pairs"
    names = ("pairwise protocol", "pointwise protocol", "subset")
    right = ("n", "pairwise", "pointwise", "difference", "95 %", "p")
    return [*parts, TextTable(title, (*names, *right), differences, right), ""]


def _row(cell: RecordedCell) -> tuple[str, ...]:
    bias, detection = cell.figures.bias, cell.figures.win_rate
    return (
        cell.protocol,
        "pointwise" if cell.pointwise else "pairwise",
        cell.subset,
        str(cell.n),
        *(f"{correct / cell.n:.1%}" for correct in (*cell.correct, cell.correct_both, cell.correct_together)),
        "–" if bias is None else f"{bias.share:.1%}",
        "–" if bias is None else percents(bias.ci),
        "–" if detection.value is None else f"{detection.value:.1%}",
        percents(detection.ci),
    )
