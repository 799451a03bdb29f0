"""The benchmark runs from an installed wheel in an empty folder, and from the checkout."""

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pandas as pd
import pytest

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


def test_installed_wheel_runs_in_an_empty_folder(wheel: Path, tmp_path: Path) -> None:
    environment, empty = tmp_path / "venv", tmp_path / "empty"
    empty.mkdir()
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    variables = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    for arguments in (("-m", "pip", "install", "--quiet", str(wheel)), (*RUN, "r")):
        done = subprocess.run(
            [str(python), *arguments], cwd=empty, env=variables, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-2000:]
    assert len(json.loads((empty / "r" / "results.json").read_text())) == 6


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
