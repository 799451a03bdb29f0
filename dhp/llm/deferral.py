"""Requests that are answered later: the interface of a plug-in that collects them."""

from collections.abc import Collection, Container, Mapping
from pathlib import Path
from typing import Protocol

from dhp.llm.api import Client, LocalModel
from dhp.llm.records import Outcomes, Request
from dhp.llm.usage import Budget


class Deferral(Protocol):
    """The requests of a run that are answered later, and the replies to them that have come."""

    budget: Budget
    """Usage of the run, against its limits."""
    many: bool
    """Whether one request may ask for several samples."""
    discounted: bool
    """Whether requests cost less than those that are asked at once."""

    def check(self, model: str, endpoint: str | None = None) -> None:
        """Raise `InputError` for a model that cannot answer later; called before and after it is opened."""

    def concerns(self, model: Client | LocalModel) -> bool:
        """Whether replies of a model may have come, or requests to it wait or are to be collected."""
        ...

    def received(
        self, model: Client | LocalModel, request: Request, keys: Mapping[int, bytes], missing: Container[int]
    ) -> Outcomes:
        """What has come for the samples of a request, at least for the `missing` ones.

        `keys` are those of the store, of all samples.
        """
        ...

    def defers(
        self,
        model: Client | LocalModel,
        request: Request,
        missing: Mapping[int, bytes],
        prompt_tokens: float,
    ) -> bool:
        """Whether a request is not to be asked now: some of its samples wait, or are collected by this call.

        `missing` are the samples without a reply with their keys, `prompt_tokens` is an estimate.
        """
        ...

    def before_asking(self, model: str, others: Collection[str]) -> None:
        """Called before a model is asked at once; `others` are all models that are open.

        Raises `InputError` where replies were to be read and none belongs to the run.
        """

    def stop_if_waiting(self, *, whole: bool) -> None:
        """Raise `StoppedEarly` where requests wait; what was collected is sent or written first.

        `whole` says that the run has come to all its requests. `Answered` is raised where the replies have
        come meanwhile.
        """


class DeferralSettings(Protocol):
    """The settings record of a `Deferral`: its fields are options of the command line."""

    @property
    def given(self) -> bool:
        """Whether requests are to be answered later, or replies to be read, in this run."""
        ...

    def for_dry_run(self) -> "DeferralSettings":
        """These settings where nothing is asked; raises `InputError` for what a dry run cannot do."""
        ...

    def open(self, cache: Path, budget: Budget) -> Deferral:
        """The deferral of a run; `cache` is the folder of the store."""
        ...
