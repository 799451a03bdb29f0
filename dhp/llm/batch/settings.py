"""Settings of batches: files to write and read, or a provider."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dhp.core.errors import InputError
from dhp.core.keywords import near_keywords
from dhp.core.options import option

if TYPE_CHECKING:
    from dhp.llm.batch.batch import Batch
    from dhp.llm.usage import Budget


@near_keywords
@dataclass(frozen=True, slots=True)
class BatchSettings:
    """Batches: requests that are answered later, at a lower price."""

    batch_write: str | Path | None = field(
        default=None,
        metadata=option(
            "Write the requests without a cached reply to this file; send nothing.",
            metavar="FILE.jsonl",
        ),
    )
    batch_read: Sequence[str | Path] = field(
        default=(),
        metadata=option("Read replies from this file of batch results.", metavar="FILE.jsonl", many=True),
    )
    batch: str | None = field(
        default=None,
        metadata=option(
            "Send batches to this provider and wait for them: openai, anthropic or gemini.",
            metavar="PROVIDER",
        ),
    )
    dry: bool = False
    """Whether requests are only counted, as `batch` would send them."""
    carried: "list[Budget]" = field(default_factory=list, init=False, repr=False, compare=False)
    """What a run has used that goes on after its batches were fetched."""

    def __post_init__(self) -> None:
        if self.batch is None:
            return
        if self.batch_write is not None or self.batch_read:
            raise InputError("`batch`: sends and fetches by itself; leave out `batch_write` and `batch_read`")
        from dhp.llm.batch.providers.api import check_provider

        check_provider(self.batch)

    @property
    def given(self) -> bool:
        """Whether anything is to be written, read or sent."""
        named = self.batch_write is not None or bool(self.batch_read) or self.batch is not None
        return named and not self.dry

    def open(self, cache: Path) -> "Batch":
        """The batch of a run.

        `cache` is the folder of the store; what was sent to a provider is kept there.
        """
        from dhp.llm.batch.batch import Batch
        from dhp.llm.batch.providers.api import check_key
        from dhp.llm.batch.remote import RemoteBatches
        from dhp.llm.batch.results import BatchResults, result_files
        from dhp.llm.batch.writer import BatchWriter

        if self.dry:
            return Batch(BatchResults([]), provider=self.batch, many=self._many)
        remote = RemoteBatches(cache)
        if self.batch is not None:
            check_key(self.batch)
            new, go_on = BatchWriter(remote.new_file()), self.carried.append
            return Batch(BatchResults([]), new, remote, self.batch, many=self._many, go_on=go_on)
        results = BatchResults(result_files(self.batch_read))
        writer = BatchWriter(Path(self.batch_write)) if self.batch_write is not None else None
        return Batch(results, writer, remote)

    def budget(self, new: "Budget") -> "Budget":
        """The budget of a run: `new`, unless the run goes on after its batches were fetched."""
        return self.carried.pop() if self.carried else new

    @property
    def _many(self) -> bool:
        """Whether a request may ask for several samples."""
        return self.batch != "anthropic"
