"""`dhp power`: what it prints, and what it refuses."""

import json
import re

import pytest

from dhp.content.damage import variant_name

from .conftest import Run


def test_an_effect_is_simulated_with_intervals(dhp: Run) -> None:
    args = (
        "power",
        "--effect",
        "0.3",
        "--n",
        "50",
        "--metrics",
        "1",
        "--nonzero",
        "0.6",
        "--simulate",
        "300",
    )
    done = dhp(*args)
    assert done.code == 0, done.err
    heading, figures = done.out.splitlines()[3:5]
    assert heading.split("  ")[0] == "variant"
    assert "D" not in heading.split()
    assert "not noticed" not in done.out
    assert "its 95 % interval, from 300 simulated runs" in done.out
    (found,) = json.loads(dhp(*args, "--json").out)
    (row,) = found["variants"]
    assert (found["n"], found["runs"]) == (50, 300)
    low, high = row["miss_ci"]
    assert 0 < low < row["miss"] < high < 1
    needed = row["n_80"]
    assert needed["low"] < needed["n"] < needed["high"] < row["n_90"]["high"]
    assert figures.startswith("effect 0.3")
    assert f"{row['miss']:.0%} {low * 100:.0f}–{high * 100:.0f}" in figures
    assert f"{needed['n']} {needed['low']}–{needed['high']}" in figures


def test_numbers_that_are_none_look_like_none(dhp: Run) -> None:
    assert dhp("power", "--effect", "0", "--simulate", "10").out.count("never") == 2
    assert dhp("power", "--effect", "0.001", "--simulate", "10").out.count("> 5,000") == 2


@pytest.mark.slow
def test_a_pilot_run(dhp: Run) -> None:
    assert (
        dhp(
            "benchmark",
            "--model",
            "mock/noisy",
            "--dataset",
            "mini/story_cloze",
            "--out",
            "pilot",
        ).code
        == 0
    )
    done = dhp("power", "pilot", "--n", "30", "--simulate", "50")
    assert done.code == 0, done.err
    assert (
        "pilot: mock/noisy on mini/story_cloze, pilot of 30 examples that stand for all others"
        in " ".join(done.out.split())
    )
    assert "typos" in done.out
    assert "at 30" in done.out
    assert "not noticed" not in done.out


@pytest.mark.slow
def test_the_effect_of_a_blind_judge_may_be_chance(dhp: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    model = "mock/blind?noise=1"
    assert dhp("benchmark", "--model", model, "--dataset", "mini/story_cloze", "--out", "pilot").code == 0
    monkeypatch.setenv("COLUMNS", "80")
    lines = dhp("power", "pilot", "--simulate", "50").out.splitlines()
    place = lines.index("variants with D < 1 were not noticed in the pilot: their effect may be chance")
    start = next(k for k, line in enumerate(lines) if line.startswith("variant "))
    assert lines[start].split()[:3] == ["variant", "D", "effect"]
    rows = [re.split(r"\s{2,}", line.strip()) for line in lines[start + 1 : place]]
    (found,) = json.loads(dhp("power", "pilot", "--simulate", "50", "--json").out)
    assert [cells[0] for cells in rows] == [variant_name(v["variant"]) for v in found["variants"]]
    assert [float(cells[1]) for cells in rows] == pytest.approx(
        [v["d"] for v in found["variants"]], abs=0.005
    )


def test_an_undefined_d_is_a_dash_and_no_doubt(dhp: Run) -> None:
    model = "mock/noisy?unparsable=1"
    assert dhp("benchmark", "--model", model, "--dataset", "mini/story_cloze", "--out", "mute").code == 0
    done = dhp("power", "mute")
    (row,) = (line.split() for line in done.out.splitlines() if line.startswith("typos"))
    assert row == ["typos", "–", "–", "–", "–", "–"]
    assert "not noticed" not in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "none given; allowed: one of RUN..., --effect, --model"),
        (("--effect", "0.3", "--model", "mock/ideal"), "--effect and --model given; allowed: one of"),
        (("nowhere",), "nowhere: holds no run"),
        (("--effect", "nan"), "effect: nan; allowed: more than -1, at most 1"),
        (("--effect", "-1"), "effect: -1; allowed: more than -1, at most 1"),
        (("--effect", "1.01"), "effect: 1.01; allowed"),
        (("--effect", "0.3", "--metrics", "0"), "metrics: 0; allowed: 1 to 50"),
        (("--effect", "0.3", "--metrics", "51"), "metrics: 51; allowed: 1 to 50"),
        (("--effect", "0.3", "--correlation", "1"), "correlation: 1; allowed: 0 or more, less than 1"),
        (("--effect", "0.3", "--correlation", "nan"), "correlation: nan; allowed"),
        (("--effect", "0.3", "--nonzero", "0"), "nonzero: 0; allowed: more than 0, at most 1"),
        (("--effect", "0.9", "--nonzero", "0.3"), "allowed: -0.51 to 0.51, where 30% of the scores move"),
        (("--effect", "0.3", "--n", "0"), "n is 0; allowed: 1 to 5,000"),
        (("--effect", "0.3", "--n", "5001"), "n is 5001; allowed: 1 to 5,000"),
        (("--effect", "0.3", "--simulate", "0"), "--simulate: 0; allowed: 1 or more"),
        (("--effect", "0.3", "--combination", "hpm"), "unknown combination 'hpm'; did you mean 'hmp'"),
        (("--model", "mock/noizy"), "unknown mock judge 'noizy'; did you mean 'noisy'"),
        (("--model", "baseline/surface"), "is no mock judge; allowed: mock/KIND?dial=value"),
        (("--model", "mock/ideal", "--metrics", "0"), "metrics: 0; allowed: 1 to 50"),
        (
            ("--model", "mock/ideal", "--nonzero", "0.5"),
            "--nonzero: is not for --model; allowed: with --effect",
        ),
        (("nowhere", "--metrics", "2"), "--metrics: is not for RUN...; allowed: with --effect or --model"),
    ],
)
def test_bad_input_is_one_line(dhp: Run, arguments: tuple[str, ...], message: str) -> None:
    outcome = dhp("power", *arguments)
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1
    assert outcome.out == ""
