"""A perturber in a package of somebody else's, installed into a folder of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.llm.stub import stats, stub_server

ENTRY_POINTS = """[dhp.perturbers]
shout = rude_texts:shout
asks = rude_texts:asks
broken = rude_texts:nothing
"""
MODULE = '''
import dhp


@dhp.perturber(name="shout", level="sentence", languages=["en"])
def shout(text, rng):
    """Say it in capital letters.

    All of it.
    """
    return text.upper()


@dhp.perturber(name="asks", level="sentence", method="llm")
def asks(text, rng, *, model):
    """Let a model say it."""
    return model.ask(f"Say it: {text}")
'''


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as an installer leaves it."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "rude_texts.py").write_text(MODULE)
    about = folder / "rude_texts-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: rude-texts\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    return folder


def dhp(site: Path, cwd: Path, *args: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(site), str(Path(__file__).parents[2])])
    environment = {**os.environ, "PYTHONPATH": path, "OPENAI_API_KEY": "x"}
    command = [sys.executable, "-m", "dhp", *args]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_it_is_listed_shown_and_used_by_its_name(site: Path, tmp_path: Path) -> None:
    listed = dhp(site, tmp_path, "list", "perturbers").stdout
    assert "Say it in capital letters." in " ".join(listed.split())
    assert "no attribute 'nothing'" in " ".join(listed.split())
    shown = dhp(site, tmp_path, "show", "shout").stdout
    assert shown.startswith("shout (shout): Say it in capital letters.\n")
    assert "installed: rude_texts:shout, --perturber shout" in shown
    few = ("perturb", "--dataset", "mini/summeval", "--n", "2")
    done = dhp(site, tmp_path, *few, "--perturber", "shout", "--show", "1")
    assert done.returncode == 0, done.stderr
    assert "shout" in done.stdout
    unknown = dhp(site, tmp_path, *few, "--perturber", "shuot", "--show", "1")
    assert unknown.returncode == 2
    assert "'shout'" in unknown.stderr or " shout," in unknown.stderr


@pytest.mark.slow
def test_it_asks_the_perturb_model_once(site: Path, tmp_path: Path) -> None:
    with stub_server("--say", "tests.cli.says:louder") as url:
        command = ["perturb", "--dataset", "mini/summeval", "--n", "3", "--perturber", "asks"]
        (tmp_path / "suite.yaml").write_text(
            "suite: my\ntask: summarization\nsource: own choice\n"
            "perturbers:\n  asks: {level: sentence, method: llm}\n"
        )
        command += ["--suite", "suite.yaml", "--perturb-model", "openai/writer", "--base-url", url]
        estimated = dhp(site, tmp_path, *command, "--dry-run")
        assert stats(url)["bodies"] == []
        assert "3" in estimated.stdout, estimated.stderr
        for _ in range(2):
            done = dhp(site, tmp_path, *command, "--out", "x.jsonl")
            assert done.returncode == 0, done.stderr
        assert len(stats(url)["bodies"]) == 3
