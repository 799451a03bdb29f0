"""Published datasets in their original format, as examples or pairs.

`READERS` has a reader for each dataset of the benchmark, which yields the examples that qualify in the order
of the file; `read_published` collects them. Published pairs need no reader: their card says which column
holds what (`read_set`). Most of this file reads the translations of WMT, whose segments are sentences. They
are joined to texts that are long enough.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path

from dhp.content.catalog import read_task
from dhp.core.errors import InputError, one_of
from dhp.core.files import inner_file, inner_files, read_lines, read_text, reason
from dhp.core.records import Example
from dhp.core.sentences import sentences
from dhp.core.specs import Card
from dhp.core.tables import Row, read_table, read_tables
from dhp.loaders.dataset import Dataset
from dhp.loaders.pairs import read_pairs

_ID = "InputStoryid"
_SENTENCES = tuple(f"InputSentence{i}" for i in range(1, 5))
_ENDINGS = ("RandomFifthSentenceQuiz1", "RandomFifthSentenceQuiz2")
_ANSWER = "AnswerRightEnding"
_SECTION = "BACKGROUND"
_EXPECTED = (
    "expected: a folder that holds the folders text/ (text_1.txt, ...) and abstract/ (abstract_1.txt, ...)"
)


def read_summeval(card: Card, path: Path) -> Iterator[tuple[str, Example]]:
    """(place, example) of each article; its output is the human summary with the most sentences."""
    table = read_table(inner_file(path, (".jsonl", ".parquet"), "the table mteb/summeval"))
    table.need(("id", "text", "human_summaries"))
    for row in table.rows:
        summary = max(_summaries(row), key=lambda text: len(sentences(text)))
        yield row.place, Example(row.text("id"), row.text("text").strip(), summary)


def _summaries(row: Row) -> list[str]:
    summaries = row.values.get("human_summaries")
    texts = summaries if isinstance(summaries, list) else []
    kept = [row.encodable("human_summaries", t.strip()) for t in texts if isinstance(t, str) and t.strip()]
    if not kept:
        raise row.fault("column 'human_summaries' holds no summary; allowed: a list of texts")
    return kept


def read_story_cloze(card: Card, path: Path) -> Iterator[tuple[str, Example]]:
    """(place, example) of each story: the right ending is the output, the other one `wrong_ending`."""
    table = read_table(inner_file(path, (".csv",), "the Story Cloze Test as CSV"))
    table.need((*_SENTENCES, *_ENDINGS, _ANSWER))
    for number, row in enumerate(table.rows, 1):
        answer = row.text(_ANSWER).strip()
        if answer not in ("1", "2"):
            raise row.fault(f"column '{_ANSWER}' is '{answer}'; allowed: 1, 2")
        right, wrong = _ENDINGS if answer == "1" else reversed(_ENDINGS)
        yield (
            row.place,
            Example(
                id=row.text(_ID).strip() if _ID in table.columns else str(number),
                source=" ".join(row.text(column).strip() for column in _SENTENCES),
                output=row.text(right).strip(),
                fields={"wrong_ending": row.text(wrong).strip()},
            ),
        )


def read_answer_equivalence(card: Card, path: Path) -> Iterator[tuple[str, Example]]:
    """(place, example) of the first row of each question whose reference is long enough."""
    seen: set[str] = set()
    for file in inner_files(path, (".jsonl",), "the Answer Equivalence files"):
        table = read_table(file)
        table.need(("qid", "question", "context", "reference"))
        for row in table.rows:
            qid, reference = row.text("qid"), row.text("reference").strip()
            if len(reference) > (card.min_characters or 0) and qid not in seen:
                seen.add(qid)
                fields = {"question": row.text("question").strip()}
                yield row.place, Example(qid, row.text("context").strip(), reference, fields)


def background(text: str) -> str:
    """The section that a line BACKGROUND starts and the next line in capitals ends, white space collapsed.

    An empty string where there is no such section.
    """
    kept: list[str] = []
    inside = False
    for line in map(str.strip, text.splitlines()):
        if inside and line.isupper():  # the heading of the next section
            break
        if inside:
            kept.append(line)
        inside = inside or line == _SECTION
    return " ".join(" ".join(kept).split())


def read_sumpubmed(card: Card, path: Path) -> Iterator[tuple[str, Example]]:
    """(place, example) of each article whose text and abstract both have the section, by number."""
    root = _root(path)
    articles = _numbered(root / "text", "text")
    abstracts = _numbered(root / "abstract", "abstract")
    for number in sorted(articles.keys() & abstracts.keys(), key=lambda n: (int(n), n)):  # 2 before 10
        source, output = _background_of(articles[number]), _background_of(abstracts[number])
        if source and len(output) > (card.min_characters or 0):
            yield str(articles[number]), Example(number, source, output)


def _background_of(file: Path) -> str:
    return background(read_text(file)) if file.stat().st_size else ""


def _root(path: Path) -> Path:
    if not path.exists():
        raise InputError(f"{path}: does not exist; {_EXPECTED}")
    if not path.is_dir():
        raise InputError(f"{path}: wrong kind of file; {_EXPECTED}")
    # An archive of GitHub has one folder, in which all others are.
    candidates = (path, *sorted(path.glob("*/")), *sorted(path.glob("*/*/")))
    for folder in candidates:
        if (folder / "text").is_dir() and (folder / "abstract").is_dir():
            return folder
    raise InputError(f"{path}: no articles in this folder; {_EXPECTED}")


def _numbered(folder: Path, stem: str) -> dict[str, Path]:
    pattern = re.compile(rf"{stem}_([0-9]+)\.txt")
    paths = {path: pattern.fullmatch(path.name) for path in folder.iterdir()}
    return {match[1]: path for path, match in paths.items() if match}


TRANSLATOR = "A"
"""Whose reference is taken."""


@dataclass(frozen=True, slots=True)
class Segment:
    """One aligned piece of a document, usually a sentence."""

    document: str | None
    """Name of its document; None if the bounds of documents are unknown, so that the segment is a text of
    its own."""
    label: str
    """Number of the segment within the document or file."""
    source: str
    reference: str


def read_wmt(card: Card, path: Path) -> Iterator[tuple[str, Example]]:
    """(place, example) of each text whose reference is long enough, joined from segments if need be."""
    pair = f"{card.source_language}-{card.output_language}"
    expected = (
        f"expected: WMT's XML (wmttest2022.{pair}.all.xml), or a folder that holds it or the text files "
        f"*{pair}*src* and *{pair}*ref*{TRANSLATOR}*"
    )
    if not path.exists():
        raise InputError(f"{path}: does not exist; {expected}")
    if path.is_file() and path.suffix.lower() != ".xml":
        raise InputError(f"{path}: wrong kind of file; {expected}")
    xml = path if path.is_file() else _only(_below(path, f"*{pair}.all.xml", f"*{pair}*.xml"), path)
    segments = (
        _xml_segments(xml, card.source_language or "en") if xml else _text_segments(path, pair, expected)
    )
    # Long segments alone where there are enough of them, so that the choice does not hang on whether the
    # bounds of documents are known.
    least = card.min_characters or 0
    segments_taken = list(long_segments(segments, longer_than=least))
    if card.n is None or len(segments_taken) < card.n:
        spaced = card.source_language not in ("zh", "ja")
        segments_taken = list(join_segments(segments, spaced=spaced, longer_than=least))
    if not segments_taken and all(s.document is None for s in segments):
        raise InputError(
            f"{path}: no reference of more than {least} characters; to join shorter segments the "
            f"bounds of documents are needed: WMT's XML, a file *{pair}*docid*, or the sacrebleu package"
        )
    yield from ((str(xml or path), example) for example in segments_taken)


def _below(folder: Path, *patterns: str) -> list[Path]:
    """Files whose name fits the first of `patterns` that any fits; those nearest to `folder` only."""
    files = [p for p in sorted(folder.rglob("*")) if p.is_file()]
    for pattern in patterns:
        fits = [p for p in files if fnmatchcase(p.name, pattern)]
        if fits:
            depth = min(len(p.parts) for p in fits)
            return [p for p in fits if len(p.parts) == depth]
    return []


def _only(files: list[Path], folder: Path) -> Path | None:
    if len(files) > 1:
        names = ", ".join(str(p.relative_to(folder)) for p in files[:3])
        raise InputError(f"{folder}: {len(files)} files could be meant ({names}); leave one of them")
    return files[0] if files else None


class _NoDoctype(ET.TreeBuilder):
    """Builds trees of documents without a DTD, so that no entity can be declared."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise InputError("has a DTD; allowed: plain XML without DTD and entities")


def _xml_segments(path: Path, source_language: str) -> list[Segment]:
    try:
        root = ET.parse(path, ET.XMLParser(target=_NoDoctype())).getroot()
    except ET.ParseError as e:
        raise InputError(f"{path}: line {e.position[0]}: broken XML ({reason(e)})") from None
    except InputError as e:
        raise InputError(f"{path}: {e}") from None
    except (OSError, ValueError, LookupError) as e:
        raise InputError(f"{path}: cannot be read as XML ({reason(e)})") from None
    segments: list[Segment] = []
    translators: set[str] = set()
    names: set[str] = set()
    for number, document in enumerate(root.iter("doc"), 1):
        if "testsuite" in document.attrib:
            continue
        name = document.get("id", "")
        if not name or name in names:
            raise InputError(f"{path}: document {number}: missing or duplicate id '{name}'")
        names.add(name)
        translators.update(r.get("translator", "") for r in document.iter("ref"))
        segments += _document_segments(f"{path}: document {name}", document, source_language)
    if not segments:
        raise InputError(f"{path}: no document; allowed: <doc id=...> with <src> and <ref>")
    if TRANSLATOR not in translators:
        others = ", ".join(sorted(translators)) or "none"
        raise InputError(f"{path}: no reference by translator '{TRANSLATOR}'; found: {others}")
    return segments


def _document_segments(place: str, document: ET.Element, source_language: str) -> Iterator[Segment]:
    for source in document.iter("src"):
        language = source.get("lang", source_language)
        if language != source_language:
            raise InputError(f"{place}: source language '{language}'; allowed: {source_language}")
    references = _texts(place, [r for r in document.iter("ref") if r.get("translator") == TRANSLATOR])
    for number, source_text in _texts(place, list(document.iter("src"))).items():
        yield Segment(document.get("id"), number, source_text, references.get(number, ""))


def _texts(place: str, elements: list[ET.Element]) -> dict[str, str]:
    """Segment id -> text with white space collapsed, of all segments below `elements`."""
    texts: dict[str, str] = {}
    for element in elements:
        for segment in element.iter("seg"):
            number = segment.get("id")
            if not number or number in texts:
                raise InputError(f"{place}: missing or duplicate segment id '{number}'")
            texts[number] = _collapse("".join(segment.itertext()))
    return texts


def _text_segments(folder: Path, pair: str, expected: str) -> list[Segment]:
    """Aligned lines; the reference is found first, the other files by the start of its name."""
    reference = _only(
        _below(folder, f"*{pair}*ref[!a-zA-Z0-9]{TRANSLATOR}*", f"*{pair}*ref*{TRANSLATOR}*"), folder
    )
    if reference is None:
        raise InputError(f"{folder}: no reference {TRANSLATOR} of {pair} in this folder; {expected}")
    start = reference.name.partition(pair)[0] + pair
    source = _only(_below(folder, f"{start}*src*"), folder)
    if source is None:
        raise InputError(f"{folder}: no file {start}*src* beside {reference.name}; {expected}")
    bounds = _only(_below(folder, f"{start}*docid*"), folder)
    sources, references = _aligned(source, reference)
    documents = _aligned(bounds, reference)[0] if bounds else [None] * len(references)
    segments: list[Segment] = []
    for document, source_text, reference_text in zip(documents, sources, references, strict=True):
        name = None if document is None else _collapse(document)
        number = str(len(segments) + 1)
        segments.append(Segment(name, number, _collapse(source_text), _collapse(reference_text)))
    return segments


def _aligned(file: Path, reference: Path) -> tuple[list[str], list[str]]:
    lines, others = read_lines(file), read_lines(reference)
    if len(lines) != len(others):
        raise InputError(f"{file}: {len(lines)} lines; allowed: {len(others)}, as in {reference.name}")
    return lines, others


def _collapse(text: str) -> str:
    return " ".join(text.split())


# Long enough texts


def join_segments(segments: Iterable[Segment], *, spaced: bool, longer_than: int) -> Iterator[Example]:
    """Texts of consecutive segments of one document whose joined reference just passes the minimum.

    References are joined by a space, sources too where `spaced` (Chinese is not). A text ends with the
    segment that brings its reference over the minimum; what remains of a document is dropped. A
    segment without source or reference breaks the row of consecutive ones.
    """
    for _, run in groupby(enumerate(segments), key=_run):
        text: list[Segment] = []
        for _, segment in run:
            if not (segment.source and segment.reference):
                text = []  # what is on either side of it does not belong together
                continue
            text.append(segment)
            reference = " ".join(s.reference for s in text)
            if len(reference) > longer_than:
                source = (" " if spaced else "").join(s.source for s in text)
                yield Example(_id(text), source, reference, _document(text[0]))
                text = []


def long_segments(segments: Iterable[Segment], *, longer_than: int) -> Iterator[Example]:
    """The segments whose reference is long enough by itself."""
    for segment in segments:
        if segment.source and len(segment.reference) > longer_than:
            yield Example(_id([segment]), segment.source, segment.reference, _document(segment))


def _document(segment: Segment) -> dict[str, str]:
    """The field that says which examples are of one document."""
    return {} if segment.document is None else {"cluster": segment.document}


def _run(item: tuple[int, Segment]) -> tuple[str | None, int]:
    """Tells the segments of one document from others; one without a document is alone."""
    position, segment = item
    return segment.document, position if segment.document is None else 0


def _id(text: list[Segment]) -> str:
    document, first, last = text[0].document, text[0].label, text[-1].label
    return f"line-{first}" if document is None else f"{document}#{first}-{last}"


Reader = Callable[[Card, Path], Iterator[tuple[str, Example]]]

READERS: Mapping[str, Reader] = {
    "summeval": read_summeval,
    "sumpubmed": read_sumpubmed,
    "story_cloze": read_story_cloze,
    "answer_equivalence": read_answer_equivalence,
    "wmt22_deen": read_wmt,
    "wmt22_zhen": read_wmt,
}
"""Dataset -> its reader, which yields (place, example) of the eligible examples."""


def read_set(card: Card, path: Path, fields: Mapping[str, str] | None = None) -> Dataset:
    """A published dataset, without a suite: pairs as its card says, else its eligible examples.

    `fields` (our name -> column) takes the place of what the card says of pairs. Raises `InputError` as
    `read_pairs` and `read_published`.
    """
    form, task = card.pairs, read_task(card.task)
    if form is None:
        examples = tuple(read_published(card, path))
        return Dataset(card.dataset, examples, task, None, examples)
    form = form.model_copy(update={"fields": {**form.fields, **(fields or {})}})
    return read_pairs(card.dataset, read_tables(path, form.files), form, task)


def read_published(card: Card, path: Path) -> list[Example]:
    """All eligible examples of a published dataset, in file order.

    `path` is the file or folder as its owners publish it; `card.selection` says what is eligible. The
    choice of N is not made here. Raises `InputError` for a missing, empty, broken or wrong file, for a
    missing column, a duplicate id, and if no example is eligible.
    """
    one_of("published dataset", card.dataset, READERS)
    first_places: dict[str, str] = {}
    examples: list[Example] = []
    for place, example in READERS[card.dataset](card, path):
        first = first_places.get(example.id)
        if first:
            raise InputError(f"{place}: duplicate id '{example.id}' (first at {first})")
        first_places[example.id] = place
        examples.append(example)
    if not examples:
        raise InputError(f"{path}: no example qualifies; allowed: {' '.join(card.selection.split())}")
    return examples
