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
from pathlib import Path

from dhp.content.catalog import read_task
from dhp.core.errors import InputError, one_of
from dhp.core.files import inner_file, inner_files, read_lines, read_text, reason
from dhp.core.records import Example
from dhp.core.sentences import sentences
from dhp.core.specs import Card
from dhp.core.tables import Row, read_table, read_tables
from dhp.loaders.dataset import Dataset
from dhp.loaders.pairs import read_pairs, single_spaced

# Columns of the Story Cloze Test.
_ID = "InputStoryid"
_SENTENCES = ("InputSentence1", "InputSentence2", "InputSentence3", "InputSentence4")
_ENDINGS = ("RandomFifthSentenceQuiz1", "RandomFifthSentenceQuiz2")
_ANSWER = "AnswerRightEnding"
"""1 or 2, the number of the right ending."""


def read_summeval(card: Card, path: Path) -> Iterator[tuple[str, Example]]:
    """(place, example) of each article; its output is the human summary with the most sentences."""
    table = read_table(inner_file(path, (".jsonl", ".parquet"), "the table mteb/summeval"))
    table.need(("id", "text", "human_summaries"))
    for row in table.rows:
        # Of equally long ones `max` takes the first.
        summary = max(_summaries(row), key=lambda text: len(sentences(text)))
        yield row.place, Example(row.text("id"), row.text("text").strip(), summary)


def _summaries(row: Row) -> list[str]:
    listed = row.values.get("human_summaries")
    summaries = []
    for text in listed if isinstance(listed, list) else []:
        if isinstance(text, str) and text.strip():
            summaries.append(row.encodable("human_summaries", text.strip()))
    if not summaries:
        raise row.fault("column 'human_summaries' holds no summary; allowed: a list of texts")
    return summaries


def read_story_cloze(card: Card, path: Path) -> Iterator[tuple[str, Example]]:
    """(place, example) of each story: the right ending is the output, the other one `wrong_ending`."""
    table = read_table(inner_file(path, (".csv",), "the Story Cloze Test as CSV"))
    table.need((*_SENTENCES, *_ENDINGS, _ANSWER))
    for number, row in enumerate(table.rows, 1):
        answer = row.text(_ANSWER).strip()
        if answer not in ("1", "2"):
            raise row.fault(f"column '{_ANSWER}' is '{answer}'; allowed: 1, 2")
        first, second = _ENDINGS
        right, wrong = (first, second) if answer == "1" else (second, first)
        identity = row.text(_ID).strip() if _ID in table.columns else str(number)
        story = " ".join(row.text(column).strip() for column in _SENTENCES)
        # Kept for perturbers that put it in the place of the right one.
        fields = {"wrong_ending": row.text(wrong).strip()}
        yield row.place, Example(identity, story, row.text(right).strip(), fields)


def read_answer_equivalence(card: Card, path: Path) -> Iterator[tuple[str, Example]]:
    """(place, example) of the first row of each question whose reference is long enough."""
    least = card.min_characters or 0
    questions: set[str] = set()  # there is a row for each answer to a question
    for file in inner_files(path, (".jsonl",), "the Answer Equivalence files"):
        table = read_table(file)
        table.need(("qid", "question", "context", "reference"))
        for row in table.rows:
            question, reference = row.text("qid"), row.text("reference").strip()
            if len(reference) > least and question not in questions:
                questions.add(question)
                fields = {"question": row.text("question").strip()}
                yield row.place, Example(question, row.text("context").strip(), reference, fields)


_SECTION = "BACKGROUND"
"""The heading of the section of SumPubMed that is taken, of articles and of abstracts."""
_EXPECTED = (
    "expected: a folder that holds the folders text/ (text_1.txt, ...) and abstract/ (abstract_1.txt, ...)"
)


def read_sumpubmed(card: Card, path: Path) -> Iterator[tuple[str, Example]]:
    """(place, example) of each article whose text and abstract both have the section, by number."""
    root = _root(path)
    articles = _numbered(root / "text", "text")
    abstracts = _numbered(root / "abstract", "abstract")
    in_both = articles.keys() & abstracts.keys()
    for number in sorted(in_both, key=lambda digits: (int(digits), digits)):  # 2 before 10
        source, output = _background_of(articles[number]), _background_of(abstracts[number])
        if source and len(output) > (card.min_characters or 0):
            yield str(articles[number]), Example(number, source, output)


def _background_of(file: Path) -> str:
    # `read_text` refuses an empty file; here it is an article that does not qualify.
    return background(read_text(file)) if file.stat().st_size else ""


def background(text: str) -> str:
    """The section that a line BACKGROUND starts and the next line in capitals ends, on one line.

    An empty string if there is no such section.
    """
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        line = line.strip()
        if inside and line.isupper():  # the heading of the next section
            break
        if inside:
            lines.append(line)
        elif line == _SECTION:
            inside = True
    return single_spaced(" ".join(lines))


def _root(path: Path) -> Path:
    """The folder that holds `text/` and `abstract/`: the one that is given, or one in it."""
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
    """Number -> file, of those called `text_12.txt` if `stem` is text."""
    files = {}
    for path in folder.iterdir():
        match = re.fullmatch(rf"{stem}_([0-9]+)\.txt", path.name)
        if match:
            files[match[1]] = path
    return files


TRANSLATOR = "A"
"""The translator of WMT22 whose reference is taken, as the cards say."""


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
    if xml is not None:
        segments = _xml_segments(xml, card.source_language or "en")
    else:
        segments = _text_segments(path, pair, expected)
    # If there are enough long segments, these alone: then the choice is the same whether the bounds of
    # documents are known or not.
    least = card.min_characters or 0
    examples = list(long_segments(segments, longer_than=least))
    if card.n is None or len(examples) < card.n:
        spaced = card.source_language not in ("zh", "ja")
        examples = list(join_segments(segments, spaced=spaced, longer_than=least))
    if not examples and all(segment.document is None for segment in segments):
        raise InputError(
            f"{path}: no reference of more than {least} characters; to join shorter segments the "
            f"bounds of documents are needed: WMT's XML, a file *{pair}*docid*, or the sacrebleu package"
        )
    for example in examples:
        yield str(xml or path), example


def _below(folder: Path, *patterns: str) -> list[Path]:
    """Files whose names fit the first pattern that any file fits; only those nearest to `folder`."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    for pattern in patterns:
        fitting = [path for path in files if fnmatchcase(path.name, pattern)]
        if fitting:
            depth = min(len(path.parts) for path in fitting)
            return [path for path in fitting if len(path.parts) == depth]
    return []


def _only(files: list[Path], folder: Path) -> Path | None:
    """The one file, None for no file; raises `InputError` for several."""
    if len(files) > 1:
        names = ", ".join(str(path.relative_to(folder)) for path in files[:3])
        raise InputError(f"{folder}: {len(files)} files could be meant ({names}); leave one of them")
    return files[0] if files else None


class _NoDoctype(ET.TreeBuilder):
    """Builds trees of documents without a DTD. One may declare entities, which unpack to any size."""

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
        # `testsuite="challenge"`: such documents are no part of the set.
        if "testsuite" in document.attrib:
            continue
        name = document.get("id", "")
        if not name or name in names:
            raise InputError(f"{path}: document {number}: missing or duplicate id '{name}'")
        names.add(name)
        for reference in document.iter("ref"):
            # Those of all documents, as one of them may lack the reference that is taken.
            translators.add(reference.get("translator", ""))
        segments += _document_segments(f"{path}: document {name}", document, source_language)
    if not segments:
        raise InputError(f"{path}: no document; allowed: <doc id=...> with <src> and <ref>")
    if TRANSLATOR not in translators:
        others = ", ".join(sorted(translators)) or "none"
        raise InputError(f"{path}: no reference by translator '{TRANSLATOR}'; found: {others}")
    return segments


def _document_segments(place: str, document: ET.Element, source_language: str) -> Iterator[Segment]:
    """The segments of a document; the reference is empty if the translator left one out."""
    for source in document.iter("src"):
        language = source.get("lang", source_language)
        if language != source_language:
            raise InputError(f"{place}: source language '{language}'; allowed: {source_language}")
    ours = [each for each in document.iter("ref") if each.get("translator") == TRANSLATOR]
    references = _texts(place, ours)
    for number, source_text in _texts(place, document.iter("src")).items():
        yield Segment(document.get("id"), number, source_text, references.get(number, ""))


def _texts(place: str, elements: Iterable[ET.Element]) -> dict[str, str]:
    """Segment id -> text on one line, of all segments below `elements`."""
    texts: dict[str, str] = {}
    for element in elements:
        for segment in element.iter("seg"):
            number = segment.get("id")
            if not number or number in texts:
                raise InputError(f"{place}: missing or duplicate segment id '{number}'")
            texts[number] = single_spaced("".join(segment.itertext()))
    return texts


def _text_segments(folder: Path, pair: str, expected: str) -> list[Segment]:
    """Aligned lines; the reference is found first, the other files by the start of its name."""
    # `generaltest2022.de-en.ref.A.en` before names with other letters between, such as `refs_A`.
    references_of_a = _below(folder, f"*{pair}*ref[!a-zA-Z0-9]{TRANSLATOR}*", f"*{pair}*ref*{TRANSLATOR}*")
    reference = _only(references_of_a, folder)
    if reference is None:
        raise InputError(f"{folder}: no reference {TRANSLATOR} of {pair} in this folder; {expected}")
    start = reference.name.partition(pair)[0] + pair  # `generaltest2022.de-en`
    source = _only(_below(folder, f"{start}*src*"), folder)
    if source is None:
        raise InputError(f"{folder}: no file {start}*src* beside {reference.name}; {expected}")
    bounds = _only(_below(folder, f"{start}*docid*"), folder)
    sources, references = _aligned(source, reference)
    documents = _aligned(bounds, reference)[0] if bounds else [None] * len(references)
    segments: list[Segment] = []
    aligned = zip(documents, sources, references, strict=True)
    for number, (document, source_text, reference_text) in enumerate(aligned, 1):
        # A line of the file of documents is the name of one, with white space around it.
        name = None if document is None else single_spaced(document)
        segments.append(Segment(name, str(number), single_spaced(source_text), single_spaced(reference_text)))
    return segments


def _aligned(file: Path, reference: Path) -> tuple[list[str], list[str]]:
    """The lines of both files; raises `InputError` if one has more than the other."""
    lines, others = read_lines(file), read_lines(reference)
    if len(lines) != len(others):
        raise InputError(f"{file}: {len(lines)} lines; allowed: {len(others)}, as in {reference.name}")
    return lines, others


def join_segments(segments: Iterable[Segment], *, spaced: bool, longer_than: int) -> Iterator[Example]:
    """Texts of consecutive segments of one document whose joined reference just passes the minimum.

    References are joined by a space, sources too if `spaced` (Chinese is not). A text ends with the
    segment that brings its reference over the minimum; what remains of a document is dropped. A
    segment without source or reference ends a text, too: what is on either side does not belong together.
    """
    between = " " if spaced else ""
    text: list[Segment] = []
    for segment in segments:
        # Without the bounds of documents nothing tells that two segments belong together.
        if text and (segment.document is None or segment.document != text[0].document):
            text = []
        if not segment.source or not segment.reference:
            text = []
            continue
        text.append(segment)
        reference = " ".join(each.reference for each in text)
        if len(reference) > longer_than:
            source = between.join(each.source for each in text)
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


def _id(text: list[Segment]) -> str:
    """`line-12` without a document, else `DOCUMENT#3-5`, the first and the last segment."""
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
    """A published dataset, without a suite: its pairs if its card says so, else its eligible examples.

    `fields` (our name -> column) takes the place of what the card says of pairs. Raises `InputError` as
    `read_pairs` and `read_published`.
    """
    form, task = card.pairs, read_task(card.task)
    if form is None:
        examples = tuple(read_published(card, path))
        return Dataset(card.dataset, examples, task, None, examples)
    columns = {**form.fields, **(fields or {})}
    form = form.model_copy(update={"fields": columns})
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
