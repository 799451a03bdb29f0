"""Results and ratings of a run that do not belong together are refused, as are verdicts that figures deny."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dhp
from dhp.analysis.verdict_rule import is_denied
from dhp.core.errors import InputError
from dhp.core.verdicts import VERDICTS
from dhp.judge import ratings as judge_ratings
from dhp.report.page import write_report
from dhp.report.runs_index import write_index
from dhp.runs import ratings_file
from dhp.runs.reader import read_run
from tests.cli.conftest import Run
from tests.cli.conftest import dhp as command
from tests.quick import undrawn
from tests.unsealed import unsealed

__all__ = ["command"]

Edit = Callable[[Path, Path], object]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs `a` and `b` of two judges on the same texts."""
    folder = tmp_path_factory.mktemp("runs")
    with undrawn():
        for name, model in {"a": "mock/noisy", "b": "mock/ideal"}.items():
            dhp.run(model, "mini/summeval", n=24, out=folder / name, progress=False)
    return folder


@pytest.fixture
def planted(runs: Path, tmp_path: Path) -> Path:
    """A folder with copies of both runs."""
    return Path(shutil.copytree(runs, tmp_path / "runs"))


def changed(run: Path, change: Callable[[dict[str, Any]], object]) -> None:
    content = json.loads((run / "results.json").read_text())
    change(content)
    (run / "results.json").write_text(json.dumps(content))


def other_verdict(result: dict[str, Any]) -> None:
    row = result["variants"][0]
    row["verdict"] = "faint" if row["verdict"] == "noticed" else "noticed"


def one_score(run: Path) -> None:
    """As if a table were opened, one score changed, and saved again."""
    ratings = read_run(run).ratings
    ratings.loc[0, "score"] = 1.0 if ratings.loc[0, "score"] != 1 else 5.0
    ratings.to_parquet(run / "ratings.parquet")


NOT_COMPUTED = "was not computed from the ratings.parquet beside it"
PLANTED: dict[str, tuple[Edit, str]] = {
    "a verdict": (lambda a, b: changed(a, other_verdict), "was edited"),
    "a figure": (lambda a, b: changed(a, lambda r: r["detection"].update(avg=0.99)), "was edited"),
    "a warning": (lambda a, b: changed(a, lambda r: r.update(warnings=["all is well"])), "was edited"),
    "the checksum of the ratings": (
        lambda a, b: changed(a, lambda r: r["checksum"].update(ratings="0" * 64)),
        "was edited",
    ),
    "a checksum that is none": (lambda a, b: changed(a, lambda r: r.update(checksum=[])), "was edited"),
    "no checksum": (lambda a, b: changed(a, lambda r: r.pop("checksum")), "has lost its checksum"),
    "results of another run": (lambda a, b: shutil.copy(b / "results.json", a), NOT_COMPUTED),
    "ratings of another run": (lambda a, b: shutil.copy(b / "ratings.parquet", a), NOT_COMPUTED),
    "one score": (lambda a, b: one_score(a), NOT_COMPUTED),
    "results of an earlier version": (
        lambda a, b: shutil.copy(unsealed(b) / "results.json", a),
        "is not of this run",
    ),
}


@pytest.mark.parametrize("what", PLANTED)
def test_what_does_not_belong_together_is_refused(what: str, planted: Path) -> None:
    edit, said = PLANTED[what]
    a, b = planted / "a", planted / "b"
    edit(a, b)
    readers: list[Callable[[], object]] = [
        lambda: read_run(a),
        lambda: dhp.gate(a, min_detection=0),
        lambda: dhp.gate(a / "results.json", min_detection=0),
        lambda: dhp.compare(a, a),
        lambda: write_report(a, progress=None),
        lambda: dhp.leaderboard(a, planted / "site", progress=False),
    ]
    for reader in readers:
        with pytest.raises(InputError, match=f"^{a}/results.json: .*{said}") as refused:
            reader()
        assert "\n" not in str(refused.value)
    assert said in write_index(planted).read_text("utf-8")


@pytest.mark.parametrize(
    "line", ["gate {} --min-detection 1", "compare {} {}", "report {}", "leaderboard {}"]
)
def test_commands_refuse_it_in_one_line(line: str, planted: Path, command: Run) -> None:
    changed(planted / "a", other_verdict)
    done = command(line.format(planted / "a", planted / "a"))
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert "differ from their checksum; repeat the command of its run" in done.err
    assert done.out == ""


@pytest.mark.slow
def test_the_command_of_the_run_mends_it(planted: Path) -> None:
    changed(planted / "a", other_verdict)
    with undrawn():
        dhp.run("mock/noisy", "mini/summeval", n=24, out=planted / "a", progress=False)
    assert read_run(planted / "a").results


def test_the_layout_of_a_file_is_free_and_ratings_may_be_left_out(planted: Path) -> None:
    path = planted / "a" / "results.json"
    path.write_text(json.dumps(json.loads(path.read_text()), indent=4, sort_keys=True))
    assert read_run(path.parent).rated
    (path.parent / "ratings.parquet").unlink()
    assert read_run(path.parent).results


@pytest.mark.slow
def test_a_folder_of_ratings_has_a_checksum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratings_file, "PART_ROWS", 300)
    monkeypatch.setattr(judge_ratings, "PART_RATINGS", 100)
    with undrawn():
        dhp.run("mock/noisy", "mini/summeval", n=24, out=tmp_path / "r", progress=False)
    parts = sorted((tmp_path / "r" / "ratings.parquet").iterdir())
    assert len(parts) > 1
    assert read_run(tmp_path / "r").rated
    parts[-1].unlink()
    with pytest.raises(InputError, match="was not computed"):
        read_run(tmp_path / "r")


def test_runs_of_earlier_versions_are_read(planted: Path) -> None:
    unsealed(planted / "a")
    assert dhp.gate(planted / "a", min_detection=0).passed


@pytest.mark.parametrize(
    ("verdict", "figures"),
    [
        ("missed", {}),
        ("preferred", {}),
        ("noticed", {"detection": 0.48, "detection_ci": [0.4, 0.55], "at_least": 0.42}),
        ("noticed", {"detection": 0.54, "detection_ci": [0.5, 0.549], "at_least": None}),
        ("faint", {"detection": 0.5}),
        ("as harmless edits", {"detection": 0.31}),
        ("missed", {"detection": None, "detection_ci": None}),
    ],
)
def test_a_verdict_that_its_figures_deny_is_refused(
    verdict: str, figures: dict[str, Any], planted: Path
) -> None:
    """Also where nothing carries a checksum."""
    name = read_run(planted / "a").results[0].variants[1].variant

    def change(result: dict[str, Any]) -> None:
        result["variants"][1].update(verdict=verdict, **figures)

    changed(unsealed(planted / "a"), change)
    with pytest.raises(InputError, match=f"{name}: its own figures deny the verdict '{verdict}'"):
        read_run(planted / "a")


@pytest.mark.slow
@pytest.mark.parametrize("model", ["mock/ideal", "mock/noisy", "mock/blind", "baseline/surface"])
@pytest.mark.parametrize("n", [5, 24])
def test_no_verdict_that_the_rules_give_is_denied(model: str, n: int) -> None:
    found = dhp.run(model, ["mini/summeval", "mini/story_cloze"], n=n, attacks=True, progress=False)
    for result in found:
        rows = (*result.variants, *result.probes)
        assert rows
        for row in rows:
            kept = (row.detection_ci, row.at_least, result.floor)
            assert not is_denied(row.state, row.detection, *kept)
            if row.state.side:
                assert is_denied(row.state, 1 - (row.detection or 0.0), *kept)


def test_the_words_that_name_a_side() -> None:
    """By the rules: what lowers scores lies above 50 %, what is preferred or raises them below."""
    assert {str(word): word.side for word in VERDICTS.values() if word.side} == {
        "noticed": "above",
        "faint": "above",
        "as harmless edits": "above",
        "preferred": "below",
        "prefers edits": "below",
        "false alarm": "above",
        "raised": "below",
    }
