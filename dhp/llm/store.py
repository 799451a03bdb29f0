"""Replies kept in SQLite, so that each is paid for once."""

import functools
import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from dhp.core.errors import InputError
from dhp.core.files import reason
from dhp.llm.records import Params, Position, Reply, Request

FILE = "replies.sqlite"
_SCHEMA = 1
_BUSY_SECONDS = 60.0
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
    created REAL NOT NULL
) WITHOUT ROWID
"""
_COLUMNS = "text, finish, prompt_tokens, completion_tokens, calls, positions, run"


@dataclass(frozen=True, slots=True)
class Stored:
    """A reply as it was found."""

    reply: Reply
    run: str
    """The run that paid for it."""


class Store:
    """A file of replies, safe for several threads and processes at once.

    Parameters
    ----------
    path
        The SQLite file; made on first use if it is not there, with its folder.

    Raises
    ------
    InputError
        On use, if the file cannot be opened or written, or is something else.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._read_only = read_only
        self._local = threading.local()

    def _connection(self) -> sqlite3.Connection:
        """This thread's own."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._read() if self._read_only else self._open()
        return connection

    def _connect(self, query: str) -> sqlite3.Connection:
        address = f"{self.path.absolute().as_uri()}?{query}"
        return sqlite3.connect(address, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)

    def _read(self) -> sqlite3.Connection:
        connection = self._connect("mode=ro")
        try:
            connection.execute("SELECT 1 FROM sqlite_master")
        except sqlite3.OperationalError:  # in a folder that cannot be written
            connection = self._connect("mode=ro&immutable=1")
        return connection

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = self._connect("mode=rwc")
        end = time.monotonic() + _BUSY_SECONDS
        while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            try:
                connection.execute("PRAGMA journal_mode=WAL")
            except sqlite3.OperationalError as e:  # waits for no lock by itself
                if "locked" not in str(e) or time.monotonic() > end:
                    raise
                time.sleep(0.01)
        connection.execute("PRAGMA synchronous=NORMAL")
        if (version := _version(connection)) == 0:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(_TABLE)
            connection.execute(f"PRAGMA user_version={_SCHEMA}")
            connection.execute("COMMIT")
        elif version != _SCHEMA:
            raise sqlite3.DatabaseError(f"was written by another version of dhp (schema {version})")
        return connection

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """Whatever goes wrong with the file, in one line."""
        try:
            yield
        except (OSError, sqlite3.Error) as e:
            advice = (
                "must be replies.sqlite of a run" if self._read_only else "choose another folder by `cache`"
            )
            raise InputError(f"store {self.path}: {reason(e)}; {advice}") from None

    def find(self, keys: Mapping[int, bytes]) -> dict[int, Stored]:
        """The stored ones among the samples of a request, by sample."""
        found = {}
        with self._faults():
            connection = self._connection()
            for sample, key in keys.items():
                row = connection.execute(f"SELECT {_COLUMNS} FROM replies WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    found[sample] = _stored(row)
        return found

    def add(self, rows: Iterable[tuple[object, ...]], *, replace: bool = False) -> None:
        """Write rows (see `row`) in one transaction; when it returns, no kill of the process loses them."""
        verb = "REPLACE" if replace else "IGNORE"
        with self._faults():
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                connection.executemany(
                    f"INSERT OR {verb} INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows
                )
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # a full disk ends it by itself
                    connection.execute("ROLLBACK")
                raise

    def models(self) -> list[tuple[str, str]]:
        """The (model, endpoint) pairs that have replies here."""
        with self._faults():
            connection = self._connection()
            if _version(connection) != _SCHEMA:
                return []
            rows = connection.execute("SELECT DISTINCT model, endpoint FROM replies ORDER BY 1, 2")
            return [(str(model), str(endpoint)) for model, endpoint in rows]

    def release(self) -> None:
        """Close this thread's connection."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def keys(model: str, endpoint: str, request: Request) -> dict[int, bytes]:
    """sha256 of (model, endpoint, parameters, messages, sample), by sample."""
    base = hashlib.sha256(_settings(model, endpoint, request.params))
    if request.before:  # keys of a prompt alone stay as they are
        base.update(json.dumps(request.before).encode() + b"\0")
    base.update(request.prompt.encode(errors="surrogatepass"))
    found = {}
    for sample in request.samples:
        digest = base.copy()
        digest.update(b"\0%d" % sample)
        found[sample] = digest.digest()
    return found


@functools.lru_cache(maxsize=1024)
def _settings(model: str, endpoint: str, params: Params) -> bytes:
    settings = {**asdict(params), "wanted": []}  # a former setting; keys must stay as they are
    return json.dumps([model, endpoint, settings]).encode() + b"\0"


def row(key: bytes, model: str, endpoint: str, sample: int, reply: Reply, run: str) -> tuple[object, ...]:
    """One reply as a row of the table."""
    positions = None
    if reply.positions is not None:
        positions = json.dumps([[p.chosen, p.alternatives] for p in reply.positions])
    return (
        key,
        model,
        endpoint,
        sample,
        _encodable(reply.text),
        _encodable(reply.finish),
        reply.prompt_tokens,
        reply.completion_tokens,
        reply.calls,
        positions,
        run,
        time.time(),
    )


def _encodable(text: str) -> str:
    return text.encode(errors="replace").decode()


def _stored(columns: tuple[str, str, int, int, int, str | None, str]) -> Stored:
    text, finish, prompt_tokens, completion_tokens, calls, positions, run = columns
    read = None
    if positions is not None:
        read = tuple(
            Position(chosen, tuple((token, logprob) for token, logprob in alternatives))
            for chosen, alternatives in json.loads(positions)
        )
    return Stored(Reply(text, finish, prompt_tokens, completion_tokens, calls, read), run)
