"""Yes and No as ratings, where the question defines their scores."""

import functools
import re
from dataclasses import dataclass

from dhp.core.specs import Metric, Scale

_YES, _NO = r"(?:yes|是)", r"(?:no|否|不是)"


@dataclass(frozen=True, slots=True)
class YesNo:
    """The scores that Yes and No stand for, the ends of the scale."""

    yes: float
    no: float


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
def defined_in(question: str, scale: Scale) -> YesNo | None:
    """What Yes and No stand for in a question that defines both as the two ends of the scale."""
    for yes, no in ((scale.max, scale.min), (scale.min, scale.max)):
        if _defined(_YES, yes, question) and _defined(_NO, no, question):
            return YesNo(yes, no)
    return None


def yes_no_of(metric: Metric, scale: Scale) -> YesNo | None:
    """What Yes and No stand for in the question and the definition of a metric, e.g. `1 (no) to 3 (yes)`."""
    return defined_in(f"{metric.question}\n{metric.definition}", scale)


def read_yes_no(answer: str, meant: YesNo) -> float | None:
    """The score of an answer that is, or opens with, Yes or No; None for any other."""
    match = re.match(
        rf"\s*[\"'(\[]?(?:({_YES})|{_NO})[\"')\]]?(?:\s*[.!。！]?\s*\Z|[.,:;!。，：；！](?=\s))", answer, re.I
    )
    return None if match is None else meant.yes if match[1] else meant.no
