"""Grammatical errors by rule: which places are errors, which are not, and how many are taken."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.content.catalog import read_list
from dhp.core.diff import audit
from dhp.core.errors import InputError, NotApplicable
from dhp.core.records import Example
from dhp.loaders.dataset import resolve_datasets
from dhp.perturb.api import Edited
from dhp.perturb.grammar.perturber import grammatical_errors_rule, possible_errors
from dhp.perturb.grammar.words import GrammarLists, lemmas

LISTS = read_list("grammar", GrammarLists)
MINI = [(d.name, e.output) for d in resolve_datasets(["mini"]) for e in d.examples]
LONG = [text for name, text in MINI if name not in ("mini/story_cloze", "mini/answer_equivalence")]
STORIES = [text for name, text in MINI if name == "mini/story_cloze"]


def apply(text: str, seed: int = 0, count: object = 2) -> Edited:
    function = grammatical_errors_rule.function
    assert function is not None
    result = function(text, random.Random(seed), example=Example("e", "", text), lists=read_list, count=count)
    assert isinstance(result, Edited)
    return result


def outputs(text: str, kind: str) -> set[str]:
    """All texts that one error of a kind can make."""
    return {
        " ".join((text[: e.start] + wrong + text[e.end :]).split())
        for e in possible_errors(text, LISTS)
        if e.kind == kind
        for wrong in e.wrong
    }


def changed(before: str, after: str) -> list[tuple[str, str]]:
    """The words that differ, with an empty text for a dropped one, by the alignment that explains most."""
    a, b = before.split(), after.split()
    best: dict[int, tuple[int, list[tuple[str, str]]]] = {0: (0, [])}
    for i, word in enumerate(a):  # the state is the number of words of `b` that are used
        reached: dict[int, tuple[int, list[tuple[str, str]]]] = {}
        for used, (cost, pairs) in best.items():
            moves = [(used, 3, [(word, "")])]
            if used < len(b):
                same = word == b[used]
                price = 0 if same else 1 if _related(word, b[used]) else 9
                moves.append((used + 1, price, [] if same else [(word, b[used])]))
            for to, price, pair in moves:
                if i + 1 - to <= len(a) - len(b) and (to not in reached or cost + price < reached[to][0]):
                    reached[to] = (cost + price, pairs + pair)
        best = reached
    return best[len(b)][1]


def _plain(word: str) -> str:
    return word.lower().replace("’", "'").strip(".,;:!?()[]\"'`“”*")


def _related(before: str, after: str) -> bool:
    """Whether both are forms of one word, or both function words."""
    x, y = _plain(before), _plain(after)
    both = [{lemma for found in lemmas(word).values() for lemma in found} | {word} for word in (x, y)]
    return bool(both[0] & both[1]) or (x in LISTS.function_words and (y in LISTS.function_words or not y))


AGREEMENT = {
    "They were at home.": {"They was at home."},
    "He walks to school.": {"He walk to school."},
    "She goes home.": {"She go home."},
    "He bought a car.": {"He buy a car."},
    "Yesterday we went home.": {"Yesterday we goes home."},
    "These results suggest a link.": {"These results suggests a link."},
    "The results of the study were new.": {"The results of the study was new."},
    "The man often says that it rains.": {
        "The man often say that it rains.",
        "The man often says that it rain.",
    },
    "Tom was late.": {"Tom were late."},
    "There is a cat in the hall.": {"There are a cat in the hall."},
    "She did n't know that they were there.": {"She did n't know that they was there."},
    "I am here.": {"I is here.", "I are here."},
}
VERB_FORM = {
    "We will go there.": {"We will went there.", "We will goes there."},
    "They want to build a house.": {"They want to built a house.", "They want to builds a house."},
    "He has taken the key.": {"He has took the key."},
    "It was written here.": {"It was wrote here."},
    "He did n't go.": {"He did n't went.", "He did n't goes."},
    "the genes were identified by sequencing.": {"the genes were identify by sequencing."},
    "They left without telling me.": {"They leaving without telling me.", "They left without tell me."},
    "Prices rose again.": {"Prices rising again."},
}
FRAGMENT = {
    "The team is ready.": {"The team ready."},
    "He was happy.": {"He happy."},
    "It can be used again.": {"It can used again."},
    "the virus has been found in pigs.": {"the virus been found in pigs."},
    "The keys were lying there.": {"The keys lying there."},
}
NUMBER = {
    "These cells grow.": {"This cells grow."},
    "It took two days.": {"It took two day."},
    "This study is new.": {"These study is new.", "This studies is new."},
    "He has many friends.": {"He has much friends.", "He has many friend."},
    "In every room there is light.": {"In every rooms there is light.", "In all room there is light."},
    "She saw a tall man.": {"She saw a tall men."},
    "She chose a system approach.": {"She chose a system approaches."},
    "One of the best players left.": {"One of the best player left."},
    "we tested <dig> patients .": {"we tested <dig> patient ."},
}
PRONOUN = {
    "They were late.": {"Them were late."},
    "It is for him.": {"It is for he."},
    "She gave me a book.": {"Her gave me a book.", "She gave I a book."},
    "The girl hurt herself.": {"The girl hurt themselves.", "The girl hurt itself."},
    "The man who came is old.": {"The man which came is old."},
    "The method, which works, is old.": {"The method, who works, is old."},
    "Ann lost their keys.": {"Ann lost theirs keys."},
}
PREPOSITION = {
    "It starts on Monday.": {"It starts at Monday.", "It starts in Monday."},
    "All depends on money.": {"All depends at money.", "All depends from money."},
    "It rained in 1998.": {"It rained at 1998.", "It rained on 1998."},
    "He is older than you.": {"He is older as you."},
    "They stayed for three weeks.": {"They stayed since three weeks."},
    "He was bitten by a dog.": {"He was bitten of a dog."},
    "It rained during the night.": {"It rained while the night."},
    "Of course it rains.": {"At course it rains.", "To course it rains."},
}


@pytest.mark.parametrize(
    ("kind", "before", "allowed"),
    [
        (kind, before, allowed)
        for kind, table in {
            "agreement": AGREEMENT,
            "verb form": VERB_FORM,
            "fragment": FRAGMENT,
            "number": NUMBER,
            "pronoun": PRONOUN,
            "preposition": PREPOSITION,
        }.items()
        for before, allowed in table.items()
    ],
)
def test_each_kind_makes_these_errors_and_no_others(kind: str, before: str, allowed: set[str]) -> None:
    assert outputs(before, kind) == allowed


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("agreement", "The sheep are in the field."),
        ("agreement", "The sheep is in the field."),
        ("agreement", "The team is ready."),
        ("agreement", "The police have left."),
        ("agreement", "Chelsea have won again."),
        ("agreement", "None of the boys are here."),
        ("agreement", "A number of people were hurt."),
        ("agreement", "The data was new."),
        ("agreement", "Ham and eggs is on the menu."),
        ("agreement", "Twenty years is a long time."),
        ("agreement", "If he were rich, all would be well."),
        ("agreement", "What matters is help."),
        ("agreement", "One of the men who were there shouted."),
        ("agreement", "She let them walk."),
        ("agreement", "Did they walk home?"),
        ("agreement", "He put the cup there."),
        ("agreement", "He cut the bread."),
        ("verb form", "They had proved it again."),
        ("verb form", "She has cut it."),
        ("verb form", "The machine is running."),
        ("verb form", "It is due to work at night."),
        ("verb form", "The will makes no sense."),
        ("fragment", "The door was closed."),
        ("fragment", "He found the window was broken."),
        ("fragment", "It came as was expected."),
        ("number", "Type 2 cells divide."),
        ("number", "She likes these sheep."),
        ("number", "This species is rare."),
        ("number", "He paid twenty pounds."),
        ("number", "The boy is two years old."),
        ("pronoun", "Nobody is taller than him."),
        ("pronoun", "The team which won is here."),
        ("pronoun", "Everyone should help themselves."),
        ("pronoun", "We saw them leave."),
        ("preposition", "They met in London."),
        ("preposition", "He left by Monday."),
        ("preposition", "The robe was made of silk."),
    ],
)
def test_what_may_still_be_right_is_left_alone(kind: str, text: str) -> None:
    assert outputs(text, kind) == set()


def test_past_that_equals_the_present_is_no_change() -> None:
    for verb in ("read", "put", "cut", "set", "hit", "let", "shut"):
        for text in (f"He {verb} it.", f"They had {verb} it.", f"He will {verb} it."):
            assert all(e.wrong != (verb,) for e in possible_errors(text, LISTS))
            assert all(text[e.start : e.end].lower() not in e.wrong for e in possible_errors(text, LISTS))


@pytest.mark.parametrize("text", LONG)
@pytest.mark.parametrize("count", [1, 2, 5])
def test_exactly_count_words_change_and_content_words_stay(text: str, count: int) -> None:
    result = apply(text, count=count)
    pairs = changed(text, result.text)
    assert (result.asked, result.made) == (count, count)
    assert len(pairs) == count
    assert all(_related(before, after) for before, after in pairs), pairs
    assert abs(len(result.text) - len(text)) <= 6 * count


def test_most_stories_have_a_place() -> None:
    made = 0
    for text in STORIES:
        try:
            made += bool(apply(text, count=1).made)
        except NotApplicable:
            continue
    assert made >= 0.95 * len(STORIES)


@pytest.mark.parametrize("text", LONG[:12])
def test_errors_of_a_smaller_count_are_among_those_of_a_larger_one(text: str) -> None:
    made = [changed(text, apply(text, seed=3, count=k).text) for k in range(1, 7)]
    for smaller, larger in pairwise(made):
        left = list(larger)
        for pair in smaller:
            assert pair in left
            left.remove(pair)


def test_errors_are_spread_over_kinds_and_sentences() -> None:
    text = (
        "The engineers have repaired the old bridge over the river. It was closed for three weeks. "
        "He said that these works depend on the weather. She wants to build a house. They were in front "
        "of it."
    )
    drawn = {apply(text, seed, count=2).text for seed in range(40)}
    assert len(drawn) > 20
    sentences = [".".join(part.split()) for part in text.split(". ")]
    for after in drawn:
        touched = sum(
            ".".join(part.split()) != old for part, old in zip(after.split(". "), sentences, strict=True)
        )
        assert touched == 2


def test_the_same_seed_makes_the_same_errors() -> None:
    assert apply(LONG[0], 5, count=5) == apply(LONG[0], 5, count=5)
    assert apply(LONG[0], 5, count=5) != apply(LONG[0], 6, count=5)


WORDS = st.sampled_from(
    "the a this these he She they I it was were is are has have been be will to of in on at with who which "
    "and that two many cells cell study team walk walks walked took taken go goes went book Tom Monday 1999 "
    "<dig> her their himself than during , . ; ' `` n't -".split()
)


@given(st.text(max_size=60) | st.lists(WORDS, max_size=25).map(" ".join), st.integers(1, 6))
def test_any_text_survives(text: str, count: int) -> None:
    try:
        result = apply(text, count=count)
    except NotApplicable:
        return
    assert 1 <= result.made <= count
    assert result.text != text
    assert len(changed(text, result.text)) <= result.made
    report = audit(text, result.text, result.asked, result.made)
    assert report.edit_distance > 0


@pytest.mark.parametrize(
    "text",
    [
        "Der Hund des Nachbarn ist groß, und die Katze schläft in dem Haus.",
        "该公司周三公布了财报。",
        "",
        "42",
        "...",
        "Blue sky",
    ],
)
def test_no_english_sentence_no_error(text: str) -> None:
    with pytest.raises(NotApplicable):
        apply(text)


def test_a_noun_phrase_has_few_places_or_none() -> None:
    assert apply("two old dogs", count=5) == Edited("two old dog", 5, 1)
    with pytest.raises(NotApplicable, match="no place for a grammatical error found"):
        apply("King Harald of Norvia")


@pytest.mark.parametrize("count", [0, -1, True, 1.5, "all"])
def test_a_count_that_is_none_is_refused(count: object) -> None:
    with pytest.raises(InputError, match="allowed: a whole number of at least 1"):
        apply(LONG[0], count=count)


def test_case_and_blanks_are_kept() -> None:
    texts = {apply("These cells grow.", seed, count=1).text for seed in range(30)}
    assert texts == {"This cells grow.", "These cells grows."}
    assert {apply("He said: I am here.", s, count=1).text[0] for s in range(20)} <= {"H"}
