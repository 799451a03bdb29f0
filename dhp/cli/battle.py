"""`dhp battle`: systems against each other, judged pair by pair, or recorded verdicts."""

import click

from dhp.cli.batch_options import BatchOptions, through_batches
from dhp.cli.model_options import ModelOptions
from dhp.cli.option_groups import GroupedCommand, option_group
from dhp.cli.output import print_json
from dhp.cli.pair_options import ContestOptions, PairwiseOptions, RecordedOptions
from dhp.core.errors import InputError


@click.command(cls=GroupedCommand)
@click.argument("answers", nargs=-1, metavar="[[NAME=]FILE]...")
@click.option("--model", metavar="MODEL", help="The judge; mock/first always prefers the text shown first.")
@click.option("--out", metavar="DIR", help="Writes battle.json, verdicts.jsonl and report.html there.")
@click.option("--json", is_flag=True, help="Print battle.json.")
@click.option("--dry-run", is_flag=True, help="Only say what it would take: calls, tokens, money, time.")
@option_group("contest", ContestOptions)
@option_group("pairwise", PairwiseOptions)
@option_group("recordings", RecordedOptions)
@option_group("models", ModelOptions)
@option_group("batches", BatchOptions)
def battle(
    answers: tuple[str, ...],
    model: str | None,
    out: str | None,
    json: bool,
    dry_run: bool,
    contest: ContestOptions,
    pairwise: PairwiseOptions,
    recordings: RecordedOptions,
    models: ModelOptions,
    batches: BatchOptions,
) -> None:
    """Let a judge compare the answers of two systems or more, each pair in both orders.

    Each FILE holds the answers of one system: id, question (or instruction and input), output (or answer),
    optionally category. Its name is NAME, or the file's.

    Example: dhp battle old.jsonl new.jsonl --model openai/gpt-4o-mini --out battles/new
    """
    if recordings.recorded:
        from dhp.cli.recorded import print_recorded

        if answers or model or dry_run or out:
            raise InputError("--recorded: asks no judge; allowed with it: --format, --pairs and --json")
        print_recorded(recordings.recorded, recordings.form, recordings.pairs, as_json=json)
        return
    if len(answers) < 2 or model is None:
        raise InputError("dhp battle: must have two answer files or more and --model, or --recorded FILE")
    from dhp.cli.battles import fought, output_folder, print_battle, read_systems, write_battle

    folder = output_folder(out, "battle.json")
    protocol, systems = pairwise.chosen(), read_systems(answers)
    settings = models.settings(batches.settings((model,), dry_run=dry_run))
    found = through_batches(lambda: fought(systems, model, contest, protocol, settings, dry_run=dry_run))
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
