"""Judges of answers by category, perhaps with a target answer."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from dhp.content.catalog import override
from dhp.core.errors import InputError
from dhp.core.protocol_spec import Protocol, Wording
from dhp.core.records import Candidate, Rating
from dhp.core.seeding import text_hash
from dhp.core.slots import fill
from dhp.core.specs import Task
from dhp.core.tags import fenced
from dhp.judge.judges.llm import LlmJudge, asked_for
from dhp.judge.prompt_files import PromptFile
from dhp.judge.requests import RequestBuilder
from dhp.llm.cached_model import CachedModel, asked_steps
from dhp.llm.records import Failure, Params, Reply, Request
from dhp.plugins.arena.content import EvaluationContent

Reference = Literal["none", "one-prompt", "second-turn"]
"""Whether the judge sees a target answer: in the prompt, or in a second turn after its first answer."""
CORRECTNESS = "correctness"
"""The metric for which a target answer is the correct one, not a good one among others."""
_STEPS_TOKENS = 1024
"""Most tokens of the evaluation steps that the model writes. Chosen."""


def evaluation_judge(
    cached_model: CachedModel,
    protocol: Protocol,
    wording: Wording,
    task: Task,
    templates: Mapping[str, str] | None,
    content: EvaluationContent,
    reference: Reference = "none",
    *,
    seed: int | None = 0,
) -> LlmJudge:
    """The judge of one category.

    `task` has the metrics of the category, or correctness alone if `reference` is `one-prompt` and there
    are no templates. Templates are metric -> prompt with `{{source}}` and `{{answer}}`; None for prompts made
    of the wording. No seed sends none.
    """
    # The target stands in the same prompt, through the wording or behind each template.
    if reference == "one-prompt":
        if templates is None:
            label = _target_label(content, task.metric_names[0])  # all metrics of a task are asked alike
            wording = wording.model_copy(update={"reference": f"{label}\n{{{{reference}}}}"})
            protocol = override(protocol, reference=True)
        else:
            with_target = {}
            for name, text in templates.items():
                # Four braces are two in an f-string: the slot `{{reference}}`.
                with_target[name] = f"{text}\n\n{_target_label(content, name)}\n{{{{reference}}}}"
            templates = with_target

    files = []
    for name, text in (templates or {}).items():
        # No prompt has a file of its own: the name of the protocol stands where a path would.
        files.append(PromptFile(Path(protocol.protocol), name, text))
    builder = RequestBuilder(protocol, wording, prompt_files=tuple(files), seed=seed)
    if reference == "second-turn":
        return _TwoTurns(cached_model, builder, content)
    return LlmJudge(cached_model, builder)


def _target_label(content: EvaluationContent, metric: str) -> str:
    return content.correct_answer if metric == CORRECTNESS else content.good_answer


class _TwoTurns(LlmJudge):
    """A judge that first asks for a score, then shows the target answer and asks again; the second score
    counts."""

    def __init__(
        self, cached_model: CachedModel, builder: RequestBuilder, content: EvaluationContent
    ) -> None:
        super().__init__(cached_model, builder)
        self._content = content
        # The words of the second turn are part of how the judge is asked: other words are another protocol.
        turn = text_hash(json.dumps([content.second_turn, content.good_answer, content.correct_answer]))
        self.settings = {**self.settings, "second_turn": turn}
        self.protocol = f"{builder.label}+{turn[:6]}"

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """One rating per candidate, metric and sample; if a turn has no answer, why."""
        # First turn: its score does not count, its answer stands before the second turn.
        again: list[Request] = []
        texts = {(candidate.example, candidate.variant): candidate for candidate in candidates}
        for request, outcomes in self.cached_model.ask(self.builder.requests(candidates, task)):
            (asked,) = asked_for(request)
            for sample, outcome in outcomes.items():
                if isinstance(outcome, Failure):
                    yield replace(asked, sample=sample, raw=outcome.reason)
                else:
                    text = texts[asked.example, asked.variant]
                    again.append(self._second(request, text, asked.metric, sample, outcome))
        yield from self._answered(again, candidates, task)

    def _second(self, first: Request, text: Candidate, metric: str, sample: int, reply: Reply) -> Request:
        if text.reference is None:
            raise InputError(f"example '{text.example}': has no target answer; must have one")
        slots = {
            "said": _target_label(self._content, metric),
            "reference": fenced(text.reference, "reference"),
        }
        return replace(
            first,
            prompt=fill(self._content.second_turn, slots),
            before=(*first.before, ("user", first.prompt), ("assistant", reply.text)),
            # Each sample has a first answer of its own before it, and so a request of its own.
            samples=(sample,),
        )


def written_steps(
    cached_model: CachedModel, content: EvaluationContent, category: str, metrics: Mapping[str, str]
) -> dict[str, str]:
    """Metric -> evaluation steps that the model writes, once for each; they end with its name as a cue.

    `metrics` has metric -> definition. Raises `InputError` if an answer is not a list of steps.
    """
    requests = []
    for name, definition in metrics.items():
        slots = {"category": category, "metric": name, "definition": definition}
        prompt = fill(content.auto_steps, slots)
        params = Params(0.0, None, _STEPS_TOKENS)  # temperature 0: the same steps again
        requests.append(Request(prompt, params, (0,), f"evaluation steps of '{name}'", tag=name))
    steps = asked_steps(cached_model, requests, "steps in the prompt file")
    shown: dict[str, str] = {}
    for name, listed in steps.items():
        # As ColossalEval's own steps: a numbered list, then the metric as a cue for the score.
        numbered = [f"{number}. {step}" for number, step in enumerate(listed, 1)]
        shown[name] = "\n".join([*numbered, "", name])
    return shown
