"""Estimated cost of requests, by the user's prices or those of the package litellm."""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dhp.llm.api import Client, LocalModel
from dhp.llm.cached_model import CachedModel
from dhp.llm.limits import PER, Prices
from dhp.llm.records import Reply, Request, estimated_tokens

_TABLE = "litellm/model_prices_and_context_window_backup.json"
_PREFIXES = {
    "api.openai.com": "",
    "api.anthropic.com": "",
    "generativelanguage.googleapis.com": "gemini/",
    "openrouter.ai": "openrouter/",
}
"""Host of a provider -> what is before the names of its models in the table."""


def listed_prices(model: str, endpoint: str, *, discounted: bool = False) -> tuple[Prices, str]:
    """The prices of a model per million tokens, in US dollars, and where they come from.

    There are none for a server of another owner, and where litellm is not installed or does not list the
    model. Prices are `discounted` for requests that go by batch, where such prices are listed.
    """
    provider, _, name = model.partition("/")
    keys = [name, name.partition("/")[2]] if provider == "litellm" else []
    if provider != "litellm" and (prefix := _PREFIXES.get(urlsplit(endpoint).hostname or "")) is not None:
        keys = [prefix + name]
    version, table = _table() if keys else ("", {})
    entry: dict[str, Any] = next((table[key] for key in keys if key in table), {})
    direct, batch = (_of(entry, suffix) for suffix in ("", "_batches"))
    if direct is None:
        return Prices(), ""
    chosen, other, way = (batch, direct, "directly") if discounted and batch else (direct, batch, "by batch")
    said = f"litellm {version}: {_words(chosen)} US dollars per million tokens"
    return chosen, said + (
        f", {way} {_words(other)}" if other else ", by batch not listed" if discounted else ""
    )


def _of(entry: dict[str, Any], suffix: str) -> Prices | None:
    costs = (entry.get(f"{side}_cost_per_token{suffix}") for side in ("input", "output"))
    found = [round(cost * PER, 6) for cost in costs if isinstance(cost, int | float)]
    return Prices(*found) if len(found) == 2 else None


def _words(prices: Prices) -> str:
    return f"{prices.prompt:g} in and {prices.completion:g} out"


@cache
def _table() -> tuple[str, dict[str, Any]]:
    """The version of the package and its table, read without importing it, which takes seconds."""
    try:
        package = distribution("litellm")
        return package.version, json.loads(Path(str(package.locate_file(_TABLE))).read_text("utf-8"))
    except (PackageNotFoundError, OSError, ValueError):
        return "", {}


_SECONDS_A_CALL = 1.0
"""Assumed where no rate is given."""
_MEASURED = 8
"""Requests that a model in this process answers to measure its speed; nothing of it is stored."""
_TOKENS = 16
"""Tokens of each of these answers at most."""
_SECONDS = 10.0
"""Time that measuring a model on a dataset may take, once it is loaded."""


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """What the requests take if they are sent in one way."""

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
    """Protocol of the judge; `perturbations` where texts are made."""
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
    joint: CostEstimate
    """Estimate for all samples of a prompt in one call."""
    single: CostEstimate
    """Estimate for one call per sample."""
    by_probability: CostEstimate
    """Estimate for one call per prompt that reads the probabilities of the first answer token."""
    again: CostEstimate
    """Upper limit of what asking again takes on top, if no first answer can be read."""
    priced: str = ""
    """Source of the prices, if the user gave none; empty where there are none."""
    one_by_one: bool = False
    """Whether each sample must be a call of its own."""
    controls: float = 0.0
    """Share of the ratings that are of controls."""


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
    is asked after an answer that cannot be read; empty where nothing is.
    """
    count, exact = _counter(cached_model)
    wanted = samples = prompts = missing = 0
    tokens = tokens_single = most = 0.0
    again = _Second(short, count)
    seen: set[bytes] = set()  # the same prompt is sent once
    first: list[Request] = []
    for request in requests:
        missing_keys = set(cached_model.missing(request)) - seen
        seen |= missing_keys
        left = len(missing_keys)
        wanted, samples = wanted + 1, samples + len(request.samples)
        if not left:
            continue
        if len(first) < _MEASURED:
            first.append(request)
        length = count(request.text)
        prompts, missing = prompts + 1, missing + left
        tokens += length
        tokens_single += length * left
        most += request.params.max_tokens * left
        again.add(request, length, left)
    assumed, duration = _speed(cached_model, first)
    prices, priced = _prices(cached_model)

    def cost(calls: int, prompt_tokens: float, completion_tokens: float) -> CostEstimate:
        money = prices.cost(prompt_tokens, completion_tokens)
        seconds = duration(calls, prompts, prompt_tokens + completion_tokens)
        return CostEstimate(calls, prompt_tokens, completion_tokens, money, seconds)

    return Estimate(
        cached_model.model.model,
        protocol,
        dataset,
        what,
        samples,
        wanted,
        samples - missing,
        assumed,
        exact,
        cost(prompts, tokens, most),
        cost(missing, tokens_single, most),
        cost(prompts, tokens, prompts),
        cost(*again.total),
        priced,
        _one_by_one(cached_model),
    )


@dataclass(slots=True)
class _Second:
    """Requests after answers that cannot be read, if none can be."""

    short: Callable[[Request], str]
    count: Callable[[str], float]
    total: tuple[int, float, float] = (0, 0.0, 0.0)
    """Calls, tokens of their prompts, tokens of their answers at most."""

    def add(self, request: Request, length: float, samples: int) -> None:
        """Add those of some samples of a request; `length` is the number of its tokens."""
        most, prompt = request.params.max_tokens, self.short(request)
        if prompt:
            calls, sent, answered = self.total
            sent += (length + most + self.count(prompt)) * samples
            self.total = calls + samples, sent, answered + most * samples


def _one_by_one(cached_model: CachedModel) -> bool:
    deferral, model = cached_model.context.deferral, cached_model.model
    return (isinstance(model, Client) and not model.many) or (deferral is not None and not deferral.many)


def _prices(cached_model: CachedModel) -> tuple[Prices, str]:
    """The prices of the user, else the listed ones with their source."""
    given = cached_model.context.budget.prices
    if given != Prices():
        return given, ""
    deferral, model = cached_model.context.deferral, cached_model.model
    discounted = deferral is not None and deferral.discounted
    return listed_prices(model.model, model.endpoint, discounted=discounted)


def _speed(
    cached_model: CachedModel, first: Sequence[Request]
) -> tuple[str, Callable[[int, int, float], float]]:
    """How fast requests will be answered: in words, and as a function (calls, prompts, tokens) -> seconds.

    Measured on the first requests by a model in this process, else assumed by the rate limits.
    """
    model = cached_model.model
    if not isinstance(model, Client):
        measured = [request for request in first if not model.misfit(request)]
        each, count = _seconds_a_prompt(model, measured)
        assumed = f"{each:.2g} s a prompt, measured on {count} of them in this process"
        return assumed, lambda calls, prompts, tokens: prompts * each
    limits = cached_model.context.rate_limits
    parts = [f"{limits.concurrency} calls in flight, {_SECONDS_A_CALL:g} s each"]
    parts += [f"{limits.calls_per_minute:g} calls a minute"] if limits.calls_per_minute else []
    parts += [f"{limits.tokens_per_minute:g} tokens a minute"] if limits.tokens_per_minute else []

    def seconds(calls: int, prompts: int, tokens: float) -> float:
        minutes = [calls * _SECONDS_A_CALL / limits.concurrency / 60]
        minutes += [calls / limits.calls_per_minute] if limits.calls_per_minute else []
        minutes += [tokens / limits.tokens_per_minute] if limits.tokens_per_minute else []
        return max(minutes) * 60

    return ", ".join(parts), seconds


def _seconds_a_prompt(model: LocalModel, requests: Sequence[Request]) -> tuple[float, int]:
    """Time for a whole answer, without the time to load the model, and the number of prompts measured.

    Answers are cut at `_TOKENS`; for a longer one the time of its further tokens is added.
    """
    if not requests:
        return 0.0, 0

    def seconds(some: Sequence[Request], most: int) -> tuple[float, int]:
        """Time, and tokens of the answers."""
        cut = [replace(r, params=replace(r.params, max_tokens=min(most, r.params.max_tokens))) for r in some]
        began = time.perf_counter()
        replies = [reply for _, outcomes in model.answer(cut) for reply in outcomes.values()]
        tokens = sum(reply.completion_tokens for reply in replies if isinstance(reply, Reply))
        return time.perf_counter() - began, tokens

    short = replace(requests[0], prompt="Count from 1 to 20.", before=())
    seconds([short], 1)  # loads it
    answering, tokens = seconds([short], _TOKENS)
    a_token = answering / max(tokens, 1)
    first, _ = seconds(requests[:1], 1)
    wanted = sum(request.params.max_tokens for request in requests) / len(requests)
    cut, whole = (first + a_token * (most - 1) for most in (min(wanted, _TOKENS), wanted))
    count = int(min(len(requests), (_SECONDS - answering - first) / cut))
    if count < 2:
        return whole, 1
    # Prompts that are answered at once share the time of each token.
    together, _ = seconds(requests[:count], _TOKENS)
    return together / count * whole / cut, count


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
