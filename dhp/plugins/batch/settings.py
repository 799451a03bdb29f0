"""Settings of batches: files to write and read, or a provider."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dhp.core.checks import Checked, exclusive
from dhp.core.errors import InputError
from dhp.core.options import option

if TYPE_CHECKING:
    from dhp.llm.cached_model import RequestContext
    from dhp.llm.fillers import Filler


def _known_provider(settings: "BatchSettings") -> None:
    if settings.batch is not None:
        from dhp.plugins.batch.providers import check_provider

        check_provider(settings.batch)


@dataclass(frozen=True, slots=True)
class BatchSettings(Checked):
    """Batches: requests that are answered later, at a lower price."""

    rules = (
        exclusive("batch", "batch_write"),
        exclusive("batch", "batch_read"),
        _known_provider,
    )

    batch_write: str | Path | None = option(
        "Write the requests without a cached reply to this file; send nothing.",
        default=None,
        metavar="FILE.jsonl",
    )
    batch_read: Sequence[str | Path] = option(
        "Read replies from this file of batch results, or from all that fit a pattern in quotes.",
        default=(),
        metavar="FILE.jsonl",
        repeatable=True,
    )
    batch: str | None = option(
        "Send batches to this provider and wait for them: openai, anthropic, gemini, or one of a plug-in.",
        default=None,
        metavar="PROVIDER",
    )

    @property
    def is_used(self) -> bool:
        """Whether anything is to be written, read or sent."""
        return self.batch_write is not None or bool(self.batch_read) or self.batch is not None

    @property
    def multi_sample(self) -> bool:
        """Whether one request may ask for several samples."""
        if self.batch is None:
            return True
        from dhp.plugins.batch.providers import providers

        return providers()[self.batch].multi_sample

    @property
    def discounted(self) -> bool:
        """Whether requests go to a provider, which takes less for a batch."""
        return self.batch is not None

    @property
    def calls_functions(self) -> bool:
        """Whether it calls functions that judge, too."""
        return False

    def check_dry_run(self) -> None:
        """Raise `InputError` if files are written or read."""
        if self.batch_write is not None or self.batch_read:
            raise InputError("`dry_run`: counts what is not stored; leave out `batch_write` and `batch_read`")

    def open(self, context: "RequestContext") -> "Filler":
        """The filler of a command; batches that go to a provider are kept beside the store."""
        from dhp.plugins.batch.fillers import FileFiller, ProviderFiller
        from dhp.plugins.batch.jobs import RemoteBatches
        from dhp.plugins.batch.request_files import BatchWriter
        from dhp.plugins.batch.results import BatchResults, result_files

        store = context.store
        assert store is not None, "checked by `ModelSettings`"
        if self.batch is not None:
            from dhp.plugins.batch.providers import check_key

            check_key(self.batch)
            batches = RemoteBatches(store.path.parent)
            return ProviderFiller(self.batch, batches, context.budget, multi_sample=self.multi_sample)
        results = BatchResults(result_files(self.batch_read))
        writer = None if self.batch_write is None else BatchWriter(Path(self.batch_write))
        return FileFiller(store, context.budget, results, writer)
