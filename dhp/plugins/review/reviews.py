"""Reviews: what one person said of the pairs of a set, as the page saves it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from dhp.core.errors import InputError
from dhp.core.files import parse_json, read_text
from dhp.core.specs import Spec
from dhp.core.text import printable
from dhp.perturb.sets import parsed
from dhp.plugins.review.pairs import Key, ReviewableSet

SCHEMA = "dhp.review/1"
NAME_LENGTH = 80
"""Most characters of a reviewer's name or role."""
NOTE_LENGTH = 500
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
            raise ValueError("the text is empty; allowed: text")
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


@dataclass(frozen=True, slots=True)
class Review:
    """One person's review."""

    file: str
    id: str
    reviewer: str
    """Name or role in the reviewer's own words, else `reviewer K`; no two are the same."""
    texts: Mapping[Key, ReviewedText]


def read_reviews(files: Sequence[str], reviewable: ReviewableSet) -> list[Review]:
    """Reviews of a set, one of each file.

    Raises `InputError` (file, place, what is allowed) for a broken file, a review of another set, a text that
    the set lacks or that is there twice, an edit that is none, and the same review twice.
    """
    reviews: list[Review] = []
    for number, file in enumerate(files, 1):
        found = _read(Path(file), reviewable)
        if twin := next((each for each in reviews if each.id == found.id), None):
            raise InputError(f"{file}: the same review as {twin.file}; allowed: each reviewer once")
        name = printable(found.reviewer.strip()) or f"reviewer {number}"
        if any(each.reviewer == name for each in reviews):
            name = f"{name} ({number})"
        texts = _by_key(file, found, reviewable)
        reviews.append(Review(file, found.id, name, texts))
    return reviews


def _read(path: Path, reviewable: ReviewableSet) -> ReviewFile:
    text = read_text(path)
    data = parse_json(str(path), text)
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA:
        raise InputError(f"{path}: schema is {schema!r}; allowed: {SCHEMA}")
    found = parsed(text, ReviewFile, str(path))
    if found.set != reviewable.hash:
        raise InputError(
            f"{path}: is a review of another set, {found.set[:12]}; "
            f"allowed: of {reviewable.folder}, {reviewable.hash[:12]}"
        )
    return found


def _by_key(file: str, found: ReviewFile, reviewable: ReviewableSet) -> dict[Key, ReviewedText]:
    texts: dict[Key, ReviewedText] = {}
    for index, said in enumerate(found.reviews):
        place = f"{file}: reviews.{index}"
        pair = reviewable.pairs.get(said.key)
        if pair is None:
            raise InputError(
                f"{place}: the set has no pair of '{said.dataset}', '{said.variant}', '{said.example}'"
            )
        if said.key in texts:
            raise InputError(f"{place}: a second review of the same text; allowed: one")
        if said.text in (pair.original, pair.degraded.text):
            raise InputError(f"{place}: the edited text equals one of the pair; allowed: another text")
        texts[said.key] = said
    return texts
