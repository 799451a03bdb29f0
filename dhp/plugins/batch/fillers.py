"""Fillers by batch: requests go into files for the user to have answered, or to a provider.

Both take all pending requests of a command before any is answered (`RequestFiles` writes them down). With
`FileFiller` the command then ends; the user has the files answered and repeats it with the results.
`ProviderFiller` sends the files and waits, round after round, until nothing is left. What results say of a
request is read in the same way by both (`_read`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dhp.core.errors import InputError, StoppedEarly
from dhp.llm.api import Client
from dhp.llm.clients.connection import OPENAI_URL
from dhp.llm.clients.openai_client import OpenAIClient
from dhp.llm.clients.servers import SERVERS
from dhp.llm.fillers import Target
from dhp.llm.limits import Budget
from dhp.llm.records import Answer, Failure, Reply, Request
from dhp.llm.store import Store
from dhp.plugins.batch.jobs import RemoteBatches
from dhp.plugins.batch.providers import check_address
from dhp.plugins.batch.request_files import BatchWriter
from dhp.plugins.batch.results import BatchResults

_WRITABLE = ("openai/", "litellm/", *(f"{name}/" for name in SERVERS))
"""How the names of models begin whose requests have OpenAI's form."""


class RequestFiles:
    """Writes requests into files, each once, up to the limits of the budget.

    A line asks for one or more samples of a request that follow one another. Its custom_id is the store's
    key of the first of them.
    """

    def __init__(self, writer: BatchWriter, budget: Budget, *, multi_sample: bool = True) -> None:
        self.writer = writer
        self._budget = budget
        self._multi_sample = multi_sample
        self._written: set[str] = set()
        self.limit = ""
        """The limit at which it has stopped to write; empty before."""

    def add(self, target: Target, request: Request, samples: Sequence[int]) -> None:
        """Write lines for these samples of a request, of those that are not written yet."""
        model = target.model
        assert isinstance(model, OpenAIClient), "others are refused by `check_writable_model`"
        for group in self._groups(model, request.samples, samples):
            keys = {sample: request.keys[sample] for sample in group}
            name = keys[group[0]].hex()
            if name in self._written or self.limit:
                continue
            try:
                self._budget.reserve(request.tokens, request.params.max_tokens * len(group))
            except StoppedEarly as e:
                self.limit = str(e)
                return
            self._written.add(name)
            body = model.body(request, group)
            if model.endpoint == OPENAI_URL and "max_tokens" in body:
                body["max_completion_tokens"] = body.pop("max_tokens")  # newer models refuse the older name
            self.writer.add(model.model, model.endpoint, body, keys, target.run)

    def _groups(
        self, model: Client, order: Sequence[int], samples: Sequence[int]
    ) -> Iterator[tuple[int, ...]]:
        """Samples that follow one another in the request, as many as one call may ask for."""
        at_once = model.multi_sample and self._multi_sample
        # A sample that is not wanted ends a group: the keys of a line's replies follow one another.
        group: list[int] = []
        for sample in order:
            if sample in samples:
                group.append(sample)
            if group and (sample not in samples or not at_once):
                yield tuple(group)
                group = []
        if group:
            yield tuple(group)


class FileFiller:
    """Takes replies from files of results, and writes the requests that are left into files.

    Without a writer the engine answers what is left, once it is sure that results belong to the command.
    """

    def __init__(
        self, store: Store, budget: Budget, results: BatchResults, writer: BatchWriter | None
    ) -> None:
        self.taken = 0
        self.collects = True
        self._store = store
        self._results = results
        self._requests = None if writer is None else RequestFiles(writer, budget)

    def check(self, model: str, endpoint: str | None = None) -> None:
        """Raise `InputError` for a model whose requests cannot be written."""
        if self._requests:
            check_writable_model(model)

    def answer(self, target: Target, requests: Iterable[Request]) -> Iterator[Answer]:
        """See `Filler`."""
        for request in requests:
            came = _read(self._results, target, request)
            if len(came) == len(request.samples) or not self.collects:
                yield request, came
                continue
            self.taken += 1
            if self._requests:
                left = [sample for sample in request.samples if sample not in came]
                self._requests.add(target, request, left)

    def fill(self) -> None:
        """Give the files their names; raises `StoppedEarly` with them, or at the limit."""
        if self._requests is None:
            # From now on each request goes back at once with what is left of it to ask.
            self._results.check_used(self._store)
            self.collects, self.taken = False, 0
            return

        try:
            self._results.check_used(self._store)
        except InputError:
            self._requests.writer.discard()
            raise
        parts = self._requests.writer.close()
        if parts:
            self._results.note_others()
            named = [f"{part.path} ({part.requests:,} requests to {part.model})" for part in parts]
            names = ", ".join(named)
            limit = f"; {self._requests.limit}" if self._requests.limit else ""
            raise StoppedEarly(
                f"{names}: have them answered, then repeat the command with `batch_read`{limit}"
            )
        raise StoppedEarly(self._requests.limit)

    def end(self) -> None:
        """Say which results belong to no request of the command."""
        self._results.note_others()
        self._results.note_unused(self._store)


def _read(results: BatchResults, target: Target, request: Request) -> dict[int, Reply | Failure]:
    """The replies and refusals that the results hold for a request, by sample; replies go into the store."""
    if not isinstance(target.model, OpenAIClient):
        return {}

    # A line has the key of the first of its samples, and answers those that follow it, too.
    replies: dict[int, Reply] = {}
    refused: dict[int, Failure] = {}
    for index, sample in enumerate(request.samples):
        name = request.keys[sample].hex()
        if name not in results:
            continue
        following = request.samples[index:]
        came = results.read(name, target.model.body(request, (sample,)))
        if isinstance(came, Failure):
            refused |= dict.fromkeys(following, came)
        elif came is not None:
            # Fewer replies than samples may have come. A sample that has a reply already keeps it.
            replies = {**dict(zip(following, came, strict=False)), **replies}
    target.keep(request, replies)
    return {**refused, **replies}  # a reply counts before a refusal


@dataclass(frozen=True, slots=True)
class _SentBefore:
    """The batches of a model that were sent by other rounds or commands."""

    in_flight: Mapping[str, tuple[str, int]]
    """custom_id -> batch and number of samples, of requests that are not answered yet."""
    results: BatchResults
    """Of batches in which some requests were not answered."""


class ProviderFiller:
    """Sends requests to a provider as batches, and waits until their replies are stored."""

    collects = True

    def __init__(self, provider: str, batches: RemoteBatches, budget: Budget, *, multi_sample: bool) -> None:
        self._provider = provider
        self._batches = batches
        self._budget = budget
        self._multi_sample = multi_sample
        self._begin()

    def _begin(self) -> None:
        """Begin a round: what was sent before may have been answered meanwhile, so it is read anew."""
        self.taken = 0
        self._waits_for: set[str] = set()
        self._sent: dict[tuple[str, str], _SentBefore] = {}
        self._known = [job.name for job in self._batches.jobs()]
        writer = BatchWriter(self._batches.new_file(), keyed=True)
        self._requests = RequestFiles(writer, self._budget, multi_sample=self._multi_sample)

    def check(self, model: str, endpoint: str | None = None) -> None:
        """Raise `InputError` for a model whose requests cannot be written, or that is not the provider's."""
        check_writable_model(model)
        if endpoint is not None:
            check_address(self._provider, model, endpoint)

    def answer(self, target: Target, requests: Iterable[Request]) -> Iterator[Answer]:
        """See `Filler`."""
        for request in requests:
            sent, samples = self._sent_before(target), request.samples
            came = _read(sent.results, target, request)
            left = [sample for sample in samples if sample not in came]
            if not left:
                yield request, came
                continue
            # What is in flight is awaited; only the samples that are left then are sent. A line has the key
            # of its first sample, and asks for `count` of them that follow one another.
            for index, sample in enumerate(samples):
                in_flight = sent.in_flight.get(request.keys[sample].hex())
                if in_flight:
                    batch, count = in_flight
                    self._waits_for.add(batch)
                    asked_there = samples[index : index + count]
                    left = [other for other in left if other not in asked_there]
            self._requests.add(target, request, left)
            self.taken += 1

    def fill(self) -> None:
        """Send the batches, and wait until all have ended; raises `StoppedEarly` at the limit after that."""
        sent = self._batches.send(self._provider, self._requests.writer.close(), self._known)
        self._batches.wait(self._waits_for | sent)
        if self._requests.limit:
            raise StoppedEarly(self._requests.limit)
        self._begin()

    def end(self) -> None:
        """Nothing is left over."""

    def _sent_before(self, target: Target) -> _SentBefore:
        key = target.model.model, target.model.endpoint
        if key not in self._sent:
            jobs = self._batches.of(*key)
            results = BatchResults(self._batches.results(jobs), from_user=False)
            self._sent[key] = _SentBefore(self._batches.in_flight(jobs), results)
        return self._sent[key]


def check_writable_model(model: str) -> None:
    """Raise `InputError` for a model whose requests cannot be written into a file."""
    if not model.startswith(_WRITABLE):
        raise InputError(f"{model}: takes no batch files; allowed with them: openai/NAME")
