"""Perturbers, and the decorator that makes one from a function.

A function `(text, rng, **params)` becomes a `Perturber` by `@perturber(name=..., level=..., degrees=...)`.
Its signature tells its parameters: some are filled in for each text (`_GIVEN`), the others are set by the
suite. One of these says how much is to be done, the dose: `asked_edits` makes a number of edits of it.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from dhp.core.checks import check_number, check_value
from dhp.core.errors import InputError, one_of
from dhp.core.language import NAMES, WITHOUT_SPACES, language_name
from dhp.core.options import Option, near_keywords
from dhp.core.records import LEVELS, ORIGINAL, PROBES, Variant
from dhp.core.words import SEGMENTED


@dataclass(frozen=True, slots=True)
class Edited:
    """A degraded text with the number of edits, for a perturber that counts them."""

    text: str
    """Text after the edits."""
    asked: int
    """Edits that were to be made."""
    made: int
    """Edits that were made."""


PerturberFunction = Callable[..., str | Edited]
"""`(text, rng, **params)` -> the degraded text.

`rng` is a stream of its own for this example; use no other source of randomness. A function with a
parameter `example` also gets the whole example, one with a parameter `others` the other examples of the
dataset in the order of their ids, one with a parameter `lists` a `ListReader` for word lists, one with a
parameter `language` the code of the text's language, or None if it is not known; one of method `llm` gets
a `model`, an `AskedModel`. Raise `NotApplicable` if this kind of damage is impossible in the text.
"""


class AskedModel(Protocol):
    """The perturb model, as a function of method `llm` gets it."""

    def ask(self, prompt: str, max_tokens: int | None = None) -> str:
        """The answer, without reasoning; the same prompt again gets another sample.

        The function is called from its beginning for each answer that comes, with the same `rng`; so it may
        have no effects but its result. An answer that is refused or cut off makes the variant not applicable.
        """
        ...


Languages = Literal["any", "words"] | tuple[str, ...]
"""The languages that a perturber can do: any; any that can be split into words; or those with these
codes."""

_GIVEN = ("example", "others", "lists", "language", "model")
"""Parameters of a perturber that no suite sets; `model` is one only for method `llm`."""
METHODS = ("rule", "llm")
"""The first one is the default."""
DOSES = ("count", "k", "share")
"""Ways of saying how much is to be done: exactly one, if a function takes several and each may be None."""


def asked_edits(k: object, share: object, total: int) -> int:
    """The dose in edits: `k` itself, or a `share` in (0, 1] of `total`, rounded and at least 1.

    Raises `InputError` unless exactly one of both is given, and is allowed.
    """
    if (k is None) == (share is None):
        raise InputError(f"parameters k ({k!r}) and share ({share!r}): allowed: exactly one of them")
    if share is None:
        edits: int = check_number("k", k, int, ge=1)
        return edits
    part: float = check_number("share", share, gt=0, le=1)
    return max(1, round(part * total))


TOO_MUCH = "the edit would remove more than half of the text"


def length(text: str) -> int:
    """Characters other than white space, by which it is told what half of a text is."""
    return len("".join(text.split()))


def count_or_all(count: object) -> int | str:
    """`count`; raises `InputError` unless it is a whole number of at least 1, or "all"."""
    known: int | str = check_value("count", count, int | Literal["all"], Option(help="", ge=1))
    return known


def asked_count(variant: Variant) -> int | str:
    """The parameter `count` of a variant, or "all"; raises `InputError` for a faulty one."""
    try:
        return count_or_all(variant.params.get("count", "all"))
    except InputError as e:
        raise InputError(f"perturber '{variant.name}': {e}") from None


IN_ANOTHER = "the text is in"
"""With these words a reason begins that holds for all texts in a language, not for a single text."""


@dataclass(frozen=True, slots=True)
class Perturber:
    """A named way of making a text worse.

    One that a language model carries out by prompts alone has a parameter `count`.
    """

    name: str
    """Name of the perturber in suites and results."""
    level: str
    """`character`, `word`, `sentence` or `turn`; for a probe `control` or `attack`."""
    degrees: Mapping[str | None, Mapping[str, object]]
    """degree -> default parameters; the key None stands for an only degree."""
    function: PerturberFunction | None
    """Function that degrades a text; None for a perturber that is prompts for a language model alone."""
    languages: Languages = "any"
    """Languages of the texts that it can degrade."""
    origin: Callable[[Mapping[str, object]], str] | None = None
    """Called with its parameters: the versions of the packages that its texts depend on."""
    lacks: Callable[[Mapping[str, object]], str | None] | None = None
    """Called with its parameters: what it needs and is not installed; None if all is there."""
    asks: bool = False
    """Whether the function asks the perturb model."""

    def __call__(self, *args: Any, **keywords: Any) -> str | Edited:
        """Call the function as it was before it was made a perturber: `f(text, rng, **params)`."""
        if self.function is None:
            raise InputError(
                f"perturber '{self.name}': is carried out by a language model, not by a function"
            )
        return self.function(*args, **keywords)

    def language_fault(self, language: str | None, *, by_suite: bool = True) -> str | None:
        """Why it cannot degrade a text in this language (None: not known); None if it can.

        `by_suite`: a suite names it, and with its parser the language of the texts; a stand-in is not named.
        """
        if self.languages == "any":
            return None
        if self.languages == "words":
            lacking = language in WITHOUT_SPACES and language not in SEGMENTED
            return f"{language_name(language)} text cannot be split into words" if lacking else None
        allowed = ", ".join(map(language_name, self.languages))
        if language is None:
            undeclared = f"the language of the text is not declared; allowed: {allowed}"
            return None if by_suite and "pipeline" in self.parameters else undeclared
        if language in self.languages:
            return None
        return f"{IN_ANOTHER} {language_name(language)}; allowed: {allowed}"

    @property
    def method(self) -> str:
        """`rule` or `llm`."""
        return "rule" if self.function and not self.asks else "llm"

    @property
    def is_own(self) -> bool:
        """Whether it is a function of a user or of another package, not of dhp."""
        return self.function is not None and not self.function.__module__.startswith("dhp.")

    @property
    def description(self) -> str:
        """The first paragraph of what the function says of itself; empty if it says nothing."""
        documentation = "" if self.function is None else inspect.getdoc(self.function) or ""
        return " ".join(documentation.split("\n\n")[0].split())

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The variants this perturber makes with its own parameters."""
        return Variant.of(self.name, self.level, self.method, self.degrees)

    @property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """The function's own keyword parameters, those a suite may set."""
        if self.function is None:
            return {"count": inspect.Parameter("count", inspect.Parameter.KEYWORD_ONLY)}
        known = list(inspect.signature(self.function).parameters.items())
        keywords = known[2:]  # behind the text and `rng`
        return {name: p for name, p in keywords if name not in self._given}

    @property
    def _given(self) -> tuple[str, ...]:
        """Parameters that no suite sets."""
        return _GIVEN if self.asks else _GIVEN[:-1]

    @property
    def wanted(self) -> list[str]:
        """What the function takes of `example`, `others`, `lists`, `language` and `model`."""
        return [name for name in self._given if self.wants(name)]

    def wants(self, name: str) -> bool:
        """Whether the function takes one of these."""
        if self.function is None:
            return False
        known = inspect.signature(self.function).parameters
        if name in known:
            return True
        # A function with `**params` takes the example, too: it may look at anything.
        return name == "example" and any(p.kind is p.VAR_KEYWORD for p in known.values())

    def check_params(self, params: Mapping[str, object], place: str) -> None:
        """Raise `InputError` at `place` if the function does not take these parameters, or needs more."""
        known = self.parameters
        if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in known.values()):
            return
        for name in params:
            one_of("parameter", name, known, place)
        for name, parameter in known.items():
            if parameter.default is inspect.Parameter.empty and name not in params:
                raise InputError(f"{place}: parameter '{name}' is missing")
        doses = [name for name in DOSES if name in known and known[name].default is None]
        chosen = [name for name in doses if name in params]
        if len(doses) > 1 and len(chosen) != 1:
            raise InputError(f"{place}: give exactly one of the parameters {' and '.join(doses)}")


@near_keywords
def perturber(
    *,
    name: str,
    level: str,
    degrees: Mapping[str, Mapping[str, object]] | None = None,
    languages: Literal["any", "words"] | Sequence[str] = "any",
    method: str = METHODS[0],
) -> Callable[[PerturberFunction], Perturber]:
    """Make a perturber out of a function `(text, rng, **params) -> str`.

    Parameters
    ----------
    name
        Lower-case letters, digits and `_`; the name in suites and variants.
    level
        `character`, `word`, `sentence` or `turn`; `control` for a change that must not lower a score,
        `attack` for one that must not raise it.
    degrees
        degree -> parameters of the function, mildest first. Without it there is one variant, named as
        the perturber.
    languages
        Which texts it can degrade: in `any` language, in any that can be split into `words` (those with
        spaces, Chinese, Japanese and Thai), or in those of a list of codes, e.g. `["en"]`. To others it is
        not applicable.
    method
        `rule`, or `llm` for a function that asks the perturb model, which it gets as `model`: an
        `AskedModel`. What it asks is stored, counted, limited and asked for all examples side by side.

    Raises
    ------
    InputError
        If the name or level is not allowed or the parameters do not fit the function.
    """
    place = f"perturber '{name}'"
    if not (name.isascii() and name.isidentifier() and name == name.lower()):
        raise InputError(f"{place}: the name may hold lower-case letters, digits and '_' only")
    if name == ORIGINAL:
        raise InputError(f"{place}: '{ORIGINAL}' names the undamaged text; choose another name")
    one_of("level", level, (*LEVELS, *PROBES), place)
    one_of("method", method, METHODS, place)

    _check_degrees(degrees or {}, place)
    able: Languages = languages if languages in ("any", "words") else _codes(languages, place)

    def decorate(function: PerturberFunction) -> Perturber:
        doses: dict[str | None, Mapping[str, object]] = dict(degrees.items()) if degrees else {None: {}}
        result = Perturber(name, level, doses, function, able, asks=method == "llm")
        if result.asks and not result.wants("model"):
            raise InputError(f"{place}: method llm: the function must have a parameter `model`")
        for degree, params in doses.items():
            result.check_params(params, place if degree is None else f"{place}: degree '{degree}'")
        return result

    return decorate


def _check_degrees(degrees: object, place: str) -> None:
    """Raise `InputError` for what is not a mapping from degree to parameters."""
    if not isinstance(degrees, Mapping) or not all(isinstance(each, Mapping) for each in degrees.values()):
        raise InputError(
            f"{place}: degrees is {degrees!r}; allowed: a mapping from degree to parameters, such as "
            '{"minor": {"k": 1}, "major": {"k": 5}}'
        )


def _codes(languages: Sequence[str], place: str) -> tuple[str, ...]:
    """The codes of a list of languages; raises `InputError` for anything else."""
    listed = tuple(languages) if isinstance(languages, list | tuple) else ()
    if not listed or not all(isinstance(code, str) and code in NAMES for code in listed):
        raise InputError(
            f"{place}: languages is {languages!r}; allowed: any, words, or a list of "
            f"{', '.join(sorted(NAMES))}"
        )
    return listed


def without_dose(params: Mapping[str, object]) -> dict[str, object]:
    """The parameters that do not say how much is to be done."""
    return {name: value for name, value in params.items() if name not in DOSES}
