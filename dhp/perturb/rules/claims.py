"""A perturber of claims: sentences of other texts, with this text's names in them, instead of its own."""

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from dhp.core.errors import NotApplicable
from dhp.core.markdown import mark_length
from dhp.core.records import Example
from dhp.core.seeding import shuffled
from dhp.core.sentences import sentence_spans
from dhp.perturb.api import Edited, asked_edits, perturber
from dhp.perturb.edits import applied
from dhp.perturb.facts.names import distinct
from dhp.perturb.facts.table import FactTable, in_table
from dhp.perturb.facts.text import FactText, Lists
from dhp.perturb.facts.topics import is_claim, says_the_same

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
    of this text, of the same kind; a sentence without names shares words with this text. Those of a smaller
    dose are among those of a larger one.
    """
    asked_edits(k, share, 1)
    stated, table = in_table(text, example, others, lists)
    spans = sentence_spans(text, stated.language)
    asked = asked_edits(k, share, len(spans))
    if not stated.evidence:
        raise NotApplicable("no source that could lack a claim")
    if len(spans) < 2:
        raise NotApplicable("fewer than two sentences")
    marked = ((start + mark_length(text, start), end) for start, end in spans)
    places = [span for span in marked if is_claim(text[slice(*span)], stated.lists)]
    places = shuffled(places, rng)[: max(1, len(spans) // 2)]
    edits = list[tuple[int, int, str]]()
    for claim in _foreign(stated, table, rng):
        if len(edits) == min(asked, len(places)):
            break
        start, end = places[len(edits)]
        if max(len(claim), end - start) <= _MOST_DIFFERENT * min(len(claim), end - start):
            edits.append((start, end, claim))
    if not edits:
        raise NotApplicable("no fitting sentence of another text")
    return Edited(applied(text, edits)[0], asked, len(edits))


def _foreign(text: FactText, table: FactTable, rng: Random) -> Iterator[str]:
    """Claims of other texts that are on the topic of this one, with its names, in random order."""
    names = table.names
    by_kind: dict[object, list[str]] = {}
    for name in distinct(names.of(text.prose)):
        by_kind.setdefault(names.kind(name), []).append(name)
    near = table.topics.nearest(text.text)
    for sentence in dict.fromkeys([*shuffled(near, rng), *table.topics.any_of(rng)]):
        mapping = _named(distinct(names.of(sentence)), table, by_kind, rng)
        if mapping is None or not (mapping or sentence in near):
            continue
        claim = applied(sentence, names.renaming(sentence, mapping))[0] if mapping else sentence
        if claim not in text.evidence and not says_the_same(claim, text.text):
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
