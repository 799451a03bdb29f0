"""A language model with a cache of replies, for judges and perturbers.

Of each request the store is asked first. What it lacks is claimed, so that no two commands pay for the same
call, and goes to the engine, to the model in this process, or to a filler, which may answer later.

The way of a request through `CachedModel.ask`:

1. `_look_up` takes some requests at a time: what is stored is an answer, the rest is claimed.
2. `_ask_server` hands what was claimed to the engine, `_ask_by` to a model here or to a filler.
3. `_answers` ends the claim and hands the outcome to all requests that wait for it.
4. What another command had claimed is looked up again, round by round, until that has stored it or given up.
"""

import logging
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from statistics import median

from dhp.core.errors import InputError, StoppedEarly, Waiting, quoted
from dhp.core.hiding import hidden
from dhp.core.numbered_steps import numbered_steps
from dhp.llm.api import Client, LocalModel
from dhp.llm.claims import Claims
from dhp.llm.clients.responses import shortened
from dhp.llm.engine import Engine, EngineThread
from dhp.llm.fillers import Filler, Target, answered
from dhp.llm.limits import Budget, Prices, PromptLengths, RateLimits, Usage
from dhp.llm.list_prices import listed_prices
from dhp.llm.records import FINISHES, Answer, Failure, Outcomes, Reply, Request
from dhp.llm.store import Store, keys, rows
from dhp.llm.stored_model import StoredModel


@dataclass(frozen=True, slots=True)
class Speed:
    """Seconds that a model in this process takes."""

    prompt_token: float
    answer_token: float

    def answering(self, prompt: float, answer: float) -> float:
        """Seconds for a prompt and an answer of so many tokens."""
        return self.prompt_token * prompt + self.answer_token * answer


@dataclass(slots=True)
class Measured:
    """What the dry run of a run has measured of models in this process."""

    seconds: float = 0.0
    """Time that it took, without that of loading models."""
    speeds: dict[str, Speed] = field(default_factory=dict)
    """By model."""


@dataclass(frozen=True, slots=True)
class RequestContext:
    """What all requests of a run share: store, rate limits, budget and opened models."""

    store: Store | None = None
    """Store of replies; None caches nothing."""
    refresh: bool = False
    """Ask again what is stored, and replace it."""
    rate_limits: RateLimits = field(default_factory=RateLimits)
    budget: Budget = field(default_factory=Budget)
    """Usage so far, against the limits."""
    keep_going: bool = False
    """Whether answers are paid for though the first ones cannot be read."""
    same_model: bool = False
    """Whether the run stops when another model answers than at first."""
    opened: dict[str, Client | LocalModel] = field(default_factory=dict)
    """Models by name, each opened once."""
    answering: dict[str, list[str]] = field(default_factory=dict)
    """Model -> the names of the models that answered for it, the first one first."""
    measured: Measured = field(default_factory=Measured)
    filler: Filler | None = None
    """Answers requests instead of the engine; None if the engine answers all."""
    multi_sample: bool = True
    """Whether one request may ask for several samples, if the model can."""
    discounted: bool = False
    """Whether requests cost less than those that the engine sends."""

    @property
    def collects(self) -> bool:
        """Whether the filler takes all requests before it answers any."""
        return self.filler is not None and self.filler.collects

    @property
    def waiting(self) -> int:
        """Number of requests that are left to the filler: they have no answer yet."""
        return 0 if self.filler is None else self.filler.taken

    def stop_if_waiting(self) -> None:
        """Raise `Waiting`, which ends the round, if requests wait: what follows needs all answers."""
        if self.waiting:
            raise Waiting(f"{self.waiting:,} requests wait for their replies")


class CachedModel:
    """Sends requests to one model; a request whose reply is stored is not sent again.

    Replies that the `run` of this name paid for count as its own after a restart, too.
    """

    def __init__(self, model: Client | LocalModel, context: RequestContext, *, run: str = "") -> None:
        self.model = model
        self.context = context
        self.run = run
        self.usage = Usage()
        """What the run has paid, also before a restart."""
        self.session_usage = Usage()
        """What was paid in this process."""
        self.shown_usage = Usage()
        """What of that was shown as progress."""
        self.answered_by: Counter[str] = Counter()
        """Number of replies by the model that they name."""
        self.on_wait: Callable[[], None] = lambda: None
        """Called periodically while waiting."""
        self._counted: set[bytes] = set()
        self._engine: Engine | None = None
        self._lengths = PromptLengths(model.model)

    def ask(self, requests: Iterable[Request]) -> Iterator[Answer]:
        """The answers, in any order, each as soon as it is there and stored.

        Requests that are left to a filler give none; `RequestContext.waiting` counts them. Raises
        `InputError` if no request can succeed (key, model or parameter refused, no server), and
        `StoppedEarly` at a limit or when the server gives out, with what came before stored.
        """
        # What collects asks later and holds the samples until then; a stored model asks nobody.
        unclaimed = self.context.collects or isinstance(self.model, StoredModel)
        with Claims(None if unclaimed else self.context.store, refresh=self.context.refresh) as claims:
            while True:  # a round for what other commands are asking
                asking = _Asking(claims)
                yield from self._ask_unclaimed(requests, asking)
                if not asking.elsewhere:
                    break
                claims.wait(len(asking.elsewhere), self.on_wait)
                requests = asking.elsewhere
        self._lengths.check()  # on the way it is checked after many prompts only

    @property
    def call_seconds(self) -> Sequence[float]:
        """How long the server took for each call of this process, in the order of the answers."""
        return self._engine.seconds if self._engine else ()

    @property
    def prices(self) -> tuple[Prices, str]:
        """The prices of the user, else the listed ones with their source; none if both are missing."""
        prices = self.context.budget.prices
        if prices != Prices():
            return prices, ""
        return listed_prices(self.model.model, self.model.endpoint, discounted=self.context.discounted)

    def spent(self, before: Usage) -> str:
        """Calls, tokens, money and trouble in this process since `before`, in a few words."""
        usage = self.session_usage.since(before)
        tokens = usage.prompt_tokens + usage.completion_tokens
        cost = self.prices[0].cost(usage.prompt_tokens, usage.completion_tokens)
        parts = [f"{usage.calls:,} calls", f"{tokens:,} tokens"]
        if cost is not None:
            parts.append(f"cost {cost:,.4g}")
        if self._engine and self._engine.retries > before.retries:
            retries = self._engine.retries - before.retries
            parts.append(f"{retries:,} retries ({shortened(self._engine.trouble, 40)})")
        if usage.failed:
            parts.append(f"{usage.failed:,} failed")
        return ", ".join(parts)

    def check_server(self, some: Iterable[Request] = ()) -> None:
        """Raise `InputError` if the server cannot be asked and will have to be.

        It will if none of `some` requests is stored, or, without any, no reply of the model.
        """
        if isinstance(self.model, Client) and self.context.filler is None and not self._is_stored(some):
            self.model.check()

    def _is_stored(self, some: Iterable[Request]) -> bool:
        """Whether the store holds replies to any of these requests; if there are none, any of the model."""
        store, some = self.context.store, list(some)
        if store is None or self.context.refresh:
            return False
        for request in some:
            if len(self.missing(request)) < len(request.samples):
                return True
        if some:
            return False
        return (hidden(self.model.model), self.model.endpoint) in store.models()

    def missing(self, request: Request) -> list[bytes]:
        """The keys of the samples of a request that are not stored."""
        wanted = self._keys(request)
        stored = self._stored(wanted, request.place)
        return [key for sample, key in wanted.items() if sample not in stored]

    def _keys(self, request: Request) -> dict[int, bytes]:
        return dict(request.keys) or keys(self.model.model, self.model.endpoint, request)

    def _stored(self, wanted: Mapping[int, bytes], place: str) -> dict[int, tuple[Reply, str]]:
        if self.context.store is None or self.context.refresh:
            return {}
        return self.context.store.find(wanted, place)

    def _from_store(self, request: Request) -> tuple[Outcomes, Request]:
        """What is known of a request, and the request for the rest."""
        # Every request of a run passes here, also those whose replies are all stored.
        missing = self._keys(request)
        cached: dict[int, Reply | Failure] = {}
        for sample, (reply, run) in self._stored(missing, request.place).items():
            cached[sample] = reply
            self._count(missing.pop(sample), reply, made_here=run == self.run)
        return cached, request.left(missing)

    def _count(self, key: bytes, reply: Reply, *, made_here: bool) -> bool:
        """Count a reply once; True if it is new."""
        if key in self._counted:  # two requests may be the same, and a run may ask for one twice
            return False
        self._counted.add(key)
        self.usage.add(reply, made_here=made_here)
        if reply.answered_by:
            self.answered_by[reply.answered_by] += 1
            self._compare(reply.answered_by)
        return True

    def _compare(self, name: str) -> None:
        """Say if another model answers than at first; raises `StoppedEarly` if that stops the run."""
        names = self.context.answering.setdefault(self.model.model, [])
        if name in names:
            return
        names.append(name)
        if len(names) == 1:
            return
        message = (
            f"{self.model.model}: another model answers: '{quoted(name)}', at first '{quoted(names[0])}'"
        )
        if self.context.same_model:
            raise StoppedEarly(f"{message}; what was paid for is kept: without `same_model` the run goes on")
        logging.getLogger("dhp").warning("%s; `same_model` stops a run then", message)

    def _answer(
        self, request: Request, cached: Outcomes, keys: Mapping[int, bytes], outcomes: Outcomes
    ) -> Answer:
        """What was stored and what has come now, which is counted by its keys."""
        for sample, outcome in outcomes.items():
            if isinstance(outcome, Reply):
                if self._count(keys[sample], outcome, made_here=True):
                    self.session_usage.add(outcome, made_here=True)
            else:
                self.session_usage.failed += 1
        both = {**cached, **outcomes}
        return request, {sample: both[sample] for sample in request.samples if sample in both}

    def _ask_unclaimed(self, requests: Iterable[Request], asking: "_Asking") -> Iterator[Answer]:
        """First what is stored, then what no other command is asking."""
        blocks = self._looked_up(requests, asking)
        for stored, pending in blocks:
            yield from stored
            if not pending:
                continue  # a finished run opens no connection
            # The first block with something to ask: whoever asks takes it and all that follow.
            filler = self.context.filler
            ask = self._ask_model if filler is None else partial(self._ask_by, filler.answer)
            yield from ask(chain([([], pending)], blocks), asking)

    def _looked_up(self, requests: Iterable[Request], asking: "_Asking") -> Iterator["Block"]:
        """Requests looked up some at a time, as they are taken."""
        # One transaction of claims for a block; small enough that the engine does not wait for one.
        size = max(1, self.context.rate_limits.concurrency // 4)
        block: list[Request] = []
        for request in requests:
            block.append(request)
            if len(block) == size:
                yield self._look_up(block, asking)
                block = []
        if block:
            yield self._look_up(block, asking)

    def _look_up(self, block: Sequence[Request], asking: "_Asking") -> "Block":
        """The answers that are stored, and the requests for the rest that are claimed now, each once."""
        stored: list[Answer] = []
        unclaimed: dict[tuple[bytes, ...], Request] = {}
        for request in block:
            cached, left = self._from_store(request)
            if cached:
                asking.answered = asking.answered or request
                self._lengths.fitting += 1
            if not left.samples:
                stored.append((request, cached))
            elif asking.add(request, cached, left):
                unclaimed[tuple(left.keys.values())] = left

        pending: list[Request] = []
        ours = asking.claims.take([*unclaimed])
        for (missing, left), is_ours in zip(unclaimed.items(), ours, strict=True):
            if is_ours:
                pending.append(left)
            else:
                asking.elsewhere += [request for request, _ in asking.waiting.pop(missing)]
        return stored, pending

    def _answers(self, left: Request, outcomes: Outcomes, asking: "_Asking") -> list[Answer]:
        """The answers to all requests that waited for this one."""
        whole = all(sample in outcomes for sample in left.samples)
        replied = all(isinstance(outcome, Reply) for outcome in outcomes.values())
        # Replies have ended their claims when they were stored; a failure has not.
        asking.claims.end([*left.keys.values()], stored=whole and replied)
        waiting = asking.waiting.pop(tuple(left.keys.values()))
        if not whole:  # as another command asks for the rest by now
            asking.elsewhere += [request for request, _ in waiting]
            return []
        return [self._answer(request, cached, left.keys, outcomes) for request, cached in waiting]

    def _ask_server(self, client: Client, blocks: Iterable["Block"], asking: "_Asking") -> Iterator[Answer]:
        """Pending requests by the engine, and between them what is stored."""
        engine = self._made_engine(client)
        engine.holds = asking.claims.holds
        engine.answered = engine.answered or asking.answered

        def answers(came: Answer) -> list[Answer]:
            self.session_usage.retries = engine.retries
            while client.notes:
                logging.getLogger("dhp").warning("%s: %s", client.model, client.notes.pop(0))
            return self._answers(*came, asking)

        # Requests are made, looked up and read here while the engine's thread calls.
        with EngineThread(engine, self.on_wait) as calls:
            for stored, pending in blocks:
                yield from stored
                for left in pending:
                    calls.submit(left)
                while calls.full:
                    yield from answers(calls.wait())
                for came in calls.ready():
                    yield from answers(came)
            while calls.pending:
                yield from answers(calls.wait())

    def _ask_model(self, blocks: Iterable["Block"], asking: "_Asking") -> Iterator[Answer]:
        """Pending requests by the engine, or by the model itself if it is in this process."""
        if isinstance(self.model, Client):
            return self._ask_server(self.model, blocks, asking)
        answer = partial(answered, self.model.answer, self.context.budget)
        return self._ask_by(answer, blocks, asking)

    def _ask_by(
        self,
        answer: Callable[[Target, Iterable[Request]], Iterator[Answer]],
        blocks: Iterable["Block"],
        asking: "_Asking",
    ) -> Iterator[Answer]:
        """Pending requests by what answers as a filler does, and between them what is stored."""
        known: list[Answer] = []
        left_over: list[Request] = []
        target = Target(self.model, self.run, self._keep, self.on_wait)
        came = answer(target, self._fitting(blocks, asking, known))
        try:
            for left, outcomes in came:
                if len(outcomes) < len(left.samples):
                    yield from self._answered_in_part(left, outcomes, asking, left_over)
                else:
                    yield from self._answers(left, outcomes, asking)
                yield from known
                known.clear()
        finally:  # an exception may keep it from ending by itself; a list, say, has nothing to close
            close = getattr(came, "close", None)
            if close is not None:
                close()
        yield from known
        if left_over:
            yield from self._ask_model([([], left_over)], asking)

    def _fitting(
        self, blocks: Iterable["Block"], asking: "_Asking", known: list[Answer]
    ) -> Iterator[Request]:
        """The pending requests that fit a model in this process; `known` takes the other answers."""
        model = None if isinstance(self.model, Client) else self.model  # `isinstance` of a protocol is slow
        for stored, pending in blocks:
            known += stored
            for left in pending:
                misfit = None if model is None else model.misfit(left)
                if misfit:
                    self._lengths.count_too_long(misfit)
                    known += self._answers(left, dict.fromkeys(left.samples, Failure(misfit)), asking)
                    continue
                self._lengths.fitting += 1
                yield left

    def _answered_in_part(
        self, left: Request, outcomes: Outcomes, asking: "_Asking", left_over: list[Request]
    ) -> Iterator[Answer]:
        """The samples that a filler has answered; the others go to the model."""
        waiting = asking.waiting.pop(tuple(left.keys.values()))
        for request, cached in waiting:
            if cached or outcomes:
                yield self._answer(request, cached, left.keys, outcomes)
        unanswered = {sample: key for sample, key in left.keys.items() if sample not in outcomes}
        rest = left.left(unanswered)
        # They wait on without what was stored, which they have been handed.
        asking.waiting[tuple(rest.keys.values())] = [(request, {}) for request, _ in waiting]
        left_over.append(rest)

    def _keep(self, request: Request, outcomes: Outcomes) -> None:
        """Store the replies to a request."""
        if self.context.store is not None:
            came = rows(request.keys, self.model.model, self.model.endpoint, outcomes, self.run)
            self.context.store.add(came, replace=self.context.refresh)

    def _made_engine(self, client: Client) -> Engine:
        """One for all requests: what it learns of the server holds on."""
        context = self.context
        if self._engine is None:
            self._engine = Engine(
                client,
                context.store,
                context.rate_limits,
                context.budget,
                self._lengths,
                self.run,
                context.refresh,
                context.keep_going,
            )
        self._engine.run = self.run  # a judge may be given to several runs
        return self._engine


Block = tuple[list[Answer], list[Request]]
"""Of some requests the answers that are stored, and those that are pending."""


@dataclass(slots=True)
class _Asking:
    """The requests of one round of asking."""

    claims: Claims
    waiting: dict[tuple[bytes, ...], list[tuple[Request, Outcomes]]] = field(default_factory=dict)
    """Keys of a pending request -> the requests that it answers, each with its stored outcomes: a prompt that
    comes again while it is being asked waits with the first."""
    elsewhere: list[Request] = field(default_factory=list)
    """Requests that another command is asking."""
    answered: Request | None = None
    """One to which a reply is stored."""

    def add(self, request: Request, cached: Outcomes, left: Request) -> bool:
        """Let a request wait for what is left of it; whether it is the first to do so."""
        waiting = self.waiting.setdefault(tuple(left.keys.values()), [])
        waiting.append((request, cached))
        return len(waiting) == 1


def taken(model: CachedModel | None, before: Usage | None = None) -> tuple[dict[str, int], float | None]:
    """Calls and tokens since `before`, and what they cost; nothing if no model is asked."""
    if model is None:
        return {}, None
    usage = model.usage.since(before or Usage())
    return usage.lasting, usage.cost(model.prices[0])


def latency(seconds: Sequence[float]) -> tuple[float, float] | None:
    """Median and 95th percentile (the lowest time that 95 % of the calls keep); None without any."""
    if not seconds:
        return None
    ordered = sorted(seconds)
    return median(ordered), ordered[math.ceil(0.95 * len(ordered)) - 1]


_MORE_ROOM = 4
"""How many times the tokens of the first answer the second one may have, if the first was cut off. Chosen."""


def with_more_room(request: Request) -> Request:
    """The same request for an answer that may be longer."""
    return replace(request, params=replace(request.params, max_tokens=_MORE_ROOM * request.params.max_tokens))


def asked_steps(model: CachedModel, requests: Sequence[Request], otherwise: str) -> dict[str, list[str]]:
    """Tag of each request -> the steps in the answer to it, in the order of the requests.

    Those that wait for their answers are missing. What is cut off is asked for once more, with more room.
    Raises `InputError` if an answer holds no whole list of steps, with `otherwise` as what is allowed
    instead, and `StoppedEarly` if there is no answer; other errors as `CachedModel.ask`.
    """
    by_tag: dict[str, list[str]] = {}
    cut_off: list[Request] = []

    def answers() -> Iterator[Answer]:
        for request, outcomes in model.ask(requests):
            if isinstance(outcomes[0], Reply) and outcomes[0].finish == "length":
                cut_off.append(with_more_room(request))
            else:
                yield request, outcomes
        yield from model.ask(cut_off) if cut_off else ()

    for request, outcomes in answers():
        outcome = outcomes[0]
        steps: list[str] = []
        place = f"{model.model.model}: {request.place}"
        if isinstance(outcome, Failure) and outcome.passing:
            raise StoppedEarly(f"{place}: {outcome.reason}; repeat the command to resume")
        if isinstance(outcome, Failure):
            why = outcome.reason
        elif outcome.finish in FINISHES:
            why = FINISHES[outcome.finish]
        else:
            why = "the answer is not a list of steps"
            steps = numbered_steps(outcome.text)
        if not steps:
            raise InputError(f"{place}: {why}; allowed: {otherwise}")
        by_tag[str(request.tag)] = steps

    in_order = {}
    for request in requests:
        tag = str(request.tag)
        if tag in by_tag:
            in_order[tag] = by_tag[tag]
    return in_order
