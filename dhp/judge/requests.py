"""The requests of a protocol, in the order in which they are made.

`RequestBuilder` decides what is asked and in which order, and with which parameters. The words come from
`Prompts`, from the user's own files (`FilePrompts`) or, as typed questions, from `QuestionPrompts`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from dhp.core.answer_forms import FORMS, AnswerForm, answer_scale, turns_of
from dhp.core.errors import InputError, suggest
from dhp.core.hiding import hidden_value
from dhp.core.protocol_spec import Protocol, Wording
from dhp.core.records import Candidate, Rating
from dhp.core.seeding import text_hash
from dhp.core.slots import fill
from dhp.core.specs import Metric, Task
from dhp.judge.extraction.probabilities import TOP_LOGPROBS, score_tokens
from dhp.judge.pairs import ORDERS, Pair, PairVerdict, beside_originals, contradicting
from dhp.judge.prompt_files import (
    FilePrompts,
    PromptFile,
    check_output_slot,
    prompts_by_metric,
    version_name,
)
from dhp.judge.prompt_parts import written_ends
from dhp.judge.prompts import PairPrompts, Prompts
from dhp.judge.question_files import file_questions
from dhp.judge.questions import QuestionPrompts
from dhp.llm.records import Params, Request

_STEPS_TOKENS = 1024
"""Most tokens of evaluation steps, if the protocol leaves no more. Chosen: a list is longer than answers."""

TaskSteps = Mapping[str, Sequence[str]]
"""Metric -> evaluation steps."""


def _with_repeats(variants: Sequence[Candidate]) -> list[tuple[Candidate, int]]:
    """Each text of an example with the number of times that the same text was asked about before.

    An unchanged control is a rating of its own: with the samples of the original it would be a stored one.
    """
    repeats = []
    unchanged = 0
    for candidate in variants:
        if candidate.level == "control" and candidate.text == variants[0].text:
            unchanged += 1
            repeats.append((candidate, unchanged))
        else:
            repeats.append((candidate, candidate.repeat))
    return repeats


def _schema(metrics: Sequence[str]) -> dict[str, object]:
    """What a server is asked to keep an answer to: an object that has each metric, in whatever form."""
    schema = {"type": "object", "properties": {name: {} for name in metrics}, "required": list(metrics)}
    return {"type": "json_schema", "json_schema": {"name": "ratings", "schema": schema}}


def _text_request(
    prompt: str,
    params: Params,
    candidate: Candidate,
    metrics: Sequence[Metric],
    form: AnswerForm,
    samples: tuple[int, ...],
) -> Request:
    """The request for ratings of a text on the metrics that one answer speaks of."""
    example, variant, metric = candidate.example, candidate.variant, metrics[0].name
    return Request(
        prompt,
        params,
        samples,
        place=f"example '{example}', variant '{variant}', metric '{metric}'",
        group=f"{example}\n{metric}\n{form}",
        tag=tuple(Rating(example, variant, each.name, 0, None, "failed") for each in metrics),
    )


def _both_orders(
    pairs: Sequence[Pair], metrics: Sequence[str]
) -> Iterator[tuple[PairVerdict, Sequence[str]]]:
    """A verdict on each pair by each metric in each order, beside which no earlier ones are shown."""
    for pair in pairs:
        for metric in metrics:
            for order in ORDERS:
                yield PairVerdict(pair, metric, order, 0, None, "failed"), ()


@dataclass(frozen=True, slots=True)
class RequestBuilder:
    """A protocol with all the texts that its prompts need.

    The tag of a request is what it asks for, with the status `failed` until it is answered: a tuple with a
    `Rating` on each metric that the answer will speak of, or with a `PairVerdict`.
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
    pair_prompts: PairPrompts | None = None
    """The same for two texts."""
    seed: int | None = 0
    """Seed of sampling; None sends none, and none is sent if the temperature is 0."""
    limit_given: bool = False
    """Whether the most tokens of an answer are the user's choice."""
    body: Mapping[str, object] = field(default_factory=dict)
    """Further fields of each request, JSON."""
    known_metrics: Sequence[str] = ()
    """Metrics of all tasks: a folder of prompt files may hold some that the task at hand lacks."""

    @property
    def settings(self) -> dict[str, object]:
        """Everything that decides the requests and how their answers are read."""
        own_prompt = bool(self.prompt_files or self.pair_prompts)
        used = self.wording.used_by(self.protocol, own_prompt=own_prompt)
        if self.pair_prompts:
            used["prompt"] = self.pair_prompts.texts
        # The names below are hashed into the label: another one would give each protocol a new label.
        wording = text_hash(json.dumps(used, sort_keys=True))
        body = {"body": hidden_value(dict(self.body))} if self.body else {}
        if self.protocol.pairwise:
            return {
                "pairwise": self.protocol.settings("description", "published", "ours"),
                "wording": wording,
                **body,
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
            **body,
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

        `auto_steps` are those that the model wrote; without them the written ones stand in for them. A
        pairwise protocol shows each degraded text together with its original.
        """
        if self.protocol.pairwise:
            yield from self.pair_requests(beside_originals(candidates), task, task.metric_names)
            return
        task = task.in_language(self.protocol.language)
        writer, params = self._writer(task, auto_steps), self._params(task.metric_names)
        # Metrics that one answer speaks of; the innermost loop shares the longest beginnings of prompts.
        together = [task.metrics] if FORMS[self.protocol.answer].together else [[m] for m in task.metrics]
        for _, group in groupby(candidates, key=lambda c: c.example):
            repeats = _with_repeats(list(group))
            for metrics in together:
                for form, samples in self._forms():
                    self._check_probabilities(metrics[0], form)
                    for candidate, repeat in repeats:
                        # A text that is rated again has further numbers: those before are stored.
                        first = repeat * self.protocol.samples
                        numbers = tuple(first + sample for sample in samples)
                        prompt = writer.prompt(candidate, metrics[0].name, form)
                        yield _text_request(prompt, params, candidate, metrics, form, numbers)

    def pair_requests(self, pairs: Sequence[Pair], task: Task, metrics: Sequence[str]) -> Iterator[Request]:
        """The requests to compare texts, in both orders, without final words."""
        yield from self._pair_requests(_both_orders(pairs, metrics), task)

    def final_requests(self, verdicts: Iterable[Sequence[PairVerdict]], task: Task) -> Iterator[Request]:
        """Requests in both orders about pairs whose verdicts contradict each other, which they show."""
        asked = []
        for verdict in verdicts:
            contradiction = contradicting(verdict)
            if not contradiction:
                continue
            pair, metric = verdict[0].pair, verdict[0].metric
            for order, shown in zip(ORDERS, (contradiction, contradiction[::-1]), strict=True):
                final = PairVerdict(pair, metric, order, 0, None, "failed", final=True)
                asked.append((final, shown))
        yield from self._pair_requests(asked, task)

    def _pair_requests(
        self, asked: Iterable[tuple[PairVerdict, Sequence[str]]], task: Task
    ) -> Iterator[Request]:
        """One request for each verdict that is asked for; beside it stand earlier verdicts to be shown."""
        task = task.in_language(self.protocol.language)
        in_words = QuestionPrompts if FORMS[self.protocol.answer].data else Prompts
        writer = self.pair_prompts or in_words(self.protocol, self.wording, task)
        params, samples = self._params(), tuple(range(self.protocol.samples))
        for verdict, contradiction in asked:
            pair = verdict.pair
            shown = pair if verdict.order == "given" else pair.swapped
            prompt = writer.prompt(
                shown.first, verdict.metric, self.protocol.answer, shown.second, contradiction
            )
            yield Request(
                prompt=prompt,
                params=params,
                samples=samples,
                place=f"example '{pair.first.example}', '{pair.first.variant}' against "
                f"'{pair.second.variant}', metric '{verdict.metric}', order {verdict.order}",
                group=f"{pair.first.example}\n{verdict.metric}",
                tag=(verdict,),
                before=(("system", writer.system),) if writer.system else (),
            )

    def steps_requests(self, task: Task) -> list[Request]:
        """Requests for evaluation steps, one per metric, its name the tag (Auto-CoT, Liu et al. 2023)."""
        task = task.in_language(self.protocol.language)
        prompts = Prompts(self.protocol, self.wording, task, persona=self.persona)
        temperature = None if self.protocol.temperature is None else 0.0
        most = max(_STEPS_TOKENS, self.protocol.max_tokens)
        params = Params(temperature, None, most, body=self._body())
        requests = []
        for name in task.metric_names:
            place = f"evaluation steps of '{name}'"
            requests.append(Request(prompts.auto_steps(name), params, (0,), place, tag=name))
        return requests

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
        prompts = prompts_by_metric(self.prompt_files, metrics, task.columns)
        lacking = [m for m in names if m not in prompts]
        if lacking:
            options = " ".join(f"`metrics` {m}" for m in prompts)
            raise InputError(f"no prompt file for the metric '{lacking[0]}'; add one, or take only {options}")
        return prompts

    def short_request(self, form: AnswerForm, metric: Metric | None = None) -> str:
        """The request for the rating alone, after an answer in this form that cannot be read.

        Empty if none is made. `metric` is None for two texts, compared as a whole or not.
        """
        protocol = self.protocol
        if not protocol.ask_again or protocol.extraction != "parse":
            return ""
        scale = protocol.scale if metric is None else answer_scale(form, metric.scale)
        low, high = written_ends(form, scale)
        labels = ", ".join(metric.labels or ()) if metric else ""
        kind = "label" if labels and form != "json" else FORMS[form].again
        name = metric.label if metric else ""
        asked = fill(self.wording.again[kind], {"low": low, "high": high, "metric": name, "labels": labels})
        if not FORMS[form].pairwise or form == "two-scores":
            return asked
        about_ties = self.wording.ties["letter" if protocol.ties else "none"]
        return f"{asked} {about_ties}"

    def form(self, sample: int) -> AnswerForm:
        """The answer form in which a sample is asked for."""
        turns = turns_of(self.protocol.answer)
        return turns[sample % self.protocol.samples % len(turns)]

    def _forms(self) -> list[tuple[AnswerForm, tuple[int, ...]]]:
        """The answer forms with the samples that are asked for in each."""
        turns = turns_of(self.protocol.answer)
        forms = []
        for first, form in enumerate(turns):  # of two forms in turn the first has the samples 0, 2, 4
            samples = range(first, self.protocol.samples, len(turns))
            forms.append((form, tuple(samples)))
        return forms

    def _params(self, metrics: Sequence[str] = ()) -> Params:
        protocol = self.protocol
        is_sampled = protocol.temperature != 0 and not FORMS[protocol.answer].data
        return Params(
            protocol.temperature,
            protocol.top_p,
            protocol.max_tokens,
            seed=self.seed if is_sampled else None,
            top_logprobs=0 if protocol.extraction == "parse" else TOP_LOGPROBS,
            body=self._body(metrics),
        )

    def _body(self, metrics: Sequence[str] = ()) -> tuple[tuple[str, str], ...]:
        """Further fields of a request; with the answer form `json` the schema of an object with `metrics`."""
        fields = dict(self.body)
        if metrics and self.protocol.answer == "json":
            fields.setdefault("response_format", _schema(metrics))
        return tuple((name, json.dumps(value, sort_keys=True)) for name, value in sorted(fields.items()))

    def _check_probabilities(self, metric: Metric, form: AnswerForm) -> None:
        """Raise `InputError` if scores cannot be read from probabilities, and are to be."""
        if self.protocol.extraction == "parse":
            return
        if metric.labels:
            raise InputError(
                f"`labels` are words; allowed: `extraction` parse, not {self.protocol.extraction}"
            )
        score_tokens(answer_scale(form, metric.scale), form)

    def _writer(self, task: Task, auto_steps: TaskSteps | None) -> Prompts | FilePrompts | QuestionPrompts:
        asks_data = FORMS[self.protocol.answer].data
        if self.prompt_files and asks_data:
            questions = file_questions(self.prompt_files, task, self.wording.levels[self.protocol.levels])
            return QuestionPrompts(self.protocol, self.wording, task, questions=questions)
        if self.prompt_files:
            return FilePrompts(self._prompts(task), task)
        for metric in task.metrics:
            in_words = metric.labels and not asks_data  # no prompt of ours asks for labels
            if in_words or not metric.definition.strip():
                raise InputError(
                    f"metric '{metric.name}': nothing says how to judge it; allowed: a prompt of your own by "
                    "`prompt`, or `task` FILE.yaml with its definition and steps"
                )
        steps = auto_steps
        if self.steps is not None:
            if task.task not in self.steps:
                file, known = self.protocol.steps, suggest(task.task, self.steps)
                raise InputError(f"{file}: no steps for task '{task.task}'; {known}")
            steps = self.steps[task.task]
        if asks_data:
            return QuestionPrompts(self.protocol, self.wording, task, steps=steps)
        return Prompts(self.protocol, self.wording, task, persona=self.persona, steps=steps)
