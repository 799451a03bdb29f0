"""The adapter of a scorer: its parameters, their fields, its scale."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dhp.core.records import Candidate

OUTPUT = ("output",)
SOURCE = ("source",)
REFERENCE = ("reference",)
INPUT = ("question", "source")
"""What the writer was given: the question, where there is one."""

USUAL: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        "outputs output response answer prediction completion text actual_output".split(), OUTPUT
    ),
    **dict.fromkeys("inputs input query prompt".split(), INPUT),
    **dict.fromkeys("source context document".split(), SOURCE),
    **dict.fromkeys(
        "reference_outputs expected_output expected reference ground_truth target".split(), REFERENCE
    ),
    "metadata": (),
}
"""Parameters by the names that they usually have; any other is given the field of its own name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """One object, ready to be called."""

    shape: str
    """Framework or kind of function that the judge was recognised as."""
    name: str
    """Name of the metric that the judge rates, if it gives one score; `score` for functions, so that they
    compare."""
    fields: Mapping[str, tuple[str, ...]]
    """Parameter -> fields of a candidate; the first field that is there is passed."""
    call: Callable[[Mapping[str, str | None]], object]
    """Rates a text, given a value for each parameter; a coroutine function where `is_async`."""
    required: frozenset[str] = frozenset()
    """Parameters that must have a field."""
    optional: frozenset[str] = frozenset()
    """Parameters that are left out, rather than given None, where no field is there."""
    takes_further: bool = False
    """Whether further fields of a candidate are passed under their own names."""
    is_async: bool = False
    scale: tuple[float, float] | None = None
    """Lowest and highest score; None where the judge does not declare them."""
    lower_is_better: bool = False


def fields_of(candidate: Candidate) -> dict[str, str]:
    """What a judge may be given of a candidate, by name; nothing that is blank."""
    found = {**candidate.fields, "output": candidate.text, "source": candidate.source}
    if candidate.reference is not None:
        found["reference"] = candidate.reference
    return {name: text for name, text in found.items() if text.strip() or name == "output"}


def is_of(scorer: object, package: str, *names: str) -> bool:
    """Whether an object is of a class of these names from a package, which need not be imported for that."""
    return any(
        base.__name__ in names and base.__module__.partition(".")[0] == package
        for base in type(scorer).__mro__
    )
