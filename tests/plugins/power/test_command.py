"""`dhp power` on the command line."""

import json

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
