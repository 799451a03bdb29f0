"""Where a clause can be denied, or a denial taken out, and in which form of the language.

English: at auxiliaries, modals and copulas ("is", "is not", "isn't"), and at common verbs, whose denial is
"did not hear" for "heard". Other languages: pairs of phrases of a list.
"""

import re
from collections.abc import Iterator, Mapping
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
    """The places of a text in order; one where both styles could be put in comes twice."""
    if lists.verbs:
        mark = " n't" if _TOKENISED.search(prose) else "n't"
        put_in = [Place(*p[:2], (*p.edit[:2], p.edit[2].replace("n't", mark))) for p in _put_in(prose, lists)]
        places = [*_taken_out(prose, lists), *put_in]
        return sorted(places, key=lambda place: place.edit[0])
    return list(_pairs(prose, lists.negation))


_MARK = r" ?n['’]t"
_TOKENISED = re.compile(r"[a-z] (?:n['’]t|['’]s|[.,])(?: |\Z)", re.M)
"""A text whose marks have spaces before them writes "did n't", too."""
_HELPING = "is|are|was|were|am|can|could|will|would|should|must"
_PERFECT = "has|have|had"
_NO_QUESTION = r"(?!(?:it|that|this|there|he|she|we|they|you|I|and|or|nor)\b)"
"""Behind "isn't" these ask, or another denial follows."""
_DENIED = re.compile(
    rf"\b(?:(?P<do>did|does|do)(?:{_MARK}| not) (?P<base>[a-z]+)\b"
    rf"|(?P<help>{_HELPING}|{_PERFECT}) not "
    r"(?!only|just|yet|even|until|all|every|so|too|necessarily|to\b)(?=[a-z])"
    rf"|(?<=[\w'’”\")] )(?P<short>is|are|was|were|could|would|should|must|{_PERFECT}){_MARK} (?=[a-z])"
    rf"{_NO_QUESTION}"
    rf"|(?P<can>cannot|ca(?:n| n)['’]t) (?=[a-z]){_NO_QUESTION}"
    rf"|(?P<will>wo(?:n| n)['’]t) (?=[a-z]){_NO_QUESTION})"
)
_KEPT_ADVERBS = (
    "all every everyone about so too never no nothing nobody none hardly rarely barely nor neither only also "
    "always indeed then just still even already now not both some several sure likely able almost nearly "
    "cannot"
)
_SMALL_WORD = re.compile(r"\b[a-z]+\b")
_BEHIND_HELP = re.compile(rf" (?!(?:{_KEPT_ADVERBS.replace(' ', '|')})\b|n['’]t|an? (?:\d|non))(?=[a-z])")
_BEHIND_PERFECT = re.compile(r" (?=been\b|[a-z]+ed\b)")
"""What follows an auxiliary that a negation can stand behind."""
_SUBJECT = re.compile(r"(?:[A-Z][\w'’-]+|\b[a-z]+) \Z")
_NO_SUBJECT = re.compile(
    r"\b(?:what|which|how|where|when|why|if|and|or|but|not|never|free|good|at|as|than|of|to|the|a|an|there|here"
    r"|it turned out|in|on|for|by|with|so) \Z",
    re.I,
)
_NO_ACTOR = "The|This|That|These|Those|All|Some|My|Our|Your|His|Her|Its|Their"
_ACTOR = re.compile(
    r"\b(?:I|[Hh]e|[Ss]he|[Ii]t|[Ww]e|[Tt]hey|[Yy]ou|who"
    rf"|(?P<name>(?!(?:{_NO_ACTOR})\b)[A-Z][a-z]+)) \Z"
)
_HELPED = re.compile(r"\b(?:help|let|mak|made|hav|ha[ds]|s[ae]e|saw|hear|watch)\w* (?:you|it) \Z")
""""help you reach": a verb in the infinitive follows."""
_PLURAL = re.compile(r"\b(?:I|[Ww]e|[Tt]hey|[Yy]ou) \Z")
_PARTICLE = re.compile(r" (?:out|up|down|to be)\b|[.,]? ?(?:was|were|is|had)\b")
_ORDER = re.compile(r"\b(?:why|to|please) ?\Z", re.I)
_HELD = re.compile(
    r"\b(?:if|whether|cannot|wish\w*|hope[sd]?|none|nobody|nothing|no one|no|never|unless|hardly|rarely"
    r"|neither|nor|without|until|not|few|only|tell me|know|before|after|since|once|as soon as|by the time"
    r"|how|why|what|than)\b[^.!?;:,\n]*\Z|n['’]t\b[^.!?;:,\n]*\Z",
    re.I,
)
"""A clause that begins with these says no less with a negation, or no more without one."""
_POLAR = re.compile(
    r"[^.!?;\n]*?\b(?:any\w*|yet|at all|either|ever|until|much|anymore|nor|but|long|because|or)\b", re.I
)
"""What only a denied clause has: it keeps its negation."""
_ASSERTIVE = re.compile(
    r"[^.!?;,\n]*?\b(?:some\w*|already|still|nothing|nobody|no|never|none|not)\b|[^.!?;,\n]*?n['’]t\b|[^.!\n]*\?",
    re.I,
)
"""What only a stated clause has, or one that is denied already; and questions."""


def _taken_out(prose: str, lists: FactLists) -> Iterator[Place]:
    past, _ = _verbs(lists.verbs)
    for match in _DENIED.finditer(prose):
        start, end = match.span()
        if _HELD.search(prose[max(start - 80, 0) : start]) or _POLAR.match(prose, end):
            continue
        style = "n't" if match[0].find("n't") >= 0 or match[0].find("n’t") >= 0 else "not"
        if (do := match["do"]) is not None:
            if (stated := _stated(do, match["base"], prose[:start], past)) is not None:
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


def _put_in(prose: str, lists: FactLists) -> Iterator[Place]:
    denied = [match.span() for match in _DENIED.finditer(prose)]
    bases = _verbs(lists.verbs)[1]
    for match in _SMALL_WORD.finditer(prose):
        word, (start, end) = match[0], match.span()
        behind = _AUXILIARIES.get(word)
        is_auxiliary = behind is not None and behind.match(prose, end) is not None
        if not is_auxiliary and word not in bases:
            continue
        before = prose[max(start - 80, 0) : start]
        if any(a < end and start < b for a, b in denied) or _ASSERTIVE.match(prose, end):
            continue
        if _HELD.search(before):
            continue
        if is_auxiliary:
            if _SUBJECT.search(before[-_SIGHT:]) and not _NO_SUBJECT.search(before[-_SIGHT:]):
                denial = "cannot" if word == "can" else f"{word} not"
                yield Place("in", f"not {word}", (start, end, denial))
                if word != "am":
                    yield Place("in", f"n't {word}", (start, end, _SHORT.get(word, f"{word}n't")))
        elif _ends_with_actor(before, lists) and not _PARTICLE.match(prose, end):
            auxiliary, base = bases[word]
            if auxiliary == "did" or (auxiliary == "do") == (_PLURAL.search(before) is not None):
                yield Place("in", f"not {auxiliary}", (start, end, f"{auxiliary} not {base}"))
                yield Place("in", f"n't {auxiliary}", (start, end, f"{auxiliary}n't {base}"))


def _ends_with_actor(before: str, lists: FactLists) -> bool:
    """Whether a pronoun or a name ends a text, so that a verb follows: not so "Numerous studies"."""
    actor = None if _HELPED.search(before) else _ACTOR.search(before)
    if actor is None or actor["name"] is None:
        return actor is not None
    start = before[: actor.start()].rstrip(" ")[-1:]
    begins = start in ("", "\n", *".!?:;") or is_hidden(start)  # the mark of an item is hidden
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
    forms = {base: ("do", base) for base in past}
    forms |= {_third_person(base): ("does", base) for base in past}
    return past, forms | {form: ("did", base) for base, form in past.items() if form != base}


def _third_person(verb: str) -> str:
    if verb in ("have", "be"):
        return {"have": "has", "be": "is"}[verb]
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
    phrases = sorted(_others(pairs), key=len, reverse=True)
    listed = "|".join(map(re.escape, phrases))
    spaced = phrases[0][0] < "\u3000"
    return re.compile(rf"(?<![\w'’-])(?:{listed})(?![\w'’-])" if spaced else listed, re.I)
