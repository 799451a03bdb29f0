"""When the system gives no more memory or threads: which limit is at fault, in one line."""

import errno
import os
import re
from collections.abc import Callable

_NO_THREAD = re.compile(r"can't start new thread|(?:launch|create|start)[^.]{0,20} thread", re.I)
_NO_MEMORY = re.compile(
    r"cannot allocate memory|out of memory|bad_alloc|failed to map segment|malloc|unable to allocate", re.I
)
"""Words of the libraries below, which have no class of errors for it."""


_LEAST = 200 * 10**6
"""Bytes of memory below which not even the libraries can be loaded."""
_SHOWN: dict[str, Callable[[int], str]] = {
    "RLIMIT_AS": lambda limit: f"{limit // 10**6:,} MB of memory, ulimit -v",
    "RLIMIT_NPROC": lambda limit: f"{limit:,} processes and threads of this user, ulimit -u",
}


def shortage(error: BaseException | None) -> str | None:
    """What ran out, and what to do, if an error or one that it came of says so; else None."""
    while error is not None:
        text = str(error)
        if _NO_THREAD.search(text):
            limits = _limits("RLIMIT_NPROC", "RLIMIT_AS")
            return f"no further thread can be started{limits}; raise the limit and repeat the command"
        no_memory = isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM
        if no_memory or (isinstance(error, ImportError | OSError) and _NO_MEMORY.search(text)):
            limits = _limits("RLIMIT_AS")
            return f"memory ran out{limits}; raise the limit, or free memory, and repeat the command"
        error = error.__cause__ or error.__context__
    return None


def spare_memory() -> None:
    """Let libraries that are loaded later take less if memory is limited; `MemoryError` if that is vain.

    OpenBLAS maps a buffer for each thread as it is loaded, and retries for ever, or ends the process,
    if it gets none. Arrow's own allocator reserves a gigabyte.
    """
    limit = _limited("RLIMIT_AS")
    if limit is None:
        return
    if limit < _LEAST:
        raise MemoryError
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


def _limits(*names: str) -> str:
    """Those of these limits that are set, as a shell names them."""
    limits = {name: _limited(name) for name in names}
    shown = [_SHOWN[name](limit) for name, limit in limits.items() if limit is not None]
    return f" ({'; '.join(shown)})" if shown else ""


def _limited(name: str) -> int | None:
    """A limit of this process; None if there is none, or no such thing."""
    try:
        import resource
    except ImportError:  # not on every system
        return None
    limit = resource.getrlimit(getattr(resource, name))[0]
    return None if limit == resource.RLIM_INFINITY else limit
