"""The requests of a protocol: what is sent about each text, in order."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol as Interface

from dhp.core.errors import InputError, suggest
from dhp.core.protocol_spec import AnswerForm, Protocol, Wording
from dhp.core.records import Candidate
from dhp.core.seeding import text_hash
from dhp.core.specs import Metric, Task
from dhp.judge.extraction.prob import score_tokens
from dhp.judge.prompt_files import FilePrompts
from dhp.judge.prompts import Prompts, answer_scale
from dhp.llm.records import Params, Request

_TOP_LOGPROBS = 20
_STEPS_TOKENS = 1024

TaskSteps = Mapping[str, Sequence[str]]
"""Metric -> evaluation steps."""


class PromptWriter(Interface):
    """What turns a candidate into a prompt."""

    def prompt(self, candidate: Candidate, metric: str, form: AnswerForm) -> str:
        """The whole prompt."""
        ...


@dataclass(frozen=True, slots=True)
class RatingTarget:
    """What a request asks to be rated; its tag."""

    candidate: Candidate
    metric: Metric
    form: AnswerForm
    first_sample: int = 0
    """What the samples are numbered from; more than 0 where the original itself is asked about again."""


@dataclass(frozen=True, slots=True)
class RequestBuilder:
    """A protocol with all the texts that its prompts need."""

    protocol: Protocol
    wording: Wording
    """In the protocol's language."""
    persona: str = ""
    """Put before the task."""
    steps: Mapping[str, TaskSteps] | None = None
    """Task -> steps that replace the written ones."""
    prompt_files: Mapping[str, str] | None = None
    """Metric -> published prompt that is used as it is, instead of one made of the wording."""
    seed: int | None = 0
    """Of sampling; None sends none, and none is sent where the temperature is 0."""

    @property
    def settings(self) -> dict[str, object]:
        """Everything that decides the requests and how their answers are read."""
        settings = self.protocol.model_dump(exclude={"description", "persona"})
        if self.steps is not None:
            settings["steps"] = "file"  # its contents count, not its path
        return {
            "settings": settings,
            "wording": text_hash(self.wording.model_dump_json()),
            "persona": self.persona,
            "steps": self.steps,
            "prompt_files": self.prompt_files,
        }

    @property
    def label(self) -> str:
        """The protocol's name with a hash of its settings."""
        return f"{self.protocol.protocol}@{text_hash(json.dumps(self.settings, sort_keys=True))}"

    def requests(
        self, candidates: Sequence[Candidate], task: Task, auto_steps: TaskSteps | None = None
    ) -> Iterator[Request]:
        """The requests, in an order in which neighbours share as much of their prompts as possible.

        `auto_steps` are those that the model wrote; without them the written ones stand in for them.
        """
        task = task.in_language(self.protocol.language)
        writer = self._writer(task, auto_steps)
        for _, group in groupby(candidates, key=lambda c: c.example):
            variants = list(group)
            for metric in task.metrics:
                for form, samples in self._forms():
                    params = self._params(metric, form)
                    unchanged = 0
                    for candidate in variants:
                        again = candidate.level == "control" and candidate.text == variants[0].text
                        unchanged += again
                        first = unchanged * self.protocol.samples if again else 0
                        place = f"example '{candidate.example}', variant '{candidate.variant}'"
                        yield Request(
                            prompt=writer.prompt(candidate, metric.name, form),
                            params=params,
                            samples=tuple(first + sample for sample in samples),
                            place=f"{place}, metric '{metric.name}'",
                            group=f"{candidate.example}\n{metric.name}\n{form}",
                            tag=RatingTarget(candidate, metric, form, first),
                        )

    def steps_requests(self, task: Task) -> list[Request]:
        """Requests for evaluation steps, one a metric, its name the tag (Auto-CoT, Liu et al. 2023)."""
        task = task.in_language(self.protocol.language)
        prompts = Prompts(self.protocol, self.wording, task, persona=self.persona)
        temperature = None if self.protocol.temperature is None else 0.0
        params = Params(temperature, None, max(_STEPS_TOKENS, self.protocol.max_tokens))
        return [
            Request(prompts.auto_steps(name), params, (0,), f"evaluation steps of '{name}'", tag=name)
            for name in task.metric_names
        ]

    def _forms(self) -> list[tuple[AnswerForm, tuple[int, ...]]]:
        """The answer forms with the samples that are asked for in each."""
        samples = tuple(range(self.protocol.samples))
        if self.protocol.answer == "mix":
            return [("rate-explain", samples[::2]), ("analyze-rate", samples[1::2])]
        return [(self.protocol.answer, samples)]

    def _params(self, metric: Metric, form: AnswerForm) -> Params:
        protocol = self.protocol
        top_logprobs = 0
        if protocol.extraction != "parse":
            top_logprobs = _TOP_LOGPROBS
            score_tokens(answer_scale(form, metric.scale), form)  # raises where it cannot work
        seed = None if protocol.temperature == 0 else self.seed
        return Params(protocol.temperature, protocol.top_p, protocol.max_tokens, seed, top_logprobs)

    def _writer(self, task: Task, auto_steps: TaskSteps | None) -> PromptWriter:
        if self.prompt_files is not None:
            if lacking := [m for m in task.metric_names if m not in self.prompt_files]:
                there = " ".join(f"`metrics` {m}" for m in self.prompt_files)
                raise InputError(
                    f"no prompt file for the metric '{lacking[0]}'; add one, or take only {there}"
                )
            return FilePrompts(self.prompt_files, task)
        steps = auto_steps
        if self.steps is not None:
            if task.task not in self.steps:
                place = self.protocol.steps
                raise InputError(
                    f"{place}: no steps for task '{task.task}'; {suggest(task.task, self.steps)}"
                )
            steps = self.steps[task.task]
        return Prompts(self.protocol, self.wording, task, persona=self.persona, steps=steps)
