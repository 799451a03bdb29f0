"""Texts that language models are shown and write: units of words, slots, refusals.

All offline: NLTK's tokenisers with rules of our own instead of downloaded data. Bounds for other languages
than English: `core.language`.
"""

import functools
import importlib
import re
import sys
import threading
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from importlib.metadata import distribution
from itertools import pairwise
from types import ModuleType
from typing import Any

from dhp.core.errors import suggest
from dhp.core.markdown import in_prose
from dhp.core.reasoning import without_reasoning

_ABBREVIATIONS = frozenset(
    (
        "dr mr mrs ms prof rev gen sen rep gov sgt capt col lt st jr sr vs etc e.g i.e fig figs ca cf al "
        "approx dept est inc ltd co corp vol pp ed jan feb mar apr jun jul aug sep sept oct nov dec a.m p.m "
        "u.s u.k u.n d.c ph.d m.d b.a m.a sp spp subsp var"
    ).split()
)
_LIKELY_END = re.compile(r"[ \t\n\r]([A-Za-z][a-z]+)[.!?][ \t\n\r]+(?=[A-Z])")
"""A word and a mark that end a sentence whatever is around them, unless it is an abbreviation."""
_CJK_STOP = re.compile(r"[^。！？]*[。！？]+[”’」』）]*|[^。！？]+$")
_GERMAN_DAY = re.compile(r"\b(?:zum|am|vom|beim|dem|den|der|des|bis|ab|seit|vor|nach)\s+\d{1,2}\.$", re.I)
_GERMAN_MONTH = re.compile(
    r"(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b"
)
"""Dates that tell German from English: "zum 1. April"."""
_CONTROLS = (*range(32), *range(127, 160))
_HALVES = range(0xD800, 0xE000)
_DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_UNSEEN = {c: "\ufffd" for c in (*_CONTROLS, *_HALVES, *_DIRECTIONS) if chr(c) not in "\t\n\r"}
_ON_ONE_LINE = _UNSEEN | {c: " " for c in _CONTROLS if chr(c).isspace()}
_ANGLES = str.maketrans(dict.fromkeys("‹〈⟨❮❬⧼《≺", "<"))
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
"""Letters and marks that are not seen, beside those of the categories of `_unseen`."""
_nltk_lock = threading.Lock()
_HAN = "一二三四五六七八九十"
_ITEM = re.compile(
    rf"([ \t]*)[*#_]{{0,6}}[ \t]*[(（]?(?:step[ \t]*|第)?(?:\d{{1,2}}|[{_HAN}]{{1,3}})步?"
    r"[ \t]*[.):：、）](?!\d)[*_ \t]*(\S.*)",
    re.I,
)


def nltk_module(name: str) -> Any:
    """A module of NLTK without its packages, whose import takes 0.6 s and 70 MB, most of it for scipy.stats.

    They are empty ones as it loads, and nothing stays in `sys.modules`: who imports NLTK gets all of it.
    """
    with _nltk_lock:
        site = distribution("nltk").locate_file("")
        before = {each: sys.modules.pop(each) for each in filter(_is_nltk, list(sys.modules))}
        try:
            for package in ("nltk", "nltk.stem", "nltk.tokenize"):
                sys.modules[package] = ModuleType(package)
                sys.modules[package].__path__ = [f"{site}/{package.replace('.', '/')}"]
            return importlib.import_module(name)
        finally:
            for each in filter(_is_nltk, list(sys.modules)):
                del sys.modules[each]
            sys.modules.update(before)


def _is_nltk(module: str) -> bool:
    return module.partition(".")[0] == "nltk"


@functools.cache
def _punkt() -> Any:
    punkt = nltk_module("nltk.tokenize.punkt")
    parameters = punkt.PunktParameters()
    parameters.abbrev_types.update(_ABBREVIATIONS)
    return punkt.PunktSentenceTokenizer(parameters)


@functools.cache
def _treebank() -> Any:
    return nltk_module("nltk.tokenize.destructive").NLTKWordTokenizer()


def prose_sentences(text: str) -> list[str]:
    """The sentences of a text that is taken for prose as a whole, whatever its lines and marks are."""
    return [text[start:end] for start, end in _spans_of_piece(text)]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """(start, end) of each sentence, without the white space between them; Chinese and Japanese too.

    The mark of a list belongs to the sentence that follows it; code, tables and headings are in none.
    """
    return list(_all_spans(text))


@functools.lru_cache(maxsize=32)
def _all_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Those of a whole text, which is asked about again for each of its kinds of damage."""
    return tuple(in_prose(text, _spans_of_piece))


def _spans_of_piece(text: str) -> list[tuple[int, int]]:
    ends = [end for end in _LIKELY_END.finditer(text) if end[1].lower() not in _ABBREVIATIONS]
    starts = [0, *(end.end() for end in ends)]
    return [
        (start + a, start + b)
        for start, end in pairwise([*starts, len(text)])
        for a, b in _sentence_spans(text[start:end])
    ]


@functools.lru_cache(maxsize=32_768)
def _sentence_spans(text: str) -> tuple[tuple[int, int], ...]:
    """The sentences of a short piece, which degraded copies of a text mostly share with it."""
    spans = [
        (piece.start() + start, piece.start() + end)
        for piece in _CJK_STOP.finditer(text)
        for start, end in _punkt().span_tokenize(piece.group())
    ]
    whole: list[tuple[int, int]] = []
    for start, end in spans:
        before = text[max(whole[-1][1] - 12, 0) : whole[-1][1]] if whole else ""
        if _GERMAN_DAY.search(before) and _GERMAN_MONTH.match(text, start):
            whole[-1] = (whole[-1][0], end)
        else:
            whole.append((start, end))
    return tuple(trimmed(text, whole))


def trimmed(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans without white space at their ends; one without letters or digits joins the one before it."""
    kept: list[tuple[int, int]] = []
    for start, end in spans:
        piece = text[start:end]
        start, end = start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())
        if any(c.isalnum() for c in text[start:end]):
            kept.append((start, end))
        elif kept and end > start:
            kept[-1] = (kept[-1][0], end)
    return kept


def sentences(text: str) -> list[str]:
    """The sentences of a text; a piece without letters or digits belongs to the sentence before it."""
    return [text[start:end] for start, end in sentence_spans(text)]


def words(text: str) -> list[str]:
    """Tokens of NLTK's word tokeniser that hold a letter or digit; punctuation marks do not count."""
    tokens = (token for sentence in sentences(text) for token in _treebank().tokenize(sentence))
    return [token for token in tokens if any(c.isalnum() for c in token)]


def printable(text: str) -> str:
    """The text on one line, and as `visible`."""
    return text.translate(_ON_ONE_LINE)


def visible(text: str) -> str:
    """The text with what could steer a terminal or show words in another order replaced.

    These are control characters but tabs and line ends, halves of characters, and what embeds, overrides or
    isolates a direction of writing (as in "Trojan Source", Boucher and Anderson 2023).
    """
    return text.translate(_UNSEEN)


def alike_but_numbers(counts: Mapping[str, int]) -> dict[str, int]:
    """Texts that differ in their numbers alone, as one: the first of them, with the sum of their counts."""
    first: dict[str, str] = {}
    merged = Counter[str]()
    for text, count in counts.items():
        merged[first.setdefault(re.sub(r"\d+", "0", text), text)] += count
    return dict(merged.most_common())


def spreadsheet_safe(cell: object) -> object:
    """A cell of a CSV file: a text as `visible`, `'` before what spreadsheets would take for a formula."""
    if not isinstance(cell, str):
        return cell
    shown = visible(cell)
    return f"'{shown}" if shown.startswith(("=", "+", "-", "@", "\t", "\r")) else shown


def numbered_steps(text: str) -> list[str]:
    """The steps of the numbered list in an answer, without their numbers; empty if there is none.

    A step goes on over the lines below it, up to a blank one.
    """
    steps: list[str] = []
    margin, inside = "", False
    for line in (without_reasoning(text) or "").splitlines():
        item = _ITEM.fullmatch(line.rstrip())
        if item and (not steps or len(item[1]) <= len(margin)):
            margin, inside = item[1], True
            steps.append(item[2])
        elif inside and line.strip():
            steps[-1] += f" {line.strip()}"
        else:
            inside = False
    return [plain for step in steps if (plain := step.replace("**", "").strip())]


def free_tag(tag: str, *texts: str) -> str:
    """`tag`, or `tag-2`, `tag-3`, ...: the first that no text holds in any case, width or spacing.

    Characters that are not seen do not hide one.
    """
    seen = [text if text.isascii() else _as_seen(text) for text in texts if "<" in text or not text.isascii()]
    seen = [text for text in seen if "<" in text]
    name, number = tag, 1
    while any(re.search(rf"<\s*/?\s*{re.escape(name)}", text, re.I) for text in seen):
        number += 1
        name = f"{tag}-{number}"
    return name


def _as_seen(text: str) -> str:
    """The text without what is not seen: formats, variation selectors, fillers; all angle brackets as `<`."""
    plain = unicodedata.normalize("NFKC", text.translate(_ANGLES))
    return "".join(c for c in plain if c.isascii() or not _unseen(c))


def _unseen(character: str) -> bool:
    if unicodedata.category(character) in ("Cf", "Cc", "Co", "Cn") or character in _FILLERS:
        return True
    return "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"


def fenced(text: str, tag: str, *beside: str) -> str:
    """The text as it is, between tags that neither it nor any text shown `beside` it holds."""
    name = free_tag(tag, text, *beside)
    return f"<{name}>\n{text}\n</{name}>"


def between_tags(text: str, tag: str) -> str | None:
    """The content of the last complete pair of tags, without white space around it; None without a pair.

    The tags are read in any case, with or without white space in them.
    """
    *_, end = (None, *re.finditer(rf"<\s*/\s*{re.escape(tag)}\s*>", text, re.I))
    if end is None:
        return None
    *_, start = (None, *re.finditer(rf"<\s*{re.escape(tag)}\s*>", text[: end.start()], re.I))
    return None if start is None else text[start.end() : end.start()].strip()


_CANNOT = (
    r"(?:can(?:no|')?t|can not|couldn't|won't|will not|(?:'m|am) (?:unable|not able|not going to)|refuse|"
    r"(?:must )?decline|(?:don't|do not) feel comfortable|(?:'m|am) not (?:comfortable|allowed|permitted))"
)
_JUDGE = r"(?:rated?|scored?|evaluated?|assess(?:ed)?|judged?|provided?|given?)"
_REFUSAL = re.compile(
    "|".join(
        (
            rf"\bi ?{_CANNOT}\b",
            r"\bi(?:'m| am) (?:\w+ ){0,2}(?:sorry|afraid)\b|\bi (?:must )?apologi[sz]e",
            rf"\b(?:sorry|apologies)\b.{{0,40}}\bi ?(?:{_CANNOT}|do not|don't|need|see)\b",
            r"\bas an? (?:ai|(?:large )?language model|artificial intelligence|responsible assistant)\b",
            rf"\b(?:unable|not able|(?:not |im)possible) to {_JUDGE}\b|\bcan ?not (?:be )?{_JUDGE}\b",
            r"\b(?:it|this) (?:is|would be) (?:not |in|im|un)(?:appropriate|ethical|possible)\b.{0,30}\bto\b",
            r"\bi (?:don't|do not) (?:see|have|find) (?:any|an?|the) "
            r"(?:text|summary|translation|answer|ending)\b",
            r"\b(?:please|(?:could|can) you(?: please)?) (?:provide|share|send|paste|give me) ",
            r"抱歉|对不起|无法|不能(?:评|给|提供|打)|拒绝",
            r"我不能.{0,12}(?:请求|要求|帮助|协助)|作为(?:一个|一名)?.{0,6}(?:ai|人工智能|语言模型)",
            r"\bes tut mir leid, (?:aber|das|ich)|\bleider kann ich|\blo siento, (?:pero|no)",
            r"\bje suis désolée?, (?:mais|je)",
        )
    ),
    re.I,
)
_BEFORE = re.compile(r"(?:\W|(?:well|oh|hello|hi|unfortunately|regrettably)\b)*", re.I)


def holds_refusal(text: str) -> bool:
    """Whether the text contains a refusal."""
    return _REFUSAL.search(text.replace("’", "'")) is not None


def is_refusal(text: str) -> bool:
    """Whether the text begins as refusals do, but for a word such as `unfortunately`."""
    plain = text.replace("’", "'")
    before = _BEFORE.match(plain)
    return _REFUSAL.match(plain, before.end() if before else 0) is not None


SLOT = re.compile(r"\{\{\s*(.*?)\s*\}\}")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")


def slots_fault(text: str, allowed: Collection[str], needed: Iterable[str] = ()) -> str | None:
    """What is wrong with the slots in a text; None if all are `allowed` and the `needed` ones are there."""
    slots = SLOT.findall(text)
    if "{{" in SLOT.sub("", text):
        return "a slot is not closed; must have the form {{name}}"
    for name in slots:
        if name not in allowed:
            return f"unknown slot '{{{{{name}}}}}'; {suggest(name, allowed)}"
    for name in needed:
        if name not in slots:
            return f"lacks the slot '{{{{{name}}}}}'; must have it"
    return None


def split_slots(text: str, known: Mapping[str, str] = {}) -> tuple[str, ...]:
    """Text and the names of slots in turn, if slots that are `known` are filled and no longer slots."""
    pieces = [""]
    for place, piece in enumerate(SLOT.split(text)):
        if place % 2 == 0:
            pieces[-1] += piece
        elif piece in known:
            pieces[-1] += known[piece]
        else:
            pieces += [piece, ""]
    return tuple(pieces)


def join_slots(pieces: Iterable[str], texts: Mapping[str, str]) -> str:
    """The text of `split_slots` with each slot filled."""
    filled = list(pieces)
    filled[1::2] = [texts[name] for name in filled[1::2]]
    return "".join(filled)


def fill(text: str, texts: Mapping[str, str]) -> str:
    """The text, without white space around it, with all its slots filled; each must be in `texts`."""
    return join_slots(split_slots(text.strip()), texts)


def paragraphs(text: str) -> list[str]:
    """The parts of a text between blank lines."""
    return _BLANK_LINES.split(text.strip())
