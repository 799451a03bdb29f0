"""The checks of a language model's revised texts: good ones pass, and each fault is called by its name.

The texts, and the edits that make revised texts of them, are in acceptance.yaml, which says how to read them.
"""

import functools
import itertools
import random
import string
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from dhp.core.sentences import sentences
from dhp.loaders.resolve import resolve_datasets
from dhp.perturb.llm import acceptance as a
from dhp.perturb.llm import entities, form, grammar, rephrasings
from dhp.perturb.llm.values import numbers

fault = functools.partial(a.fault, language="en")
ENTITIES, GRAMMAR, REWRITING = "fictional_named_entities", "grammatical_errors", "rewriting_insertion"

CASES: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name("acceptance.yaml").read_text("utf-8"))
TEXTS: Mapping[str, str] = CASES["texts"]
REASONS: dict[str, Any] = {}
for module in (a, form, entities, grammar, rephrasings):
    REASONS.update((name, value) for name, value in vars(module).items() if name.isupper())


def cases() -> Iterator[tuple[str, str, str, int | str, str | None]]:
    """Kind of damage, text, edits, number of changes asked for, and the fault; None where it is none."""
    for kind, key, count in (
        (ENTITIES, "one_entity", 1),
        (ENTITIES, "several_entities", "all"),
        (GRAMMAR, "errors_of_grammar", None),
        (REWRITING, "rephrasings", None),
    ):
        for reason, several in {"": CASES.get(key, ()), **CASES[f"wrong_{key}"]}.items():
            for case in several:
                for label, edits in case.items():
                    name, _, number = label.partition(" ")
                    yield kind, name, edits, count or int(number), REASONS[reason] if reason else None


def revised(name: str, edits: str) -> str:
    text = TEXTS[name]
    inserted: dict[int, list[str]] = {}
    for edit in edits.split(" | "):
        if " => " in edit:
            old, new = edit.split(" => ")
            assert old in text, old
            text = text.replace(old, new)
        else:
            place, new = edit.split("+ ", 1)
            inserted.setdefault(int(place), []).append(new)
    if not inserted:
        return text
    pieces = [*inserted.get(0, [])]
    for number, sentence in enumerate(sentences(text), start=1):
        pieces += [sentence, *inserted.get(number, [])]
    return " ".join(pieces)


@pytest.mark.parametrize(("kind", "name", "edits", "count", "reason"), list(cases()))
def test_each_case(kind: str, name: str, edits: str, count: int | str, reason: str | None) -> None:
    assert fault(kind, TEXTS[name], revised(name, edits), count) == reason


SCRIPTED: Mapping[str, Any] = yaml.safe_load(
    Path(__file__).with_name("scripted_answers.yaml").read_text("utf-8")
)
LETTERS = {"E": ENTITIES, "G": GRAMMAR, "R": REWRITING, "P": "paraphrase"}
MISJUDGED = 3
"""Of all scripted answers: `are funded` of a team, `samstags`, and what only the sense of it contradicts."""


@pytest.mark.slow
def test_scripted_answers_of_six_languages() -> None:
    wrong, asked = [], 0
    for name, block in SCRIPTED.items():
        language, text = name.split()[0], block["text"]
        for letter, count, is_right, edits in block["answers"]:
            asked += 1
            answer = revised_in(text, edits, language)
            if (a.fault(LETTERS[letter], text, answer, count, language=language) is None) != is_right:
                wrong.append((language, letter, edits))
    assert asked > 250
    assert len(wrong) <= MISJUDGED, wrong


def revised_in(text: str, edits: str, language: str) -> str:
    if edits.startswith("all+ "):
        return edits.removeprefix("all+ ")
    if " => " in edits:
        for edit in edits.split(" | "):
            old, new = edit.split(" => ")
            assert old in text, old
            text = text.replace(old, new, 1)
        return text
    place, new = edits.split("+ ", 1)
    whole = sentences(text, language)
    whole.insert(int(place), new)
    return ("" if language in ("zh", "ja") else " ").join(whole)


def test_the_number_of_entities_is_the_one_asked_for() -> None:
    two = revised("news", "Hartwell => Velmora | 2,150 => 3,300")
    three = revised("news", "Hartwell => Velmora | 2,150 => 3,300 | Mill Street => Glimmer Lane")
    assert fault(ENTITIES, TEXTS["news"], two, 2) is None
    assert fault(ENTITIES, TEXTS["news"], three, 2) == entities.MANY_ENTITIES
    assert fault(ENTITIES, TEXTS["news"], two, 3) == entities.FEW_ENTITIES


# Rewriting insertion ----------------------------------------------------------------------------------

REPHRASED = {
    (label.split()[0], int(label.split()[1])): several for label, several in CASES["rephrased"].items()
}
ONE_REPHRASED = [(name, f"{n}+ {new}") for (name, n), several in REPHRASED.items() for new in several]
PLACES = ((1, 2), (1, 3), (2, 4), (1, 2, 3), (2, 3, 4), (1, 2, 3, 4))


def several_rephrased() -> Iterator[tuple[str, str]]:
    """Name of a text, and edits that put the first or the second rephrasing behind some of its sentences."""
    for name, places, which in itertools.product(("news", "biomed"), PLACES, (0, 1)):
        yield name, " | ".join(f"{place}+ {REPHRASED[name, place][which]}" for place in places)


@pytest.mark.parametrize(("name", "edits"), ONE_REPHRASED)
def test_one_rephrased_sentence_passes(name: str, edits: str) -> None:
    assert fault(REWRITING, TEXTS[name], revised(name, edits), 1) is None


@pytest.mark.parametrize(("name", "edits"), list(several_rephrased()))
def test_several_rephrased_sentences_pass(name: str, edits: str) -> None:
    there = edits.count("+ ")
    assert fault(REWRITING, TEXTS[name], revised(name, edits), min(there, 3)) is None
    fewer_than_asked = fault(REWRITING, TEXTS[name], revised(name, edits), there + 1)
    assert fewer_than_asked == (None if there == len(sentences(TEXTS[name])) else rephrasings.FEW_SENTENCES)


def test_the_order_of_the_sentences_counts() -> None:
    first, second, *rest = sentences(TEXTS["news"])
    text = " ".join([second, REPHRASED["news", 2][0], first, *rest])
    assert fault(REWRITING, TEXTS["news"], text, 1) == rephrasings.REORDERED
    pair = "Rain fell in Orlind. Snow fell in Karsk."
    assert (
        fault(REWRITING, pair, "Snow fell in Karsk. Rain fell in Orlind. It rained in Orlind.", 1)
        == rephrasings.REORDERED
    )


def test_white_space_between_sentences_does_not_count() -> None:
    text = revised("news", f"1+ {REPHRASED['news', 1][0]}").replace(". ", ".\n\n")
    assert fault(REWRITING, TEXTS["news"], text, 1) is None


def test_all_sentences_are_enough_where_there_are_few() -> None:
    original = "The mill in Orlind burned down on Monday."
    assert fault(REWRITING, original, f"{original} On Monday, a fire destroyed Orlind's mill.", 3) is None


# What holds for all -----------------------------------------------------------------------------------

EVERY = (ENTITIES, GRAMMAR, REWRITING, "some_other")


@pytest.mark.parametrize("perturber", EVERY)
@pytest.mark.parametrize("answer", CASES["refusals"])
def test_a_refusal_is_called_one(perturber: str, answer: str) -> None:
    assert fault(perturber, TEXTS["news"], answer, 1) == a.REFUSED


def test_a_story_may_end_with_a_refusal() -> None:
    original = "Sorry, I can't help you with that, Jonas said."
    assert fault(ENTITIES, original, original.replace("Jonas", "Zephrik"), 1) is None


@pytest.mark.parametrize("perturber", EVERY)
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", a.EMPTY),
        ("...", a.EMPTY),
        (TEXTS["news"], a.UNCHANGED),
        (TEXTS["news"].upper(), a.UNCHANGED),
        (TEXTS["news"].replace(". ", ";\n\n"), a.UNCHANGED),
        ("Sure!", a.TOO_SHORT),
        ("The council of Velmora voted to close the library.", a.TOO_SHORT),
        (f"{TEXTS['news']} " * 4, a.TOO_LONG),
        (
            "Der Rat von Hartwell hat am 12. Mai mit 9 zu 4 Stimmen beschlossen, die alte "
            "Bibliothek zu schließen, und "
            "die Bürgermeisterin ist dafür. Sie soll in die Mühlenstraße ziehen, wo 300 "
            "Quadratmeter leer stehen.",
            a.LANGUAGE,
        ),
        (
            "哈特韦尔市议会于五月十二日以九票对四票决定关闭旧图书馆。市长称这是新的开始。反对者收集了签名。"
            * 2,
            a.LANGUAGE,
        ),
    ],
)
def test_what_no_revised_text_may_be(perturber: str, answer: str, reason: str) -> None:
    assert fault(perturber, TEXTS["news"], answer, 1) == reason


def test_another_text_of_the_request_is_no_revised_text() -> None:
    question = "Who was it that first saw why the canal of Orlind would need no locks at all?"
    assert fault("some_other", TEXTS["answer"], question, 1) is None
    assert fault("some_other", TEXTS["answer"], question, 1, [question]) == a.ANOTHER


def test_an_unknown_perturber_gets_the_general_checks_alone() -> None:
    assert fault("some_other", TEXTS["ending"], "Zephrik dragged everything home.", 1) is None


@pytest.mark.slow
def test_texts_in_other_languages_can_be_degraded() -> None:
    fault = functools.partial(a.fault, language="de")
    original = "Der Rat von Hartwell hat die alte Bibliothek am Markt geschlossen und das Haus verkauft."
    assert fault(ENTITIES, original, original.replace("Hartwell", "Velmora"), 1) is None
    assert fault(GRAMMAR, original, original.replace("hat", "haben"), 1) is None
    assert (
        fault(GRAMMAR, original, "The council has closed the old library and sold the house.", 1)
        == a.LANGUAGE
    )
    fault = functools.partial(a.fault, language="zh")
    chinese = "哈特市议会关闭了旧图书馆。市长很高兴。"
    assert fault(ENTITIES, chinese, chinese.replace("哈特", "维摩"), 1) is None
    assert (
        fault(REWRITING, chinese, "哈特市议会关闭了旧图书馆。旧图书馆已被议会关闭。市长很高兴。", 1) is None
    )


def test_what_needs_a_dictionary_is_checked_in_declared_english_alone() -> None:
    """The language of a text is declared, never guessed: this one could be English or be none."""
    original = "Dan Tran ran on an old man in Den Tor Run on a Sunday and won."
    misspelt = original.replace("ran on", "rann onn")
    assert a.fault(GRAMMAR, original, misspelt, 1, language="en") == grammar.MISSPELT
    for language in (None, "xx"):
        assert a.fault(GRAMMAR, original, misspelt, 1, language=language) is None


@pytest.mark.parametrize("language", [None, "de"])
def test_a_few_words_do_not_tell_another_language(language: str | None) -> None:
    original, revised = "Die Frist endet morgen.", "Frist enden morgen."
    assert a.fault(GRAMMAR, original, revised, 1, language=language) is None


LETTER = 'The "old" library (2 rooms) closes.\n\n- It moves in May.\n- Mayor Calder agrees.'


@pytest.mark.parametrize("language", ["en", "de", None])
@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("Calder", "[Quorne]", form.MARKED),
        ("Calder", "**Quorne**", form.MARKED),
        ("Calder", '"Quorne"', form.MARKED),
        ("Calder agrees", "Quorne (fictional) agrees", form.MARKED),
        ("Calder", "NAME", form.PLACEHOLDER),
        (LETTER, f"```\n{LETTER}\n```".replace("Calder", "Quorne"), form.MARKED),
        (LETTER, "Revised text:\n" + LETTER.replace("Calder", "Quorne"), form.MARKED),
        (LETTER, LETTER.replace("Calder", "Quorne").replace("\n\n", "\n"), form.FORM),
        (LETTER, LETTER.replace("Calder", "Quorne").replace('"old"', "old"), form.FORM),
        (LETTER, LETTER.replace("Calder", "Quorne").replace("- ", "* "), form.MARKED),
    ],
)
def test_the_form_outside_the_changed_words_stays(
    old: str, new: str, reason: str, language: str | None
) -> None:
    assert a.fault(ENTITIES, LETTER, LETTER.replace(old, new), 1, language=language) == reason
    assert a.fault(ENTITIES, LETTER, LETTER.replace("Calder", "Quorne"), 1, language=language) is None


GERMAN = (
    "Bürgermeisterin Calder hat am 12. Mai die alte Bibliothek geschlossen. Der Rat stimmt mit 9 zu 4 dafür."
)


@pytest.mark.parametrize(
    ("kind", "edits", "count", "reason"),
    [
        (ENTITIES, {"Calder": "Quorne"}, 1, None),
        (ENTITIES, {"geschlossen": "eröffnet"}, 1, entities.NO_ENTITY),
        (ENTITIES, {"Calder": "Quorne", "12. Mai": "3. Juni", "9": "7"}, 1, entities.MANY_ENTITIES),
        (ENTITIES, {"Calder": "Calden"}, 1, entities.MISSPELT_ENTITY),
        (ENTITIES, {"Calder": "Quorne"}, "all", entities.FEW_ENTITIES),
        (ENTITIES, {"Calder": "Quorne", "12. Mai": "3. Juni", "9 zu 4": "7 zu 5"}, "all", None),
        (GRAMMAR, {"hat": "haben"}, 1, None),
        (GRAMMAR, {"die alte": "der alten"}, 1, None),
        (GRAMMAR, {"die alte": "eine alte"}, 1, grammar.CORRECT),
        (GRAMMAR, {"Der Rat": "Den Rat"}, 1, None),
        (GRAMMAR, {"geschlossen": "geschlosn"}, 1, grammar.MISSPELT),
        (GRAMMAR, {"Bibliothek": "Kirche"}, 1, grammar.NO_GRAMMAR),
        (ENTITIES, {"9 zu 4": "neun zu vier"}, 1, entities.SAME_ENTITY),
        (ENTITIES, {"12. Mai": "012. Mai"}, 1, entities.SAME_ENTITY),
        (REWRITING, {"dafür.": "dafür. Mit 9 zu 4 stimmt der Rat nicht dafür."}, 1, rephrasings.CONTRADICTS),
        (REWRITING, {"dafür.": "dafür. Der Rat ist also dafür."}, 1, rephrasings.LOST),
        (REWRITING, {"dafür.": "dafür. Mit 9 zu 4 Stimmen ist der Rat dafür."}, 1, None),
        (REWRITING, {"dafür.": "dafür. Der Rat stimmt mit 9 zu 4 dafür."}, 1, rephrasings.COPIED),
        (REWRITING, {"dafür.": "dafür. Draußen regnete es stark."}, 1, rephrasings.UNRELATED),
        (
            REWRITING,
            {"dafür.": "dafür. Der Rat stimmt mit 8 zu 5 wirklich so ab."},
            1,
            rephrasings.CONTRADICTS,
        ),
    ],
)
def test_german_is_checked_without_a_dictionary_of_its_grammar(
    kind: str, edits: dict[str, str], count: int | str, reason: str | None
) -> None:
    text = GERMAN
    for old, new in edits.items():
        assert old in text
        text = text.replace(old, new)
    assert a.fault(kind, GERMAN, text, count, language="de") == reason


@pytest.mark.parametrize(
    ("text", "language", "value"),
    [
        ("forty thousand", "en", "40000"),
        ("two hundred and five", "en", "200 5"),
        ("twenty-five", "en", "25"),
        ("12 million", "en", "12000000"),
        ("1,234.5", "en", "1234.5"),
        ("3rd", "en", "3"),
        ("3,5 Millionen", "de", "3500000"),
        ("20万", "zh", "200000"),
        ("一百二十", "zh", "120"),
        ("forty", None, ""),
    ],
)
def test_numbers_have_one_way_of_writing(text: str, language: str | None, value: str) -> None:
    assert numbers(text, language) == set(value.split())


@pytest.mark.parametrize(
    ("language", "text", "rephrasing", "reason"),
    [
        ("fr", "Anne Colbert n'attendait pas autant de monde.", "Anne Colbert attendait autant de monde.", 1),
        ("fr", "Le prix est de 15 euros.", "Le prix est de quinze euros, pas plus.", 0),
        ("es", "El juez Antonio Ruiz ordenó su ingreso.", "El juez Manuel Soto ordenó el ingreso.", 1),
        ("zh", "学校不会提高学费。", "校长说学校会提高学费。", 1),
        ("zh", "去年有20万名读者来访。", "去年来访的读者达200000人。", 0),
    ],
)
def test_no_language_takes_the_contrary_for_a_rephrasing(
    language: str, text: str, rephrasing: str, reason: int
) -> None:
    found = a.fault(REWRITING, text, f"{text} {rephrasing}", 1, language=language)
    assert found == (rephrasings.CONTRADICTS if reason else None)


# Nonsense ---------------------------------------------------------------------------------------------

KINDS = [(ENTITIES, 1), (ENTITIES, "all"), (GRAMMAR, 2), (GRAMMAR, 5), (REWRITING, 1), (REWRITING, 3)]


@pytest.mark.slow
@pytest.mark.parametrize(("perturber", "count"), KINDS)
def test_no_nonsense_is_accepted(perturber: str, count: int | str) -> None:
    rng = random.Random(f"{perturber} {count}")
    outputs = [e.output for d in resolve_datasets(["mini"]) for e in d.examples]
    vocabulary = " ".join(outputs).split()
    for _ in range(200):
        original, other = rng.sample(outputs, 2)
        length = len(original.split())
        own = original.split()
        rng.shuffle(own)
        invented = ["".join(rng.choices(string.ascii_letters, k=rng.randint(1, 9))) for _ in range(length)]
        nonsense = [
            " ".join(rng.choices(vocabulary, k=length)),
            " ".join(invented),
            " ".join(own),
            other,
            f"{original} {' '.join(rng.choices(vocabulary, k=12))}.",
        ]
        assert not [text for text in nonsense if fault(perturber, original, text, count) is None]


@pytest.mark.slow
@given(st.sampled_from(KINDS), st.text(max_size=200), st.text(max_size=200))
def test_checking_never_fails(kind: tuple[str, int | str], original: str, answer: str) -> None:
    reason = fault(kind[0], original, answer, kind[1])
    assert reason is None or reason in REASONS.values()
    assert fault(kind[0], original, original, kind[1]) in (a.EMPTY, a.UNCHANGED, a.REFUSED)
