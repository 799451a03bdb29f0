"""`dhp compare` on real run folders."""

import json
import re
from pathlib import Path

import pytest

from dhp.content.damage import variant_name
from dhp.report.labels import group_letters, percent
from dhp.runs.reader import read_run

from .conftest import Run


def after(text: str, title: str) -> list[str]:
    """The lines below a title."""
    lines = text.splitlines()
    return lines[next(i for i, line in enumerate(lines) if title in line) + 1 :]


@pytest.mark.slow
def test_tables_and_figures_of_three_judges(dhp: Run, tmp_path: Path) -> None:
    folders = []
    for name, model in (("floor", "baseline/random"), ("good", "mock/ideal"), ("noisy", "mock/noisy")):
        done = dhp("benchmark", "--model", model, "--dataset", "mini/story_cloze", "--out", name)
        assert done.code == 0
        folders.append(name)
    done = dhp("compare", *folders)
    assert done.code == 0, done.err
    ranked = [line.split()[0] for line in after(done.out, "·  detection  ·  n =")[1:4]]
    assert ranked == ["mock/ideal", "mock/noisy", "baseline/random"]
    results = [read_run(tmp_path / name).results[0] for name in folders]
    seen = after(done.out, "each kind of damage")[1:]
    for line, rows in zip(seen, zip(*(r.variants for r in results), strict=True), strict=False):
        said = [f"{percent(row.detection)} {row.verdict}" for row in rows]
        assert re.split(" {2,}", line.strip()) == [variant_name(rows[0].variant), *said]
    assert "not significantly different" in done.out
    last = done.out.splitlines()[-1]
    detection = results[1].detection
    assert detection is not None
    assert last.startswith(f"mini/story_cloze: mock/ideal detects most, {percent(detection.avg)}; ")
    assert last.endswith("detects significantly less: baseline/random, mock/noisy")
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
    _, detection, ends, _rank, span, letter = after(single.out, "·  detection  ·  n =")[1].split()
    assert (ends, span, letter) == ("–", "(1–2)", "a")
    assert 0.5 < float(detection) <= 1
    assert after(silent.out, "·  detection  ·  n =")[1].split() == ["mock/ideal?unparsable=1", "–", "–", "–"]


@pytest.mark.parametrize(
    ("places", "letters"), [([0], "a"), ([0, 1, 25], "abz"), ([25, 26, 27], "za1b1"), ([51, 52], "z1a2")]
)
def test_letters_of_any_number_of_groups(places: list[int], letters: str) -> None:
    groups = [(7,) if g in places else (8,) for g in range(60)]
    assert group_letters(groups, 7) == letters
    assert group_letters(groups, 9) == ""


@pytest.mark.slow
@pytest.mark.parametrize("width", ["60", "80", "200"])
def test_long_names_are_abbreviated_and_no_word_is_broken(
    dhp: Run, width: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "mock/noisy?sensitivity=0.25&random_typos=0&noise=0.3"
    models = [
        name for model in (long, "mock/ideal", "mock/harsh", "mock/lenient") for name in ("--model", model)
    ]
    assert dhp("benchmark", *models, "--dataset", "mini/summeval", "--n", "6", "--out", "r").code == 0
    monkeypatch.setenv("COLUMNS", width)
    done = dhp("compare", "r", "--resamples", "200")
    assert max(map(len, done.out.splitlines())) <= int(width)
    assert f"J1  {long}" in done.out
    words = set(done.out.split())
    assert {"undecided", "letters,", "minor"} <= words
    assert not words & {"undecide", "ndecided", "mino"}
