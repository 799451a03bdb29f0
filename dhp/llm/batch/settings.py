"""Settings of batches: which files are written and read."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dhp.llm.batch.batch import Batch
from dhp.llm.batch.results import BatchResults
from dhp.llm.batch.writer import BatchWriter


@dataclass(frozen=True, slots=True)
class BatchSettings:
    """Files of requests to be answered later, and of their results."""

    batch_write: str | Path | None = None
    """File for the requests that the store lacks; further ones are `FILE-2.jsonl` and so on."""
    batch_read: Sequence[str | Path] = ()
    """Files of results, in any order; error files too."""

    @property
    def given(self) -> bool:
        """Whether anything is."""
        return self.batch_write is not None or bool(self.batch_read)

    def open(self) -> Batch | None:
        """The batch of a run; None where none is wanted."""
        if not self.given:
            return None
        results = BatchResults([Path(path) for path in self.batch_read])
        writer = BatchWriter(Path(self.batch_write)) if self.batch_write is not None else None
        return Batch(results, writer, {})
