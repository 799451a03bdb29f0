"""Forms of code and data in which single lines could be prose: they are told by all lines of a block."""

import re
from collections.abc import Callable, Sequence

_SENTENCE_END = re.compile(r"[^\W\d_][.!?][\"'”’)]*$")
"""A word and a full stop: no line of these forms ends so."""


def has_form(lines: Sequence[str]) -> bool:
    """Whether lines that follow one another are data or code of one of these forms as a whole."""
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


_LOG = re.compile(
    r"\s*[\[(<]?(?:"
    r"\d{4}[-/.]?\d\d[-/.]?\d\d[T ,_-]*\d\d[:.]?\d\d|\d\d[/.-]\d\d[/.-]\d\d(?:\d\d)?[ ,]+\d\d:\d\d"
    r"|\d\d-\d\d \d\d:\d\d:\d\d"
    r"|(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
    r" +\d{1,2} \d\d:\d\d:\d\d"
    r"|\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b|\d{6} \d{6} |- \d{10} |\d{10,}[.:]|[\d.]{7,15} - \S+ \[|\d+\.\d{3,}\]"
    r"|(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|SEVERE)\b[\]:) |-]"
    r"|\d+ (?:verbose|silly|info|http|timing|notice|warn|error|logfile)\b|npm (?:ERR!|WARN|notice)|level=\w+"
    r").*"
)
"""A line of a log: a time or a level stands first."""
_TRACE = re.compile(
    r"\s*(?:at [\w$.<>/]+(?: \[as [^\]]+\])?\s?\(.*\)|at .+:\d+:\d+\)?|File \".+\", line \d+.*"
    r"|Traceback \(most recent call last\):"
    r"|Caused by: .*|\.\.\. \d+ more|Exception in thread .*|[\w.]+(?:Error|Exception|Warning)(?::.*)?"
    r"|#\d+\s+\S.*\bin\b.*"
    r"|goroutine \d+.*|thread '.*' panicked at.*|panic: .*)"
)
"""A line of a trace of calls."""


def _is_log(lines: Sequence[str]) -> bool:
    """Most lines begin with a time or a level, or belong to a trace of calls; the others hang on to them."""
    logged = [_LOG.fullmatch(line) is not None or _TRACE.fullmatch(line) is not None for line in lines]
    return sum(logged) > 1 and logged[0] and 2 * sum(logged) > len(lines)


_CHANGED = re.compile(r"(?:diff |index [0-9a-f]+\.\.|--- |\+\+\+ |@@ |[-+ ]|\\ No newline|\s*$).*")


def _is_diff(lines: Sequence[str]) -> bool:
    """Lines that go and come between two files, with the heading of one piece of them."""
    if not any(re.match(r"@@ -\d|diff -|--- \S+|\+\+\+ \S+", line) for line in lines):
        return False
    return sum(_CHANGED.fullmatch(line) is not None for line in lines) * 5 > 4 * len(lines)


_SECTION = re.compile(r"\s*\[{1,2}[\w.:\"' -]+\]{1,2}\s*(?:[#;].*)?")
_SETTING = re.compile(r"\s*[\w.\"'-]+\s*[=:].*|\s+\S.*|\s*[\]})]+,?|\s*[#;].*")


def _is_settings(lines: Sequence[str]) -> bool:
    """Sections in brackets with settings, as in TOML and INI."""
    if not any(map(_SECTION.fullmatch, lines)):
        return False
    rest = [line for line in lines if not _SECTION.fullmatch(line)]
    if not rest:
        return False
    return all(map(_SETTING.fullmatch, rest)) and any("=" in line for line in rest)


_RULE = re.compile(r"[\w.%$(){}/ -]+::?(?:\s+[\w.%$(){}/ -]+)?")


def _is_makefile(lines: Sequence[str]) -> bool:
    """A target with its commands behind tabs."""
    if not _RULE.fullmatch(lines[0]) or len(lines) < 2 or not lines[1].startswith("\t"):
        return False
    return all(line.startswith(("\t", "#")) or _RULE.fullmatch(line) for line in lines[1:])


_DEFINED = re.compile(
    r"\s*(?:CREATE|ALTER|DROP|COMMENT ON|GRANT|REVOKE|INSERT INTO|UPDATE|DELETE FROM|SELECT"
    r"|BEGIN|COMMIT|RETURNS|LANGUAGE)\b"
    r"(?: [A-Z]|.*[;(=]).*"
)


def _is_definition(lines: Sequence[str]) -> bool:
    """Statements of SQL, of which each ends with a semicolon; keywords are in capitals."""
    plain = [line for line in lines if not line.lstrip().startswith(("--", "\\"))]
    if not plain or not _DEFINED.fullmatch(plain[0]):
        return False
    return plain[-1].rstrip().endswith(";") and not any(map(_SENTENCE_END.search, plain))


_FORMS: tuple[Callable[[Sequence[str]], bool], ...] = (
    *(_is_table, _is_yaml, _is_query, _is_shell, _is_latex, _is_log, _is_diff, _is_settings, _is_makefile),
    _is_definition,
)
