"""Spellings: how common a word is, what a capital says, how an invented word takes the form of another."""

import functools
import math
import random
import re
from collections.abc import Sequence
from typing import TypeVar

from dhp.perturb.grammar.words import lemmas

T = TypeVar("T")

_DERIVED = re.compile(
    r".*(?:ed|ing|ings|ly|ists?|ers|ors|ness|ments?|tions?|sions?|ous|ful|less|[ai]ble|[ai]bility|ives?|ity|"
    r"ities|isms?|i[sz]es?|ates?|ic|ical|al|ary|ships?|hood|ward|wards|wise|worthy|like|ish|iest|est)"
)
_NO_NOUN = re.compile(
    r".*(?:ed|ing|ly|[ai]ble|ous|ful|less|ives?|ic|ical|al|ary|ory|ar|ant|ent|i[sz]es?|wise|ish|iest|est|ward|ates?|[iu]res?)"
)
_NOUN = re.compile(r".*(?:[ts]ion|ment|ity|[ae]nce|ism|logy|ship)s?")
_PREFIXED = re.compile(
    r"(?:over|under|un|re|non|pre|post|sub|super|inter|multi|anti|co|de|dis|mis|out|semi)+"
)
_OPENING = re.compile(
    r"(?:^|[.!?:…•\n\u2600-\u27bf\U0001f000-\U0001faff\ufe0f]|--|[–—])"
    r"[\s\"'“”‘’`(\[*•-]*$|[\"“‘`]\s*$|(?:^|\s)'$"
)
_ABBREVIATED = re.compile(r"\b(?:[MD]rs?|Ms|St|Mt|Prof|Gen|Sen|Rep|Gov|Sgt|Capt|Lt|Col|vs|[A-Z])\.\s*$")
_VOWELS = "aeiou"


def pick(options: Sequence[T], rng: random.Random) -> T:
    """One of the options."""
    return options[int(rng.random() * len(options))]


@functools.cache
def _frequencies() -> dict[str, float]:
    from wordfreq import get_frequency_dict

    return get_frequency_dict("en")


def zipf(word: str) -> float:
    """log10 of how often a word in small letters stands in a thousand million words; 0 if unknown."""
    return math.log10(_frequencies().get(word, 1e-9)) + 9


def everyday(word: str) -> bool:
    """Whether a rare word is an ordinary one all the same: an inflection, derivation or compound."""
    if _DERIVED.fullmatch(word):
        return True
    if prefixed(word):
        return True
    if word.endswith("s") and max(zipf(word[:-1]), zipf(word[:-2])) >= 2.8:
        return True
    return any(min(zipf(word[:i]), zipf(word[i:])) >= 3.7 for i in range(3, len(word) - 2))


def prefixed(word: str) -> bool:
    """Whether a word is one that is not rare behind a prefix, as in "reinfection"."""
    m = _PREFIXED.match(word)
    return m is not None and zipf(word[m.end() :]) >= 3.2


def unlisted(word: str) -> bool:
    """Whether the dictionary knows a word as a name at most."""
    return not lemmas(word).keys() - {"PROPN"}


def technical(word: str) -> bool:
    """Whether a word is long, not common, and ends like a noun."""
    frequency = max(zipf(word), zipf(word.removesuffix("s")))
    if len(word) < 6 or _NO_NOUN.fullmatch(word):
        return False
    return frequency < (4.2 if len(word) > 7 and _NOUN.fullmatch(word) else 3.4)


def opens(text: str, start: int) -> bool:
    """Whether a sentence or a quotation begins at `start`, where any word has a capital."""
    before = text[max(0, start - 16) : start]
    return bool(_OPENING.search(before)) and not _ABBREVIATED.search(before)


def cased_as(new: str, old: str) -> str:
    """`new` with small letters and capitals as `old` has them."""
    if len(new) == len(old) and old.lower() != old != old.capitalize():
        return "".join(n.upper() if o.isupper() else n.lower() for n, o in zip(new, old, strict=True))
    if old.islower():
        return new.lower()
    if len(old) > 1 and old.isupper():
        return new.upper()
    return new[:1].upper() + new[1:]


def takes_an(spoken: str) -> bool:
    """Whether the article before it is "an"."""
    low = spoken.lower()
    if low[:1].isdigit():
        return bool(re.match(r"8|1[18](?![0-9])", low))
    letters = re.match(r"[a-z]+", low)
    head = letters.group() if letters else ""
    if spoken[: len(head)].isupper() or not re.search("[aeiouy]", head):
        return head[:1] in set("aefhilmnorsx")
    return head[:1] in set(_VOWELS) and not re.match(r"uni|us[aei]|eu|one|ut[io]", head)


def like_acronym(old: str, rng: random.Random) -> str:
    """An acronym as long, with vowels where the old one has them."""
    consonants, vowels = "bdgkvzxrtlqj", "aeou"
    return "".join(pick(vowels if c in _VOWELS else consonants, rng) if c.isalpha() else c for c in old)


def like_term(old: str, middles: Sequence[str], endings: Sequence[str], rng: random.Random) -> str:
    """A term with the first and the last letters of the old one, about as long."""
    onset = re.match(rf"[{_VOWELS}]|[^{_VOWELS}]{{0,2}}", old)
    head = onset.group() if onset else ""
    rest = old[len(head) :]
    ending = max((e for e in endings if rest.endswith(e)), key=len, default="")
    if not ending:
        tail = re.search(rf"[{_VOWELS}y]+[^{_VOWELS}y]*$", rest)
        ending = tail.group() if tail and len(tail.group()) <= 4 else ""
    new = head
    for _ in range(1 if len(rest) - len(ending) < 7 else 2):
        # Not the old vowel: the new term must not look like a slip of the pen.
        vowel = "" if new[-1:] in _VOWELS and new else pick(_VOWELS.replace(rest[:1] or " ", ""), rng)
        new += vowel + pick(middles, rng)
    if ending and ending[0] not in _VOWELS + "y":
        new += pick("aeio", rng)
    return new + ending
