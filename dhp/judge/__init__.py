"""Judges: what scores a text on the metrics of its task."""

from dhp.judge.api import Candidate, Judge
from dhp.judge.find import find_judge

__all__ = ["Candidate", "Judge", "find_judge"]
