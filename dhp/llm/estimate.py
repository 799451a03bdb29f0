"""What asking would take, before anything is asked."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dhp.llm.asker import Asker, estimated_tokens
from dhp.llm.engine import Client
from dhp.llm.records import Request

_SECONDS_A_CALL = 1.0
"""Assumed where no rate is given."""


@dataclass(frozen=True, slots=True)
class Bill:
    """One way of asking."""

    calls: int
    prompt_tokens: float
    completion_tokens: float
    """At most."""
    cost: float | None
    """At most; None without prices."""
    seconds: float
    """At the given rate, else with all places busy and one second a call."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What one judge, or the making of degraded texts, would take on one dataset."""

    model: str
    protocol: str
    """The judge's; `perturbations` where texts are made."""
    dataset: str
    what: str
    """What answers become: `ratings` or `texts`."""
    samples: int
    """Answers wanted."""
    prompts: int
    """Requests for them."""
    stored: int
    """Of them stored already, or the same as another."""
    assumed: str
    """What the time is reckoned with."""
    exact: bool
    """Whether tokens were counted by the model's tokenizer."""
    joint: Bill
    """All samples of a prompt in one call."""
    single: Bill
    """One call a sample."""
    by_probability: Bill
    """One call a prompt, for the probabilities of its first answer token."""


def estimate_requests(
    asker: Asker, protocol: str, dataset: str, requests: Iterable[Request], what: str = "ratings"
) -> Estimate:
    """Count what is not stored yet."""
    count, exact = _counter(asker)
    wanted = samples = stored = prompts = missing = 0
    tokens = tokens_single = most = 0.0
    seen: set[bytes] = set()  # the same prompt is asked once
    for request in requests:
        missing_keys = set(asker.missing(request)) - seen
        seen |= missing_keys
        left = len(missing_keys)
        wanted += 1
        samples += len(request.samples)
        stored += len(request.samples) - left
        if not left:
            continue
        length = count(request.prompt)
        prompts += 1
        missing += left
        tokens += length
        tokens_single += length * left
        most += request.params.max_tokens * left
    return Estimate(
        asker.model.model,
        protocol,
        dataset,
        what,
        samples,
        wanted,
        stored,
        _assumed(asker),
        exact,
        _bill(asker, prompts, tokens, most),
        _bill(asker, missing, tokens_single, most),
        _bill(asker, prompts, tokens, prompts),
    )


def _bill(asker: Asker, calls: int, prompt_tokens: float, completion_tokens: float) -> Bill:
    pace = asker.terms.pace
    minutes = [calls * _SECONDS_A_CALL / pace.concurrency / 60]
    if pace.calls_per_minute:
        minutes.append(calls / pace.calls_per_minute)
    if pace.tokens_per_minute:
        minutes.append((prompt_tokens + completion_tokens) / pace.tokens_per_minute)
    cost = asker.terms.budget.prices.cost(prompt_tokens, completion_tokens)
    return Bill(calls, prompt_tokens, completion_tokens, cost, max(minutes) * 60)


def _assumed(asker: Asker) -> str:
    pace = asker.terms.pace
    parts = [f"{pace.concurrency} calls in flight, {_SECONDS_A_CALL:g} s each"]
    parts += [f"{pace.calls_per_minute:g} calls a minute"] if pace.calls_per_minute else []
    parts += [f"{pace.tokens_per_minute:g} tokens a minute"] if pace.tokens_per_minute else []
    return ", ".join(parts)


def _counter(asker: Asker) -> tuple[Callable[[str], float], bool]:
    """A function that counts tokens, and whether it is the model's own."""
    model = asker.model
    if not isinstance(model, Client):
        return model.count_tokens, True
    try:
        import tiktoken

        encoding = tiktoken.encoding_for_model(model.model.partition("/")[2])
    except Exception:  # noqa: BLE001  not installed, an unknown model, or no way to its vocabulary
        return estimated_tokens, False
    return lambda prompt: len(encoding.encode_ordinary(prompt)), True
