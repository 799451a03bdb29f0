"""Power of runs, of a detection and of mock judges."""

from pathlib import Path

import pytest

import dhp
from dhp.core.errors import InputError
from dhp.plugins.power.power import power, power_of_detection, power_of_mock
from dhp.plugins.power.question import Question

FEW = Question(runs=60, n=50)


@pytest.fixture(scope="module")
def pilot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("power") / "run"
    dhp.run("mock/ideal?random_typos=0", "mini/story_cloze", out=folder)
    return folder


def test_what_is_seen_needs_fewer_examples_than_what_is_hardly_seen() -> None:
    (strong,), (weak,) = (power_of_detection(x, FEW).variants for x in (95, 70))
    assert strong.n_80 is not None
    assert weak.n_80 is not None
    assert strong.n_80.n is not None
    assert weak.n_80.n is not None
    assert strong.n_80.n < weak.n_80.n
    assert strong.miss is not None
    assert weak.miss is not None
    assert strong.miss < weak.miss


def test_below_the_floor_no_number_is_enough() -> None:
    (row,) = power_of_detection(55, FEW).variants
    assert not row.reachable
    assert row.n_80 is None or row.n_80.n is None


def test_a_pilot_speaks_of_its_kinds(pilot: Path) -> None:
    (found,) = power(pilot, question=FEW)
    assert (found.pilot, found.kinds, found.floor) == (30, 6, 0.6)
    rows = {row.variant: row for row in found.variants}
    assert rows["random_deletions"].verdict == "noticed"
    assert rows["random_deletions"].miss == 0
    assert not rows["random_typos"].reachable


def test_a_mock_judge_is_rated_afresh() -> None:
    found = power_of_mock("mock/noisy?sensitivity=0.6", Question(runs=20, n=30), metrics=2)
    assert found.pilot is None
    assert {row.verdict for row in found.variants} == {None}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: power_of_detection(0.7, FEW), "is in per cent"),
        (lambda: power_of_detection(101, FEW), "allowed"),
        (lambda: power_of_detection(70, FEW, correlation=1), "correlation: 1; allowed"),
        (lambda: power_of_detection(70, FEW, metrics=51), "metrics: 51; allowed: 1 to 50"),
        (lambda: power_of_detection(90, FEW, tied=50), "tied"),
        (lambda: power_of_mock("baseline/surface", FEW), "is not a mock judge"),
        (lambda: Question(n=0), "n is 0; allowed: 1 to 5,000"),
        (lambda: Question(runs=0), "`runs`: 0; allowed: 1 or more"),
        (lambda: Question(kinds=0), "kinds: 0; allowed"),
        (lambda: power("nowhere", question=FEW), "holds no run"),
    ],
)
def test_bad_input_is_one_line(call, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
