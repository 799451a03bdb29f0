"""Prompts with two texts, by a pairwise protocol or a user's battle prompt."""

import re
from collections.abc import Mapping, Sequence
from typing import Protocol as Interface

from dhp.core.errors import InputError
from dhp.core.pair_spec import PairwiseProtocol, PairWording
from dhp.core.slots import fill, join_slots, paragraphs, split_slots
from dhp.core.specs import Task
from dhp.core.text import fenced
from dhp.judge.pairwise.records import OVERALL, Pair
from dhp.judge.prompts import ShownTexts


class PairWriter(Interface):
    """What turns a pair into messages."""

    @property
    def system(self) -> str:
        """The system message; empty for none."""
        ...

    def prompt(self, pair: Pair, metric: str, verdicts: Sequence[str] = ()) -> str:
        """The prompt that shows the first text first; `verdicts` are two that contradict each other."""
        ...


class PairPrompts:
    """Writes the prompts of a pairwise protocol. Texts are fenced, never altered and never expanded."""

    def __init__(self, protocol: PairwiseProtocol, wording: PairWording, task: Task) -> None:
        self._protocol = protocol
        self._wording = wording
        self._task = task.in_language(protocol.language)
        self._metrics = {metric.name: metric for metric in self._task.metrics}
        self._shown = ShownTexts(self._task)
        self.system = fill(wording.system, self._fixed_slots(OVERALL)) if protocol.system else ""

    def prompt(self, pair: Pair, metric: str, verdicts: Sequence[str] = ()) -> str:
        """The whole prompt; see `PairWriter`."""
        known, wording = self._fixed_slots(metric), self._wording
        with_source = bool(self._task.source_label)
        task = wording.task if with_source else wording.task_without_source
        texts = {
            "source": fenced(pair.first.source, self._shown.source_tag),
            "fields": self._shown.fields(pair.first),
            "first": fenced(pair.first.text, f"{self._shown.output_tag}-a"),
            "second": fenced(pair.second.text, f"{self._shown.output_tag}-b"),
        }
        pieces = [split_slots(text, known) for text in paragraphs(wording.sample)]
        shown = [join_slots(p, texts) for p in pieces if with_source or "source" not in p[1::2]]
        if verdicts:
            said = {f"verdict_{n}": fenced(v, "verdict") for n, v in enumerate(verdicts, 1)}
            shown.append(join_slots(split_slots(wording.final.strip(), known), said))
        criterion = wording.overall if metric == OVERALL else wording.criterion
        return "\n\n".join(
            filter(None, [fill(task, known), fill(criterion, known), *shown, self._answer(known)])
        )

    def _answer(self, known: Mapping[str, str]) -> str:
        answer = fill(self._wording.answers[self._protocol.answer], known)
        if self._protocol.answer == "two-scores":
            return answer
        ties = self._wording.ties
        if not self._protocol.ties:
            return f"{answer} {ties['none']}"
        return f"{answer}\n{ties['letter' if self._protocol.answer == 'bare' else 'word']}"

    def _fixed_slots(self, metric: str) -> dict[str, str]:
        """The slots that are the same for all texts."""
        scale = self._protocol.scale
        known = self._shown.slots(self._metrics.get(metric))
        return {**known, "low": f"{scale.min:g}", "high": f"{scale.max:g}"}


class BattlePrompt:
    """Writes the prompts of a battle prompt file, as they are: nothing is fenced.

    Parameters
    ----------
    system, template, request
        `system_prompt`, `prompt_template` and `prompt` of the file. The template has the slots `{question}`,
        `{answer_1}`, `{answer_2}` and `{prompt}`; other braces are text.
    """

    _SLOT = re.compile(r"\{(question|answer_1|answer_2|prompt)\}")

    def __init__(self, system: str, template: str, request: str) -> None:
        self.system = system
        self._template = template
        self._request = request

    @property
    def texts(self) -> tuple[str, str, str]:
        """All that it is made of."""
        return self.system, self._template, self._request

    def prompt(self, pair: Pair, metric: str, verdicts: Sequence[str] = ()) -> str:
        """The whole prompt; see `PairWriter`. Raises `InputError` for a metric or a final word."""
        if metric != OVERALL or verdicts:
            raise InputError(
                "a battle prompt file compares texts as a whole; allowed: a protocol like battle"
            )
        texts = {
            "question": pair.first.source,
            "answer_1": pair.first.text,
            "answer_2": pair.second.text,
            "prompt": self._request,
        }
        return self._SLOT.sub(lambda slot: texts[slot[1]], self._template)
