"""Prompts of a protocol for a task; texts are fenced and never altered."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from dhp.core.errors import InputError
from dhp.core.protocol_spec import PARTS, AnswerForm, Part, Protocol, Wording, slot_fault
from dhp.core.records import Candidate
from dhp.core.specs import Metric, Task
from dhp.core.text import fenced, fill, join_slots, paragraphs, split_slots
from dhp.judge.extraction.rating import answer_scale
from dhp.judge.pairs import OVERALL, Pair


@dataclass(frozen=True, slots=True)
class _Template:
    """A prompt with everything filled in that is the same for all texts under one metric and form."""

    head: str
    sample: tuple[tuple[str, ...], ...]
    """Paragraphs of the sample, split by `split_slots`."""
    final: tuple[str, ...]
    """What shows contradicting verdicts on two texts, split in the same way."""
    answer: str


class Prompts:
    """Writes the prompts of a protocol. Tags around texts are English in all languages.

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
        self._template = cache(self._made)
        english = task.in_language("en") if "en" in task.translations else task
        self._source_tag = _tag(english.source_label or "", "source")
        self._output_tag = _tag(english.output_label, "output")
        self._field_tags = {name: _tag(label, name) for name, label in english.shown_fields.items()}
        self._reference = split_slots(wording.reference, self._fixed_slots(task.metrics[0], "score-only"))
        self.system = fill(wording.system, self._fixed_slots(None, "bare")) if protocol.system else ""
        """The system message; empty for none."""

    def prompt(self, candidate: Candidate, metric: str, form: AnswerForm) -> str:
        """The whole prompt about one text; `form` is never `mix`.

        Raises `InputError` where the protocol shows a reference and the candidate has none.
        """
        template = self._template(metric, form)
        texts = {
            "reference": self._shown_reference(candidate),
            "output": fenced(candidate.text, self._output_tag),
        }
        return _parts([template.head, *self._sample(template, candidate, texts), template.answer])

    def pair_prompt(self, pair: Pair, metric: str, verdicts: Sequence[str] = ()) -> str:
        """The prompt that shows the first text first; `verdicts` are two that contradict each other."""
        template = self._template(metric, self._protocol.answer)
        texts = {
            "first": fenced(pair.first.text, f"{self._output_tag}-a"),
            "second": fenced(pair.second.text, f"{self._output_tag}-b"),
        }
        said = {f"verdict_{n}": fenced(verdict, "verdict") for n, verdict in enumerate(verdicts, 1)}
        final = join_slots(template.final, said) if verdicts else ""
        return _parts([template.head, *self._sample(template, pair.first, texts), final, template.answer])

    def auto_steps(self, metric: str) -> str:
        """The request for evaluation steps of a metric; it shows no text, persona or scale."""
        return fill(self._wording.auto_steps, self._fixed_slots(self._metrics[metric], "score-only"))

    def _sample(self, template: _Template, candidate: Candidate, texts: Mapping[str, str]) -> list[str]:
        """The paragraphs that show texts; what belongs to the source goes by `candidate`."""
        labels, given = self._task.shown_fields.items(), candidate.fields
        fields = [f"{label}\n{fenced(given[n], self._field_tags[n])}" for n, label in labels if n in given]
        source = {"source": fenced(candidate.source, self._source_tag), "fields": _parts(fields)}
        shown = (p for p in template.sample if self._task.source_label or "source" not in p[1::2])
        return [join_slots(pieces, {**source, **texts}) for pieces in shown]

    def _made(self, metric: str, form: AnswerForm) -> _Template:
        known = self._fixed_slots(self._metrics.get(metric), form)
        wording = self._wording
        criterion = wording.criterion if isinstance(wording.criterion, str) else wording.criterion[form]
        shown: dict[Part, str] = {
            "persona": self._persona,
            "task": wording.task if self._task.source_label else wording.task_without_source,
            "criterion": wording.overall if wording.pairwise and metric == OVERALL else criterion,
            "steps": wording.steps,
            "sample": wording.sample,
            "answer": wording.answers[form],
        }
        shown |= self._protocol.parts
        if self._protocol.steps == "none":
            shown["steps"] = ""
        return _Template(
            _parts([fill(shown[part], known) for part in PARTS[:4]]),
            tuple(split_slots(text, known) for text in paragraphs(shown["sample"])),
            split_slots(wording.final.strip(), known),
            fill(shown["answer"], known) + self._about_ties(form),
        )

    def _about_ties(self, form: AnswerForm) -> str:
        """What is said of ties behind the request for the better of two texts."""
        if not self._wording.pairwise or form == "two-scores":
            return ""
        if not self._protocol.ties:
            return f" {self._wording.ties['none']}"
        return f"\n{self._wording.ties['letter' if form == 'bare' else 'word']}"

    def _fixed_slots(self, metric: Metric | None, form: AnswerForm) -> dict[str, str]:
        """The slots that are the same for all texts; `metric` is None for texts compared as a whole."""
        scale = self._protocol.scale
        if metric is not None and not self._protocol.pairwise:
            scale = answer_scale(form, metric.scale)
        low, high = ("A", "E") if form == "letters" else (f"{scale.min:g}", f"{scale.max:g}")
        steps = enumerate(self._steps[metric.name] if metric else (), start=1)
        return {
            "instruction": self._task.instruction,
            "source_label": self._task.source_label or "",
            "output_label": self._task.output_label,
            "metric": metric.label if metric else "",
            "definition": metric.definition if metric else "",
            "question": metric.question if metric else "",
            "antonym": metric.antonym if metric else "",
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
