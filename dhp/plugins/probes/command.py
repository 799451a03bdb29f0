"""`dhp probe`: what moves the scores of a judge beside damage."""

import click

from dhp.cli.command import Command
from dhp.cli.criteria import Criteria
from dhp.cli.language_models import check_filler, estimates_shown, refuse_unused
from dhp.cli.options import settings
from dhp.cli.output import JSON, OutputOptions, print_out, say
from dhp.cli.protocol_options import DATASET, DRY_RUN, PROTOCOL, SEED, ProtocolChanges, model_option
from dhp.core.writing import OutputFolder
from dhp.judge.adapters.settings import JudgeSettings
from dhp.llm.settings import ModelSettings
from dhp.perturb.settings import Choice, PerturbModel
from dhp.plugins.probes.options import ProbeChoice
from dhp.report.printout import Printout

_TEXTS = (
    "data",
    "task",
    "fields",
    "where",
    "n",
    "min_characters",
    "text_language",
    "model",
    "prompts",
    "max_tokens",
)
"""Options of the texts; probes bring their own perturbers."""


@click.command(
    cls=Command,
    common="--model --dataset --field --probe --perturb-model --repeats --prompt-file --metric --scale "
    "--base-url --n --samples --json --dry-run --out",
)
@model_option(several=True, required=True)
@DATASET
@PROTOCOL
@SEED
@click.option(
    "--out", metavar="DIR", help="Writes probes.json, report.html, texts and ratings to this folder."
)
@JSON
@DRY_RUN
@settings("chosen", ProbeChoice)
@settings("choice", Choice, only=_TEXTS)
@settings("criteria", Criteria)
@settings("changes", ProtocolChanges)
@settings("settings", ModelSettings)
@settings("judge_settings", JudgeSettings)
def probe(
    model: tuple[str, ...],
    dataset: tuple[str, ...],
    protocol: tuple[str, ...],
    seed: int,
    out: str | None,
    output: OutputOptions,
    dry_run: bool,
    chosen: ProbeChoice,
    choice: Choice,
    criteria: Criteria,
    changes: ProtocolChanges,
    settings: ModelSettings,
    judge_settings: JudgeSettings,
) -> None:
    """Test what moves the scores of a judge beside damage.

    invariance: another layout, order of equal items, or wording must not move a score. verbosity: padding
    must not lift one. calibration: scores must fall as damages are added. stability: the same requests must
    give the same order again. Each is printed beside the same text asked again. None is part of detection.

    Example: dhp probe --model mock/noisy --dataset mini/summeval
    """
    from dhp.plugins.probes.output import FILES, probe_parts, write_probes
    from dhp.plugins.probes.probing import ProbeSpec, estimates, probed

    # The options of a command make a record of it; without --perturb-model there is none.
    perturb_model = None
    if isinstance(choice.perturb_model, PerturbModel):
        perturb_model = choice.perturb_model.model
    refuse_unused(model, protocol, perturb_model=perturb_model is not None)
    check_filler(settings, (*model, perturb_model), dry_run=dry_run)
    spec = ProbeSpec(
        model,
        dataset or None,
        protocol=[changes.changed(name) for name in protocol],
        prompt=changes.prompt,
        metrics=criteria.metrics,
        scale=criteria.scale,
        labels=criteria.words,
        settings=settings,
        judge_settings=judge_settings,
        seed=seed,
        choice=choice,
        chosen=chosen,
    ).with_scale()
    if dry_run:
        say(*estimates_shown(estimates(spec)))
        return
    if out is None:
        results = probed(spec)
    else:
        # Taken before the first rating is paid for.
        with OutputFolder(out, "probe", FILES).claim() as folder:
            results = probed(spec)
            write_probes(results, folder)
    parts = probe_parts(results.results)
    if out is not None:
        parts.append(f"written to {out}: probes.json, report.html, examples, texts, ratings")
    print_out(Printout(parts, results.to_json()), output)
