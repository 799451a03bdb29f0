"""Batches at providers: sending, waiting, fetching; each step is recorded on disk before the next.

In the folder `batches` beside the store: `NAME.jsonl` with the requests, `NAME.keys.jsonl` with the keys of
their replies, `NAME.json` with the state of the batch, `NAME.results.jsonl` once they are answered. NAME is
the tag that the provider keeps with the batch. While a batch is in work, the store holds its samples.
"""

import json
import logging
import time
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock, Timeout

from dhp.core.errors import InputError, StoppedEarly
from dhp.core.files import read_json, reason
from dhp.core.writing import check_place, inner_folder, write_lines
from dhp.llm.clients.responses import parameter_advice
from dhp.llm.records import Reply
from dhp.llm.store import FILE, Store, rows
from dhp.plugins.batch.providers import Provider, State, open_provider, providers
from dhp.plugins.batch.request_files import Part, keys_file
from dhp.plugins.batch.results import BatchResults, read_result_line

T = TypeVar("T")

_FOLDER = "batches"
"""Name of the folder beside the store."""

_OPEN = ("to send", "sent")
"""States of a batch whose answers are still awaited."""

_FIRST_WAIT = 1.0
_LONGEST_WAIT = 60.0
"""Seconds between looks at a batch; each wait is twice the one before. Chosen: batches take hours."""

_LONGEST_LOCK = 3600.0
"""Seconds that another process may take to send its batches. Chosen: files are up to 200 MB."""

_FETCHES = 3
"""How often results are fetched that are shorter than the provider says. Chosen."""

_REFUSED = (400, 401, 403, 404, 413, 422)
"""HTTP statuses after which the provider holds nothing of what it was sent."""


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
    """`to send`, `sent`, `stored` (each request has a stored reply), `ended` (some have not), `failed` or
    `cancelled`."""
    batch: str = ""
    """Its name at the provider."""

    @property
    def place(self) -> str:
        """Description for messages."""
        return f"batch {self.batch or self.name} at {self.provider}"

    @property
    def holder(self) -> str:
        """Name under which the store holds its samples."""
        return f"the batch {self.name} at {self.provider}"


class BatchGone(InputError):
    """The provider does not know a batch, or no longer holds its results."""


class RemoteBatches:
    """The batches of a folder, which were sent to providers or are to be."""

    def __init__(self, cache: Path) -> None:
        self.folder = cache / _FOLDER
        self.store = Store(cache / FILE)

    def jobs(self) -> list[Job]:
        """All batches, the oldest first; raises `InputError` for any other file."""
        jobs = []
        for path in self.folder.glob("*.json"):
            try:
                jobs.append(Job(**read_json(path)))
            except TypeError:
                raise InputError(f"{path}: is not a batch of dhp; remove it from the folder") from None
        return sorted(jobs, key=lambda job: (job.created, job.name))

    def of(self, model: str, endpoint: str) -> list[Job]:
        """The batches of a model that are in work, or have ended without a reply to each request."""
        wanted = (*_OPEN, "ended")
        jobs = []
        for job in self.jobs():
            if job.model == model and job.endpoint == endpoint and job.state in wanted:
                jobs.append(job)
        return jobs

    def in_flight(self, jobs: Iterable[Job]) -> dict[str, tuple[str, int]]:
        """custom_id -> (name of the batch, samples) of all requests in work."""
        waiting = {}
        for job in jobs:
            if job.state in _OPEN:
                for custom_id, body in self._requests(job):
                    waiting[custom_id] = job.name, body.get("n", 1)  # without `n` one sample is asked for
        return waiting

    def results(self, jobs: Iterable[Job]) -> list[Path]:
        """The files of results."""
        return [self._results(job) for job in jobs if job.state == "ended"]

    def new_file(self) -> Path:
        """Where the requests of the next batch go."""
        inner_folder(self.folder.parent, self.folder.name)
        return self.folder / f"dhp-{uuid.uuid4().hex[:12]}.jsonl"

    def send(self, provider: str, parts: Sequence[Part], known: Collection[str]) -> set[str]:
        """Put files of requests down as batches, and send them; returns the names of the batches.

        If another process has sent some of the requests meanwhile, nothing is sent and the files are removed.
        `known` are the names of the batches that were there when the files were begun.
        """
        with self._alone():
            begun_meanwhile = []
            for job in self.jobs():
                if job.name not in known and job.state != "failed":
                    begun_meanwhile.append(job)

            made = []
            for part in parts:
                about = part.path.stem, provider, part.model, part.endpoint, part.requests
                made.append(Job(*about, time.time(), "to send"))

            # Files are large, so they are read only if there is something to hold them against.
            if begun_meanwhile and self._names(begun_meanwhile) & self._names(made):
                for part in parts:
                    part.path.unlink()
                    keys_file(part.path).unlink()
                return set()

            # All are on disk before the first is sent: what a kill leaves unsent is sent by the next command.
            for job in made:
                self._hold(job)
                self._keep(job)
            for job in made:
                self._send(job, open_provider(provider, job.endpoint))
        return {job.name for job in made}

    def _names(self, jobs: Iterable[Job]) -> set[str]:
        """The custom_ids of all requests."""
        names = set()
        for job in jobs:
            for custom_id, _ in self._requests(job):
                names.add(custom_id)
        return names

    def _hold(self, job: Job) -> None:
        """Mark the samples of a batch in the store, so that a direct run does not ask for them."""
        held: list[bytes] = []
        for keyed in self._keys(job):
            held += map(bytes.fromhex, keyed["keys"].values())
        advice = f"`batch` {job.provider} fetches the answers, dhp batch cancel {job.name} cancels the batch"
        self.store.hold(held, job.holder, advice)

    def wait(self, names: Collection[str]) -> None:
        """Wait until batches have ended; what was not sent is sent."""
        seconds = _FIRST_WAIT
        printed: dict[str, str] = {}

        def open_jobs() -> list[Job]:
            return [job for job in self.jobs() if job.name in names and job.state in _OPEN]

        while True:
            for job in open_jobs():
                self._fetch(job, printed)
            if not open_jobs():
                return
            time.sleep(seconds)
            seconds = min(2 * seconds, _LONGEST_WAIT)

    def cancel(self, name: str) -> Job:
        """Cancel a batch, by its name here or at the provider; fetches what was answered if it has ended.

        Raises `InputError` if there is none, or it is not in work.
        """
        with self._alone():
            named = [job for job in self.jobs() if name in (job.name, job.batch)]
            if not named:
                return self._freed(name)
            job = named[0]
            if job.state not in _OPEN:
                raise InputError(f"batch '{name}': is {job.state}; must be a running one")
            provider = open_provider(job.provider, job.endpoint)
            batch = job.batch or self._find(job, provider)
            if batch is None:
                return self._give_up(job, "cancelled")
            job = self._keep(replace(job, state="sent", batch=batch))
            try:
                # A batch that has ended cannot be cancelled; one that is may end at once, or later.
                if not _call(job, lambda: provider.state(batch)).ended:
                    _call(job, lambda: provider.cancel(batch))
                ended = _call(job, lambda: provider.state(batch)).ended
                return self._collect(job, provider) if ended else job
            except BatchGone:
                return self._give_up(job, "cancelled")

    def _freed(self, name: str) -> Job:
        """A batch whose files are gone, while the store held samples for it; these are free after that.

        Raises `InputError` if the store holds none.
        """
        for provider in providers():
            job = Job(name, provider, "", "", 0, time.time(), "cancelled")
            if self.store.free(job.holder):
                return job
        raise InputError(f"batch '{name}': is not in {self.folder}; dhp batch list shows all batches")

    def _give_up(self, job: Job, state: str) -> Job:
        """Let its requests be sent again."""
        self.store.free(job.holder)
        return self._keep(replace(job, state=state))

    def _keep(self, job: Job) -> Job:
        text = json.dumps(asdict(job), indent=1)
        write_lines(self.folder / f"{job.name}.json", [text])
        return job

    def _results(self, job: Job) -> Path:
        return self.folder / f"{job.name}.results.jsonl"

    def _requests(self, job: Job) -> Iterator[tuple[str, dict[str, Any]]]:
        """custom_id and body of each request."""
        for line in self._lines(job, self.folder / f"{job.name}.jsonl"):
            yield line["custom_id"], line["body"]

    def _keys(self, job: Job) -> Iterator[dict[str, Any]]:
        """Run and keys of each request, see `keys_file`."""
        return self._lines(job, keys_file(self.folder / f"{job.name}.jsonl"))

    def _lines(self, job: Job, path: Path) -> Iterator[dict[str, Any]]:
        """The lines of a file of the batch; raises `InputError` if it is gone or broken."""
        try:
            with path.open("rb") as lines:
                yield from map(json.loads, lines)
        except (OSError, ValueError) as e:
            raise InputError(
                f"{path}: the requests of {job.place} cannot be read ({reason(e)}); restore the file, or "
                f"cancel them by dhp batch cancel {job.name}"
            ) from None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One process at a time; a kill lets the next one in."""
        inner_folder(self.folder.parent, self.folder.name)
        path = self.folder / "lock"
        check_place(path)
        try:
            lock = FileLock(path).acquire(timeout=_LONGEST_LOCK)
        except (Timeout, OSError, NotImplementedError) as e:
            raise InputError(f"{path}: cannot be locked ({reason(e)})") from None
        with lock:
            yield

    def _find(self, job: Job, provider: Provider) -> str | None:
        """A batch at the provider whose name was lost."""
        known = {other.batch for other in self.jobs()}
        return _call(job, lambda: provider.find(job.name, job.requests, job.created, known))

    def _send(self, job: Job, provider: Provider) -> Job:
        """Send a batch; raises `InputError` or `StoppedEarly` if that fails, and nothing is lost."""
        path = self.folder / f"{job.name}.jsonl"
        try:
            batch = _call(job, lambda: provider.submit(path, job.name))
        except InputError:
            self._give_up(job, "failed")
            raise
        job = self._keep(replace(job, state="sent", batch=batch))
        _say(f"{job.model}: {job.requests:,} requests sent to {job.provider} as batch {batch}")
        return job

    def _fetch(self, job: Job, printed: dict[str, str]) -> None:
        """Look at a batch; if it has ended, its results are on disk after that."""
        provider = open_provider(job.provider, job.endpoint)
        if job.state == "to send":
            job = self._send_late(job, provider)
        state = _call(job, lambda: provider.state(job.batch))
        if state.failed:
            self._give_up(job, "failed")
            raise InputError(f"{job.place}: was refused ({state.failed})")
        if printed.get(job.name) != state.progress:
            printed[job.name] = state.progress
            _say(f"{job.place}: {state.progress}")
        if state.ended:
            self._check(self._collect(job, provider, state))

    def _send_late(self, job: Job, provider: Provider) -> Job:
        """Send a batch whose command was stopped between sending it and writing that down, or before."""
        with self._alone():
            # Another process may have sent it while this one waited for the lock.
            (job,) = [other for other in self.jobs() if other.name == job.name]
            if job.state != "to send":
                return job
            batch = self._find(job, provider)
            if batch is None:
                return self._send(job, provider)
            return self._keep(replace(job, state="sent", batch=batch))

    def _collect(self, job: Job, provider: Provider, state: State | None = None) -> Job:
        """Write the results of a batch that has ended, and store its replies.

        They are fetched again if there are fewer than follows from its `state`; without one what is there
        is taken. Raises `StoppedEarly` if there still are, with nothing written.
        """
        least = job.requests if state and state.every else 0
        answers = state.answers if state else 0
        for _ in range(_FETCHES):
            results, came = self._fetch_results(job, provider)
            if results >= least and came >= answers:
                break
            time.sleep(_FIRST_WAIT)
        else:
            self._results(job).unlink()
            lacking = f"{came:,} of {answers:,} answers" if answers else f"{results:,} of {least:,} lines"
            raise StoppedEarly(
                f"{job.place}: its results hold {lacking}; repeat the command to fetch them again, or "
                f"take what is there by dhp batch cancel {job.name}"
            )
        whole = self._store_replies(job)
        self.store.free(job.holder)
        return self._keep(replace(job, state="stored" if whole else "ended"))

    def _fetch_results(self, job: Job, provider: Provider) -> tuple[int, int]:
        """Write the results of a batch; returns how many there are, and how many of them are answers."""
        results = answers = 0

        def lines() -> Iterator[str]:
            nonlocal results, answers
            fetched = _call(job, lambda: iter(provider.results(job.batch)))
            # Each step may ask the provider for more, so each is a call that may fail.
            line = _call(job, lambda: next(fetched, None))
            while line is not None:
                results += 1
                response = line.get("response")
                if isinstance(response, dict) and response.get("status_code") == 200:
                    answers += 1
                yield json.dumps(line) + "\n"
                line = _call(job, lambda: next(fetched, None))

        write_lines(self._results(job), lines())
        return results, answers

    def _store_replies(self, job: Job) -> bool:
        """Put the replies of a batch into the store; returns whether there is one to each sample."""
        results = BatchResults([self._results(job)], from_user=False)
        whole = True
        # The two files have a line each for the same requests, in the same order.
        for (custom_id, body), keyed in zip(self._requests(job), self._keys(job), strict=True):
            keys: dict[int, bytes] = {}
            for sample, key in keyed["keys"].items():
                keys[int(sample)] = bytes.fromhex(key)
            replies: dict[int, Reply] = {}
            if custom_id in results:
                with suppress(InputError):  # of a refused parameter; the next round tells it
                    came = results.read(custom_id, body)
                    if isinstance(came, list):
                        replies = dict(zip(keys, came, strict=False))  # fewer may come than were asked for
            if len(replies) < len(keys):
                whole = False
            self.store.add(rows(keys, job.model, job.endpoint, replies, keyed["run"]))
        return whole

    def _check(self, job: Job) -> None:
        """Tell the errors by kind.

        Raises `InputError` if there is no answer at all and a parameter is refused, which would be refused
        again, and `StoppedEarly` for any other reason.
        """
        kinds: Counter[str] = Counter()
        refused: set[str] = set()
        # Names of fields alone, as the bodies of a batch may be hundreds of megabytes.
        lacking = {}
        for custom_id, body in self._requests(job):
            lacking[custom_id] = tuple(body)
        with self._results(job).open("rb") as lines:
            for raw in lines:
                result = read_result_line(job.place, raw)
                fields = lacking.pop(result.custom_id, None)
                if fields is None or result.problem is None:
                    continue
                kinds[result.kind] += 1
                parameter = result.problem.parameter(fields)
                if parameter:
                    refused.add(parameter)
        if lacking:
            kinds["without a result"] = len(lacking)

        counted = [f"{count:,} {kind}" for kind, count in kinds.most_common()]
        counts = ", ".join(counted)
        if kinds:
            _say(f"{job.place}: of {job.requests:,} requests failed {counts}")
        if kinds.total() < job.requests:
            return
        if refused:
            advices = [f"'{name}': {parameter_advice(name)}" for name in sorted(refused)]
            advice = "; ".join(advices)
            raise InputError(
                f"{job.place}: no request was answered, as it refuses a parameter, {advice} ({counts})"
            )
        raise StoppedEarly(
            f"{job.place}: no request was answered ({counts}); repeat the command to send them again"
        )


def _call(job: Job, call: Callable[[], T]) -> T:
    """The result of a call to the provider; an error of its package becomes one line."""
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
