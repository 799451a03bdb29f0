"""Reading a judge's answer: a score on its own scale, or the reason why there is none."""

from dhp.judge.extraction.parse import parse
from dhp.judge.extraction.prob import expected_score, score_tokens
from dhp.judge.extraction.records import Extracted

__all__ = ["Extracted", "expected_score", "parse", "score_tokens"]
