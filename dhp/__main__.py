"""The `dhp` command, which is `python -m dhp`, too: Ctrl-C shows no traceback while it is loaded or ends."""

import signal
import sys
from collections.abc import Sequence
from typing import NoReturn


def start(arguments: Sequence[str] | None = None, program: str = "dhp") -> NoReturn:
    """See `dhp.cli.main.main`; outside of it Ctrl-C ends the process without a word.

    SIGTERM, by which systems end jobs and containers, is taken for Ctrl-C.
    """
    # What the caller handles otherwise is left alone: a job in the background ignores SIGINT.
    heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    ends = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if heeded:
        # While modules load, Ctrl-C would show a traceback from the middle of an import.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        from dhp.cli.main import main
    except ImportError as e:
        from dhp.core.errors import broken_installation

        broken = broken_installation(e)
        if not broken:
            raise
        print(f"dhp: {broken}", file=sys.stderr)
        raise SystemExit(2) from None
    try:
        if heeded:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if ends:
            signal.signal(signal.SIGTERM, signal.default_int_handler)
        main(arguments, program=program)
    except KeyboardInterrupt:  # another one, while the first is told
        raise SystemExit(128 + signal.SIGINT) from None
    finally:
        if ends:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if heeded:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    start(program="python -m dhp")
