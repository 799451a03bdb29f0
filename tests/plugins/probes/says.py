"""Answers for the stub server: judges with planted faults, and a model that paraphrases."""

import re

from tests.perturb.follows import tagged, text_of


def paraphrasing(prompt: str) -> str:
    """The second half of each sentence before the first, where a paraphrase is asked for; else a score."""
    if "Adjustment: the same in other words" in prompt:
        return tagged(prompt, " ".join(map(_turned, re.split(r"(?<=[.!?]) ", text_of(prompt)))))
    return "Rating: 3"


def losing_numbers(prompt: str) -> str:
    """As `paraphrasing`, but without any digit."""
    return re.sub(r"\d", "", paraphrasing(prompt)) if "in other words" in prompt else "Rating: 3"


def fond_of_bullets(prompt: str) -> str:
    """5 for a list, else 3."""
    return "Rating: 5" if re.search(r"^- ", prompt, re.M) and prompt.count("\n- ") > 1 else "Rating: 3"


def _turned(sentence: str) -> str:
    words = sentence.rstrip(".!?").split()
    half = len(words) // 2
    return " ".join([*words[half:], *words[:half]]) + "."
