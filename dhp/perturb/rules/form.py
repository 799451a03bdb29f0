"""A perturber of form: a text that breaks off, or data that no longer parses."""

import json
import re
from random import Random

from dhp.core.checks import check_number
from dhp.core.errors import NotApplicable
from dhp.core.sentences import sentence_spans
from dhp.core.words import word_spans
from dhp.perturb.api import perturber

# "```json\n{...}\n```"
_FENCED_JSON = re.compile(r"```json\s*\n(.*?)\n\s*```", re.S | re.I)
# "| a | b |"
_TABLE_ROW = re.compile(r"(?m)^[ \t]*\|[^\n]*\|[ \t]*$")
_ENDS = re.compile(r"[}\],]")
"""A mark of JSON without which it may not parse."""
_LEAST_WORDS = 4
"""Words of a sentence that can break off: chosen."""
_TRIES = 20
"""Marks that are tried before it is said that none breaks the data: chosen."""


@perturber(
    name="broken_form", level="sentence", degrees={"minor": {"missing": 0.1}, "major": {"missing": 0.5}}
)
def broken_form(text: str, rng: Random, *, language: str | None = None, missing: float) -> str:
    """The text breaks off in the middle of a sentence, where about the part `missing` of it is left.

    JSON and tables lose a mark instead, so that they no longer parse. A text of one short sentence stays.
    """
    check_number("missing", missing, gt=0, le=0.9)
    data = _FENCED_JSON.search(text)
    span = data.span(1) if data else (0, len(text))
    if _is_json(text[slice(*span)]):
        return _without_mark(text, *span, rng)
    rows = list(_TABLE_ROW.finditer(text))
    if len(rows) > 1:
        # Any row but the first one, which is the head of the table.
        row = rows[-1 - int(rng.random() * (len(rows) - 1))]
        last = row.start() + row.group().rfind("|")
        return text[:last] + text[last + 1 :]
    return _cut_off(text, language, missing)


def _is_json(text: str) -> bool:
    """Whether a text is a list or an object in JSON."""
    if text.strip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _without_mark(text: str, start: int, end: int, rng: Random) -> str:
    """The text without a comma or a closing bracket of the JSON in it."""
    marks = [match.start() for match in _ENDS.finditer(text, start, end)]
    for _ in range(_TRIES):
        place = marks[int(rng.random() * len(marks))]
        broken = text[:place] + text[place + 1 :]
        if not _is_json(broken[start : end - 1]):  # a comma within a text breaks nothing
            return broken
    raise NotApplicable("no mark without which the data would not parse")


def _cut_off(text: str, language: str | None, missing: float) -> str:
    """The text up to the middle of the sentence in which the missing part begins, or of one before it."""
    at = len(text) * (1 - missing)
    begun = [(start, end) for start, end in sentence_spans(text, language) if start < at]
    for start, end in reversed(begun):
        words = word_spans(text[start:end], language)
        if len(words) >= _LEAST_WORDS:
            return text[: start + words[len(words) // 2 - 1][1]]
    raise NotApplicable("no sentence that is long enough to break off")
