"""Replies kept in SQLite, so that each is paid for once."""

import functools
import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from dhp.errors import InputError
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
        The SQLite file; made if it is not there, with its folder.

    Raises
    ------
    InputError
        If the file cannot be opened or is something else.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection()
        except (OSError, sqlite3.Error) as e:
            self.close()
            reason = e.strerror if isinstance(e, OSError) else str(e)
            raise InputError(f"store {path}: {reason}; choose another folder by --cache") from None

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = sqlite3.connect(
                self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._connections.append(connection)
            self._local.connection = connection
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, _SCHEMA):
                raise sqlite3.DatabaseError(f"was written by another version of dhp (schema {version})")
            connection.execute(_TABLE)
            connection.execute(f"PRAGMA user_version={_SCHEMA}")
        return connection

    def find(self, keys: Mapping[int, bytes]) -> dict[int, Stored]:
        """The stored ones among the samples of a request, by sample."""
        found = {}
        connection = self._connection()
        for sample, key in keys.items():
            row = connection.execute(f"SELECT {_COLUMNS} FROM replies WHERE key = ?", (key,)).fetchone()
            if row is not None:
                found[sample] = _stored(row)
        return found

    def add(self, rows: Iterable[tuple[object, ...]], *, replace: bool = False) -> None:
        """Write rows (see `row`) in one transaction; when it returns, no kill of the process loses them."""
        verb = "REPLACE" if replace else "IGNORE"
        connection = self._connection()
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(
                f"INSERT OR {verb} INTO replies VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows
            )
            connection.execute("COMMIT")
        except sqlite3.Error as e:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise InputError(f"store {self.path}: {e}; free the disk or choose another --cache") from None

    def models(self) -> list[tuple[str, str]]:
        """The (model, endpoint) pairs that have replies here."""
        rows = self._connection().execute("SELECT DISTINCT model, endpoint FROM replies ORDER BY 1, 2")
        return [(str(model), str(endpoint)) for model, endpoint in rows]

    def close(self) -> None:
        """Close all connections."""
        for connection in self._connections:
            connection.close()
        self._connections.clear()
        self._local = threading.local()


def keys(model: str, endpoint: str, request: Request) -> dict[int, bytes]:
    """sha256 of (model, endpoint, parameters, prompt, sample), by sample."""
    base = hashlib.sha256(_settings(model, endpoint, request.params))
    base.update(request.prompt.encode(errors="surrogatepass"))
    found = {}
    for sample in request.samples:
        digest = base.copy()
        digest.update(b"\0%d" % sample)
        found[sample] = digest.digest()
    return found


@functools.lru_cache(maxsize=1024)
def _settings(model: str, endpoint: str, params: Params) -> bytes:
    return json.dumps([model, endpoint, asdict(params)]).encode() + b"\0"


def row(key: bytes, model: str, endpoint: str, sample: int, reply: Reply, run: str) -> tuple[object, ...]:
    """One reply as a row of the table."""
    positions = None
    if reply.positions is not None:
        positions = json.dumps([[p.chosen, p.alternatives] for p in reply.positions], ensure_ascii=False)
    return (
        key,
        model,
        endpoint,
        sample,
        reply.text.encode(errors="replace").decode(),
        reply.finish,
        reply.prompt_tokens,
        reply.completion_tokens,
        reply.calls,
        positions,
        run,
        time.time(),
    )


def _stored(columns: tuple[str, str, int, int, int, str | None, str]) -> Stored:
    text, finish, prompt_tokens, completion_tokens, calls, positions, run = columns
    read = None
    if positions is not None:
        read = tuple(
            Position(chosen, tuple((token, logprob) for token, logprob in alternatives))
            for chosen, alternatives in json.loads(positions)
        )
    return Stored(Reply(text, finish, prompt_tokens, completion_tokens, calls, read), run)
