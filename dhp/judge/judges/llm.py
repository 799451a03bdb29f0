"""A language model as a judge, under a protocol that is pointwise or pairwise.

Before a run `with_token_limit` tries whether answers have room. Then `rate` or `verdicts` take requests from
a `RequestBuilder` and replies from a `CachedModel`, and read ratings and verdicts by `judge.extraction`. An
answer that cannot be read is followed by one request for the rating alone (`judge.second_answers`).
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby, islice
from typing import Any

from dhp.content.catalog import override
from dhp.core.answer_forms import FORMS, AnswerForm, answer_scale, form_again, turns_of
from dhp.core.errors import InputError
from dhp.core.records import CALLED_TOOL, CUT_OFF, ONLY_THOUGHTS, Candidate, Rating
from dhp.core.refusals import holds_refusal
from dhp.core.signature import protocol_name
from dhp.core.specs import Metric, Task
from dhp.judge.api import Judge
from dhp.judge.extraction.echo import without_echo
from dhp.judge.extraction.extracted import UNPARSED, Extracted
from dhp.judge.extraction.plain import UNKNOWN_MARK, readable
from dhp.judge.extraction.probabilities import IMPOSSIBLE, expected_score
from dhp.judge.extraction.rating import metric_rating, read_answer, read_object
from dhp.judge.extraction.verdict import read_letter, read_verdict
from dhp.judge.pairs import ORDERS, OVERALL, Pair, PairVerdict, beside_originals
from dhp.judge.question_answers import read_answers, read_choice
from dhp.judge.questions import BETTER
from dhp.judge.requests import RequestBuilder, TaskSteps
from dhp.judge.second_answers import R, answers_read, is_second
from dhp.judge.unreadable import NO_ANSWER, TOOL_CALL, enough_tokens, reasons, remedy, sample_answer
from dhp.llm.api import Client
from dhp.llm.cached_model import CachedModel, asked_steps
from dhp.llm.records import ONLY_REASONING, Failure, Position, Reply, Request

FIRST_EXAMPLES = 3
"""Examples of a dataset whose originals are asked about first, to learn the token limit."""


class LlmJudge(Judge):
    """A language model under a protocol: shown one text at a time, or two if the protocol is pairwise."""

    cached_model: CachedModel

    def __init__(self, cached_model: CachedModel, builder: RequestBuilder) -> None:
        self.cached_model = cached_model
        self.builder = builder
        self.model = cached_model.model.model
        self.protocol = builder.label
        self.settings = {"endpoint": cached_model.model.endpoint, **builder.settings}
        self.compare = builder.protocol.pairwise
        if self.compare:  # the answers on a pair are one rating together
            self.answers = builder.protocol.samples
        else:
            self.samples = builder.protocol.samples
        with_words = [form for form in turns_of(builder.protocol.answer) if not FORMS[form].alone]
        self.explains = bool(with_words) and not self.compare
        self.cut_off = 0
        """Answers without a score that ended at the token limit."""
        self.auto_steps: dict[str, dict[str, list[str]]] = {}
        """Task -> metric -> steps that the model wrote, as far as it was asked for them."""
        self._marks_said = False

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """One rating per candidate, metric and sample; under a pairwise protocol by the verdicts.

        Raises
        ------
        InputError
            If no request can succeed, or the server gives no log-probabilities and the protocol needs them.
        StoppedEarly
            At a limit; see `CachedModel.ask`.
        """
        if self.compare:
            yield from super().rate(candidates, task)
            return
        steps = self._auto_steps(task) if self.builder.protocol.steps == "auto" else None
        if steps is not None and len(steps) < len(task.metrics):
            return  # they come later, and the prompts show them
        yield from self._answered(self.builder.requests(candidates, task, steps), candidates, task)

    def verdicts(
        self, pairs: Sequence[Pair], task: Task, metrics: Sequence[str] = (OVERALL,)
    ) -> Iterator[PairVerdict]:
        """Verdicts on every pair by every metric, `answers` in each order; final words on top.

        Raises the same errors as `rate`.
        """
        # By identity, as pairs have no name of their own.
        by_text: dict[tuple[int, str], list[PairVerdict]] = defaultdict(list)
        for verdict in self._answered_pairs(self.builder.pair_requests(pairs, task, metrics)):
            by_text[id(verdict.pair), verdict.metric].append(verdict)
            yield verdict
        if self.builder.protocol.final and not self.waits:
            yield from self._answered_pairs(self.builder.final_requests(by_text.values(), task))

    def _answered(
        self, requests: Iterable[Request], candidates: Sequence[Candidate], task: Task
    ) -> Iterator[Rating]:
        """The ratings of the answers to requests about the candidates."""
        metrics = self._metrics(task)
        texts = {(c.example, c.variant): shown_texts(c) for c in candidates}
        read = partial(self._ratings, metrics, texts)
        return self._read_answers(requests, read, partial(self._short, metrics))

    def _answered_pairs(self, requests: Iterable[Request]) -> Iterator[PairVerdict]:
        """The verdicts of the answers to requests about pairs."""
        return self._read_answers(requests, self._verdicts, partial(self._short, {}))

    def _read_answers(
        self,
        requests: Iterable[Request],
        read: "Callable[[Request, Reply, AnswerForm, int], Sequence[R]]",
        short: Callable[[Request], str],
    ) -> Iterator[R]:
        """What the answers say, see `answers_read`; a warning tells at the end how many were asked again."""
        first = partial(self._records, read, False)
        second = partial(self._records, read, True)
        asked = again = then_read = 0
        for record, answer in answers_read(self.cached_model, requests, first, second, short):
            asked += 1
            if is_second(record):
                again += 1
                if record.status != "unparsed":
                    then_read += 1
            is_cut = isinstance(answer, Reply) and answer.finish == "length"
            if is_cut and record.status != "scored":
                self.cut_off += 1
            yield record
        if again:
            logging.getLogger("dhp").warning(
                "%s (%s): %s of %s answers asked again, as they could not be read; %s of these then were",
                *(self.model, protocol_name(self.protocol), f"{again:,}", f"{asked:,}", f"{then_read:,}"),
            )

    def _records(
        self,
        read: "Callable[[Request, Reply, AnswerForm, int], Sequence[R]]",
        is_again: bool,
        request: Request,
        number: int,
        outcome: Reply | Failure,
    ) -> Sequence[R]:
        """What one answer says, the first of a sample or the second, or why it cannot be read."""
        form = self.builder.form(request.samples[0])
        sample = number % self.builder.protocol.samples  # a text that is rated again has further numbers
        asked = asked_for(request)
        if isinstance(outcome, Failure):
            return [replace(each, sample=sample, raw=outcome.reason) for each in asked]
        records: Sequence[R]
        if outcome.finish == "tool_calls":
            records = [replace(each, sample=sample, status="unparsed", raw=TOOL_CALL) for each in asked]
        else:
            records = read(request, outcome, form_again(form) if is_again else form, sample)

        # How the answer ended says why it cannot be read, unless what is in it says so already.
        cause = _CAUSES.get(outcome.finish)
        if cause is None:
            return records
        with_cause: list[R] = []
        for record in records:
            unexplained = record.status == "unparsed" and not record.rule
            with_cause.append(replace(record, rule=cause) if unexplained else record)
        return with_cause

    def requests(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Request]:
        """What would be asked, without final words; requests for evaluation steps come first."""
        if self.builder.protocol.steps == "auto":
            yield from self.builder.steps_requests(task)
        yield from self.builder.requests(candidates, self.own_task(task))

    def short_request(self, request: Request, task: Task) -> str:
        """See `Judge`."""
        return self._short(self._metrics(task), request) if isinstance(request.tag, tuple) else ""

    def _short(self, metrics: Mapping[str, Metric], request: Request) -> str:
        form = self.builder.form(request.samples[0])
        metric = None if self.compare else metrics[asked_for(request)[0].metric]
        return self.builder.short_request(form, metric)

    def prompts(self, candidate: Candidate, task: Task) -> list[dict[str, str]]:
        """The prompts about one text: `metric`, `answer` (its form) and `prompt`.

        They show the steps that the model wrote, once it has been asked for them. A judge that compares is
        shown with this text in both places.
        """
        if self.compare:
            task = self.own_task(task)
            pairs = self.builder.pair_requests([Pair(candidate, candidate)], task, task.metric_names)
            # Both orders show the same here, so one request of two is enough.
            requests: Iterator[Request] = islice(pairs, 0, None, len(ORDERS))
        else:
            requests = self.builder.requests([candidate], task, self.auto_steps.get(task.task))
        prompts = []
        for request in requests:
            metric = asked_for(request)[0].metric
            answer = "both orders" if self.compare else str(self.builder.form(request.samples[0]))
            prompts.append({"metric": metric, "answer": answer, "prompt": request.text})
        return prompts

    def remedy(self, ratings: Sequence[Rating], task: Task) -> str:
        """How many answers have no score, one of them, and what most likely helps."""
        helps = remedy(
            ratings,
            task,
            tokens=self.builder.protocol.max_tokens,
            cut_off=self.cut_off,
            prompt_files=bool(self.builder.prompt_files),
            compare=self.compare,
            answer=self.builder.protocol.answer,
        )
        counted = reasons(ratings, self.cut_off)
        return f"{counted}; one of them is {sample_answer(ratings)}; likely remedy: {helps}"

    def with_token_limit(self, texts: Sequence[tuple[Sequence[Candidate], Task]], run: str = "") -> Judge:
        """The judge with the token limit that its answers need; a change is said once.

        Originals of the first examples are asked about, or a degraded text beside each. If more than half of
        the answers are cut at the limit before any rating, the limit is raised, once, as a setting of the
        protocol: its signature says so, and all ratings of the run are asked for with the same limit. What
        was asked first is stored, so that it is paid for once. Nothing is looked at if the limit was given,
        if no server is asked, if probabilities are read, and if replies are not stored or come later.

        Parameters
        ----------
        texts
            Candidates and task of each dataset.
        run
            The name of the run, to which these replies count.

        Raises
        ------
        InputError, StoppedEarly
            See `rate`.
        """
        asked, context = self.cached_model, self.cached_model.context
        stored = context.store is not None and not context.refresh and not context.collects
        parsed = self.builder.protocol.extraction == "parse"
        if self.builder.limit_given or not (stored and parsed and isinstance(asked.model, Client)):
            return self

        # The first answers. None is asked for again: if many are cut, a higher limit is what they need.
        once = replace(self.builder, protocol=override(self.builder.protocol, ask_again=False))
        first = LlmJudge(CachedModel(asked.model, context, run=run), once)
        answers: list[Rating | PairVerdict] = []
        for candidates, task in texts:
            answers += first._first_answers(candidates, self.own_task(task))
        asked.session_usage = first.cached_model.session_usage  # they count as its own

        # Whether most of them were cut.
        if 2 * first.cut_off <= len(answers):
            return self
        tokens = self.builder.protocol.max_tokens
        enough = enough_tokens(answers, tokens)
        logging.getLogger("dhp").warning(
            "%s (%s): %d of the first %d answers were cut at %d tokens before any rating: all are asked with "
            "`max_tokens` %d",
            self.model,
            protocol_name(self.protocol),
            first.cut_off,
            len(answers),
            tokens,
            enough,
        )
        protocol = override(self.builder.protocol, max_tokens=enough)
        judge = LlmJudge(asked, replace(self.builder, protocol=protocol))
        return judge.for_benchmark(by_metric=self.by_metric)

    def _first_answers(self, candidates: Sequence[Candidate], task: Task) -> Iterable[Rating | PairVerdict]:
        """What it says of the first text of the first examples, or of the first two, compared."""
        texts: list[Candidate] = []
        for _, group in islice(groupby(candidates, key=lambda c: c.example), FIRST_EXAMPLES):
            texts += islice(group, 2 if self.compare else 1)
        if self.compare:
            return self.verdicts(beside_originals(texts), task, task.metric_names)
        return self.rate(texts, task)

    def _auto_steps(self, task: Task) -> TaskSteps:
        """Evaluation steps for each metric of a task, asked of the model once; incomplete while some wait."""
        if task.task in self.auto_steps:
            return self.auto_steps[task.task]
        requests = self.builder.steps_requests(task)
        steps = asked_steps(self.cached_model, requests, "a file of steps as `steps`, or another model")
        if len(steps) == len(requests):
            self.auto_steps[task.task] = steps
        return steps

    def _metrics(self, task: Task) -> dict[str, Metric]:
        """The metrics of the task by name, in the language in which they are asked about."""
        return {m.name: m for m in task.in_language(self.builder.protocol.language).metrics}

    def _ratings(
        self,
        metrics: Mapping[str, Metric],
        texts: Mapping[tuple[str, str], Sequence[str]],
        request: Request,
        reply: Reply,
        form: AnswerForm,
        sample: int,
    ) -> list[Rating]:
        """What an answer says of each metric that was asked about.

        `texts` has what was shown of each (example, variant).
        """
        asked, raw = asked_for(request), _words(request, reply)
        place = (asked[0].example, asked[0].variant, sample)
        about = [metrics[rating.metric] for rating in asked]
        text = reply.text if FORMS[form].data else without_echo(reply.text, texts[place[:2]])
        shown = reply if text == reply.text else replace(reply, text=text)
        ratings = []
        for metric, read in self._read_each(shown, about, form):
            ratings.append(metric_rating(read, metric, form, place, raw))
        return ratings

    def _read_each(
        self, reply: Reply, metrics: Sequence[Metric], form: AnswerForm
    ) -> Iterator[tuple[Metric, Extracted]]:
        """What an answer says of each metric."""
        if not FORMS[form].together:
            yield metrics[0], self._read(reply, metrics[0], form)
            return
        if reply.finish == "content_filter":
            for metric in metrics:
                yield metric, Extracted("refused")
            return
        if FORMS[form].data:
            yield from read_answers(reply.text, metrics)
            return
        values = read_object(reply.text, {m.name: m.label for m in metrics}) or {}
        # Of a metric that the object lacks nothing is read but why: a refusal, or unknown marks of thinking.
        says_why = holds_refusal(reply.text) or isinstance(readable(reply.text), Extracted)
        rest = reply.text if says_why else ""
        for metric in metrics:
            if metric.name not in values:
                yield metric, self._read(replace(reply, text=rest), metric, "json")
                continue
            value = replace(reply, text=values[metric.name], finish="stop")
            read = self._read(value, metric, "score-only")
            if read.rule:
                read = replace(read, rule=f"json:{read.rule}")
            yield metric, read

    def _read(self, reply: Reply, metric: Metric, form: AnswerForm) -> Extracted:
        """What an answer says of one metric, by its words or its probabilities."""
        cut_off, scale = reply.finish == "length", answer_scale(form, metric.scale)
        read = self._extracted(
            reply,
            lambda: read_answer(reply.text, metric, form, cut_off=cut_off),
            lambda positions: expected_score(positions, scale, form, cut_off=cut_off),
        )
        if self.builder.protocol.extraction == "prob-or-parse" and not reply.positions and read.rule:
            read = replace(read, rule=f"parse:{read.rule}")  # not the way that was asked for
        return read

    def _verdicts(self, request: Request, reply: Reply, form: AnswerForm, sample: int) -> list[PairVerdict]:
        """What an answer says of the two texts that were asked about."""
        asked: PairVerdict = asked_for(request)[0]
        texts = (*shown_texts(asked.pair.first), *shown_texts(asked.pair.second))
        read = self._read_pair(reply, form, texts)
        choice = None if read.score is None else int(read.score)
        scores = read.scores
        if asked.order == "swapped":  # the answer speaks of the order shown, the verdict of the pair
            if choice is not None:
                choice = -choice
            if scores is not None:
                scores = scores[::-1]
        verdict = replace(
            asked,
            sample=sample,
            choice=choice,
            status=read.status,
            scores=scores,
            raw=_words(request, reply),
            rule=read.rule,
        )
        return [verdict]

    def _read_pair(self, reply: Reply, form: AnswerForm, texts: Sequence[str]) -> Extracted:
        """What an answer says of the texts in the order in which they were shown."""
        protocol = self.builder.protocol
        if FORMS[form].data and reply.finish != "content_filter":
            return read_choice(reply.text, BETTER)
        if reply.finish == "length" and protocol.answer == "reason-first":
            return UNPARSED  # cut off before the verdict
        read = self._extracted(
            reply,
            lambda: read_verdict(without_echo(reply.text, texts), form, scale=protocol.scale),
            lambda positions: read_letter(reply.text, positions, ties=protocol.ties),
        )
        if read.rule != "prob" and read.score == 0 and not protocol.ties and form != "two-scores":
            return UNPARSED  # none was allowed
        return read

    def _extracted(
        self, reply: Reply, words: Callable[[], Extracted], likely: Callable[[Sequence[Position]], Extracted]
    ) -> Extracted:
        """What a reply says, read by `words` from its text, or by `likely` from its token probabilities."""
        extraction = self.builder.protocol.extraction
        if reply.finish == "content_filter":
            return Extracted("refused")
        if extraction != "parse" and reply.positions:
            return likely(reply.positions)
        read = words()
        self._say_unknown_marks(read)
        if extraction == "prob" and read.score is not None:
            if reply.positions is not None:  # empty: the server gives them, but not with this answer
                return Extracted("unparsed", rule=f"{IMPOSSIBLE}: none came with the answer")
            raise InputError(
                f"{self.model}: {self.cached_model.model.endpoint} gives no log-probabilities; allowed: "
                "`extraction` parse, or prob-or-parse to read the text where there are none"
            )
        return read

    def _say_unknown_marks(self, read: Extracted) -> None:
        """Warn, once, that answers open with marks that look like thoughts."""
        if self._marks_said or not (read.rule or "").startswith(UNKNOWN_MARK):
            return
        self._marks_said = True
        logging.getLogger("dhp").warning(
            "%s: answers open with %s, which looks like a mark of thoughts and is unknown: they count as "
            "unparsed; a server that tells thoughts apart, or a prompt that asks for none, helps",
            self.model,
            (read.rule or "").removeprefix(f"{UNKNOWN_MARK}: "),
        )


_CAUSES = {"length": CUT_OFF, ONLY_REASONING: ONLY_THOUGHTS, "tool_calls": CALLED_TOOL}
"""How an answer ended -> why it could not be read."""


def shown_texts(candidate: Candidate) -> tuple[str, ...]:
    """What a judge is shown of a text and beside it, which is never its own answer."""
    return (candidate.text, candidate.source, *candidate.fields.values(), *candidate.references[:1])


def _words(request: Request, reply: Reply) -> str | None:
    """What is kept of an answer: its text, or why it has no text."""
    if not reply.text and reply.finish == "length":
        return f"(no text within {request.params.max_tokens} tokens)"
    if not reply.text and reply.finish == ONLY_REASONING:
        return NO_ANSWER
    return reply.text or None


def asked_for(request: Request) -> tuple[Any, ...]:
    """What the answer will give: ratings, or a verdict."""
    assert isinstance(request.tag, tuple)
    return request.tag
