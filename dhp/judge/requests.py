"""The requests of a protocol for each text, in order."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from dhp.core.errors import InputError, suggest
from dhp.core.protocol_spec import AnswerForm, Protocol, Wording
from dhp.core.records import Candidate, Rating
from dhp.core.seeding import text_hash
from dhp.core.specs import Metric, Task
from dhp.judge.extraction.prob import TOP_LOGPROBS, score_tokens
from dhp.judge.extraction.rating import answer_scale
from dhp.judge.pairs import ORDERS, Pair, PairVerdict, contradicting
from dhp.judge.prompt_files import (
    FilePrompts,
    PairPromptFile,
    PromptFile,
    check_output_slot,
    prompts_by_metric,
    version_name,
)
from dhp.judge.prompts import Prompts
from dhp.llm.records import Params, Request

_STEPS_TOKENS = 1024

TaskSteps = Mapping[str, Sequence[str]]
"""Metric -> evaluation steps."""


@dataclass(frozen=True, slots=True)
class RequestBuilder:
    """A protocol with all the texts that its prompts need.

    The tag of a request is what it asks for, still failed: a tuple with a `Rating` on each metric of which
    the answer speaks, or a `PairVerdict`.
    """

    protocol: Protocol
    wording: Wording
    """Wording in the protocol's language."""
    persona: str = ""
    """Put before the task."""
    steps: Mapping[str, TaskSteps] | None = None
    """Task -> steps that replace the written ones."""
    prompt_files: Sequence[PromptFile] = ()
    """Prompts that are used as they are, instead of those made of the wording."""
    pair_prompt_file: PairPromptFile | None = None
    """The same for two texts."""
    seed: int | None = 0
    """Seed of sampling; None sends none, and none is sent where the temperature is 0."""
    limit_given: bool = False
    """Whether the most tokens of an answer are the user's choice."""
    known_metrics: Sequence[str] = ()
    """Metrics of all tasks: a folder of prompt files may hold some that the task at hand lacks."""

    @property
    def settings(self) -> dict[str, object]:
        """Everything that decides the requests and how their answers are read."""
        wording = text_hash(self.wording.model_dump_json(exclude_unset=True))
        if self.protocol.pairwise:
            if self.pair_prompt_file:
                wording = text_hash(json.dumps(self.pair_prompt_file.texts))
            return {
                "pairwise": self.protocol.settings("description", "published", "ours"),
                "wording": wording,
            }
        settings = self.protocol.settings("description", "published", "ours", "persona")
        if self.steps is not None:
            settings["steps"] = "file"  # its contents count, not its path
        return {
            "settings": settings,
            "wording": wording,
            "persona": self.persona,
            "steps": self.steps,
            "prompt_files": {file.metric or file.name: file.text for file in self.prompt_files} or None,
        }

    @property
    def label(self) -> str:
        """The name of the prompt file or of its folder, else of the protocol, with a hash of the settings."""
        name = None if "protocol" in self.protocol.changed else version_name(self.prompt_files)
        name = name or self.protocol.protocol
        return f"{name}@{text_hash(json.dumps(self.settings, sort_keys=True))}"

    def requests(
        self, candidates: Sequence[Candidate], task: Task, auto_steps: TaskSteps | None = None
    ) -> Iterator[Request]:
        """The requests, in an order in which neighbours share as much of their prompts as possible.

        `auto_steps` are those that the model wrote; without them the written ones stand in for them.
        """
        task = task.in_language(self.protocol.language)
        writer, params = self._writer(task, auto_steps), self._params()
        together = [task.metrics] if self.protocol.answer == "json" else [[m] for m in task.metrics]
        for _, group in groupby(candidates, key=lambda c: c.example):
            variants = list(group)
            for metrics in together:
                metric = metrics[0]
                for form, samples in self._forms():
                    self._check_probabilities(metric, form)
                    unchanged = 0
                    for candidate in variants:
                        again = candidate.level == "control" and candidate.text == variants[0].text
                        unchanged += again
                        first = (unchanged if again else candidate.repeat) * self.protocol.samples
                        place = f"example '{candidate.example}', variant '{candidate.variant}'"
                        yield Request(
                            prompt=writer.prompt(candidate, metric.name, form),
                            params=params,
                            samples=tuple(first + sample for sample in samples),
                            place=f"{place}, metric '{metric.name}'",
                            group=f"{candidate.example}\n{metric.name}\n{form}",
                            tag=tuple(
                                Rating(candidate.example, candidate.variant, m.name, 0, None, "failed")
                                for m in metrics
                            ),
                        )

    def pair_requests(self, pairs: Sequence[Pair], task: Task, metrics: Sequence[str]) -> Iterator[Request]:
        """The requests to compare texts, in both orders, without final words."""
        asked = (
            PairVerdict(pair, metric, order, 0, None, "failed")
            for pair in pairs
            for metric in metrics
            for order in ORDERS
        )
        yield from self._pair_requests(((verdict, ()) for verdict in asked), task)

    def final_requests(self, verdicts: Iterable[Sequence[PairVerdict]], task: Task) -> Iterator[Request]:
        """Requests in both orders about pairs whose verdicts contradict each other, which they show."""
        yield from self._pair_requests(
            (
                (PairVerdict(found[0].pair, found[0].metric, order, 0, None, "failed", final=True), shown)
                for found in verdicts
                if (said := contradicting(found))
                for order, shown in zip(ORDERS, (said, said[::-1]), strict=True)
            ),
            task,
        )

    def _pair_requests(
        self, asked: Iterable[tuple[PairVerdict, Sequence[str]]], task: Task
    ) -> Iterator[Request]:
        """One request for each verdict; the texts beside it are verdicts that are shown."""
        task = task.in_language(self.protocol.language)
        writer = self.pair_prompt_file or Prompts(self.protocol, self.wording, task)
        params, samples = self._params(), tuple(range(self.protocol.samples))
        for verdict, said in asked:
            pair = verdict.pair
            shown = pair if verdict.order == "given" else pair.swapped
            yield Request(
                prompt=writer.pair_prompt(shown, verdict.metric, said),
                params=params,
                samples=samples,
                place=f"example '{pair.first.example}', '{pair.first.variant}' against "
                f"'{pair.second.variant}', order {verdict.order}",
                group=f"{pair.first.example}\n{verdict.metric}",
                tag=verdict,
                before=(("system", writer.system),) if writer.system else (),
            )

    def steps_requests(self, task: Task) -> list[Request]:
        """Requests for evaluation steps, one per metric, its name the tag (Auto-CoT, Liu et al. 2023)."""
        task = task.in_language(self.protocol.language)
        prompts = Prompts(self.protocol, self.wording, task, persona=self.persona)
        temperature = None if self.protocol.temperature is None else 0.0
        params = Params(temperature, None, max(_STEPS_TOKENS, self.protocol.max_tokens))
        return [
            Request(prompts.auto_steps(name), params, (0,), f"evaluation steps of '{name}'", tag=name)
            for name in task.metric_names
        ]

    def _prompts(self, task: Task) -> dict[str, str]:
        """Metric -> prompt file."""
        names = task.metric_names
        if self.protocol.answer == "json":
            if len(self.prompt_files) > 1:
                raise InputError("`answer` json: one prompt asks for all metrics; allowed: one prompt file")
            check_output_slot(self.prompt_files[0], task.columns)
            return dict.fromkeys(names, self.prompt_files[0].text)
        known = dict.fromkeys([*names, *self.known_metrics])  # some files may be for metrics of other tasks
        metrics = names if len(self.prompt_files) == 1 else list(known)
        found = prompts_by_metric(self.prompt_files, metrics, task.columns)
        if lacking := [m for m in names if m not in found]:
            there = " ".join(f"`metrics` {m}" for m in found)
            raise InputError(f"no prompt file for the metric '{lacking[0]}'; add one, or take only {there}")
        return found

    def form(self, sample: int) -> AnswerForm:
        """The answer form in which a sample is asked for."""
        return next(form for form, samples in self._forms() if sample % self.protocol.samples in samples)

    def _forms(self) -> list[tuple[AnswerForm, tuple[int, ...]]]:
        """The answer forms with the samples that are asked for in each."""
        samples = tuple(range(self.protocol.samples))
        if self.protocol.answer == "mix":
            return [("rate-explain", samples[::2]), ("analyze-rate", samples[1::2])]
        return [(self.protocol.answer, samples)]

    def _params(self) -> Params:
        protocol = self.protocol
        return Params(
            protocol.temperature,
            protocol.top_p,
            protocol.max_tokens,
            None if protocol.temperature == 0 else self.seed,
            0 if protocol.extraction == "parse" else TOP_LOGPROBS,
        )

    def _check_probabilities(self, metric: Metric, form: AnswerForm) -> None:
        """Raise `InputError` where scores cannot be read from probabilities, and are to be."""
        if self.protocol.extraction == "parse":
            return
        if metric.labels:
            raise InputError(
                f"`labels` are words; allowed: `extraction` parse, not {self.protocol.extraction}"
            )
        score_tokens(answer_scale(form, metric.scale), form)

    def _writer(self, task: Task, auto_steps: TaskSteps | None) -> Prompts | FilePrompts:
        if self.prompt_files:
            return FilePrompts(self._prompts(task), task)
        if unexplained := [m.name for m in task.metrics if not m.definition.strip() or m.labels]:
            raise InputError(
                f"metric '{unexplained[0]}': nothing says how to judge it; allowed: a prompt of your own by "
                "`prompt_files`, or `task` FILE.yaml with its definition and steps"
            )
        steps = auto_steps
        if self.steps is not None:
            if task.task not in self.steps:
                place = self.protocol.steps
                raise InputError(
                    f"{place}: no steps for task '{task.task}'; {suggest(task.task, self.steps)}"
                )
            steps = self.steps[task.task]
        return Prompts(self.protocol, self.wording, task, persona=self.persona, steps=steps)
