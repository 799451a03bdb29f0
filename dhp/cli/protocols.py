"""`dhp protocols`: the ways of asking a judge."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from dhp.cli.model_options import ProtocolOptions
from dhp.cli.option_groups import GroupedCommand, option_group
from dhp.cli.text_options import TextOptions

if TYPE_CHECKING:
    from dhp.core.pair_spec import PairwiseProtocol
    from dhp.core.records import Candidate
    from dhp.core.specs import Metric, Task
    from dhp.perturb.choice import Choice


@click.group()
def protocols() -> None:
    """Ways of asking a judge: list, show."""


@protocols.command("list")
def list_() -> None:
    """The protocols that ship with the package; pairwise ones are for dhp battle.

    Example: dhp protocols list
    """
    from dhp.content.protocols import pairwise_names, protocol_names, read_pairwise, read_protocol

    for name in protocol_names():
        print(f"{name:15} {' '.join(read_protocol(name).description.split())}")
    for name in pairwise_names():
        print(f"{name:15} (pairwise) {' '.join(read_pairwise(name).description.split())}")


@protocols.command(cls=GroupedCommand)
@click.argument("given", metavar="NAME|FILE.yaml")
@click.option("--example", metavar="ID", help="Which example; default: the first.")
@click.option("--scale", metavar="LOW..HIGH", help="Makes --metric one of your own.")
@click.option("--variant", default="original", metavar="NAME", help="original, or e.g. random_typos.minor.")
@option_group("changes", ProtocolOptions)
@option_group("texts", TextOptions)
def show(
    given: str,
    example: str | None,
    scale: str | None,
    variant: str,
    changes: ProtocolOptions,
    texts: TextOptions,
) -> None:
    """The settings of a protocol and the exact prompts for one text, metric by metric.

    Of several datasets the first is shown; default: news summaries.

    Example: dhp protocols show dhp --dataset mini/summeval --metric fluency
    """
    from dhp.core.errors import InputError, suggest
    from dhp.core.pair_spec import PairwiseProtocol
    from dhp.core.text import printable
    from dhp.judge.factory import request_builder
    from dhp.perturb.choice import with_own_task

    chosen = changes.changed(given)
    first = texts.dataset[:1] or (() if texts.perturbed else ("mini/summeval",))
    choice = with_own_task(first, texts.choice(), changes.metrics(scale))
    task, candidates = _candidates(first, choice, texts, variant, changes.metrics(scale))
    example = candidates[0].example if example is None else example
    here = [c for c in candidates if c.example == example]
    if not here:
        raise InputError(
            f"--example '{example}': unknown; {suggest(example, {c.example for c in candidates})}"
        )
    shown = [c for c in here if c.variant == variant]
    if not shown:
        raise InputError(f"--variant '{variant}': unknown; {suggest(variant, [c.variant for c in here])}")
    shown_apart = {"parts", "published", "ours"}
    for key, value in chosen.model_dump(exclude=shown_apart).items():
        print(f"# {key}: {value}")
    if isinstance(chosen, PairwiseProtocol):
        _show_pairwise(chosen, here[0], shown[0], task, changes.metric)
        return
    for key, said in (("the paper's", chosen.published), ("ours", chosen.ours)):
        if said:
            print(f"# {key}: {said}")
    if chosen.changed:
        print(f"# changed by options: {', '.join(sorted(chosen.changed))}")
    asked = request_builder(chosen, prompt_files=changes.prompt_file)
    requests = list(asked.requests(shown, task))
    if chosen.steps == "auto":
        requests = [*asked.steps_requests(task), *requests]
        print("# the written steps stand below where those will stand that the model writes")
    for request in requests:
        print(f"\n# ---- {request.place}, samples {', '.join(map(str, request.samples))}")
        print("\n".join(printable(line) for line in request.prompt.splitlines()))


def _candidates(
    dataset: Sequence[str],
    choice: "Choice",
    texts: TextOptions,
    variant: str,
    metrics: "Sequence[str | Metric]",
) -> "tuple[Task, Sequence[Candidate]]":
    """The task and the texts of a dataset; no text is degraded where only originals are asked for."""
    from dhp.content.own_task import with_metrics
    from dhp.core.records import ORIGINAL
    from dhp.perturb.candidates import original_of
    from dhp.perturb.choice import found_datasets

    if variant == ORIGINAL and not texts.perturbed:
        (first, *_), _ = found_datasets(dataset, choice, texts.seed)
        task = with_metrics(first.task, metrics)
        return task, [original_of(example, task) for example in first.examples]
    from dhp.llm.settings import ModelSettings
    from dhp.perturb.build import build_texts

    settings = ModelSettings()
    part, *_ = build_texts(dataset, choice, texts.seed, settings, settings.context(), dry=True)
    part = part.judged_by(metrics)
    return part.dataset.task, part.candidates()


def _show_pairwise(
    protocol: "PairwiseProtocol",
    original: "Candidate",
    other: "Candidate",
    task: "Task",
    metrics: tuple[str, ...],
) -> None:
    """The prompts that show a text behind its original; they are sent in the other order, too."""
    from dhp.content.protocols import read_pair_wording
    from dhp.core.text import printable
    from dhp.judge.pairwise.prompts import PairPrompts
    from dhp.judge.pairwise.records import OVERALL, Pair

    writer = PairPrompts(protocol, read_pair_wording(protocol.language), task)
    for metric in metrics or (OVERALL,):
        print(f"\n# ---- example '{original.example}', original before '{other.variant}', by {metric}")
        text = f"{writer.system}\n\n{writer.prompt(Pair(original, other), metric)}".strip()
        print("\n".join(printable(line) for line in text.splitlines()))
