"""What the prompts of models that write and the requests of decision models share."""

from collections.abc import Sequence

from dhp.core.answer_forms import AnswerForm
from dhp.core.errors import InputError
from dhp.core.records import Candidate
from dhp.core.specs import Metric, Scale, Task


def written_ends(form: AnswerForm, scale: Scale) -> tuple[str, str]:
    """The lowest and the highest answer as prompts write them: numbers, or letters."""
    return ("A", "E") if form == "letters" else (f"{scale.min:g}", f"{scale.max:g}")


def fixed_slots(
    task: Task, metric: Metric | None, ends: tuple[str, str], steps: Sequence[str]
) -> dict[str, str]:
    """The slots of a wording that are the same for all texts; those of the metric are empty without one."""
    numbered = [f"{number}. {step}" for number, step in enumerate(steps, start=1)]
    return {
        "instruction": task.instruction,
        "source_label": task.source_label or "",
        "output_label": task.output_label,
        "metric": metric.label if metric else "",
        "definition": metric.definition if metric else "",
        "question": metric.question if metric else "",
        "antonym": metric.antonym if metric else "",
        "low": ends[0],
        "high": ends[1],
        "steps": "\n".join(numbered),
    }


def reference_of(candidate: Candidate) -> str:
    """The reference text of a candidate; raises `InputError` if it has none."""
    if candidate.reference is None:
        raise InputError(
            f"example '{candidate.example}': has no reference text, which the protocol shows; allowed: "
            "reference false, or a reference for each example"
        )
    return candidate.reference
