"""`dhp evaluate`: score answers by category and metric, from ColossalEval's files."""

from pathlib import Path

import click

from dhp.cli.language_models import until_answered, with_deferral
from dhp.cli.options import Command, settings, stated
from dhp.core.errors import InputError
from dhp.llm.settings import ModelSettings
from dhp.plugins.arena.evaluation_options import REFERENCES, EvaluationFiles, EvaluationOptions


@click.command(
    cls=Command,
    common="--model --answers --config --prompts --targets --with-reference --language --save-questions "
    "--discernment --base-url --max-calls --out --json --dry-run",
)
@click.option("--model", metavar="MODEL", help="The judge.")
@click.option("--out", metavar="DIR", help="Writes evaluation.json, .csv, ratings, battle and report there.")
@click.option("--json", is_flag=True, help="Print evaluation.json.")
@click.option("--dry-run", is_flag=True, help="Only print the estimated calls, tokens, cost and time.")
@click.option(
    "--discernment",
    is_flag=True,
    help="Instead: degrade the first answers and test whether the judge notices.",
)
@click.option("--save-questions", metavar="FILE", help="Only write the bundled example questions.")
@settings("files", EvaluationFiles)
@settings("options", EvaluationOptions)
@settings("settings", ModelSettings)
def evaluate(
    model: str | None,
    out: str | None,
    json: bool,
    dry_run: bool,
    discernment: bool,
    save_questions: str | None,
    files: EvaluationFiles,
    options: EvaluationOptions,
    settings: ModelSettings,
) -> None:
    """Let a judge score answers by category and metric.

    Two models or more also fight each other. Files are those of ColossalEval, unchanged. Without --config and
    --prompts the bundled five categories and ten metrics are used.

    Example: dhp evaluate --config config_en.json --answers m=answers.json --model openai/gpt-4o-mini --out ev
    """
    if files.language not in ("en", "zh"):
        raise InputError(f"--language '{files.language}': allowed: en, zh")
    if save_questions:
        from dhp.content.protocols import questions_file
        from dhp.core.files import read_text, write_lines

        text = read_text(questions_file(files.language))  # type: ignore[arg-type]
        write_lines(Path(save_questions), [text])
        print(f"written to {save_questions}: five questions a category")
        return
    if model is None or not files.answers:
        raise InputError("dhp evaluate: must have --model and --answers, or --save-questions FILE")
    if options.with_reference not in (None, *REFERENCES):
        raise InputError(f"--with-reference '{options.with_reference}': allowed: {', '.join(REFERENCES)}")
    if options.steps not in ("written", "auto"):
        raise InputError(f"--steps '{options.steps}': allowed: written, auto")
    from dhp.plugins.arena.evaluation_output import discern, evaluated, shown
    from dhp.plugins.arena.evaluation_work import Work

    asked = with_deferral(settings, (model,), dry_run=dry_run)

    def prepared() -> Work:
        return Work.prepared(files, options, model, asked)

    if discernment:
        if given := stated("settings.deferral"):
            raise InputError(f"{given[0]}: cannot be used with --discernment; dhp benchmark takes it")
        discern(prepared(), json=json, out=out)
    elif dry_run:
        prepared().print_estimates()
    else:
        shown(*until_answered(lambda: evaluated(prepared())), out=out, json=json)
