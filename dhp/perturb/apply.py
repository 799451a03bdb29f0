"""Application of variants to examples: by rule, and by edits that people wrote for the bundled data.

`RulesApplied.texts` tries each rule on each text. `changed` gives the function what it takes of the example,
the others and the lists, with a random stream of its own, and refuses what is no changed text. If a rule
cannot make the damage asked for, the reason stands in place of a text; so it does if the major degree is no
more than the minor one. `authored_texts` makes the edits that people wrote for the bundled data.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from dhp.content.catalog import read_list
from dhp.core.diff import audit
from dhp.core.errors import InputError, NotApplicable
from dhp.core.records import PROBES, Audit, Example, PerturbedText, Variant, parse_variant
from dhp.core.seeding import stream, text_hash
from dhp.core.sentences import sentence_spans
from dhp.core.specs import AuthoredEdits, Insertion
from dhp.loaders.dataset import Split, select
from dhp.perturb.api import DOSES, AskedModel, Edited, Perturber, asked_count

T = TypeVar("T")
MOST = 10_000
"""Examples of a dataset from which perturbers draw: so their time grows no faster than the texts. Chosen."""
NO_FARTHER = "no room for more than the milder degree"


class OtherExamples(list[Example]):
    """The examples in one language without one of them."""

    texts: Sequence[str]
    """The distinct outputs in the language, sorted."""
    everyone: Sequence[Example]
    """The examples in the language with it."""
    known: dict[str, Any]
    """What `once_for_all` remembers of them."""


class Others:
    """The other examples in the language of each text, in the order of their ids.

    Of a larger dataset the same `MOST`, chosen by `seed`, are the others of all texts.
    """

    def __init__(self, pool: Sequence[Example], seed: int, dataset: str) -> None:
        self._groups: dict[str | None, list[Example]] = {}
        self._positions: dict[str, int] = {}
        some = pool if len(pool) <= MOST else select(pool, MOST, seed=seed, dataset=dataset)
        for example in sorted(some, key=lambda e: e.id):
            same_language = self._groups.setdefault(example.language, [])
            self._positions[example.id] = len(same_language)
            same_language.append(example)
        self._texts = {spoken: _distinct(group) for spoken, group in self._groups.items()}
        self._known: dict[str | None, dict[str, Any]] = {}

    def of(self, example: Example) -> OtherExamples:
        """The examples in the language of this one, without it."""
        group = self._groups.get(example.language, [])
        position = self._positions.get(example.id, len(group))
        other_examples = OtherExamples(group[:position] + group[position + 1 :])
        other_examples.texts = self._texts.get(example.language, [])
        other_examples.everyone = group
        other_examples.known = self._known.setdefault(example.language, {})
        return other_examples


def once_for_all(
    others: Sequence[Example], example: Example, key: str, read: Callable[[Sequence[Example]], T]
) -> T:
    """What `read` finds in all examples of a language, `example` among them: read once for all its texts.

    A plain list of others, as tests and users of a perturber have it, is read each time.
    """
    if not isinstance(others, OtherExamples):
        return read([*others, example])
    if key not in others.known:
        others.known[key] = read(others.everyone or [example])
    result: T = others.known[key]
    return result


def _distinct(examples: Sequence[Example]) -> list[str]:
    return sorted({example.output for example in examples})


def other_texts(others: Sequence[Example], text: str) -> Sequence[str]:
    """The outputs of others, each once, sorted, without this one."""
    texts = list(others.texts if isinstance(others, OtherExamples) else _distinct(others))
    place = bisect_left(texts, text)  # they are sorted: a search from the start would be slow for each text
    if place < len(texts) and texts[place] == text:
        del texts[place]
    return texts


@dataclass(frozen=True, slots=True)
class RulesApplied:
    """Variants by rule, to be applied to examples.

    The text for one (example, variant) depends on seed, dataset name, example and parameters alone, for
    perturbers that draw from other examples also on these, never on order or on other perturbers. A degree
    that makes no more edits and takes a text no further away than the milder one before it is not applicable:
    one pair of texts would count as two kinds of damage.
    """

    variants: tuple[Variant, ...]
    """Variants, all of method `rule`."""
    perturbers: Mapping[str, Perturber]
    dataset: str
    """Name of the dataset; with the seed, the example and the perturber it is the key of the random
    streams."""
    seed: int
    others: Others
    """The examples whose texts perturbers get."""
    split: Split | None = None
    """Texts within an output that may be changed; None: all of it. Perturbers that take the whole example see
    the whole output."""

    def texts(self, examples: Sequence[Example]) -> Iterator[PerturbedText]:
        """Every example in every variant, variant by variant; with the reason if there is no text.

        Raises `InputError` with perturber and example if a perturber is unknown, needs a language model,
        raises, or returns anything but a changed, non-empty text.
        """
        milder: dict[tuple[str, str], Audit] = {}  # (perturber, example) -> the degree before
        for variant in self.variants:
            perturber = self.perturbers[variant.made_by]
            wanted = perturber.wanted
            for example in examples:
                try:
                    text, asked, made = self.changed(example, variant, perturber, wanted)
                except NotApplicable as reason:
                    yield PerturbedText(example.id, variant.name, None, reason=str(reason))
                    continue
                audited = audit(example.output, text, asked, made)
                kind = variant.perturber, example.id
                if _has_degree(variant) and kind in milder and not _exceeds(audited, milder[kind]):
                    yield PerturbedText(example.id, variant.name, None, reason=NO_FARTHER)
                else:
                    milder[kind] = audited
                    yield PerturbedText(example.id, variant.name, text, audit=audited)

    def changed(
        self,
        example: Example,
        variant: Variant,
        perturber: Perturber,
        wanted: Sequence[str],
        model: AskedModel | None = None,
    ) -> tuple[str, int | None, int | None]:
        """The changed text, with the edits asked for and made; None for both if nobody counts them.

        `wanted` is what the function takes; `model` is for one of method `llm`. Raises `NotApplicable`, and
        `InputError` as `texts` does.
        """
        fault = perturber.language_fault(example.language, by_suite=not variant.stand_in)
        if fault is not None:
            raise NotApplicable(fault)
        place = f"perturber '{perturber.name}', example '{example.id}'"
        function = perturber.function
        if function is None:
            raise InputError(f"{place}: needs a language model")
        offered: dict[str, object] = {"example": example, "lists": read_list, "language": example.language}
        offered["model"] = model
        if "others" in wanted:  # made only then, as it is a list of the whole dataset
            offered["others"] = self.others.of(example)
        params = {name: offered[name] for name in wanted}
        params.update(variant.params)
        # The key holds the perturber and not the variant, so that minor's edits are the first of major's.
        rng = stream(self.seed, self.dataset, example.id, perturber.name)

        def change(text: str) -> str | Edited:
            return function(text, rng, **params)

        # What a function of the user's raises is a fault of that function, named with the example.
        try:
            of_texts = variant.level in _LEVELS_OF_TEXTS or "example" not in wanted
            if self.split is None or not of_texts:
                result = change(example.output)
            else:
                result = _in_parts(*self.split(example), change, variant)
        except NotApplicable:
            raise
        except InputError as e:
            raise InputError(f"{place}: {e}") from None
        except (Exception, SystemExit) as e:
            raise InputError(f"{place}: raised {type(e).__name__}: {e}".splitlines()[0]) from e
        text = result.text if isinstance(result, Edited) else result
        fault = _fault(text, example.output, perturber.level)
        if fault:
            raise InputError(f"{place}: {fault}")
        if isinstance(result, Edited):
            return text, result.asked, result.made
        return text, None, None


def _has_degree(variant: Variant) -> bool:
    """Whether it is one of the degrees of a kind of damage, each of which must exceed the one before."""
    is_graded = variant.degree is not None and parse_variant(variant.name).dose is None
    return is_graded and variant.level not in PROBES


def _exceeds(one: Audit, other: Audit) -> bool:
    """Whether a text got more edits than another, or lies further from the original."""
    return (one.made or 0) > (other.made or 0) or one.edit_distance > other.edit_distance


def _fault(text: object, original: str, level: str) -> str | None:
    """Why what a perturber returned is no changed text; None if it is one."""
    if not isinstance(text, str):
        return f"returned {type(text).__name__}; must return the changed text"
    if not text.strip():
        return "returned an empty text; raise dhp.NotApplicable where nothing can be done"
    if not text.isascii() and text.encode(errors="replace").decode() != text:
        return "returned a lone surrogate; must return Unicode text"
    if text == original and level != "control":
        return "returned the text unchanged; raise dhp.NotApplicable where nothing can be done"
    return None


_LEVELS_OF_TEXTS = ("character", "word", "sentence")
"""Perturbers of these never see more than the texts that may be changed, even if they look at the example."""


def _in_parts(
    texts: Sequence[str],
    joined: Callable[[Sequence[str]], str],
    change: Callable[[str], str | Edited],
    variant: Variant,
) -> Edited:
    """The output with changed texts: an attack in the last one, a counted dose in the longest one that allows
    it, anything else in each.

    Raises `NotApplicable` if no text allows it.
    """
    order = list(reversed(range(len(texts))))  # the last text first
    is_counted = any(isinstance(variant.params.get(dose), int) for dose in DOSES)
    if is_counted:
        order.sort(key=lambda i: -len(texts[i]))
    in_one = is_counted or variant.level == "attack"
    changed, asked, made, reason = list(texts), 0, 0, "no text that may be changed"
    for i in order:
        try:
            result = change(texts[i])
        except NotApplicable as why:
            reason = str(why)
            continue
        edited = result if isinstance(result, Edited) else Edited(result, 1, 1)
        changed[i], asked, made = edited.text, asked + edited.asked, made + edited.made
        if in_one:
            break
    if changed == list(texts) and variant.level != "control":
        raise NotApplicable(reason)
    return Edited(joined(changed), asked, made)


def authored_perturbers(authored: AuthoredEdits | None) -> frozenset[str]:
    """The perturbers for which edits were written."""
    return frozenset[str]().union(*authored.examples.values()) if authored else frozenset()


def authored_origin(authored: AuthoredEdits) -> str:
    """What made the texts: the file of the edits with a hash of what it says."""
    file = authored.dataset.replace("mini/", "perturbations/authored/")
    return f"authored, {file}.yaml@{text_hash(authored.model_dump_json())}"


def authored_texts(
    examples: Sequence[Example], variant: Variant, authored: AuthoredEdits
) -> list[PerturbedText]:
    """One text for each example: the first edits written for it are made.

    The parameter `count` of the variant is their number, or "all"; `InputError` for another one. Not
    applicable if an example has no edits, or a text that they do not fit.
    """
    count = asked_count(variant)
    return [_authored_text(example, variant, authored, count) for example in examples]


def _authored_text(
    example: Example, variant: Variant, authored: AuthoredEdits, count: int | str
) -> PerturbedText:
    edits = authored.examples.get(example.id, {}).get(variant.perturber, [])
    asked = len(edits) if count == "all" else int(count)
    try:
        text = edited(example.output, edits[:asked])
    except NotApplicable as reason:
        return PerturbedText(example.id, variant.name, None, reason=str(reason))
    audited = audit(example.output, text, asked, min(asked, len(edits)))
    return PerturbedText(example.id, variant.name, text, audit=audited)


def edited(text: str, edits: Sequence[str | Insertion]) -> str:
    """The text with replacements made one after another, or with sentences inserted.

    Raises `NotApplicable` if there is no edit, or if one does not fit the text.
    """
    # From the end to the beginning, so that the ends of the sentences before stay right.
    ends = [end for _, end in sentence_spans(text)]
    insertions = [edit for edit in edits if isinstance(edit, Insertion)]
    if not edits or any(edit.after > len(ends) for edit in insertions):
        raise NotApplicable("no edits were written for this text")
    for edit in sorted(insertions, key=lambda edit: edit.after, reverse=True):
        end = ends[edit.after - 1]
        text = f"{text[:end]} {edit.insert}{text[end:]}"
    for replacement in edits:
        if isinstance(replacement, Insertion):
            continue
        # Whole words alone: "he -> she" does not change "the".
        old, new = replacement.split(" -> ", 1)
        starts = r"(?<!\w)" if old[0].isalnum() else ""
        stops = r"(?!\w)" if old[-1].isalnum() else ""
        text, made = re.subn(starts + re.escape(old) + stops, new.replace("\\", r"\\"), text)
        if not made:
            raise NotApplicable("no edits were written for this text")
    return text
