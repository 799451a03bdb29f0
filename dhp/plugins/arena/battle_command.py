"""`dhp battle`: compare systems pair by pair, or read recorded verdicts."""

from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dhp.cli.command import Command
from dhp.cli.criteria import Criteria
from dhp.cli.language_models import check_filler
from dhp.cli.options import setting, settings
from dhp.cli.output import JSON, OutputOptions, print_out, say
from dhp.cli.protocol_options import DRY_RUN, SEED, AnswerChanges, model_option
from dhp.core.errors import InputError
from dhp.core.options import option
from dhp.core.writing import OutputFolder
from dhp.llm.settings import ModelSettings
from dhp.perturb.settings import Choice
from dhp.report.printout import Printout

if TYPE_CHECKING:
    from dhp.core.protocol_spec import Protocol
    from dhp.plugins.arena.battle_run import BattleSpec


@dataclass(frozen=True)
class PairwiseChanges(AnswerChanges):
    """How a judge is asked about two texts; otherwise as the protocol says."""

    protocol: str = option(
        "battle, choose or swap, see dhp list protocols.", default="battle", metavar="NAME|FILE.yaml"
    )
    ties: bool | None = option("The judge may call a tie.", default=None, name="--ties/--no-ties")

    def chosen(self) -> "Protocol":
        """The protocol with these changes."""
        from dhp.content.catalog import read_pairwise

        return read_pairwise(self.protocol, **self.values_with({"ties": self.ties}))


BATTLE_PROMPTS = click.option(
    "--battle-prompts", metavar="FILE", help="A battle prompt file of ColossalEval, used as it is."
)


@click.command(
    cls=Command,
    common="--model --out --task --metric --protocol --ties --samples --recorded --base-url --max-calls "
    "--json --dry-run",
)
@click.argument("answers", nargs=-1, metavar="[[NAME=]FILE]...")
@model_option()
@click.option("--out", metavar="DIR", help="Writes battle.json, verdicts.jsonl and report.html there.")
@click.option("--recorded", metavar="FILE", help="Comparisons that a judge has made already; none is asked.")
@JSON
@DRY_RUN
@SEED
@setting(Choice, "task")
@setting(Criteria, "metrics")
@BATTLE_PROMPTS
@settings("changes", PairwiseChanges)
@settings("settings", ModelSettings)
def battle(
    answers: tuple[str, ...],
    model: str | None,
    out: str | None,
    recorded: str | None,
    output: OutputOptions,
    dry_run: bool,
    seed: int,
    task: str | None,
    metrics: tuple[str, ...],
    battle_prompts: str | None,
    changes: PairwiseChanges,
    settings: ModelSettings,
) -> None:
    """Let a judge compare the answers of two systems or more.

    Each pair is judged in both orders. Each FILE holds the answers of one system: id, question (or
    instruction and input), output (or answer), optionally category. Its name is NAME, or the file's. The task
    is `instruction`, unless --task names another. The judge mock/first always prefers the text shown first.
    A recorded FILE has the columns example, variant, original_first, original_second: which text was
    preferred when the original was shown first, and second (original, degraded or tie).

    Example: dhp battle old.jsonl new.jsonl --model openai/gpt-4o-mini --out battles/new
    """
    # Comparisons that exist already; the rest of the command asks a judge.
    if recorded is not None:
        if answers or model or dry_run:
            raise InputError("--recorded: asks no judge; allowed with it: --out and --json")
        print_out(_recorded(recorded, out), output)
        return
    if len(answers) < 2 or model is None:
        raise InputError("dhp battle: needs at least two answer files and --model, or --recorded FILE")
    from dhp.plugins.arena.battle_outputs import FILES
    from dhp.plugins.arena.battle_run import TASK, BattleSpec, battle_estimate, read_systems

    # What stands in the way is found before files are read and calls are paid.
    folder = None if out is None else OutputFolder(out, "battle", FILES)
    if folder:
        folder.check_free()
    check_filler(settings, (model,), dry_run=dry_run)

    spec = BattleSpec(
        systems=read_systems(answers),
        model=model,
        protocol=changes.chosen(),
        settings=settings,
        task=task or TASK,
        metrics=metrics,
        battle_prompts=battle_prompts,
        seed=seed,
    )
    if dry_run:
        say(*battle_estimate(spec, spec.settings.context()))
        return
    _fight(spec, folder, output)


def _fight(spec: "BattleSpec", folder: OutputFolder | None, output: OutputOptions) -> None:
    """Print the battle, write it if there is a folder, and say if verdicts are missing."""
    from dhp.plugins.arena.battle_outputs import battle_printout, warn_of_missing
    from dhp.plugins.arena.battle_run import fought

    with folder.claim() if folder else nullcontext():
        battle = spec.settings.filled(partial(fought, spec))
        made = battle_printout(battle, folder)
    # Last, as it ends the command if most verdicts are missing.
    print_out(made, output)
    warn_of_missing(battle)


def _recorded(file: str, out: str | None) -> Printout:
    """The result of recorded comparisons, as a run has it, and how far the order decides."""
    from dhp.plugins.arena.orders import LEGEND, order_figures, order_table
    from dhp.report.terminal import results_in_terminal
    from dhp.run import run

    orders = order_figures(Path(file))
    # For a run recorded comparisons are a judge like any other.
    results = run(f"recorded/{file}", out=out)
    written = ["", f"report  {Path(out) / 'report.html'}"] if out else []
    parts = [*results_in_terminal(results), "", order_table(orders), LEGEND, *written]
    return Printout(parts, {"results": results.to_dict(), "orders": [*map(asdict, orders)]})
