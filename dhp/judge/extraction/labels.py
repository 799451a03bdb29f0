"""Verdicts in the user's own words, such as PASS and FAIL; the worst is 1."""

import re
from collections.abc import Sequence

from dhp.core.refusals import holds_refusal
from dhp.core.text import without_reasoning
from dhp.judge.extraction.numbers import clean, shortened
from dhp.judge.extraction.records import UNPARSED, Extracted

_AROUND = r"[\s\"'“”(\[{<>:.*]{0,9}"
_LABEL = r"(?:final |overall )?(?:verdict|answer|label|result|rating|grade|judge?ment|decision|score|class)"
_LINK = r"[\"'”]? ?(?:is|was|:|=|->|-)[ :]?"
_NEGATED = re.compile(r"(?:\bnot|n't|\bnever|\bno|\bneither|\bnor|\bcannot)(?: \w+)? ?[\"'“(]?$", re.I)


def read_label(text: str, labels: Sequence[str], *, cut_off: bool = False) -> Extracted:
    """The label that an answer gives, as its place in the list, from 1.

    The whole answer, a labelled verdict, the last line or the first line, in this order; else a label that is
    the only one named and not denied. Two labels that are equally explicit make the answer unparsed.

    Parameters
    ----------
    text
        The answer as the model gave it.
    labels
        The words, the worst first.
    cut_off
        Whether the answer ended at the token limit: only a labelled verdict counts then.
    """
    words = without_reasoning(text)
    if words is None:
        return UNPARSED
    words = clean(shortened(words)).strip()
    anyone = "|".join(re.escape(clean(label)) for label in sorted(labels, key=len, reverse=True))
    whole = rf"(?<![\w-])({anyone})(?![\w-])"
    lines = [line for line in words.split("\n") if line.strip()] or [""]
    alone = re.compile(rf"{_AROUND}({anyone}){_AROUND}", re.I)
    places = [
        {found[1].lower()} if (found := alone.fullmatch(line)) else set() for line in (words, lines[-1])
    ]
    labelled = re.findall(rf"\b{_LABEL}{_LINK}{_AROUND}({anyone})(?![\w-])", words, re.I)
    named = list(re.finditer(whole, words, re.I))
    denied = any(_NEGATED.search(words[max(0, m.start() - 24) : m.start()]) for m in named)
    first = alone.fullmatch(lines[0])
    steps = [
        set() if cut_off else places[0],
        {label.lower() for label in labelled[-1:]},
        set() if cut_off else places[1],
        {first[1].lower()} if first and not cut_off else set(),
        set() if denied or cut_off else {m[1].lower() for m in named},
    ]
    found_labels = next((step for step in steps if step), set())
    if len(found_labels) != 1:
        return Extracted("refused", None, None) if not named and holds_refusal(words) else UNPARSED
    ordered = [clean(label).lower() for label in labels]
    return Extracted("scored", float(1 + ordered.index(found_labels.pop())), "label")
