"""A language model as a judge, under a protocol that is pointwise or pairwise."""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from dhp.content.catalog import override
from dhp.core.answer_forms import AnswerForm, answer_scale, form_again
from dhp.core.errors import InputError
from dhp.core.records import Candidate, Rating
from dhp.core.signature import protocol_name
from dhp.core.specs import Metric, Task
from dhp.core.text import holds_refusal
from dhp.judge.api import Judge
from dhp.judge.extraction.echo import without_echo
from dhp.judge.extraction.extracted import UNPARSED, Extracted
from dhp.judge.extraction.plain import UNKNOWN_MARK, readable
from dhp.judge.extraction.probabilities import IMPOSSIBLE, expected_score
from dhp.judge.extraction.rating import metric_rating, read_answer, read_object
from dhp.judge.extraction.verdict import read_letter, read_verdict
from dhp.judge.pairs import OVERALL, Pair, PairVerdict, PairwiseJudge
from dhp.judge.requests import RequestBuilder, TaskSteps
from dhp.judge.second_answers import R, Read, answers_read, is_second
from dhp.judge.unreadable import NO_ANSWER, TOOL_CALL, enough_tokens, reasons, remedy, sample_answer
from dhp.llm.api import Client
from dhp.llm.cached_model import CachedModel, asked_steps
from dhp.llm.records import ONLY_REASONING, Failure, Position, Reply, Request

FIRST = 3
"""Examples of a dataset whose originals are asked about first, to learn the token limit."""


class _AskingJudge(Judge):
    """What judges with a language model share, whether they rate or compare."""

    cached_model: CachedModel

    def __init__(self, cached_model: CachedModel, builder: RequestBuilder) -> None:
        self.cached_model = cached_model
        self.builder = builder
        self.model = cached_model.model.model
        self.protocol = builder.label
        self.settings = {"endpoint": cached_model.model.endpoint, **builder.settings}
        self._marks_said = False

    def _read_answers(
        self,
        requests: Iterable[Request],
        first: "Read[R]",
        second: "Read[R]",
        short: Callable[[Request], str],
    ) -> Iterator[tuple[R, Reply | Failure]]:
        """As `answers_read`; how many answers were asked again is said at the end."""
        asked = again = then_read = 0
        for rating, answer in answers_read(self.cached_model, requests, first, second, short):
            asked, again = asked + 1, again + is_second(rating)
            then_read += is_second(rating) and rating.status != "unparsed"
            yield rating, answer
        if again:
            logging.getLogger("dhp").warning(
                "%s (%s): %s of %s answers asked again, as they could not be read; %s of these then were",
                *(self.model, protocol_name(self.protocol), f"{again:,}", f"{asked:,}", f"{then_read:,}"),
            )

    def _extracted(
        self, reply: Reply, words: Callable[[], Extracted], likely: Callable[[Sequence[Position]], Extracted]
    ) -> Extracted:
        """What a reply says: read from its `words`, or from the probabilities of its tokens by `likely`."""
        extraction = self.builder.protocol.extraction
        if reply.finish == "content_filter":
            return Extracted("refused")
        if extraction != "parse" and reply.positions:
            return likely(reply.positions)
        read = words()
        self._say_unknown_marks(read)
        if extraction == "prob" and read.score is not None and reply.positions is not None:
            return Extracted("unparsed", rule=f"{IMPOSSIBLE}: none came with the answer")
        if extraction == "prob" and read.score is not None:
            raise InputError(
                f"{self.model}: {self.cached_model.model.endpoint} gives no log-probabilities; allowed: "
                "`extraction` parse, or prob-or-parse to read the text where there are none"
            )
        return read

    def _say_unknown_marks(self, read: Extracted) -> None:
        """Once: that answers open with marks that look like thoughts."""
        if self._marks_said or not (read.rule or "").startswith(UNKNOWN_MARK):
            return
        self._marks_said = True
        logging.getLogger("dhp").warning(
            "%s: answers open with %s, which looks like a mark of thoughts and is unknown: they count as "
            "unparsed; a server that tells thoughts apart, or a prompt that asks for none, helps",
            self.model,
            (read.rule or "").removeprefix(f"{UNKNOWN_MARK}: "),
        )


class LlmJudge(_AskingJudge):
    """A language model under a pointwise protocol."""

    def __init__(self, cached_model: CachedModel, builder: RequestBuilder) -> None:
        super().__init__(cached_model, builder)
        self.samples = builder.protocol.samples
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
        yield from self._answered(self.builder.requests(candidates, task, steps), candidates, task)

    def _answered(
        self, requests: Iterable[Request], candidates: Sequence[Candidate], task: Task
    ) -> Iterator[Rating]:
        """The ratings of the answers to requests about the candidates."""
        metrics = self._metrics(task)
        texts = {(c.example, c.variant): shown_texts(c) for c in candidates}
        first, second = (partial(self._ratings, metrics, texts, second) for second in (False, True))
        for rating, answer in self._read_answers(requests, first, second, partial(self._short, metrics)):
            self.cut_off += rating.score is None and isinstance(answer, Reply) and answer.finish == "length"
            yield rating

    def requests(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Request]:
        """What would be asked; where the model is to write evaluation steps, those requests come first."""
        if self.builder.protocol.steps == "auto":
            yield from self.builder.steps_requests(task)
        yield from self.builder.requests(candidates, task)

    def short_request(self, request: Request, task: Task) -> str:
        """See `Judge`."""
        return self._short(self._metrics(task), request) if isinstance(request.tag, tuple) else ""

    def _short(self, metrics: Mapping[str, Metric], request: Request) -> str:
        form = self.builder.form(request.samples[0])
        return self.builder.short_request(form, metrics[asked_for(request)[0].metric])

    def prompts(self, candidate: Candidate, task: Task) -> list[dict[str, str]]:
        """The prompts about one text: `metric`, `answer` (its form) and `prompt`.

        With the steps that the model wrote, once it has been asked for them.
        """
        readable = []
        for request in self.builder.requests([candidate], task, self.auto_steps.get(task.task)):
            metric, form = asked_for(request)[0].metric, self.builder.form(request.samples[0])
            readable.append({"metric": metric, "answer": str(form), "prompt": request.prompt})
        return readable

    def remedy(self, ratings: Sequence[Rating], task: Task) -> str:
        """One answer without a score, why there is none in such answers, and what most likely helps."""
        has_prompt_files, tokens = bool(self.builder.prompt_files), self.builder.protocol.max_tokens
        helps = remedy(ratings, task, tokens=tokens, cut_off=self.cut_off, prompt_files=has_prompt_files)
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
        stored = context.store is not None and not context.refresh and context.filler is None
        parsed = self.builder.protocol.extraction == "parse"
        if self.builder.limit_given or not (stored and parsed and isinstance(asked.model, Client)):
            return self
        once = replace(self.builder, protocol=override(self.builder.protocol, ask_again=False))
        first = LlmJudge(CachedModel(asked.model, context, run=run), once)
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
            protocol_name(self.protocol),
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
            self.auto_steps[task.task] = asked_steps(
                self.cached_model, requests, "a file of steps as `steps`, or another model"
            )
        return self.auto_steps[task.task]

    def _metrics(self, task: Task) -> dict[str, Metric]:
        """Those of the task by name, in the language in which they are asked about."""
        return {m.name: m for m in task.in_language(self.builder.protocol.language).metrics}

    def _ratings(
        self,
        metrics: Mapping[str, Metric],
        texts: Mapping[tuple[str, str], Sequence[str]],
        second: bool,
        request: Request,
        number: int,
        outcome: Reply | Failure,
    ) -> list[Rating]:
        """What an answer, the first or the second one, says of each metric that was asked about.

        `texts` has what was shown of each (example, variant).
        """
        asked, form = asked_for(request), self.builder.form(request.samples[0])
        form = form_again(form) if second else form
        sample = number % self.samples  # a text that is rated again has further numbers
        if isinstance(outcome, Failure):
            return [replace(rating, sample=sample, raw=outcome.reason) for rating in asked]
        if outcome.finish == "tool_calls":
            return [replace(r, sample=sample, status="unparsed", raw=TOOL_CALL) for r in asked]
        raw = outcome.text or None
        if raw is None and outcome.finish == "length":
            raw = f"(no text within {request.params.max_tokens} tokens)"
        if raw is None and outcome.finish == ONLY_REASONING:
            raw = NO_ANSWER
        place = (asked[0].example, asked[0].variant, sample)
        about = [metrics[rating.metric] for rating in asked]
        text = without_echo(outcome.text, texts[place[:2]])
        shown = outcome if text == outcome.text else replace(outcome, text=text)
        return [
            metric_rating(read, metric, form, place, raw)
            for metric, read in self._read_each(shown, about, form)
        ]

    def _read_each(
        self, reply: Reply, metrics: Sequence[Metric], form: AnswerForm
    ) -> Iterator[tuple[Metric, Extracted]]:
        """What an answer says of each metric."""
        if form != "json":
            yield metrics[0], self._read(reply, metrics[0], form)
            return
        if reply.finish == "content_filter":
            yield from ((metric, Extracted("refused")) for metric in metrics)
            return
        values = read_object(reply.text, {m.name: m.label for m in metrics}) or {}
        left = reply.text if holds_refusal(reply.text) or isinstance(readable(reply.text), Extracted) else ""
        for metric in metrics:
            if metric.name not in values:
                yield metric, self._read(replace(reply, text=left), metric, "json")
                continue
            value = replace(reply, text=values[metric.name], finish="stop")
            read = self._read(value, metric, "score-only")
            yield metric, replace(read, rule=f"json:{read.rule}") if read.rule else read

    def _read(self, reply: Reply, metric: Metric, form: AnswerForm) -> Extracted:
        cut_off, scale = reply.finish == "length", answer_scale(form, metric.scale)
        read = self._extracted(
            reply,
            lambda: read_answer(reply.text, metric, form, cut_off=cut_off),
            lambda positions: expected_score(positions, scale, form, cut_off=cut_off),
        )
        if self.builder.protocol.extraction == "prob-or-parse" and not reply.positions and read.rule:
            read = replace(read, rule=f"parse:{read.rule}")  # not the way that was asked for
        return read


class LlmPairwiseJudge(_AskingJudge, PairwiseJudge):
    """A language model under a pairwise protocol."""

    def __init__(self, cached_model: CachedModel, builder: RequestBuilder) -> None:
        super().__init__(cached_model, builder)
        self.answers = builder.protocol.samples

    def compare(
        self, pairs: Sequence[Pair], task: Task, metrics: Sequence[str] = (OVERALL,)
    ) -> Iterator[PairVerdict]:
        """Verdicts on every pair by every metric, `answers` in each order; final words on top.

        Raises `InputError` if no request can succeed, or the protocol needs log-probabilities and the server
        gives none, and `StoppedEarly` at a limit.
        """
        by_text: dict[tuple[int, str], list[PairVerdict]] = defaultdict(list)
        for verdict in self._answered(self.pair_requests(pairs, task, metrics)):
            by_text[id(verdict.pair), verdict.metric].append(verdict)
            yield verdict
        if self.builder.protocol.final:
            yield from self._answered(self.builder.final_requests(by_text.values(), task))

    def _answered(self, requests: Iterable[Request]) -> Iterator[PairVerdict]:
        """The verdicts of the answers to requests."""
        form = self.builder.protocol.answer
        first = partial(self._verdicts, form)
        second = partial(self._verdicts, form_again(form))
        answers = self._read_answers(requests, first, second, lambda _: self.builder.short_request(form))
        return (verdict for verdict, _ in answers)

    def short_request(self, request: Request, task: Task) -> str:
        """See `Judge`."""
        return self.builder.short_request(self.builder.protocol.answer)

    def pair_requests(
        self, pairs: Sequence[Pair], task: Task, metrics: Sequence[str] = (OVERALL,)
    ) -> Iterator[Request]:
        """What would be asked of the model, without final words."""
        return self.builder.pair_requests(pairs, task, metrics)

    def _verdicts(
        self, form: AnswerForm, request: Request, sample: int, outcome: Reply | Failure
    ) -> list[PairVerdict]:
        asked = request.tag
        assert isinstance(asked, PairVerdict)
        texts = (*shown_texts(asked.pair.first), *shown_texts(asked.pair.second))
        read, swapped = self._read(outcome, form, texts), asked.order == "swapped"
        choice = None if read.score is None else int(read.score)
        verdict = replace(
            asked,
            sample=sample,
            choice=-choice if choice and swapped else choice,
            status=read.status,
            scores=read.scores[::-1] if read.scores and swapped else read.scores,
            raw=_words(outcome),
            rule=read.rule,
        )
        return [verdict]

    def _read(self, outcome: Reply | Failure, form: AnswerForm, texts: Sequence[str]) -> Extracted:
        """What an answer says of the texts in the order in which they were shown."""
        protocol = self.builder.protocol
        if isinstance(outcome, Failure):
            return Extracted("failed")
        if outcome.finish == "tool_calls":
            return UNPARSED
        if outcome.finish == "length" and protocol.answer == "reason-first":
            return UNPARSED  # cut off before the verdict
        read = self._extracted(
            outcome,
            lambda: read_verdict(without_echo(outcome.text, texts), form, scale=protocol.scale),
            lambda positions: read_letter(outcome.text, positions, ties=protocol.ties),
        )
        if read.rule != "prob" and read.score == 0 and not protocol.ties and form != "two-scores":
            return UNPARSED  # none was allowed
        return read


def shown_texts(candidate: Candidate) -> tuple[str, ...]:
    """What a judge is shown of a text and beside it, which is never its own answer."""
    return (candidate.text, candidate.source, *candidate.fields.values(), *candidate.references[:1])


def _words(outcome: Reply | Failure) -> str:
    """What is kept of an answer, or why there is none."""
    if isinstance(outcome, Failure):
        return outcome.reason
    return TOOL_CALL if outcome.finish == "tool_calls" else outcome.text


def asked_for(request: Request) -> tuple[Rating, ...]:
    """The ratings that the answer will give."""
    assert isinstance(request.tag, tuple)
    return request.tag


def _originals(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The first text of each of the first examples."""
    texts: dict[str, Candidate] = {}
    for candidate in candidates:
        if candidate.example not in texts and len(texts) == FIRST:
            break
        texts.setdefault(candidate.example, candidate)
    return list(texts.values())
