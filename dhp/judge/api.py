"""The interface of judges, and functions that judges share."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, TypeGuard, runtime_checkable
from urllib.parse import parse_qsl

from dhp.core.errors import InputError, suggest
from dhp.core.records import Candidate, Rating
from dhp.core.specs import Scale, Task

if TYPE_CHECKING:
    from dhp.llm.cached_model import CachedModel
    from dhp.llm.records import Request

_NOTHING: Mapping[str, object] = MappingProxyType({})


class PlainJudge(Protocol):
    """The least that a judge is; `complete` adds the rest of `Judge`."""

    model: str
    """Name of the model, `provider/name`."""
    protocol: str
    """Name of the way it is asked and read."""

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """Ratings of every candidate on every metric of the task, in any order.

        The score of a candidate depends on its text, source and fields (and the sources of the whole
        dataset), never on another candidate's text. What a judge leaves unrated counts as failed.

        Called once a dataset, or, where variants are stopped when they are resolved, several times, each
        time with other examples.
        """
        ...


@runtime_checkable
class Judge(PlainJudge, Protocol):
    """A model, or a classical metric, under a protocol. Subclasses inherit the defaults."""

    samples: int = 1
    """Ratings of one text on one metric."""
    settings: Mapping[str, object] = _NOTHING
    """Other settings that its ratings depend on, for the manifest; JSON."""
    cached_model: "CachedModel | None" = None
    """The language model that it asks, with what that has cost; None where it asks none."""
    pairwise: bool = False
    """Whether its scores say how it compares a text with the original, from -1 to 1, not what it is worth."""
    auto_steps: Mapping[str, Mapping[str, Sequence[str]]] = MappingProxyType({})
    """Task -> metric -> evaluation steps that the language model wrote."""

    @property
    def identity(self) -> dict[str, object]:
        """Model, protocol and all else that decides its ratings."""
        return {"model": self.model, "protocol": self.protocol, **self.settings}

    def own_task(self, task: Task, candidates: Sequence[Candidate] = ()) -> Task:
        """The task with the metrics by which it rates; a classical metric has one of its own.

        A judge that cannot tell them beforehand may rate some of the texts that it will be given.
        """
        return task

    def prepare(self, candidates: Sequence[Candidate], task: Task) -> None:
        """Called once a dataset with all its candidates, before any is rated."""
        return

    def requests(self, candidates: Sequence[Candidate], task: Task) -> Iterable["Request"]:
        """What it would ask the language model."""
        return ()

    def remedy(self, ratings: Sequence[Rating], task: Task) -> str:
        """Why answers have no score, and what most likely helps."""
        return ""

    def prompts(self, candidate: Candidate, task: Task) -> Sequence[Mapping[str, str]]:
        """The prompts about one text: `metric`, `answer` (its form) and `prompt`."""
        return ()


class _CompleteJudge(Judge):
    """A plain judge with what it lacks."""

    def __init__(self, plain: PlainJudge) -> None:
        self.model = plain.model
        self.protocol = plain.protocol
        self.samples = getattr(plain, "samples", 1)
        self.settings = getattr(plain, "settings", _NOTHING)
        self._plain = plain
        self._prepare: Callable[[Sequence[Candidate], Task], object] | None = getattr(plain, "prepare", None)

    def prepare(self, candidates: Sequence[Candidate], task: Task) -> None:
        if self._prepare is not None:
            self._prepare(candidates, task)

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        return self._plain.rate(candidates, task)


def complete(plain: object) -> Judge:
    """A judge with all that `Judge` has.

    Parameters
    ----------
    plain
        A `Judge`, or any object with texts `model` and `protocol` and a method `rate`; its `samples`,
        `settings` and `prepare` count where it has them.

    Raises
    ------
    InputError
        If it is not a judge.
    """
    if not is_plain(plain):
        raise InputError(
            f"model {plain!r} is not a judge; allowed: provider/name, or an object with texts 'model' and "
            "'protocol' and a method 'rate'"
        )
    judge = plain if isinstance(plain, Judge) else _CompleteJudge(plain)
    if type(judge.samples) is not int or judge.samples < 1:
        raise InputError(f"judge '{judge.model}': samples is {judge.samples!r}; allowed: 1 or more")
    return judge


def is_plain(judge: object) -> TypeGuard[PlainJudge]:
    """Whether an object is a judge, at least a plain one."""
    if isinstance(judge, type):
        return False
    named = all(isinstance(getattr(judge, name, None), str) for name in ("model", "protocol"))
    return named and callable(getattr(judge, "rate", None))


def split_settings(model: str, known: Collection[str] | None = None) -> tuple[str, dict[str, str]]:
    """A name with settings, `mock/blind?noise=1`: the name before the `?` and the settings after it.

    `known` are the settings that there are; None takes any.

    Raises
    ------
    InputError
        If the settings are malformed or unknown, or one is given twice.
    """
    name, _, query = model.partition("?")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True) if query else []
    except ValueError:
        raise InputError(
            f"model '{model}': broken settings '{query}'; allowed: name=value&name=value"
        ) from None
    settings = dict(pairs)
    if len(settings) < len(pairs):
        raise InputError(f"model '{model}': a setting is given twice; allowed: once")
    if known is not None and (unknown := [key for key in settings if key not in known]):
        raise InputError(f"model '{model}': unknown setting '{unknown[0]}'; {suggest(unknown[0], known)}")
    return name, settings


def rescale(score: float, source: Scale, target: Scale) -> float:
    """`score`, read on the scale `source`, at the same place of the scale `target`."""
    if source == target:
        return score
    share = (score - source.min) / (source.max - source.min)
    return min(target.min + share * (target.max - target.min), target.max)  # rounding may lead beyond it
