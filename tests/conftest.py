"""Shared by all tests: hypothesis without deadlines (timings are measured by scripts), a private cache."""

import contextlib
import gc
import importlib
import itertools
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

sys.dont_write_bytecode = False  # else every worker of every run compiles all tests and all of dhp anew

settings.register_profile("thorough", deadline=None, max_examples=200)  # .ci/run
# Few and always the same, so that a first run does not fail for a rare text; .ci/run looks for such texts.
settings.register_profile("dhp", deadline=None, max_examples=10, derandomize=True)
settings.load_profile("dhp")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Workers begin with different files, so that each compiles a part of the tests and loads the rest."""
    worker, config = getattr(session.config, "workerinput", None), session.config
    if worker and list(config.args) == config.getini("testpaths"):
        files = sorted(Path(__file__).parent.rglob("test_*.py"))
        for path in files[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]:
            with contextlib.suppress(Exception, pytest.skip.Exception):  # collection tells of it
                importlib.import_module(".".join(path.relative_to(session.path).with_suffix("").parts))


def pytest_collection_finish() -> None:
    """What was imported and collected stays: the garbage collector need not look at it again."""
    gc.collect()
    gc.freeze()


_TERMINAL = ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
"""What tells rich of a terminal that is not there."""


def pytest_configure() -> None:
    """Commands under test inherit no Ctrl-C ignored, as a shell's background jobs do, and no terminal."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in _TERMINAL:
        os.environ.pop(name, None)


@pytest.fixture(scope="session")
def caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Names of new folders: counting is faster than looking what is there."""
    root = tmp_path_factory.mktemp("caches")
    return (root / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def private_cache(caches: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data cache of each test is a folder of its own."""
    folder = next(caches)
    folder.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture(scope="session")
def real() -> Path:
    """The folder of published data, `DHP_REAL_DATA` or ../shared/data; without it the test is skipped."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("DHP_REAL_DATA", default))
    if not folder.is_dir():
        pytest.skip(f"the published data is not at {folder}; DHP_REAL_DATA names its folder")
    return folder
