"""Batches at OpenAI, or at a server that speaks its protocol, through the package `openai`."""

import itertools
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dhp.core.errors import InputError
from dhp.llm.batch.providers.api import State

if TYPE_CHECKING:
    import openai

_ENDED = ("completed", "expired", "cancelled", "failed")
_TAG = "dhp"
_LATEST = 1000
"""Batches that are looked through for a lost one."""


class OpenAIBatches:
    """See `Provider`; a batch bears its tag in its metadata."""

    many = True

    def __init__(self, client: "openai.OpenAI") -> None:
        self._client = client

    def submit(self, path: Path, tag: str) -> str:
        with path.open("rb") as file:
            sent = self._client.files.create(file=file, purpose="batch")
        batch = self._client.batches.create(
            input_file_id=sent.id,
            endpoint="/v1/chat/completions",
            completion_window="24h",
            metadata={_TAG: tag},
        )
        return batch.id

    def find(self, tag: str, count: int, since: float) -> str | None:
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
            for line in self._client.files.content(file).text.split("\n") if file else ():
                if line.strip():
                    yield json.loads(line)

    def cancel(self, batch: str) -> None:
        self._client.batches.cancel(batch)


def opened(endpoint: str) -> OpenAIBatches:
    """The provider at an address; raises `InputError` without a key."""
    import openai

    if not os.environ.get("OPENAI_API_KEY", "").strip():
        raise InputError("`batch` openai: there is no key in OPENAI_API_KEY; set it")
    return OpenAIBatches(openai.OpenAI(base_url=endpoint))
