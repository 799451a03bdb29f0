"""What looks like a key is written as `***`, in settings and in what a server says of itself."""

import re
from collections.abc import Mapping

HIDDEN = "***"
_NAME = re.compile(
    r"(?:^|[-_. ])(?:(?:api|access|private|secret|auth|subscription)[-_]?key|key|secret|password|passwd|"
    r"credentials?|(?:[a-z]+[-_])?token|authorization|cookie)$",
    re.I,
)
"""A field that holds a secret by its name; `max_tokens` and the like do not end so."""
_VALUE = re.compile(
    r"\b(?:sk|pk|rk|key|token|hf|gsk|xai|ghp|gho|glpat|nvapi|pplx|r8|tgp)[-_][\w-]{8,}"
    r"|\bAIza[\w-]{8,}|\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]+)?"
    r"|(?<=bearer )\S+|(?<=basic )\S{8,}"
    r"|\b(?=[a-z]*\d)(?=\d*[a-z])[a-z\d]{24,}\b"
    r"|\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b",
    re.I,
)
"""A word that is a key by its form: the beginnings that providers use, or long and mixed."""


def masked_text(text: str) -> str:
    """The text with `***` in place of each word that looks like a key."""
    return _VALUE.sub(HIDDEN, text)


def masked(value: object, name: str = "") -> object:
    """A value as it is written: as JSON, each text that looks like a key, or whose field is one, hidden."""
    if isinstance(value, Mapping):
        return {key: masked(inner, str(key)) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [masked(inner, name) for inner in value]
    if not isinstance(value, str):
        return value
    return HIDDEN if _NAME.search(name) else masked_text(value)
