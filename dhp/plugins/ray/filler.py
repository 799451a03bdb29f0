"""Requests answered by the workers of a Ray cluster; store and budget stay in the process of the run."""

from collections.abc import Iterable, Iterator
from functools import partial

from dhp.judge.adapters.function_model import FunctionModel
from dhp.llm.api import Client
from dhp.llm.cached_model import RequestContext
from dhp.llm.fillers import Target, answered
from dhp.llm.records import Answer, Request
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
            # One for each model, as it knows whether the server has answered.
            calls = self._calls.get(target.model.model)
            if calls is None:
                calls = ServerCalls(self._cluster, target.model, self._context)
                self._calls[target.model.model] = calls
            return calls.answer(target, requests)
        # Language models go one to a GPU or a machine, functions to every worker.
        by_model = not isinstance(target.model, FunctionModel)
        each = partial(self._cluster.each, target.model.answer, on_wait=target.on_wait, by_model=by_model)
        return answered(each, self._context.budget, target, requests)

    def fill(self) -> None:
        """Nothing is taken."""

    def end(self) -> None:
        """Nothing is left over."""
