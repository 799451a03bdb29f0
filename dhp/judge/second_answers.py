"""Answers that cannot be read: each is followed, in its conversation, by one request for the rating alone.

First requests and second ones pass through one call of the model: `_answered` puts a second request into
`waiting` as soon as an answer cannot be read, and `_with_waiting` takes it out again between the first ones.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from dhp.core.records import SECOND, Rating
from dhp.judge.api import FIRST_ANSWERS
from dhp.judge.pairs import PairVerdict
from dhp.llm.api import Client
from dhp.llm.cached_model import CachedModel
from dhp.llm.records import Failure, Reply, Request

R = TypeVar("R", Rating, PairVerdict)
Read = Callable[[Request, int, Reply | Failure], Sequence[R]]
"""What an answer to a sample of a request says."""


@dataclass(frozen=True, slots=True)
class Unread:
    """The tag of a second request: what was asked and answered first."""

    request: Request
    reply: Reply
    records: Sequence[Rating] | Sequence[PairVerdict]
    """What the first answer says."""


def answers_read(
    model: CachedModel,
    requests: Iterable[Request],
    read: Read[R],
    read_second: Read[R],
    short: Callable[[Request], str],
) -> Iterator[tuple[R, Reply | Failure]]:
    """What the answers to requests say, in any order, each with the answer that says it.

    An answer that cannot be read is followed by a second one. `short` gives the second request, empty if none
    is made. The first requests go alone, and second ones pass between the others, so that a run in which
    nothing can be read shows that early. If the second call fails, the first answer counts.
    """
    waiting: deque[Request] = deque()
    rest = iter(requests)
    # Some fillers take all requests before they answer any, and a model in this process costs no money.
    paid = isinstance(model.model, Client) and not model.context.collects
    parts: list[Iterable[Request]] = [_first(rest), rest] if paid else [rest]
    for part in parts:
        yield from _answered(model, part, waiting, read, read_second, short)
        while waiting:  # the last answers of the part: nothing but what waits is asked
            yield from _answered(model, (), waiting, read, read_second, short)


def _answered(
    model: CachedModel,
    part: Iterable[Request],
    waiting: deque[Request],
    read: Read[R],
    read_second: Read[R],
    short: Callable[[Request], str],
) -> Iterator[tuple[R, Reply | Failure]]:
    """What the answers to a part of the requests say; `waiting` takes second requests and gives them away."""
    for request, outcomes in model.ask(_with_waiting(part, waiting)):
        for sample, outcome in outcomes.items():
            if isinstance(request.tag, Unread):
                yield from _second(request.tag, sample, outcome, read_second)
                continue
            records = read(request, sample, outcome)
            prompt = short(request) if _is_unread(records, outcome) else ""
            if prompt:
                waiting.append(second_request(request, sample, outcome, records, prompt))
                continue
            for record in records:
                yield record, outcome


def _with_waiting(part: Iterable[Request], waiting: deque[Request]) -> Iterator[Request]:
    """The requests of a part, and between them those that wait."""
    for request in part:
        yield from _taken(waiting)
        yield request
    yield from _taken(waiting)


def _first(requests: Iterator[Request]) -> Iterator[Request]:
    """The requests for the first answers, which are asked before all others."""
    answers = 0
    while answers < FIRST_ANSWERS:
        request = next(requests, None)
        if request is None:
            return
        answers += len(request.samples)
        yield request


def _taken(waiting: deque[Request]) -> Iterator[Request]:
    """The requests that wait, which then wait no more."""
    while waiting:
        yield waiting.popleft()


def _is_unread(records: Sequence[Rating | PairVerdict], outcome: Reply | Failure) -> bool:
    """Whether to ask again: not if nothing was answered, as there is nothing to refer to."""
    answered = isinstance(outcome, Reply) and outcome.text.strip()
    return bool(answered) and any(each.status == "unparsed" for each in records)


def second_request(
    request: Request,
    sample: int,
    reply: Reply | Failure,
    records: Sequence[Rating] | Sequence[PairVerdict],
    prompt: str,
) -> Request:
    """The conversation about one sample of a request, with another request at its end."""
    assert isinstance(reply, Reply)
    return Request(
        prompt,
        request.params,
        (sample,),
        f"{request.place}, asked again",
        group=request.group,
        tag=Unread(request, reply, records),
        before=(*request.before, ("user", request.prompt), ("assistant", reply.text)),
    )


def _second(
    unread: Unread, sample: int, outcome: Reply | Failure, read: Read[R]
) -> Iterator[tuple[R, Reply | Failure]]:
    """What the first and the second answer say together: the second counts if the first was unread."""
    first: Any = unread.records  # what `read` returns
    if isinstance(outcome, Failure):
        for record in first:
            yield record, unread.reply
        return
    for record, second in zip(first, read(unread.request, sample, outcome), strict=True):
        if record.status != "unparsed":
            yield record, unread.reply
            continue
        rule = f"{SECOND}:{second.rule}" if second.rule else SECOND
        raw = f"{record.raw}\n[asked again]\n{second.raw or ''}"
        yield replace(second, raw=raw, rule=rule), outcome


def is_second(record: Rating | PairVerdict) -> bool:
    """Whether it was asked for twice."""
    return (record.rule or "").partition(":")[0] == SECOND
