"""Batches of a run: replies that are read, and requests that are written or sent."""

from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from dhp.core.errors import InputError, StoppedEarly, Waiting
from dhp.llm.api import Client, LocalModel
from dhp.llm.batch.jobs import Job
from dhp.llm.batch.providers.api import check_address
from dhp.llm.batch.remote import Answered, RemoteBatches
from dhp.llm.batch.results import BatchResults
from dhp.llm.batch.writer import BatchWriter, Part
from dhp.llm.clients.connection import OPENAI_URL
from dhp.llm.clients.openai_client import OpenAIClient
from dhp.llm.records import Failure, Reply, Request
from dhp.llm.usage import Budget

WAITS = Failure("waits for a batch", passing=True)
_WRITABLE = ("openai/", "litellm/")


def stop_if_any(model: Client | LocalModel, waiting: int) -> None:
    """Raise `Waiting` unless `waiting`, the number of requests to a model that wait, is 0."""
    if waiting:
        raise Waiting(f"{model.model}: {waiting:,} requests wait for a batch")


@dataclass(frozen=True, slots=True)
class _SentBatches:
    """What was sent for one model earlier."""

    jobs: list[Job]
    in_flight: Mapping[str, tuple[Job, int]]
    """custom_id -> batch and number of samples, of requests that are not answered yet."""
    results: BatchResults


class Batch:
    """Results and requests of batches in one run.

    A line of a batch asks for one or more samples of a request that follow one another; its custom_id is
    the store's key of the first of them.

    Parameters
    ----------
    results
        What came back in files that the user gave.
    writer
        Where requests without a reply are written; None where they are asked at once.
    remote
        What was sent to providers, now or earlier.
    provider
        Who is sent what is written.
    many
        Whether one line may ask for several samples.
    go_on
        Told when all that was sent has ended, with the budget, before the run starts again.
    """

    def __init__(
        self,
        results: BatchResults,
        writer: BatchWriter | None = None,
        remote: RemoteBatches | None = None,
        provider: str | None = None,
        *,
        many: bool = True,
        go_on: Callable[[Budget], object] = lambda budget: None,
    ) -> None:
        self.many = many
        self._results = results
        self._writer = writer
        self._remote = remote
        self.provider = provider
        self._go_on = go_on
        self._known = [job.name for job in remote.jobs()] if remote and provider else []
        self._sent: dict[tuple[str, str], _SentBatches] = {}
        self._seen = 0
        self._written: set[str] = set()
        self._waits_for: dict[str, Job] = {}
        self._budget = Budget()
        self._limit = ""

    def check(self, model: str) -> None:
        """Raise `InputError` for a model whose requests cannot be written to files."""
        if self._writer is not None and not model.startswith(_WRITABLE):
            raise InputError(f"{model}: takes no batch files; allowed with them: openai/NAME")

    def check_address(self, model: Client | LocalModel) -> None:
        """Raise `InputError` for a model that is not of the provider."""
        if self.provider is not None and self._writer is not None:
            check_address(self.provider, model.model, model.endpoint)

    def check_results(self, model: str, others: Collection[str]) -> None:
        """Raise `InputError` where results were given and none belongs to this run, as far as it is known."""
        self._results.check_claimed(model, others)

    @property
    def first(self) -> bool:
        """Whether requests are written, or replies read, before anything is asked."""
        return self._writer is not None or len(self._results) > 0

    def concerns(self, model: Client | LocalModel) -> bool:
        """Whether requests to a model may have come by batch, wait in one, or are to be written."""
        if self._writer is None and self._remote and (changed := self._remote.changed) != self._seen:
            self._seen = changed  # another process has sent or fetched
            self._sent.clear()
        return self.first or bool(self._of(model).jobs)

    def take(
        self, model: Client | LocalModel, request: Request, keys: Mapping[int, bytes], missing: Container[int]
    ) -> dict[int, Reply | Failure]:
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

    def keeps_back(
        self,
        model: Client | LocalModel,
        request: Request,
        missing: Mapping[int, bytes],
        prompt_tokens: float,
        budget: Budget,
    ) -> bool:
        """Whether samples of a request are not to be asked now: they are in flight, or written here.

        Parameters
        ----------
        model, request
            What is asked of whom.
        missing
            sample -> key, of those without a reply.
        prompt_tokens
            Estimated.
        budget
            At its limit no more is written.
        """
        left = list(missing)
        in_flight = self._of(model).in_flight
        for index, sample in enumerate(request.samples):
            if found := in_flight.get(missing.get(sample, b"").hex()):
                batch, count = found
                self._waits_for[batch.name] = batch
                left = [s for s in left if s not in request.samples[index : index + count]]
        if self._writer is not None and isinstance(model, OpenAIClient):
            for samples in self._together(model, request, left):
                self._write(model, request, samples, missing[samples[0]].hex(), prompt_tokens, budget)
            return True
        return len(left) < len(missing)

    def stop_if_waiting(self) -> None:
        """Give written files their names; raise `StoppedEarly` where requests wait for a batch."""
        if self._remote is not None:
            self._remote.stored({path for sent in self._sent.values() for path in sent.results.used_up()})
        parts = self._parts()
        if self._remote and self.provider and (parts or self._waits_for):
            self._remote.wait({*self._waits_for} | self._remote.send(self.provider, parts, self._known))
            if not self._limit:
                self._go_on(self._budget)
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

    def finish(self) -> None:
        """Stop as `stop_if_waiting` does; then report the results that were left out."""
        self.stop_if_waiting()
        self._results.report(whole=True)

    def _of(self, model: Client | LocalModel) -> _SentBatches:
        """What was sent for a model; read once."""
        key = model.model, model.endpoint
        if key not in self._sent:
            remote = self._remote
            jobs = remote.of(*key) if remote else []
            paths = remote.results(jobs) if remote else []
            results = BatchResults(paths, own=False, failures=self.provider is not None)
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
        model: OpenAIClient,
        request: Request,
        samples: tuple[int, ...],
        name: str,
        prompt_tokens: float,
        budget: Budget,
    ) -> None:
        if name in self._written or self._limit:
            return
        try:
            budget.reserve(prompt_tokens, request.params.max_tokens * len(samples))
        except StoppedEarly as e:
            self._limit = str(e)
            return
        self._budget = budget
        self._written.add(name)
        assert self._writer is not None
        body = model.body(request, samples)
        if model.endpoint == OPENAI_URL and "max_tokens" in body:
            body["max_completion_tokens"] = body.pop("max_tokens")  # its newer models refuse the older name
        self._writer.add(model.model, model.endpoint, name, body)
