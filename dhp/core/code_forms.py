"""Forms of code and data in which single lines could be prose: they are told by all lines of a block."""

import re
from collections.abc import Callable, Sequence

_SENTENCE_END = re.compile(r"[^\W\d_][.!?][\"'”’)]*$")
"""A word and a full stop: no line of these forms ends so."""


def has_form(lines: Sequence[str]) -> bool:
    """Whether lines that follow one another are a table of values, YAML, SQL, shell or LaTeX as a whole."""
    return any(is_form(lines) for is_form in _FORMS)


_LEAST_ROWS = 3
_SEPARATORS = {",": 2, ";": 1, "\t": 1}
"""Separator of a table -> how many of them each line needs."""
_CELL = re.compile(r"\"[^\"]*\"")


def _is_table(lines: Sequence[str]) -> bool:
    """Lines of as many values each; in prose a space follows a comma."""
    if len(lines) < min(_LEAST_ROWS, 2 if "\t" in lines[0] else _LEAST_ROWS):
        return False
    plain = [_CELL.sub("x", line.strip()) for line in lines]
    for separator, least in _SEPARATORS.items():
        counts = {line.count(separator) for line in plain}
        if len(counts) == 1 and counts.pop() >= least:
            return not any(f"{separator} " in line or _SENTENCE_END.search(line) for line in plain)
    return False


_KEY = re.compile(r"\s*(?:- )?[a-z_][\w.-]*:(?:\s+\S.*)?")
_VALUE = re.compile(r"\s*(?:- \S.*|#.*|---)")


def _is_yaml(lines: Sequence[str]) -> bool:
    """Keys in small letters, most of them, and the items of lists."""
    keys = [line for line in lines if _KEY.fullmatch(line)]
    if len(keys) < _LEAST_ROWS or 2 * len(keys) < len(lines):
        return False
    return all(_KEY.fullmatch(line) or _VALUE.fullmatch(line) for line in lines) and not any(
        _SENTENCE_END.search(line) for line in lines
    )


_QUERY = re.compile(r"\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|ALTER TABLE|DROP|WITH)\b", re.I)
_OF_QUERY = re.compile(
    r"\s+\S.*|[()].*|--.*|(?:SELECT|FROM|WHERE|AND|OR|ON|(?:LEFT|RIGHT|INNER|OUTER|FULL|CROSS)\b.*JOIN|JOIN"
    r"|GROUP BY|ORDER BY|HAVING|LIMIT|OFFSET|UNION|VALUES|SET|RETURNING|INSERT INTO|UPDATE|DELETE FROM|CREATE"
    r"|ALTER|DROP|WITH|CASE|WHEN|END)\b.*",
    re.I,
)
_SOURCE = re.compile(r"\s*(?:FROM|SET|VALUES|CREATE)\b|\bFROM\s+\w+[\s;]*$", re.I)


def _is_query(lines: Sequence[str]) -> bool:
    """A query in SQL over several lines."""
    if len(lines) == 1 or not _QUERY.match(lines[0]) or not all(_OF_QUERY.fullmatch(line) for line in lines):
        return False
    text = "\n".join(lines)
    return any(map(_SOURCE.search, lines)) and re.search(r"[=*;()<>]", text) is not None


_COMMAND = re.compile(
    r"\s*(?:\$ |sudo )?(?:cd|ls|mkdir|rm|rmdir|cp|mv|ln|cat|echo|printf|grep|sed|awk|find|git|npm|npx|yarn"
    r"|pnpm|pip3?|python3?|apt(?:-get)?|yum|dnf|docker(?:-compose)?|kubectl|helm|curl|wget|make|cmake|chmod|chown"
    r"|export|source|ssh|scp|rsync|tar|gzip|unzip|brew|systemctl|service|touch|set|for|if|then|else|elif|fi|do|done|case"
    r"|esac|while|local|return|exit|read|shift|test|conda|cargo|go|node|poetry|uv|\[{1,2}|[A-Z_]+=\S*"
    r"|FROM|RUN|CMD|COPY|WORKDIR|ENV|EXPOSE|ENTRYPOINT|ARG|ADD|USER|VOLUME)(?![\w-]).*"
    r"|\s*(?:#.*|\w+\(\)\s*\{|[})]|;;)\s*"
)
_OF_COMMAND = re.compile(r" --?\w|\$|[|&;\"'=~/\[\]]| \.{1,2}$| \*|\w\.\w|^\s*(?:then|else|fi|do|done|esac)$")


def _is_shell(lines: Sequence[str]) -> bool:
    """Commands of a shell, or of a file from which an image of a container is made."""
    if lines[0].startswith("#!"):
        return True
    commands = all(_COMMAND.fullmatch(line) and not _SENTENCE_END.search(line) for line in lines)
    return commands and len(lines) > 1 and 2 * sum(map(bool, map(_OF_COMMAND.search, lines))) >= len(lines)


_LATEX = re.compile(
    r"\s*(?:\\(?:documentclass|usepackage|(?:sub)*section|begin|end|item|title|author|maketitle|\[|\])|\$\$).*"
)


def _is_latex(lines: Sequence[str]) -> bool:
    """What begins and ends with a command of LaTeX."""
    return len(lines) > 1 and all(_LATEX.fullmatch(line) for line in (lines[0], lines[-1]))


_FORMS: tuple[Callable[[Sequence[str]], bool], ...] = (_is_table, _is_yaml, _is_query, _is_shell, _is_latex)
