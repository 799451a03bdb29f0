"""`dhp battle`: compare systems pair by pair, or read recorded verdicts."""

import click

from dhp.cli.language_models import until_answered, with_deferral
from dhp.cli.options import Command, settings
from dhp.cli.output import print_json
from dhp.core.errors import InputError
from dhp.llm.settings import ModelSettings
from dhp.plugins.arena.pair_options import Contest, PairwiseChanges, RecordedOptions


@click.command(
    cls=Command,
    common="--model --out --task --metric --protocol --ties --samples --recorded --format --pairs --base-url "
    "--max-calls --json --dry-run",
)
@click.argument("answers", nargs=-1, metavar="[[NAME=]FILE]...")
@click.option("--model", metavar="MODEL", help="The judge; mock/first always prefers the text shown first.")
@click.option("--out", metavar="DIR", help="Writes battle.json, verdicts.jsonl and report.html there.")
@click.option("--json", is_flag=True, help="Print battle.json.")
@click.option("--dry-run", is_flag=True, help="Only print the estimated calls, tokens, cost and time.")
@settings("contest", Contest)
@settings("changes", PairwiseChanges)
@settings("recordings", RecordedOptions)
@settings("settings", ModelSettings)
def battle(
    answers: tuple[str, ...],
    model: str | None,
    out: str | None,
    json: bool,
    dry_run: bool,
    contest: Contest,
    changes: PairwiseChanges,
    recordings: RecordedOptions,
    settings: ModelSettings,
) -> None:
    """Let a judge compare the answers of two systems or more.

    Each pair is judged in both orders. Each FILE holds the answers of one system: id, question (or
    instruction and input), output (or answer), optionally category. Its name is NAME, or the file's.

    Example: dhp battle old.jsonl new.jsonl --model openai/gpt-4o-mini --out battles/new
    """
    if recordings.recorded:
        from dhp.plugins.arena.recorded_output import print_recorded

        if answers or model or dry_run or out:
            raise InputError("--recorded: asks no judge; allowed with it: --format, --pairs and --json")
        print_recorded(recordings.recorded, recordings.form, recordings.pairs, as_json=json)
        return
    if len(answers) < 2 or model is None:
        raise InputError("dhp battle: needs at least two answer files and --model, or --recorded FILE")
    from dhp.plugins.arena.battle_work import fought, output_folder, print_battle, read_systems, write_battle

    folder = output_folder(out, "battle.json")
    protocol, systems = changes.chosen(), read_systems(answers)
    asked = with_deferral(settings, (model,), dry_run=dry_run)
    found = until_answered(lambda: fought(systems, model, contest, protocol, asked, dry_run=dry_run))
    if found is None:
        return
    if folder:
        write_battle(found, folder)
    if json:
        print_json(found.to_json())
        return
    print_battle(found)
    if folder:
        print(f"\nwritten to {folder}: battle.json, verdicts.jsonl, report.html")
