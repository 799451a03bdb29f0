"""Judges: what scores a text on the metrics of its task."""

from dhp.judge.api import Candidate, Judge
from dhp.judge.check import checked_ratings
from dhp.judge.find import find_judge

__all__ = ["Candidate", "Judge", "checked_ratings", "find_judge"]
