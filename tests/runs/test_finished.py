"""What is asked of finished runs from Python gives what the commands give."""

from pathlib import Path

import pytest

import dhp


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name, model in (("old", "mock/ideal"), ("new", "mock/blind")):
        dhp.run(model, "mini/story_cloze", n=8, out=folder / name)
    return folder


@pytest.mark.slow
def test_functions_of_finished_runs(runs: Path, tmp_path: Path) -> None:
    (found,) = dhp.compare(runs / "old", runs / "new", resamples=40)
    assert found.judges == ("mock/ideal", "mock/blind")
    verdict = dhp.gate(runs / "new", against=runs / "old", max_drop=5)
    assert not verdict.met
    assert "mini/story_cloze" in verdict.line
    assert dhp.power(runs / "old")[0].variants
    assert dhp.report(runs / "old", tmp_path / "page.html").read_text().startswith("<!doctype html>")
    assert dhp.leaderboard([runs / "old", runs / "new"], tmp_path / "site").is_file()


def test_packages_that_can_be_called_are_still_packages() -> None:
    import dhp.leaderboard.tables
    import dhp.report.labels

    assert dhp.report.labels.figure(None) == "–"
    assert callable(dhp.leaderboard)
    with pytest.raises(dhp.InputError, match="nowhere: holds no run"):
        dhp.report("nowhere")
