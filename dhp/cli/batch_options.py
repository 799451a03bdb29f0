"""Options on batches: files of requests that are answered later, and of their results."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dhp.cli.option_groups import option
from dhp.core.errors import InputError

if TYPE_CHECKING:
    from dhp.llm.batch.settings import BatchSettings


@dataclass(frozen=True)
class BatchOptions:
    """Batches: requests answered later, at a lower price."""

    batch_write: str | None = option(
        "--batch-write", metavar="FILE.jsonl", help="Write the requests that lack a reply here; ask nothing."
    )
    batch_read: tuple[str, ...] = option(
        "--batch-read", multiple=True, metavar="FILE.jsonl", help="Take the replies from here first."
    )

    def settings(self, *, dry_run: bool = False) -> "BatchSettings":
        """For `dhp.run`."""
        from dhp.llm.batch.settings import BatchSettings

        settings = BatchSettings(self.batch_write, self.batch_read)
        if settings.given and dry_run:
            raise InputError("--dry-run: counts what is not stored; leave out --batch-write and --batch-read")
        return settings
