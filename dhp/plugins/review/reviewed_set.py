"""The set that is made of reviews: without rejected texts, with edited ones."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from dhp.core.diff import audit
from dhp.core.records import PerturbedText
from dhp.perturb.sets import SetPart
from dhp.plugins.review.pairs import Key, ReviewableSet
from dhp.plugins.review.reviews import Decision, Review
from dhp.plugins.review.summary import decisions


def reviewed_parts(reviewable: ReviewableSet, reviews: Sequence[Review]) -> list[SetPart]:
    """The parts of the set with the decisions of its reviewers.

    A rejected text is left out: in its place stand the reason and the reviewer's note. Of several edits of a
    text the first file's counts. Texts that nobody reviewed stay.
    """
    settled = decisions(reviews)
    return [_reviewed(part, settled, reviews) for part in reviewable.parts.values()]


def _reviewed(part: SetPart, settled: Mapping[Key, Decision], reviews: Sequence[Review]) -> SetPart:
    outputs = {e.id: e.output for e in part.examples}
    texts = []
    for t in part.texts:
        key = (part.dataset, t.variant, t.example)
        if settled.get(key) == "reject":
            texts.append(_left_out(t, _note(key, reviews)))
        elif settled.get(key) == "edit":
            texts.append(_edited(t, outputs[t.example], _edit(key, reviews)))
        else:
            texts.append(t)
    return replace(part, texts=tuple(texts), origins=_origins(part, texts))


def _left_out(t: PerturbedText, note: str) -> PerturbedText:
    reason = f"rejected in review: {note}" if note else "rejected in review"
    return replace(t, text=None, reason=reason, audit=None, by_hand=False)


def _edited(t: PerturbedText, original: str, text: str) -> PerturbedText:
    return replace(t, text=text, audit=audit(original, text), by_hand=True)


def _note(key: Key, reviews: Sequence[Review]) -> str:
    said = [review.texts[key] for review in reviews if key in review.texts]
    return next((text.note for text in said if text.decision == "reject" and text.note), "")


def _edit(key: Key, reviews: Sequence[Review]) -> str:
    said = [review.texts[key].text for review in reviews if key in review.texts]
    return next(text for text in said if text is not None)


def _origins(part: SetPart, texts: Sequence[PerturbedText]) -> dict[str, str]:
    """What made the texts of a perturber, with the number of those edited by hand."""
    perturbers = {v.name: v.perturber for v in part.variants}
    counts: dict[str, int] = {}
    for t in texts:
        counts[perturbers[t.variant]] = counts.get(perturbers[t.variant], 0) + t.by_hand
    made_by = dict(part.origins)
    for perturber, count in counts.items():
        if count:
            before = re.sub(r", \d+ by hand$", "", part.origins.get(perturber, perturber))
            made_by[perturber] = f"{before}, {count} by hand"
    return made_by
