"""Pairs and brains for tests of pairwise judges; the brains also answer behind the stub server."""

import re

from dhp.core.records import Candidate
from dhp.judge.pairs import Pair


def pair(example: str, first: str, second: str, names: tuple[str, str] = ("one", "two")) -> Pair:
    """Two answers to one question."""
    question = f"Question {example}?"
    return Pair(*(Candidate(example, n, t, question) for n, t in zip(names, (first, second), strict=True)))


def shown(prompt: str) -> tuple[str, str]:
    """The two texts in the order in which a prompt shows them."""
    first, second = (re.search(rf"<answer-{x}>\n(.*?)\n</answer-{x}>", prompt, re.S) for x in "ab")
    assert first
    assert second
    return first[1], second[1]


def longer(prompt: str) -> str:
    """Prefers the longer text; says it in the form that is asked for."""
    first, second = (len(text) for text in shown(prompt))
    if "two scores" in prompt:
        return f"{min(10, first)} {min(10, second)}\nThe longer one says more."
    letter = "A" if first > second else "B" if second > first else "tie"
    return f"Verdict: {letter}" if "Verdict:" in prompt else letter.replace("tie", "C")


def always_first(prompt: str) -> str:
    """Prefers the text shown first."""
    if "two scores" in prompt:
        return "9 3\nThe first one is better."
    return "Verdict: A" if "Verdict:" in prompt else "A"


def silent(prompt: str) -> str:
    """Gives no verdict."""
    return "Both are fine."
