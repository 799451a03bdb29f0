"""Settings are checked by their declarations: as pydantic checks the same types, in one wording."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from dhp.core.checks import Checked, check_number, check_value, exclusive, requires, together, words_of
from dhp.core.errors import InputError
from dhp.core.options import option

Transport = Literal["fast", "sdk"]
STRICT = ConfigDict(strict=True)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats()
    | st.sampled_from(["fast", "sdk", "fats", "", "3", math.inf, -math.inf, math.nan, -0.0, 10**30]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=1), inner, max_size=2),
    max_leaves=4,
)


def refusal(name: str, value: object, kind: object) -> str | None:
    """The message of a refusal; None if the value is allowed."""
    try:
        check_value(name, value, kind)
    except InputError as e:
        return str(e)
    return None


@pytest.mark.parametrize(
    "kind",
    [
        *(int, float, bool, str, int | None, float | str),
        *(Transport, Transport | None, Transport | list[Transport]),
        *(list[str], dict[str, int | None], list[bool] | None, dict[str, list[float]]),
    ],
    ids=str,
)
@given(value=VALUES)
def test_the_values_of_a_type_are_those_that_pydantic_allows(kind: Any, value: object) -> None:
    try:
        TypeAdapter(kind, config=STRICT).validate_python(value)
    except ValidationError:
        allowed = False
    else:
        allowed = True
    message = refusal("setting", value, kind)
    assert (message is None) == allowed, message
    assert message is None or (message.startswith("`setting` ") and "\n" not in message)


@pytest.mark.parametrize(
    "limits", [{"ge": 1}, {"le": 5}, {"gt": 0, "le": 1}, {"ge": -2, "le": 2}, {}], ids=str
)
@pytest.mark.parametrize("kind", [int, float])
@given(value=VALUES)
def test_the_numbers_of_a_range_are_those_that_pydantic_allows(
    kind: type[Any], limits: dict[str, float], value: object
) -> None:
    field_of_kind = Annotated[kind, Field(allow_inf_nan=False if kind is float else None, **limits)]
    try:
        TypeAdapter(field_of_kind, config=STRICT).validate_python(value)
    except ValidationError:
        with pytest.raises(InputError, match=r"`n` .*: (is of type .*; )?must be "):
            check_number("n", value, kind, **limits)
    else:
        check_number("n", value, kind, **limits)


@dataclass(frozen=True)
class Inner:
    size: int = 1


@dataclass(frozen=True, slots=True)
class Limits(Checked):
    rules = (
        exclusive("store", "cache", "refresh", "inner"),
        requires("rate", "calls"),
        together("against", "drop", "shift"),
    )
    parameter = "limits"

    calls: int | None = option("Most calls.", default=None, ge=0)
    rate: float = option("Rate.", default=1.0, gt=0, le=9)
    floor: float = option("Floor.", default=60.0, gt=50, le=100, percent=True)
    transport: Transport | None = None
    words: tuple[Transport, ...] = ()
    names: str | Sequence[str] = ()
    body: Mapping[str, object] = field(default_factory=dict)
    ends: tuple[float, float] | None = None
    folder: str | Path | None = None
    inner: Inner = Inner()
    later: "Elsewhere | None" = None  # type: ignore[name-defined]  # noqa: F821
    store: bool = True
    cache: str | None = None
    refresh: bool = False
    against: str | None = None
    drop: float | None = None
    shift: float | None = None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"calls": -1}, "`limits.calls` -1: must be 0 or more"),
        ({"calls": True}, "`limits.calls` True: is of type bool; must be a whole number"),
        ({"calls": "3"}, "`limits.calls` '3': is of type str; must be a whole number"),
        ({"rate": 0.0}, "`limits.rate` 0: must be more than 0, at most 9"),
        ({"rate": None}, "`limits.rate` None: is of type NoneType; must be a number"),
        ({"rate": math.inf}, "`limits.rate` inf: must be a finite number"),
        ({"floor": 0.6}, "`limits.floor` 0.6: is in per cent; for a share of 0.6 write 60"),
        ({"transport": "sdx"}, "`limits.transport` 'sdx': unknown; did you mean 'sdk'? allowed: fast, sdk"),
        ({"transport": 3}, "`limits.transport` 3: is of type int; must be fast or sdk"),
        (
            {"words": ["fast", "fats"]},
            "`limits.words` 'fats': unknown; did you mean 'fast'? allowed: fast, sdk",
        ),
        ({"words": "fast"}, "`limits.words` 'fast': is of type str; must be a list"),
        ({"names": ["a", 1]}, "`limits.names` 1: is of type int; must be a text"),
        ({"names": 5}, "`limits.names` 5: is of type int; must be a text or a list"),
        ({"body": {1: "a"}}, "`limits.body` 1: is of type int; must be a text"),
        ({"body": [("a", 1)]}, "`limits.body` [('a', 1)]: is of type list; must be a mapping"),
        ({"ends": (1.0, 2.0, 3.0)}, "`limits.ends` (1.0, 2.0, 3.0): is of type tuple; must be a list of 2"),
        ({"ends": (1.0, "b")}, "`limits.ends` 'b': is of type str; must be a number"),
        ({"folder": 1}, "`limits.folder` 1: is of type int; must be a text or a path"),
        ({"inner": {"size": 2}}, "`limits.inner` {'size': 2}: is of type dict; must be a dhp.Inner"),
        ({"store": 0}, "`limits.store` 0: is of type int; must be True or False"),
        ({"store": False, "cache": "x"}, "`store=False`: cannot be used with `cache`; leave one of them out"),
        ({"cache": "x", "refresh": True}, "`cache`: cannot be used with `refresh`; leave one of them out"),
        (
            {"cache": "x", "inner": Inner(size=2)},
            "`cache`: cannot be used with `inner.size`; leave one of them out",
        ),
        ({"rate": 2.0}, "`rate`: requires `calls`"),
        ({"against": "run"}, "`against`: requires `drop` or `shift`"),
        ({"shift": 1}, "`shift`: requires `against`"),
    ],
    ids=str,
)
def test_a_fault_is_named_in_one_line(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        Limits(**settings)
    assert str(refused.value) == message
    with pytest.raises(InputError):
        replace(Limits(), **settings)


def test_what_the_declaration_allows_is_kept_as_it_is() -> None:
    limits = Limits(
        calls=np.int64(3),  # type: ignore[arg-type]
        rate=np.float32(2),  # type: ignore[arg-type]
        words=["fast", "sdk"],  # type: ignore[arg-type]
        ends=[1, 5],  # type: ignore[arg-type]
        folder=Path("x"),
        later=object(),
        against="run",
        drop=0,
        cache="x",
    )
    assert limits.words == ["fast", "sdk"]
    assert limits.drop == 0
    assert Limits(store=False).store is False


def test_rules_and_ranges_of_a_base_hold_in_a_record_of_it() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Other(Checked):
        rules = (requires("sum", "mean"),)
        sum: int = 0
        mean: int = 0

    @dataclass(frozen=True)
    class Wider(Limits):
        rules = (requires("more", "cache"),)
        more: bool = False

    @dataclass(frozen=True)
    class Unmarked(Wider, Other):
        less: int = 0

    for settings in ({"more": True}, {"shift": 1.0}, {"calls": -1}, {"store": False, "cache": "x"}):
        for record in (Wider, Unmarked):
            with pytest.raises(InputError):
                record(**settings)
    with pytest.raises(InputError, match="`sum`: requires `mean`"):
        Unmarked(sum=1)
    with pytest.raises(InputError, match=r"`limits.less` 'x': is of type str"):
        Unmarked(less="x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"Wider\(\) has no keyword 'cals'; did you mean 'calls'"):
        Wider(cals=3)  # type: ignore[call-arg]


def test_a_long_value_is_cut_short_in_a_message() -> None:
    assert len(refusal("n", ["x" * 500], int) or "") < 140
    assert "\n" not in (refusal("n", np.zeros((9, 9)), int) or "")


STATISTICS = Literal["default", "paper", "sign-flip"]


@given(word=st.sampled_from(["default", "paper", "sign-flip"]), cut=st.integers(0, 4), more=st.booleans())
def test_the_near_word_is_named(word: str, cut: int, more: bool) -> None:
    typed = word[:cut] + "x" * more + word[cut + 1 :]
    assume(SequenceMatcher(None, typed, word).ratio() > 0.75)
    message = refusal("statistics", typed, STATISTICS)
    near = f"did you mean '{word}'? allowed: default, paper, sign-flip"
    assert message == f"`statistics` '{typed}': unknown; {near}"


def test_the_words_of_a_type_are_those_that_it_allows() -> None:
    assert words_of(Transport | None) == ("fast", "sdk")
    assert words_of(Transport | str) == words_of(int | None) == words_of("Transport") == ()
