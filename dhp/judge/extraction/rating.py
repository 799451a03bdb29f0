"""A rating read from an answer's words."""

import functools
import re

from dhp.core.protocol_spec import AnswerForm
from dhp.core.refusals import holds_refusal
from dhp.core.specs import Scale
from dhp.core.text import without_reasoning
from dhp.judge.extraction.letters import letter_matches, letter_value
from dhp.judge.extraction.mentions import without_mentions
from dhp.judge.extraction.numbers import clean, shortened, value_on, with_tokens
from dhp.judge.extraction.records import UNPARSED, Candidate, Extracted, chosen
from dhp.judge.extraction.rules import LABELLED, LOOSE, rating_matches
from dhp.judge.extraction.yes_no import YesNo, read_yes_no

_OTHER_SCALE = re.compile(r"\bscale (?:of|from) ⟦\?⟧", re.I)
ONE_TOKEN: tuple[AnswerForm, ...] = ("score-only", "da", "stars", "letters")
"""Forms whose whole answer is the score."""


def read_rating(
    text: str, scale: Scale, form: AnswerForm, *, cut_off: bool = False, yes_no: YesNo | None = None
) -> Extracted:
    """The rating in an answer; of several equally explicit ones the first, in `analyze-rate` the last.

    Never raises, and never turns a failure into a score.

    Parameters
    ----------
    text
        The answer as the model gave it. Of more than 40,000 characters the middle is not looked at.
    scale
        The answer's own scale; in `letters` its lowest point is A.
    form
        How the answer was asked for; never `mix`.
    cut_off
        Whether the answer ended at the token limit: a number that may go on, or that comes before the rating
        asked for, is none.
    yes_no
        The scores that the question gives to Yes and No, if it does.

    Returns
    -------
    The score on `scale`, or the status that says why there is none.
    """
    return (_read_short if len(text) <= 64 else _read)(text, scale, form, cut_off, yes_no)


def _read(text: str, scale: Scale, form: AnswerForm, cut_off: bool, yes_no: YesNo | None) -> Extracted:
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
    if found is None and yes_no is not None and (end := read_yes_no(words, yes_no)) is not None:
        return Extracted("scored", end, "yes-no")
    if found is None:
        return Extracted("refused", None, None) if holds_refusal(words) else UNPARSED
    if value is None or (cut_off and _may_go_on(found, words, form, _has_longer(value, scale))):
        return UNPARSED
    foreign = found.tier > LABELLED and "/" not in found.value and _OTHER_SCALE.search(words)
    if foreign or not scale.min <= value <= scale.max:
        return Extracted("out_of_scale", None, found.rule)
    return Extracted("scored", value, found.rule)


_read_short = functools.lru_cache(maxsize=512)(_read)
"""Bare scores come again and again."""


def _may_go_on(candidate: Candidate, words: str, form: AnswerForm, has_longer: bool) -> bool:
    """Whether the number that ends a cut off answer may begin a longer one, or a sentence."""
    if candidate.tier == LOOSE:
        return True
    one_token = form in ONE_TOKEN and candidate.rule in ("bare", "letter")  # asked for, and perhaps allowed
    alone = one_token and not (candidate.rule == "bare" and has_longer)
    return not alone and not words[candidate.start + len(candidate.value) :].strip("⟧ ")


def _has_longer(value: float, scale: Scale) -> bool:
    """Whether a whole number of the scale begins with the digits of `value`, as 85 with those of 8."""
    least = 10 * abs(value)
    low, high = (scale.min, scale.max) if value > 0 else (-scale.max, -scale.min)
    return value != 0 and value.is_integer() and least <= high and least + 9 >= low
