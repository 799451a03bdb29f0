"""Segments of a translated document, joined until the reference is long enough."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from dhp.core.records import Example

MIN_CHARACTERS = 300
"""A reference must be longer than this."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One aligned piece of a document, usually a sentence."""

    document: str | None
    """Whose part it is; None where the bounds of documents are unknown, so that it stands alone."""
    label: str
    """Its number within the document or file."""
    source: str
    reference: str


def join_segments(segments: Iterable[Segment], *, spaced: bool) -> Iterator[Example]:
    """Texts of consecutive segments of one document whose joined reference just passes the minimum.

    References are joined by a space, sources too where `spaced` (Chinese is not). A text ends with the
    segment that brings its reference over `MIN_CHARACTERS`; what remains of a document is dropped. A
    segment without source or reference breaks the row of consecutive ones.
    """
    for _, run in groupby(enumerate(segments), key=_run):
        text: list[Segment] = []
        for _, segment in run:
            if not (segment.source and segment.reference):
                text = []
                continue
            text.append(segment)
            reference = " ".join(s.reference for s in text)
            if len(reference) > MIN_CHARACTERS:
                source = (" " if spaced else "").join(s.source for s in text)
                yield Example(_id(text), source, reference)
                text = []


def long_segments(segments: Iterable[Segment]) -> Iterator[Example]:
    """The segments whose reference is long enough by itself."""
    for segment in segments:
        if segment.source and len(segment.reference) > MIN_CHARACTERS:
            yield Example(_id([segment]), segment.source, segment.reference)


def _run(item: tuple[int, Segment]) -> tuple[str | None, int]:
    position, segment = item
    return segment.document, position if segment.document is None else 0


def _id(text: list[Segment]) -> str:
    document, first, last = text[0].document, text[0].label, text[-1].label
    return f"line-{first}" if document is None else f"{document}#{first}-{last}"
