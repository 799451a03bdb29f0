"""Prompts of a protocol for a task; texts are fenced and never altered."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dhp.core.errors import InputError
from dhp.core.protocol_spec import PARTS, AnswerForm, Part, Protocol, Wording, slot_fault
from dhp.core.records import Candidate
from dhp.core.slots import fill, join_slots, paragraphs, split_slots
from dhp.core.specs import Metric, Scale, Task
from dhp.core.text import fenced

_SCALES: Mapping[str, Scale] = {
    "da": Scale(min=0, max=100),
    "stars": Scale(min=1, max=5),
    "letters": Scale(min=1, max=5),
}


def answer_scale(form: AnswerForm, scale: Scale) -> Scale:
    """The scale that an answer of this form is on; `scale` is the metric's. Letters count from A = 1."""
    return _SCALES.get(form, scale)


class ShownTexts:
    """How prompts show the texts of a task, and what they say of it; `task` is in the prompt's language.

    Tags are English in all languages.
    """

    def __init__(self, task: Task) -> None:
        english = task.in_language("en") if "en" in task.translations else task
        self.source_tag = _tag(english.source_label or "", "source")
        self.output_tag = _tag(english.output_label, "output")
        self._field_tags = {name: _tag(label, name) for name, label in english.shown_fields.items()}
        self._task = task

    def fields(self, candidate: Candidate) -> str:
        """The further fields that the candidate has, each under its label."""
        labels, given = self._task.shown_fields.items(), candidate.fields
        return _parts(
            [f"{label}\n{fenced(given[n], self._field_tags[n])}" for n, label in labels if n in given]
        )

    def slots(self, metric: Metric | None) -> dict[str, str]:
        """The slots that say what the task is, and the metric where there is one."""
        return {
            "instruction": self._task.instruction,
            "source_label": self._task.source_label or "",
            "output_label": self._task.output_label,
            "metric": metric.label if metric else "",
            "definition": metric.definition if metric else "",
        }


@dataclass(frozen=True, slots=True)
class _Template:
    """A prompt with everything filled in that is the same for all texts under one metric and form."""

    head: str
    sample: tuple[tuple[str, ...], ...]
    """Paragraphs of the sample, split by `split_slots`."""
    answer: str


class Prompts:
    """Writes the prompts of a protocol.

    Up to the text under judgement they are the same for all variants of one example under one metric, so that
    caches of prompt prefixes hold.
    """

    def __init__(
        self,
        protocol: Protocol,
        wording: Wording,
        task: Task,
        *,
        persona: str = "",
        steps: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """`task` is in the protocol's language; `steps` (metric -> steps) replace the written ones.

        Raises `InputError` for an unknown slot in the persona, or where a metric has no steps.
        """
        if fault := slot_fault("persona", persona):
            raise InputError(f"persona: {fault}")
        self._steps = {m.name: m.steps for m in task.metrics} if steps is None else steps
        if lacking := [m for m in task.metric_names if not self._steps.get(m)]:
            raise InputError(
                f"no evaluation steps for metric '{lacking[0]}'; allowed: a list for each metric"
            )
        self._protocol = protocol
        self._wording = wording
        self._task = task
        self._persona = persona
        self._metrics = {metric.name: metric for metric in task.metrics}
        self._templates: dict[tuple[str, AnswerForm], _Template] = {}
        self._shown = ShownTexts(task)
        self._reference = split_slots(wording.reference, self._fixed_slots(task.metrics[0], "score-only"))

    def prompt(self, candidate: Candidate, metric: str, form: AnswerForm) -> str:
        """The whole prompt; `form` is never `mix`.

        Raises `InputError` where the protocol shows a reference and the candidate has none.
        """
        template = self._templates.get((metric, form))
        if template is None:
            template = self._templates[metric, form] = self._template(self._metrics[metric], form)
        texts = {
            "source": fenced(candidate.source, self._shown.source_tag),
            "fields": self._shown.fields(candidate),
            "reference": self._shown_reference(candidate),
            "output": fenced(candidate.text, self._shown.output_tag),
        }
        shown = (p for p in template.sample if self._task.source_label or "source" not in p[1::2])
        sample = [join_slots(pieces, texts) for pieces in shown]
        return _parts([template.head, *sample, template.answer])

    def auto_steps(self, metric: str) -> str:
        """The request for evaluation steps of a metric; it shows no text, persona or scale."""
        return fill(self._wording.auto_steps, self._fixed_slots(self._metrics[metric], "score-only"))

    def _template(self, metric: Metric, form: AnswerForm) -> _Template:
        known = self._fixed_slots(metric, form)
        wording = self._wording
        shown: dict[Part, str] = {
            "persona": self._persona,
            "task": wording.task if self._task.source_label else wording.task_without_source,
            "criterion": wording.criterion[form],
            "steps": wording.steps,
            "sample": wording.sample,
            "answer": wording.answers[form],
        }
        shown |= self._protocol.parts
        if self._protocol.steps == "none":
            shown["steps"] = ""
        head = [fill(shown[part], known) for part in PARTS[:4]]
        sample = paragraphs(shown["sample"])
        return _Template(
            _parts(head), tuple(split_slots(text, known) for text in sample), fill(shown["answer"], known)
        )

    def _fixed_slots(self, metric: Metric, form: AnswerForm) -> dict[str, str]:
        """The slots that are the same for all texts."""
        scale = answer_scale(form, metric.scale)
        low, high = ("A", "E") if form == "letters" else (f"{scale.min:g}", f"{scale.max:g}")
        steps = enumerate(self._steps[metric.name], start=1)
        return {
            **self._shown.slots(metric),
            "question": metric.question,
            "antonym": metric.antonym,
            "low": low,
            "high": high,
            "steps": "\n".join(f"{number}. {step}" for number, step in steps),
        }

    def _shown_reference(self, candidate: Candidate) -> str:
        if not self._protocol.reference:
            return ""
        if candidate.reference is None:
            raise InputError(
                f"example '{candidate.example}': has no reference text, which the protocol shows; allowed: "
                "reference false, or a reference for each example"
            )
        return join_slots(self._reference, {"reference": fenced(candidate.reference, "reference")})


def _parts(texts: Sequence[str]) -> str:
    """The texts that are not empty, separated by blank lines."""
    return "\n\n".join(filter(None, texts))


def _tag(label: str, otherwise: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-") or otherwise
