"""What is asked of finished runs from Python gives what the commands give."""

import random
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
    outcome = dhp.gate(runs / "new", against=runs / "old", max_drop=5)
    assert (outcome.state, outcome.passed) == ("not met", False)
    assert "mini/story_cloze" in outcome.sentence
    assert dhp.power(runs / "old")[0].variants
    assert dhp.report(runs / "old", tmp_path / "page.html").read_text().startswith("<!doctype html>")
    assert dhp.leaderboard([runs / "old", runs / "new"], tmp_path / "site").is_file()


def sees_length(outputs: str) -> float:
    """A judge that lowers its score where words are missing."""
    return min(1.0, len(outputs) / 100)


def sees_capitals(outputs: str) -> float:
    """A judge that lowers its score where characters are changed."""
    return sum(map(str.isalpha, outputs)) / len(outputs)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dhp.Results]]:
    folder, settings = tmp_path_factory.mktemp("own"), dhp.JudgeSettings(scale=(0, 1))
    return folder, [
        dhp.run(
            judge,
            "mini/story_cloze",
            n=8,
            judge_settings=settings,
            perturbers=shortened,
            out=folder / judge.__name__,
        )
        for judge in (sees_length, sees_capitals)
    ]


@dhp.perturber(name="shortened", level="word")
def shortened(text: str, rng: random.Random) -> str:
    """Keeps half of the words."""
    return " ".join(text.split()[: len(text.split()) // 2])


@pytest.mark.slow
def test_two_own_functions_compare_by_results_as_by_folders(own: tuple[Path, list[dhp.Results]]) -> None:
    folder, results = own
    (found,) = dhp.compare(*results, resamples=20, progress=False)
    assert found.judges == tuple(f"python:{__name__}:{f.__name__}" for f in (sees_length, sees_capitals))
    assert {metric for r in results for row in r.variants for metric in row.metrics} == {"score"}
    (stored,) = dhp.compare(folder / "sees_length", folder / "sees_capitals", resamples=20, progress=False)
    assert stored.to_json() == found.to_json()
    halves = next(rows for rows in found.damage if rows[0].variant == "shortened")
    assert halves[0].detection == 1.0


@pytest.mark.slow
def test_a_gate_takes_results_as_it_takes_folders(own: tuple[Path, list[dhp.Results]]) -> None:
    folder, (new, old) = own
    given = dhp.gate(new, against=old, max_drop=5, min_detection=50)
    stored = dhp.gate(folder / "sees_length", against=folder / "sees_capitals", max_drop=5, min_detection=50)
    assert (given.state, given.passed) == (stored.state, stored.passed)
    assert given.sentence == stored.sentence.replace(str(folder / "sees_capitals"), "the earlier results")
    assert dhp.gate(new, min_detection=10).passed


@pytest.mark.slow
def test_results_without_ratings_are_refused_in_one_line(own: tuple[Path, list[dhp.Results]]) -> None:
    folder, (new, _) = own
    bare = dhp.Results([new[0]])
    assert len(new.rated) == len(new[:1].rated) == 1
    for ask, name in (
        (lambda: dhp.compare(bare, bare), "results 1"),
        (lambda: dhp.gate(bare, against=folder / "sees_length", max_drop=5), "the results"),
        (lambda: dhp.gate(new, against=bare, max_drop=5), "the earlier results"),
    ):
        with pytest.raises(dhp.InputError, match=f"^{name}: without ratings; allowed: results of dhp.run"):
            ask()


@pytest.mark.slow
def test_results_of_different_size_name_the_difference() -> None:
    fewer = dhp.run("mock/ideal", "mini/story_cloze", n=6)
    more = dhp.run("mock/noisy", "mini/story_cloze", n=8)
    with pytest.raises(dhp.InputError, match=r"differs, .* in results 1 and .* in results 2; must agree"):
        dhp.compare(fewer, more, progress=False)


def test_packages_that_can_be_called_are_still_packages() -> None:
    import dhp.leaderboard.tables
    import dhp.report.labels

    assert dhp.report.labels.figure(None) == "–"
    assert callable(dhp.leaderboard)
    with pytest.raises(dhp.InputError, match="nowhere"):
        dhp.report("nowhere")
