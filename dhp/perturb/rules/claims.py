"""A perturber of claims: sentences of other texts, with this text's names in them, instead of its own."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from random import Random

from dhp.core.errors import NotApplicable
from dhp.core.markdown import mark_length
from dhp.core.records import Example
from dhp.core.seeding import shuffled
from dhp.core.sentences import sentence_spans
from dhp.perturb.api import Edited, asked_edits, perturber
from dhp.perturb.apply import once_for_all
from dhp.perturb.edits import Edit, Span, applied
from dhp.perturb.facts.names import distinct
from dhp.perturb.facts.table import FactTable, in_table
from dhp.perturb.facts.text import FactText, Lists
from dhp.perturb.facts.topics import is_claim, says_the_same
from dhp.perturb.facts.words import Rarity

_MOST_DIFFERENT = 2.0
"""A claim is at most so many times as long as the sentence in whose place it stands."""


@perturber(name="foreign_facts", level="sentence", degrees={"minor": {"k": 1}, "major": {"k": 3}})
def foreign_facts(
    text: str,
    rng: Random,
    *,
    example: Example,
    others: Sequence[Example],
    lists: Lists,
    k: int | None = None,
    share: float | None = None,
) -> Edited:
    """`k` sentences, or a `share` of them, make way for those of other texts, with this text's names in them.

    They are on its topic and of like length, and the source says nothing of them. Names in them become those
    of this text, of the same kind; a sentence without names shares words with this text. As often as not
    the words of the text become rarer by it. Those of a smaller dose are among those of a larger one.
    """
    asked_edits(k, share, 1)
    stated, table = in_table(text, example, others, lists)
    spans = sentence_spans(text, stated.language)
    asked = asked_edits(k, share, len(spans))
    if not stated.evidence:
        raise NotApplicable("no source that could lack a claim")
    if len(spans) < 2:
        raise NotApplicable("fewer than two sentences")
    places = shuffled(_places(stated), rng)[: max(1, len(spans) // 2)]
    one_way = once_for_all(
        others, example, f"one_way_{stated.language}", lambda examples: _one_way(examples, table, lists)
    )
    claims, rarity = list(_foreign(stated, table, rng)), Rarity(text, stated.language)
    edits = list[Edit]()
    while len(edits) < asked:
        ways = _ways(text, places, claims, rarity)
        is_rarer = (len(ways) == 2 and rng.random() < 0.5) or ways.keys() == {True}
        if not ways or (len(ways) == 1 and rng.random() >= one_way[is_rarer]):
            break
        start, end, claim = ways[is_rarer]
        edits.append((start, end, claim))
        places.remove((start, end))
        claims.remove(claim)
    if not edits:
        raise NotApplicable("no fitting sentence of another text")
    return Edited(applied(text, edits)[0], asked, len(edits))


_LOOKED_AT = 200
"""Texts of a table in which claims are tried before the first one is put in."""


def _places(text: FactText) -> list[Span]:
    """The sentences of a text that state something by themselves, without marks of lists."""
    spans = sentence_spans(text.text, text.language)
    marked = ((start + mark_length(text.text, start), end) for start, end in spans)
    return [span for span in marked if is_claim(text.text[slice(*span)], text.lists)]


def _ways(text: str, places: Sequence[Span], claims: Sequence[str], rarity: Rarity) -> Mapping[bool, Edit]:
    """A claim for a sentence of like length that makes the words of a text rarer, and one that does not; what
    there is of both."""
    ways = dict[bool, Edit]()
    for claim, (start, end) in product(claims, places):
        if _are_alike(len(claim), end - start):
            ways.setdefault(rarity.grows(text[start:end], claim), (start, end, claim))
        if len(ways) == 2:
            break
    return ways


def _one_way(examples: Sequence[Example], table: FactTable, lists: Lists) -> Mapping[bool, float]:
    """The chances of a text whose words can only become rarer (True), or only more frequent.

    With these as many texts of a table change in one way as in the other: who looks at how rare the words are
    cannot tell.
    """
    alone, rng = Counter[bool](), Random(0)
    for example in examples[:_LOOKED_AT]:
        stated = table.text(example.output, example, lists)
        claims = list(_foreign(stated, table, rng))
        ways = _ways(stated.text, _places(stated), claims, Rarity(stated.text, stated.language))
        if len(ways) == 1:
            alone.update(ways.keys())
    return {way: min(1.0, (alone[not way] + 1) / (alone[way] + 1)) for way in (True, False)}


def _are_alike(one: int, other: int) -> bool:
    """Whether two lengths differ little enough."""
    return max(one, other) <= _MOST_DIFFERENT * min(one, other)


def _foreign(text: FactText, table: FactTable, rng: Random) -> Iterator[str]:
    """Claims of other texts that are on the topic of this one, with its names, in random order."""
    names = table.names
    by_kind: dict[object, list[str]] = {}
    for name in distinct(names.of(text.prose)):
        by_kind.setdefault(names.kind(name), []).append(name)
    near = table.topics.nearest(text.text)
    for sentence in dict.fromkeys([*shuffled(near, rng), *table.topics.any_of(rng)]):
        mapping = _named(table.claim_names(sentence), table, by_kind, rng)
        if mapping is None or not (mapping or sentence in near):
            continue
        claim = applied(sentence, names.renaming(sentence, mapping))[0] if mapping else sentence
        known = claim in text.text or claim in text.evidence
        if not known and not says_the_same(claim, text.text):
            yield claim


def _named(
    old: Sequence[str], table: FactTable, by_kind: Mapping[object, Sequence[str]], rng: Random
) -> Mapping[str, str] | None:
    """Names of a sentence -> names of the text of the same kind, each once; None if it has too few."""
    mapping = dict[str, str]()
    for name in old:
        kind = table.names.kind(name)
        free = [each for each in by_kind.get(kind, ()) if each not in mapping.values()] if kind else []
        if not free:
            return None
        mapping[name] = free[int(rng.random() * len(free))]
    return mapping
