"""When memory or threads run out, one line names the limit that is at fault."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pyarrow.lib import ArrowException

from dhp.core.errors import InputError
from dhp.core.shortage import shortage

resource = pytest.importorskip("resource", reason="not on Windows")
MEGABYTE = 10**6


def came_of(error: Exception) -> Exception:
    try:
        try:
            raise error
        except type(error):
            raise InputError("ratings.parquet: not a Parquet file") from None
    except InputError as e:
        return e


@pytest.mark.parametrize(
    ("error", "what"),
    [
        (MemoryError(), "memory ran out"),
        (ImportError("x.so: failed to map segment from shared object"), "memory ran out"),
        (OSError(12, "Cannot allocate memory"), "memory ran out"),
        (RuntimeError("can't start new thread"), "no further thread can be started"),
        (ArrowException("Unknown error: Failed to launch worker thread: Resource busy"), "no further thread"),
    ],
)
def test_what_ran_out_is_named_also_where_an_error_came_of_it(error: Exception, what: str) -> None:
    for each in (error, came_of(error)):
        assert (shortage(each) or "").startswith(what)


@pytest.mark.parametrize(
    "error",
    [
        ValueError("5 threads"),
        OSError(11, "busy"),
        OSError(28, "No space"),
        None,
        FileNotFoundError(2, "No such file", "start the thread.csv"),
        InputError("start the thread.csv: does not exist"),
        InputError("openai/m: HTTP 400: Could not create a thread for this request"),
        RuntimeError("I can't start new thread of talk"),
        RuntimeError("can't start new thread of talk"),
        OSError("cannot launch worker thread 'malloc'"),
        ImportError("cannot import name 'malloc' from 'out of memory'"),
    ],
)
def test_other_errors_are_none(error: Exception | None) -> None:
    assert shortage(error) is None


class Unreadable(Exception):
    """Its text may be of any length, and somebody else's."""

    def __str__(self) -> str:
        raise AssertionError("is not asked for its text")


def test_the_text_of_other_errors_is_not_read() -> None:
    assert shortage(came_of(Unreadable())) is None


def limited(memory: int, stack: int | None = None) -> Callable[[], None]:
    """Sets limits in megabytes; each thread takes as much memory as the stack may."""

    def limit() -> None:
        if stack is not None:
            resource.setrlimit(resource.RLIMIT_STACK, (stack * MEGABYTE, resource.RLIM_INFINITY))
        resource.setrlimit(resource.RLIMIT_AS, (memory * MEGABYTE, memory * MEGABYTE))

    return limit


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limit", "code", "said"),
    [
        (limited(100), 3, "memory ran out (100 MB of memory, ulimit -v)"),
        (limited(400), 3, "memory ran out (400 MB of memory, ulimit -v)"),
        (limited(1500), 0, ""),
        (limited(3000, stack=4000), 3, "no further thread can be started ("),
    ],
    ids=["100 MB", "400 MB", "1500 MB", "no thread"],
)
def test_a_run_under_a_limit(limit: Callable[[], None], code: int, said: str, tmp_path: Path) -> None:
    asked = ["--model", "mock/noisy", "--dataset", "mini/summeval", "--n", "2", "--out", str(tmp_path / "o")]
    command = [sys.executable, "-m", "dhp", "benchmark", *asked, "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit, timeout=100)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    of_dhp = [line for line in done.stderr.splitlines() if not line.startswith("<jemalloc>")]
    assert len(of_dhp) == (1 if code else 0)
