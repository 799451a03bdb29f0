"""`dhp leaderboard` as a user types it."""

import json
import runpy
import shutil
import sys
from pathlib import Path

import pytest

import dhp as library
from dhp.core.writing import OutputFolder
from tests.cli.conftest import Run

from .conftest import soon

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small run."""
    folder = tmp_path_factory.mktemp("runs") / "one"
    library.run("mock/noisy", "mini/answer_equivalence", out=folder)
    return folder


@pytest.mark.slow
def test_from_a_run_to_a_board_to_a_site(dhp: Run, run: Path, tmp_path: Path) -> None:
    done = dhp("leaderboard", run, "--out", "direct/")
    assert (done.code, done.err) == (0, "")
    assert done.out == "direct/index.html: 1 result in 1 table\n"
    done = dhp(
        *("leaderboard", "add", run / "results.json", "--to", "board"),
        *("--ratings", run / "ratings.parquet"),
    )
    assert done.code == 0
    assert done.out.startswith("written: board/mock-noisy-none-mini-answer-equivalence-")
    done = dhp("leaderboard", "board")
    assert done.code == 0
    assert (tmp_path / "site" / "index.html").is_file()


@pytest.mark.slow
def test_the_script_is_the_command(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["make_leaderboard.py", str(run), "--out", str(tmp_path / "site")])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "scripts" / "make_leaderboard.py"), run_name="__main__")
    assert ended.value.code == 0
    assert "1 result" in capsys.readouterr().out


@pytest.mark.slow
def test_the_newer_run_counts_and_the_command_goes_on(dhp: Run, run: Path, tmp_path: Path) -> None:
    newer = json.loads((run / "results.json").read_text())
    newer |= {"created": (later := soon())}
    del newer["checksum"]
    (tmp_path / "newer.json").write_text(json.dumps(newer))
    done = dhp("leaderboard", run, "newer.json")
    assert done.code == 0
    assert done.err.count("\n") == 1
    assert "dhp: two runs" in done.err
    (table,) = json.loads((tmp_path / "site" / "leaderboard.json").read_text())["tables"]
    assert [row["created"] for row in table["rows"]] == [later]


@pytest.mark.slow
def test_unfinished_runs_are_left_out_with_one_line(dhp: Run, run: Path, tmp_path: Path) -> None:
    for name in ("killed", "stopped"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text((run / "manifest.json").read_text())
    done = dhp("leaderboard", "killed", run, "stopped")
    assert (done.code, done.out) == (0, "site/index.html: 1 result in 1 table\n")
    assert (
        done.err
        == "dhp: left out: unfinished runs killed, stopped; repeat the command of a run to finish it\n"
    )
    for arguments in (("killed", "stopped"), ("add", "killed", "--to", "board")):
        alone = dhp("leaderboard", *arguments, *(() if "add" in arguments else ("--out", "other")))
        assert alone.code == 2
        assert alone.err.startswith("dhp: unfinished runs killed")
        assert alone.err.count("\n") == 1
    assert not (tmp_path / "other").exists()


@pytest.mark.slow
def test_a_run_that_compares_texts_is_taken(dhp: Run, tmp_path: Path) -> None:
    library.run("mock/noisy", "mini/summeval", n=12, protocol="choose", out=tmp_path / "compared")
    assert dhp("leaderboard", "compared").code == 0
    assert dhp("leaderboard", "add", "compared", "--to", "board").code == 0


@pytest.mark.slow
def test_folders_of_other_commands_are_no_unfinished_runs(dhp: Run, run: Path, tmp_path: Path) -> None:
    inner = tmp_path / "all" / "inner"
    shutil.copytree(run, inner)
    with OutputFolder(tmp_path / "all" / "fight", "battle").claim() as folder:
        folder.write("battle.json", ["{}"])
    (tmp_path / "all" / "manifest.json").write_text('{"holds": "improvement"}')
    done = dhp("leaderboard", "all")
    assert (done.code, done.err) == (0, "")
    assert "1 result" in done.out
    named = dhp("leaderboard", "all/inner", "all/fight")
    assert (named.code, named.err) == (0, "dhp: left out: all/fight: holds no run (battle)\n")
    alone = dhp("leaderboard", "all/fight")
    assert (alone.code, alone.err) == (2, "dhp: all/fight: holds no run (battle)\n")


def test_help_says_where_the_schema_is(dhp: Run) -> None:
    for arguments in ("--help", "site --help", "add --help"):
        done = dhp("leaderboard", *arguments.split())
        assert done.code == 0
        assert ("schema.json" in done.out) == (arguments != "--help")
