"""Estimated cost of requests, by the user's prices or listed ones.

`estimate_requests` counts the calls and tokens of the requests whose replies are not stored, and what asking
a second time would add. Their duration is assumed by the rate limits; of a model in this process, which costs
time alone, it is measured on the first requests.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from dhp.llm.api import Client, LocalModel
from dhp.llm.cached_model import CachedModel, Measured, Speed
from dhp.llm.records import Reply, Request, estimated_tokens

# All chosen: what a dry run may take, for a figure that says minutes or hours.
_SECONDS_A_CALL = 1.0
"""Assumed if no rate is given."""
_MEASURED = 8
"""Requests that a model in this process answers to measure its speed; nothing of it is stored."""
_TOKENS = 16
"""Tokens of each of these answers at most."""
_SECONDS = 20.0
"""Time that measuring may take in a run, once models are loaded: half of what is left on each dataset."""


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """What some requests take."""

    calls: int
    """Number of requests sent."""
    prompt_tokens: float
    """Number of prompt tokens."""
    completion_tokens: float
    """Upper limit of the completion tokens."""
    cost: float | None
    """Upper limit of the cost; None without prices."""
    seconds: float
    """Duration at the given rate, else with full concurrency and one second per call; in this process as
    measured."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What one judge, or one perturb model, would take on one dataset."""

    model: str
    """Name of the model."""
    protocol: str
    """Protocol of the judge; `perturbations` if texts are made."""
    dataset: str
    """Name of the dataset."""
    what: str
    """Use of the answers: `ratings` or `texts`."""
    samples: int
    """Number of answers wanted."""
    prompts: int
    """Number of requests for these answers."""
    stored: int
    """Number of answers that are cached already or equal another one."""
    assumed: str
    """Assumption behind the duration."""
    exact: bool
    """Whether tokens were counted by the model's tokenizer."""
    bill: CostEstimate
    """What the requests take as they will be sent."""
    again: CostEstimate
    """Upper limit of what asking again takes on top, if no first answer can be read."""
    priced: str = ""
    """Source of the prices, if the user gave none; empty if there are none."""
    one_by_one: bool = False
    """Whether each sample is a call of its own, as one call gives no more."""
    in_process: bool = False
    """Whether the model is in this process, where tokens cost nothing."""
    controls: float = 0.0
    """Share of the ratings that are of controls."""


Work = tuple[float, float]
"""Tokens of prompts and answers that a model in this process reads and writes; prompts and, at temperature 0,
answers once for all samples."""
Duration = Callable[[int, float, float], float]
"""(Calls, tokens of prompts, tokens of answers) -> seconds."""


def estimate_requests(
    cached_model: CachedModel,
    protocol: str,
    dataset: str,
    requests: Iterable[Request],
    what: str = "ratings",
    *,
    short: Callable[[Request], str] = lambda request: "",
) -> Estimate:
    """What the requests would take of the model; those whose replies are stored take nothing.

    `protocol` and `dataset` are for the table; answers become `what`, `ratings` or `texts`. `short` is what
    is asked after an answer that cannot be read; empty if nothing is.
    """
    count, exact = _counter(cached_model)
    counts = _counted(cached_model, requests, count, short)
    model = cached_model.model
    work: Work | None = None
    if isinstance(model, Client):
        assumed, duration = _rate(cached_model)
    else:
        work = counts.tokens, counts.written
        assumed, duration = _local_rate(cached_model, counts.first, counts.prompts, work)
    prices, priced = cached_model.prices

    def cost(calls: int, sent: float, answered: float, work: Work | None = None) -> CostEstimate:
        seconds = duration(calls, *(work or (sent, answered)))
        return CostEstimate(calls, sent, answered, prices.cost(sent, answered), seconds)

    one_by_one = _one_by_one(cached_model)
    calls, sent = counts.prompts, counts.tokens
    if one_by_one:
        calls, sent = counts.missing, counts.tokens_single
    return Estimate(
        model=model.model,
        protocol=protocol,
        dataset=dataset,
        what=what,
        samples=counts.samples,
        prompts=counts.wanted,
        stored=counts.samples - counts.missing,
        assumed=assumed,
        exact=exact,
        bill=cost(calls, sent, counts.most, work),
        again=cost(*counts.again),
        priced=priced,
        one_by_one=one_by_one,
        in_process=work is not None,
    )


@dataclass(slots=True)
class _Counts:
    """What requests take whose replies are not stored, and the second ones if no answer can be read."""

    wanted: int = 0
    """Number of all requests, also of those whose replies are stored."""
    samples: int = 0
    """Number of samples of all requests."""
    prompts: int = 0
    missing: int = 0
    """Number of samples without a reply."""
    tokens: float = 0.0
    """Tokens of the prompts, each counted once."""
    tokens_single: float = 0.0
    """The same, each counted once a sample."""
    most: float = 0.0
    """Upper limit of the tokens of the answers."""
    written: float = 0.0
    """The same in this process, where all samples at temperature 0 are one answer."""
    again: tuple[int, float, float] = (0, 0.0, 0.0)
    """Number of second requests, tokens of their prompts, upper limit of the tokens of their answers."""
    first: list[Request] = field(default_factory=list)
    """Some of the requests, to measure the model by."""


def _counted(
    cached_model: CachedModel,
    requests: Iterable[Request],
    count: Callable[[str], float],
    short: Callable[[Request], str],
) -> _Counts:
    """The counts of requests; `count` counts tokens, and `short` is the second request after one."""
    counts = _Counts()
    seen: set[bytes] = set()  # the same prompt is sent once
    for request in requests:
        new = set(cached_model.missing(request)) - seen
        seen |= new
        left = len(new)
        counts.wanted += 1
        counts.samples += len(request.samples)
        if not left:
            continue

        if len(counts.first) < _MEASURED:
            counts.first.append(request)
        length, longest = count(request.text), request.params.max_tokens
        counts.prompts += 1
        counts.missing += left
        counts.tokens += length
        counts.tokens_single += length * left
        counts.most += longest * left
        counts.written += longest * (left if request.params.temperature != 0 else 1)

        # The second request holds the first one with its answer, and a prompt of its own.
        prompt = short(request)
        if prompt:
            calls, sent, answered = counts.again
            sent += (length + longest + count(prompt)) * left
            counts.again = calls + left, sent, answered + longest * left
    return counts


def _one_by_one(cached_model: CachedModel) -> bool:
    model = cached_model.model
    return (isinstance(model, Client) and not model.multi_sample) or not cached_model.context.multi_sample


def _rate(cached_model: CachedModel) -> tuple[str, Duration]:
    """How fast a server is assumed to answer, by the rate limits: in words, and as a function."""
    limits = cached_model.context.rate_limits
    parts = [f"{limits.concurrency} calls in flight, {_SECONDS_A_CALL:g} s each"]
    if limits.calls_per_minute:
        parts.append(f"{limits.calls_per_minute:g} calls a minute")
    if limits.tokens_per_minute:
        parts.append(f"{limits.tokens_per_minute:g} tokens a minute")

    def seconds(calls: int, sent: float, answered: float) -> float:
        minutes = calls * _SECONDS_A_CALL / limits.concurrency / 60
        if limits.calls_per_minute:
            minutes = max(minutes, calls / limits.calls_per_minute)
        if limits.tokens_per_minute:
            minutes = max(minutes, (sent + answered) / limits.tokens_per_minute)
        return minutes * 60

    return ", ".join(parts), seconds


def _local_rate(
    cached_model: CachedModel, first: Sequence[Request], prompts: int, work: Work
) -> tuple[str, Duration]:
    """How fast a model in this process answers, measured on the first requests; in words, and as a function.

    None is measured if half of the time that is left does not suffice for all, by what is known of the model
    from other requests.
    """
    model, measured = cached_model.model, cached_model.context.measured
    assert not isinstance(model, Client)
    fitting = [request for request in first if not model.misfit(request)]
    limit = (_SECONDS - measured.seconds) / 2
    speed = measured.speeds.get(model.model)
    takes = 0.0
    if fitting and speed is not None:
        takes = speed.answering(*_shape(model, fitting)) * len(fitting)

    count = 0
    if fitting and (speed is None or takes <= limit):
        speed, count = _speed(model, fitting, limit, measured)
        measured.speeds.setdefault(model.model, speed)  # the first one had the most time
    if speed is None or not prompts:
        return "nothing to measure in this process", lambda calls, sent, answered: 0.0
    of = f"{count} of them" if count else "other requests"
    seconds = speed.answering(*work) / prompts
    shown = f"{seconds:.2g}" if seconds < 10 else f"{seconds:.0f}"
    assumed = f"{shown} s a prompt, measured on {of} in this process"
    return assumed, lambda calls, sent, answered: speed.answering(sent, answered)


def _shape(model: LocalModel, some: Sequence[Request]) -> tuple[float, float]:
    """Mean tokens of a prompt, and of an answer that is cut for measuring."""
    prompts = [model.count_tokens(request.text) for request in some]
    answers = [min(request.params.max_tokens, _TOKENS) for request in some]
    return fmean(prompts), fmean(answers)


def _speed(
    model: LocalModel, requests: Sequence[Request], limit: float, measured: Measured
) -> tuple[Speed, int]:
    """The speed of a model once it is loaded, and the number of prompts measured in `limit` seconds or so.

    Answers are cut at `_TOKENS`.
    """

    def seconds(some: Sequence[Request], most: int) -> tuple[float, int]:
        """Time, and tokens of the answers."""
        cut = []
        for request in some:
            params = replace(request.params, max_tokens=min(most, request.params.max_tokens))
            cut.append(replace(request, params=params))
        tokens = 0
        began = time.perf_counter()
        for _, outcomes in model.answer(cut):
            for reply in outcomes.values():
                tokens += reply.completion_tokens if isinstance(reply, Reply) else 0
        return time.perf_counter() - began, tokens

    # Many tokens from a short prompt are the time of answering, one token from a long prompt that of reading.
    short = replace(requests[0], prompt="Count from 1 to 20.", before=())
    seconds([short], 1)  # loads it
    answering, tokens = seconds([short], _TOKENS)
    reading, _ = seconds(requests[:1], 1)
    measured.seconds += answering + reading
    length, _ = _shape(model, requests[:1])
    speed = Speed(reading / max(length, 1), answering / max(tokens, 1))

    # As many together as the rest of the time allows, by what is known now.
    each = speed.answering(*_shape(model, requests))
    count = int(min(len(requests), (limit - answering - reading) / each))
    if count < 2:  # one prompt alone is measured already
        return speed, 1
    # Prompts that are answered at once share the time of each token.
    together, _ = seconds(requests[:count], _TOKENS)
    measured.seconds += together
    share = together / count / speed.answering(*_shape(model, requests[:count]))
    return Speed(share * speed.prompt_token, share * speed.answer_token), count


def _counter(cached_model: CachedModel) -> tuple[Callable[[str], float], bool]:
    """A function that counts tokens, and whether it is the model's own."""
    model = cached_model.model
    if not isinstance(model, Client):
        return model.count_tokens, True
    try:
        import tiktoken

        encoding = tiktoken.encoding_for_model(model.model.partition("/")[2])
    except Exception:  # noqa: BLE001  not installed, an unknown model, or no way to its vocabulary
        return estimated_tokens, False
    return lambda prompt: len(encoding.encode_ordinary(prompt)), True
