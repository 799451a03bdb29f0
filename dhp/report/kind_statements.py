"""What the sentence on a judge says of kinds of damage.

A kind has a row for each degree on each set, and each row has a verdict. `kinds_by_verdict` takes of each
kind the verdict that comes foremost, and groups the kinds by it, in the order of the sentence. The name of a
kind tells where the verdict holds, if not everywhere: `typos (2 of 6 sets)`, or on a single set
`typos (minor)`. `about_kinds` makes a statement of each group: `misses typos (2 of 6 sets) and wrong names`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from dhp.analysis.results import Result, VariantResult
from dhp.content.catalog import kind_name
from dhp.core.records import parse_variant
from dhp.core.verdicts import NOT_NOTICED_SO_FAR, NOT_PROVEN_YET, Verdict, foremost, in_sentence
from dhp.report.labels import shortened

_NAMED = 6
"""The most kinds of damage that a part of a sentence names. Chosen: about as many as one line holds."""

_RowsBySet = Mapping[str, Sequence[VariantResult]]
"""Dataset -> the rows of a kind of damage, one for each degree."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A part of the sentence on a judge."""

    verdict: Verdict
    """The verdict or state that it tells."""
    text: str
    """Text of the statement, e.g. `misses grammatical errors (2 of 6 sets)`."""


@dataclass(frozen=True, slots=True)
class KindsOfVerdict:
    """The kinds of damage of which the same is said."""

    verdict: Verdict
    phrase: str
    """What is said of them, e.g. `misses {}`."""
    names: Mapping[str, str]
    """Kind of damage -> its name, with where the verdict holds."""


def about_kinds(results: Sequence[Result], wanted: Callable[[str], bool]) -> list[Statement]:
    """What is said of the kinds of damage that are wanted."""
    groups = kinds_by_verdict(results)
    total = sum(len(group.names) for group in groups)
    parts = []
    for group in groups:
        shown = [name for kind, name in group.names.items() if wanted(kind)]
        if not shown:
            continue
        everywhere = not any(name.endswith(")") for name in shown)  # brackets say where a verdict holds
        if everywhere and len(shown) == total and total > _NAMED:
            words = f"all {total} kinds of damage{_rows_alike(results, group.verdict)}"
        else:
            words = shortened(shown, _NAMED)
        parts.append(Statement(group.verdict, group.phrase.format(words)))
    return parts


def _rows_alike(results: Sequence[Result], verdict: Verdict) -> str:
    """` (11 of 12)`: how many rows have a verdict that all kinds have; empty if it is all rows."""
    states = []
    for each in results:
        if not each.too_few:
            states += [row.state for row in each.variants]
    alike = [state for state in states if verdict.is_said_with(state)]
    return "" if len(alike) == len(states) else f" ({len(alike)} of {len(states)})"


def kinds_by_verdict(results: Sequence[Result]) -> list[KindsOfVerdict]:
    """The kinds of damage by what is said of them, in the order of the sentence."""
    judged = [each for each in results if not each.too_few]
    # That no score moved, or that nothing could be read, is said once of all kinds.
    if all(each.blind or each.silent for each in judged):
        return []
    floor = max(each.floor for each in judged)
    # Kinds with one verdict may have two phrases, so both together are the key.
    names: dict[tuple[Verdict, str], dict[str, str]] = {}
    for kind, rows in _rows_by_kind(judged).items():
        verdict = foremost(row.state for row in _on_all_sets(rows))
        name = f"{kind}{_extent(verdict, rows)}"
        names.setdefault((verdict, _phrase(verdict, rows, floor)), {})[kind] = name
    groups = []
    # The order of the sentence is that of the verdicts, not that in which kinds were met.
    for verdict in in_sentence("damage"):
        for phrase in _phrases(verdict):
            if (verdict, phrase) in names:
                groups.append(KindsOfVerdict(verdict, phrase, names[verdict, phrase]))
    return groups


def _rows_by_kind(results: Sequence[Result]) -> dict[str, dict[str, list[VariantResult]]]:
    """Kind of damage -> dataset -> its rows."""
    kinds: dict[str, dict[str, list[VariantResult]]] = {}
    for each in results:
        for row in each.variants:
            kinds.setdefault(kind_name(row.variant), {}).setdefault(each.dataset, []).append(row)
    return kinds


def _phrases(verdict: Verdict) -> Sequence[str]:
    """All that may be said with a verdict: of what is undecided two things, by its figure."""
    return (NOT_PROVEN_YET, NOT_NOTICED_SO_FAR) if verdict.is_open else (verdict.phrase,)


def _phrase(verdict: Verdict, rows: _RowsBySet, floor: float) -> str:
    """What is said of a kind: if it is undecided, by whether its mean detection lies below the floor."""
    if not verdict.is_open:
        return verdict.phrase
    known = []
    for row in _on_all_sets(rows):
        if row.state.is_open and row.detection is not None:
            known.append(row.detection)
    # Without a figure nothing says that it is near the floor.
    if not known or sum(known) / len(known) < floor:
        return NOT_NOTICED_SO_FAR
    return NOT_PROVEN_YET


def _extent(verdict: Verdict, rows: _RowsBySet) -> str:
    """Where a verdict holds if not everywhere: in how many sets, or of a single set in which degree."""
    concerned: list[VariantResult] = []
    sets = 0
    for rows_of_set in rows.values():
        with_verdict = [row for row in rows_of_set if row.state.is_said_with(verdict)]
        concerned += with_verdict
        if with_verdict:
            sets += 1
    if sets < len(rows):
        return f" ({sets} of {len(rows)} sets)"
    # The degree is said only if other rows of the kind have another verdict.
    degrees = {parse_variant(row.variant).degree for row in concerned}
    if len(degrees) == 1 and len(concerned) < len(_on_all_sets(rows)):
        return f" ({degrees.pop()})"
    return ""


def _on_all_sets(rows: _RowsBySet) -> list[VariantResult]:
    return list(chain.from_iterable(rows.values()))
