"""Batches at OpenAI or a compatible server through the package `openai`."""

import itertools
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dhp.plugins.batch.providers import State

_ENDED = ("completed", "expired", "cancelled", "failed")
_TAG = "dhp"
_LATEST = 1000
"""Batches that are looked through for a lost one."""


class OpenAIBatches:
    """See `Provider`; a batch has its tag in its metadata."""

    def __init__(self, endpoint: str) -> None:
        import openai

        self._client = openai.OpenAI(base_url=endpoint)

    def submit(self, path: Path, tag: str) -> str:
        with path.open("rb") as file:
            sent = self._client.files.create(file=file, purpose="batch")
        once = self._client.with_options(max_retries=0)  # a lost answer does not mean a lost batch
        batch = once.batches.create(
            input_file_id=sent.id,
            endpoint="/v1/chat/completions",
            completion_window="24h",
            metadata={_TAG: tag},
        )
        return batch.id

    def find(self, tag: str, count: int, since: float, known: Collection[str]) -> str | None:
        for batch in itertools.islice(self._client.batches.list(limit=100), _LATEST):
            if (batch.metadata or {}).get(_TAG) == tag:
                return batch.id
        return None

    def state(self, batch: str) -> State:
        found = self._client.batches.retrieve(batch)
        counts = found.request_counts
        said = f"{found.status}, {counts.completed} of {counts.total} answered" if counts else found.status
        errors = found.errors.data if found.errors and found.errors.data else []
        failed = "; ".join(error.message or error.code or "" for error in errors[:3]) or "no reason given"
        return State(said, found.status in _ENDED, failed if found.status == "failed" else "")

    def results(self, batch: str) -> Iterator[Mapping[str, Any]]:
        found = self._client.batches.retrieve(batch)
        for file in (found.output_file_id, found.error_file_id):
            if file:
                with self._client.files.with_streaming_response.content(file) as answer:
                    yield from _json_lines(answer.iter_bytes())

    def cancel(self, batch: str) -> None:
        self._client.batches.cancel(batch)


def _json_lines(pieces: Iterable[bytes]) -> Iterator[Any]:
    """The values of lines that end by a line feed alone, from pieces of any size."""
    rest = b""
    for piece in itertools.chain(pieces, [b"\n"]):
        *whole, rest = (rest + piece).split(b"\n")
        yield from (json.loads(line) for line in whole if line.strip())
