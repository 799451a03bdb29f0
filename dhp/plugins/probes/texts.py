"""The texts of the probes: another layout, order of equal items or wording, padding, counted damage."""

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from random import Random

from dhp.content.catalog import read_probes
from dhp.core.english import ARTICLES, FUNCTION_WORDS, looks_english
from dhp.core.errors import InputError, NotApplicable, suggest
from dhp.core.records import parse_variant
from dhp.core.seeding import shuffled
from dhp.core.sentences import sentence_spans
from dhp.core.specs import PerturberUse, Suite
from dhp.perturb.api import Edited, perturber
from dhp.perturb.builder import fully_dosed
from dhp.perturb.perturbed_dataset import PerturbedDataset
from dhp.perturb.registry import builtin_perturbers
from dhp.plugins.probes.options import STABILITY_DOSE, Probe

DOSES = (1, 2, 4, 8)
"""Padding sentences, and damages, in a text."""
LABELS = {
    "layout.bullets": "as bullets",
    "layout.paragraphs": "other paragraphs",
    "layout.bold": "first sentence bold",
    "item_order": "order of equal items",
    "paraphrase": "other words",
}
"""Change -> what readers see."""

_FORMS = {form: {"form": form} for form in ("bullets", "paragraphs", "bold")}


@perturber(name="layout", level="control", degrees=_FORMS)
def layout(text: str, rng: Random, *, form: str, language: str | None = None) -> str:
    """Lay the text out in another way: every word stays, and the order of words.

    `bullets`: each sentence is an item of a list. `paragraphs`: each sentence is a paragraph, or all of them
    are one if the text has several lines. `bold`: the first sentence is in bold, in Markdown.
    """
    if _LAID_OUT.search(text):
        raise NotApplicable("code, or a list, has a layout of its own")
    pieces = _sentences(text, language)
    if form == "bold":
        if "*" in pieces[0]:
            raise NotApplicable("the first sentence has marks of Markdown")
        return " ".join([f"**{pieces[0]}**", *pieces[1:]])
    if len(pieces) < 2:
        raise NotApplicable("one sentence")
    if form == "bullets":
        return "\n".join(f"- {piece}" for piece in pieces)
    return (" " if "\n" in text.strip() else "\n\n").join(pieces)


# A fence of code, or a line that begins as an item of a list.
_LAID_OUT = re.compile(r"```|^[ \t]*(?:[-*•]|\d+[.)])[ \t]", re.M)


def _sentences(text: str, language: str | None) -> list[str]:
    """The sentences, each in one line; nothing but white space is lost."""
    later_starts = [start for start, _ in sentence_spans(text, language)][1:]
    pieces = []
    for start, end in pairwise([0, *later_starts, len(text)]):
        piece = " ".join(text[start:end].split())
        if piece:
            pieces.append(piece)
    return pieces


# An item of a list without numbers, such as "- milk".
_LISTED = re.compile(r"(?P<mark>[ \t]*[-*•] )(?P<item>\S.*)")
_AFTER = r"(?=[.,;:!?)\]]|$| (?:in|on|at|for|from|to|with|are|is|were|was|have|has|had|who|that|which|as)\b)"
"""What may follow the last item: nothing that belongs to it alone."""


def _series(item: str) -> re.Pattern[str]:
    """Items with commas between them and a last one behind `and` or `or`."""
    return re.compile(rf"\b{item}(?:, {item})+,? (?:and|or) {item}(?![\w'’-]){_AFTER}")


_NAMES = _series(r"[A-Z][\w'’-]*")  # "Anna, Ben and Clara"
_NOUNS = _series(r"[a-z][a-z-]*")  # "apples, pears, and plums"
_ITEM = re.compile(r"[\w'’-]+")


@perturber(name="item_order", level="control")
def item_order(text: str, rng: Random, *, language: str | None = None) -> Edited:
    """Put equal items into another order: those of a list without numbers, or of a series in a sentence.

    A series is English and has three items or more, each one word: all names, or all nouns behind a function
    word, so that no item loses a word that belongs to it.
    """
    spans = [*_list_items(text)]
    if language == "en" and looks_english(text):
        spans += _series_items(text)

    changed, made = text, 0
    for items in sorted(spans, reverse=True):  # from the end, so that earlier places stay
        new = _reordered([text[a:b] for a, b in items], rng)
        if new is not None:
            made += 1
            for (start, end), item in zip(reversed(items), reversed(new), strict=True):
                changed = changed[:start] + item + changed[end:]
    if made == 0:
        raise NotApplicable("no list and no series of equal items")
    return Edited(changed, made, made)


_Items = list[tuple[int, int]]


def _list_items(text: str) -> Iterator[_Items]:
    """The items of each list: lines in a row that begin with the same mark."""
    run: _Items = []  # the items of the list that is being read
    before, start = "", 0
    # The empty line at the end closes a list that ends the text.
    for line in [*text.splitlines(keepends=True), ""]:
        match = _LISTED.match(line.rstrip())
        mark = match["mark"] if match else ""
        if mark != before or not mark:
            if len(run) > 1:
                yield run
            run = []
        if match:
            run.append((start + match.start("item"), start + match.end("item")))
        before, start = mark, start + len(line)


def _series_items(text: str) -> Iterator[_Items]:
    """The items of each series in a sentence."""
    for series in (_NAMES, _NOUNS):
        for match in series.finditer(text):
            start = match.start()
            words = [m for m in _ITEM.finditer(match[0]) if m[0] not in _JOINING]
            before = re.search(r"[\w'’-]+(?= $)", text[:start])
            if before is None:
                continue
            if series is _NAMES:  # a capital before it is part of the first name, or opens the sentence
                is_series = not before[0][0].isupper()
            else:
                is_series = before[0] in _OPENING and all(_is_noun(m[0]) for m in words)
            if is_series:
                yield [(start + m.start(), start + m.end()) for m in words]


_JOINING = ("and", "or")
_OPENING = FUNCTION_WORDS - (ARTICLES - {"the"})
"""Words after which a series of nouns may begin; `a` and `an` belong to the first noun alone."""


@functools.lru_cache(4096)
def _is_noun(word: str) -> bool:
    import lemminflect

    return word not in FUNCTION_WORDS and "NOUN" in lemminflect.getAllLemmas(word)


def _reordered(items: Sequence[str], rng: Random) -> list[str] | None:
    """The items in another order; None if all are the same."""
    if len(set(items)) < 2:
        return None
    mixed = shuffled(items, rng)
    while mixed == list(items):  # equal items may make a shuffle the order that it was
        mixed = mixed[1:] + mixed[:1]
    return mixed


def probe_suite(probes: Sequence[Probe], damage: str) -> Suite:
    """The variants of these probes as a suite.

    Raises `InputError` for damage that is no built-in rule with a parameter `k`.
    """
    uses: dict[str, PerturberUse] = {}
    if "invariance" in probes:
        uses["layout"] = PerturberUse(level="control", method="rule", degrees=_FORMS)
        uses["item_order"] = PerturberUse(level="control", method="rule")
        uses["paraphrase"] = PerturberUse(level="control", method="llm", params={"count": "all"})
    if "verbosity" in probes:
        texts = (read_probes("attacks").perturbers["padding"].params or {})["texts"]
        degrees = {f"k{k}": {"texts": texts, "count": k} for k in DOSES}
        uses["padding"] = PerturberUse(level="attack", method="rule", degrees=degrees)
    if {"calibration", "stability"} & set(probes):
        doses = DOSES if "calibration" in probes else (STABILITY_DOSE,)
        uses[damage] = _damage_use(damage, doses)
    source = "Rules and a prompt of this package; doubling doses"
    return Suite(suite="probes", source=source, perturbers=uses)


def _damage_use(damage: str, doses: Sequence[int]) -> PerturberUse:
    able = []
    for name, known in builtin_perturbers().items():
        if known.function and "k" in known.parameters:
            able.append(name)
    if damage not in able:
        raise InputError(f"`damage` '{damage}': takes no number of damages; {suggest(damage, able)}")
    level = builtin_perturbers()[damage].level
    return PerturberUse.model_validate(
        {"level": level, "method": "rule", "degrees": {f"k{k}": {"k": k} for k in doses}}
    )


def without_lower_doses(part: PerturbedDataset) -> PerturbedDataset:
    """The dataset without texts that got less than their dose: under its name they would bend the curve."""
    texts = []
    for text in part.texts:
        texts.append(fully_dosed(text) if parse_variant(text.variant).dose else text)
    return replace(part, texts=tuple(texts))
