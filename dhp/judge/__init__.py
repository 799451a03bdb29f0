"""Judges: what scores a text on the metrics of its task."""

from dhp.judge.api import Candidate, Judge
from dhp.judge.check import checked_ratings
from dhp.judge.find import find_judge
from dhp.judge.llm import LlmJudge
from dhp.judge.prompt_files import read_prompt_files
from dhp.judge.questions import Asked, Questions

__all__ = [
    "Asked",
    "Candidate",
    "Judge",
    "LlmJudge",
    "Questions",
    "checked_ratings",
    "find_judge",
    "read_prompt_files",
]
