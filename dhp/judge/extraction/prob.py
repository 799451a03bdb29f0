"""A score weighed by the probabilities of the score tokens (Liu et al. 2023, G-Eval, eq. 1)."""

import math
import re
from collections.abc import Sequence
from itertools import accumulate

from dhp.core.errors import InputError
from dhp.core.protocol_spec import AnswerForm
from dhp.core.specs import Scale
from dhp.judge.extraction.numbers import HAN, WORDS
from dhp.judge.extraction.rating import read_rating
from dhp.judge.extraction.records import UNPARSED, Extracted
from dhp.llm.records import Position, normal

_BYTES = str.maketrans({"\u2581": " ", "\u0120": " ", "\u010a": "\n"})
"""Spaces and line ends as raw vocabularies write them."""
_LABEL = re.compile(r"(?:rating|score|grade|answer|verdict|boxed|评分|得分|分数|答案)[^\n\d]{0,60}$", re.I)


def score_tokens(scale: Scale, form: AnswerForm) -> dict[str, float]:
    """The texts, as `normal` leaves them, that a score may have as one token, each with its score.

    Raises `InputError` where a score needs more than one token: allowed are whole numbers within 0 to 9, and
    up to 26 letters.
    """
    whole = scale.min == int(scale.min) and scale.max == int(scale.max)
    low, high = int(scale.min), int(scale.max)
    if form == "letters" and whole and high - low < 26:
        return {normal(chr(ord("A") + i)): float(low + i) for i in range(high - low + 1)}
    if form in ("da", "letters") or not whole or low < 0 or high > 9:
        raise InputError(
            f"scale {scale.min:g} to {scale.max:g} (answer '{form}') cannot be read from token probabilities;"
            " allowed: extraction 'parse', or a scale of whole numbers within 0 to 9"
        )
    spellings = {str(i): i for i in range(10)} | {f"{i}.0": i for i in range(10)} | WORDS | HAN
    return {normal(text): float(score) for text, score in spellings.items() if low <= score <= high}


def expected_score(positions: Sequence[Position], scale: Scale, form: AnswerForm) -> Extracted:
    """The mean of the scores, weighed by their probabilities at the place where the answer gives its score.

    That place is where the generated token is the score that `read_rating` reads from the whole answer; a
    model that says something else gave no score, however small numbers were likely. Probabilities are
    renormalised over the scale. Raises `InputError` as `score_tokens` does.
    """
    tokens = score_tokens(scale, form)
    pieces = [p.chosen.translate(_BYTES) for p in positions]
    read = read_rating("".join(pieces), scale, form)
    if read.score is None:
        return read
    place = _place(positions, pieces, scale, form, read.score)
    masses: dict[float, float] = dict.fromkeys(tokens.values(), 0.0)
    for token, logprob in place.alternatives if place is not None else ():
        score = tokens.get(normal(token))
        article = form == "letters" and token.translate(_BYTES).strip() in ("a", "i")
        if score is not None and not article and not math.isnan(logprob):
            masses[score] += math.exp(min(logprob, 0.0))
    total = math.fsum(masses.values())
    if total <= 0:
        return UNPARSED
    mean = math.fsum(mass * score for score, mass in masses.items()) / total
    return Extracted(
        "scored", min(max(mean, scale.min), scale.max), "prob", missing_mass=min(max(1 - total, 0.0), 1.0)
    )


def _place(
    positions: Sequence[Position], pieces: Sequence[str], scale: Scale, form: AnswerForm, score: float
) -> Position | None:
    """Where the answer says its score: behind a label if anywhere, never in a mention of the scale."""
    text, tokens = "".join(pieces), score_tokens(scale, form)
    low, high = f"{scale.min:g}", f"{scale.max:g}"
    mention = re.compile(
        rf"\b{low}[ \t]*(?:[-–/]|to|and|至|到)[ \t]*{high}\b|(?:out of|/)[ \t]*{high}\b", re.I
    )
    mentions = [m.span() for m in mention.finditer(text)]
    places: dict[bool, list[Position]] = {True: [], False: []}
    for position, piece, end in zip(positions, pieces, accumulate(map(len, pieces)), strict=True):
        inside = any(start < end <= stop for start, stop in mentions)
        if tokens.get(normal(piece)) == score and not inside:
            start = end - len(piece)
            places[_LABEL.search(text, max(0, start - 80), start) is not None].append(position)
    found = places[True] or places[False]
    return found[-1 if form == "analyze-rate" else 0] if found else None
