"""Files of results of batches.

A file is read once for an index: where the line of each request stands, and which of several counts. The line
itself is read again when its request asks for it, so that memory holds no answers. Lines that belong to no
request, and answers of another model, are counted and told at the end.
"""

import codecs
import glob
import json
import logging
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dhp.core.errors import InputError
from dhp.core.files import parse_json, reason
from dhp.llm.api import Garbled
from dhp.llm.clients.responses import (
    Problem,
    completion_replies,
    holds_answer,
    overlong,
    parameter_advice,
    problem_inside,
    read_problem,
    shortened,
)
from dhp.llm.records import Failure, Reply
from dhp.llm.store import Store

_LONGEST_KIND = 80
"""Characters of a server's message that tell one kind of error from another. Chosen: about a line."""

_SHOWN_KINDS = 3
"""Kinds of errors that a note names. Chosen."""

_ALLOWED = "allowed: files with the results of batches, one JSON object per line"
_VERSION = re.compile(r"[-@:_]v?\d{1,8}([-._]\d{1,4})*")
"""What providers add to the name of a model, a date or a number: `-2024-07-18`, `-0125`, `:1.5`."""


@dataclass(frozen=True, slots=True)
class ResultLine:
    """The result of one request of a batch."""

    custom_id: str
    body: Mapping[str, Any] | None
    """A chat completion; None if there is a problem."""
    problem: Problem | None
    """Status 0 if the batch ended before the request was answered."""

    @property
    def kind(self) -> str:
        """The problem in a few words, which are the same for all problems of its kind."""
        assert self.problem is not None
        if self.problem.status == 0:
            return self.problem.code or "no answer"
        return shortened(self.problem.reason, _LONGEST_KIND)


def read_result_line(place: str, raw: bytes) -> ResultLine:
    """A line of an output file or an error file; raises `InputError` with the place if it is not one."""
    try:
        data = parse_json(place, raw.removeprefix(codecs.BOM_UTF8).decode())
    except UnicodeDecodeError:
        raise InputError(f"{place}: not UTF-8 text; {_ALLOWED}, in UTF-8") from None
    except InputError as e:
        raise InputError(f"{e}; {_ALLOWED}") from None
    fits = isinstance(data, dict) and isinstance(data.get("custom_id"), str)
    if fits and "body" in data and "url" in data:
        raise InputError(
            f"{place}: is a request; must be the results that came back, custom_id with response"
        )
    if not fits or not ("response" in data or "error" in data):
        raise InputError(f"{place}: is not a result of a batch; must have custom_id, with response or error")
    custom_id = data["custom_id"]
    status = body = None
    response = data.get("response")
    if isinstance(response, dict):  # null for a request that was not reached
        status, body = response.get("status_code"), response.get("body")

    if status == 200 and isinstance(body, dict) and not data.get("error"):
        if holds_answer(body):
            return ResultLine(custom_id, body, None)
        # Some servers report an error inside a body of status 200.
        inside = problem_inside(json.dumps(body).encode())
        unread = Problem(0, "", "without an answer that can be read", "")
        return ResultLine(custom_id, None, inside or unread)

    error = data.get("error") or body or {}
    if not (isinstance(error, dict) and "error" in error):  # vLLM writes the inner object alone
        error = {"error": error}
    if not isinstance(status, int) or status == 200:  # an error beside a good status is the batch's own
        status = 0
    return ResultLine(custom_id, None, read_problem(status, json.dumps(error).encode()))


@dataclass(frozen=True, slots=True)
class _ResultPlace:
    """Where a result stands in its file, and how it ranks among results of the same request."""

    path: Path
    line: int
    offset: int
    weight: int
    """See `_weight`."""


class BatchResults:
    """The results of one or more files, found by the custom_id of their request.

    If a request was answered twice, the first answer counts; an answer counts before an error, and a
    permanent refusal before a temporary error. `from_user` says whether the user gave them for this run;
    what belongs to no request of it is worth a word only then. Raises `InputError` if a file is missing
    or unreadable, or a line is not a result.
    """

    def __init__(self, paths: Sequence[Path], *, from_user: bool = True) -> None:
        self._from_user = from_user
        self.names = ", ".join(map(str, paths))
        self._lines: dict[str, _ResultPlace] = {}
        self._claimed: set[str] = set()
        self._others: Counter[str] = Counter()
        self._taken = 0
        for path in paths:
            self._index(path)

    def __len__(self) -> int:
        return len(self._lines)

    def __contains__(self, custom_id: str) -> bool:
        return custom_id in self._lines

    def read(self, custom_id: str, body: Mapping[str, object]) -> list[Reply] | Failure | None:
        """The replies of a request, why it will never have one, or None if it should be asked again.

        Raises `InputError` if the server refuses a parameter of the request, and so of all.
        """
        self._claimed.add(custom_id)
        line = self._lines[custom_id]
        result = self._result(line)
        if result.problem is not None:
            return self._failure(line, result.problem, body)
        assert result.body is not None
        answered_by = str(result.body.get("model") or "")
        if self._from_user and answered_by and not same_model(answered_by, str(body["model"])):
            self._others[answered_by] += 1
            return None
        self._taken += 1
        try:
            replies = completion_replies(result.body)
        except Garbled:
            return None
        why = overlong(replies, body)
        return Failure(why) if why else replies

    def note_others(self) -> None:
        """Log which answers are of another model."""
        for model, count in self._others.items():
            message = "%s: %s results are of another model, '%s'; left out"
            logging.getLogger("dhp").warning(message, self.names, count, model)

    def note_unused(self, store: Store) -> None:
        """Log how many results belong to no request; those whose replies are stored do."""
        unused = []
        for name, line in self._lines.items():
            if not self._is_used(name, store):
                unused.append(line)
        if unused:
            logging.getLogger("dhp").warning(
                "%s: %s of %s results belong to no request of this run (first: %s line %s); left out",
                self.names,
                f"{len(unused):,}",
                f"{len(self):,}",
                unused[0].path,
                unused[0].line,
            )

    def check_used(self, store: Store) -> None:
        """Raise `InputError` if no result belongs to a request, or all are of another model."""
        if self._others and not self._taken:
            quoted = [f"'{name}'" for name in self._others]
            models = ", ".join(quoted)
            raise InputError(
                f"{self.names}: all {self._others.total():,} answers are of another model, {models}; nothing "
                "was asked or written; must be results of the model that the requests name"
            )
        if self._lines and not any(self._is_used(name, store) for name in self._lines):
            raise InputError(
                f"{self.names}: none of {len(self):,} results belongs to a request of this run; nothing was "
                "asked or written; must be results of the same models, address, protocol and texts"
            )

    def _is_used(self, custom_id: str, store: Store) -> bool:
        """Whether a request took it, now or before."""
        if custom_id in self._claimed:
            return True
        try:
            return bool(store.find({0: bytes.fromhex(custom_id)}))
        except ValueError:  # a name that is none of ours is no hexadecimal key
            return False

    def _index(self, path: Path) -> None:
        """Note where the result of each request stands in a file, and say which errors are in it."""
        kinds: Counter[str] = Counter()
        answered = twice = offset = 0
        try:
            with path.open("rb") as lines:
                for number, raw in enumerate(lines, 1):
                    start = offset
                    offset += len(raw)
                    result = self._line(path, number, raw)
                    if result is None:
                        continue
                    if result.problem is None:
                        answered += 1
                    else:
                        kinds[result.kind] += 1

                    weight = _weight(result.problem)
                    before = self._lines.get(result.custom_id)
                    if before is not None and before.weight == weight == _ANSWERED:
                        twice += 1
                    if before is None or weight > before.weight:
                        self._lines[result.custom_id] = _ResultPlace(path, number, start, weight)
        except IsADirectoryError:
            raise InputError(f"{path}: is a folder; {_ALLOWED}, e.g. '{path}/*.jsonl'") from None
        except OSError as e:
            raise InputError(f"{path}: cannot be read ({reason(e)}); {_ALLOWED}") from None
        if self._from_user:
            if not answered and not kinds:
                raise InputError(f"{path}: holds no results; {_ALLOWED}")
            _say(path, answered, kinds, twice)

    def _line(self, path: Path, number: int, raw: bytes) -> ResultLine | None:
        """A result; None for an empty line, and for a last one that was broken off."""
        if not raw.strip():
            return None
        try:
            return read_result_line(f"{path}: line {number}", raw)
        except InputError:
            if raw.endswith((b"\n", b"]")):  # a file of another form is no download cut off
                raise
            logging.getLogger("dhp").warning("%s: line %s is broken off; left out", path, number)
            return None

    def _failure(self, line: _ResultPlace, problem: Problem, body: Mapping[str, object]) -> Failure | None:
        parameter = problem.parameter(body)
        if parameter:
            raise InputError(
                f"{line.path}: line {line.line}: the server refuses the parameter '{parameter}': "
                f"{parameter_advice(parameter)} ({problem.reason})"
            )
        if _may_pass(problem):
            return None
        return Failure(problem.failure("the model"))

    def _result(self, line: _ResultPlace) -> ResultLine:
        with line.path.open("rb") as file:
            file.seek(line.offset)
            return read_result_line(f"{line.path}: line {line.line}", file.readline())


_ANSWERED, _REFUSED, _TEMPORARY = 2, 1, 0
"""Priorities of results: of several results of one request that with the highest counts."""


def _weight(problem: Problem | None) -> int:
    if problem is None:
        return _ANSWERED
    return _TEMPORARY if _may_pass(problem) else _REFUSED


def _may_pass(problem: Problem) -> bool:
    """Whether the same request may be answered another time."""
    if problem.status == 0:  # the batch ended before the request was reached
        return True
    return problem.transient or problem.wrong_key or problem.no_model or problem.shortage is not None


def result_files(patterns: Sequence[str | Path]) -> list[Path]:
    """The files that are given or that fit a pattern, each once.

    Raises `InputError` for a pattern that fits none.
    """
    files: dict[Path, Path] = {}
    for each in patterns:
        paths = [Path(each)]
        if glob.has_magic(str(each)) and not paths[0].exists():
            fitting = sorted(glob.glob(str(each)))  # noqa: PTH207  Path.glob takes no absolute pattern
            paths = [Path(path) for path in fitting]
            if not paths:
                raise InputError(f"`batch_read` '{each}': no file fits this pattern; {_ALLOWED}")
        for path in paths:
            files.setdefault(path.absolute(), path)
    return list(files.values())


def same_model(answered_by: str, asked: str) -> bool:
    """Whether two names may mean one model: servers add a date, or leave out whose it is."""
    short, long = sorted((_bare_name(answered_by), _bare_name(asked)), key=len)
    if not long.startswith(short):
        return False
    added = long.removeprefix(short)
    return not added or _VERSION.fullmatch(added) is not None


def _bare_name(model: str) -> str:
    """A model's name without whose it is: "mistral-large" for "mistralai/Mistral-Large-latest"."""
    return re.sub("[-:]latest$", "", model.rpartition("/")[2].lower())


def _say(path: Path, answered: int, kinds: Counter[str], duplicates: int) -> None:
    """Log what a file holds, if there is anything beside answers."""
    parts = [f"{answered:,} answers"]
    if kinds:
        shown = [f"{count:,} {kind}" for kind, count in kinds.most_common(_SHOWN_KINDS)]
        if len(kinds) > _SHOWN_KINDS:
            shown.append("and others")
        parts.append(f"{kinds.total():,} errors ({', '.join(shown)})")
    if duplicates:
        parts.append(f"{duplicates:,} lines twice, of which the first counts")
    if kinds or duplicates:
        logging.getLogger("dhp").warning("%s: %s", path, ", ".join(parts))
