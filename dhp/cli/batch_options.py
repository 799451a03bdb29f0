"""Options on batches: files of requests that are answered later, and of their results."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, TypeVar

from dhp.cli.option_groups import option
from dhp.core.errors import InputError
from dhp.llm.api import PROVIDERS

if TYPE_CHECKING:
    from dhp.llm.batch.settings import BatchSettings

T = TypeVar("T")
_ASKED = tuple(f"{provider}/" for provider in PROVIDERS)


@dataclass(frozen=True)
class BatchOptions:
    """Batches: requests answered later, at a lower price."""

    batch_write: str | None = option(
        "--batch-write", metavar="FILE.jsonl", help="Write the requests that lack a reply here; ask nothing."
    )
    batch_read: tuple[str, ...] = option(
        "--batch-read", multiple=True, metavar="FILE.jsonl", help="Take the replies from here first."
    )

    batch: str | None = option(
        "--batch", metavar="PROVIDER", help="Send, await and fetch batches: openai, anthropic or gemini."
    )

    def settings(self, models: Sequence[str | None], *, dry_run: bool = False) -> "BatchSettings":
        """For `dhp.run`; raises `InputError` where none of `models` is a language model."""
        from dhp.llm.batch.settings import BatchSettings

        given = [each.metadata["names"][0] for each in fields(self) if getattr(self, each.name)]
        if given and not any(model and model.startswith(_ASKED) for model in models):
            said = next((f"{model} asks none" for model in models if model), "none is given")
            raise InputError(f"{given[0]}: is for language models, and {said}; leave it out")
        if dry_run and (self.batch_write is not None or self.batch_read):
            raise InputError("--dry-run: counts what is not stored; leave out --batch-write and --batch-read")
        return BatchSettings(self.batch_write, self.batch_read, self.batch, dry_run)


def through_batches(work: Callable[[], T]) -> T:
    """What `work` gives in the end: it starts again whenever batches that it waited for are fetched."""
    from dhp.llm.batch.remote import Answered

    while True:
        with suppress(Answered):
            return work()
