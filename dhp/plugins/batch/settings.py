"""Settings of batches: files to write and read, or a provider."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dhp.core.errors import InputError
from dhp.core.options import near_keywords, option
from dhp.plugins.batch.providers import check_key, check_provider

if TYPE_CHECKING:
    from dhp.llm.limits import Budget
    from dhp.plugins.batch.deferral import BatchDeferral


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
        metadata=option(
            "Read replies from this file of batch results, or from all that fit a pattern in quotes.",
            metavar="FILE.jsonl",
            many=True,
        ),
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
        check_provider(self.batch)

    @property
    def given(self) -> bool:
        """Whether anything is to be written, read or sent."""
        named = self.batch_write is not None or bool(self.batch_read) or self.batch is not None
        return named and not self.dry

    def for_dry_run(self) -> "BatchSettings":
        """These settings where nothing is asked; raises `InputError` where files are written or read."""
        if self.batch_write is not None or self.batch_read:
            raise InputError("`dry_run`: counts what is not stored; leave out `batch_write` and `batch_read`")
        return replace(self, dry=True)

    def open(self, cache: Path, budget: "Budget") -> "BatchDeferral":
        """The batches of a run; what was sent to a provider is kept in the folder `cache`.

        A run that goes on after its batches were fetched goes on with its budget, else with `budget`.
        """
        from dhp.plugins.batch.deferral import BatchDeferral
        from dhp.plugins.batch.files import BatchResults, BatchWriter, result_files
        from dhp.plugins.batch.jobs import RemoteBatches

        budget = self.carried.pop() if self.carried else budget
        if self.dry:
            return BatchDeferral(budget, provider=self.batch)
        remote = RemoteBatches(cache)
        if self.batch is not None:
            check_key(self.batch)
            return BatchDeferral(
                budget,
                writer=BatchWriter(remote.new_file()),
                remote=remote,
                provider=self.batch,
                carried=self.carried,
            )
        return BatchDeferral(
            budget,
            results=BatchResults(result_files(self.batch_read)),
            writer=None if self.batch_write is None else BatchWriter(Path(self.batch_write)),
            remote=remote,
        )
