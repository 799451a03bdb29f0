"""The shared vocabulary: text, seeding, registry, errors, signatures."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.core.errors import InputError, suggest
from dhp.core.files import parse_json
from dhp.core.markdown import masked
from dhp.core.records import parse_variant
from dhp.core.refusals import holds_refusal, is_refusal
from dhp.core.seeding import key_digest, stream
from dhp.core.sentences import sentence_spans, sentences
from dhp.core.shown import printable, visible
from dhp.core.signature import MUST_AGREE, Signature
from dhp.core.slots import fill, join_slots, split_slots
from dhp.core.words import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Lee came at 5 p.m. on Friday. She left.", ["Dr. Lee came at 5 p.m. on Friday.", "She left."]),
        ("It cost 3.5 million. Why? Nobody knows!", ["It cost 3.5 million.", "Why?", "Nobody knows!"]),
        (
            "the drug (fig. 2) works, e.g. in mice. it is safe.",
            ["the drug (fig. 2) works, e.g. in mice.", "it is safe."],
        ),
        ("Townsend 's draw . He scored .", ["Townsend 's draw .", "He scored ."]),
        ('He said "Go." She went.', ['He said "Go."', "She went."]),
        ("Wait ... what ?", ["Wait ... what ?"]),
        (
            "The film 流浪地球 opened. It sold 3 tickets. 很好。Yes.",
            ["The film 流浪地球 opened.", "It sold 3 tickets.", "很好。", "Yes."],
        ),
        ("今天下雨。我们走吧！好吗？", ["今天下雨。", "我们走吧！", "好吗？"]),
        ("", []),
        ("...", []),
        ("no end mark", ["no end mark"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_spans_are_ordered_and_lose_no_letter(text: str) -> None:
    spans = sentence_spans(text)
    assert all(a < b for a, b in spans)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
    kept = "".join(text[a:b] for a, b in spans)
    prose = masked(text).text  # headings and code are in no sentence
    assert sum(map(str.isalnum, kept)) >= sum(map(str.isalnum, prose))


def test_words_do_not_count_punctuation() -> None:
    assert words("It's 3.5%, she said - twice.") == ["It", "'s", "3.5", "she", "said", "twice"]


def test_streams_depend_on_the_key_alone() -> None:
    assert stream(0, "a", "b").random() == stream(0, "a", "b").random()
    keys = [(0, "ab", "c"), (0, "a", "bc"), (0, "a", "b", "c"), (1, "ab", "c"), ("0", "ab", "c")]
    assert len({key_digest(*key) for key in keys}) == len(keys)


def test_the_numbers_of_a_stream_never_change() -> None:
    # Frozen: a change here changes every perturbed text that was ever published.
    assert stream(0, "summeval", "id-1", "random_typos").getrandbits(32) == 1752855776


def test_near_says_what_is_allowed_when_nothing_is_near() -> None:
    assert suggest("zzz", ["b", "a"]) == "allowed: a, b"
    assert suggest("zzz", []) == "allowed: none"


def test_only_what_could_steer_a_terminal_is_replaced() -> None:
    harmless = "10\u00a0km \u3000中文 👩\u200d🔬 na\u0308ive می\u200cخواهم שלום\u200f!"
    assert printable(harmless) == harmless
    assert printable("a\x1b[2Jb\x07\x9b\ud800c\nd\te") == "a\ufffd[2Jb\ufffd\ufffd\ufffdc d e"
    assert printable("\u202etxt.exe\u202c \u2066a\u2069") == "\ufffdtxt.exe\ufffd \ufffda\ufffd"
    assert visible("a\nb\tc\x1b\u202e") == "a\nb\tc\ufffd\ufffd"


@pytest.mark.parametrize("text", ["I’m sorry, but no.", "Unfortunately, I can't do that.", "作为一个AI，"])
def test_a_refusal_at_the_start_is_one_anywhere(text: str) -> None:
    assert is_refusal(text)
    assert holds_refusal(f"The text is short. {text}")
    assert not is_refusal(f"The text is short. {text}")


@pytest.mark.parametrize("text", ["", "It is a good text: 4.", "He cannot come.", "The AI language is new."])
def test_what_is_no_refusal(text: str) -> None:
    assert not holds_refusal(text)


def test_slots_are_filled_once() -> None:
    assert fill(" {{a}} and {{ b }} ", {"a": "{{b}}", "b": "B"}) == "{{b}} and B"
    pieces = split_slots("{{a}}-{{b}}", {"a": "{{c}}"})
    assert pieces == ("{{c}}-", "b", "")
    assert join_slots(pieces, {"b": "{{a}}"}) == "{{c}}-{{a}}"


@pytest.mark.parametrize(
    ("text", "place"), [("{", "column 2"), ('{\n"a": }', "line 2, column 6"), ("[" * 99_999, "")]
)
def test_broken_json_is_one_line_with_its_place(text: str, place: str) -> None:
    with pytest.raises(InputError, match=rf"^x\.json: broken JSON .*{place}") as e:
        parse_json("x.json", text)
    assert "\n" not in str(e.value)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("random_ending", ("random_ending", None, None)),
        ("random_typos.minor", ("random_typos", "minor", None)),
        ("random_typos.k25", ("random_typos", "k25", 25)),
        ("random_typos.k0", ("random_typos.k0", None, None)),
        ("own.k5.b", ("own.k5.b", None, None)),
        (".k5", (".k5", None, None)),
        ("answer of gpt-5.4", ("answer of gpt-5.4", None, None)),
        ("answer of gpt-5.4.minor", ("answer of gpt-5.4", "minor", None)),
        ("v1.2.k25", ("v1.2", "k25", 25)),
    ],
)
def test_the_name_of_a_variant_says_perturber_degree_and_dose(name: str, parts: tuple[object, ...]) -> None:
    assert parse_variant(name) == parts


LINE = (
    "dataset:mini/summeval@b51e65c59333|n:24|suite:summeval@9cd9a75350fd|method:llm:openai/gpt-4o+rule"
    "|metrics:4@c4fd3b6c4d31|weights:design.v1@c7bbd21ef129|statistics:default+hmp-asymptotic"
    "|protocol:dhp@0123456789ab|seed:0|dhp:0.1.0"
)
SIGNATURE_PARTS = [part.partition(":")[0] for part in LINE.split("|")]


def test_the_line_is_read_and_printed() -> None:
    signature = Signature.parse(LINE)
    assert (signature.n, signature.method, signature.seed) == ("24", "llm:openai/gpt-4o+rule", "0")
    assert str(signature) == LINE
    of_ratings = LINE.replace("|seed:0", "")
    assert Signature.parse(of_ratings).seed is None
    assert str(Signature.parse(of_ratings)) == of_ratings


@given(st.fixed_dictionaries({name: st.text() | st.text("|@:=a1", max_size=8) for name in SIGNATURE_PARTS}))
def test_any_text_may_stand_in_a_part(parts: dict[str, str]) -> None:
    signature = Signature(**parts)
    assert Signature.parse(str(signature)) == signature


@pytest.mark.parametrize("name", SIGNATURE_PARTS)
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


@pytest.mark.parametrize("name", SIGNATURE_PARTS)
def test_differences_are_those_that_forbid_a_comparison(name: str) -> None:
    one = Signature.parse(LINE)
    other = replace(one, **{name: "another"})
    expected = {name: (getattr(one, name), "another")} if name in MUST_AGREE else {}
    assert one.differences(other) == expected
    assert one.differences(other, but=[name]) == {}
    assert set(SIGNATURE_PARTS) - set(MUST_AGREE) == {"seed", "dhp"}


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
