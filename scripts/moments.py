"""Stop commands at random moments and repeat them: equal figures, nothing paid twice but what was in flight.

    python scripts/moments.py [--moments 60] [--command TEXT] [--seed 0]

Each command that writes anything is killed, terminated or interrupted at a moment drawn from the time that it
takes, again and again in the same folder; where it ends before that, it begins anew in another one. Then it
runs to its end. Its files, but for times and costs, must be those of a run that nobody stopped.
"""

import argparse
import contextlib
import io
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dhp.cli.main import main as dhp_main
from dhp.plugins.batch import jobs
from tests.cli.conftest import Outcome
from tests.cli.test_stopped_and_repeated import asked, says, written
from tests.cli.test_written_names import COMMANDS, make_runs, write_answers, write_texts
from tests.plugins.batch.provider_server import Provider, provider_server
from tests.quick import undrawn
from tests.server import Scripted, scripted_server

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
MOST_IN_FLIGHT = 64
"""Calls of a command at once, unless it is told otherwise."""
LONGEST = 180.0
"""Seconds from which a command counts as one that does not end."""


@dataclass
class Found:
    """What became of a command."""

    stops: int = 0
    folders: int = 0
    twice: int = 0
    calls: int = 0
    faults: list[str] = field(default_factory=list)


def begun(command: str) -> int:
    """The process of a command that runs in a copy of this one, without the time for imports."""
    process = os.fork()
    if process == 0:
        _run_and_exit(command)
    return process


def _run_and_exit(command: str) -> NoReturn:
    code = 99
    try:
        with Path("said.txt").open("w") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
            sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
            try:
                dhp_main(command.split())
            except SystemExit as e:
                code = int(e.code or 0)
            sys.stdout.flush()
            sys.stderr.flush()
    finally:
        os._exit(code)


def ended(process: int, seconds: float) -> int | None:
    """The exit code of a process that ends within so many seconds; None for another one."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    return None


def finished(command: str) -> int:
    """The exit code of a command that nobody stops."""
    process = begun(command)
    code = ended(process, LONGEST)
    if code is None:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        return -1
    return code


def enter(folder: Path) -> None:
    """Make it the working folder, with a cache of published data inside."""
    os.chdir(folder)
    os.environ["XDG_CACHE_HOME"] = str(folder / "home")


def prepared(folder: Path) -> Path:
    """A folder with what the commands are given."""
    given = folder / "given"
    given.mkdir()
    enter(given)

    def dhp(command: str) -> Outcome:
        """In this process, so that those that are stopped need not import what it imports."""
        out, code = io.StringIO(), 99
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                dhp_main(command.split())
            except SystemExit as e:
                code = int(e.code or 0)
        return Outcome(code, "", out.getvalue())

    write_texts()
    make_runs(dhp)
    write_answers(dhp)
    return given


def stopped(command: str, given: Path, moments: int, server: Scripted, draw: random.Random) -> Found:
    """A command that is stopped at so many moments, against one that is not."""
    found = Found()
    whole = shutil.copytree(given, given.parent / "whole")
    enter(whole)
    start = time.monotonic()
    code = finished(command)
    seconds = time.monotonic() - start
    files, calls = written(whole), asked(server)
    found.calls = calls.total()
    if code not in (0, 1, 3):
        found.faults.append(f"exit {code}: {Path('said.txt').read_text()[-200:]}")
        moments = 0
    while found.stops < moments and not found.faults:
        found.folders += 1
        broken = shutil.copytree(given, given.parent / "broken")
        enter(broken)
        stops = 0
        while found.stops + stops < moments:
            process = begun(command)
            if ended(process, draw.uniform(0, seconds)) is not None:
                break
            os.kill(process, draw.choice(SIGNALS))
            if ended(process, LONGEST) is None:
                found.faults.append("does not stop")
            stops += 1
        last = finished(command)
        again = asked(server)
        twice = again.total() - len(again)
        found.stops, found.twice = found.stops + stops, found.twice + twice
        if last != code:
            found.faults.append(f"exit {last}, not {code}: {Path('said.txt').read_text()[-200:]}")
        elif other := _other(written(broken), files):
            found.faults.append(f"other files: {', '.join(other)}")
        if _prompts(again) != _prompts(calls) or twice > stops * MOST_IN_FLIGHT:
            found.faults.append(f"{twice} calls twice, or other calls")
        shutil.rmtree(broken)
    enter(given)
    shutil.rmtree(whole)
    return found


def _prompts(calls: Counter[bytes]) -> set[str]:
    """What was asked, in whatever calls: that a server ignores `n` is learned anew by each command."""
    bodies = [json.loads(raw) for raw in calls]
    return {json.dumps(body["messages"]) for body in bodies}


def _other(one: dict[str, object], other: dict[str, object]) -> list[str]:
    return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))


def main() -> None:
    """Print a line for each command, and a non-zero exit code where one failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moments", type=int, default=60, help="at which each command is stopped")
    parser.add_argument("--command", default="", help="only the commands with this in their name")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    options = parser.parse_args()
    os.environ["OPENAI_API_KEY"] = "none"
    jobs._FIRST_WAIT = 0.01
    failed = False
    print("| command | stops | folders | calls | twice | outcome |\n|---|---:|---:|---:|---:|---|")
    with tempfile.TemporaryDirectory() as folder, scripted_server(says) as server, undrawn():
        given = prepared(Path(folder))
        for name, line in COMMANDS.items():
            if options.command not in name:
                continue
            with provider_server(Provider()) as provider:
                command = line.replace("URL", f"{server.url}/v1").replace("PROVIDER", f"{provider.url}/v1")
                draw = random.Random(json.dumps([options.seed, name]))
                found = stopped(command, given, options.moments, server, draw)
            failed = failed or bool(found.faults)
            outcome = "; ".join(found.faults).replace("\n", " ") or "ok"
            counts = f"{found.stops} | {found.folders} | {found.calls} | {found.twice}"
            print(f"| {name} | {counts} | {outcome} |", flush=True)
        os.chdir("/")
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
