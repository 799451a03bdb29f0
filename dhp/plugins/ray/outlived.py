"""A parent process for commands on Ray, which ends a run without a word if its node is lost."""

import ctypes
import os
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path

_COMMANDS = ("dhp", "dhp-benchmark")
_LOST = 1
"""Exit code with which Ray ends the process; no command that takes `--ray` ends with it."""
_PARENT_DIES = 1
"""Option of Linux' `prctl`: the signal for a process whose parent has died."""
_ADOPTS = 36
"""Option of Linux' `prctl`: the process becomes the parent of descendants whose parent has died."""


def outlive() -> None:
    """Go on in a child process; this one passes its signals and its exit code on.

    If Ray ended the child, this process says so and ends with 3, as the command can be repeated. Nothing
    happens in other programs than the commands of dhp, nor if threads are at work already.
    """
    if not (sys.platform == "linux" and _is_command() and threading.active_count() == 1):
        return
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    child = os.fork()
    if child:
        _end_as(child)
    ctypes.CDLL(None).prctl(_PARENT_DIES, signal.SIGKILL)
    if os.getppid() != parent:  # it died before that was set
        os._exit(_LOST)


def _is_command() -> bool:
    """Whether the program is one of dhp's commands."""
    main = sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)
    name = spec.name.partition(".")[0] if spec else Path(getattr(main, "__file__", None) or "").name
    return name in _COMMANDS


def _end_as(child: int) -> None:
    """Wait for the child, and end as it did, with all that it has left if it was ended."""
    ctypes.CDLL(None).prctl(_ADOPTS, 1)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _: os.kill(child, received))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to both
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code == _LOST or code < 0:
        _kill_left()
    if code == _LOST:
        code = 3
        print(
            "dhp: --ray: the Ray node of this machine has ended; all replies that came are kept, "
            "repeat the command to resume",
            file=sys.stderr,
            flush=True,
        )
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def _kill_left() -> None:
    """Kill the helpers of a node that has ended, some of which go on for minutes."""
    with suppress(OSError):  # no child is left
        while True:
            for child in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
                os.kill(int(child), signal.SIGKILL)  # its children are the next
            os.waitpid(-1, 0)
