"""What a run has to do with batches: results that came back, and requests for the next batch."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

from dhp.core.errors import InputError, StoppedEarly
from dhp.llm.api import Client, LocalModel
from dhp.llm.batch.results import BatchResults
from dhp.llm.batch.writer import BatchWriter, Part
from dhp.llm.clients.connection import OPENAI_URL
from dhp.llm.records import Failure, Reply, Request
from dhp.llm.usage import Budget

WAITS = Failure("waits for a batch", passing=True)


class Waiting(StoppedEarly):
    """Requests of a run wait for a batch: what depends on them cannot be had yet."""


@runtime_checkable
class WritesBodies(Client, Protocol):
    """A client whose requests can be written to a file."""

    def body(self, request: Request, samples: tuple[int, ...]) -> dict[str, Any]:
        """The JSON of a chat completion."""
        ...


class Batch:
    """Results and requests of batches in one run.

    A line of a batch asks for one or more samples of a request that follow one another; its custom_id is
    the store's key of the first of them.

    Parameters
    ----------
    results
        What came back.
    writer
        Where requests without a reply are written; None where they are asked at once.
    in_flight
        custom_id -> batch and number of samples, of requests that are sent and not answered yet.
    many
        Whether one line may ask for several samples.
    send, wait
        Where a provider takes what is written: send it; wait until all that is sent has ended.
    """

    def __init__(
        self,
        results: BatchResults,
        writer: BatchWriter | None,
        in_flight: Mapping[str, tuple[str, int]],
        *,
        many: bool = True,
        send: Callable[[Sequence[Part]], object] | None = None,
        wait: Callable[[], object] | None = None,
    ) -> None:
        self.many = many
        self._send = send
        self._wait = wait
        self._results = results
        self._writer = writer
        self._in_flight = in_flight
        self._written: set[str] = set()
        self._waits_for: set[str] = set()
        self._limit = ""

    def check(self, model: Client | LocalModel) -> None:
        """Raise `InputError` for a model whose requests cannot be written to files."""
        if self._writer is not None and not isinstance(model, WritesBodies):
            raise InputError(f"{model.model}: takes no batch files; allowed with them: openai/NAME")

    def check_results(self) -> None:
        """Raise `InputError` where results were given and none belongs to this run."""
        self._results.check_claimed()

    def take(
        self, model: Client | LocalModel, request: Request, keys: Mapping[int, bytes]
    ) -> dict[int, Reply | Failure]:
        """What came back for the samples of a request, stored or not."""
        found: dict[int, Reply | Failure] = {}
        failures: dict[int, Failure] = {}
        for place, sample in enumerate(request.samples):
            name = keys[sample].hex()
            if not self._results.claim(name) or not isinstance(model, WritesBodies):
                continue
            came = self._results.read(name, model.body(request, (sample,)))
            following = request.samples[place:]
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
        for place, sample in enumerate(request.samples):
            batch, count = self._in_flight.get(missing.get(sample, b"").hex(), ("", 0))
            if count:
                self._waits_for.add(batch)
                left = [s for s in left if s not in request.samples[place : place + count]]
        if self._writer is not None and isinstance(model, WritesBodies):
            for samples in self._together(model, request, left):
                self._write(model, request, samples, missing[samples[0]].hex(), prompt_tokens, budget)
            return True
        return not left

    def stop_if_waiting(self) -> None:
        """Give written files their names; raise `StoppedEarly` where requests wait for a batch."""
        parts = self._writer.close() if self._writer is not None else []
        if self._send and self._wait and (parts or self._waits_for):
            self._send(parts)
            self._wait()
        if parts:
            self._results.report(whole=False)
            said = ", ".join(f"{part.path} ({part.requests:,} requests to {part.model})" for part in parts)
            limit = f"; {self._limit}" if self._limit else ""
            raise StoppedEarly(
                f"{said}: have them answered, then the same command with `batch_read` goes on{limit}"
            )
        if self._limit:
            raise StoppedEarly(self._limit)
        if self._waits_for:
            raise StoppedEarly(
                f"requests wait in the batch {', '.join(sorted(self._waits_for))}; `batch` fetches the "
                "answers, dhp batch cancel gives them up"
            )

    def finish(self) -> None:
        """As `stop_if_waiting`; then tell what results were left out."""
        self.stop_if_waiting()
        self._results.report(whole=True)

    def _together(self, model: Client, request: Request, missing: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Samples that follow one another in the request, as many as one call may ask for."""
        places = [place for place, sample in enumerate(request.samples) if sample in missing]
        one_by_one = not (model.many and self.many)
        starts = [i for i, (a, b) in enumerate(pairwise([-2, *places])) if b > a + 1 or one_by_one]
        for start, end in pairwise([*starts, len(places)]):
            yield tuple(request.samples[place] for place in places[start:end])

    def _write(
        self,
        model: WritesBodies,
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
        self._written.add(name)
        assert self._writer is not None
        body = model.body(request, samples)
        if model.endpoint == OPENAI_URL and "max_tokens" in body:
            body["max_completion_tokens"] = body.pop("max_tokens")  # its newer models refuse the older name
        self._writer.add(model.model, model.endpoint, name, body)
