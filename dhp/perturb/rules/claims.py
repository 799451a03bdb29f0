"""A perturber of claims: sentences of other texts, with this text's names in them, instead of its own."""

import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random

from dhp.core.errors import NotApplicable
from dhp.core.language import sentence_spans
from dhp.core.markdown import mark_length
from dhp.core.records import Example
from dhp.core.seeding import shuffled
from dhp.perturb.api import Edited, asked_edits, perturber
from dhp.perturb.edits import applied
from dhp.perturb.facts.names import distinct
from dhp.perturb.facts.table import FactTable, in_table
from dhp.perturb.facts.text import FactText, Lists
from dhp.perturb.facts.words import content_words

_TRIES = 60
"""Sentences of other texts that are looked at."""
_SHORT, _LONG = 25, 400
"""Characters of a sentence that can be a claim."""
_POINTS_BACK = re.compile(
    r"(?:he|she|it|they|his|her|its|their|this|these|that|those|but|and|so|then|however|also|er|sie|es|aber"
    r"|dies\w*|él|ella|esto|pero|il|elle|cela|mais)\b|这|那|他|她|它|但",
    re.I,
)
"""Beginnings of sentences that go on from one before."""
_SHARED = 2
"""Words that a sentence without names has in common with the text."""
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
    places = shuffled(spans, rng)[: max(1, len(spans) // 2)]
    claims = _claims(stated, table, rng)
    edits = list[tuple[int, int, str]]()
    for claim in claims:
        if len(edits) == min(asked, len(places)):
            break
        start, end = places[len(edits)]
        start += mark_length(text, start)
        if max(len(claim), end - start) <= _MOST_DIFFERENT * min(len(claim), end - start):
            edits.append((start, end, claim))
    if not edits:
        raise NotApplicable("no sentence of another text could stand in this one")
    return Edited(applied(text, edits)[0], asked, len(edits))


def _claims(text: FactText, table: FactTable, rng: Random) -> Iterator[str]:
    """Sentences of other texts, each once, with the names of this one."""
    sentences, names, used = table.sentences, table.names, set[str]()
    by_kind: dict[object, list[str]] = {}
    for name in distinct(names.of(text.prose)):
        by_kind.setdefault(names.kind(name), []).append(name)
    words = content_words(text.text)
    for _ in range(_TRIES if sentences else 0):
        sentence = sentences[int(rng.random() * len(sentences))]
        if sentence in used or sentence in text.text or sentence in text.evidence:
            continue
        used.add(sentence)
        if not _SHORT <= len(sentence) <= _LONG or _POINTS_BACK.match(sentence):
            continue
        mapping = _named(table.names_of_sentence(sentence), table, by_kind, rng)
        if mapping is None:
            continue
        if mapping:
            claim = applied(sentence, names.renaming(sentence, mapping))[0]
            if claim not in text.text and claim not in text.evidence:
                yield claim
        elif len(words & content_words(sentence)) >= _SHARED:
            yield sentence


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
