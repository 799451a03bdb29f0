"""Reviews of degraded texts: pairs, decisions, the reviewed set and its summary.

`read_reviewable` makes pairs of a set, `review_page` the page on which a person looks at them. The files
that it saves are read by `read_reviews`; `summary` has their figures, `reviewed_parts` the set without
rejected texts.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field, model_validator

from dhp.content.catalog import descriptions, variant_name
from dhp.core.diff import audit, diff
from dhp.core.errors import InputError
from dhp.core.records import Example, PerturbedText, Variant, parse_variant
from dhp.core.seeding import shuffled, stream
from dhp.core.shown import printable
from dhp.core.specs import Spec
from dhp.perturb.builder import found_datasets, part_of
from dhp.perturb.llm.acceptance import fault
from dhp.perturb.perturbed_dataset import PerturbedDataset
from dhp.perturb.set_audit import audited
from dhp.perturb.sets import ReviewedKind, SetReview, read_card, read_form, read_set
from dhp.perturb.settings import Choice
from dhp.report.web import page
from dhp.stats.arrays import Floats
from dhp.stats.influences import mean_influences, wilson_interval
from dhp.stats.krippendorff import krippendorff_alpha

Key = tuple[str, str, str]
"""Dataset, variant, example."""


@dataclass(frozen=True, slots=True)
class Pair:
    """An original and its degraded text."""

    dataset: str
    variant: Variant
    original: str
    degraded: PerturbedText
    degraded_is_left: bool
    """Side of the page, drawn from the hash of the set; all reviewers see the same."""

    @property
    def key(self) -> Key:
        return self.dataset, self.variant.name, self.degraded.example


@dataclass(frozen=True, slots=True)
class ReviewableSet:
    """A perturbation set with its pairs."""

    folder: Path
    hash: str
    parts: Mapping[str, PerturbedDataset]
    pairs: Mapping[Key, Pair]
    """In random order, drawn from the hash of the set, so that the first pairs are a random sample."""


def read_reviewable(folder: Path) -> ReviewableSet:
    """The set with the pairs that differ.

    Raises `InputError` for a broken set, and if no text differs from its original.
    """
    parts, set_hash = read_set(folder), read_card(folder).sha256
    pairs: list[Pair] = []
    for part in parts.values():
        pairs += _pairs(part, set_hash)
    if not pairs:
        raise InputError(f"{folder}: no text differs from its original; must be a set with degraded texts")
    order = shuffled(pairs, stream(set_hash, "review"))
    return ReviewableSet(folder, set_hash, parts, {pair.key: pair for pair in order})


def _pairs(part: PerturbedDataset, set_hash: str) -> list[Pair]:
    outputs = part.outputs
    variants = {variant.name: variant for variant in part.variants}
    pairs = []
    name = part.dataset.name
    for text in part.texts:
        original = outputs[text.example]
        # A text that does not apply, or equals its original, leaves nothing to decide.
        if text.text is not None and text.text != original:
            is_left = stream(set_hash, name, text.variant, text.example).random() < 0.5
            pairs.append(Pair(name, variants[text.variant], original, text, is_left))
    return pairs


Check = tuple[bool, str]
"""Whether a degraded text passed a check, and what was found."""


def checks(reviewable: ReviewableSet) -> dict[Key, list[Check]]:
    """Pair -> edits, similarity, the checks of texts by language model, what stands out in its variant."""
    outliers: dict[Key, str] = {}
    for part in reviewable.parts.values():
        for kind in audited(part):
            for example, why in kind.outliers.items():
                outliers[part.dataset.name, kind.variant.name, example] = why

    by_pair = {}
    for key, pair in reviewable.pairs.items():
        by_pair[key] = _checks(pair, outliers.get(key))
    return by_pair


def _checks(pair: Pair, outlier: str | None) -> list[Check]:
    listed: list[Check] = []
    audit = pair.degraded.audit
    # Only rules that count their edits say how many were asked for and made.
    if audit and audit.asked is not None and audit.made is not None:
        listed.append((audit.made >= audit.asked, f"{audit.made} of {audit.asked} edits made"))
    if audit:
        listed.append((True, f"similarity to the original {audit.similarity:.2f}"))
    if pair.variant.method in ("llm", "authored") and not pair.degraded.by_hand:
        listed.append(_acceptance(pair))
    for why in pair.degraded.rejected:
        listed.append((False, f"an earlier answer was rejected: {why}"))
    if pair.degraded.by_hand:
        listed.append((True, "edited by hand"))
    if outlier:
        listed.append((False, f"stands out: {outlier}"))
    return listed


def _acceptance(pair: Pair) -> Check:
    """The checks that an answer of a language model must pass; those for English if it looks so."""
    count = pair.variant.params.get("count", "all")
    asked = count if isinstance(count, int | str) else "all"
    why = fault(pair.variant.perturber, pair.original, pair.degraded.text or "", asked, language="en")
    return why is None, why or "passes the checks of its kind of damage"


SCHEMA = "dhp.review/1"
NAME_LENGTH = 80
"""Most characters of a reviewer's name or role. Chosen."""
NOTE_LENGTH = 500
"""Most characters of a note on a text. Chosen."""
Worse = Literal["degraded", "original", "same"]
Decision = Literal["accept", "reject", "edit"]


class ReviewedText(Spec):
    """What was said of one pair."""

    dataset: str
    variant: str
    example: str
    worse: Worse
    """Text that is worse, said before it was shown which is which."""
    decision: Decision
    text: str | None = None
    """Text that takes the place of the degraded one, for the decision `edit` alone."""
    note: str = Field(default="", max_length=NOTE_LENGTH)

    @model_validator(mode="after")
    def _text_with_edit(self) -> "ReviewedText":
        if (self.decision == "edit") != (self.text is not None):
            raise ValueError(f"decision '{self.decision}' does not go with the text; allowed: edit with one")
        if self.text is not None and not self.text.strip():
            raise ValueError("the text is empty; must hold text")
        return self

    @property
    def key(self) -> Key:
        return self.dataset, self.variant, self.example


class ReviewFile(Spec):
    """A saved review; pairs that it lacks are not reviewed."""

    schema_: str = Field(alias="schema")
    set: str
    """The `sha256` of the set."""
    id: str = Field(min_length=1)
    """Random, so that no review counts twice."""
    reviewer: str = Field(max_length=NAME_LENGTH)
    date: str
    reviews: list[ReviewedText]


Reviews = Mapping[str, Mapping[Key, ReviewedText]]
"""Reviewer, by name or role in their own words, else `reviewer K` -> what they said of each text."""


def read_reviews(files: Sequence[str], reviewable: ReviewableSet) -> Reviews:
    """Reviews of a set, one of each file.

    Raises `InputError` (file, place, what is allowed) for a broken file, a review of another set, a text that
    the set lacks or that is there twice, an edit that changes nothing, and the same review twice.
    """
    reviews: dict[str, Mapping[Key, ReviewedText]] = {}
    read: dict[str, str] = {}  # id of a review -> the file that has it
    for number, file in enumerate(files, 1):
        review_file = _read(Path(file), reviewable)
        if review_file.id in read:
            raise InputError(
                f"{file}: the same review as {read[review_file.id]}; must have each reviewer once"
            )
        read[review_file.id] = file
        name = printable(review_file.reviewer.strip()) or f"reviewer {number}"
        while name in reviews:  # two reviewers may have one name, or one role
            name = f"{name} ({number})"
        reviews[name] = _by_key(file, review_file, reviewable)
    return reviews


def _read(path: Path, reviewable: ReviewableSet) -> ReviewFile:
    content, _ = read_form(path, ReviewFile, SCHEMA)
    if content.set != reviewable.hash:
        raise InputError(
            f"{path}: is a review of another set, {content.set[:12]}; "
            f"allowed: of {reviewable.folder}, {reviewable.hash[:12]}"
        )
    return content


def _by_key(file: str, content: ReviewFile, reviewable: ReviewableSet) -> dict[Key, ReviewedText]:
    texts: dict[Key, ReviewedText] = {}
    for index, text in enumerate(content.reviews):
        place = f"{file}: reviews.{index}"
        pair = reviewable.pairs.get(text.key)
        if pair is None:
            raise InputError(
                f"{place}: the set has no pair of '{text.dataset}', '{text.variant}', '{text.example}'"
            )
        if text.key in texts:
            raise InputError(f"{place}: a second review of the same text; must be one")
        if text.text in (pair.original, pair.degraded.text):
            raise InputError(f"{place}: the edited text equals one of the pair; must be another text")
        texts[text.key] = text
    return texts


def summary(reviewable: ReviewableSet, reviews: Reviews) -> SetReview:
    """The figures of a set's reviews, as its card holds them; texts without a decision do not count."""
    settled = list(decisions(reviews).values())
    return SetReview(
        of=reviewable.hash,
        texts=len(reviewable.pairs),
        reviewers={reviewer: len(texts) for reviewer, texts in reviews.items()},
        rejected=settled.count("reject"),
        by_hand=settled.count("edit"),
        alpha=agreement(reviewable, reviews),
        kinds=list(_kinds(reviewable, reviews)),
    )


def decisions(reviews: Reviews) -> dict[Key, Decision]:
    """What is done with each reviewed text: one rejection rejects it, else one edit edits it."""
    by_key: dict[Key, set[Decision]] = {}
    for texts in reviews.values():
        for key, text in texts.items():
            by_key.setdefault(key, set()).add(text.decision)

    # The first of these that any reviewer said decides.
    ranked: tuple[Decision, ...] = ("reject", "edit", "accept")
    decided: dict[Key, Decision] = {}
    for key, all_said in by_key.items():
        decided[key] = min(all_said, key=ranked.index)
    return decided


def agreement(reviewable: ReviewableSet, reviews: Reviews) -> float | None:
    """Krippendorff's alpha, nominal, of the side that is worse: left, right or neither.

    Sides are drawn at random, so that alpha stays meaningful if nearly all damage is seen.
    """
    rows = []
    for texts in reviews.values():
        row: list[float] = []  # a place for each pair, NaN if this reviewer did not decide on it
        for key, pair in reviewable.pairs.items():
            if key in texts:
                row.append(_side(texts[key].worse, pair))
            else:
                row.append(np.nan)
        rows.append(row)
    return krippendorff_alpha(np.array(rows, dtype=np.float64), nominal=True)


def _side(worse: Worse, pair: Pair) -> int:
    """-1 for left, 1 for right, 0 for neither."""
    if worse == "same":
        return 0
    worse_is_left = (worse == "degraded") == pair.degraded_is_left
    return -1 if worse_is_left else 1


def _kinds(reviewable: ReviewableSet, reviews: Reviews) -> Iterator[ReviewedKind]:
    # Dataset, variant -> of each reviewed text what its reviewers said.
    answers: dict[tuple[str, str], list[list[Worse]]] = {}
    for key in reviewable.pairs:
        of_text = [text.worse for text in _said(key, reviews)]
        if of_text:
            answers.setdefault(key[:2], []).append(of_text)

    # In the order of the set, not in the random one of the page.
    for part in reviewable.parts.values():
        for variant in part.variants:
            of_texts = answers.get((part.dataset.name, variant.name))
            if of_texts:
                yield _kind(part.dataset.name, variant.name, of_texts)


def _kind(dataset: str, variant: str, answers: Sequence[Sequence[Worse]]) -> ReviewedKind:
    """Of what reviewers said of each text; a text with several reviewers counts once."""
    worse = _shares(answers, "degraded")
    low, high = share_interval(worse)
    return ReviewedKind(
        dataset=dataset,
        variant=variant,
        texts=len(answers),
        worse=float(worse.mean()),
        low=low,
        high=high,
        same=float(_shares(answers, "same").mean()),
        better=float(_shares(answers, "original").mean()),
    )


def _shares(answers: Sequence[Sequence[Worse]], word: Worse) -> Floats:
    """Of each text the share of its reviewers who said so."""
    shares = []
    for of_text in answers:
        shares.append(of_text.count(word) / len(of_text))
    return np.array(shares)


def share_interval(values: Floats) -> tuple[float | None, float | None]:
    """Wilson's 95 % interval of the mean of texts' shares; None with fewer than two texts."""
    low, high = wilson_interval(mean_influences(values))
    if np.isnan(low):
        return None, None
    return float(low), float(high)


def reviewed_parts(reviewable: ReviewableSet, reviews: Reviews) -> list[PerturbedDataset]:
    """The parts of the set with the decisions of its reviewers.

    A rejected text is left out: in its place stand the reason and the reviewer's note. Of several edits of a
    text the first file's counts. Texts that nobody reviewed stay.
    """
    settled = decisions(reviews)
    return [_reviewed(part, settled, reviews) for part in reviewable.parts.values()]


def _reviewed(part: PerturbedDataset, settled: Mapping[Key, Decision], reviews: Reviews) -> PerturbedDataset:
    outputs = part.outputs
    texts = []
    for text in part.texts:
        key = (part.dataset.name, text.variant, text.example)
        decision = settled.get(key)
        if decision == "reject":
            reason = _reason(_said(key, reviews))
            texts.append(replace(text, text=None, reason=reason, audit=None, by_hand=False))
        elif decision == "edit":
            edited = _edited(_said(key, reviews))
            its_audit = audit(outputs[text.example], edited)
            texts.append(replace(text, text=edited, audit=its_audit, by_hand=True))
        else:
            texts.append(text)
    return replace(part, texts=tuple(texts), origins=_origins(part, texts))


def _edited(reviews: Sequence[ReviewedText]) -> str:
    """The text of the first reviewer who edited it; there is one."""
    edits = [review.text for review in reviews if review.text is not None]
    return edits[0]


def _reason(reviews: Sequence[ReviewedText]) -> str:
    """Why a text is left out, with the first reviewer's note if there is one."""
    for review in reviews:
        if review.decision == "reject" and review.note:
            return f"rejected in review: {review.note}"
    return "rejected in review"


def _said(key: Key, reviews: Reviews) -> list[ReviewedText]:
    """What the reviewers said of a text."""
    of_text = []
    for texts in reviews.values():
        if key in texts:
            of_text.append(texts[key])
    return of_text


def _origins(part: PerturbedDataset, texts: Sequence[PerturbedText]) -> dict[str, str]:
    """What made the texts of a perturber, with the number of those edited by hand."""
    perturbers = {variant.name: variant.perturber for variant in part.variants}
    counts: Counter[str] = Counter()
    for text in texts:
        if text.by_hand:
            counts[perturbers[text.variant]] += 1
    made_by = dict(part.origins)
    for perturber, count in counts.items():
        # A set that was reviewed before counts its edits already: "general, 3 by hand".
        before = re.sub(r", \d+ by hand$", "", part.origins.get(perturber, perturber))
        made_by[perturber] = f"{before}, {count} by hand"
    return made_by


_ASSETS = Path(__file__).parent / "assets"


def examples_with_sources(
    reviewable: ReviewableSet, dataset: Sequence[str]
) -> dict[tuple[str, str], Mapping[str, str]]:
    """(dataset, example) -> label -> what its writer had.

    Raises `InputError` for data that the set was not made of.
    """
    sources: dict[tuple[str, str], Mapping[str, str]] = {}
    datasets, _ = found_datasets(list(dataset), Choice(perturbed=reviewable.folder), 0)
    for each in datasets:
        part_of(reviewable.parts, each)
        labels = {"": each.task.source_label or "source", **each.task.shown_fields}  # "" is the source
        for example in each.examples:
            sources[each.name, example.id] = _shown(example, labels)
    return sources


def _shown(example: Example, labels: Mapping[str, str]) -> dict[str, str]:
    texts = {"": example.source, **example.fields}
    shown = {}
    for name, label in labels.items():
        if texts.get(name):
            shown[label] = texts[name]
    return shown


def review_page(reviewable: ReviewableSet, sources: Mapping[tuple[str, str], Mapping[str, str]] = {}) -> str:
    """The page: pair by pair, first blind, then with kind, edits and checks.

    It asks nothing of any network and runs no script but its own (content security policy). Progress is kept
    in the browser under the hash of the set. The same set gives the same page. `sources` has (dataset,
    example) -> label -> text that the writer had, shown beside the pairs.
    """
    return page(
        _ASSETS / "review.html",
        styles=(_ASSETS / "review.css",),
        scripts=(_ASSETS / "review.js",),
        count=len(reviewable.pairs),
        name_length=NAME_LENGTH,
        data=_data(reviewable, sources),
    )


def _data(reviewable: ReviewableSet, sources: Mapping[tuple[str, str], Mapping[str, str]]) -> dict[str, Any]:
    """What the script shows; texts of an example and descriptions of a variant are there once."""
    checked, known = checks(reviewable), descriptions()
    # Number of each example and each kind in their lists, by which the pairs refer to them.
    examples: dict[tuple[str, str], int] = {}
    variants: dict[tuple[str, str], int] = {}
    shown: list[dict[str, Any]] = []
    pairs = []
    for pair in reviewable.pairs.values():
        key = pair.dataset, pair.degraded.example
        if key not in examples:
            examples[key] = len(shown)
            source = sources.get(key, {})
            shown.append({"dataset": key[0], "id": key[1], "original": pair.original, "source": source})
        variant = variants.setdefault((pair.variant.name, pair.variant.level), len(variants))
        pairs.append(_pair(pair, examples[key], variant, checked[pair.key]))

    kinds = []
    for name, level in variants:
        description = known.get(parse_variant(name).perturber, "")
        kinds.append({"name": name, "words": variant_name(name), "level": level, "description": description})
    return {
        "schema": SCHEMA,
        "set": reviewable.hash,
        "note_length": NOTE_LENGTH,
        "examples": shown,
        "kinds": kinds,
        "pairs": pairs,
    }


def _pair(pair: Pair, example: int, variant: int, checked: Sequence[Check]) -> dict[str, Any]:
    """Without what is deleted the pieces are the degraded text, beside which stands the original."""
    pieces = diff(pair.original, pair.degraded.text or "", pair.variant.level)
    return {
        "example": example,
        "kind": variant,
        "left": pair.degraded_is_left,
        "pieces": [operation + piece for operation, piece in pieces],
        "checks": [list(check) for check in checked],
    }
