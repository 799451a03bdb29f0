"""The benchmark runs from an installed wheel in an empty folder, and from the checkout."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest

import dhp

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
RUN = ("-m", "dhp.benchmark", "--model", "baseline/surface", "--dataset", "mini", "--n", "5", "--out")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the sdist as a release would be."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr[-2000:] + built.stdout[-2000:]
    (found,) = folder.glob("*.whl")
    return found


def test_wheel_holds_the_content_and_no_content_code(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for folder in ("perturbations", "expert_weights", "datasets"):
        content = [n for n in names if n.startswith(f"dhp/_content/{folder}/")]
        assert content
        assert not [n for n in content if n.endswith(".py")]
    assert "dhp/py.typed" in names
    assert {n.split("/")[0] for n in names} == {"dhp", f"{wheel.name.split('-py3')[0]}.dist-info"}


def test_the_first_command_of_the_readme_runs_from_a_wheel_in_an_empty_folder(
    wheel: Path, tmp_path: Path
) -> None:
    """The wheel takes the place of the checkout; no extra is there, and none is needed."""
    readme = (ROOT / "README.md").read_text("utf-8")
    (command,) = re.findall(r"^python3 -m venv .*dhp\.benchmark .*$", readme, re.M)
    assert "pip install -e ." in command
    variables = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}

    def shell(line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", line],
            cwd=tmp_path,
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )

    done = shell(command.replace("python3 ", f"{sys.executable} ", 1).replace("-e .", f"--quiet {wheel}"))
    assert done.returncode == 0, done.stderr[-2000:]
    (results,) = (tmp_path / "runs").glob("*/results.json")
    assert len(json.loads(results.read_text())) == 6
    asked = shell(
        ".venv/bin/dhp benchmark --model openai/NAME --transport sdk --base-url http://127.0.0.1:9/v1"
    )
    assert asked.returncode == 2
    assert len(asked.stderr.splitlines()) == 1
    assert "needs the package 'openai'" in asked.stderr


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the runs `one` and `other`."""
    folder = tmp_path_factory.mktemp("runs")
    for name, model in (("one", "mock/ideal"), ("other", "mock/noisy")):
        dhp.run(model, "mini/story_cloze", n=12, out=folder / name, progress=False)
    return folder


@pytest.mark.parametrize(
    "command", ["analyze one/ratings.parquet", "compare one other", "gate one --min-detection 1"]
)
def test_what_reads_ratings_loads_nothing_that_is_for_texts(command: str, runs: Path) -> None:
    code = (
        "import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "
        f"from dhp.cli.main import main; main({command.split()})"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=runs, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded = {name.split(".")[0] for name in done.stderr.splitlines()[-1].split()}
    assert "dhp" in loaded
    assert not {*"aiohttp budoux lemminflect matplotlib nltk openai sentencex typo wordfreq".split()} & loaded


def test_runs_with_the_checkout_as_working_directory(tmp_path: Path) -> None:
    # Here the folder datasets/ lies in the way of the library of that name.
    rows = [{"source": f"Ann has {i} cats and a dog.", "output": f"She has {i} cats."} for i in range(6)]
    (tmp_path / "hub").mkdir()
    pd.DataFrame(rows).to_parquet(tmp_path / "hub" / "train.parquet")
    own = ("--dataset", f"hf:{tmp_path / 'hub'}", "--task", "summarization")
    done = subprocess.run(
        [sys.executable, *RUN, str(tmp_path / "r"), *own],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(json.loads((tmp_path / "r" / "results.json").read_text())) == 7
