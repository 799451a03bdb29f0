"""A rating read from an answer's words."""

import functools
import re

from dhp.core.protocol_spec import AnswerForm
from dhp.core.refusals import holds_refusal
from dhp.core.specs import Scale
from dhp.core.text import without_reasoning
from dhp.judge.extraction.letters import letter_matches, letter_value
from dhp.judge.extraction.mentions import without_mentions
from dhp.judge.extraction.numbers import clean, value_on, with_tokens
from dhp.judge.extraction.records import UNPARSED, Extracted, chosen
from dhp.judge.extraction.rules import rating_matches

_OTHER_SCALE = re.compile(r"\bscale (?:of|from) ⟦\?⟧", re.I)


@functools.lru_cache(maxsize=512)  # bare scores come again and again
def read_rating(text: str, scale: Scale, form: AnswerForm) -> Extracted:
    """The rating in an answer; of several equally explicit ones the first, in `analyze-rate` the last.

    Never raises, and never turns a failure into a score.

    Parameters
    ----------
    text
        The answer as the model gave it.
    scale
        The answer's own scale; in `letters` its lowest point is A.
    form
        How the answer was asked for; never `mix`.

    Returns
    -------
    The score on `scale`, or the status that says why there is none.
    """
    words = without_reasoning(text)
    if words is None:
        return UNPARSED
    words = clean(words)
    if form == "letters":
        place = chosen(letter_matches(words, scale), form)
        value = None if place is None else letter_value(place.value, scale)
    else:
        words = without_mentions(with_tokens(words), scale)
        place = chosen(rating_matches(words, scale, form), form)
        value = None if place is None else value_on(place.value, scale.max)
    if place is None:
        return Extracted("refused", None, None) if holds_refusal(words) else UNPARSED
    if value is None:
        return UNPARSED
    foreign = place.tier > 0 and "/" not in place.value and _OTHER_SCALE.search(words)
    if foreign or not scale.min <= value <= scale.max:
        return Extracted("out_of_scale", None, place.rule)
    return Extracted("scored", value, place.rule)
