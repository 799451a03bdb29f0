"""Output of `dhp show` for a protocol: its settings and the exact prompts for one text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dhp.core.errors import InputError, suggest
from dhp.core.text import printable

if TYPE_CHECKING:
    from dhp.core.protocol_spec import Protocol
    from dhp.core.records import Candidate
    from dhp.core.specs import Metric, Task
    from dhp.perturb.settings import Choice

_APART = ("parts", "published", "ours")
"""Settings that are not shown in the list."""


def show_protocol(
    protocol: "Protocol",
    dataset: Sequence[str],
    choice: "Choice",
    metrics: "Sequence[str | Metric]",
    prompt_files: Sequence[str],
    *,
    example: str | None,
    variant: str,
    seed: int,
) -> None:
    """Print a protocol and its prompts for one text; of several datasets that of the first."""
    task, texts = _candidates(dataset, choice, metrics, variant, seed)
    example = texts[0].example if example is None else example
    here = [c for c in texts if c.example == example]
    if not here:
        raise InputError(f"--example '{example}': unknown; {suggest(example, {c.example for c in texts})}")
    shown = [c for c in here if c.variant == variant]
    if not shown:
        raise InputError(f"--variant '{variant}': unknown; {suggest(variant, [c.variant for c in here])}")
    for key, value in protocol.settings(*_APART).items():
        print(f"# {key}: {value}")
    if protocol.pairwise:
        names = [metric if isinstance(metric, str) else metric.name for metric in metrics]
        _show_pairwise(protocol, here[0], shown[0], task, names)
    else:
        _show_pointwise(protocol, shown, task, prompt_files)


def _show_pointwise(
    protocol: "Protocol", shown: "Sequence[Candidate]", task: "Task", prompt_files: Sequence[str]
) -> None:
    from dhp.judge.factory import request_builder

    for key, said in (("the paper's", protocol.published), ("ours", protocol.ours)):
        if said:
            print(f"# {key}: {said}")
    if protocol.changed:
        print(f"# changed by options: {', '.join(sorted(protocol.changed))}")
    asked = request_builder(protocol, prompt_files=prompt_files)
    requests = list(asked.requests(shown, task))
    if protocol.steps == "auto":
        requests = [*asked.steps_requests(task), *requests]
        print("# the written steps stand below where those will stand that the model writes")
    for request in requests:
        print(f"\n# ---- {request.place}, samples {', '.join(map(str, request.samples))}")
        print("\n".join(printable(line) for line in request.prompt.splitlines()))


def _candidates(
    dataset: Sequence[str], choice: "Choice", metrics: "Sequence[str | Metric]", variant: str, seed: int
) -> "tuple[Task, Sequence[Candidate]]":
    """The task and the texts of a dataset; no text is degraded where only originals are asked for."""
    from dhp.content.own_task import with_metrics
    from dhp.core.records import ORIGINAL
    from dhp.perturb.candidates import original_of
    from dhp.perturb.choice import found_datasets, with_own_task

    first = dataset[:1] or (None if choice.perturbed else ("mini/summeval",))
    chosen = with_own_task(first, choice, metrics)
    if variant == ORIGINAL and not choice.perturbed:
        (found, *_), _ = found_datasets(first, chosen, seed)
        task = with_metrics(found.task, metrics)
        return task, [original_of(example, task) for example in found.examples]
    from dhp.llm.settings import ModelSettings
    from dhp.perturb.build import build_texts

    settings = ModelSettings()
    part, *_ = build_texts(first, chosen, seed, settings, settings.context(), dry=True)
    part = part.judged_by(metrics)
    return part.dataset.task, part.candidates()


def _show_pairwise(
    protocol: "Protocol",
    original: "Candidate",
    other: "Candidate",
    task: "Task",
    metrics: Sequence[str],
) -> None:
    """The prompts that show a text behind its original; they are sent in the other order, too."""
    from dhp.content.protocols import read_wording
    from dhp.judge.pairs import OVERALL, Pair
    from dhp.judge.prompts import Prompts

    wording = read_wording(protocol.language, pairwise=True)
    writer = Prompts(protocol, wording, task.in_language(protocol.language))
    for metric in metrics or (OVERALL,):
        print(f"\n# ---- example '{original.example}', original before '{other.variant}', by {metric}")
        text = f"{writer.system}\n\n{writer.pair_prompt(Pair(original, other), metric)}".strip()
        print("\n".join(printable(line) for line in text.splitlines()))
