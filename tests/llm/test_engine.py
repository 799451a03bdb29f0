"""Many calls at once: nothing lost, nothing twice, nothing paid twice."""

import threading
import time
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from dhp.core.errors import InputError, StoppedEarly
from dhp.llm.api import Rejected, Retry
from dhp.llm.cached_model import CachedModel, RequestContext, latency
from dhp.llm.clients.openai_client import OpenAIClient
from dhp.llm.limits import Budget, Limits, RateLimits
from dhp.llm.records import Position, Reply, Request
from dhp.llm.store import Store, open_store
from dhp.llm.stored_model import stored_model
from tests.llm.helpers import QUICK, answered, cached_model, requests
from tests.llm.stub import kill, reset, stats, stub_process, stub_server

FAULTS = "429=0.10,500=0.05,drop=0.02,hang=0.02,garbage=0.01"


@pytest.mark.slow
def test_every_request_is_answered_once_in_spite_of_faults(tmp_path: Path) -> None:
    wanted = list(requests(600))
    with stub_server() as url:
        truth = answered(cached_model(url), wanted)
    with stub_server("--faults", FAULTS, "--retry-after", "0.01") as url:
        asked = cached_model(url, tmp_path / "s.sqlite", concurrency=32, timeout=2.0)
        assert answered(asked, wanted) == truth
        counted = stats(url)
        assert counted["statuses"]["429"] > 0
        assert set(counted["paid"].values()) == {1}
        assert len(counted["paid"]) == 600
    assert asked.session_usage.retries >= 0.15 * 600
    assert asked.usage.calls == 600


def test_a_call_that_never_succeeds_is_given_up_with_its_reason_and_the_rest_goes_on() -> None:
    class Broken(OpenAIClient):
        async def complete(self, request: Request, samples: tuple[int, ...]) -> list[Reply]:
            if isinstance(request.tag, int) and request.tag % 4 == 1:
                raise Retry("HTTP 500: broken")
            return await super().complete(request, samples)

    with stub_server() as url:
        asked = CachedModel(Broken("stub", url), RequestContext(rate_limits=RateLimits(64, retries=1)))
        found = answered(asked, list(requests(200)))
    failed = [tag for tag, texts in sorted(found.items()) if texts == ["!HTTP 500: broken"]]
    assert failed == list(range(1, 200, 4))
    assert len(found) == 200
    assert (asked.session_usage.failed, asked.session_usage.retries) == (50, 50)


def test_what_is_stored_is_not_asked_again(tmp_path: Path) -> None:
    path, wanted = tmp_path / "s.sqlite", list(requests(50, samples=3))
    with stub_server() as url:
        first = cached_model(url, path, run="one")
        found = answered(first, wanted)
        assert stats(url)["calls"] == 50
        reset(url)
        again, other = cached_model(url, path, run="one"), cached_model(url, path, run="two")
        assert answered(again, wanted) == answered(other, wanted) == found
        assert stats(url)["calls"] == 0
        assert again.usage == first.usage
        assert (other.usage.calls, other.usage.cached_calls, other.usage.prompt_tokens) == (0, 50, 0)
        assert answered(cached_model(url, path, refresh=True), wanted) == found
        assert stats(url)["calls"] == 50
    recorded = open_store(path)
    replay = CachedModel(stored_model(recorded), RequestContext(recorded))
    assert answered(replay, wanted) == found
    (missing,) = answered(replay, [Request("another", QUICK, (0,), "", tag=0)]).values()
    assert missing == ["!not in the recording"]


def test_missing_samples_are_topped_up(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with stub_server() as url:
        answered(cached_model(url, path), list(requests(5, samples=2)))
        asked = cached_model(url, path)
        assert len(asked.missing(next(requests(1, samples=5)))) == 3
        assert all(len(t) == 5 for t in answered(asked, list(requests(5, samples=5))).values())
        assert stats(url)["bodies"][-1]["n"] == 3


@pytest.mark.parametrize(
    ("limits", "most"), [(Limits(calls=7), 7), (Limits(tokens=60), 14), (Limits(cost=0.00006), 14)]
)
def test_a_limit_stops_in_time_and_the_same_call_goes_on(limits: Limits, most: int, tmp_path: Path) -> None:
    path, wanted = tmp_path / "s.sqlite", list(requests(30))
    with stub_server("--latency", 0.01) as url:
        asked = cached_model(url, path, limits=limits)
        with pytest.raises(StoppedEarly):
            answered(asked, wanted)
        paid = stats(url)["calls"]
        assert 0 < paid <= most
        tokens = asked.usage.prompt_tokens + asked.usage.completion_tokens
        assert limits.tokens is None or tokens <= limits.tokens
        assert (
            limits.cost is None
            or (asked.usage.prompt_tokens + 2 * asked.usage.completion_tokens) / 1e6 <= limits.cost
        )
        reset(url)
        assert len(answered(cached_model(url, path), wanted)) == 30
        assert stats(url)["calls"] == 30 - paid


@pytest.mark.slow
def test_a_server_that_dies_stops_the_run_and_another_goes_on(tmp_path: Path) -> None:
    path, wanted = tmp_path / "s.sqlite", list(requests(2000))
    with stub_process("--latency", 0.005) as url:
        port = url.split(":")[2].split("/")[0]
        dying = cached_model(url, path, retries=0)
        answers = dying.ask(wanted)
        list(islice(answers, 100))
        kill(url)
        with pytest.raises(StoppedEarly):
            list(answers)
    assert dying.usage.calls >= 100
    with stub_server("--port", port) as url:
        assert len(answered(cached_model(url, path), wanted)) == 2000
        assert stats(url)["calls"] <= 2000 - dying.usage.calls


@pytest.mark.slow
def test_a_busy_server_is_given_fewer_calls_at_once() -> None:
    with stub_server("--latency", 0.02, "--busy-above", 4, "--retry-after", "0.01") as url:
        asked = cached_model(url, concurrency=64)
        found = answered(asked, list(requests(400)))
        refused = stats(url)["statuses"]["429"]
    assert not any(t[0].startswith("!") for t in found.values())
    assert refused < 400, "without adapting, each round of 64 would have 60 refused"


def test_prompts_that_a_filter_rejects_fail_alone_and_end_no_run(tmp_path: Path) -> None:
    """Also when a run is repeated in which nothing but the rejected ones is left to ask."""
    wanted, path = list(requests(60)), tmp_path / "s.sqlite"

    class Filtering(OpenAIClient):
        async def complete(self, request: Request, samples: tuple[int, ...]) -> list[Reply]:
            if isinstance(request.tag, int) and request.tag >= 10:
                raise Rejected("content filter: HTTP 400")
            return await super().complete(request, samples)

    with stub_server() as url:
        for _ in range(2):
            asked = CachedModel(
                Filtering("stub", url), RequestContext(Store(path), rate_limits=RateLimits(8))
            )
            found = answered(asked, wanted)
            assert [
                t for t, texts in sorted(found.items()) if texts[0].startswith("!content filter")
            ] == list(range(10, 60))


@pytest.mark.slow
def test_patience_with_a_server_that_is_not_ready_yet() -> None:
    calls = []

    class Loading(OpenAIClient):
        async def complete(self, request: Request, samples: tuple[int, ...]) -> list[Reply]:
            calls.append(request)
            if len(calls) < 6:
                raise Retry("HTTP 503: Loading model", after=0.01, overload=True)
            return await super().complete(request, samples)

    with stub_server() as url:
        assert len(answered(CachedModel(Loading("stub", url), RequestContext()), list(requests(2)))) == 2


def test_a_limit_holds_where_the_server_does_not_say_what_it_used() -> None:
    class Silent(OpenAIClient):
        async def complete(self, request: Request, samples: tuple[int, ...]) -> list[Reply]:
            replies = await super().complete(request, samples)
            return [replace(r, prompt_tokens=0, completion_tokens=0) for r in replies]

    with stub_server() as url:
        asked = CachedModel(Silent("stub", url), RequestContext(budget=Budget(Limits(tokens=500))))
        with pytest.raises(StoppedEarly, match=r"`limits\.tokens` 500"):
            answered(asked, list(requests(2000)))
        assert stats(url)["calls"] < 60


@pytest.mark.parametrize(
    "reply",
    [
        Reply("4", "st\ud800op", 1, 1, 1),
        Reply("4", "stop", 1, 1, 1, (Position("\udfff", (("\ud800", -0.1),)),)),
        Reply("4", "stop", 2**70, 1, 1),
    ],
)
def test_a_reply_that_is_hard_to_store_hangs_nothing(reply: Reply, tmp_path: Path) -> None:
    class Odd(OpenAIClient):
        async def complete(self, request: Request, samples: tuple[int, ...]) -> list[Reply]:
            return [reply]

    asked = CachedModel(Odd("stub", "http://127.0.0.1:9/v1"), RequestContext(Store(tmp_path / "s.sqlite")))
    if reply.prompt_tokens > 2**63:
        with pytest.raises(OverflowError):
            answered(asked, list(requests(3)))
    else:
        assert len(answered(asked, list(requests(3)))) == 3


def test_the_same_prompt_is_paid_once(tmp_path: Path) -> None:
    twins = [
        replace(request, tag=10 * i + request.tag) for i in range(5) for request in requests(10, samples=2)
    ]
    with stub_server("--latency", 0.02) as url:
        asked = cached_model(url, tmp_path / "s.sqlite")
        found = answered(asked, twins)
        assert stats(url)["calls"] == 10
        again = cached_model(url, tmp_path / "s.sqlite")
        assert answered(again, twins) == found
        assert again.usage == asked.usage
    assert asked.usage.calls == 10


@pytest.mark.slow
def test_a_rate_limit_holds_for_the_whole_run() -> None:
    with stub_server() as url:
        asked = CachedModel(
            OpenAIClient("stub", url), RequestContext(rate_limits=RateLimits(16, calls_per_minute=1200))
        )
        began = time.monotonic()
        assert len(answered(asked, list(requests(21)))) == 21
        assert time.monotonic() - began >= 1  # 20 gaps of 50 ms
        tokens = CachedModel(
            OpenAIClient("stub", url), RequestContext(rate_limits=RateLimits(16, tokens_per_minute=60 * 200))
        )
        began = time.monotonic()
        assert len(answered(tokens, list(requests(11)))) == 11
        assert time.monotonic() - began >= 10 * 16 / 200  # each call may bring 16 tokens at least


def test_stopping_in_the_middle_leaves_no_thread_behind(tmp_path: Path) -> None:
    def engines() -> set[threading.Thread]:
        return {thread for thread in threading.enumerate() if thread.name == "dhp-engine"}

    before = engines()
    with stub_server("--latency", 0.05) as url:
        answers = cached_model(url).ask(requests(1000))
        next(answers)
        answers.close()
        assert engines() <= before


def test_an_error_while_prompts_are_made_reaches_the_caller() -> None:
    def broken():
        yield from requests(3)
        raise InputError("example 'a' lacks its reference")

    with stub_server() as url, pytest.raises(InputError, match="lacks its reference"):
        answered(cached_model(url), broken())


def test_the_time_of_each_answered_call_is_kept() -> None:
    """A planted latency of 20 ms; tries that were refused do not count."""
    with stub_server("--latency", 0.02, "--busy-above", 4, "--retry-after", "0.01") as url:
        model = cached_model(url)
        answered(model, list(requests(20)))
    assert len(model.call_seconds) == 20
    assert min(model.call_seconds) >= 0.02
    found = latency(model.call_seconds)
    assert found
    assert 0.02 <= found[0] <= found[1] == sorted(model.call_seconds)[18]
