"""The store: cached replies in SQLite.

A reply has the hash of all that decided it as its key. Every reply is committed when it comes; a checksum
in the row finds what was damaged later, which is asked again.

Several threads and processes use one file. Each thread has a connection of its own, as those of SQLite belong
to a thread. With the write-ahead log readers and a writer do not wait for each other, and a commit need not
wait for the disk: a kill of the process loses none. A power cut could lose the last ones, so one commit in
every tenth of a second is synced, with all before it.

Tables: `replies`; `claims`, of calls that a process is about to make (`dhp.llm.claims`); `held`, for what
answers later (batches); `set_aside`, damaged replies.
"""

import functools
import hashlib
import json
import logging
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from dhp.core.errors import DiskFull, InputError
from dhp.core.files import reason
from dhp.core.hiding import hidden
from dhp.core.writing import MAKE_ROOM, check_place, is_full, make_folder, output_path
from dhp.llm.records import Outcomes, Params, Position, Reply, Request

FILE = "replies.sqlite"
"""Name of the file in the folder of cached replies."""
NOT_STORED = "not in the recording"
"""Why a sample has no reply if no model is asked."""
_ENDINGS = ("", "-wal", "-shm", "-journal")
"""Of the files that SQLite keeps beside each other."""
_SCHEMA = 3
"""Version 2 added checksums, 3 the name of the model that answered; both are added to an earlier file."""
_BUSY_SECONDS = 60.0
"""How long another process may keep the file locked before that is a fault. Chosen: a transaction takes
milliseconds, and a machine under load or a slow disk some seconds."""
_UNSYNCED_SECONDS = 0.1
"""After the last sync; a reply that comes later is on disk at once, a power cut does not lose it.

Chosen, as each sync waits for the disk. `scripts/power_cut.py` replays writes and syncs: before there were
any, a cut lost up to 584 of 1,200 replies."""
_TABLE = """
CREATE TABLE IF NOT EXISTS replies (
    key BLOB PRIMARY KEY,
    model TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    sample INTEGER NOT NULL,
    text TEXT NOT NULL,
    finish TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    positions TEXT,
    run TEXT NOT NULL,
    created REAL NOT NULL,
    checksum INTEGER,
    answered_by TEXT
) WITHOUT ROWID
"""
_CLAIMS = """
CREATE TABLE IF NOT EXISTS claims (
    key BLOB PRIMARY KEY,
    owner TEXT NOT NULL,
    expires REAL NOT NULL
) WITHOUT ROWID
"""
_HELD = """
CREATE TABLE IF NOT EXISTS held (
    key BLOB PRIMARY KEY,
    holder TEXT NOT NULL,
    advice TEXT NOT NULL
) WITHOUT ROWID
"""
_CHECKED = (
    "key, model, endpoint, sample, text, finish, prompt_tokens, completion_tokens, calls, positions, run"
)
"""Columns that the checksum is made of; rows of version 1 have none."""


class Store:
    """A file of replies, safe for several threads and processes at once.

    The SQLite file and its folder are made on first use. Raises `InputError` on use, if the file cannot be
    opened or written, or is something else.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._file = output_path(path).absolute()  # threads open it later, from another folder
        self.read_only = read_only
        self._local = threading.local()
        self._synced = 0.0

    def _connection(self) -> sqlite3.Connection:
        """This thread's own."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._read() if self.read_only else self._open()
            # A damaged text is found by its checksum; here it would be an error that ends the run.
            connection.text_factory = lambda data: data.decode(errors="surrogateescape")
            version = _version(connection)
            checksum = "checksum" if version > 1 else "NULL"  # a file that is only read stays as it is
            answered_by = "answered_by" if version > 2 else "NULL"
            self._local.find = f"SELECT {_CHECKED}, {checksum}, {answered_by} FROM replies WHERE key = ?"
        return connection

    def _connect(self, query: str) -> sqlite3.Connection:
        address = f"{self._file.as_uri()}?{query}"
        # No isolation level: transactions are begun and ended here, not by the module.
        return sqlite3.connect(address, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)

    def _read(self) -> sqlite3.Connection:
        """A connection that changes nothing."""
        connection = self._connect("mode=ro")
        try:
            connection.execute("SELECT 1 FROM sqlite_master")
        except sqlite3.OperationalError:  # in a folder that cannot be written
            connection = self._connect("mode=ro&immutable=1")
        return connection

    def _open(self) -> sqlite3.Connection:
        """A connection to the file, which is made or brought up to this version."""
        make_folder(self._file.parent)
        for ending in _ENDINGS:
            check_place(self._file.with_name(f"{self._file.name}{ending}"))
        if not _has_locks(self._file.parent):
            raise sqlite3.OperationalError("its file system has no locks")
        connection = self._connect("mode=rwc")
        end = time.monotonic() + _BUSY_SECONDS
        while not _logs_ahead(connection):  # another process may be opening the same new store
            if time.monotonic() > end:
                raise sqlite3.OperationalError("its file system takes no write-ahead log")
            time.sleep(0.01)
        connection.execute("PRAGMA synchronous=NORMAL")

        version = _version(connection)
        if version > _SCHEMA:
            raise sqlite3.DatabaseError(f"was written by another version of dhp (schema {version})")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_TABLE)
        _bring_up(connection)
        connection.execute(_CLAIMS)
        connection.execute(_HELD)
        connection.execute(f"PRAGMA user_version={_SCHEMA}")
        connection.execute("COMMIT")
        return connection

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """Any fault of the file, in one line."""
        try:
            yield
        except (OSError, sqlite3.Error, UnicodeDecodeError) as e:  # the last: of a name in a damaged schema
            advice = (
                "must be replies.sqlite of a run" if self.read_only else "choose another folder by `cache`"
            )
            message = f"store {self.path}: {reason(e)}"
            if is_full(e):
                raise DiskFull(f"{message}; {MAKE_ROOM}") from None
            raise InputError(f"{message}; {advice}") from None

    def find(self, keys: Mapping[int, bytes], place: str = "") -> dict[int, tuple[Reply, str]]:
        """The stored replies among the samples of a request, each with the run that paid for it.

        A reply that does not fit its checksum is named, by `place`, and set aside: it is not among them.
        """
        replies, damaged = {}, []
        with self._faults():
            connection = self._connection()
            for sample, key in keys.items():
                row = connection.execute(self._local.find, (key,)).fetchone()
                if row is None:
                    continue
                stored = _stored(row)
                if stored:
                    replies[sample] = stored
                else:
                    damaged.append(key)
        if damaged:
            self._set_aside(damaged, place)
        return replies

    def _set_aside(self, damaged: Sequence[bytes], place: str) -> None:
        """Say that replies are damaged and keep them apart, so that they are asked again."""
        logging.getLogger("dhp").warning(
            "store %s: %d stored replies%s are damaged, as their checksums say: %s",
            self.path,
            len(damaged),
            f" about {place}" if place else "",
            "left out" if self.read_only else "set aside (table set_aside) and asked again",
        )
        if self.read_only:
            return
        with self.transaction() as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS set_aside AS SELECT * FROM replies WHERE 0")
            for key in damaged:
                connection.execute("INSERT INTO set_aside SELECT * FROM replies WHERE key = ?", (key,))
                connection.execute("DELETE FROM replies WHERE key = ?", (key,))

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A transaction that has the store for itself; once it ends well, no kill of the process loses it."""
        with self._faults():
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # a full disk ends it by itself
                    connection.execute("ROLLBACK")
                raise

    def add(self, rows: Sequence[tuple[object, ...]], *, replace: bool = False) -> None:
        """Write `rows` in one transaction; the claims on them, and what holds them, end with it."""
        if not rows:
            return
        verb = "REPLACE" if replace else "IGNORE"
        self._choose_sync()
        with self.transaction() as connection:
            places = ", ".join("?" * 14)  # a column each
            connection.executemany(f"INSERT OR {verb} INTO replies VALUES ({places})", rows)
            ended = [row[:1] for row in rows]  # the key comes first
            for table in ("claims", "held"):
                connection.executemany(f"DELETE FROM {table} WHERE key = ?", ended)

    def hold(self, keys: Iterable[bytes], holder: str, advice: str) -> None:
        """Keep these samples for what answers them later, outside of any process: nobody else asks them.

        `advice` says what a user can do about that. `free` ends it, or the replies do.
        """
        with self.transaction() as connection:
            rows = [(key, holder, advice) for key in keys]
            connection.executemany("REPLACE INTO held VALUES (?, ?, ?)", rows)

    def free(self, holder: str) -> int:
        """End what a holder holds; returns the number of samples."""
        with self.transaction() as connection:
            return connection.execute("DELETE FROM held WHERE holder = ?", (holder,)).rowcount

    def _choose_sync(self) -> None:
        """Let the next transaction be synced, with all before it, if the last sync is not of just now."""
        now = time.monotonic()
        due = now - self._synced > _UNSYNCED_SECONDS
        if due:
            self._synced = now
        with self._faults():
            self._connection().execute(f"PRAGMA synchronous={'FULL' if due else 'NORMAL'}")

    def models(self) -> list[tuple[str, str]]:
        """The (model, endpoint) pairs that have replies here."""
        with self._faults():
            connection = self._connection()
            if _version(connection) not in (2, _SCHEMA):
                return []
            rows = connection.execute("SELECT DISTINCT model, endpoint FROM replies ORDER BY 1, 2")
            return [(str(model), str(endpoint)) for model, endpoint in rows]

    def release(self) -> None:
        """Close this thread's connection."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None


class MemoryStore(Store):
    """Replies that this object alone remembers."""

    def __init__(self) -> None:
        super().__init__(Path("memory"), read_only=True)
        self._rows: dict[Any, tuple[Any, ...]] = {}

    def find(self, keys: Mapping[int, bytes], place: str = "") -> dict[int, tuple[Reply, str]]:
        """See `Store`."""
        replies = {}
        for sample, key in keys.items():
            stored = _stored(self._rows[key]) if key in self._rows else None
            if stored:
                replies[sample] = stored
        return replies

    def add(self, rows: Sequence[tuple[object, ...]], *, replace: bool = False) -> None:
        """See `Store`."""
        for *checked, _, checksum, answered_by in rows:  # as a row is read: without its time
            self._rows[checked[0]] = *checked, checksum, answered_by


def _has_locks(folder: Path) -> bool:
    """Whether parts of a file in this folder can be locked, as SQLite does; raises `OSError` as `open`."""
    try:
        import fcntl
    except ImportError:  # not on every system, and SQLite has other ways there
        return True
    with TemporaryFile(dir=folder) as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    return True


def _logs_ahead(connection: sqlite3.Connection) -> bool:
    """Turn the write-ahead log on; whether it is on, as another process may be in the way."""
    try:
        return bool(connection.execute("PRAGMA journal_mode=WAL").fetchone()[0] == "wal")
    except sqlite3.OperationalError as e:  # waits for no lock by itself
        if not e.sqlite_errorname.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            raise
        return False


def _bring_up(connection: sqlite3.Connection) -> None:
    """Add the columns that a store of an earlier version lacks, unless another process has done so."""
    version = _version(connection)
    if not 0 < version < _SCHEMA:  # 0: new
        return
    tables = connection.execute("SELECT name FROM sqlite_master WHERE name IN ('replies', 'set_aside')")
    for (table,) in tables.fetchall():
        if version == 1:
            connection.execute(f"ALTER TABLE {table} ADD COLUMN checksum INTEGER")
        connection.execute(f"ALTER TABLE {table} ADD COLUMN answered_by TEXT")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def keys(model: str, endpoint: str, request: Request) -> dict[int, bytes]:
    """sha256 of (model, endpoint, parameters, messages, sample), by sample."""
    base = hashlib.sha256(_settings(model, endpoint, request.params))
    if request.before:  # keys of a prompt alone stay as they are
        base.update(json.dumps(request.before).encode() + b"\0")
    base.update(request.prompt.encode(errors="surrogatepass"))
    by_sample = {}
    for sample in request.samples:
        digest = base.copy()
        digest.update(b"\0%d" % sample)
        by_sample[sample] = digest.digest()
    return by_sample


@functools.lru_cache(maxsize=1024)
def _settings(model: str, endpoint: str, params: Params) -> bytes:
    settings = {**asdict(params), "wanted": []}  # a former setting; keys must stay as they are
    if not params.body:
        del settings["body"]
    return json.dumps([model, endpoint, settings]).encode() + b"\0"


def rows(
    keys: Mapping[int, bytes], model: str, endpoint: str, outcomes: Outcomes, run: str
) -> list[tuple[object, ...]]:
    """The replies among the outcomes of samples as rows of the table; `keys` are those of the samples."""
    of_replies = []
    for sample, outcome in outcomes.items():
        if isinstance(outcome, Reply):
            of_replies.append(_row(keys[sample], model, endpoint, sample, outcome, run))
    return of_replies


def _row(key: bytes, model: str, endpoint: str, sample: int, reply: Reply, run: str) -> tuple[object, ...]:
    """A reply as the table has it, with its checksum."""
    positions = None
    if reply.positions is not None:
        positions = json.dumps([[p.chosen, p.alternatives] for p in reply.positions])
    checked = (
        key,
        hidden(model),
        endpoint,
        sample,
        _encodable(reply.text),
        _encodable(reply.finish),
        reply.prompt_tokens,
        reply.completion_tokens,
        reply.calls,
        positions,
        run,
    )
    return *checked, time.time(), _checksum(checked), reply.answered_by


def _encodable(text: str) -> str:
    """The text with `?` in place of what UTF-8 cannot hold, as half a pair of surrogates."""
    if text.isascii():  # as most are: nothing is copied
        return text
    return text.encode(errors="replace").decode()


def _checksum(checked: tuple[object, ...]) -> int:
    return zlib.crc32(repr(checked).encode())


def _stored(row: tuple[Any, ...]) -> tuple[Reply, str] | None:
    """Reply and run of a row as it was read; None if it is damaged."""
    *checked, checksum, answered_by = row
    if checksum is not None and checksum != _checksum(tuple(checked)):
        return None
    text, finish, prompt_tokens, completion_tokens, calls, positions, run = checked[4:]
    # SQLite stores any type in any column. Rows of version 1 have no checksum that would show it.
    for count in (prompt_tokens, completion_tokens, calls):
        if not isinstance(count, int):
            return None
    for each in (text, finish, run):
        if not isinstance(each, str):
            return None
    try:
        read = None if positions is None else _positions(positions)
    except (ValueError, TypeError, RecursionError):
        return None
    name = answered_by if isinstance(answered_by, str) else ""
    return Reply(text, finish, prompt_tokens, completion_tokens, calls, read, name), run


def _positions(text: str) -> tuple[Position, ...]:
    """Log-probabilities as `_row` wrote them; raises `ValueError` or `TypeError` for anything else."""
    positions = []
    for chosen, alternatives in json.loads(text):
        if not isinstance(chosen, str):
            raise TypeError("a token is no text")
        tops = []
        for token, logprob in alternatives:
            if not isinstance(token, str):
                raise TypeError("a token is no text")
            tops.append((token, float(logprob)))
        positions.append(Position(chosen, tuple(tops)))
    return tuple(positions)


def open_store(path: Path) -> Store:
    """The store in a file; raises `InputError` if it does not exist."""
    if not path.is_file():
        raise InputError(f"{path}: does not exist")
    return Store(path, read_only=True)
