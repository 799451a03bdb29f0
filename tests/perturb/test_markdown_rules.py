"""Rules on texts with Markdown and lists: no mark is touched alone, nothing that is no prose is damaged."""

import itertools
import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.core.errors import NotApplicable
from dhp.core.records import Example
from dhp.perturb.api import Edited
from dhp.perturb.cuts import removals, repetition
from dhp.perturb.edits import applied
from dhp.perturb.numbering import renumbered
from dhp.perturb.registry import builtin_perturbers
from tests.core.test_markdown import markdown

SUITE = {
    "random_deletions": {"share": 0.15},
    "random_typos": {"share": 0.15},
    "word_deletions": {"share": 0.3},
    "word_swaps": {"share": 0.3},
    "reordering": {"count": "all"},
    "sentence_deletion": {"share": 0.5},
    "sentence_repetition": {"k": 2},
    "sentence_insertion": {"k": 2},
}
OTHERS = [Example("other", "", "1. Fill the kettle. It is old.\n2. Wait.")]
ALONE = re.compile(r"\s*(?:[-*•]|\(?\d\)|\d\.)\s*")


def degraded(name: str, text: str, seed: int, language: str | None = None, **dose: object) -> str:
    rule = builtin_perturbers()[name]
    given: dict[str, object] = {"others": OTHERS, "language": language}
    given = {each: value for each, value in given.items() if rule.wants(each)}
    if rule.wants("example"):
        given["example"] = Example("text", "", text)
    result = rule(text, Random(seed), **(dose or SUITE[name]), **given)
    assert isinstance(result, Edited)
    return result.text


@pytest.mark.parametrize("name", SUITE)
@given(document=markdown(), seed=st.integers(0, 9))
def test_marks_and_markdown_stay_whole(
    name: str, document: tuple[str, list[str], list[int]], seed: int
) -> None:
    text, _, fixed = document
    try:
        after = degraded(name, text, seed)
    except NotApplicable:
        return
    lines, lines_after = text.splitlines(), after.splitlines()
    whole = [lines[i] for i in fixed]
    for line in whole:
        assert lines_after.count(line) >= whole.count(line)
    inside = [line for line in whole if line.startswith(("```", "|"))]
    outside = [line for line in lines_after if line not in inside]
    assert not any(ALONE.fullmatch(line) for line in outside)


PLAN = "Here is the plan:\n1. Boil the water.\n2. Add the pasta. Stir it.\n3. Serve with `salt 1` at once."


def test_an_item_is_repeated_as_a_line_and_goes_as_one() -> None:
    repeated = {degraded("sentence_repetition", PLAN, seed) for seed in range(20)}
    assert any("1. Boil the water.\n2. Boil the water.\n3." in text for text in repeated)
    assert any("Stir it. Stir it.\n3." in text for text in repeated)
    gone = {degraded("sentence_deletion", PLAN, seed) for seed in range(20)}
    assert any("plan:\n1. Add" in text for text in gone)
    assert any("1. Stir it." in text for text in gone)
    assert any("2. Add the pasta." in text and "Stir" not in text for text in gone)


TWO_LISTS = "Steps:\n1. Mix.\n2. Bake.\n3. Eat.\n\nThen:\n1. Wash.\n2. Dry.\n3. Put away."


@pytest.mark.parametrize(
    ("before", "gone", "numbered"),
    [
        (TWO_LISTS, ["2. Bake."], TWO_LISTS.replace("2. Bake.\n3", "2")),
        (
            TWO_LISTS,
            ["3. Eat.", "1. Wash."],
            "Steps:\n1. Mix.\n2. Bake.\n\nThen:\n1. Dry.\n2. Put away.",
        ),
        (TWO_LISTS, ["1. Wash.", "2. Dry.", "3. Put away."], TWO_LISTS[: TWO_LISTS.index("\n1. Wash")]),
        ("(a) one.\n(b) two.\n(c) three.", ["(b) two."], "(a) one.\n(b) three."),
        ("A. one\nB. two\nC. three", ["A. one"], "A. two\nB. three"),
        ("2. b.\n3. c.\n4. d.", ["3. c."], "2. b.\n3. d."),
        ("1. a.\n   1. x.\n   2. y.\n2. b.", ["   1. x."], "1. a.\n   1. y.\n2. b."),
        (
            "1. Who?\n   A. I\n   B. We\n2. Why?\n   A. So",
            ["1. Who?"],
            "   A. I\n   B. We\n1. Why?\n   A. So",
        ),
        ("- a.\n- b.", ["- a."], "- b."),
        ("1.1 One.\n1.2 Two.\n1.3 Three.\n2.1 Four.", ["1.2 Two."], "1.1 One.\n1.2 Three.\n2.1 Four."),
        ("i. One.\nii. Two.\niii. Three.\niv. Four.", ["ii. Two."], "i. One.\nii. Three.\niii. Four."),
        ("① 一つ。\n② 二つ。\n③ 三つ。", ["② 二つ。"], "① 一つ。\n② 三つ。"),
        ("１．一つ。\n２．二つ。\n３．三つ。", ["１．一つ。"], "１．二つ。\n２．三つ。"),
        ("九、有。\n十、来。\n十一、去。", ["十、来。"], "九、有。\n十、去。"),
        ("Step 1: Mix.\nStep 2: Bake.\nStep 3: Eat.", ["Step 2: Bake."], "Step 1: Mix.\nStep 2: Eat."),
        ("**1. Mix.** Go on.\n**2. Bake.** Wait.", ["**1. Mix.** Go on."], "**1. Bake.** Wait."),
        ("Do: 1. mix. 2. bake. 3. eat.", ["2. bake."], "Do: 1. mix. 2. eat."),
        ("(1) Mix. (2) Bake. (3) Eat.", ["(1) Mix."], "(1) Bake. (2) Eat."),
        ("(1) Mix. (2) Bake. (3) Eat.", ["(3) Eat."], "(1) Mix. (2) Bake."),
    ],
)
def test_lists_are_numbered_anew(before: str, gone: list[str], numbered: str) -> None:
    spans = [
        (before.index(part) + len(part) - len(part.lstrip()), before.index(part) + len(part)) for part in gone
    ]
    assert renumbered(before, removals(before, spans)) == numbered
    assert renumbered(before, []) == before


def test_no_space_stays_before_a_mark() -> None:
    text = "He has cats, dogs and birds. He reads."
    start = text.index(" birds")
    assert (
        applied(text, removals(text, [(start, start + len(" birds"))]))[0]
        == "He has cats, dogs and. He reads."
    )


def test_an_item_said_twice_has_the_next_number() -> None:
    said = repetition(TWO_LISTS, TWO_LISTS.index("2. Bake."), TWO_LISTS.index("\n3. Eat"))
    expected = TWO_LISTS.replace("3. Eat", "4. Eat").replace("2. Bake.", "2. Bake.\n3. Bake.")
    assert renumbered(TWO_LISTS, [said]) == expected
    bullets = "1. Mix:\n\t* Take flour.\n2. Bake."
    said = repetition(bullets, bullets.index("* Take"), bullets.index("\n2."))
    assert renumbered(bullets, [said]) == bullets.replace("\n2", "\n\t* Take flour.\n2")


@pytest.mark.parametrize("name", ["reordering", "sentence_deletion", "sentence_repetition"])
def test_no_damaged_list_shows_it_by_its_numbers(name: str) -> None:
    items = "\n".join(
        f"{n}. Item {word} is here." for n, word in enumerate("one two three four five".split(), 1)
    )
    for seed in range(20):
        numbers = [int(n) for n in re.findall(r"^(\d)\.", degraded(name, f"A list:\n{items}", seed), re.M)]
        assert numbers == list(range(1, len(numbers) + 1))


LETTER = (
    "Hello Ms Calder,\n\nyour lamp was sent on Monday. It comes by train. It should be there soon.\n\n"
    "Best regards,\nThe team"
)


@pytest.mark.parametrize("name", ["reordering", "sentence_deletion"])
def test_greetings_and_signatures_stay(name: str) -> None:
    for seed in range(20):
        after = degraded(name, LETTER, seed)
        assert after.startswith("Hello Ms Calder,\n\n")
        assert after.endswith("\n\nBest regards,\nThe team")


def test_lines_of_a_poem_are_no_sentences_to_reorder() -> None:
    poem = "The moon goes by\nAnd who knows why\nThe owls at night\nHave taken flight,\nSo still, so white."
    stopped = "Roses are red.\nViolets are blue.\nSugar is sweet.\nAnd so are you."
    for name in ("reordering", "sentence_deletion", "sentence_repetition"):
        for text in (poem, stopped):
            with pytest.raises(NotApplicable, match="made of lines"):
                degraded(name, text, 0)


COURTEOUS = {
    "en": ("Hello! ", "The meeting is at ten. Bring the plans. The lab is open.", " See you soon!"),
    "de": ("Hallo! ", "Die Sitzung beginnt um zehn. Bring die Pläne mit. Das Labor ist offen.", " Bis bald!"),
    "es": ("¡Hola! ", "La reunión es a las diez. Trae los planos. El sitio es nuevo.", " ¡Hasta pronto!"),
    "fr": ("Bonjour ! ", "La réunion est à dix heures. Apporte les plans. Le lieu est neuf.", " À bientôt !"),
    "zh": ("您好！", "会议十点开始。请带上图纸。地点在三楼。", "祝您愉快！"),
    "ja": (
        "こんにちは。",
        "会議は十時に始まります。図面を持参してください。場所は三階です。",
        "よろしくお願いします。",
    ),
}


@pytest.mark.parametrize("language", COURTEOUS)
@pytest.mark.parametrize("name", ["reordering", "sentence_deletion", "sentence_repetition"])
def test_courtesies_stay_where_they_are(language: str, name: str) -> None:
    before, said, behind = COURTEOUS[language]
    for seed in range(10):
        after = degraded(name, before + said + behind, seed, language)
        assert after.startswith(before)
        assert after.endswith(behind)
        assert after.count(before.strip()) == 1 == after.count(behind.strip())


def test_bullets_may_stand_in_any_order() -> None:
    with pytest.raises(NotApplicable, match="any order"):
        degraded("reordering", "- Red wine.\n- Bread.\n- Cheese.", 0, count=2)


@pytest.mark.parametrize(
    "text",
    [
        "It rains. Mary Keefe works here. Keefe is tall. All is well.",
        "It rains. Somebody bought a car there. The car was red. All is well.",
    ],
)
def test_a_pair_of_which_one_names_what_the_other_introduces_changes_places(text: str) -> None:
    first, second, third, last = re.findall(r"[^.]+\.", text)
    for seed in range(8):
        assert degraded("reordering", text, seed, count=2) == f"{first}{third}{second}{last}"


def test_a_pair_changes_places_within_its_list() -> None:
    text = (
        "1. Cook.\n   a) Boil water.\n   b) Add salt.\n2. Serve it hot.\n\nNote\n\nDo not wait. It gets cold."
    )
    for seed in range(20):
        after = degraded("reordering", text, seed, count=2)
        assert after in {
            text.replace("Boil water", "X").replace("Add salt", "Boil water").replace("X", "Add salt"),
            text.replace("Do not wait. It gets cold.", "It gets cold. Do not wait."),
        }


@given(st.integers(4, 12), st.integers(0, 200))
def test_all_sentences_reordered_are_further_apart_than_two(count: int, seed: int) -> None:
    text = " ".join(f"Number {chr(97 + i)} was seen." for i in range(count))

    def inversions(share: dict[str, object]) -> int:
        after = builtin_perturbers()["reordering"](text, Random(seed), **share)
        assert isinstance(after, Edited)
        order = re.findall(r"Number (\w)", after.text)
        return len([pair for pair in itertools.combinations(order, 2) if pair[0] > pair[1]])

    assert inversions({"count": 2}) == 1 < inversions({"count": "all"})


def test_a_foreign_sentence_comes_without_its_mark() -> None:
    for seed in range(9):
        after = degraded("sentence_insertion", PLAN, seed)
        assert "kettle" not in after or " Fill the" in after


def test_words_of_an_item_leave_its_mark_only_with_a_word() -> None:
    for seed in range(30):
        after = degraded("word_deletions", PLAN, seed)
        assert not any(ALONE.fullmatch(line) for line in after.splitlines())
        assert "`salt 1`" in after or "salt" not in after
