"""A model that is not asked: its replies are those of a store."""

from collections.abc import Iterable, Iterator

from dhp.core.errors import InputError, suggest
from dhp.llm.records import Answer, Failure, Request
from dhp.llm.store import NOT_STORED, Store


class StoredModel:
    """A model that is not asked: it has no replies but those in the store."""

    def __init__(self, model: str, endpoint: str) -> None:
        self.model, self.endpoint = model, endpoint

    def count_tokens(self, prompt: str) -> int:
        """Zero, as no request is ever sent."""
        return 0

    def misfit(self, request: Request) -> None:
        """Everything fits."""

    def answer(self, requests: Iterable[Request]) -> Iterator[Answer]:
        """What was not found in the store stays without a reply."""
        missing = Failure(NOT_STORED, passing=True)
        for request in requests:
            yield request, dict.fromkeys(request.samples, missing)


def stored_model(store: Store, model: str | None = None) -> StoredModel:
    """The model of an earlier run, whose replies are in the store.

    It may be left out if the store knows only one. Raises `InputError` if the store has no replies, or of
    several models, or not of this one.
    """
    models = store.models()
    if not models:
        raise InputError(f"{store.path}: holds no replies")

    names: list[str] = []
    fitting: list[tuple[str, str]] = []
    for name, endpoint in models:
        whole = f"{name} at {endpoint}"  # by which one of several servers is chosen
        names.append(whole if name == model else name)
        if model in (None, name, whole):
            fitting.append((name, endpoint))
    if model is not None and not fitting:
        raise InputError(f"{store.path}: no replies of '{model}'; {suggest(model, names)}")
    if len(fitting) > 1:
        raise InputError(f"{store.path}: several models; choose one by ?model=: {', '.join(sorted(names))}")
    return StoredModel(*fitting[0])
