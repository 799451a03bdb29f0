"""What the field of a settings record allows is checked where the record is made, in one line."""

import math
from dataclasses import dataclass, field

import pytest

from dhp.core.errors import InputError
from dhp.core.options import check_numbers, option, option_of, pairs_like


@dataclass(frozen=True)
class Limits:
    calls: int | None = field(default=None, metadata=option("Most calls.", low=0))
    rate: float = field(default=1.0, metadata=option("Rate.", above=0))
    floor: float = field(default=60.0, metadata=option("Floor.", above=50, high=100, percent=True))
    label: str = field(default="", metadata=option("Label."))
    inner: int = -1

    def __post_init__(self) -> None:
        check_numbers(self, "limits")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"calls": -1}, "`limits.calls` -1: allowed: 0 or more"),
        ({"rate": 0.0}, "`limits.rate` 0: allowed: more than 0"),
        ({"rate": math.inf}, "`limits.rate` inf: must be a finite number"),
        ({"rate": math.nan}, "`limits.rate` nan: must be a finite number"),
        ({"floor": 0.6}, "`limits.floor` 0.6: is in per cent; for a share of 0.6 write 60"),
        ({"floor": 50}, "`limits.floor` 50: allowed: more than 50, at most 100"),
        ({"floor": 101}, "`limits.floor` 101: allowed: more than 50, at most 100"),
    ],
)
def test_a_number_outside_its_range_is_refused(given: dict[str, float], message: str) -> None:
    with pytest.raises(InputError) as refused:
        Limits(**given)  # type: ignore[arg-type]
    assert str(refused.value) == message


def test_the_ends_of_a_range_and_fields_without_one_are_allowed() -> None:
    assert Limits(calls=0, floor=100, inner=-7).inner == -7
    assert option_of(Limits.__dataclass_fields__["inner"]) is None


def test_pairs_become_a_mapping() -> None:
    read = pairs_like("OURS=THEIRS", "output=summary")
    assert read(["a=b", "c=d=e", "a=b"]) == {"a": "b", "c": "d=e"}
    for pairs, message in (
        (["a"], "'a': must have the form OURS=THEIRS, e.g. output=summary"),
        (["=b"], "'=b': must have the form"),
        (["a=b", "a=c"], "'a=c': 'a' is mapped twice; map it once"),
    ):
        with pytest.raises(ValueError, match=message):
            read(pairs)
