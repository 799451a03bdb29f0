"""Settings of batches: files that are written and read, or the provider that answers them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dhp.core.errors import InputError
from dhp.llm.batch.batch import Batch
from dhp.llm.batch.providers.api import check_key, check_provider
from dhp.llm.batch.remote import RemoteBatches
from dhp.llm.batch.results import BatchResults, result_files
from dhp.llm.batch.writer import BatchWriter
from dhp.llm.usage import Budget


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """Files of requests to be answered later, and of their results; or a provider that takes them."""

    batch_write: str | Path | None = None
    """File for the requests that the store lacks; further ones are `FILE-2.jsonl` and so on."""
    batch_read: Sequence[str | Path] = ()
    """Files of results, in any order; error files too."""
    batch: str | None = None
    """Provider that is sent the requests that the store lacks: `openai`, `anthropic` or `gemini`."""
    dry: bool = False
    """Whether requests are only counted, as `batch` would send them."""
    carried: list[Budget] = field(default_factory=list, init=False, repr=False, compare=False)
    """What a run has used that goes on after its batches were fetched."""

    def __post_init__(self) -> None:
        if self.batch is None:
            return
        if self.batch_write is not None or self.batch_read:
            raise InputError("`batch`: sends and fetches by itself; leave out `batch_write` and `batch_read`")
        check_provider(self.batch)

    @property
    def given(self) -> bool:
        """Whether anything is to be written, read or sent."""
        named = self.batch_write is not None or bool(self.batch_read) or self.batch is not None
        return named and not self.dry

    def open(self, cache: Path) -> Batch:
        """The batch of a run.

        `cache` is the folder of the store; what was sent to a provider is kept there.
        """
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

    def budget(self, new: Budget) -> Budget:
        """The budget of a run: `new`, unless the run goes on after its batches were fetched."""
        return self.carried.pop() if self.carried else new

    @property
    def _many(self) -> bool:
        """Whether a request may ask for several samples."""
        return self.batch != "anthropic"
