"""Words and phrases in the place of others that mean the same."""

import functools
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dhp.core.specs import Spec
from dhp.perturb.rewriting.lexicon import (
    AUXILIARIES,
    BE,
    CLOSED,
    CONJUNCTIONS,
    DETERMINERS,
    HAVE,
    MARKERS,
    MODALS,
    POSSESSIVES,
    PREPOSITIONS,
    SUBJECTS,
    WEEKDAYS,
    article,
    inflected,
    known,
    only_verb,
    plural,
    readings,
)
from dhp.perturb.rewriting.tokens import Style, Token, Tokens, tokenised

NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_AMOUNTS = frozenset([*NUMBERS, "half", "approximately", "about", "roughly", "around", "$", "£", "€"])
_TAGS = ("VB", "VBZ", "VBD", "VBN", "VBG")
_NO_OBJECT = (PREPOSITIONS - {"about", "over", "around"}) | CONJUNCTIONS | AUXILIARIES | MARKERS - {"that"}
_PARTICLES = frozenset("up out off down away back 's together ahead".split())
_SELDOM_NOUNS = frozenset(
    "say says find finds make makes take takes give gives get gets want wants tell tells keep keeps buy buys "
    "tries seeks helps becomes leads ranges depends remains show".split()
)
_CAUSES = {("thus",), ("hence",), ("therefore",)}
_AFFIRMED = {("again",), (",", "but")}
"""What says something else behind a negation."""
_LINKS = {("however",), ("moreover",), ("furthermore",), ("in", "addition")}
"""What stands at the start of a sentence only."""
_GRADES = frozenset("best better worst worse most least".split())
_NOT_MANY = frozenset("how as so too very not".split())
_PRONOUNS = SUBJECTS | frozenset("him them us me less more better best worse".split())


class RephrasingLists(Spec):
    """What to say in other words, from `perturbations/lists/rephrasing.yaml`."""

    framings: list[str]
    """What may stand before a rephrasing, without its comma."""
    reporting: list[str]
    """Verbs of saying that "according to" may replace."""
    transitive: list[list[str]]
    """Verbs that may be turned into the passive."""
    relational: list[list[str]]
    """Nouns whose owner may follow with "of"."""
    phrases: dict[str, list[str]]
    """Phrase -> others of the same meaning. `<object>`, `<number>`, `<verb>`, `<subject>` or `<clause>` at
    its end says what must follow."""
    verbs: dict[str, list[str]]
    """The same for phrases whose first word is a verb in any form."""
    nouns: dict[str, list[str]]
    """The same for phrases whose first word is a noun in the singular or plural."""

    @functools.cached_property
    def entries(self) -> Mapping[str, Sequence["Entry"]]:
        """First word in lower case -> the substitutions that start with it."""
        found: dict[str, list[Entry]] = {}
        for entry in _entries(self):
            found.setdefault(entry.words[0], []).append(entry)
        return found

    @functools.cached_property
    def participles(self) -> Mapping[str, str]:
        """Past tense -> past participle of the verbs that may be turned into the passive."""
        verbs = [verb for row in self.transitive for verb in row]
        return {inflected(verb, "VBD"): inflected(verb, "VBN") for verb in verbs}

    @functools.cached_property
    def infinitives(self) -> Mapping[str, str]:
        """Infinitive -> past participle of the same verbs."""
        return {verb: inflected(verb, "VBN") for row in self.transitive for verb in row}

    @functools.cached_property
    def said(self) -> frozenset[str]:
        """The present and past forms of the verbs of saying."""
        return frozenset(inflected(verb, tag) for verb in self.reporting for tag in ("VB", "VBZ", "VBD"))

    @functools.cached_property
    def owned(self) -> frozenset[str]:
        """The nouns whose owner may follow."""
        return frozenset(noun for row in self.relational for noun in row)


@dataclass(frozen=True, slots=True)
class Entry:
    """One form of a phrase and what may replace it."""

    words: tuple[str, ...]
    ahead: str
    tags: frozenset[str]
    """Forms of a verb; `NN` or `NNS` for a noun; empty for a phrase that has one form."""
    targets: tuple[str, ...]
    strict: bool = False
    """Whether the word has the same form under another tag, where the target has another."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A place in a sentence and what may stand there."""

    start: int
    end: int
    targets: tuple[str, ...]


def _entries(lists: RephrasingLists) -> Iterator[Entry]:
    for key, targets in lists.phrases.items():
        words, ahead = _key(key)
        yield Entry(words, ahead, frozenset(), tuple(targets))
    for key, targets in lists.nouns.items():
        words, ahead = _key(key)
        yield Entry(words, ahead, frozenset({"NN"}), tuple(targets))
        yield Entry(
            (plural(words[0]), *words[1:]),
            ahead,
            frozenset({"NNS"}),
            tuple(_with(plural, t) for t in targets),
        )
    for key, targets in lists.verbs.items():
        yield from _verb_entries(*_key(key), targets)


def _verb_entries(words: tuple[str, ...], ahead: str, targets: list[str]) -> Iterator[Entry]:
    forms: dict[str, list[str]] = {}
    for tag in _TAGS:
        forms.setdefault(inflected(words[0], tag), []).append(tag)
    for form, tags in forms.items():
        found: dict[str, list[str]] = {}
        for target in targets:
            for tag in tags:
                found.setdefault(_with(functools.partial(inflected, tag=tag), target), []).append(tag)
        for made, under in found.items():
            yield Entry((form, *words[1:]), ahead, frozenset(under), (made,), under != tags)


def _with(change: Callable[[str], str], phrase: str) -> str:
    first, *rest = phrase.split()
    return " ".join([change(first), *rest])


def _key(key: str) -> tuple[tuple[str, ...], str]:
    words = key.split()
    ahead = words.pop() if words[-1].startswith("<") else ""
    return tuple(words), ahead


def hits(tokens: Tokens, lists: RephrasingLists, style: Style) -> list[Hit]:
    """Where substitutions fit, none of them inside a longer one, in order."""
    lows = [t.low for t in tokens]
    found = [
        Hit(i, i + len(entry.words), targets)
        for i, low in enumerate(lows)
        for entry in lists.entries.get(low, ())
        if tuple(lows[i : i + len(entry.words)]) == entry.words
        and _free(tokens, i, len(entry.words), style)
        and _fits(entry, tokens, lows, i)
        and (targets := _allowed(entry, lows, i))
    ]
    return [
        hit
        for hit in found
        if not any(o.start < hit.end and hit.start < o.end and _size(o) > _size(hit) for o in found)
    ]


def _size(hit: Hit) -> int:
    return hit.end - hit.start


def _free(tokens: Tokens, start: int, size: int, style: Style) -> bool:
    """Whether no token is quoted or, as far as its capital letter tells, part of a name."""
    span = tokens[start : start + size]
    if any(t.fixed for t in span) or any(t.name for t in span[1:]):
        return False
    if not span[0].name:
        return start == 0 or tokens[start - 1].text not in "-/" or tokens[start].gap != ""
    following = tokens[start + size] if start + size < len(tokens) else None
    if start or (size == 1 and following and following.name and readings(span[0].low) - {"ADV"}):
        return False
    lowered = style.lowered(tokens)
    return lowered is not None and lowered[0].text != tokens[0].text


def _allowed(entry: Entry, lows: Sequence[str], start: int) -> tuple[str, ...]:
    before = lows[start - 1] if start else ""
    if start and entry.words in _LINKS:
        return ()
    if entry.words in _AFFIRMED and {"not", "n't", "never"} & {*lows[:start]}:
        return ()
    if before in _NOT_MANY and lows[start] == "many":
        return ()
    if before in DETERMINERS | POSSESSIVES | {"'s", "most", "more"}:
        return tuple(t for t in entry.targets if not t.startswith(("a ", "the ", "most ", "more ")))
    return entry.targets


def _fits(entry: Entry, tokens: Tokens, lows: Sequence[str], start: int) -> bool:
    end = start + len(entry.words)
    if entry.words in _CAUSES and end < len(lows) and lows[end].endswith("ing"):
        return False
    if entry.words == ("due", "to") and end < len(lows) and _infinitive(lows[end]):
        return False
    if entry.ahead and not (end < len(tokens) and _follows(entry.ahead, tokens, end)):
        return False
    if not entry.tags:
        return True
    after = lows[end] if end < len(lows) else ""
    if entry.tags & {"NN", "NNS"}:
        return _is_noun(lows, start, after)
    if len(entry.words) == 1 and after in _PARTICLES:
        return False
    if entry.strict and not _is_tagged(entry.tags, tokens, lows, start):
        return False
    return _is_verb(entry.tags, tokens, lows, start, after)


def _infinitive(word: str) -> bool:
    return "VERB" in readings(word) and not word.endswith("s")


def _follows(ahead: str, tokens: Tokens, at: int) -> bool:
    token, low = tokens[at], tokens[at].low
    if ahead == "<number>":
        return (low[0].isdigit() and not low.endswith("m")) or low in _AMOUNTS or low[0] in "$£€<"
    if not (low[0].isalnum() or low[0] in "$£€<"):
        return False
    if ahead == "<verb>":
        return not token.name and _infinitive(low)
    if ahead == "<subject>":
        beyond = tokens[at + 1].low if at + 1 < len(tokens) else ""
        return low in SUBJECTS and (low != "it" or only_verb(beyond))
    if ahead == "<clause>":
        return low not in PREPOSITIONS and low not in AUXILIARIES and low != "not"
    if low in _PRONOUNS or (low == "her" and tokens[at + 1 : at + 2] and tokens[at + 1].low in CLOSED):
        return False
    adverb = readings(low) == {"ADV"} or low in ("not", "also", "to", "there")
    return (
        not adverb
        and low not in _NO_OBJECT | WEEKDAYS
        and not (low.endswith("ing") and only_verb(low))
        and (token.text != "I")
    )


def _is_noun(lows: Sequence[str], start: int, after: str) -> bool:
    before = lows[start - 1] if start else ""
    if "ADJ" in readings(lows[start]) and "NOUN" in readings(after):
        return False
    if "VERB" not in readings(lows[start]):
        return True
    return before in DETERMINERS | POSSESSIVES | {"of", "'s"} or readings(before) == {"ADJ"}


def _is_tagged(tags: frozenset[str], tokens: Tokens, lows: Sequence[str], start: int) -> bool:
    """Whether the words before tell a past tense from a participle."""
    near = set(lows[max(0, start - 3) : start])
    if "VBN" in tags:
        return bool(near & (BE | HAVE))
    before = lows[start - 1] if start else ""
    subject = before in SUBJECTS | {"who", "which"} or (start > 0 and tokens[start - 1].name)
    return "VBD" in tags and subject and not near & AUXILIARIES


def _describes(tokens: Tokens, lows: Sequence[str], start: int) -> bool:
    """Whether a participle describes the noun behind it, as in "of reduced size"."""
    before = lows[start - 1] if start else ""
    if before in _GRADES:
        return True
    if not before or set(lows[max(0, start - 3) : start]) & AUXILIARIES:
        return False
    if before in ("which", "that", "who"):
        return start > 1 and lows[start - 2] in PREPOSITIONS
    subject = before in SUBJECTS | CONJUNCTIONS or tokens[start - 1].name or before[0] in "0123456789)<,"
    noun = ("NOUN" in readings(before) and not before.endswith("ing")) or not known(before)
    return not (subject or noun or readings(before) == {"ADV"} or before in ("also", "then", "as", "when"))


def _is_verb(tags: frozenset[str], tokens: Tokens, lows: Sequence[str], start: int, after: str) -> bool:
    before = lows[start - 1] if start else ""
    if before in DETERMINERS | POSSESSIVES - {"that"} or before == "'s" or readings(before) == {"ADJ"}:
        return before in ("that", "both", "all", "some", "many") and "VBD" in tags
    if tags & {"VBD", "VBN"} and _describes(tokens, lows, start):
        return False
    doubtful = readings(lows[start]) & {"NOUN", "ADJ"} - ({"ADJ"} if tags & {"VBD", "VBN", "VBG"} else set())
    if not doubtful or lows[start] in _SELDOM_NOUNS:
        return True
    if "VB" in tags:
        return before in MODALS | {"to", "not", "n't", "we", "they", "i", "you", "who"}
    if "VBZ" in tags:
        named = start > 0 and tokens[start - 1].name and before not in CLOSED
        reports = before == "," and after in ("he", "she", "they")
        return (
            reports
            or before in ("he", "she", "it", "who", "which", "that")
            or (named and after in ("that", "the", "a", "an", "he", "she", "they", "it"))
        )
    if "VBG" in tags:
        return before in BE | {"by", "for", "of", "after", "before", "while", ",", "when", "from"}
    return True


def substituted(
    tokens: Tokens, lists: RephrasingLists, style: Style, rng: random.Random, most: int
) -> Tokens:
    """The tokens with up to `most` words or phrases replaced, at random places."""
    places = hits(tokens, lists, style)
    chosen: list[Hit] = []
    for hit in rng.sample(places, len(places)):
        if len(chosen) < most and all(hit.end <= c.start or c.end <= hit.start for c in chosen):
            chosen.append(hit)
    result = list(tokens)
    present = {t.low for t in tokens}
    for hit in sorted(chosen, key=lambda h: -h.start):
        fresh = [t for t in hit.targets if present.isdisjoint(w for w in t.split() if w not in CLOSED)]
        if not fresh:
            continue
        target = fresh[int(rng.random() * len(fresh))]
        present.update(target.split())
        result[hit.start : hit.end] = _set_in(target, tokens[hit.start])
        _agree(result, hit.start)
    return tuple(result)


def _set_in(target: str, first: Token) -> Iterable[Token]:
    words = tokenised(target)
    text = words[0].text
    if first.name:
        text = text[0].upper() + text[1:]
    return (replace(first, text=text), *words[1:])


def _agree(tokens: list[Token], at: int) -> None:
    """Make the article before a place agree with what stands there now."""
    if at and (before := tokens[at - 1]).low in ("a", "an"):
        right = article(tokens[at].text)
        tokens[at - 1] = replace(before, text=right.capitalize() if before.name else right)
