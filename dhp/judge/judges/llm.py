"""A language model as a judge, under a protocol that is pointwise or pairwise."""

import logging
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dhp.content.protocols import override
from dhp.core.protocol_spec import AnswerForm
from dhp.core.records import Candidate, Rating
from dhp.core.specs import Metric, Task
from dhp.core.text import holds_refusal
from dhp.judge.api import Judge
from dhp.judge.check import enough_tokens, reasons, remedy, sample_answer
from dhp.judge.extraction.prob import expected_score, no_probabilities
from dhp.judge.extraction.rating import answer_scale, metric_score, read_answer, read_object
from dhp.judge.extraction.rules import Extracted
from dhp.judge.extraction.verdict import Choice, Verdict, read_letter, read_verdict
from dhp.judge.pairs import OVERALL, Pair, PairVerdict, PairwiseJudge
from dhp.judge.requests import PairTarget, RatingTarget, RequestBuilder, TaskSteps
from dhp.llm.api import Client
from dhp.llm.cached_model import CachedModel, asked_steps
from dhp.llm.records import Failure, Outcomes, Reply, Request

FIRST = 3
"""Examples of a dataset whose originals are asked about first, to learn the token limit."""
_TOOL_CALL = "the model answered with a tool call"
_POINTS: dict[Choice, int] = {"first": 1, "second": -1, "tie": 0}


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
            yield from self._ratings(*answer)

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
            about = {"metric": request.tag.metrics[0].name, "answer": str(request.tag.form)}
            found.append({**about, "prompt": request.prompt})
        return found

    def remedy(self, ratings: Sequence[Rating], task: Task) -> str:
        """One answer without a score, why there is none in such answers, and what most likely helps."""
        own, tokens = bool(self.builder.prompt_files), self.builder.protocol.max_tokens
        helps = remedy(ratings, task, tokens=tokens, cut_off=self.cut_off, prompt_files=own)
        counted = reasons(ratings, self.cut_off)
        return f"{counted}; one of them is {sample_answer(ratings)}; likely remedy: {helps}"

    def with_token_limit(
        self, texts: Sequence[tuple[Sequence[Candidate], Task]], run: str = ""
    ) -> "LlmJudge":
        """The judge with the token limit that its answers need; a change is said once.

        Originals of the first examples are asked about. Where more than half of the answers are cut at the
        limit before any rating, the limit is raised, once, as a setting of the protocol: its signature says
        so, and all ratings of the run are asked for with the same limit. What was asked first is stored, so
        that it is paid for once. Nothing is looked at where the limit was given, where no server is asked,
        where probabilities are read, and where replies are not stored or come later.

        Parameters
        ----------
        texts
            Candidates and task of each dataset.
        run
            The name of the run, to which these replies count.

        Raises
        ------
        InputError, StoppedEarly
            As `rate`.
        """
        asked, context = self.cached_model, self.cached_model.context
        stored = context.store is not None and not context.refresh and asked.deferral is None
        parsed = self.builder.protocol.extraction == "parse"
        if self.builder.limit_given or not (stored and parsed and isinstance(asked.model, Client)):
            return self
        first = LlmJudge(CachedModel(asked.model, context, run=run), self.builder)
        ratings = [
            rating for candidates, task in texts for rating in first.rate(_originals(candidates), task)
        ]
        asked.session_usage = first.cached_model.session_usage
        if 2 * first.cut_off <= len(ratings):
            return self
        tokens = self.builder.protocol.max_tokens
        enough = enough_tokens(ratings, tokens)
        logging.getLogger("dhp").warning(
            "%s (%s): %d of the first %d answers were cut at %d tokens before any rating: all are asked with "
            "`max_tokens` %d",
            self.model,
            self.protocol.partition("@")[0],
            first.cut_off,
            len(ratings),
            tokens,
            enough,
        )
        return LlmJudge(
            asked, replace(self.builder, protocol=override(self.builder.protocol, max_tokens=enough))
        )

    def _auto_steps(self, task: Task) -> TaskSteps:
        """Evaluation steps for each metric of a task, asked of the model once."""
        if task.task not in self.auto_steps:
            requests = self.builder.steps_requests(task)
            self.auto_steps[task.task] = asked_steps(self.cached_model, requests, "`steps` written or a file")
        return self.auto_steps[task.task]

    def _ratings(self, request: Request, outcomes: Outcomes) -> Iterator[Rating]:
        target = request.tag
        assert isinstance(target, RatingTarget)
        text = (target.candidate.example, target.candidate.variant)
        for number, outcome in outcomes.items():
            sample = number % self.samples  # a text that is rated again has further numbers
            if isinstance(outcome, Failure) or outcome.finish == "tool_calls":
                reason = outcome.reason if isinstance(outcome, Failure) else _TOOL_CALL
                yield from (Rating(*text, m.name, sample, None, "failed", reason) for m in target.metrics)
                continue
            raw = outcome.text or None
            if raw is None and outcome.finish == "length":
                raw = f"(no text within {request.params.max_tokens} tokens)"
            for metric, read in self._read_each(outcome, target):
                score = metric_score(read.score, metric, target.form)
                self.cut_off += score is None and outcome.finish == "length"
                yield Rating(
                    *text, metric.name, sample, score, read.status, raw, read.rule, read.missing_mass
                )

    def _read_each(self, reply: Reply, target: RatingTarget) -> Iterator[tuple[Metric, Extracted]]:
        """What an answer says of each metric."""
        if target.form != "json":
            yield target.metrics[0], self._read(reply, target.metrics[0], target.form)
            return
        values = read_object(reply.text, {m.name: m.label for m in target.metrics}) or {}
        left = reply.text if holds_refusal(reply.text) else ""
        for metric in target.metrics:
            if metric.name not in values:
                yield metric, self._read(replace(reply, text=left), metric, "json")
                continue
            value = replace(reply, text=values[metric.name], finish="stop")
            read = self._read(value, metric, "score-only")
            yield metric, replace(read, rule=f"json:{read.rule}") if read.rule else read

    def _read(self, reply: Reply, metric: Metric, form: AnswerForm) -> Extracted:
        extraction = self.builder.protocol.extraction
        if reply.finish == "content_filter":
            return Extracted("refused")
        cut_off = reply.finish == "length"
        if extraction != "parse" and reply.positions is not None:
            scale = answer_scale(form, metric.scale)
            return expected_score(reply.positions, scale, form, cut_off=cut_off)
        read = read_answer(reply.text, metric, form, cut_off=cut_off)
        if extraction == "prob" and read.score is not None:
            raise no_probabilities(self.model, self.cached_model.model.endpoint)
        if extraction == "prob-or-parse" and read.rule is not None:
            read = replace(read, rule=f"parse:{read.rule}")  # not the way that was asked for
        return read


class LlmPairwiseJudge(PairwiseJudge):
    """A language model under a pairwise protocol."""

    cached_model: CachedModel

    def __init__(self, cached_model: CachedModel, builder: RequestBuilder) -> None:
        self.cached_model = cached_model
        self.builder = builder
        self.model = cached_model.model.model
        self.protocol = builder.label
        self.answers = builder.protocol.samples
        self.settings = {"endpoint": cached_model.model.endpoint, **builder.settings}

    def compare(
        self, pairs: Sequence[Pair], task: Task, metrics: Sequence[str] = (OVERALL,)
    ) -> Iterator[PairVerdict]:
        """Verdicts on every pair by every metric, `answers` in each order; final words on top.

        Raises `InputError` if no request can succeed, or the protocol needs log-probabilities and the server
        gives none, and `StoppedEarly` at a limit.
        """
        found: dict[tuple[int, str], list[PairVerdict]] = defaultdict(list)
        for answer in self.cached_model.ask(self.pair_requests(pairs, task, metrics)):
            for verdict in self._verdicts(*answer):
                found[id(verdict.pair), verdict.metric].append(verdict)
                yield verdict
        if self.builder.protocol.final:
            requests = self.builder.final_requests(found.values(), task)
            for answer in self.cached_model.ask(requests):
                yield from self._verdicts(*answer)

    def pair_requests(
        self, pairs: Sequence[Pair], task: Task, metrics: Sequence[str] = (OVERALL,)
    ) -> Iterator[Request]:
        """What would be asked of the model, without final words."""
        return self.builder.pair_requests(pairs, task, metrics)

    def _verdicts(self, request: Request, outcomes: Outcomes) -> Iterator[PairVerdict]:
        target = request.tag
        assert isinstance(target, PairTarget)
        for sample, outcome in outcomes.items():
            read = self._read(outcome)
            swapped = target.order == "swapped"
            choice = None if read.choice is None else _POINTS[read.choice]
            yield PairVerdict(
                target.pair,
                target.metric,
                target.order,
                sample,
                -choice if choice and swapped else choice,
                read.reason or "scored",
                read.scores[::-1] if read.scores and swapped else read.scores,
                outcome.reason if isinstance(outcome, Failure) else outcome.text,
                read.rule,
                target.final,
            )

    def _read(self, outcome: Reply | Failure) -> Verdict:
        """What an answer says of the texts in the order in which they were shown."""
        protocol = self.builder.protocol
        if isinstance(outcome, Failure) or outcome.finish == "tool_calls":
            return Verdict(None, "failed")
        if outcome.finish == "content_filter":
            return Verdict(None, "refused")
        if outcome.finish == "length" and protocol.answer == "reason-first":
            return Verdict(None, "unparsed")  # cut off before the verdict
        if protocol.extraction != "parse" and outcome.positions is not None:
            return read_letter(outcome.text, outcome.positions, ties=protocol.ties)
        read = read_verdict(outcome.text, protocol.answer, scale=protocol.scale)
        if protocol.extraction == "prob" and read.choice is not None:
            raise no_probabilities(self.model, self.cached_model.model.endpoint)
        if read.choice == "tie" and not protocol.ties and protocol.answer != "two-scores":
            return Verdict(None, "unparsed")  # none was allowed
        return read


def _originals(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The first text of each of the first examples."""
    texts: dict[str, Candidate] = {}
    for candidate in candidates:
        if candidate.example not in texts and len(texts) == FIRST:
            break
        texts.setdefault(candidate.example, candidate)
    return list(texts.values())
