"""Which column holds what, read from the words in its name, whatever their order, case and separators."""

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dhp.core.errors import InputError, suggest
from dhp.core.records import Variant
from dhp.core.specs import Suite

_SPELLINGS = {
    "typo": "typo typos",
    "delete": "delete deletes deleted deleting deletion deletions del",
    "word": "word words",
    "character": "character characters char chars",
    "entity": "entity entities ner ne nes",
    "named": "named",
    "fictional": "fictional fictitious",
    "grammar": "grammar grammatical ungrammatical",
    "error": "error errors mistake mistakes",
    "reorder": "reorder reordered reordering reorderings shuffle shuffled shuffling",
    "rewrite": "rewrite rewrites rewriting rewritten",
    "insert": "insert inserted inserting insertion insertions",
    "random": "random randomly",
    "wrong": "wrong incorrect",
    "minor": "minor min mild slight",
    "major": "major maj severe heavy",
    "perturbed": "perturbed degraded corrupted",
    "perturbation": "perturb perturbation perturbations perturber perturbers",
    "original": "original originals orig gold human clean none right correct unperturbed",
    "source": "source sources src context contexts article articles document documents doc docs "
    "paragraph paragraphs passage passages story stories input inputs",
    "output": "output outputs reference references ref refs summary summaries translation translations "
    "completion completions abstract abstracts",
    "ending": "ending endings",
    "answer": "answer answers",
    "question": "question questions query",
    "text": "text texts",
    "example": "example examples sample item",
    "id": "id ids idx index qid uid",
    "kind": "kind kinds type types variant variants",
    "name": "name",
    "identity": "identity",  # not id + entity
    "degree": "degree degrees level levels severity intensity",
}
"""Word -> how it may be spelt."""
_WORDS = {spelt: word for word, all_of_it in _SPELLINGS.items() for spelt in all_of_it.split()}
_ALIASES: Mapping[str, Sequence[set[str]]] = {
    "random_deletions": ({"delete"}, {"character", "delete"}),
    "random_typos": ({"typo"},),
    "word_deletions": ({"delete"}, {"random", "word", "delete"}),
    "fictional_named_entities": ({"entity"}, {"fictional"}),
    "grammatical_errors": ({"grammar"},),
    "reordering": (),
    "rewriting_insertion": ({"rewrite"}, {"insert"}),
    "random_ending": (),
    "wrong_ending": (),
    "random_answer": (),
}
"""The benchmark's perturbers -> the words, beside those of the name itself, that tell them."""
_OUTPUTS = {"output", "ending", "answer"}
_MARKS = {"perturbed", "perturbation", "minor", "major"}
CONTEXT = ("id", "source", "output", "question")
"""What a row says beside its degraded texts."""


@functools.cache
def words(name: str) -> tuple[str, ...]:
    """The words of a name in the one spelling we use; unknown ones as they are, in small letters."""
    found: list[str] = []
    for piece in re.findall(r"[^\W\d_]+|\d+", name):
        known = _known_words(piece.lower())
        if known is None:
            parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^A-Z]+", piece)
            known = tuple(w for part in parts for w in _known_words(part.lower()) or (part.lower(),))
        found += known
    return tuple(found)


@functools.cache
def _known_words(piece: str) -> tuple[str, ...] | None:
    """The known words that make up the whole of `piece`, the longest first; None where there are none."""
    if not piece:
        return ()
    for end in range(len(piece), 1, -1):
        word = _WORDS.get(piece[:end])
        rest = _known_words(piece[end:]) if word else None
        if word and rest is not None:
            return (word, *rest)
    return None


def is_kind(column: str) -> bool:
    """Whether a column says by which perturber a text was made."""
    found = set(words(column))
    return bool(found) and found <= {"perturbation", "kind", "name"} and found != {"name"}


def is_degree(column: str) -> bool:
    """Whether a column says how strongly a text was degraded."""
    found = set(words(column))
    return "degree" in found and found <= {"degree", "perturbation"}


def is_degraded_text(column: str) -> bool:
    """Whether a column holds degraded texts of no kind in particular."""
    found = set(words(column))
    marked = "perturbed" in found or ("perturbation" in found and bool(found & {"text", *_OUTPUTS}))
    return marked and found <= {"perturbed", "perturbation", "text", *_OUTPUTS}


def context_of(columns: Sequence[str], place: str, given: Mapping[str, str]) -> dict[str, str]:
    """`id`, `source`, `output`, `question` -> its column, where there is one; the `given` ones as given.

    Raises `InputError` where two columns could be meant.
    """
    found: dict[str, list[str]] = {name: [] for name in CONTEXT}
    last_resort: list[str] = []
    for column in columns:
        role = _role(words(column))
        if column in given.values():
            continue
        if role == "perturbed original":
            last_resort.append(column)
        elif role is not None:
            found[role].append(column)
    found["output"] = found["output"] or last_resort
    if not found["source"] and "source" not in given:
        found["source"] = found["question"]
    if exact := [column for column in found["id"] if column.lower() == "id"]:
        found["id"] = exact
    context = {name: given[name] for name in CONTEXT if name in given}
    for name, fitting in found.items():
        if name in context:
            continue
        if len(fitting) > 1:
            raise InputError(
                f"{place}: columns {_quoted(fitting)} could each be the {name}; say which by "
                f"--field {name}=COLUMN"
            )
        if fitting:
            context[name] = fitting[0]
    return {name: context[name] for name in CONTEXT if name in context}


def _role(found: tuple[str, ...]) -> str | None:
    """What a column without degraded texts holds, by its words."""
    nouns = [w for w in found if w not in ("original", "text", "example")]
    if found and found[-1] == "id":
        return "id"
    if "original" in found and set(nouns) & _MARKS:
        return (
            "perturbed original" if set(nouns) <= {"perturbed", "perturbation", "kind", *_OUTPUTS} else None
        )
    if not nouns:
        return "output" if "original" in found else None
    if not set(nouns) <= {"source", "question", *_OUTPUTS}:
        return None
    return "output" if nouns[-1] in _OUTPUTS else nouns[-1]


def _quoted(names: Sequence[str]) -> str:
    return " and ".join(f"'{name}'" for name in names)


@dataclass(frozen=True, slots=True)
class VariantNames:
    """Finds the columns of a suite's variants."""

    suite: Suite
    place: str
    """For error messages."""

    @property
    def variants(self) -> dict[str, Variant]:
        """By name."""
        return {v.name: v for v in self.suite.variants}

    def columns(self, columns: Sequence[str], given: Mapping[str, str]) -> dict[str, str]:
        """Variant -> its column, for all of the suite; the `given` ones as given.

        Raises `InputError` for a column that could be several variants or is a perturbation of none, for
        two columns of one variant, and for a variant without a column.
        """
        variants = self.variants
        chosen = {name: column for name, column in given.items() if name in variants}
        for column in columns:
            if column in given.values():
                continue
            fitting = self._fitting(column)
            if len(fitting) > 1:
                raise self._fault(f"column '{column}' could be {_quoted(fitting)}")
            for name in fitting:
                if name in chosen and name not in given:
                    raise self._fault(f"columns '{chosen[name]}' and '{column}' could each be '{name}'")
                chosen.setdefault(name, column)
        for name in variants:
            if name not in chosen:
                raise InputError(
                    f"{self.place}: no column for variant '{name}' of suite '{self.suite.suite}'; "
                    f"say which by --field {name}=COLUMN; columns: {', '.join(columns)}"
                )
        return {name: chosen[name] for name in variants}

    def _fault(self, what: str) -> InputError:
        known = ", ".join(self.variants)
        return InputError(f"{self.place}: {what}; say which by --field VARIANT=COLUMN; variants: {known}")

    def _fitting(self, column: str) -> list[str]:
        """The variants that a column could be; none where it is no perturbation."""
        found = words(column)
        if _role(found) is not None:
            return []
        # The noun of the output may stand beside any perturber: `random_typos_ending`.
        perturbers = self._best(set(found) - {"ending", "answer"}) or self._best(set(found))
        within = [p for p in perturbers if p in self.suite.perturbers]
        if not within and (perturbers or set(found) & _MARKS):
            raise self._fault(
                f"column '{column}' is no variant of suite '{self.suite.suite}', but named like one "
                "(--field NAME=COLUMN makes it a plain field)"
            )
        return [name for p in within for name in self._degrees(p, set(found))]

    def _best(self, found: set[str]) -> list[str]:
        """The perturbers, of the suite or of the benchmark, of which most words are found."""
        scores = {}
        for perturber in dict.fromkeys((*self.suite.perturbers, *_ALIASES)):
            known = (set(words(perturber)), *_ALIASES.get(perturber, ()))
            scores[perturber] = max((len(needed) for needed in known if needed <= found), default=0)
        best = max(scores.values())
        return [p for p, score in scores.items() if score == best] if best else []

    def _degrees(self, perturber: str, found: set[str]) -> list[str]:
        """The perturber's variants of the degree that is found, else all of them."""
        own = [v for v in self.suite.variants if v.perturber == perturber]
        said = [v for v in own if v.degree is not None and set(words(v.degree)) <= found]
        return [v.name for v in (said if len(said) == 1 else own)]


def check_given(given: Mapping[str, str], columns: Sequence[str], suite: Suite, place: str) -> None:
    """Raise `InputError` where `--field` names no variant of the suite, or no column."""
    variants = [v.name for v in suite.variants]
    for ours, theirs in given.items():
        if "." in ours and ours not in variants:
            raise InputError(f"{place}: --field {ours}: no such variant; {suggest(ours, variants)}")
        if theirs not in columns:
            raise InputError(
                f"{place}: column '{theirs}', mapped to '{ours}', is missing; {suggest(theirs, columns)}"
            )
