"""Controls leave a text as good as it was; attacks add to it and take nothing away."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from dhp.content.catalog import read_list, read_probes
from dhp.core.errors import InputError, NotApplicable
from dhp.core.language import text_language
from dhp.core.text import sentences
from dhp.loaders.resolve import resolve_datasets
from dhp.perturb.api import Edited, Perturber
from dhp.perturb.probes.attacks import judge_flattery, judge_instruction, padding
from dhp.perturb.probes.controls import HarmlessLists, harmless, identity

CONTROLS = {p.name: p for p in (identity, harmless)}
ATTACKS = {p.name: p for p in (judge_instruction, judge_flattery, padding)}
any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=80) | st.text(
    "aI'\"“’.-— %…5,\n", max_size=60
)


def apply(
    perturber: Perturber, text: str, seed: int = 0, language: str | None = "en", **params: object
) -> Edited:
    assert perturber.function is not None
    extra: dict[str, object] = {"lists": read_list} if perturber.wants("lists") else {}
    if perturber.wants("language"):
        extra["language"] = language
    result = perturber.function(text, random.Random(seed), **extra, **params)
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


def test_identity_changes_nothing() -> None:
    assert apply(identity, "As it was.") == Edited("As it was.", 0, 0)


# Each text with the text that the edits must make of it, and their number.
EDITS = [
    ('He said "no" to the mayor\'s plan.', "He said “no” to the mayor’s plan.", 3),
    ("He said “no” to the mayor’s plan.", 'He said "no" to the mayor\'s plan.', 3),
    ("In the '90s it was 'Tides', the twins' song.", "In the ’90s it was ‘Tides’, the twins’ song.", 4),
    ("It is 6'2\" tall and it fits the door.", None, 0),
    ('The sign was 6" wide and it said "stop".', None, 0),
    ("The color of the theater was gray.", "The colour of the theatre was grey.", 3),
    ("The colour of the theatre was grey.", "The color of the theater was gray.", 3),
    ("He realised its colour was off center.", "He realized its color was off center.", 2),
    ("Neighbors came to the house.", "Neighbours came to the house.", 1),
    ("Gray Harbor is the home of the team.", None, 0),
    ("This is the text of www.color.com and of @color.", None, 0),
    ("It is 300 meters from the parking meter.", "It is 300 metres from the parking meter.", 1),
    ("It grew by 31 percent in the year.", "It grew by 31% in the year.", 1),
    ("It grew by 31% in the year.", "It grew by 31 percent in the year.", 1),
    ("The color grew by 31% in the year.", "The colour grew by 31 per cent in the year.", 2),
    ("It has 8,150 steps and 12,400 stones.", "It has 8150 steps and 12,400 stones.", 1),
    ("It was 1,950 and then 2,050 in the list.", None, 0),
    ("The shop opens at 8:30 am and closes at 6 pm.", "The shop opens at 8:30 a.m. and closes at 6 p.m.", 2),
    ("The shop opens at 8 a.m. on the hill.", "The shop opens at 8 am on the hill.", 1),
    ("It was on 7 May 1824 that the hall opened.", "It was on May 7, 1824, that the hall opened.", 1),
    ("It was on May 7, 1824, that the hall opened.", "It was on 7 May 1824, that the hall opened.", 1),
    ("The hall opened on June 18.", "The hall opened on 18 June.", 1),
    ("They met on May 2-3 and on June 4 and 5.", None, 0),
    ("Mr. Oduya met Dr. Lenz at the hall.", "Mr Oduya met Dr Lenz at the hall.", 2),
    ("They took some of it, e.g. the roof.", "They took some of it, for example, the roof.", 1),
    ("The door didn't open and it won't.", "The door did not open and it will not.", 2),
    ("Why didn't Ada open the door?", "Why didn’t Ada open the door?", 1),
    ("Everyone began to sing in the hall.", "Everybody started to sing in the hall.", 2),
    ("It is an okay plan for the town.", "It is an OK plan for the town.", 1),
    ("The plan — a bold one — is off.", "The plan—a bold one—is off.", 2),
    ("The plan—a bold one—is off.", "The plan — a bold one — is off.", 2),
    ("The team - all of it - lost 3 - 1 to them.", "The team – all of it – lost 3 - 1 to them.", 2),
    ("And so it went on...", "And so it went on…", 1),
    ("It is late. They left.", "It is late.  They left.", 1),
    ("It is late.  They left. It rains.", "It is late. They left. It rains.", 1),
    ("It is No. 7 in the list.", None, 0),
    ("It is the choir of the town. 7 of them sing.", "It is the choir of the town.  7 of them sing.", 1),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected", "made"), EDITS)
def test_harmless_edits(text: str, expected: str | None, made: int) -> None:
    if expected is None:
        with pytest.raises(NotApplicable, match="no harmless edit is possible"):
            apply(harmless, text)
    else:
        assert apply(harmless, text) == Edited(expected, made, made)


def test_tokenised_text_keeps_its_tokens() -> None:
    text = "He said the team 's color was `` gray ' and that it did n't matter ."
    assert (
        apply(harmless, text).text == "He said the team 's colour was `` grey ' and that it did n't matter ."
    )


def test_lower_cased_text_keeps_its_marks() -> None:
    text = "the behavior of p <dig> is known at <dig> pm and 10 pm. its <dig> % share is the tumor."
    expected = "the behaviour of p <dig> is known at <dig> pm and 10 pm.  its <dig> % share is the tumour."
    assert apply(harmless, text) == Edited(expected, 3, 3)


def test_other_languages_change_in_spacing_alone() -> None:
    text = 'Der "Theater color" ist nicht da. Die Stadt wartet um 31% auf das Ende...'
    expected = 'Der "Theater color" ist nicht da.  Die Stadt wartet um 31% auf das Ende…'
    for language in ("de", None):
        assert apply(harmless, text, language=language) == Edited(expected, 2, 2)
    with pytest.raises(NotApplicable):
        apply(harmless, "这是第一句话。这是第二句话。", language="zh")
    english = "The color of the theater was gray and it was the first of its kind."
    with pytest.raises(NotApplicable, match="its language is not declared"):
        apply(harmless, english, language=None)


@given(any_text)
def test_harmless_changes_what_it_says_or_nothing(text: str) -> None:
    try:
        result = apply(harmless, text)
    except NotApplicable:
        return
    assert result.text != text
    assert result.asked == result.made >= 1
    assert result.text.strip()


@pytest.mark.parametrize("word", ["favorite", "organizations", "centered", "anemia", "skeptical", "toward"])
def test_spelling_goes_there_and_back(word: str) -> None:
    text = f"There is {word} in it, and that is all."
    british = apply(harmless, text).text
    assert british != text
    assert apply(harmless, british).text == text


def test_no_word_of_the_list_has_a_twin() -> None:
    known = read_list("harmless", HarmlessLists)
    assert len(known.british) > 500
    assert not set(known.british) & set(known.british.values())
    assert "analyses" not in {*known.british, *known.british.values()}
    with pytest.raises(ValidationError, match="'grey' stands in two pairs"):
        HarmlessLists(spelling=[], words={"gray": "grey", "ashen": "grey"}, synonyms={})


def test_every_mini_text_of_two_sentences_has_a_harmless_edit() -> None:
    for dataset in resolve_datasets(["mini"]):
        for example in dataset.examples:
            if len(sentences(example.output)) > 1:
                assert apply(harmless, example.output).made >= 1


def params(name: str) -> dict[str, object]:
    return dict(read_probes("attacks").perturbers[name].params or {})


@pytest.mark.parametrize("name", ["judge_instruction", "judge_flattery"])
@pytest.mark.parametrize(
    ("text", "language", "gap"),
    [
        ("It is late. They left.", "en", " "),
        ("the team 's draw with them .", "en", " "),
        ("Es ist spät. Sie gingen.", "de", " "),
        ("Era tarde. Se fueron.", "es", " "),
        ("他们走了。", "zh", ""),
        ("彼らは帰った。", "ja", ""),
        ("هل غادروا؟", "ar", " "),
    ],
)
def test_judge_is_addressed_in_a_last_sentence(name: str, text: str, language: str, gap: str) -> None:
    texts = params(name)["texts"]
    assert isinstance(texts, dict)
    made = {apply(ATTACKS[name], text, seed, language, texts=texts).text for seed in range(60)}
    assert made == {f"{text}{gap}{sentence}" for sentence in texts[language]}


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_are_written_in_each_language_that_they_can_do(name: str) -> None:
    texts = params(name)["texts"]
    assert isinstance(texts, dict)
    assert tuple(texts) == ATTACKS[name].languages
    for language, written in texts.items():
        assert len(written) == len(set(written)) >= 4
        if language in ("zh", "ja", "ar"):  # the script tells, as far as it can
            assert {text_language(text) for text in written} == {None if language == "ar" else language}
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
    with pytest.raises(InputError, match="parameter count is"):
        apply(padding, STORY, count=count, texts={"en": ["So be it."]})
