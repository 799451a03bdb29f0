"""Batches at a provider: sent, awaited and fetched. Each step is on disk before the next: none is paid twice.

In the folder `batches` beside the store: `NAME.jsonl` with the requests, `NAME.json` with what became of
them, `NAME.results.jsonl` once they are answered. NAME is the tag that the provider keeps with the batch.
"""

import json
import logging
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypeVar

from dhp.core.errors import InputError, StoppedEarly
from dhp.core.files import read_json, reason, write_whole
from dhp.llm.batch.lines import read_result_line
from dhp.llm.batch.providers.api import Provider, open_provider
from dhp.llm.batch.writer import Part

T = TypeVar("T")
FOLDER = "batches"
OPEN = ("to send", "sent")
_FIRST_WAIT = 1.0
_LONGEST_WAIT = 60.0
"""Seconds between looks at a batch."""


class Answered(StoppedEarly):
    """Batches that a run waited for have been fetched: the run can go on at once."""


@dataclass(frozen=True, slots=True)
class Job:
    """A batch as it is kept on disk."""

    name: str
    provider: str
    model: str
    endpoint: str
    requests: int
    created: float
    """Seconds since 1970."""
    state: str
    """`to send`, `sent`, `ended`, `failed` or `cancelled`."""
    batch: str = ""
    """Its name at the provider."""


class RemoteBatches:
    """The batches of a folder."""

    def __init__(self, cache: Path) -> None:
        self.folder = cache / FOLDER

    def jobs(self) -> list[Job]:
        """All batches, the oldest first; raises `InputError` for a file that is none."""
        found = []
        for path in self.folder.glob("*.json"):
            try:
                found.append(Job(**read_json(path)))
            except TypeError:
                raise InputError(f"{path}: is no batch of dhp; take it out of the folder") from None
        return sorted(found, key=lambda job: (job.created, job.name))

    def in_flight(self) -> dict[str, tuple[str, int]]:
        """custom_id -> (batch, samples) of all requests without results."""
        found = {}
        for job in self.jobs():
            if job.state in OPEN:
                for name, count in self._lines(job):
                    found[name] = f"{job.name} at {job.provider}", count
        return found

    def results(self) -> list[Path]:
        """The files of results."""
        return sorted(self.folder.glob("*.results.jsonl"))

    def new_file(self) -> Path:
        """Where the requests of the next batch go."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / f"dhp-{uuid.uuid4().hex[:12]}.jsonl"

    def send(self, provider: str, parts: Sequence[Part]) -> None:
        """Put files of requests down as batches, and send them."""
        for part in parts:
            job = Job(
                *(part.path.stem, provider, part.model, part.endpoint),
                requests=part.requests,
                created=time.time(),
                state="to send",
            )
            self._keep(job)
        for job in self.jobs():
            if job.state == "to send" and job.provider == provider:
                self._send(job)

    def fetch(self, provider: str) -> int:
        """Send what was not sent, fetch what has ended; returns how many are still in work."""
        left = 0
        for job in self.jobs():
            if job.provider != provider or job.state not in OPEN:
                continue
            left += not self._fetch(job)
        return left

    def wait(self, provider: str) -> None:
        """Wait until all batches of a provider have ended; raises `Answered` then."""
        seconds = _FIRST_WAIT
        while self.fetch(provider):
            time.sleep(seconds)
            seconds = min(2 * seconds, _LONGEST_WAIT)
        raise Answered("the batches have been fetched; the same command goes on from here")

    def cancel(self, name: str) -> Job:
        """Cancel a batch, by its name here or at the provider; what was answered by then is fetched later.

        Raises
        ------
        InputError
            If there is none, or it is not in work.
        """
        job = next((j for j in self.jobs() if name in (j.name, j.batch)), None)
        if job is None:
            raise InputError(f"batch '{name}': is not in {self.folder}; dhp batch list shows those that are")
        if job.state not in OPEN:
            raise InputError(f"batch '{name}': is {job.state}; allowed: one in work")
        provider = open_provider(job.provider, job.endpoint)
        batch = job.batch or provider.find(job.name, job.requests, job.created)
        if batch is None:
            self._keep(replace(job, state="cancelled"))
        else:
            _asked(job, lambda: provider.cancel(batch))
            self._keep(job := replace(job, state="sent", batch=batch))
        return job

    def _send(self, job: Job, provider: Provider | None = None) -> Job:
        """Send a batch; raises `InputError` or `StoppedEarly` where that fails, and nothing is lost."""
        provider = provider or open_provider(job.provider, job.endpoint)
        path = self.folder / f"{job.name}.jsonl"
        batch = _asked(job, lambda: provider.submit(path, job.name))
        self._keep(job := replace(job, state="sent", batch=batch))
        _say(f"{job.model}: {job.requests:,} requests sent to {job.provider} as batch {batch}")
        return job

    def _fetch(self, job: Job) -> bool:
        """Whether a batch has ended; its results are on disk then."""
        provider = open_provider(job.provider, job.endpoint)
        if job.state == "to send":  # stopped between sending and writing that down, or before
            found = _asked(job, lambda: provider.find(job.name, job.requests, job.created))
            if found is None:
                job = self._send(job, provider)
            else:
                self._keep(job := replace(job, state="sent", batch=found))
        state = _asked(job, lambda: provider.state(job.batch))
        if state.failed:
            self._keep(replace(job, state="failed"))
            raise InputError(f"batch {job.batch} at {job.provider}: was refused ({state.failed})")
        _say(f"batch {job.batch} at {job.provider}: {state.said}")
        if not state.ended:
            return False
        lines = _asked(job, lambda: list(provider.results(job.batch)))
        text = "".join(json.dumps(line) + "\n" for line in lines)
        write_whole(self.folder / f"{job.name}.results.jsonl", lambda path: path.write_text(text))
        self._keep(replace(job, state="ended"))
        self._check(job, lines)
        return True

    def _check(self, job: Job, lines: Sequence[Mapping[str, object]]) -> None:
        """Tell the errors by kind; raises `StoppedEarly` where there are no answers at all."""
        kinds: dict[str, int] = {}
        for line in lines:
            result = read_result_line(f"batch {job.batch}", json.dumps(line).encode())
            if result.problem is not None:
                kinds[result.kind] = kinds.get(result.kind, 0) + 1
        if lacking := job.requests - len(lines):
            kinds["without a result"] = lacking
        said = ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())
        if kinds:
            _say(f"batch {job.batch} at {job.provider}: of {job.requests:,} requests failed {said}")
        if sum(kinds.values()) >= job.requests:
            raise StoppedEarly(
                f"batch {job.batch} at {job.provider}: no request was answered ({said}); the same command "
                "sends them again"
            )

    def _keep(self, job: Job) -> None:
        text = json.dumps(asdict(job), indent=1)
        write_whole(self.folder / f"{job.name}.json", lambda path: path.write_text(text))

    def _lines(self, job: Job) -> Iterator[tuple[str, int]]:
        with (self.folder / f"{job.name}.jsonl").open("rb") as lines:
            for raw in lines:
                line = json.loads(raw)
                yield line["custom_id"], line["body"].get("n", 1)


def _asked(job: Job, call: Callable[[], T]) -> T:
    """What a call to the provider gives; its failures in one line."""
    try:
        return call()
    except (InputError, StoppedEarly):
        raise
    except Exception as e:  # noqa: BLE001  each package has errors of its own
        status = getattr(e, "status_code", None) or getattr(e, "code", None)
        kind = InputError if status in (400, 401, 403, 404) else StoppedEarly
        raise kind(
            f"batch {job.batch or job.name} at {job.provider}: {reason(e)}; nothing is lost, the same "
            "command goes on from here"
        ) from None


def _say(message: str) -> None:
    logging.getLogger("dhp").warning(message)
