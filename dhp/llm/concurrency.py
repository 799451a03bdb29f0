"""How many calls are in flight: a limit that adapts to the server, rate limits, waits."""

import asyncio
import random
import time
from collections import deque

_FIRST_WAIT = 0.5
_LONGEST_WAIT = 60.0
"""Seconds between which the longest wait grows, twice as long with each try. Chosen: the eight retries that
are the default take a minute and a half on average, and limits of a minute are over then."""
_TRIES_WITHOUT_WAIT = 4
"""Tries for which a server that asks for no wait (`Retry-After: 0`) is believed. Chosen."""


class AdaptiveConcurrency:
    """A limit on calls in flight that adapts to the load that a server can take, as TCP does with packets.

    It starts at half of `most`, grows by one with each success until the first trouble, after that by one
    a round; trouble halves it, once for the calls that were in flight with it.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._limit = max(1.0, most / 2)
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._round = 0  # grows with each trouble
        self._troubled = False

    async def start(self) -> int:
        """Wait for a place; returns the round, to be given back at the end."""
        # Again after each turn: the limit may have been halved, or another one have taken the place.
        while self._in_flight >= int(self._limit):
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                self._wake()  # the turn may have been given already: another one takes it
                raise
        self._in_flight += 1
        return self._round

    def end(self, started: int, *, good: bool, overload: bool = False) -> None:
        """Give the place back and learn from how it went."""
        self._in_flight -= 1
        if overload:
            if started == self._round:  # calls that were in flight together tell of one trouble
                self._round += 1
                self._troubled = True
                self._limit = max(1.0, self._limit / 2)
        elif good:
            step = 1 / self._limit if self._troubled else 1.0
            self._limit = min(self._limit + step, self._most)
        self._wake()

    def _wake(self) -> None:
        """Give free places to those that wait longest."""
        free = int(self._limit) - self._in_flight
        while self._waiting and free > 0:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1


class RateLimit:
    """Spreads calls evenly so that a number of units a minute is not passed."""

    def __init__(self, per_minute: float | None) -> None:
        self._seconds = 60 / per_minute if per_minute else 0.0  # between two units
        self._next = 0.0
        """When the next one may begin."""

    async def take(self, units: float = 1) -> None:
        """Wait for one's turn and use `units`."""
        if not self._seconds:
            return
        now = time.monotonic()
        turn = max(self._next, now)
        self._next = turn + units * self._seconds
        if turn > now:
            await asyncio.sleep(turn - now)


def backoff(attempt: int, after: float | None) -> float:
    """Seconds before the next try: exponential with full jitter, and no less than the server asks for.

    A server that asks for no wait at all is believed for the first tries.
    """
    if after == 0:
        attempt = max(0, attempt - _TRIES_WITHOUT_WAIT)
    wait = min(_LONGEST_WAIT, _FIRST_WAIT * 2.0**attempt) * _jitter.random()
    asked = (after or 0.0) * (1 + 0.1 * _jitter.random())
    return max(wait, asked)


_jitter = random.Random()  # its numbers never reach a result
