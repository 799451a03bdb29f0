"""Models that only replay cached replies."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from dhp.core.errors import InputError, suggest
from dhp.llm.api import Client, LocalModel
from dhp.llm.records import Failure, Outcomes, Request
from dhp.llm.store import Store

NOT_STORED = "not in the recording"


class _NoModel:
    """Has no replies but those in the store."""

    model: str
    endpoint: str

    def count_tokens(self, prompt: str) -> int:
        """Zero, as no request is ever sent."""
        return 0

    def misfit(self, request: Request) -> None:
        """Everything fits."""

    def answer(self, requests: Iterable[Request]) -> Iterator[tuple[Request, Outcomes]]:
        """What was not found in the store stays without a reply."""
        missing = Failure(NOT_STORED, passing=True)
        for request in requests:
            yield request, dict.fromkeys(request.samples, missing)


class OnlyStored(_NoModel):
    """A model that is not asked: what is stored of it answers, in a dry run."""

    def __init__(self, model: Client | LocalModel) -> None:
        self.model, self.endpoint = model.model, model.endpoint


class StoredModel(_NoModel):
    """Answers from a store of an earlier run alone.

    The model may be left out where the store knows only one. Raises `InputError` if the store has no replies,
    or of several models, or not of this one.
    """

    def __init__(self, store: Store, model: str | None = None) -> None:
        there = store.models()
        names = [f"{name} at {endpoint}" if name == model else name for name, endpoint in there]
        if not there:
            raise InputError(f"{store.path}: holds no replies")
        fitting = [pair for pair in there if model in (None, pair[0], f"{pair[0]} at {pair[1]}")]
        if model is not None and not fitting:
            raise InputError(f"{store.path}: no replies of '{model}'; {suggest(model, names)}")
        if len(fitting) > 1:
            raise InputError(
                f"{store.path}: several models; choose one by ?model=: {', '.join(sorted(names))}"
            )
        self.model, self.endpoint = fitting[0]


def open_store(path: Path) -> Store:
    """An existing store; raises `InputError` where there is none."""
    if not path.is_file():
        raise InputError(f"{path}: does not exist")
    return Store(path, read_only=True)
