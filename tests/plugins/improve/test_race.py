"""The rule: who is dropped, who is confirmed, on gains that are given."""

from dhp.plugins.improve.race import Gain, Unusable, race


def gain(points: float, p: float = 0.5) -> Gain:
    return Gain(points / 100, points / 100 - 0.05, points / 100 + 0.05, p)


def test_the_highest_gain_of_those_left_is_the_best() -> None:
    gains = {"a": gain(3), "b": gain(9), "c": gain(-1)}
    found = race("old", list(gains), lambda first, second, look: gains[second])
    assert found.best == "b"
    assert found.dropped == {}


def test_nothing_that_gains_nothing_is_the_best() -> None:
    assert race("old", ["a", "b"], lambda first, second, look: gain(-1 if second == "a" else 0)).best is None


def test_losers_are_dropped_behind_the_leader_and_not_asked_again() -> None:
    asked = []

    def compare(first: str, second: str, look: int) -> Gain:
        asked.append((second, look))
        return gain(-8, 0.001) if second == "b" else gain(5)

    found = race("old", ["a", "b"], compare)
    assert found.dropped == {"b": 0}
    assert ("b", 1) not in asked
    assert ("a", 2) in asked


def test_the_error_of_dropping_is_shared() -> None:
    """One-sided .01 would drop one of two changes at one look, and not of two at the two looks that drop."""
    found = race("old", ["a", "b"], lambda first, second, look: gain(-8, 0.026 if second == "b" else 1))
    assert found.dropped == {}


def test_what_cannot_be_tried_is_left_out_with_its_reason() -> None:
    def compare(first: str, second: str, look: int) -> Gain:
        if second == "a":
            raise Unusable("no")
        return gain(1)

    found = race("old", ["a", "b"], compare)
    assert (found.unusable, found.best) == ({"a": "no"}, "b")


def test_what_turns_out_unusable_beside_the_leader_is_left_out() -> None:
    def compare(first: str, second: str, look: int) -> Gain:
        if first == "b":
            raise Unusable("too few")
        return gain(9 if second == "b" else -1)

    found = race("old", ["a", "b"], compare)
    assert (found.unusable, found.best) == ({"a": "too few"}, "b")
    assert "a" not in found.gains


def test_a_change_helps_by_a_one_sided_test() -> None:
    assert gain(5, 0.1).helps
    assert not gain(5, 0.11).helps
    assert not gain(-5, 0.01).helps
    assert gain(-5, 0.01).p_better == 0.995
