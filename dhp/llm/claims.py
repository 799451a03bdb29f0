"""Claims of calls, so that two commands do not pay for one.

A claim is a row of the store with its owner and the time at which it lapses: a process that is killed leaves
claims behind that nobody waits for long. A thread renews those of a process that works. `take` claims calls
before they are handed to the engine, `holds` looks again just before one is sent, as the process may have
stood still meanwhile, and the reply itself ends the claim, in the transaction that stores it.
"""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Collection, Sequence

from dhp.core.errors import DhpError, StoppedEarly
from dhp.core.writing import this_process
from dhp.llm.store import Store

LEASE = 15.0
"""Seconds for which a claim holds. It is renewed while its process works; one that was killed is waited for
no longer than this. Chosen: a user waits that long without asking what is wrong."""
_LONGEST_LEASE = 4 * LEASE
"""Claims that end later than this do not count: clocks differ, and one that was set back, or a damaged claim,
must stop nobody for good. Chosen."""
_LONGEST_PAUSE = 600.0
"""Seconds after which a process that takes no answer any more is waited for no longer. Chosen: as long as the
longest wait that a server may ask for (`RateLimits.max_wait`)."""
_SECONDS_BETWEEN_LOOKS = 0.5
"""How often the store is asked for the replies of another command. Chosen."""
_HELD_OR_CLAIMED = (
    "SELECT holder, advice FROM held WHERE key = ?1 UNION ALL "
    "SELECT owner, '' FROM claims WHERE key = ?1 AND owner <> ?2 AND expires BETWEEN ?3 AND ?4"
)
"""Who else answers for a key. The first row decides: what is held waits for a day, so that it is told before
a claim of seconds."""
_STORED = " UNION ALL SELECT '', '' FROM replies WHERE key = ?1"
"""Another command may have stored the reply since this one looked it up."""


class Claims:
    """The claims of one asking; a context manager, at whose end they are given up.

    No store, or one that is only read, makes every call one's own; with `refresh` calls are made though their
    replies are stored.
    """

    def __init__(self, store: Store | None, *, refresh: bool = False) -> None:
        self._store = None if store is None or store.read_only else store
        self._refresh = refresh
        self._keys: set[bytes] = set()
        self._lapse = threading.Lock()
        self._until = 0.0
        """When the claims lapse unless they are renewed."""
        self._lapsed: set[bytes] = set()
        """Keys whose claims may be another's by now."""
        self._active = time.monotonic()
        """When an answer was taken last."""
        self._ended = threading.Event()
        self._renewing: threading.Thread | None = None
        self._holder = ""
        """Another process that makes some of the calls."""
        self._held = ""
        """What answers some of the calls later, outside of any process."""
        self._said = False

    def __enter__(self) -> "Claims":
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        if self._renewing:
            self._renewing.join()
        with contextlib.suppress(DhpError):  # those that stay lapse
            self.end([*self._keys], stored=False)

    def take(self, calls: Sequence[Collection[bytes]]) -> list[bool]:
        """Claim the calls that will bring replies for these keys; returns which of them are now one's own.

        A call is another command's as long as that has claimed any of its keys, or if a reply to one has
        come since they were looked up, or while a key is held. A claim that would hold for longer than
        any that is made does not count.
        """
        self._active = time.monotonic()
        if self._store is None or not calls:
            return [True] * len(calls)
        taken = _HELD_OR_CLAIMED
        if not self._refresh:
            taken += _STORED
        now, owner = time.time(), _owner()
        ours: list[bool] = []
        claimed: list[tuple[bytes, str, float]] = []
        with self._store.transaction() as connection:
            for keys in calls:
                row = None
                for key in keys:
                    wanted = (key, owner, now, now + _LONGEST_LEASE)
                    row = connection.execute(taken, wanted).fetchone()
                    if row is not None:
                        break
                ours.append(row is None)
                if row is None:
                    claimed += [(key, owner, now + LEASE) for key in keys]
                    continue
                holder, advice = row
                if advice:
                    self._held = self._held or f"{holder}; {advice}"
                else:
                    self._holder = holder or self._holder
            connection.executemany("REPLACE INTO claims VALUES (?, ?, ?)", claimed)
        with self._lapse:
            if not self._keys:  # older claims may lapse sooner: their time stays
                self._until = now + LEASE
            self._keys.update(key for key, _, _ in claimed)
        if self._keys and self._renewing is None:
            self._renewing = threading.Thread(target=self._renew, name="dhp-claims", daemon=True)
            self._renewing.start()
        return ours

    def holds(self, keys: Collection[bytes]) -> bool:
        """Whether a call that was claimed is still one's own, asked just before it is sent.

        A process may stand still for longer than its lease, and others pay meanwhile: claims that have lapsed
        since they were made are looked up, and made again if nobody has taken them.
        """
        if self._store is None:
            return True
        self._note_lapse(time.time())
        with self._lapse:
            if self._lapsed.isdisjoint(keys):
                return True
            self._lapsed.difference_update(keys)
        return self.take([keys])[0]

    def _note_lapse(self, now: float) -> None:
        """Note which claims may be another's by now."""
        if now < self._until:
            return
        with self._lapse:
            if now >= self._until:
                self._lapsed |= self._keys
                self._until = now + LEASE

    def end(self, keys: Collection[bytes], *, stored: bool) -> None:
        """End the claims on a call; if its replies are stored they have ended with that."""
        self._active = time.monotonic()
        with self._lapse:
            self._keys.difference_update(keys)
            self._lapsed.difference_update(keys)
        if keys and self._store and not stored:
            ended = [(key, _owner()) for key in keys]
            with self._store.transaction() as connection:
                connection.executemany("DELETE FROM claims WHERE key = ? AND owner = ?", ended)

    def wait(self, calls: int, on_wait: Callable[[], None]) -> None:
        """Wait a moment for the replies to the calls of others; the first time it is said whose they are.

        Raises `StoppedEarly` if some are held, as waiting may take a day.
        """
        if self._held:
            raise StoppedEarly(f"requests wait in {self._held}")
        if self._holder and not self._said:
            self._said = True
            holder = self._holder.partition(" (")[0]
            logging.getLogger("dhp").warning(
                "%s makes %d of the same calls; its replies are waited for", holder, calls
            )
        on_wait()
        time.sleep(_SECONDS_BETWEEN_LOOKS)

    def _renew(self) -> None:
        """Keep the claims of this process alive."""
        assert self._store is not None
        while not self._ended.wait(LEASE / 3):  # two renewals may fail before a claim lapses
            if time.monotonic() - self._active > _LONGEST_PAUSE:
                continue  # others may have its calls
            now = time.time()
            self._note_lapse(now)
            with contextlib.suppress(DhpError):
                with self._store.transaction() as connection:
                    renewed = (now + LEASE, _owner())
                    connection.execute("UPDATE claims SET expires = ? WHERE owner = ?", renewed)
                self._until = now + LEASE
        self._store.release()


def _owner() -> str:
    """This process, whichever of its runs: it never waits for itself."""
    return f"{this_process()} ({_BORN:x})"


_BORN = time.time_ns()  # two processes, one after the other, may have the same number
