"""Yes or No as a rating: the question says which end of the scale each stands for."""

import functools
import re

from dhp.core.specs import Scale

_YES = r"(?:yes|是)"
_NO = r"(?:no|否|不是)"
_YES_OR_NO = re.compile(
    rf"\s*[\"'(\[]?(?:(?P<yes>{_YES})|{_NO})[\"')\]]?(?:\s*[.!。！]?\s*\Z|[.,:;!。，：；！](?=\s))", re.I
)
"""`Yes`, `"No."`, and `No, the order is lost`, but not `No doubt`."""


def _defined(word: str, score: float, question: str) -> bool:
    """Whether the question says that the word stands for the score: `1 (no)`, `No = 1`, `1 means no`."""
    number = rf"(?<![\d.]){re.escape(f'{score:g}')}(?!\d|\.\d)(?: ?(?:points?|stars?|分))?"
    link = r" ?(?:[(=:-]|means?|is|for|as|stands for|表示|代表|为|即|（|：)? ?[\"'“]?"
    term = rf"(?<![a-z]){word}(?![a-z])"
    defined = rf"{number}{link}{term}|{term}[\"'”]?{link}{number}"
    return re.search(defined, question, re.I) is not None


@functools.lru_cache(maxsize=256)
def yes_and_no(question: str, scale: Scale) -> tuple[float, float] | None:
    """The scores of Yes and No in a question that defines both as the two ends of the scale."""
    # Of a question about a fault, `Is anything missing?`, Yes is the worse end.
    for yes, no in ((scale.max, scale.min), (scale.min, scale.max)):
        if _defined(_YES, yes, question) and _defined(_NO, no, question):
            return yes, no
    return None


def read_yes_no(answer: str, asked: str, scale: Scale) -> float | None:
    """The score of an answer that is, or opens with, Yes or No, if the question says what they stand for."""
    match = _YES_OR_NO.match(answer)
    scores = yes_and_no(asked, scale) if match else None
    if match is None or scores is None:
        return None
    of_yes, of_no = scores
    return of_yes if match["yes"] else of_no
