"""Faults of form: what is written against the rules of spaces, marks and capitals."""

import functools
import re

_DOUBLED_SPACE = re.compile(r"\S  +\S")
_SPACE_BEFORE_MARK = re.compile(r"(?<=\w) [,.;:!?)]")
_NO_SPACE_AFTER_MARK = re.compile(r"(?<=[^\W\d_])[,;:!?](?=[^\W\d_])")
_RUN = re.compile(r"\w+")
_IN_A_RUN = tuple(
    re.compile(pattern)
    for pattern in (
        r"([^\W\d_])\1\1",  # a letter three times
        r"\b\d+[^\W\d_]{3,}|\b[^\W\d_]{2,}\d+[^\W\d_]",  # digits inside a word
        r"\b[a-z][A-Z]",  # a capital second
    )
)


def faults_of_form(text: str) -> list[frozenset[str]]:
    """For each kind of fault the pieces of a text that have it."""
    runs = [_in_run(run) for run in set(_RUN.findall(text))]
    return [
        frozenset(_DOUBLED_SPACE.findall(text) if "  " in text else ()),
        _with_one_before(_SPACE_BEFORE_MARK, text),
        _with_one_before(_NO_SPACE_AFTER_MARK, text),
        *(frozenset().union(*(faults[rule] for faults in runs)) for rule in range(len(_IN_A_RUN))),
    ]


def _with_one_before(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    """The matches with the character before them: a search for rare marks is faster than one for letters."""
    return frozenset(text[match.start() - 1 : match.end()] for match in pattern.finditer(text))


@functools.lru_cache(maxsize=65536)
def _in_run(run: str) -> tuple[tuple[str, ...], ...]:
    """The faults inside letters, digits and `_` without a gap, which no match of these rules goes beyond."""
    return tuple(tuple(match.group() for match in rule.finditer(run)) for rule in _IN_A_RUN)
