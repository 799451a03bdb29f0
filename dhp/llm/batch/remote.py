"""Batches at a provider: sending, waiting, fetching; each step is recorded on disk before the next."""

import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from dhp.core.errors import InputError, StoppedEarly
from dhp.core.files import reason, write_lines
from dhp.llm.batch.jobs import OPEN, Job, JobFolder
from dhp.llm.batch.lines import read_result_line
from dhp.llm.batch.providers.api import Provider, open_provider
from dhp.llm.batch.writer import Part

T = TypeVar("T")
_FIRST_WAIT = 1.0
_LONGEST_WAIT = 60.0
"""Seconds between looks at a batch."""
_REFUSED = (400, 401, 403, 404, 413, 422)
"""Statuses after which the provider holds nothing of what it was sent."""


class Answered(StoppedEarly):
    """Batches that a run waited for have been fetched: the run can go on at once."""


class BatchGone(InputError):
    """The provider does not know a batch, or holds its results no more."""


class RemoteBatches(JobFolder):
    """The batches of a folder at their providers."""

    def send(self, provider: str, parts: Sequence[Part], known: Collection[str]) -> set[str]:
        """Put files of requests down as batches, and send them; returns their names.

        Raises `Answered` where another process has sent some of the requests meanwhile: `known` are the
        names of the batches that were there when the files were begun.
        """
        with self._alone():
            later = [job for job in self.jobs() if job.name not in known and job.state != "failed"]
            made = []
            for part in parts:
                about = part.path.stem, provider, part.model, part.endpoint, part.requests
                made.append(Job(*about, time.time(), "to send"))
            sent = {custom_id for job in later for custom_id, _ in self._lines(job)}
            if any(custom_id in sent for job in made if sent for custom_id, _ in self._lines(job)):
                for part in parts:
                    part.path.unlink()
                raise Answered("another run has sent the same requests; repeat the command to resume")
            for job in made:
                self._keep(job)
            for job in made:
                self._send(job, open_provider(provider, job.endpoint))
        return {job.name for job in made}

    def wait(self, names: Collection[str]) -> None:
        """Wait until batches have ended; what was not sent is sent."""
        seconds = _FIRST_WAIT
        said: dict[str, str] = {}

        def open_jobs() -> list[Job]:
            return [job for job in self.jobs() if job.name in names and job.state in OPEN]

        while True:
            for job in open_jobs():
                self._fetch(job, said)
            if not open_jobs():
                return
            time.sleep(seconds)
            seconds = min(2 * seconds, _LONGEST_WAIT)

    def cancel(self, name: str) -> Job:
        """Cancel a batch, by its name here or at the provider; fetches what was answered if it has ended.

        Raises
        ------
        InputError
            If there is none, or it is not in work.
        """
        with self._alone():
            job = next((j for j in self.jobs() if name in (j.name, j.batch)), None)
            if job is None:
                raise InputError(f"batch '{name}': is not in {self.folder}; dhp batch list shows all batches")
            if job.state not in OPEN:
                raise InputError(f"batch '{name}': is {job.state}; allowed: a running one")
            provider = open_provider(job.provider, job.endpoint)
            batch = job.batch or self._find(job, provider)
            if batch is None:
                return self._keep(replace(job, state="cancelled"))
            job = self._keep(replace(job, state="sent", batch=batch))
            try:
                if not _call(job, lambda: provider.state(batch)).ended:
                    _call(job, lambda: provider.cancel(batch))
                ended = _call(job, lambda: provider.state(batch)).ended
                return self._collect(job, provider) if ended else job
            except BatchGone:
                return self._keep(replace(job, state="cancelled"))

    def _find(self, job: Job, provider: Provider) -> str | None:
        """A batch at the provider whose name was lost."""
        known = {other.batch for other in self.jobs()}
        return _call(job, lambda: provider.find(job.name, job.requests, job.created, known))

    def _send(self, job: Job, provider: Provider) -> Job:
        """Send a batch; raises `InputError` or `StoppedEarly` where that fails, and nothing is lost."""
        path = self.folder / f"{job.name}.jsonl"
        try:
            batch = _call(job, lambda: provider.submit(path, job.name))
        except InputError:
            self._keep(replace(job, state="failed"))
            raise
        job = self._keep(replace(job, state="sent", batch=batch))
        _say(f"{job.model}: {job.requests:,} requests sent to {job.provider} as batch {batch}")
        return job

    def _fetch(self, job: Job, said: dict[str, str]) -> None:
        """Look at a batch; if it has ended, its results are on disk after that."""
        provider = open_provider(job.provider, job.endpoint)
        if job.state == "to send":  # stopped between sending and writing that down, or before
            with self._alone():
                if (job := next(j for j in self.jobs() if j.name == job.name)).state == "to send":
                    found = self._find(job, provider)
                    known = found and self._keep(replace(job, state="sent", batch=found))
                    job = known or self._send(job, provider)
        state = _call(job, lambda: provider.state(job.batch))
        if state.failed:
            self._keep(replace(job, state="failed"))
            raise InputError(f"{job.place}: was refused ({state.failed})")
        if said.get(job.name) != state.said:
            said[job.name] = state.said
            _say(f"{job.place}: {state.said}")
        if state.ended:
            self._check(self._collect(job, provider))

    def _collect(self, job: Job, provider: Provider) -> Job:
        """Write the results of a batch that has ended."""

        def lines() -> Iterator[str]:
            results = _call(job, lambda: iter(provider.results(job.batch)))
            while (line := _call(job, lambda: next(results, None))) is not None:
                yield json.dumps(line) + "\n"

        write_lines(self._results(job), lines())
        return self._keep(replace(job, state="ended"))

    def _check(self, job: Job) -> None:
        """Tell the errors by kind; raises `StoppedEarly` where there are no answers at all."""
        kinds: Counter[str] = Counter()
        lacking = {custom_id for custom_id, _ in self._lines(job)}
        with self._results(job).open("rb") as lines:
            for raw in lines:
                result = read_result_line(job.place, raw)
                if result.custom_id in lacking:
                    lacking.discard(result.custom_id)
                    kinds.update([result.kind] if result.problem else [])
        if lacking:
            kinds["without a result"] = len(lacking)
        said = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
        if kinds:
            _say(f"{job.place}: of {job.requests:,} requests failed {said}")
        if kinds.total() >= job.requests:
            raise StoppedEarly(
                f"{job.place}: no request was answered ({said}); repeat the command to send them again"
            )


def _call(job: Job, call: Callable[[], T]) -> T:
    """What a call to the provider gives; its failures in one line."""
    try:
        return call()
    except (InputError, StoppedEarly):
        raise
    except Exception as e:  # noqa: BLE001  each package has errors of its own
        status = getattr(e, "status_code", None) or getattr(e, "code", None)
        if status == 404 and job.batch:
            raise BatchGone(
                f"{job.place}: {reason(e)}; dhp batch cancel {job.name} cancels it, so that its requests "
                "can be sent again"
            ) from None
        kind = InputError if status in _REFUSED else StoppedEarly
        raise kind(f"{job.place}: {reason(e)}; nothing is lost, repeat the command to resume") from None


def _say(message: str) -> None:
    logging.getLogger("dhp").warning(message)
