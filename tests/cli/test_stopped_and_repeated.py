"""A command may be stopped at any moment and repeated: it goes on, with equal figures, no call paid twice.

Each command is stopped before it gives the first file its name; repeated, and stopped at the second name; and
so on until it ends. So it meets all that it can leave: files that are whole, and temporary ones of the next.
By turns it is killed and interrupted by Ctrl-C.
"""

import json
import os
import re
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from dhp.cli.main import main
from tests.cli.test_written_names import COMMANDS, enter, given, provider
from tests.plugins.batch.provider_server import Provider
from tests.server import Call, Scripted, reply, scripted_server

pytestmark = pytest.mark.slow
__all__ = ["given", "provider"]
STOPPED = 9
WRONGLY = 98
"""Exit code for a command that was interrupted and ended otherwise than it should."""
_VOLATILE = ("created", "usage", "cost", "latency", "checksum", "seconds")
_OF_THIS_RUN = re.compile(
    rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d\S*)?|[\d.]+ s\b|[0-9a-f]{64}| time=\"[\d.]+\""
    rb"|<div>\s*<dt>(cost|seconds a call)[^<]*</dt>\s*<dd>[^<]*</dd>\s*</div>\s*"
)
"""When it was, what its calls took, and checksums over these."""
_MOST_NAMES = 60
"""Names that any command gives, at most."""
_names_left: int | None = None
"""How many files may still get their names; None: all."""
_by_ctrl_c = False
"""Whether the next name is answered by Ctrl-C; else the process is killed."""
_interrupted = False


def _heed(event: str, given: tuple[Any, ...]) -> None:
    global _names_left, _interrupted
    if _names_left is None or event != "os.rename" or not _is_ours(str(given[1])):
        return
    if _names_left > 0:
        _names_left -= 1
        return
    if not _by_ctrl_c:
        os._exit(STOPPED)
    _names_left, _interrupted = None, True
    signal.raise_signal(signal.SIGINT)


def _is_ours(path: str) -> bool:
    return Path(os.path.abspath(path)).is_relative_to(Path.cwd())  # noqa: PTH100  links must stay


@pytest.fixture(scope="module", autouse=True)
def heeding() -> None:
    sys.addaudithook(_heed)  # there is no way to take it back: it does nothing while all may be named


def says(call: Call) -> Any:
    """The same answer to the same request: a rating, steps or a verdict, whatever is asked for."""
    return reply(str(1 + sum(call.raw) % 5))


@pytest.fixture(scope="module")
def server() -> Iterator[Scripted]:
    with scripted_server(says) as running:
        yield running


def stopped(command: str, names: int, by_ctrl_c: bool = False) -> tuple[int, str]:
    """The exit code and the messages of a command that is stopped once it has given so many names."""
    said = Path("said.txt")
    process = os.fork()
    if process == 0:
        _run_and_exit(command, names, said, by_ctrl_c)
    _, status = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status), said.read_text(errors="replace")


def _run_and_exit(command: str, names: int, said: Path, by_ctrl_c: bool) -> NoReturn:
    global _names_left, _by_ctrl_c
    code = 99
    try:
        with said.open("w") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
            sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
            _names_left, _by_ctrl_c = names, by_ctrl_c
            try:
                main(command.split())
            except SystemExit as e:
                code = int(e.code or 0)
            if _interrupted:
                print("exit", code, file=sys.stderr)
                code = STOPPED if code == 3 else WRONGLY
            sys.stdout.flush()
            sys.stderr.flush()
    finally:
        os._exit(code)


def written(folder: Path) -> dict[str, object]:
    """Name -> what a file holds, but when and at what cost it was made."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if not path.is_file() or name.startswith("cache/") or name == "said.txt":
            continue
        data = path.read_bytes()
        if path.suffix == ".json":
            found[name] = _lasting(json.loads(data))
        else:
            found[name] = _OF_THIS_RUN.sub(b"", data)
    return found


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _lasting(v) for k, v in value.items() if k not in _VOLATILE}
    return [_lasting(each) for each in value] if isinstance(value, list) else value


def asked(server: Scripted) -> "Counter[bytes]":
    """Requests since the last call -> how often they came."""
    calls = Counter(call.raw for call in server.calls if call.method == "POST")
    server.calls.clear()
    return calls


ONE_PAGE = {
    "gate",
    "report",
    "compare",
    "survey",
    "analyze",
    "correlate",
    "power",
    "chart",
    "questions",
    "review",
}
"""Commands that write one file by `write_lines`, as "perturb" does, which is stopped here for all of them."""


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ONE_PAGE])
def test_a_command_that_is_stopped_before_each_file_goes_on(
    name: str,
    given: Path,
    server: Scripted,
    provider: Provider,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setattr("dhp.plugins.batch.jobs._FIRST_WAIT", 0.01)
    command = COMMANDS[name].replace("URL", f"{server.url}/v1").replace("PROVIDER", f"{provider.url}/v1")

    def copy(label: str) -> Path:
        shutil.copytree(given, tmp_path / label)
        enter(tmp_path / label, monkeypatch)
        return tmp_path / label

    whole = copy("whole")
    first, said = stopped(command, _MOST_NAMES)
    assert first in (0, 1, 3), said
    paid, batches = asked(server), len(provider.batches)

    broken = copy("broken")
    for names in range(_MOST_NAMES):
        code, said = stopped(command, names, by_ctrl_c=(names + len(name)) % 2 == 1)
        if code != STOPPED:
            break
    assert names > 0, "a command that gives no name is not stopped"
    assert code == first, f"{command}\nafter {names} names: exit {code}, {said}"
    assert asked(server) == paid
    assert len(provider.batches) == 2 * batches
    assert provider.direct == 0
    assert written(broken) == written(whole)
