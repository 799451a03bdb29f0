"""Reads result files of batches: output files and error files, in any order, whole or broken off."""

import json
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dhp.core.errors import InputError
from dhp.core.files import reason
from dhp.llm.batch.lines import ResultLine, read_result_line
from dhp.llm.clients.responses import Problem, Unreadable, read_replies
from dhp.llm.records import Failure, Reply

_SHOWN_KINDS = 3


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a result stands."""

    path: Path
    line: int
    offset: int
    good: bool


class BatchResults:
    """The results of one or more files, found by the custom_id of their request.

    Where a request was answered twice, the first answer counts; an answer counts before an error.

    Parameters
    ----------
    paths
        The files.
    own
        Whether they are of this run; else what belongs to no request of it is not worth a word.

    Raises
    ------
    InputError
        If one is missing or unreadable, or a line is no result.
    """

    def __init__(self, paths: Sequence[Path], *, own: bool = True) -> None:
        self._own = own
        self.names = ", ".join(map(str, paths))
        self._places: dict[str, _Place] = {}
        self._claimed: set[str] = set()
        self._others: Counter[str] = Counter()
        for path in paths:
            self._index(path)

    def __len__(self) -> int:
        return len(self._places)

    @property
    def claimed(self) -> int:
        """Results that a request of the run has asked for."""
        return len(self._claimed)

    def claim(self, custom_id: str) -> bool:
        """Whether there is a result of the request."""
        if custom_id not in self._places:
            return False
        self._claimed.add(custom_id)
        return True

    def read(self, custom_id: str, body: Mapping[str, object]) -> list[Reply] | Failure | None:
        """The replies of a request, why it will never have one, or None where it should be asked again.

        Parameters
        ----------
        custom_id
            Of a result that is there.
        body
            Of the request.

        Raises
        ------
        InputError
            If the server refuses a parameter of the request, and so of all.
        """
        result = self._result(self._places[custom_id])
        if result.problem is not None:
            return self._failure(result.problem, body)
        assert result.body is not None
        answered_by = str(result.body.get("model") or "")
        if self._own and answered_by and not same_model(answered_by, str(body["model"])):
            self._others[answered_by] += 1
            return None
        try:
            return read_replies(json.dumps(result.body).encode())
        except Unreadable:
            return None

    def report(self, *, whole: bool) -> None:
        """Log what was not taken; `whole` says that the run has come to all its requests."""
        logger = logging.getLogger("dhp")
        for model, count in self._others.items():
            logger.warning("%s: %s results are of another model, '%s'; left out", self.names, count, model)
        if (
            whole
            and self._own
            and (unknown := [p for name, p in self._places.items() if name not in self._claimed])
        ):
            first = f"first: {unknown[0].path} line {unknown[0].line}"
            logger.warning(
                "%s: %s of %s results belong to no request of this run (%s); left out",
                *(self.names, f"{len(unknown):,}", f"{len(self):,}", first),
            )

    def check_claimed(self) -> None:
        """Raise `InputError` where no result belongs to a request so far."""
        if self._own and self._places and not self._claimed:
            raise InputError(
                f"{self.names}: none of {len(self):,} results belongs to a request of this run, and nothing "
                "was asked; allowed: results of the same models, address, protocol and texts"
            )

    def _index(self, path: Path) -> None:
        kinds: Counter[str] = Counter()
        answered = twice = offset = 0
        try:
            with path.open("rb") as lines:
                for number, raw in enumerate(lines, 1):
                    start, offset = offset, offset + len(raw)
                    result = self._line(path, number, raw)
                    if result is None:
                        continue
                    good = result.problem is None
                    answered += good
                    kinds.update([] if good else [result.kind])
                    before = self._places.get(result.custom_id)
                    twice += before is not None and before.good and good
                    if before is None or (good and not before.good):
                        self._places[result.custom_id] = _Place(path, number, start, good)
        except OSError as e:
            raise InputError(f"{path}: cannot be read ({reason(e)})") from None
        if self._own:
            if not answered and not kinds:
                raise InputError(f"{path}: holds no results")
            _say(path, answered, kinds, twice)

    def _line(self, path: Path, number: int, raw: bytes) -> ResultLine | None:
        """A result; None for an empty line, and for a last one that was broken off."""
        if not raw.strip():
            return None
        try:
            return read_result_line(f"{path}: line {number}", raw)
        except InputError:
            if raw.endswith(b"\n"):
                raise
            logging.getLogger("dhp").warning("%s: line %s is broken off; left out", path, number)
            return None

    def _failure(self, problem: Problem, body: Mapping[str, object]) -> Failure | None:
        if parameter := problem.parameter(body):
            raise InputError(
                f"{self.names}: the server refuses the parameter '{parameter}' ({problem.reason})"
            )
        passing = problem.status == 0 or problem.transient or problem.wrong_key or problem.no_model
        if passing or problem.out_of_money:
            return None
        if problem.too_long:
            return Failure(f"the prompt is too long for the model ({problem.reason}); nothing was cut off")
        return Failure(f"content filter: {problem.reason}" if problem.moderated else problem.reason)

    def _result(self, place: _Place) -> ResultLine:
        with place.path.open("rb") as file:
            file.seek(place.offset)
            return read_result_line(f"{place.path}: line {place.line}", file.readline())


def same_model(answered_by: str, asked: str) -> bool:
    """Whether two names may mean one model: servers add a date, or leave out whose it is."""
    one, other = (name.rpartition("/")[2].lower().removesuffix("-latest") for name in (answered_by, asked))
    return one.startswith(other) or other.startswith(one)


def _say(path: Path, answered: int, kinds: Counter[str], twice: int) -> None:
    parts = [f"{answered:,} answers"]
    if kinds:
        shown = [f"{count:,} {kind}" for kind, count in kinds.most_common(_SHOWN_KINDS)]
        shown += ["and others"] if len(kinds) > _SHOWN_KINDS else []
        parts.append(f"{kinds.total():,} errors ({', '.join(shown)})")
    parts += [f"{twice:,} lines twice, of which the first counts"] if twice else []
    if kinds or twice:
        logging.getLogger("dhp").warning("%s: %s", path, ", ".join(parts))
