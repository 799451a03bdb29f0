from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.core.errors import InputError
from dhp.core.records import MUST_AGREE, Signature

LINE = (
    "dataset:mini/summeval@b51e65c59333|n:24|suite:summeval@9cd9a75350fd|method:llm:openai/gpt-4o+rule"
    "|metrics:4@c4fd3b6c4d31|weights:design.v1@c7bbd21ef129|statistics:default+hmp-asymptotic"
    "|protocol:dhp@0123456789ab|seed:0|dhp:0.1.0"
)
NAMES = [part.partition(":")[0] for part in LINE.split("|")]


def test_the_line_is_read_and_printed() -> None:
    signature = Signature.parse(LINE)
    assert (signature.n, signature.method, signature.seed) == ("24", "llm:openai/gpt-4o+rule", "0")
    assert str(signature) == LINE
    of_ratings = LINE.replace("|seed:0", "")
    assert Signature.parse(of_ratings).seed is None
    assert str(Signature.parse(of_ratings)) == of_ratings


@given(st.fixed_dictionaries({name: st.text() | st.text("|@:=a1", max_size=8) for name in NAMES}))
def test_any_text_may_stand_in_a_part(parts: dict[str, str]) -> None:
    signature = Signature(**parts)
    assert Signature.parse(str(signature)) == signature


@pytest.mark.parametrize("name", NAMES)
def test_each_part_must_stand_there_once(name: str) -> None:
    value = LINE.split(f"{name}:", 1)[1].partition("|")[0]
    without = "|".join(part for part in LINE.split("|") if not part.startswith(f"{name}:"))
    if name != "seed":
        with pytest.raises(InputError, match=f"lacks '{name}'"):
            Signature.parse(without)
    with pytest.raises(InputError, match=f"part '{name}' is given twice"):
        Signature.parse(f"{LINE}|{name}:{value}")


def test_what_is_no_signature_is_refused() -> None:
    for line in ("", "no signature", f"judge:x|{LINE}"):
        with pytest.raises(InputError, match=r"part '.*' is unknown"):
            Signature.parse(line)


@pytest.mark.parametrize("name", NAMES)
def test_differences_are_those_that_forbid_a_comparison(name: str) -> None:
    one = Signature.parse(LINE)
    other = replace(one, **{name: "another"})
    expected = {name: (getattr(one, name), "another")} if name in MUST_AGREE else {}
    assert one.differences(other) == expected
    assert one.differences(other, but=[name]) == {}
    assert set(NAMES) - set(MUST_AGREE) == {"seed", "dhp"}


def test_names_are_without_hashes() -> None:
    signature = replace(
        Signature.parse(LINE), n="<=24@0123456789ab", statistics="default+hmp-asymptotic+looks"
    )
    assert signature.names == {
        "dataset": "mini/summeval",
        "n": "24",
        "suite": "summeval",
        "weights": "design",
        "statistics": "default+hmp-asymptotic",
        "protocol": "dhp@0123456789ab",
    }
