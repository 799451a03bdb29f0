"""How many calls at once, and how long to wait."""

import asyncio

import pytest

from dhp.llm.concurrency import AdaptiveConcurrency, backoff


@pytest.fixture(autouse=True)
def short_waits() -> None:
    """Here waits are as they are."""


async def places(limit: AdaptiveConcurrency) -> int:
    """How many calls may start now."""
    taken = []
    while True:
        try:
            taken.append(await asyncio.wait_for(limit.start(), 0.01))
        except TimeoutError:
            break
    for started in taken:
        limit.end(started, good=False)
    return len(taken)


def test_it_starts_at_half_and_grows() -> None:
    async def story() -> None:
        limit = AdaptiveConcurrency(16)
        assert await places(limit) == 8
        for _ in range(100):
            limit.end(await limit.start(), good=True)
        assert await places(limit) == 16

    asyncio.run(story())


def test_trouble_halves_once_for_all_calls_that_were_in_flight_with_it() -> None:
    async def story() -> None:
        limit = AdaptiveConcurrency(16)
        for _ in range(20):
            limit.end(await limit.start(), good=True)
        started = [await limit.start() for _ in range(16)]
        for each in started:
            limit.end(each, good=False, overload=True)
        assert await places(limit) == 8
        for _ in range(8):
            limit.end(await limit.start(), good=True)
        assert await places(limit) in (8, 9)  # about one more a round from now on
        for _ in range(30):
            limit.end(await limit.start(), good=False, overload=True)
        assert await places(limit) == 1

    asyncio.run(story())


def test_a_cancelled_waiter_leaves_its_turn_to_the_next() -> None:
    async def story() -> None:
        limit = AdaptiveConcurrency(1)
        held = await limit.start()
        first, second = (asyncio.create_task(limit.start()) for _ in range(2))
        await asyncio.sleep(0)
        limit.end(held, good=True)
        first.cancel()
        assert await asyncio.wait_for(second, 1) == held

    asyncio.run(story())


@pytest.mark.parametrize("attempt", [1, 3, 20])
def test_backoff_grows_to_a_bound_and_obeys_the_server(attempt: int) -> None:
    assert 0 <= backoff(attempt, None) <= min(60, 0.5 * 2**attempt)
    assert 7 <= backoff(attempt, 7.0) <= max(7.7, min(60, 0.5 * 2**attempt))
