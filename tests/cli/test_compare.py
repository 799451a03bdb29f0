"""`dhp compare` on real run folders."""

import json
import re
from pathlib import Path

import pytest

from dhp.content.catalog import variant_name
from dhp.report.labels import group_letters, percent, percents
from dhp.runs.reader import read_run

from .conftest import Run, write_rows


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
    results = [read_run(tmp_path / name).results[0] for name in folders]
    heads, *rows = (re.split(" {2,}", line.strip()) for line in after(done.out, "share a letter")[:4])
    assert heads == ["judge", "D_avg", "D_min", "detection"]
    for result, cells, letter in zip(results, rows, "cab", strict=True):
        found = result.detection
        shown = f"{percent(found.avg)} {percents(found.ci['avg'])} {letter}"
        assert cells == [result.model, f"{result.d_avg:.2f}", f"{result.d_min:.2f}", shown]
    shown = {
        cells[0]: cells[1:]
        for cells in (re.split(" {2,}", x.strip()) for x in after(done.out, "by kind,")[1:7])
    }
    for rows in zip(*(r.variants for r in results), strict=True):
        said = [f"{100 * row.detection:.0f} {row.verdict}" for row in rows]
        assert shown[variant_name(rows[0].variant)] == said
    last = " ".join(done.out.split("mini/story_cloze: ")[-1].split())
    assert last.startswith(f"mock/ideal detects most, {percent(results[1].detection.avg)}; ")
    assert "detects significantly less: baseline/random (-43 points, p = " in last
    found = json.loads(dhp("compare", *folders, "--json").out)
    assert found[0]["scores"]["detection"]["rank"] == [3, 1, 2]
    rho = found[0]["styles"]["rho"][0]
    agreement = after(dhp("compare", *folders, "--styles").out, "Pearson's rho")[1:4]
    shown = [re.split(" {2,}", line.strip())[:2] for line in agreement]
    pairs = [(0, 1), (0, 2), (1, 2)]
    models = [r.model for r in results]
    assert shown == [[f"{models[i]}, {models[j]}", f"{rho[i][j]:z.2f}"] for i, j in pairs]


@pytest.mark.slow
def test_what_is_undefined_is_a_dash(dhp: Run) -> None:
    """One example has no interval and no rank; judges without any score tie and share a letter."""
    for name, model, n in (
        ("one", "mock/ideal", "1"),
        ("other", "mock/noisy", "1"),
        ("mute", "mock/ideal?unparsable=1", "9"),
        ("dumb", "mock/noisy?unparsable=1", "9"),
    ):
        done = dhp("benchmark", "--model", model, "--dataset", "mini/story_cloze", "--n", n, "--out", name)
        assert done.code == (3 if "unparsable" in model else 0), done.err
    single, silent = dhp("compare", "one", "other"), dhp("compare", "mute", "dumb")
    for done in (single, silent):
        assert done.code == 0, done.err
        assert "nan" not in done.out
        assert "––" not in done.out
        assert "– (" not in done.out
    for done, n, letter in ((single, 1, "–"), (silent, 9, "a")):
        assert f"mini/story_cloze, n = {n}; judges" in done.out
        assert {line.split()[-1] for line in after(done.out, "share a letter")[1:3]} == {letter}
    assert single.out.splitlines()[-1] == "mini/story_cloze: detection is undefined"
    rows = [line.split()[-1] for line in after(single.out, "by kind,")[1:7]]
    assert rows == ["–"] * 6
    last = " ".join(silent.out.split("\n\n")[-1].split())
    assert last == (
        "mock/noisy?unparsable=1 does not differ significantly from mock/ideal?unparsable=1: "
        "50 against 50 %, +0 points (-11 to 11)"
    )
    kinds = [" ".join(line.split()) for line in after(silent.out, "by kind,")[1:7]]
    ties = "50 undecided (0% read) 50 undecided (0% read) 0 (-17 to 17)"
    assert len(kinds) == 6
    assert all(kind.endswith(f" {ties}") for kind in kinds)


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


def judge(name: str, seen: str) -> str:
    """Ten texts of each of two kinds; the judge sees what is worse in one of them alone."""
    rows = [
        {
            "model": name,
            "dataset": "d",
            "example": f"{kind} {i}",
            "variant": variant,
            "metric": "m",
            "score": s,
        }
        for kind in ("Math", "Safety")
        for i in range(10)
        for variant, s in (("original", 7), (kind, 5 + 2 * (kind != seen)))
    ]
    write_rows(f"{name}.jsonl", rows)
    return f"{name}.jsonl"


@pytest.mark.slow
def test_files_of_judges_are_analysed_and_compared(dhp: Run) -> None:
    files = judge("left", "Math"), judge("right", "Safety")
    analysed = [dhp("analyze", file, "--json") for file in files]
    assert [(done.code, done.err) for done in analysed] == [(0, ""), (0, "")]
    results = [json.loads(done.out) for done in analysed]
    found = {r["model"]: {v["variant"]: v["detection"] for v in r["variants"]} for r in results}
    assert found == {"left": {"Math": 1.0, "Safety": 0.5}, "right": {"Math": 0.5, "Safety": 1.0}}
    done = dhp("compare", *files)
    assert done.code == 0, done.err
    rows = {line.split()[0]: line.split() for line in done.out.splitlines() if line[:1].isupper()}
    assert rows["Math"][1:7] == ["≠", "100", "noticed", "50", "undecided", "-50"]
    assert rows["Safety"][1:7] == ["≠", "50", "undecided", "100", "noticed", "+50"]
    assert rows["Math"][-1] == rows["Safety"][-1] == "*"
    assert "right - left" in done.out
    assert "≠ Math: undecided by right, 50% (" in " ".join(done.out.split())
    same = "right does not differ significantly from left: 75 against 75 %, +0 points ("
    last = " ".join(done.out.split("≠")[-1].split())
    assert same in last
    assert last.endswith("; new: Safety; lost: Math")
