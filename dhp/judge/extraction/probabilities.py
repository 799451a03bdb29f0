"""The score that the probabilities of an answer's tokens give.

`expected_score` reads the whole answer as text first, then looks for the token that gives that score, and
weighs all scores by the probabilities that stand there (Liu et al. 2023, G-Eval). `letter_masses` does the
same for an answer that is one letter.
"""

import math
import re
import string
import unicodedata
from collections.abc import Sequence
from itertools import accumulate

from dhp.core.answer_forms import FORMS, AnswerForm
from dhp.core.errors import InputError
from dhp.core.reasoning import without_reasoning
from dhp.core.specs import Scale
from dhp.judge.extraction.extracted import UNPARSED, Extracted
from dhp.judge.extraction.rating import read_rating
from dhp.judge.extraction.values import HAN, WORDS
from dhp.llm.records import Position

_BYTES = str.maketrans({"\u2581": " ", "\u0120": " ", "\u010a": "\n"})
"""Spaces and line ends as raw vocabularies write them: `\\u2581` SentencePiece, the others byte-level BPE."""
_SCORE_LABEL = re.compile(
    r"(?:rating|score|grade|answer|verdict|boxed|评分|得分|分数|答案)[^\n\d]{0,60}$", re.I
)
"""The end of what leads to a score: `My score for coherence is `"""
_GOES_ON = re.compile(r"[A-Za-z0-9十百]|[.,](?!0+(?!\d))\d")
"""What makes a number another one, or a part of a word: `0`, `th`, `.5`, but not `.0`."""

IMPOSSIBLE = "impossible log-probabilities"
"""How the reason begins why an answer has no score though it reads well."""
_ROUNDING = 0.05
"""Tolerance by which a probability, or a sum of them, may exceed 1. Chosen: servers round."""
TOP_LOGPROBS = 20
"""Alternatives of each token that are asked for, the most that servers give."""


def score_tokens(scale: Scale, form: AnswerForm) -> dict[str, float]:
    """The texts, as `normal` leaves them, that a score may have as one token, each with its score.

    Never called for the form `mix`. Raises `InputError` if a score needs more than one token: allowed are
    whole numbers within 0 to 9, and 26 letters.
    """
    whole = scale.min == int(scale.min) and scale.max == int(scale.max)
    low, high = int(scale.min), int(scale.max)
    if form == "letters" and whole and high - low < 26:
        letters = string.ascii_uppercase[: high - low + 1]
        return {normal(letter): float(score) for score, letter in enumerate(letters, start=low)}
    if form in ("da", "letters") or not whole or low < 0 or high > 9:
        raise InputError(
            f"scale {scale.min:g} to {scale.max:g} (answer '{form}') cannot be read from token probabilities;"
            " allowed: extraction 'parse', or a scale of whole numbers within 0 to 9"
        )
    spellings = {**WORDS, **HAN}
    for digit in range(10):
        spellings |= {str(digit): digit, f"{digit}.0": digit}
    return {normal(text): float(score) for text, score in spellings.items() if low <= score <= high}


def normal(token: str) -> str:
    """A token without what does not change its meaning as a score: spaces, marks, case, width.

    `" 4"`, `"4"`, `"**4"`, `"４"` and `"Ġ4"` are all `"4"`.
    """
    plain = unicodedata.normalize("NFKC", token)
    return plain.strip(" \t\r\n\u2581\u0120\u010a*_#`\"'()[]:.,;").casefold()


def expected_score(
    positions: Sequence[Position], scale: Scale, form: AnswerForm, *, cut_off: bool = False
) -> Extracted:
    """The mean of the scores, weighed by their probabilities at the place where the answer gives its score.

    That is the first position at which the token of the answer is the score that `read_rating` reads from the
    whole answer. Where the answer was to be the score alone, no position counts but the first, after spaces,
    marks and reasoning. An answer of another form gives no score, however likely numbers were. The mean is
    renormalised over the scale; the probability that fell elsewhere is `missing_mass`. Never called for the
    form `mix`; raises the same errors as `score_tokens`.
    """
    tokens = score_tokens(scale, form)
    pieces = [p.chosen.translate(_BYTES) for p in positions]
    read = read_rating("".join(pieces), scale, form, cut_off=cut_off)

    # The place of the token that gives the score.
    if FORMS[form].alone:
        index = _first(pieces)
        alone = index is not None and _is_alone(pieces, index)
        if not alone and read.status != "refused":
            return UNPARSED
    else:
        index = _stated(pieces, scale, form, read.score)
    if read.score is None:
        return read

    # What the probabilities there say.
    if index is None or tokens.get(normal(pieces[index])) != read.score:
        return UNPARSED
    fault = impossible(positions[index])
    if fault:
        return Extracted("unparsed", rule=fault)
    return _mean(positions[index], tokens, scale, form)


def impossible(position: Position) -> str | None:
    """Why these are no log-probabilities of a token and its alternatives; None if they may be."""
    logprobs = [logprob for _, logprob in position.alternatives]
    for logprob in logprobs:
        if not logprob <= math.log1p(_ROUNDING):  # so written as NaN is not, either
            return f"{IMPOSSIBLE}: {logprob:g} is none"
    total = math.fsum(map(math.exp, logprobs))
    if total > 1 + _ROUNDING:
        return f"{IMPOSSIBLE}: the probabilities add up to {total:.3g}"
    if normal(position.chosen) not in {normal(token) for token, _ in position.alternatives}:
        return f"{IMPOSSIBLE}: the chosen token is not among the alternatives"
    return None


def letter_masses(positions: Sequence[Position], count: int) -> list[float] | str | None:
    """The probabilities of the first `count` letters (A, B, ...), if an answer is one letter.

    They are not renormalised and have a positive sum. None if the answer is not one of the letters, and
    the reason if it is one and has no probabilities (see `impossible`).
    """
    tokens = score_tokens(Scale(min=0, max=count - 1), "letters")
    pieces = [p.chosen.translate(_BYTES) for p in positions]
    index = _first(pieces)
    if index is None or not _is_alone(pieces, index) or normal(pieces[index]) not in tokens:
        return None
    fault = impossible(positions[index])
    if fault:
        return fault
    masses = _masses(positions[index], tokens, letters=True)
    ordered = [masses[float(letter)] for letter in range(count)]
    return ordered if sum(ordered) > 0 else None


def _masses(position: Position, tokens: dict[str, float], *, letters: bool) -> dict[float, float]:
    """Score -> the probability of its tokens at one place."""
    masses: dict[float, float] = dict.fromkeys(tokens.values(), 0.0)
    for token, logprob in position.alternatives:
        score = tokens.get(normal(token))
        is_article = letters and token.translate(_BYTES).strip() in ("a", "i")  # `a good summary` is no A
        if score is not None and not is_article:
            masses[score] += math.exp(min(logprob, 0.0))  # several tokens may be one score: `4`, ` 4`
    return masses


def _mean(position: Position, tokens: dict[str, float], scale: Scale, form: AnswerForm) -> Extracted:
    """The mean of the scores by their probabilities at one place; unparsed if all fell on other tokens."""
    masses = _masses(position, tokens, letters=form == "letters")
    total = math.fsum(masses.values())
    if total <= 0:
        return UNPARSED
    mean = math.fsum(mass * score for score, mass in masses.items()) / total
    return Extracted(
        "scored",
        min(max(mean, scale.min), scale.max),
        "prob",
        missing_mass=min(max(1 - total, 0.0), 1.0),
        probabilities=tuple(masses[score] / total for score in sorted(masses)),
    )


def _first(pieces: Sequence[str]) -> int | None:
    """The first token of the answer that is no space or mark, behind the model's reasoning."""
    text = "".join(pieces)
    answer = (without_reasoning(text) or "").lstrip()
    # The answer is the end of the text unless reasoning was cut out of its middle.
    start = len(text) - len(answer) if text.endswith(answer) else 0
    ends = accumulate(map(len, pieces))
    for index, (piece, end) in enumerate(zip(pieces, ends, strict=True)):
        if end > start and normal(piece):
            return index
    return None


def _is_alone(pieces: Sequence[str], index: int) -> bool:
    """Whether a token is a whole number of one digit, or a letter."""
    token = normal(pieces[index]).removesuffix(".0")
    return (len(token) == 1 or token in WORDS) and not _goes_on(pieces, index)


def _goes_on(pieces: Sequence[str], index: int) -> bool:
    """Whether what follows a token makes it another number, or a part of a word."""
    return _GOES_ON.match("".join(pieces[index + 1 : index + 4])) is not None


def _stated(pieces: Sequence[str], scale: Scale, form: AnswerForm, score: float | None) -> int | None:
    """Where an answer in sentences says its score: behind a label if anywhere, not in a mention of the scale.

    In `analyze-rate` the last such place, as the rating follows the analysis.
    """
    text, tokens = "".join(pieces), score_tokens(scale, form)
    low, high = f"{scale.min:g}", f"{scale.max:g}"
    mention = re.compile(
        rf"\b{low}[ \t]*(?:[-–/]|to|and|至|到)[ \t]*{high}\b|(?:out of|/)[ \t]*{high}\b", re.I
    )
    mentions = [m.span() for m in mention.finditer(text)]
    labelled: list[int] = []
    others: list[int] = []
    ends = accumulate(map(len, pieces))
    for index, (piece, end) in enumerate(zip(pieces, ends, strict=True)):
        is_mention = any(start < end <= stop for start, stop in mentions)
        if tokens.get(normal(piece)) != score or is_mention or _goes_on(pieces, index):
            continue
        start = end - len(piece)
        if _SCORE_LABEL.search(text, max(0, start - 80), start):  # far enough back for the longest label
            labelled.append(index)
        else:
            others.append(index)
    indices = labelled or others
    if not indices:
        return None
    return indices[-1] if form == "analyze-rate" else indices[0]
