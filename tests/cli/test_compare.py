"""`dhp compare` on real run folders."""

import json

import pytest

from dhp.report.labels import group_letters

from .conftest import Run


@pytest.mark.slow
def test_tables_and_figures_of_three_judges(dhp: Run) -> None:
    folders = []
    for name, model in (("floor", "baseline/random"), ("good", "mock/ideal"), ("noisy", "mock/noisy")):
        done = dhp("benchmark", "--model", model, "--dataset", "mini/story_cloze", "--out", name)
        assert done.code == 0
        folders.append(name)
    done = dhp("compare", *folders)
    assert done.code == 0, done.err
    ranked = [line.split()[0] for line in done.out.splitlines()[3:6]]
    assert ranked == ["mock/ideal", "mock/noisy", "baseline/random"]
    assert "cannot be told apart" in done.out
    found = json.loads(dhp("compare", *folders, "--json").out)
    assert found[0]["scores"]["detection"]["rank"] == [3, 1, 2]
    alone = dhp("compare", folders[0])
    assert alone.code == 2
    assert "has one judge only" in alone.err
    assert len(alone.err.strip().splitlines()) == 1


@pytest.mark.slow
def test_what_is_undefined_is_a_dash(dhp: Run) -> None:
    """One example has no interval; judges without any score have no rank either."""
    for name, model, n in (
        ("one", "mock/ideal", "1"),
        ("other", "mock/noisy", "1"),
        ("mute", "mock/ideal?unparsable=1", "9"),
        ("dumb", "mock/noisy?unparsable=1", "9"),
    ):
        done = dhp("benchmark", "--model", model, "--dataset", "mini/story_cloze", "--n", n, "--out", name)
        assert done.code == 0, done.err
    single, silent = dhp("compare", "one", "other"), dhp("compare", "mute", "dumb")
    for done in (single, silent):
        assert done.code == 0, done.err
        assert "nan" not in done.out
        assert "––" not in done.out
        assert "– (" not in done.out
    _, detection, ends, _rank, span, letter = single.out.splitlines()[3].split()
    assert (ends, span, letter) == ("–", "(1–2)", "a")
    assert 0.5 < float(detection) <= 1
    assert silent.out.splitlines()[3].split() == ["mock/ideal?unparsable=1", "–", "–", "–"]


@pytest.mark.parametrize(
    ("places", "letters"), [([0], "a"), ([0, 1, 25], "abz"), ([25, 26, 27], "za1b1"), ([51, 52], "z1a2")]
)
def test_letters_of_any_number_of_groups(places: list[int], letters: str) -> None:
    groups = [(7,) if g in places else (8,) for g in range(60)]
    assert group_letters(groups, 7) == letters
    assert group_letters(groups, 9) == ""
