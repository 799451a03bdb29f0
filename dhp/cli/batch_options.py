"""Options on batches: files of requests that are answered later, and of their results."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from dhp.cli.option_groups import option
from dhp.core.errors import InputError

if TYPE_CHECKING:
    from dhp.llm.batch.settings import BatchSettings

T = TypeVar("T")


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

    def settings(self, *, dry_run: bool = False) -> "BatchSettings":
        """For `dhp.run`."""
        from dhp.llm.batch.settings import BatchSettings

        if dry_run and (self.batch_write is not None or self.batch_read):
            raise InputError("--dry-run: counts what is not stored; leave out --batch-write and --batch-read")
        return BatchSettings(self.batch_write, self.batch_read, self.batch, dry_run)


def through_batches(work: Callable[[], T]) -> T:
    """What `work` gives in the end: it starts again whenever batches that it waited for are fetched."""
    from dhp.llm.batch.remote import Answered

    while True:
        with suppress(Answered):
            return work()
