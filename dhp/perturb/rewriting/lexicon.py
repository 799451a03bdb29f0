"""What the rules know about English words: the closed classes, and the readings of all others."""

import functools

DETERMINERS = frozenset(
    "a an the this these those each every both some any no another all many several".split()
)
POSSESSIVES = frozenset("his her its their our my your whose".split())
SUBJECTS = frozenset("he she it they we i you there".split())
OBJECT_CASE = {"he": "him", "she": "her", "they": "them", "we": "us", "i": "me"}
PREPOSITIONS = frozenset(
    "of to from by with without for about after before between during since until into onto over under "
    "through against among upon on at in within across behind near around despite amid towards toward "
    "beyond via per along alongside throughout".split()
)
BE = frozenset("is are was were be been being".split())
HAVE = frozenset("has have had having".split())
MODALS = frozenset("will would can could should may might must shall".split())
DO = frozenset("do does did".split())
AUXILIARIES = BE | HAVE | MODALS | DO
MARKERS = frozenset(
    "that which who whom whose whether how what where why when while if because since until unless although "
    "though once so but yet whereas after before following than".split()
)
CONJUNCTIONS = frozenset("and or nor but yet so".split())
WEEKDAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
MONTHS = frozenset(
    "january february march april may june july august september october november december".split()
)
CLOSED = (
    (DETERMINERS | POSSESSIVES | SUBJECTS | PREPOSITIONS | AUXILIARIES | MARKERS | CONJUNCTIONS)
    | frozenset(
        "as one two three four five six seven eight nine ten most more few little such what not".split()
    )
    | frozenset("also now then here however therefore thus still only just almost nearly other its".split())
) - {"i"}
_VOWEL_SOUND = ("hour", "honest", "honour", "honor", "heir")
_CONSONANT_SOUND = ("uni", "use", "usu", "eu", "one", "once", "util")


@functools.cache
def readings(word: str) -> frozenset[str]:
    """The parts of speech (`NOUN`, `VERB`, `ADJ`, `ADV`, ...) of a word in lower case."""
    from lemminflect import getAllLemmas

    return frozenset(getAllLemmas(word))


def known(word: str) -> bool:
    """Whether a word in lower case is in the dictionary."""
    return word in CLOSED or bool(readings(word) - {"PROPN"})


@functools.cache
def inflected(verb: str, tag: str) -> str:
    """The form of a verb under a tag of the Penn Treebank: `VB`, `VBZ`, `VBD`, `VBN` or `VBG`."""
    from lemminflect import getInflection

    forms = getInflection(verb, tag, inflect_oov=True)
    return str(forms[0]) if forms else verb


@functools.cache
def plural(noun: str) -> str:
    """The plural of a noun."""
    from lemminflect import getInflection

    forms = getInflection(noun, "NNS", inflect_oov=True)
    return str(forms[0]) if forms else noun


@functools.cache
def lemma(word: str, part: str) -> str:
    """The dictionary form of a word read as this part of speech; the word itself where there is none."""
    from lemminflect import getAllLemmas

    lemmas = getAllLemmas(word).get(part, ())
    return str(lemmas[0]) if lemmas else word


@functools.cache
def is_past(word: str) -> bool:
    """Whether a word can be the past tense of a verb, and no noun or present form."""
    if "VERB" not in readings(word) or "NOUN" in readings(word):
        return False
    base = lemma(word, "VERB")
    return base != word and inflected(base, "VBD") == word


def is_participle(word: str) -> bool:
    """Whether a word can be the past participle of a verb."""
    base = lemma(word, "VERB")
    return "VERB" in readings(word) and inflected(base, "VBN") == word and not word.endswith("ing")


def is_plural(noun: str) -> bool:
    """Whether a noun is plural, as far as the dictionary knows."""
    return "NOUN" in readings(noun) and lemma(noun, "NOUN") != noun


def only_verb(word: str) -> bool:
    """Whether a word can be nothing but a verb."""
    return word in AUXILIARIES or readings(word) in ({"VERB"}, {"VERB", "AUX"})


def article(word: str) -> str:
    """`a` or `an`, as it is said before the word."""
    low = word.lower()
    if low.startswith(_VOWEL_SOUND):
        return "an"
    return "an" if low[:1] in set("aeiou") and not low.startswith(_CONSONANT_SOUND) else "a"
