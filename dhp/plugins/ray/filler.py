"""Requests answered by the workers of a Ray cluster; store and budget stay in the process of the run."""

from collections.abc import Iterable, Iterator

from dhp.judge.adapters.function_model import FunctionModel
from dhp.llm.api import Client, LocalModel
from dhp.llm.cached_model import RequestContext
from dhp.llm.fillers import Target
from dhp.llm.records import Answer, Reply, Request
from dhp.plugins.ray.calls import ServerCalls
from dhp.plugins.ray.cluster import Cluster


class RayFiller:
    """Workers that answer requests as they come; a `Filler`."""

    collects = False
    taken = 0

    def __init__(self, cluster: Cluster, context: RequestContext) -> None:
        self._cluster = cluster
        self._context = context
        self._calls: dict[str, ServerCalls] = {}

    def check(self, model: str, endpoint: str | None = None) -> None:
        """Workers ask any model."""

    def answer(self, target: Target, requests: Iterable[Request]) -> Iterator[Answer]:
        """See `Filler`."""
        if isinstance(target.model, Client):
            calls = self._calls.get(target.model.model)
            if calls is None:
                calls = ServerCalls(self._cluster, target.model, self._context)
                self._calls[target.model.model] = calls
            return calls.answer(target, requests)
        return self._answered(target.model, target, requests)

    def _answered(self, model: LocalModel, target: Target, requests: Iterable[Request]) -> Iterator[Answer]:
        """Answers of a model or a function that workers hold; language models one a GPU or a machine."""
        by_model = not isinstance(model, FunctionModel)
        budget = self._context.budget
        reserved: dict[int, tuple[float, float]] = {}

        def within_budget() -> Iterator[Request]:
            for request in requests:
                most = request.params.max_tokens * len(request.samples)
                reserved[id(request)] = budget.reserve(request.tokens, most)
                yield request

        came = self._cluster.each(model.answer, within_budget(), on_wait=target.on_wait, by_model=by_model)
        for request, outcomes in came:
            replies = [outcome for outcome in outcomes.values() if isinstance(outcome, Reply)]
            budget.settle(reserved.pop(id(request)), replies)
            target.keep(request, outcomes)
            yield request, outcomes

    def fill(self) -> None:
        """Nothing is taken."""

    def end(self) -> None:
        """Nothing is left over."""
