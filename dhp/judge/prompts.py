"""The prompts of a protocol in words; texts are fenced and never altered.

All of a prompt but the texts is filled in once for each metric and form (`_Template`). `Prompts.prompt` then
puts the texts into it, each between tags that stand in none of the others.
"""

import re
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from dhp.core.answer_forms import AnswerForm, answer_scale
from dhp.core.errors import InputError
from dhp.core.protocol_spec import PARTS, Part, Protocol, Wording, slot_fault
from dhp.core.records import Candidate
from dhp.core.sentences import paragraphs
from dhp.core.slots import fill, join_slots, split_slots
from dhp.core.specs import Metric, Task
from dhp.core.tags import fenced
from dhp.judge.pairs import OVERALL
from dhp.judge.prompt_parts import fixed_slots, reference_of, written_ends


@dataclass(frozen=True, slots=True)
class _Template:
    """A prompt with everything filled in that is the same for all texts under one metric and form."""

    head: str
    """What stands before the texts: persona, task, criterion and steps."""
    sample: tuple[tuple[str, ...], ...]
    """Paragraphs of the sample, split by `split_slots`."""
    final: tuple[str, ...]
    """What shows contradicting verdicts on two texts, split in the same way."""
    answer: str
    """What is asked for behind the texts."""


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

        Raises `InputError` for an unknown slot in the persona, or if a metric has no steps.
        """
        fault = slot_fault("persona", persona)
        if fault:
            raise InputError(f"persona: {fault}")
        self._steps = {m.name: m.steps for m in task.metrics} if steps is None else steps
        lacking = [m for m in task.metric_names if not self._steps.get(m)]
        if lacking:
            raise InputError(
                f"no evaluation steps for metric '{lacking[0]}'; allowed: a list for each metric"
            )
        self._protocol = protocol
        self._wording = wording
        self._task = task
        self._persona = persona
        self._metrics = {metric.name: metric for metric in task.metrics}
        self._template = cache(self._made)
        # Tags are English in all languages.
        english = task.in_language("en") if "en" in task.translations else task
        self._source_tag = _tag(english.source_label or "", "source")
        self._output_tag = _tag(english.output_label, "output")
        self._field_tags = {name: _tag(label, name) for name, label in english.shown_fields.items()}
        self._reference = split_slots(wording.reference, self._fixed_slots(task.metrics[0], "score-only"))
        self.system = fill(wording.system, self._fixed_slots(None, "bare")) if protocol.system else ""
        """The system message; empty for none."""

    def prompt(
        self,
        candidate: Candidate,
        metric: str,
        form: AnswerForm,
        other: Candidate | None = None,
        verdicts: Sequence[str] = (),
    ) -> str:
        """The whole prompt about one text, or about two in this order; `form` is never `mix`.

        `verdicts` are two on these texts that contradict each other. Raises `InputError` if the protocol
        shows a reference and the candidate has none.
        """
        template = self._template(metric, form)
        judged = [candidate.text, *verdicts]
        if other:
            judged.append(other.text)
        beside = (candidate.source, *candidate.fields.values())
        if other:
            texts = {
                "first": fenced(candidate.text, f"{self._output_tag}-a", *judged, *beside),
                "second": fenced(other.text, f"{self._output_tag}-b", *judged, *beside),
            }
        else:
            texts = {
                "reference": self._shown_reference(candidate),
                "output": fenced(candidate.text, self._output_tag, *beside, *candidate.references[:1]),
            }
        final = ""
        if verdicts:
            shown = {}
            for number, verdict in enumerate(verdicts, start=1):
                shown[f"verdict_{number}"] = fenced(verdict, "verdict", *judged)
            final = join_slots(template.final, shown)
        sample = self._sample(template, candidate, texts, judged)
        return _parts([template.head, *sample, final, template.answer])

    def auto_steps(self, metric: str) -> str:
        """The request for evaluation steps of a metric; it shows no text, persona or scale."""
        return fill(self._wording.auto_steps, self._fixed_slots(self._metrics[metric], "score-only"))

    def _sample(
        self, template: _Template, candidate: Candidate, texts: Mapping[str, str], judged: Sequence[str]
    ) -> list[str]:
        """The paragraphs that show texts; source and fields are those of `candidate`.

        A tag around one of them stands in none of the others, nor in the texts that are `judged`.
        """
        beside = (candidate.source, *candidate.fields.values(), *judged)
        fields = []
        for name, label in self._task.shown_fields.items():
            if name in candidate.fields:
                fields.append(f"{label}\n{fenced(candidate.fields[name], self._field_tags[name], *beside)}")
        source = fenced(candidate.source, self._source_tag, *beside)
        known = {"source": source, "fields": _parts(fields), **texts}
        paragraphs = []
        for pieces in template.sample:
            names = pieces[1::2]  # text and names of slots stand in turn
            # A paragraph that shows a source goes if the task has none.
            if self._task.source_label or "source" not in names:
                paragraphs.append(join_slots(pieces, known))
        return paragraphs

    def _made(self, metric: str, form: AnswerForm) -> _Template:
        """The template of one metric and form: parts of the protocol go before those of the wording."""
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
        before_sample = PARTS[: PARTS.index("sample")]
        return _Template(
            _parts([fill(shown[part], known) for part in before_sample]),
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
        ties = self._wording.ties
        return f"\n{ties['letter']}" if form == "bare" else f"\n{ties['word']}"

    def _fixed_slots(self, metric: Metric | None, form: AnswerForm) -> dict[str, str]:
        """The slots that are the same for all texts; `metric` is None for texts compared as a whole."""
        scale = self._protocol.scale
        if metric is not None and not self._protocol.pairwise:
            scale = answer_scale(form, metric.scale)
        steps = self._steps[metric.name] if metric else ()
        return fixed_slots(self._task, metric, written_ends(form, scale), steps)

    def _shown_reference(self, candidate: Candidate) -> str:
        """The reference text as the prompt shows it; empty if the protocol shows none."""
        if not self._protocol.reference:
            return ""
        reference = fenced(reference_of(candidate), "reference", candidate.text)
        return join_slots(self._reference, {"reference": reference})


def _parts(texts: Sequence[str]) -> str:
    """The texts that are not empty, separated by blank lines."""
    return "\n\n".join([text for text in texts if text])


def _tag(label: str, otherwise: str) -> str:
    """The name of the tag around a text, `news-article` for the label `News article:`."""
    return re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-") or otherwise


class PairPrompts(typing.Protocol):
    """Writes the prompts about two texts, instead of `Prompts`."""

    system: str
    texts: tuple[str, ...]
    """All that the prompts are made of."""

    def prompt(
        self, candidate: Candidate, metric: str, form: AnswerForm, other: Candidate, verdicts: Sequence[str]
    ) -> str:
        """See `Prompts`."""
