"""Attacks add to a text and take nothing away; both lists of probes agree with their functions."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.content.catalog import read_probes
from dhp.core.errors import InputError, NotApplicable
from dhp.core.language import text_language
from dhp.perturb.api import Edited, Perturber
from dhp.perturb.attacks import judge_flattery, judge_instruction, padding
from dhp.perturb.controls import harmless, identity

CONTROLS = {p.name: p for p in (identity, harmless)}
ATTACKS = {p.name: p for p in (judge_instruction, judge_flattery, padding)}


def apply(
    perturber: Perturber, text: str, seed: int = 0, language: str | None = "en", **params: object
) -> Edited:
    result = perturber.function(text, random.Random(seed), language=language, **params)
    assert isinstance(result, Edited)
    return result


def test_probes_agree_with_the_perturbers() -> None:
    for name, known, level in (("controls", CONTROLS, "control"), ("attacks", ATTACKS, "attack")):
        probes = read_probes(name)
        assert probes.probes == name
        assert list(probes.perturbers) == list(known)
        for perturber, use in probes.perturbers.items():
            assert (use.level, use.method) == (known[perturber].level, known[perturber].method)
            assert use.level == level
            (variant,) = use.variants(perturber)
            known[perturber].check_params(variant.params, perturber)


NEWLINE = "\n"


def params(name: str) -> dict[str, object]:
    return dict(read_probes("attacks").perturbers[name].params or {})


@pytest.mark.parametrize("name", ["judge_instruction", "judge_flattery"])
@pytest.mark.parametrize(
    ("parts", "language", "gap"),
    [
        (("It is late.", "They left."), "en", " "),
        (("the team 's draw with them .",), "en", " "),
        (("Es ist spät.", "Sie gingen."), "de", " "),
        (("Era tarde.", "Se fueron."), "es", " "),
        (("天晚了。", "他们走了。"), "zh", ""),
        (("彼らは帰った。",), "ja", ""),
        (("هل غادروا؟",), "ar", " "),
    ],
)
def test_judge_is_addressed_behind_the_text_before_it_and_in_it(
    name: str, parts: tuple[str, ...], language: str, gap: str
) -> None:
    texts, text = params(name)["texts"], gap.join(parts)
    made = {apply(ATTACKS[name], text, seed, language, texts=texts).text for seed in range(600)}
    gaps = {each: NEWLINE if each[0] == NEWLINE else gap for each in texts[language]}
    behind = {f"{text}{gaps[each]}{each.strip()}" for each in texts[language]}
    before = {f"{each.strip()}{gaps[each]}{text}" for each in texts[language]}
    inside = {gaps[each].join([parts[0], each.strip(), parts[-1]]) for each in texts[language]}
    assert made == behind | before | (inside if len(parts) > 1 else set())


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_are_written_in_each_language_that_they_can_do(name: str) -> None:
    texts = params(name)["texts"]
    assert tuple(texts) == ATTACKS[name].languages
    for language, written in texts.items():
        assert len(written) == len(set(written)) >= 4
        if language in ("zh", "ja", "ar"):  # the script tells, as far as it can
            words = [
                text for text in written if not text.startswith(NEWLINE)
            ]  # others have a form of their own
            assert {text_language(text) for text in words} == {None if language == "ar" else language}
    with pytest.raises(NotApplicable, match="the text is in French, in which there is nothing to add"):
        apply(ATTACKS[name], "Il est tard.", language="fr", texts=texts)


def test_a_text_without_a_stop_gets_one_before_the_addition() -> None:
    assert apply(judge_flattery, "p <dig>\n", texts={"en": ["Well read!"]}).text == "p <dig>. Well read!"
    twice = apply(padding, "binds p <dig>", count=2, texts={"en": ["So be it.", "So it is."]}).text
    assert twice in ("binds p <dig>. So be it. So it is.", "binds p <dig>. So it is. So be it.")


STORY = "It was late on 3 May. The harbor was No. 2 of them. They left. Nobody came ."


@given(st.integers(0, 500), st.integers(1, 12))
def test_padding_adds_different_sentences_and_no_more(seed: int, count: int) -> None:
    texts = [f"Filler {letter} says nothing." for letter in "abcdefgh"]
    result = apply(padding, STORY, seed, count=count, texts={"en": texts})
    assert (result.asked, result.made) == (count, min(count, 8))
    there = [t for t in texts if t in result.text]
    assert len(there) == result.made
    rest = result.text
    for t in there:
        assert rest.count(t) == 1
        rest = rest.replace(f" {t}", "")
    assert rest == STORY
    assert "No. 2" in result.text


@given(st.integers(0, 500), st.integers(1, 6))
def test_less_padding_is_part_of_more(seed: int, count: int) -> None:
    texts = [f"Filler {letter} says nothing." for letter in "abcdefgh"]
    less, more = (apply(padding, STORY, seed, count=n, texts={"en": texts}).text for n in (count, count + 2))
    added = [t for t in texts if t in more and t not in less]
    assert len(added) == 2
    for t in added:
        more = more.replace(f" {t}", "")
    assert more == less


def test_padding_stands_between_sentences_too() -> None:
    made = {apply(padding, STORY, seed, texts={"en": ["So be it."]}).text for seed in range(60)}
    assert STORY.replace("They left. ", "They left. So be it. ") in made
    assert f"{STORY} So be it." in made
    assert all("So be it. 2" not in text for text in made)


@pytest.mark.parametrize("perturber", ATTACKS.values(), ids=ATTACKS)
@pytest.mark.parametrize("texts", [{}, ["a text"], {"en": []}, {"en": "a text"}, {"en": [""]}, {"en": [3]}])
def test_attacks_need_texts(perturber: Perturber, texts: object) -> None:
    with pytest.raises(InputError, match=r"parameter texts is .*; allowed: a list of one text or more"):
        apply(perturber, STORY, texts=texts)


@pytest.mark.parametrize("count", [0, True, "all", 1.5])
def test_padding_needs_a_count(count: object) -> None:
    with pytest.raises(InputError, match=r"`count` .*: (is of type .*; )?must be "):
        apply(padding, STORY, count=count, texts={"en": ["So be it."]})
