"""Records of batches that were sent to a provider, on disk.

In the folder `batches` beside the store: `NAME.jsonl` with the requests, `NAME.json` with what became of
them, `NAME.results.jsonl` once they are answered. NAME is the tag that the provider keeps with the batch.
"""

import json
import sqlite3
import uuid
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from dhp.core.errors import InputError
from dhp.core.files import read_json, reason, write_whole

_FOLDER = "batches"
OPEN = ("to send", "sent")
_LONGEST_LOCK = 3600.0
"""Seconds that another process may take to send its batches."""


@dataclass(frozen=True, slots=True)
class Job:
    """A batch as it is kept on disk."""

    name: str
    provider: str
    model: str
    endpoint: str
    requests: int
    created: float
    """Time of creation, in seconds since 1970."""
    state: str
    """`to send`, `sent`, `ended` (its results are here), `stored` (so are all of them), `failed` or
    `cancelled`."""
    batch: str = ""
    """Its name at the provider."""

    @property
    def place(self) -> str:
        """Description for messages."""
        return f"batch {self.batch or self.name} at {self.provider}"


class JobFolder:
    """Batches, one after the other as they were made."""

    def __init__(self, cache: Path) -> None:
        self.folder = cache / _FOLDER

    @property
    def changed(self) -> int:
        """When a batch was last written down, by whatever process."""
        try:
            return self.folder.stat().st_mtime_ns
        except OSError:
            return 0

    def jobs(self) -> list[Job]:
        """All batches, the oldest first; raises `InputError` for a file that is none."""
        found = []
        for path in self.folder.glob("*.json"):
            try:
                found.append(Job(**read_json(path)))
            except TypeError:
                raise InputError(f"{path}: is not a batch of dhp; remove it from the folder") from None
        return sorted(found, key=lambda job: (job.created, job.name))

    def of(self, model: str, endpoint: str) -> list[Job]:
        """The batches of a model that are in work, or whose results are not all stored."""
        wanted = (*OPEN, "ended")
        return [j for j in self.jobs() if (j.model, j.endpoint) == (model, endpoint) and j.state in wanted]

    def in_flight(self, jobs: Iterable[Job]) -> dict[str, tuple[Job, int]]:
        """custom_id -> (batch, samples) of all requests in work."""
        return {
            custom_id: (job, count)
            for job in jobs
            if job.state in OPEN
            for custom_id, count in self._lines(job)
        }

    def results(self, jobs: Iterable[Job]) -> list[Path]:
        """The files of results."""
        return [self._results(job) for job in jobs if job.state == "ended"]

    def stored(self, results: Collection[Path]) -> None:
        """Keep in mind that all these results are stored."""
        for job in self.jobs() if results else ():
            if job.state == "ended" and self._results(job) in results:
                self._keep(replace(job, state="stored"))

    def new_file(self) -> Path:
        """Where the requests of the next batch go."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / f"dhp-{uuid.uuid4().hex[:12]}.jsonl"

    def _keep(self, job: Job) -> Job:
        text = json.dumps(asdict(job), indent=1)
        write_whole(self.folder / f"{job.name}.json", lambda path: path.write_text(text))
        return job

    def _results(self, job: Job) -> Path:
        return self.folder / f"{job.name}.results.jsonl"

    def _lines(self, job: Job) -> Iterator[tuple[str, int]]:
        """custom_id and samples of each request."""
        path = self.folder / f"{job.name}.jsonl"
        try:
            with path.open("rb") as lines:
                for raw in lines:
                    line = json.loads(raw)
                    yield line["custom_id"], line["body"].get("n", 1)
        except (OSError, ValueError, KeyError) as e:
            raise InputError(
                f"{path}: the requests of {job.place} cannot be read ({reason(e)}); restore the file, or "
                f"cancel them by dhp batch cancel {job.name}"
            ) from None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One process at a time; a kill lets the next one in."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / "lock"
        try:
            lock = sqlite3.connect(path, timeout=_LONGEST_LOCK, isolation_level=None)
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as e:
            raise InputError(f"{path}: cannot be locked ({reason(e)})") from None
        with closing(lock):
            yield
