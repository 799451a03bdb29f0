"""A rating read from an answer's words, or weighed by the probabilities of its tokens."""

import functools
import json
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import accumulate

from dhp.core.errors import InputError
from dhp.core.protocol_spec import AnswerForm
from dhp.core.records import Rating
from dhp.core.specs import Metric, Scale
from dhp.core.text import holds_refusal, without_reasoning
from dhp.judge.api import rescale
from dhp.judge.extraction.numbers import HAN, WORDS, clean, shortened, value_on, with_tokens, without_mentions
from dhp.judge.extraction.rules import (
    LABELLED,
    LOOSE,
    UNPARSED,
    Extracted,
    Mention,
    chosen,
    letter_matches,
    letter_value,
    rating_matches,
)
from dhp.llm.records import Position

_SCALES: Mapping[str, Scale] = {
    "da": Scale(min=0, max=100),
    "stars": Scale(min=1, max=5),
    "letters": Scale(min=1, max=5),
}


def answer_scale(form: AnswerForm, scale: Scale) -> Scale:
    """The scale that an answer of this form is on; `scale` is the metric's. Letters count from A = 1."""
    return _SCALES.get(form, scale)


def metric_rating(
    read: Extracted, metric: Metric, form: AnswerForm, place: tuple[str, str, int], raw: str | None
) -> Rating:
    """The rating of (example, variant, sample) by what was read from an answer: on the metric's scale, higher
    for better.
    """
    score, scale = read.score, metric.scale
    assert read.status != "contradictory", "as one text is rated"
    if score is not None:
        score = rescale(score, answer_scale(form, scale), scale)
        if metric.lower_is_better:
            score = min(max(scale.min + scale.max - score, scale.min), scale.max)
    example, variant, sample = place
    return Rating(
        example, variant, metric.name, sample, score, read.status, raw, read.rule, read.missing_mass
    )


def read_answer(text: str, metric: Metric, form: AnswerForm, *, cut_off: bool = False) -> Extracted:
    """What an answer says of a metric, by its labels where it has some, on the answer's own scale.

    The form is never `mix`; `cut_off` as of `read_rating`.
    """
    if metric.labels:
        return read_label(text, metric.labels, cut_off=cut_off)
    asked = f"{metric.question}\n{metric.definition}"
    return read_rating(text, answer_scale(form, metric.scale), form, cut_off=cut_off, asked=asked)


_YES, _NO = r"(?:yes|是)", r"(?:no|否|不是)"


def _defined(word: str, score: float, question: str) -> bool:
    """Whether the question says that the word stands for the score: `1 (no)`, `No = 1`, `1 means no`."""
    number = rf"(?<![\d.]){re.escape(f'{score:g}')}(?!\d|\.\d)(?: ?(?:points?|stars?|分))?"
    link = r" ?(?:[(=:-]|means?|is|for|as|stands for|表示|代表|为|即|（|：)? ?[\"'“]?"
    term = rf"(?<![a-z]){word}(?![a-z])"
    return any(
        re.search(pattern, question, re.I) is not None
        for pattern in (rf"{number}{link}{term}", rf"{term}[\"'”]?{link}{number}")
    )


@functools.lru_cache(maxsize=256)
def yes_and_no(question: str, scale: Scale) -> tuple[float, float] | None:
    """The scores of Yes and No in a question that defines both as the two ends of the scale."""
    for yes, no in ((scale.max, scale.min), (scale.min, scale.max)):
        if _defined(_YES, yes, question) and _defined(_NO, no, question):
            return yes, no
    return None


def _read_yes_no(answer: str, asked: str, scale: Scale) -> float | None:
    """The score of an answer that is, or opens with, Yes or No, if the question says what they stand for."""
    match = re.match(
        rf"\s*[\"'(\[]?(?:({_YES})|{_NO})[\"')\]]?(?:\s*[.!。！]?\s*\Z|[.,:;!。，：；！](?=\s))", answer, re.I
    )
    scores = yes_and_no(asked, scale) if match else None
    return None if match is None or scores is None else scores[0 if match[1] else 1]


_OTHER_SCALE = re.compile(r"\bscale (?:of|from) ⟦\?⟧", re.I)
ONE_TOKEN: tuple[AnswerForm, ...] = ("score-only", "da", "stars", "letters")
"""Forms whose whole answer is the score."""


def read_rating(
    text: str, scale: Scale, form: AnswerForm, *, cut_off: bool = False, asked: str = ""
) -> Extracted:
    """The rating in an answer; of several equally explicit ones the first, in `analyze-rate` the last.

    Never raises, and never turns a failure into a score. Of more than 40,000 characters the middle is not
    looked at. The form is never `mix`; in `letters` the lowest point of the scale is A. Where the answer was
    cut off at the token limit, a number that may go on, or that comes before the rating asked for, is none.
    `asked` is the question, which may say what Yes and No stand for: `1 (no) to 3 (yes)`.
    """
    return (_read_short if len(text) <= 64 else _read)(text, scale, form, cut_off, asked)


def _read(text: str, scale: Scale, form: AnswerForm, cut_off: bool, asked: str) -> Extracted:
    words = without_reasoning(text)
    if words is None or (cut_off and form == "analyze-rate"):  # the rating would have come last
        return UNPARSED
    words = clean(shortened(words))
    if form == "letters":
        found = chosen(letter_matches(words, scale), form)
        value = None if found is None else letter_value(found.value, scale)
    else:
        words = without_mentions(with_tokens(words), scale)
        found = chosen(rating_matches(words, scale, form), form)
        value = None if found is None else value_on(found.value, scale.max)
    if found is None and (end := _read_yes_no(words, asked, scale)) is not None:
        return Extracted("scored", end, "yes-no")
    if found is None:
        return Extracted("refused") if holds_refusal(words) else UNPARSED
    if value is None or (cut_off and _may_go_on(found, words, form, _has_longer(value, scale))):
        return UNPARSED
    foreign = found.tier > LABELLED and "/" not in found.value and _OTHER_SCALE.search(words)
    if foreign or not scale.min <= value <= scale.max:
        return Extracted("out_of_scale", rule=found.rule)
    return Extracted("scored", value, found.rule)


_read_short = functools.lru_cache(maxsize=512)(_read)
"""Bare scores come again and again."""


def _may_go_on(mention: Mention, words: str, form: AnswerForm, has_longer: bool) -> bool:
    """Whether the number that ends a cut off answer may begin a longer one, or a sentence."""
    if mention.tier == LOOSE:
        return True
    one_token = form in ONE_TOKEN and mention.rule in ("bare", "letter")  # asked for, and perhaps allowed
    alone = one_token and not (mention.rule == "bare" and has_longer)
    return not alone and not words[mention.start + len(mention.value) :].strip("⟧ ")


def _has_longer(value: float, scale: Scale) -> bool:
    """Whether a whole number of the scale begins with the digits of `value`, as 85 with those of 8."""
    least = 10 * abs(value)
    low, high = (scale.min, scale.max) if value > 0 else (-scale.max, -scale.min)
    return value != 0 and value.is_integer() and least <= high and least + 9 >= low


_AROUND = r"[\s\"'“”(\[{<>:.*]{0,9}"
_LABEL = r"(?:final |overall )?(?:verdict|answer|label|result|rating|grade|judge?ment|decision|score|class)"
_LINK = r"[\"'”]? ?(?:is|was|:|=|->|-)[ :]?"
_NEGATED = re.compile(r"(?:\bnot|n't|\bnever|\bno|\bneither|\bnor|\bcannot)(?: \w+)? ?[\"'“(]?$", re.I)


def read_label(text: str, labels: Sequence[str], *, cut_off: bool = False) -> Extracted:
    """The label that an answer gives, as its place in the list, from 1.

    The whole answer, a labelled verdict, the last line or the first line, in this order; else a label that is
    the only one named and not denied. Two labels that are equally explicit make the answer unparsed. Labels
    are listed with the worst first. Where the answer was cut off at the token limit only a labelled verdict
    counts.
    """
    words = without_reasoning(text)
    if words is None:
        return UNPARSED
    words = clean(shortened(words)).strip()
    anyone = "|".join(re.escape(clean(label)) for label in sorted(labels, key=len, reverse=True))
    alone = re.compile(rf"\A{_AROUND}({anyone}){_AROUND}\Z", re.I)
    lines = [line for line in words.split("\n") if line.strip()] or [""]
    named = list(re.finditer(rf"(?<![\w-])({anyone})(?![\w-])", words, re.I))
    denied = any(_NEGATED.search(words[max(0, m.start() - 24) : m.start()]) for m in named)
    labelled = re.findall(rf"\b{_LABEL}{_LINK}{_AROUND}({anyone})(?![\w-])", words, re.I)[-1:]
    places = [
        alone.findall(words),
        labelled,
        alone.findall(lines[-1]),
        alone.findall(lines[0]),
        [] if denied else [m[1] for m in named],
    ]
    said = next(filter(None, [labelled] if cut_off else places), [])
    found = {
        number
        for number, label in enumerate(labels, 1)
        if any(re.fullmatch(re.escape(clean(label)), each, re.I) for each in said)
    }
    if len(found) != 1:
        return Extracted("refused") if not named and holds_refusal(words) else UNPARSED
    return Extracted("scored", float(found.pop()), "label")


_INNER = ("score", "rating", "value", "grade", "verdict", "label", "answer")


def read_object(text: str, metrics: Mapping[str, str]) -> dict[str, str] | None:
    """Metric -> what the object says about it, as text; None where the answer holds no such object.

    Of several objects the last that has any of the metrics counts. Keys are compared without case, spaces,
    `_` and `-`; where a metric has an object of its own, its `score`, `rating`, `value`, `grade`, `verdict`,
    `label` or `answer` counts. `metrics` has the name of each metric -> what it is called in prompts; either
    may be the key.
    """
    words = without_reasoning(text)
    if words is None:
        return None
    known = {_plain(key): name for name, label in metrics.items() for key in (name, label)}
    decoder, found, place = json.JSONDecoder(), None, 0
    words = shortened(words)
    while (place := words.find("{", place)) >= 0:
        try:
            value, end = decoder.raw_decode(words, place)
        except (ValueError, RecursionError):
            place += 1
            continue
        inside = _of_metrics(value, known)
        found, place = inside or found, end if inside else place + 1
    return found


def _of_metrics(value: object, known: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for key, inner in value.items() if isinstance(value, dict) else ():
        name = known.get(_plain(key))
        if name is not None and (text := _as_text(inner)) is not None:
            found[name] = text
    return found


def _as_text(value: object) -> str | None:
    if isinstance(value, dict):
        plain = {_plain(key): inner for key, inner in value.items()}
        value = next((plain[key] for key in _INNER if key in plain), None)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if isinstance(value, int | float | str) else None


def _plain(key: str) -> str:
    return re.sub(r"[\s_-]+", "", key.lower())


_BYTES = str.maketrans({"\u2581": " ", "\u0120": " ", "\u010a": "\n"})
"""Spaces and line ends as raw vocabularies write them."""
_SCORE_LABEL = re.compile(
    r"(?:rating|score|grade|answer|verdict|boxed|评分|得分|分数|答案)[^\n\d]{0,60}$", re.I
)
_GOES_ON = re.compile(r"[A-Za-z0-9十百]|[.,](?!0+(?!\d))\d")
"""What makes a number another one, or a part of a word."""


IMPOSSIBLE = "impossible log-probabilities"
"""How the reason begins why an answer has no score though it reads well."""
_ROUNDING = 0.05
"""Tolerance by which a probability, or a sum of them, may exceed 1."""
TOP_LOGPROBS = 20
"""Alternatives of each token that are asked for, the most that servers give."""


def score_tokens(scale: Scale, form: AnswerForm) -> dict[str, float]:
    """The texts, as `normal` leaves them, that a score may have as one token, each with its score.

    Never called for the form `mix`. Raises `InputError` where a score needs more than one token: allowed are
    whole numbers within 0 to 9, and 26 letters.
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


def normal(token: str) -> str:
    """A token without what does not change its meaning as a score: spaces, marks, case, width.

    `" 4"`, `"4"`, `"**4"`, `"４"` and `"Ġ4"` are all `"4"`.
    """
    plain = unicodedata.normalize("NFKC", token)
    return plain.strip(" \t\r\n\u2581\u0120\u010a*_#`\"'()[]:.,;").casefold()


def expected_score(
    positions: Sequence[Position], scale: Scale, form: AnswerForm, *, cut_off: bool = False
) -> Extracted:
    """The mean of the scores, weighed by their probabilities where the model's own answer gives its score.

    That is the first position at which the token of the answer is the score that `read_rating` reads from the
    whole answer. Where the answer was to be the score alone, no position counts but the first, after spaces,
    marks and reasoning. An answer of another form gives no score, however likely numbers were. The mean is
    renormalised over the scale; the probability that fell elsewhere is `missing_mass`. Never called for the
    form `mix`; errors as of `score_tokens`.
    """
    tokens = score_tokens(scale, form)
    pieces = [p.chosen.translate(_BYTES) for p in positions]
    read = read_rating("".join(pieces), scale, form, cut_off=cut_off)
    if form in ONE_TOKEN:
        index = _first(pieces)
        alone = index is not None and _is_alone(pieces, index)
        if not alone and read.status != "refused":
            return UNPARSED
    else:
        index = _stated(pieces, scale, form, read.score)
    if read.score is None:
        return read
    if index is None or tokens.get(normal(pieces[index])) != read.score:
        return UNPARSED
    if fault := impossible(positions[index]):
        return Extracted("unparsed", rule=fault)
    return _mean(positions[index], tokens, scale, form)


def impossible(position: Position) -> str | None:
    """Why these are no log-probabilities of a token and its alternatives; None where they may be."""
    logprobs = [logprob for _, logprob in position.alternatives]
    for logprob in logprobs:
        if not logprob <= math.log1p(_ROUNDING):  # neither is NaN
            return f"{IMPOSSIBLE}: {logprob:g} is none"
    if (total := math.fsum(map(math.exp, logprobs))) > 1 + _ROUNDING:
        return f"{IMPOSSIBLE}: the probabilities add up to {total:.3g}"
    if normal(position.chosen) not in {normal(token) for token, _ in position.alternatives}:
        return f"{IMPOSSIBLE}: the chosen token is not among the alternatives"
    return None


def letter_masses(positions: Sequence[Position], count: int) -> list[float] | str | None:
    """The probabilities of the first `count` letters (A, B, ...) where an answer that is one letter gives it.

    They are not renormalised and have a positive sum. None where the answer is not one of the letters, and
    the reason where it is one and has no probabilities (see `impossible`).
    """
    tokens = score_tokens(Scale(min=0, max=count - 1), "letters")
    pieces = [p.chosen.translate(_BYTES) for p in positions]
    index = _first(pieces)
    if index is None or not _is_alone(pieces, index) or normal(pieces[index]) not in tokens:
        return None
    if fault := impossible(positions[index]):
        return fault
    masses = _masses(positions[index], tokens, letters=True)
    found = [masses[float(letter)] for letter in range(count)]
    return found if sum(found) > 0 else None


def _masses(position: Position, tokens: dict[str, float], *, letters: bool) -> dict[float, float]:
    """Score -> the probability of its tokens at one place."""
    masses: dict[float, float] = dict.fromkeys(tokens.values(), 0.0)
    for token, logprob in position.alternatives:
        score = tokens.get(normal(token))
        article = letters and token.translate(_BYTES).strip() in ("a", "i")
        if score is not None and not article:
            masses[score] += math.exp(min(logprob, 0.0))
    return masses


def _mean(position: Position, tokens: dict[str, float], scale: Scale, form: AnswerForm) -> Extracted:
    masses = _masses(position, tokens, letters=form == "letters")
    total = math.fsum(masses.values())
    if total <= 0:
        return UNPARSED
    mean = math.fsum(mass * score for score, mass in masses.items()) / total
    return Extracted(
        "scored", min(max(mean, scale.min), scale.max), "prob", missing_mass=min(max(1 - total, 0.0), 1.0)
    )


def _first(pieces: Sequence[str]) -> int | None:
    """The first token of the answer that is no space or mark, behind the model's reasoning."""
    text = "".join(pieces)
    answer = (without_reasoning(text) or "").lstrip()
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
    indices: dict[bool, list[int]] = {True: [], False: []}
    for index, (piece, end) in enumerate(zip(pieces, accumulate(map(len, pieces)), strict=True)):
        inside = any(start < end <= stop for start, stop in mentions)
        if tokens.get(normal(piece)) == score and not inside and not _goes_on(pieces, index):
            start = end - len(piece)
            indices[_SCORE_LABEL.search(text, max(0, start - 80), start) is not None].append(index)
    found = indices[True] or indices[False]
    return found[-1 if form == "analyze-rate" else 0] if found else None
