"""Cost estimates: what requests would take, before any is sent."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dhp.llm.api import Client
from dhp.llm.cached_model import CachedModel, estimated_tokens
from dhp.llm.records import Request

_SECONDS_A_CALL = 1.0
"""Assumed where no rate is given."""


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """What the requests take if they are sent in one way."""

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
    """What one judge, or one perturb model, would take on one dataset."""

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
    """What the time is computed from."""
    exact: bool
    """Whether tokens were counted by the model's tokenizer."""
    joint: CostEstimate
    """All samples of a prompt in one call."""
    single: CostEstimate
    """One call a sample."""
    by_probability: CostEstimate
    """One call a prompt, for the probabilities of its first answer token."""


def estimate_requests(
    cached_model: CachedModel, protocol: str, dataset: str, requests: Iterable[Request], what: str = "ratings"
) -> Estimate:
    """What the requests would take of the model; those whose replies are stored take nothing.

    Parameters
    ----------
    cached_model
        The model, with the store.
    protocol, dataset
        For the table.
    requests
        All that would be sent.
    what
        What answers become: `ratings` or `texts`.
    """
    count, exact = _counter(cached_model)
    wanted = samples = stored = prompts = missing = 0
    tokens = tokens_single = most = 0.0
    seen: set[bytes] = set()  # the same prompt is sent once
    for request in requests:
        missing_keys = set(cached_model.missing(request)) - seen
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
        cached_model.model.model,
        protocol,
        dataset,
        what,
        samples,
        wanted,
        stored,
        _assumed(cached_model),
        exact,
        _cost_estimate(cached_model, prompts, tokens, most),
        _cost_estimate(cached_model, missing, tokens_single, most),
        _cost_estimate(cached_model, prompts, tokens, prompts),
    )


def _cost_estimate(
    cached_model: CachedModel, calls: int, prompt_tokens: float, completion_tokens: float
) -> CostEstimate:
    rate_limits = cached_model.context.rate_limits
    minutes = [calls * _SECONDS_A_CALL / rate_limits.concurrency / 60]
    if rate_limits.calls_per_minute:
        minutes.append(calls / rate_limits.calls_per_minute)
    if rate_limits.tokens_per_minute:
        minutes.append((prompt_tokens + completion_tokens) / rate_limits.tokens_per_minute)
    cost = cached_model.context.budget.prices.cost(prompt_tokens, completion_tokens)
    return CostEstimate(calls, prompt_tokens, completion_tokens, cost, max(minutes) * 60)


def _assumed(cached_model: CachedModel) -> str:
    rate_limits = cached_model.context.rate_limits
    parts = [f"{rate_limits.concurrency} calls in flight, {_SECONDS_A_CALL:g} s each"]
    parts += [f"{rate_limits.calls_per_minute:g} calls a minute"] if rate_limits.calls_per_minute else []
    parts += [f"{rate_limits.tokens_per_minute:g} tokens a minute"] if rate_limits.tokens_per_minute else []
    return ", ".join(parts)


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
