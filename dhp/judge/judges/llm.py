"""A language model as a judge, under a protocol."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dhp.core.protocol_spec import AnswerForm
from dhp.core.records import Candidate, Rating
from dhp.core.refusals import holds_refusal
from dhp.core.specs import Metric, Task
from dhp.judge.api import Judge, rescale
from dhp.judge.extraction.json_object import read_object
from dhp.judge.extraction.labels import read_label
from dhp.judge.extraction.prob import expected_score, no_probabilities
from dhp.judge.extraction.rating import read_rating
from dhp.judge.extraction.records import Extracted
from dhp.judge.extraction.yes_no import yes_no_of
from dhp.judge.prompts import answer_scale
from dhp.judge.requests import RatingTarget, RequestBuilder, TaskSteps
from dhp.judge.unreadable import reasons, remedy, sample_answer
from dhp.llm.cached_model import CachedModel
from dhp.llm.records import Answer, Failure, Reply, Request
from dhp.llm.steps import asked_steps


class LlmJudge(Judge):
    """A language model under a protocol."""

    cached_model: CachedModel

    def __init__(self, cached_model: CachedModel, builder: RequestBuilder) -> None:
        self.cached_model = cached_model
        self.builder = builder
        self.model = cached_model.model.model
        self.protocol = builder.label
        self.samples = builder.protocol.samples
        self.settings = {"endpoint": cached_model.model.endpoint, **builder.settings}
        self.cut_off = 0
        """Answers without a score that ended at the token limit."""
        self.auto_steps: dict[str, dict[str, list[str]]] = {}
        """Task -> metric -> steps that the model wrote, as far as it was asked for them."""

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """One rating per candidate, metric and sample.

        Raises
        ------
        InputError
            If no request can succeed, or the server gives no log-probabilities and the protocol needs them.
        StoppedEarly
            At a limit; see `CachedModel.ask`.
        """
        steps = self._auto_steps(task) if self.builder.protocol.steps == "auto" else None
        for answer in self.cached_model.ask(self.builder.requests(candidates, task, steps)):
            yield from self._ratings(answer)

    def requests(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Request]:
        """What would be asked; where the model is to write evaluation steps, those requests come first."""
        if self.builder.protocol.steps == "auto":
            yield from self.builder.steps_requests(task)
        yield from self.builder.requests(candidates, task)

    def prompts(self, candidate: Candidate, task: Task) -> list[dict[str, str]]:
        """The prompts about one text: `metric`, `answer` (its form) and `prompt`.

        With the steps that the model wrote, once it has been asked for them.
        """
        found = []
        for request in self.builder.requests([candidate], task, self.auto_steps.get(task.task)):
            assert isinstance(request.tag, RatingTarget)
            about = {"metric": request.tag.metric.name, "answer": str(request.tag.form)}
            found.append({**about, "prompt": request.prompt})
        return found

    def remedy(self, ratings: Sequence[Rating], task: Task) -> str:
        """One answer without a score, why there is none in such answers, and what most likely helps."""
        own, tokens = bool(self.builder.prompt_files), self.builder.protocol.max_tokens
        helps = remedy(ratings, task, tokens=tokens, cut_off=self.cut_off, prompt_files=own)
        counted = reasons(ratings, self.cut_off)
        return f"{counted}; one of them is {sample_answer(ratings)}; likely remedy: {helps}"

    def _auto_steps(self, task: Task) -> TaskSteps:
        """Evaluation steps for each metric of a task, asked of the model once."""
        if task.task not in self.auto_steps:
            requests = self.builder.steps_requests(task)
            self.auto_steps[task.task] = asked_steps(self.cached_model, requests, "`steps` written or a file")
        return self.auto_steps[task.task]

    def _ratings(self, answer: Answer) -> Iterator[Rating]:
        target = answer.request.tag
        assert isinstance(target, RatingTarget)
        for number, outcome in answer.outcomes.items():
            sample = number - target.first_sample
            known = _object_of(outcome, target) if target.form == "json" else None
            for metric in target.metrics:
                place = (target.candidate.example, target.candidate.variant, metric.name, sample)
                if isinstance(outcome, Failure):
                    yield Rating(*place, None, "failed", outcome.reason)
                elif outcome.finish == "tool_calls":
                    yield Rating(*place, None, "failed", "the model answered with a tool call")
                else:
                    raw = outcome.text or None
                    if raw is None and outcome.finish == "length":
                        raw = f"(no text within {answer.request.params.max_tokens} tokens)"
                    if known is not None:
                        read = self._read_value(known.get(metric.name), outcome, metric)
                    else:
                        read = self._read(outcome, metric, target.form)
                    score = _on_scale(read.score, metric, target.form)
                    self.cut_off += score is None and outcome.finish == "length"
                    yield Rating(*place, score, read.status, raw, read.rule, read.missing_mass)

    def _read_value(self, text: str | None, reply: Reply, metric: Metric) -> Extracted:
        """What a JSON object says about a metric."""
        if text is None:
            left = reply.text if holds_refusal(reply.text) else ""
            return self._read(replace(reply, text=left), metric, "json")
        read = self._read(replace(reply, text=text, finish="stop"), metric, "score-only")
        return replace(read, rule=f"json:{read.rule}") if read.rule else read

    def _read(self, reply: Reply, metric: Metric, form: AnswerForm) -> Extracted:
        scale = answer_scale(form, metric.scale)
        extraction = self.builder.protocol.extraction
        if reply.finish == "content_filter":
            return Extracted("refused", None, None)
        cut_off = reply.finish == "length"
        if extraction != "parse" and reply.positions is not None:
            return expected_score(reply.positions, scale, form, cut_off=cut_off)
        if metric.labels:
            return read_label(reply.text, metric.labels, cut_off=cut_off)
        yes_no = yes_no_of(metric, scale)
        read = read_rating(reply.text, scale, form, cut_off=cut_off, yes_no=yes_no)
        if extraction == "prob" and read.score is not None:
            raise no_probabilities(self.model, self.cached_model.model.endpoint)
        if extraction == "prob-or-parse" and read.rule is not None:
            read = replace(read, rule=f"parse:{read.rule}")  # not the way that was asked for
        return read


def _object_of(outcome: Reply | Failure, target: RatingTarget) -> dict[str, str]:
    """What an answer in JSON says, by metric; empty where it is none."""
    if isinstance(outcome, Failure):
        return {}
    return read_object(outcome.text, {m.name: m.label for m in target.metrics}) or {}


def _on_scale(score: float | None, metric: Metric, form: AnswerForm) -> float | None:
    """A score that was read, on the metric's scale, higher for better."""
    if score is None:
        return None
    scale = metric.scale
    found = rescale(score, answer_scale(form, scale), scale)
    return min(max(scale.min + scale.max - found, scale.min), scale.max) if metric.lower_is_better else found
