"""Controls: changes that must not lower a score."""

import re
from collections.abc import Iterator
from random import Random

from dhp.core.english import looks_english
from dhp.core.errors import NotApplicable
from dhp.core.markdown import code_spans
from dhp.core.sentences import sentence_spans
from dhp.core.specs import ListReader
from dhp.perturb.api import Edited, perturber
from dhp.perturb.edits import Edit, Span, applied, matched, outside, rules
from dhp.perturb.harmless_edits import TOKENISED, mark_edits, quoted, word_edits
from dhp.perturb.harmless_languages import HarmlessLanguages, form_edits
from dhp.perturb.harmless_languages import mark_edits as form_marks
from dhp.perturb.harmless_spelling import HarmlessLists, respelled


@perturber(name="identity", level="control")
def identity(text: str, rng: Random) -> Edited:
    """The original once more: what the scores of the same text differ by."""
    return Edited(text, 0, 0)


@perturber(name="harmless", level="control")
def harmless(text: str, rng: Random, *, lists: ListReader, language: str | None = None) -> Edited:
    """Make every edit that no careful reader would mark down: of marks, figures and spelling alone.

    Each goes from the one accepted way to the other, whichever the text has: most for English, others
    by lists of written forms for German, Spanish, French, Chinese and Japanese. Code and
    addresses stay as they are, and words within quotation marks. A text that allows none of these edits gets
    spaces at which no line breaks, as typographers set them; an answer of up to three English words a full
    stop; Chinese and Japanese an indented first line.
    """
    # What no edit may touch, then the edits by language; they go as far as they do not overlap.
    kept = [*code_spans(text), *(match.span() for match in _CODE.finditer(text))]
    spans = sentence_spans(text, language)
    edits = list(matched(_ANY_LANGUAGE, text))
    if not TOKENISED.search(text):  # there " - " may be the hyphen of a word
        edits += matched(_SPACED_DASH, text)
    if language == "zh":
        edits += _spaced_figures(text)
    if language == "en" and looks_english(text):
        edits += _of_english(text, spans, lists("harmless", HarmlessLists))
    forms = lists("harmless_languages", HarmlessLanguages).languages.get(language or "")
    in_english = len(text.split()) >= _SURELY and looks_english(text)
    if forms and language and not in_english:
        edits += outside(form_edits(text, forms, language), quoted(text))
        edits += form_marks(text, forms)
    changed, made = applied(text, outside(edits, kept))
    if made == 0:
        changed, made = applied(text, outside(_last_resort(text, language), kept))
    if made == 0:
        raise NotApplicable("no harmless edit is possible")
    return Edited(changed, made, made)


_SURELY = 20
"""Words from which a text is surely in English, whatever was declared: chosen."""
_CODE = re.compile(
    r"```.*?(?:```|\Z)|(?m:^)[ \t]*~~~[^~].*?\n[ \t]*~~~|`[^`\n]+`|</?\w[^<>\n]*>"
    r"|(?<![!-~])[!-~]*(?:://|\bwww\.|@|\\)[!-~]*|(?<!\S)[\w.~-]*/[\w./~-]+",
    re.S,
)
"""Code, tags, addresses, paths."""
_ANY_LANGUAGE = rules(  # three full stops or one mark, both ways; "1999-2004" with a dash
    (r"(?<![.…])\.\.\.(?![.…])", "…"),
    (r"(?<![.…])…(?![.…])", "..."),
    (r"(?<![\w–-])((?:1[5-9]|20)\d\d)-((?:1[5-9]|20)\d\d)(?![\w–-])", r"\1–\2"),
)
_SPACED_DASH = rules((r"(?<=[^\W\d_]{2}) - (?=[^\W\d_]{2})", " – "))


def _of_english(text: str, spans: list[Span], known: HarmlessLists) -> Iterator[Edit]:
    """Edits of marks, spelling and words; those of words not within quotation marks."""
    starts = {start for start, _ in spans}
    has_capitals = any(map(str.isupper, text))
    has_inner_capitals = any(c.isupper() and i not in starts for i, c in enumerate(text))
    # Only in a text with capitals a word in small letters is surely no name.
    names_show = has_inner_capitals or (has_capitals and not TOKENISED.search(text))
    words = list(respelled(text, starts, known, names_show=names_show))
    words += word_edits(text, starts, cased=has_capitals)
    yield from mark_edits(text)
    yield from outside(words, quoted(text))


_INDENTS = {"zh": "\u3000\u3000", "ja": "\u3000"}
"""How far the first line of a paragraph may be indented."""
_EAST_ASIAN = r"[\u3040-\u30ff\u3400-\u9fff]"  # kana and Chinese characters
# "第 3" and "3 月", with a space; "第3" and "3月", without.
_SPACED = re.compile(rf"(?<={_EAST_ASIAN}) (?=[A-Za-z\d])|(?<=[A-Za-z\d%]) (?={_EAST_ASIAN})")
_SCRIPT_CHANGE = re.compile(rf"(?<={_EAST_ASIAN})(?=[A-Za-z\d])|(?<=[A-Za-z\d%])(?={_EAST_ASIAN})")


def _spaced_figures(text: str) -> Iterator[Edit]:
    """A space between Chinese or Japanese and Latin characters or figures, or none if the text has any."""
    spaced = list(_SPACED.finditer(text))
    for match in spaced or _SCRIPT_CHANGE.finditer(text):
        yield (*match.span(), "" if spaced else " ")


_ANSWER = re.compile(r"(?:[A-Z][A-Za-z]*(?: [A-Za-z]+){0,2}|\d+)")
"""An answer of a few words, to which nobody needs a full stop and nobody minds one."""
# Between a figure and what it counts, and before the last word, which would be in a line alone.
_UNBROKEN = rules((r"(?<=\d) (?=[^\W\d_])", "\u00a0"), (r"(?<=\S) (?=\S+\s*\Z)", "\u00a0"))


def _last_resort(text: str, language: str | None) -> Iterator[Edit]:
    """A full stop behind a short answer, an indented first line, or spaces at which no line breaks."""
    if not text.strip():
        return
    indent = _INDENTS.get(language or "")
    if indent:
        yield (0, len(indent), "") if text.startswith(indent) else (0, 0, indent)
    elif language == "en" and _ANSWER.fullmatch(text):
        yield len(text), len(text), "."
    else:
        yield from matched(_UNBROKEN, text)
