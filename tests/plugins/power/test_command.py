"""`dhp power` on the command line."""

import json

import pytest

from tests.cli.conftest import Run

QUICK = ("--simulate", "40", "--n", "50")


def test_a_detection_in_words_and_as_json(dhp: Run) -> None:
    said = dhp("power", "--detection", "80", *QUICK)
    assert said.code == 0
    assert "12 kinds judged together, noticed from 60% on" in said.out
    (found,) = json.loads(dhp("power", "--detection", "80", *QUICK, "--json").out)
    assert (found["kinds"], found["n"], found["runs"]) == (12, 50, 40)
    assert found["variants"][0]["n_80"]["n"] > 10


def test_the_same_seed_gives_the_same_figures(dhp: Run) -> None:
    one, two = (dhp("power", "--detection", "75", *QUICK, "--seed", "3", "--json").out for _ in range(2))
    assert one == two


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "none given; allowed: one of RUN..., --detection, --model"),
        (("--detection", "80", "--model", "mock/ideal"), "--detection and --model given; allowed: one of"),
        (("--detection", "0.8"), "is in per cent"),
        (("--model", "mock/ideal", "--tied", "5"), "--tied: is not for --model; allowed: with --detection"),
        (("--detection", "80", "--simulate", "0"), "--simulate: 0; allowed: 1 or more"),
        (("--detection", "80", "--n", "0"), "n is 0; allowed: 1 to 5,000"),
        (("nowhere",), "nowhere: holds no run"),
    ],
)
def test_bad_input_is_one_line(dhp: Run, arguments: tuple[str, ...], message: str) -> None:
    done = dhp("power", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    assert message in done.err
