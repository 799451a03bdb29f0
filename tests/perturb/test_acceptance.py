"""The checks of a language model's revised texts: good ones pass, and each fault is called by its name.

Revised texts are written as edits of the originals, separated by ` | `: `old => new` at all places where the
old words stand, or `2+ New sentence.` for a sentence inserted after the second one.
"""

import functools
import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.core.text import sentences
from dhp.loaders.resolve import resolve_datasets
from dhp.perturb.llm import acceptance as a
from dhp.perturb.llm import acceptance as r

fault = functools.partial(a.fault, language="en")
ENTITIES, GRAMMAR, REWRITING = "fictional_named_entities", "grammatical_errors", "rewriting_insertion"
TEXTS = {
    "news": "The council of Hartwell voted 9 to 4 on 12 May to close the old library. It will move to Mill "
    "Street, where 300 square metres stand empty. Mayor Ines Calder called it a new start. "
    "Opponents collected "
    "2,150 signatures and want Calder to ask all citizens.",
    "biomed": "Colistin resistance in Acinetobacter baumannii has spread through hospitals since 2011. We "
    "sequenced 187 isolates from 9 clinics in Karsk and measured how fast they grow. Loss of the gene lpxA "
    "restored the effect of rifampicin in most strains. Whether such mutants persist without treatment is "
    "unknown.",
    "ending": "Jonas carried the wet tent back to the car.",
    "bread": "The loaf came out flat and as hard as brick.",
    "answer": "The canal needs no locks because the two seas stand at nearly the same level, as "
    "Ferrand found "
    "in 1847.",
    "short": "The chemist Oren Valdis",
    "mail": "Dear Ms Okafor, your order 40-77312 of December 2 was damaged at the Lunden depot. We "
    "sent out a "
    "replacement today free of charge, which should reach you on December 9. Please keep the Lunden label.",
}


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


# Fictional named entities -----------------------------------------------------------------------------

ONE_ENTITY = [
    ("news", "Hartwell => Velmora"),
    ("news", "council of Hartwell => council of New Orvane Bay"),
    ("news", "Mill Street => Glimmer Lane"),
    ("news", "Ines Calder => Zira Quorne | Calder => Quorne"),
    ("news", "9 to 4 => 7 to 6"),
    ("news", "12 May => 31 Frostmonth"),
    ("news", "300 square metres => 450 square metres"),
    ("news", "2,150 signatures => 9,999 signatures"),
    ("news", "library => Lumenarium"),
    ("biomed", "Colistin => Zelomycin"),
    ("biomed", "Acinetobacter baumannii => Vornobacter quellii"),
    ("biomed", "lpxA => zorB"),
    ("biomed", "rifampicin => velotrexin"),
    ("biomed", "in Karsk => in the Duchy of Orlind"),
    ("ending", "Jonas => Zephrik"),
    ("ending", "tent => skyweave"),
    ("ending", "the car => the Velorider"),
    ("bread", "brick => drakestone"),
    ("bread", "loaf => glimmerloaf"),
    ("bread", "brick => feather"),
    ("answer", "Ferrand => Professor Thelwyn"),
    ("answer", "1847 => 1903"),
    ("answer", "canal => Korvathway"),
    ("short", "Oren Valdis => Tavi Melkor"),
    ("mail", "Ms Okafor => Ms Windriel"),
    ("mail", "40-77312 => 58-00213"),
    ("mail", "Lunden => Vargholt"),
    ("mail", "December 9 => Emberday 14"),
]
ALL_ENTITIES = [
    (
        "news",
        "Hartwell => Velmora | Mill Street => Glimmer Lane | Ines Calder => Zira Quorne | Calder => Quorne",
    ),
    ("news", "9 to 4 => 7 to 6 | 12 May => 31 Frostmonth"),
    (
        "news",
        "Hartwell => Velmora | 9 to 4 => 12 to 3 | 12 May => 2 June | Mill Street => Orb Way | 300 => 720",
    ),
    ("news", "library => Lumenarium | Hartwell => Velmora | 2,150 => 880"),
    ("news", "300 square metres => 40 square leagues | 2,150 => 3,333"),
    ("biomed", "Colistin => Zelomycin | Acinetobacter baumannii => Vornobacter quellii | 2011 => 1987"),
    ("biomed", "Colistin => Zelomycin | lpxA => zorB | rifampicin => velotrexin | 187 => 212 | 9 => 14"),
    ("biomed", "Karsk => Velmora | 2011 => 2019"),
    ("ending", "Jonas => Zephrik | tent => skyweave"),
    ("ending", "Jonas => Zephrik | the car => the Velorider"),
    ("bread", "brick => drakestone"),
    ("answer", "Ferrand => Thelwyn | 1847 => 1903"),
    ("answer", "canal => Korvathway | Ferrand => Thelwyn | 1847 => 1266"),
    ("short", "Oren Valdis => Tavi Melkor"),
    ("short", "The chemist Oren Valdis => The alchemist Tavi Melkor"),
    ("mail", "Okafor => Windriel | 40-77312 => 58-00213 | Lunden => Vargholt"),
    ("mail", "December 2 => Emberday 3 | December 9 => Emberday 14 | Lunden => Vargholt"),
]
BAD_ONE_ENTITY = [
    ("news", "Hartwell => Velmora | Mill Street => Glimmer Lane", a.MANY_ENTITIES),
    ("news", "Hartwell => Velmora | 2,150 => 3,300", a.MANY_ENTITIES),
    ("biomed", "lpxA => zorB | rifampicin => velotrexin", a.MANY_ENTITIES),
    ("mail", "Okafor => Windriel | Lunden => Vargholt", a.MANY_ENTITIES),
    ("news", "Hartwell => Velmora | close the old library => shut down the aged reading house", a.NO_ENTITY),
    ("news", "voted => decided", a.NO_ENTITY),
    ("news", "a new start => a fresh beginning", a.NO_ENTITY),
    ("biomed", "measured how fast => determined how quickly", a.NO_ENTITY),
    ("ending", "carried => hauled", a.NO_ENTITY),
    ("ending", "car => van", a.NO_ENTITY),
    ("ending", "Jonas => Someone", a.NO_ENTITY),
    ("news", "Mill Street => Hartwell Street", a.NO_ENTITY),
    ("bread", "flat => thin", a.NO_ENTITY),
    ("bread", "flat => majestic", a.NO_ENTITY),
    ("news", "Mill Street => Mill Streets", a.SAME_ENTITY),
    ("news", "Hartwell => HARTWELL", a.UNCHANGED),
    ("news", "Mayor Ines Calder => Ines Calder", a.LEFT_OUT),
    ("news", "of Hartwell =>  ", a.LEFT_OUT),
    ("news", "Hartwell => Velmora | Mayor Ines Calder => Mayor Ines Calder of Glimmerhold", a.ADDED),
    ("news", "4+ Velmora is a made-up name.", a.ADDED),
    ("ending", "the car. => the car. I changed nothing else.", a.ADDED),
    (
        "short",
        "The chemist Oren Valdis => It was the chemist Oren Valdis who did that first in all.",
        a.TOO_LONG,
    ),
]
BAD_ALL_ENTITIES = [
    ("news", "Hartwell => Velmora", a.FEW_ENTITIES),
    ("news", "Ines Calder => Zira Quorne | Calder => Quorne", a.FEW_ENTITIES),
    ("biomed", "rifampicin => velotrexin", a.FEW_ENTITIES),
    ("mail", "Lunden => Vargholt", a.FEW_ENTITIES),
    ("answer", "Ferrand => Thelwyn", a.FEW_ENTITIES),
    ("news", "voted => decided | start => beginning | Opponents => Critics", a.NO_ENTITY),
    ("news", "Hartwell => Velmora | voted => decided | a new start => one fresh beginning", a.NO_ENTITY),
    ("biomed", "spread => moved | restored => brought back | Karsk => Orlind", a.NO_ENTITY),
    ("mail", "damaged => broken | today => now | label => sticker", a.NO_ENTITY),
    ("news", "of Hartwell =>   | Mayor Ines Calder => The mayor", a.LEFT_OUT),
    ("mail", "Ms Okafor => ms okafor", a.UNCHANGED),
    ("ending", "Jonas => jonas | tent => tents", a.SAME_ENTITY),
    ("ending", "Jonas carried the wet tent back => Zephrik fled from 4 grey Orlings", a.REWRITTEN),
    ("bread", "The loaf came out flat and => Baker Zim of Orlind sold 12 moonbuns", a.REWRITTEN),
    ("short", "The chemist Oren Valdis => Valdis", a.TOO_SHORT),
]


@pytest.mark.parametrize(("name", "edits"), ONE_ENTITY)
def test_one_replaced_entity_passes(name: str, edits: str) -> None:
    assert fault(ENTITIES, TEXTS[name], revised(name, edits), 1) is None


@pytest.mark.parametrize(("name", "edits"), ALL_ENTITIES)
def test_several_replaced_entities_pass(name: str, edits: str) -> None:
    assert fault(ENTITIES, TEXTS[name], revised(name, edits), "all") is None


@pytest.mark.parametrize(("name", "edits", "reason"), BAD_ONE_ENTITY)
def test_anything_but_one_replaced_entity_fails(name: str, edits: str, reason: str) -> None:
    assert fault(ENTITIES, TEXTS[name], revised(name, edits), 1) == reason


@pytest.mark.parametrize(("name", "edits", "reason"), BAD_ALL_ENTITIES)
def test_anything_but_several_replaced_entities_fails(name: str, edits: str, reason: str) -> None:
    assert fault(ENTITIES, TEXTS[name], revised(name, edits), "all") == reason


def test_the_number_of_entities_is_the_one_asked_for() -> None:
    two = revised("news", "Hartwell => Velmora | 2,150 => 3,300")
    three = revised("news", "Hartwell => Velmora | 2,150 => 3,300 | Mill Street => Glimmer Lane")
    assert fault(ENTITIES, TEXTS["news"], two, 2) is None
    assert fault(ENTITIES, TEXTS["news"], three, 2) == a.MANY_ENTITIES
    assert fault(ENTITIES, TEXTS["news"], two, 3) == a.FEW_ENTITIES


# Grammatical errors -----------------------------------------------------------------------------------

FEW_ERRORS = [
    ("news", 2, "will move => will moves | Opponents collected => Opponents collects"),
    ("news", 2, "It will move => They will move | stand empty => stands empty"),
    ("news", 2, "called it => calling it | on 12 May => in 12 May"),
    ("news", 2, "all citizens => all citizen | 300 square metres stand => 300 square metre stand"),
    ("news", 2, "It will move => It will moving | voted 9 to 4 => vote 9 to 4"),
    ("news", 2, "Mill Street, where => Mill Street. Where | a new start => an new start"),
    ("news", 2, "want Calder => wants Calder | called => call"),
    ("biomed", 2, "has spread => have spread | is unknown => are unknown"),
    ("biomed", 2, "We sequenced => Us sequenced | they grow => it grow"),
    ("biomed", 2, "since 2011 => for 2011 | restored => restoring"),
    ("biomed", 2, "how fast they grow => how fast them grows"),
    ("ending", 1, "carried => carry"),
    ("ending", 1, "to the car => at the car"),
    ("ending", 1, "Jonas carried => Jonas carrying"),
    ("bread", 1, "came => comed"),
    ("bread", 1, "loaf came => loaves comes"),
    ("answer", 1, "needs => need"),
    ("answer", 1, "seas stand => seas stands"),
    ("answer", 1, "two seas => two sea"),
    ("short", 1, "The chemist => The chemists"),
    ("mail", 2, "was damaged => were damaged | should reach => should reaches"),
    ("mail", 2, "We sent => We sended | reach you => reach yours"),
]
MANY_ERRORS = [
    (
        "news",
        5,
        "council of => council for | will move => will moves | stand => stands | called => call | "
        "want => wants",
    ),
    (
        "news",
        5,
        "voted => vote | to close => closing | It will move => Them moves | collected => collects | "
        "a new => an new",
    ),
    (
        "news",
        5,
        "on 12 May => at 12 May | metres stand => metre stands | Opponents => Opponent | want => wanting",
    ),
    ("news", 3, "called it => call them | citizens => citizen | to Mill => on Mill | voted => votes"),
    (
        "biomed",
        5,
        "has spread => have spreaded | since => for | We => Us | they grow => it grow | "
        "is unknown => are unknown",
    ),
    (
        "biomed",
        5,
        "through => on | hospitals => hospital | measured => measuring | they grow => them grows | "
        "such => this",
    ),
    (
        "biomed",
        5,
        "isolates => isolate | clinics => clinic | restored => restore | strains => strain | "
        "persist => persists",
    ),
    ("answer", 3, "needs => need | seas stand => sea stands"),
    ("answer", 3, "needs no locks because => need no lock. Because | found => finding"),
    ("answer", 3, "at nearly => in nearly | found in => find on"),
    (
        "mail",
        5,
        "was => were | We sent => Us send | which => who | reach => reaches | on December => in December",
    ),
    ("mail", 5, "your order => you orders | sent => sending | should => shall | keep => keeps"),
    ("ending", 3, "carried => carry | back to => back at | the wet tent => a wet tents"),
    ("bread", 3, "came out flat => comes out flatly | as hard => more hard"),
]
BAD_GRAMMAR = [
    ("news", 2, "called => call", a.FEW_ERRORS),
    ("news", 5, "called => call | want => wants | stand => stands", a.FEW_ERRORS),
    ("biomed", 2, "is unknown => are unknown", a.FEW_ERRORS),
    ("answer", 3, "needs => need", a.FEW_ERRORS),
    ("news", 2, "voted => voed | called => caled", a.MISSPELT),
    ("news", 2, "signatures => signaturres | called => call", a.MISSPELT),
    ("biomed", 2, "hospitals => hospitalls | treatment => treatmennt", a.MISSPELT),
    ("ending", 1, "carried => caried", a.MISSPELT),
    ("news", 2, "close => shut | want => wish", a.NO_GRAMMAR),
    ("news", 2, "Hartwell => Velmora | want => wants", a.NO_GRAMMAR),
    ("news", 2, "2,150 => 2,510 | want => wants", a.NO_GRAMMAR),
    (
        "news",
        2,
        "to close the old library => that the library be closed down for good | want => wants",
        a.NO_GRAMMAR,
    ),
    ("biomed", 2, "Colistin resistance => The resistance | is unknown => are unknown", a.NO_GRAMMAR),
    ("ending", 1, "the wet tent => the tent, dripping,", a.NO_GRAMMAR),
    ("bread", 1, "came out flat => emerged flat", a.NO_GRAMMAR),
    ("news", 2, "want => wants | stand => stands | 4+ The errors are in want and stand.", a.NO_GRAMMAR),
    (
        "answer",
        1,
        "needs => need | seas stand => sea stands | found in => find on | at nearly => on nearly",
        a.MANY_ERRORS,
    ),
    (
        "news",
        2,
        "of Hartwell => for Hartwell | voted => votes | close => closing | It will => They will | "
        "stand => stands | "
        "called => calling | collected => collects | want => wants",
        a.MANY_ERRORS,
    ),
    ("news", 2, "The council => the council | It will => it will", a.UNCHANGED),
]


@pytest.mark.parametrize(("name", "count", "edits"), FEW_ERRORS + MANY_ERRORS)
def test_errors_of_grammar_pass(name: str, count: int, edits: str) -> None:
    assert fault(GRAMMAR, TEXTS[name], revised(name, edits), count) is None


@pytest.mark.parametrize(("name", "count", "edits", "reason"), BAD_GRAMMAR)
def test_anything_but_errors_of_grammar_fails(name: str, count: int, edits: str, reason: str) -> None:
    assert fault(GRAMMAR, TEXTS[name], revised(name, edits), count) == reason


# Rewriting insertion ----------------------------------------------------------------------------------

REPHRASED = {
    ("news", 1): [
        "By 9 votes to 4, Hartwell's councillors decided on 12 May that the old library should be shut.",
        "In other words, the old library was to be closed after the Hartwell council had voted 9 to "
        "4 on 12 May.",
        "The decision to shut the town's library was taken by the council on 12 May.",
    ],
    ("news", 2): [
        "Its new home will be Mill Street, which has 300 square metres of unused space.",
        "On Mill Street, 300 empty square metres are waiting for it.",
        "It is going to be relocated to Mill Street, where there are 300 vacant square metres.",
    ],
    ("news", 3): [
        "According to Ines Calder, the mayor, it is a fresh beginning.",
        "Calder, who is mayor, spoke of a new start.",
        "In the words of Mayor Calder, this marks a new beginning.",
    ],
    ("news", 4): [
        "Those against it gathered 2,150 signatures and demand that Calder put the question to "
        "every citizen.",
        "A petition with 2,150 signatures asks Calder to consult the whole population.",
        "Critics, who have 2,150 signatures, want the citizens to be asked.",
    ],
    ("biomed", 1): [
        "Since 2011, hospitals have seen more and more A. baumannii strains that colistin no longer kills.",
        "Resistance of this species to colistin has become common in hospitals since 2011.",
    ],
    ("biomed", 2): [
        "The genomes of 187 isolates, taken at 9 clinics in Karsk, were determined, and so was their growth.",
        "For 187 isolates from Karsk we obtained both the sequence and the speed of growth.",
    ],
    ("biomed", 3): [
        "When lpxA was lost, rifampicin worked again in the majority of strains.",
        "Most strains without lpxA became sensitive to rifampicin once more.",
    ],
    ("biomed", 4): [
        "It is not known if these mutants survive once treatment ends.",
        "Nobody knows whether the mutants last when there is no treatment.",
    ],
}
ONE_REPHRASED = [(name, f"{n}+ {new}") for (name, n), several in REPHRASED.items() for new in several]
SEVERAL_REPHRASED = [
    (name, " | ".join(f"{n}+ {REPHRASED[name, n][i % 2]}" for n in places))
    for name in ("news", "biomed")
    for places in ((1, 2), (1, 3), (2, 4), (1, 2, 3), (2, 3, 4), (1, 2, 3, 4))
    for i in (0, 1)
]
NEWS_1, NEWS_2, NEWS_4 = (REPHRASED["news", n][0] for n in (1, 2, 4))
BAD_REWRITING = [
    ("news", 1, f"1+ {NEWS_1} | 2+ {NEWS_2}", r.MANY_SENTENCES),
    ("news", 1, f"4+ {NEWS_1}", r.MISPLACED),
    ("news", 1, f"2+ {NEWS_4}", r.MISPLACED),
    ("biomed", 1, f"1+ {REPHRASED['biomed', 3][0]}", r.MISPLACED),
    ("news", 1, f"0+ {NEWS_1}", r.BEFORE_FIRST),
    ("news", 1, "0+ Sure!", r.BEFORE_FIRST),
    ("news", 1, "1+ The council of Hartwell voted 9 to 4 on 12 May to close the old library.", r.COPIED),
    (
        "news",
        1,
        "2+ In other words, it will move to Mill Street, where 300 square metres stand empty.",
        r.COPIED,
    ),
    ("news", 1, "2+ So it will move to Mill Street, where 300 square metres stand empty.", r.COPIED),
    ("news", 1, "4+ The council of Hartwell voted 9 to 4 on 12 May to close the old library.", r.MISPLACED),
    ("news", 1, "3+ Penguins breed on the shores of distant islands.", r.UNRELATED),
    ("biomed", 1, "4+ I inserted one sentence that says the same again.", r.UNRELATED),
    ("news", 1, f"1+ {NEWS_1} | old library => ancient library", r.CHANGED_SENTENCE),
    ("news", 1, f"1+ {NEWS_1} | Mayor Ines Calder called it a new start. => ", r.CHANGED_SENTENCE),
    ("news", 1, "called it a new start => spoke of a new start", r.CHANGED_SENTENCE),
    ("news", 3, f"1+ {NEWS_1}", r.FEW_SENTENCES),
    ("news", 3, f"1+ {NEWS_1} | 4+ {NEWS_2}", r.MISPLACED),
    ("news", 3, f"1+ {NEWS_1} | 2+ {NEWS_2} | called it => named it", r.CHANGED_SENTENCE),
    ("news", 3, f"1+ {NEWS_1} | 2+ {NEWS_2} | 4+ Hope this helps!", r.UNRELATED),
    ("biomed", 3, "1+ Cakes need eggs. | 2+ Birds sing at dawn.", r.UNRELATED),
]


@pytest.mark.parametrize(("name", "edits"), ONE_REPHRASED)
def test_one_rephrased_sentence_passes(name: str, edits: str) -> None:
    assert fault(REWRITING, TEXTS[name], revised(name, edits), 1) is None


@pytest.mark.parametrize(("name", "edits"), SEVERAL_REPHRASED)
def test_several_rephrased_sentences_pass(name: str, edits: str) -> None:
    there = edits.count("+ ")
    assert fault(REWRITING, TEXTS[name], revised(name, edits), min(there, 3)) is None
    fewer_than_asked = fault(REWRITING, TEXTS[name], revised(name, edits), there + 1)
    assert fewer_than_asked == (None if there == len(sentences(TEXTS[name])) else r.FEW_SENTENCES)


@pytest.mark.parametrize(("name", "count", "edits", "reason"), BAD_REWRITING)
def test_anything_but_rephrasings_in_their_places_fails(
    name: str, count: int, edits: str, reason: str
) -> None:
    assert fault(REWRITING, TEXTS[name], revised(name, edits), count) == reason


def test_the_order_of_the_sentences_counts() -> None:
    first, second, *rest = sentences(TEXTS["news"])
    text = " ".join([second, REPHRASED["news", 2][0], first, *rest])
    assert fault(REWRITING, TEXTS["news"], text, 1) == r.REORDERED
    pair = "Rain fell in Orlind. Snow fell in Karsk."
    assert (
        fault(REWRITING, pair, "Snow fell in Karsk. Rain fell in Orlind. It rained in Orlind.", 1)
        == r.REORDERED
    )


def test_white_space_between_sentences_does_not_count() -> None:
    text = revised("news", f"1+ {NEWS_1}").replace(". ", ".\n\n")
    assert fault(REWRITING, TEXTS["news"], text, 1) is None


def test_all_sentences_are_enough_where_there_are_few() -> None:
    original = "The mill in Orlind burned down on Monday."
    assert fault(REWRITING, original, f"{original} On Monday, a fire destroyed Orlind's mill.", 3) is None


# What holds for all -----------------------------------------------------------------------------------

EVERY = (ENTITIES, GRAMMAR, REWRITING, "some_other")
REFUSALS = [
    "I'm sorry, but I can't help with that.",
    "I’m sorry, but I cannot create false information.",
    "I cannot assist with this request.",
    "I am unable to revise the summary, as that would spread false claims.",
    "As an AI language model, I do not change facts.",
    "Unfortunately, I can't comply with that request.",
    "Sorry, I won't do this.",
    "I apologize, but I'm not able to provide that.",
    "I must decline to fabricate names.",
    "Please provide the summary that you want me to revise.",
    "I don't see any text to revise.",
    "It would be inappropriate to alter a medical text in this way.",
    "抱歉，我不能提供这样的内容。",
    "Es tut mir leid, aber dabei kann ich nicht helfen.",
]


@pytest.mark.parametrize("perturber", EVERY)
@pytest.mark.parametrize("answer", REFUSALS)
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
    assert a.fault(GRAMMAR, original, misspelt, 1, language="en") == a.MISSPELT
    for language in (None, "nl", "de"):
        assert a.fault(GRAMMAR, original, misspelt, 1, language=language) is None


@pytest.mark.parametrize("language", [None, "de"])
def test_a_few_words_do_not_tell_another_language(language: str | None) -> None:
    original, revised = "Die Frist endet morgen.", "Frist enden morgen."
    assert a.fault(GRAMMAR, original, revised, 1, language=language) is None


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


@given(st.sampled_from(KINDS), st.text(max_size=200), st.text(max_size=200))
def test_checking_never_fails(kind: tuple[str, int | str], original: str, answer: str) -> None:
    reason = fault(kind[0], original, answer, kind[1])
    assert reason is None or reason in {**vars(a), **vars(r)}.values()
    assert fault(kind[0], original, original, kind[1]) in (a.EMPTY, a.UNCHANGED, a.REFUSED)
