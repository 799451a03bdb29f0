"""When the system gives no more memory or threads: which limit is at fault, in one line."""

import errno
import os
import re
from collections.abc import Callable

_NO_THREAD = {
    "builtins": re.compile(r"can't start new thread$"),  # a `RuntimeError` of `threading`
    "pyarrow.lib": re.compile(r"(Unknown error: )?Failed to launch worker thread: "),
}
"""Module of an error -> how it says that no thread can be started."""
# libopenblas.so.0: failed to map segment from shared object
_NO_MEMORY = re.compile(
    r"[^:]*\.so[.\d]*: (failed to map segment|cannot allocate memory|cannot create)", re.I
)
"""How the system says that it cannot load a library."""
_LEAST = 200 * 10**6
"""Bytes of memory below which not even the libraries can be loaded."""
_SHOWN: dict[str, Callable[[int], str]] = {
    "RLIMIT_AS": lambda limit: f"{limit // 10**6:,} MB of memory, ulimit -v",
    "RLIMIT_NPROC": lambda limit: f"{limit:,} processes and threads of this user, ulimit -u",
}


def shortage(error: BaseException | None) -> str | None:
    """What ran out, and what to do, if an error or one of its causes says so; else None."""
    while error is not None:
        if _no_thread(error):
            limits = _limits("RLIMIT_NPROC", "RLIMIT_AS")
            return f"no further thread can be started{limits}; raise the limit and repeat the command"
        if _no_memory(error):
            limits = _limits("RLIMIT_AS")
            return f"memory ran out{limits}; raise the limit, or free memory, and repeat the command"
        # What was raised while another error was handled has that one as its context.
        error = error.__cause__ or error.__context__
    return None


def _no_thread(error: BaseException) -> bool:
    """Neither of the libraries has a class of errors for it: the error is theirs, with their own words.

    The text of no other error is read. It may be the user's or a server's, and of any length.
    """
    words = _NO_THREAD.get(type(error).__module__)
    of_library = type(error) is RuntimeError or type(error).__module__ == "pyarrow.lib"
    return of_library and words is not None and words.match(str(error)) is not None


def _no_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return True
    return isinstance(error, ImportError) and _NO_MEMORY.match(str(error)) is not None


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
    shown = []
    for name in names:
        limit = _limited(name)
        if limit is not None:
            shown.append(_SHOWN[name](limit))
    return f" ({'; '.join(shown)})" if shown else ""


def _limited(name: str) -> int | None:
    """A limit of this process; None if it is not set, or unknown to this system."""
    try:
        import resource
    except ImportError:  # not on every system
        return None
    limit = resource.getrlimit(getattr(resource, name))[0]
    return None if limit == resource.RLIM_INFINITY else limit
