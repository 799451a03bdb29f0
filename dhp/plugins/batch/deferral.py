"""Batches of a run: replies that are read, and requests that are written or sent."""

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from dhp.core.errors import Answered, InputError, StoppedEarly
from dhp.llm.api import Client, LocalModel
from dhp.llm.clients.connection import OPENAI_URL
from dhp.llm.clients.openai_client import OpenAIClient
from dhp.llm.clients.servers import SERVERS
from dhp.llm.limits import Budget
from dhp.llm.records import Failure, Outcomes, Reply, Request
from dhp.plugins.batch.files import BatchResults, BatchWriter, Part
from dhp.plugins.batch.jobs import Job, RemoteBatches
from dhp.plugins.batch.providers import check_address, takes_many

_WRITABLE = ("openai/", "litellm/", *(f"{name}/" for name in SERVERS))


@dataclass(frozen=True, slots=True)
class _SentBatches:
    """What was sent for one model earlier."""

    jobs: list[Job]
    in_flight: Mapping[str, tuple[Job, int]]
    """custom_id -> batch and number of samples, of requests that are not answered yet."""
    results: BatchResults


class BatchDeferral:
    """The batches of one run: results that came, and requests that are written or sent.

    A line of a batch asks for one or more samples of a request that follow one another; its custom_id is the
    store's key of the first of them. `results` came back in files that the user gave, `remote` is what was
    sent to providers, now or earlier. Without a writer requests are asked at once. At the limit of the budget
    no more is written; `carried` takes it when all that was sent has ended, before the run starts again.
    """

    def __init__(
        self,
        budget: Budget,
        *,
        results: BatchResults | None = None,
        writer: BatchWriter | None = None,
        remote: RemoteBatches | None = None,
        provider: str | None = None,
        carried: list[Budget] | None = None,
    ) -> None:
        self.budget = budget
        self.many = provider is None or takes_many(provider)
        self.discounted = provider is not None
        self._results = results or BatchResults([])
        self._writer = writer
        self._remote = remote
        self._provider = provider
        self._carried = [] if carried is None else carried
        self._known = [job.name for job in remote.jobs()] if remote and provider else []
        self._sent: dict[tuple[str, str], _SentBatches] = {}
        self._seen = 0
        self._written: set[str] = set()
        self._waits_for: dict[str, Job] = {}
        self._limit = ""

    def check(self, model: str, endpoint: str | None = None) -> None:
        """Raise `InputError` for a model whose requests cannot be written, or that is not of the provider."""
        if self._writer is None:
            return
        if not model.startswith(_WRITABLE):
            raise InputError(f"{model}: takes no batch files; allowed with them: openai/NAME")
        if self._provider is not None and endpoint is not None:
            check_address(self._provider, model, endpoint)

    def before_asking(self, model: str, others: Collection[str]) -> None:
        """Raise `InputError` where results were given and none belongs to this run, as far as it is known."""
        self._results.check_claimed(model, others)

    def concerns(self, model: Client | LocalModel) -> bool:
        """Whether requests to a model may have come by batch, wait in one, or are to be written."""
        if self._writer is None and self._remote and (changed := self._remote.changed) != self._seen:
            self._seen = changed  # another process has sent or fetched
            self._sent.clear()
        return self._writer is not None or len(self._results) > 0 or bool(self._of(model).jobs)

    def received(
        self, model: Client | LocalModel, request: Request, keys: Mapping[int, bytes], missing: Container[int]
    ) -> Outcomes:
        """What came back for the samples of a request; lines that hold nothing `missing` are not read."""
        found: dict[int, Reply | Failure] = {}
        failures: dict[int, Failure] = {}
        if not isinstance(model, OpenAIClient):
            return found
        for index, sample in enumerate(request.samples):
            following = request.samples[index:]
            name = keys[sample].hex()
            for results in (self._results, self._of(model).results):
                if not results.claim(name) or not any(each in missing for each in following):
                    continue
                came = results.read(name, model.body(request, (sample,)))
                if isinstance(came, Failure):
                    failures |= dict.fromkeys(following, came)
                elif came is not None:
                    found = {**dict(zip(following, came, strict=False)), **found}
        return {**failures, **found}

    def defers(
        self,
        model: Client | LocalModel,
        request: Request,
        missing: Mapping[int, bytes],
        prompt_tokens: float,
    ) -> bool:
        """Whether samples of a request are in flight, or written by this call."""
        left = list(missing)
        in_flight = self._of(model).in_flight
        for index, sample in enumerate(request.samples):
            if found := in_flight.get(missing.get(sample, b"").hex()):
                batch, count = found
                self._waits_for[batch.name] = batch
                left = [s for s in left if s not in request.samples[index : index + count]]
        if self._writer is not None and isinstance(model, OpenAIClient):
            for samples in self._together(model, request, left):
                self._write(self._writer, model, request, samples, missing[samples[0]].hex(), prompt_tokens)
            return True
        return len(left) < len(missing)

    def stop_if_waiting(self, *, whole: bool) -> None:
        """Give written files their names, or send them; raise `StoppedEarly` where requests wait.

        Where the run is at its end, `whole`, results that belong to none of its requests are reported.
        """
        if self._remote is not None:
            self._remote.stored({path for sent in self._sent.values() for path in sent.results.used_up()})
        parts = self._parts()
        if self._remote and self._provider and (parts or self._waits_for):
            self._remote.wait({*self._waits_for} | self._remote.send(self._provider, parts, self._known))
            if not self._limit:
                self._carried.append(self.budget)
                raise Answered("the batches have been fetched; repeat the command to resume")
        elif parts:
            self._results.report(whole=False)
            said = ", ".join(f"{part.path} ({part.requests:,} requests to {part.model})" for part in parts)
            limit = f"; {self._limit}" if self._limit else ""
            raise StoppedEarly(
                f"{said}: have them answered, then repeat the command with `batch_read`{limit}"
            )
        if self._limit:
            raise StoppedEarly(self._limit)
        if self._waits_for:
            said = ", ".join(f"{job.name} at {job.provider}" for job in self._waits_for.values())
            by = " and ".join(sorted({f"`batch` {job.provider}" for job in self._waits_for.values()}))
            raise StoppedEarly(
                f"requests wait in the batch {said}; {by} fetches the answers, "
                "dhp batch cancel cancels the batch"
            )
        if whole:
            self._results.report(whole=True)

    def _of(self, model: Client | LocalModel) -> _SentBatches:
        """What was sent for a model; read once."""
        key = model.model, model.endpoint
        if key not in self._sent:
            remote = self._remote
            jobs = remote.of(*key) if remote else []
            paths = remote.results(jobs) if remote else []
            results = BatchResults(paths, own=False, failures=self._provider is not None)
            self._sent[key] = _SentBatches(jobs, remote.in_flight(jobs) if remote else {}, results)
        return self._sent[key]

    def _parts(self) -> list[Part]:
        """The files that were written, whole and with their names."""
        if self._writer is None:
            return []
        if self._written:
            try:
                self._results.check_claimed()
            except InputError:
                self._writer.discard()
                raise
        return self._writer.close()

    def _together(self, model: Client, request: Request, missing: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Samples that follow one another in the request, as many as one call may ask for."""
        indices = [index for index, sample in enumerate(request.samples) if sample in missing]
        one_by_one = not (model.many and self.many)
        starts = [i for i, (a, b) in enumerate(pairwise([-2, *indices])) if b > a + 1 or one_by_one]
        for start, end in pairwise([*starts, len(indices)]):
            yield tuple(request.samples[index] for index in indices[start:end])

    def _write(
        self,
        writer: BatchWriter,
        model: OpenAIClient,
        request: Request,
        samples: tuple[int, ...],
        name: str,
        prompt_tokens: float,
    ) -> None:
        if name in self._written or self._limit:
            return
        try:
            self.budget.reserve(prompt_tokens, request.params.max_tokens * len(samples))
        except StoppedEarly as e:
            self._limit = str(e)
            return
        self._written.add(name)
        body = model.body(request, samples)
        if model.endpoint == OPENAI_URL and "max_tokens" in body:
            body["max_completion_tokens"] = body.pop("max_tokens")  # its newer models refuse the older name
        writer.add(model.model, model.endpoint, name, body)
