"""Where a clause can be denied, or a denial taken out, and in which form of the language.

English: at auxiliaries, modals and copulas ("is", "is not", "isn't"), and at common verbs, whose denial is
"did not hear" for "heard". Other languages: pairs of phrases of a list.

A denial is left alone if the clause would say the same without it, or would no longer be grammatical: the
patterns below hold what stands before and behind such clauses. Each word is looked for first, and what stands
beside it only then, as most words of a text are of no interest.

Bounds without another source were chosen; docs/degraded-texts.md says how far each kind reaches with them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from dhp.core.markdown import is_hidden
from dhp.perturb.edits import Edit
from dhp.perturb.facts.lists import FactLists, Negation


class Place(NamedTuple):
    """A place where a negation can be put in or taken out."""

    way: str
    """`in` or `out`."""
    form: str
    """Auxiliary and style, such as "n't did": of these as many are put in as taken out."""
    edit: Edit


def negations(prose: str, lists: FactLists) -> list[Place]:
    """The places of a text in order; one at which both styles could be put in comes twice."""
    if lists.verbs:
        denied = _denied(prose)
        places = list(_taken_out(prose, denied, lists))
        mark = " n't" if _TOKENISED.search(prose) else "n't"
        # Nothing is denied twice: what is denied already is left out of the clauses to deny.
        for way, form, (start, end, denial) in _put_in(prose, denied, lists):
            places.append(Place(way, form, (start, end, denial.replace("n't", mark))))
        return sorted(places, key=lambda place: place.edit[0])
    return list(_pairs(prose, lists.negation))


_MARK = r" ?n['’]t"  # "isn't", "is n’t"
_TOKENISED = re.compile(r" (?<=[a-z] )(?:n['’]t|['’]s|[.,])(?: |\Z)", re.M)
"""A text whose marks have spaces before them writes "did n't", too."""
_HELPING = "is|are|was|were|am|can|could|will|would|should|must"
_PERFECT = "has|have|had"
_NO_QUESTION = r"(?!(?:it|that|this|there|he|she|we|they|you|I|and|or|nor)\b)"
"""Behind "isn't" these ask, or another denial follows."""
# One group says which word is denied: `do` with the verb `base` ("did not hear"), `help` ("is not"), `short`
# ("isn't"), `can` or `will`, whose short forms have other letters.
_DENIED = re.compile(
    rf"\b(?:(?P<do>did|does|do)(?:{_MARK}| not) (?P<base>[a-z]+)\b"
    rf"|(?P<help>{_HELPING}|{_PERFECT}) not "
    r"(?!only|just|yet|even|until|all|every|so|too|necessarily|to\b)(?=[a-z])"
    rf"|(?<=[\w'’”\")] )(?P<short>is|are|was|were|could|would|should|must|{_PERFECT}){_MARK} (?=[a-z])"
    rf"{_NO_QUESTION}"
    rf"|(?P<can>cannot|ca(?:n| n)['’]t) (?=[a-z]){_NO_QUESTION}"
    rf"|(?P<will>wo(?:n| n)['’]t) (?=[a-z]){_NO_QUESTION})"
)
# Before these a negation would say something else ("is not only"), or they deny already ("is never").
_KEPT_ADVERBS = (
    "all every everyone about so too never no nothing nobody none hardly rarely barely nor neither only also "
    "always indeed then just still even already now not both some several sure likely able almost nearly "
    "cannot"
)
_SMALL_WORD = re.compile(r"\b[a-z]+\b")
# "is large", but not "is never", "isn't" or "is a 5".
_BEHIND_HELP = re.compile(rf" (?!(?:{_KEPT_ADVERBS.replace(' ', '|')})\b|n['’]t|an? (?:\d|non))(?=[a-z])")
# "has been", "had walked", but not "has a car", which is denied by "does not have".
_BEHIND_PERFECT = re.compile(r" (?=been\b|[a-z]+ed\b)")
# What ends right before a verb (`\Z`): a word that can be its subject ("Anna", "results"), and one that
# cannot ("which").
_SUBJECT = re.compile(r"(?:[A-Z][\w'’-]+|\b[a-z]+) \Z")
_NO_SUBJECT = re.compile(
    r"\b(?:what|which|how|where|when|why|if|and|or|but|not|never|free|good|at|as|than|of|to|the|a|an|there|here"
    r"|in|on|for|by|with|so) \Z",
    re.I,
)
_TURNED_OUT = "it turned out "
"""Behind it a clause begins, so that "out" is no subject of its verb."""
# A pronoun or a name: behind it "studies" is a verb. Words like "The" have a capital and are no name.
_NO_ACTOR = "The|This|That|These|Those|All|Some|My|Our|Your|His|Her|Its|Their"
_ACTOR = re.compile(
    r"\b(?:I|[Hh]e|[Ss]he|[Ii]t|[Ww]e|[Tt]hey|[Yy]ou|who"
    rf"|(?P<name>(?!(?:{_NO_ACTOR})\b)[A-Z][a-z]+)) \Z"
)
_HELPED = re.compile(r"\b(?:help|let|mak|made|hav|ha[ds]|s[ae]e|saw|hear|watch)\w* (?:you|it) \Z")
""""help you reach": a verb in the infinitive follows."""
# Behind these "walk" is a form of the plural, or of "I".
_PLURAL = re.compile(r"\b(?:I|[Ww]e|[Tt]hey|[Yy]ou) \Z")
# Behind a verb: "turned out", "the man she met was", where the verb is no verb of the clause.
_PARTICLE = re.compile(r" (?:out|up|down|to be)\b|[.,]? ?(?:was|were|is|had)\b")
_ORDER = re.compile(r"\b(?:why|to|please) ?\Z", re.I)  # "please do not go" tells somebody what to do
_HELD = re.compile(
    r"\b(?:if|whether|cannot|wish\w*|hope[sd]?|none|nobody|nothing|no one|no|never|unless|hardly|rarely"
    r"|neither|nor|without|until|not|few|only|tell me|know|before|after|since|once|as soon as|by the time"
    r"|how|why|what|than)\b|n['’]t\b",
    re.I,
)
"""A clause that begins with these says no less with a negation, or no more without one."""
_POLAR = re.compile(
    r"[^.!?;\n]*?\b(?:any\w*|yet|at all|either|ever|until|much|anymore|nor|but|long|because|or)\b", re.I
)
"""What only a denied clause has: it keeps its negation."""
_ASSERTIVE = re.compile(r"\b(?:some\w*|already|still|nothing|nobody|no|never|none|not)\b|n['’]t\b", re.I)
"""What only a stated clause has, or one that is denied already."""
_CLAUSE_ENDS = ".!?;:,\n"
_CLAUSE_END, _SENTENCE_END = re.compile(r"[.!?;,\n]"), re.compile(r"[.!?\n]")
_BEFORE = 80
"""Characters of its clause before a verb that are looked at."""


def _is_held(prose: str, start: int) -> bool:
    """Whether the clause before a position begins with what lets a negation say no less, or no more."""
    begin = max(start - _BEFORE, 0)
    for mark in _CLAUSE_ENDS:
        begin = max(begin, prose.rfind(mark, begin, start) + 1)
    return _HELD.search(prose, begin, start) is not None


def _is_assertive(prose: str, end: int) -> bool:
    """Whether the clause behind a position cannot be denied, or denied once more; or is a question."""
    clause = _CLAUSE_END.search(prose, end)
    if _ASSERTIVE.search(prose, end, clause.start() if clause else len(prose)):
        return True
    sentence = _SENTENCE_END.search(prose, end)
    return sentence is not None and sentence[0] == "?"


def _denied(prose: str) -> list[re.Match[str]]:
    """The denials of a text; most texts have none, which is told without the pattern."""
    has_some = "not" in prose or "n't" in prose or "n’t" in prose
    return list(_DENIED.finditer(prose)) if has_some else []


def _taken_out(prose: str, denied: Iterable[re.Match[str]], lists: FactLists) -> Iterator[Place]:
    """The places where a denial can be taken out."""
    past, _ = _verbs(lists.verbs)
    for match in denied:
        start, end = match.span()
        if _is_held(prose, start) or _POLAR.match(prose, end):
            continue
        style = "n't" if "n't" in match[0] or "n’t" in match[0] else "not"
        do = match["do"]
        if do is not None:
            stated = _stated(do, match["base"], prose[:start], past)
            if stated is not None:
                yield Place("out", f"{style} {do}", (start, end, stated))
            continue
        word = match["help"] or match["short"] or ("can" if match["can"] else "will")
        yield Place("out", f"{style} {word}", (start, end, f"{word} "))


def _stated(do: str, base: str, before: str, past: Mapping[str, str]) -> str | None:
    """What "did not" with a verb is without the negation; None for a verb that is not known, or an order."""
    if do == "did":
        return past.get(base)
    if base not in past:
        return None
    if do == "does":
        return _third_person(base)
    return base if _PLURAL.search(before[-6:]) and not _ORDER.search(before[-8:]) else None


def _put_in(prose: str, denied: Sequence[re.Match[str]], lists: FactLists) -> Iterator[Place]:
    """The places word by word; of each first what is told fastest, as few words pass it."""
    for word in _deniable(lists.verbs).intersection(_SMALL_WORD.findall(prose)):
        for start in _whole(word, prose):
            end = start + len(word)
            forms = _forms(word, prose, start, lists)
            is_denied = any(match.start() < end and start < match.end() for match in denied)
            if not forms or is_denied or _is_assertive(prose, end) or _is_held(prose, start):
                continue
            for form, denial in forms:
                yield Place("in", form, (start, end, denial))


def _forms(word: str, prose: str, start: int, lists: FactLists) -> list[tuple[str, str]]:
    """The forms in which a word can be denied where it stands, each with what is written then."""
    end, bases = start + len(word), _verbs(lists.verbs)[1]
    behind = _AUXILIARIES.get(word)
    if behind is not None and behind.match(prose, end):
        return _of_auxiliary(word) if _has_subject(prose, start) else []
    if word not in bases or not _follows_actor(prose, start, lists) or _PARTICLE.match(prose, end):
        return []
    auxiliary, base = bases[word]
    is_plural = _PLURAL.search(prose, max(start - _SIGHT, 0), start) is not None
    if auxiliary != "did" and (auxiliary == "do") != is_plural:
        return []
    return [(f"not {auxiliary}", f"{auxiliary} not {base}"), (f"n't {auxiliary}", f"{auxiliary}n't {base}")]


def _of_auxiliary(word: str) -> list[tuple[str, str]]:
    """As "is not" and "isn't"."""
    full = f"not {word}", "cannot" if word == "can" else f"{word} not"
    short = f"n't {word}", _SHORT.get(word, f"{word}n't")
    return [full] if word == "am" else [full, short]


def _whole(word: str, prose: str) -> Iterator[int]:
    """Where a word stands by itself."""
    at = prose.find(word)
    while at >= 0:
        end = at + len(word)
        if not _LETTER.match(prose, end) and not (at and _LETTER.match(prose, at - 1)):
            yield at
        at = prose.find(word, end)


_LETTER = re.compile(r"\w")


def _last_word(prose: str, start: int) -> int:
    """Where the last word before a position begins, with a space behind it; within sight."""
    return max(prose.rfind(" ", max(start - _SIGHT, 0), max(start - 1, 0)), start - _SIGHT, 0)


def _has_subject(prose: str, start: int) -> bool:
    """Whether a word that can be a subject stands before an auxiliary."""
    begin = _last_word(prose, start)
    if not _SUBJECT.search(prose, begin, start) or _NO_SUBJECT.search(prose, begin, start):
        return False
    return prose[max(start - len(_TURNED_OUT), 0) : start].lower() != _TURNED_OUT


def _follows_actor(prose: str, start: int, lists: FactLists) -> bool:
    """Whether a pronoun or name stands before a position, so that a verb follows; no "Numerous studies"."""
    actor = _ACTOR.search(prose, _last_word(prose, start), start)
    if actor is None or _HELPED.search(prose, max(start - _SIGHT, 0), start):
        return False
    if actor["name"] is None:
        return True
    before = prose[max(start - _BEFORE, 0) : actor.start()].rstrip(" ")[-1:]
    begins = before in ("", "\n", *".!?:;") or is_hidden(before)  # the mark of an item is hidden
    return not begins or actor["name"] in lists.sexes


_SIGHT = 24
"""Characters before a verb in which its subject is looked for."""
_AUXILIARIES = {
    **dict.fromkeys(_HELPING.split("|"), _BEHIND_HELP),
    **dict.fromkeys(_PERFECT.split("|"), _BEHIND_PERFECT),
}
_SHORT = {"can": "can't", "will": "won't"}


@lru_cache
def _verbs(listed: str) -> tuple[Mapping[str, str], Mapping[str, tuple[str, str]]]:
    """(base -> past), (form -> what denies it with its base): `heard` -> (`did`, `hear`)."""
    past = dict(pair.split(":") for pair in listed.split())
    forms = dict[str, tuple[str, str]]()
    for base in past:
        forms[base] = "do", base
    for base in past:
        forms[_third_person(base)] = "does", base
    for base, form in past.items():
        if form != base:  # else, as of "put", it counts as the base
            forms[form] = "did", base
    return past, forms


@lru_cache
def _deniable(listed: str) -> frozenset[str]:
    """The auxiliaries, and all forms of verbs."""
    return frozenset([*_AUXILIARIES, *_verbs(listed)[1]])


def _third_person(verb: str) -> str:
    """ "carries" for "carry", "goes" for "go"."""
    if verb == "have":
        return "has"
    if verb == "be":
        return "is"
    if re.search(r"[^aeiou]y$", verb):
        return f"{verb[:-1]}ies"
    return verb + ("es" if re.search(r"(?:s|x|z|ch|sh|o)$", verb) else "s")


def _pairs(prose: str, negation: Negation) -> Iterator[Place]:
    """The phrases of a list, each with the other one of its pair."""
    others = _others(tuple(negation.pairs))
    for match in _phrases(tuple(negation.pairs)).finditer(prose):
        way, form, other = others[match[0].lower()]
        if not negation.contexts.keep(prose, *match.span()):
            new = other[:1].upper() + other[1:] if match[0][0].isupper() else other
            yield Place(way, form, (*match.span(), new))


@lru_cache
def _others(pairs: tuple[str, ...]) -> Mapping[str, tuple[str, str, str]]:
    """Phrase -> (`in` or `out`, its pair, the other phrase)."""
    known: dict[str, tuple[str, str, str]] = {}
    for pair in pairs:
        stated, denied = pair.split(" | ")
        known[stated], known[denied] = ("in", pair, denied), ("out", pair, stated)
    return known


@lru_cache
def _phrases(pairs: tuple[str, ...]) -> re.Pattern[str]:
    """Any phrase of the pairs, the longest first; as whole words where words have spaces between them."""
    phrases = sorted(_others(pairs), key=len, reverse=True)
    listed = "|".join(map(re.escape, phrases))
    spaced = phrases[0][0] < "\u3000"
    return re.compile(rf"(?<![\w'’-])(?:{listed})(?![\w'’-])" if spaced else listed, re.I)
