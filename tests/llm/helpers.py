"""Short ways to ask in tests."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from dhp.llm.cached_model import CachedModel, RequestContext
from dhp.llm.clients.openai_client import OpenAIClient
from dhp.llm.limits import Budget, Limits, Prices, RateLimits
from dhp.llm.records import Failure, Params, Reply, Request
from dhp.llm.store import Store

QUICK = Params(temperature=0.0, top_p=None, max_tokens=16)


def requests(
    count: int, samples: int = 1, params: Params = QUICK, prompt: str = "Rate text"
) -> Iterator[Request]:
    """Distinct requests, tagged with their number."""
    for number in range(count):
        yield Request(f"{prompt} {number}.", params, tuple(range(samples)), f"text {number}", tag=number)


def cached_model(
    url: str | None,
    store: Path | None = None,
    *,
    concurrency: int = 8,
    retries: int = 8,
    timeout: float = 10.0,
    limits: Limits = Limits(),
    refresh: bool = False,
    run: str = "run",
    transport: str | None = None,
) -> CachedModel:
    """The model `stub` at `url`, with the store at `store`."""
    context = RequestContext(
        Store(store) if store else None,
        refresh=refresh,
        rate_limits=RateLimits(concurrency, retries=retries),
        budget=Budget(limits, Prices(1.0, 2.0)),
    )
    return CachedModel(OpenAIClient("stub", url, timeout=timeout, transport=transport), context, run=run)


def answered(cached_model: CachedModel, wanted: Sequence[Request]) -> dict[int, list[str]]:
    """Tag -> texts by sample, `!reason` where there is none; each request must be answered once."""
    found: dict[int, list[str]] = {}
    for request, outcomes in cached_model.ask(wanted):
        assert isinstance(request.tag, int)
        assert request.tag not in found
        assert set(outcomes) == set(request.samples)
        found[request.tag] = [_text(outcomes[s]) for s in request.samples]
    return found


def _text(outcome: Reply | Failure) -> str:
    return outcome.text if isinstance(outcome, Reply) else f"!{outcome.reason}"
