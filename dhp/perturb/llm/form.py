"""Whether a language model kept the form of a text: marks, brackets, line breaks, in any language.

Brackets round a new name, a bold word or a label before the text would give a damaged copy away.
"""

import itertools
import re
from collections import Counter
from collections.abc import Sequence

from rapidfuzz.distance import Levenshtein

from dhp.core.language import CJK

MARKED = (
    "what is changed is marked by brackets, asterisks, quotation marks or a label; write plain text alone"
)
FORM = "marks or line breaks are changed; keep all but the changed words as they are, character by character"
PLACEHOLDER = "a placeholder stands in the text; write what it stands for"

_WORD = re.compile(rf"[{CJK}]|[^\W{CJK}]+(?:[.,:'’\-/][^\W{CJK}]+)*")
"""A Chinese character, or a word with what may stand inside one: "3.5", "don't", "well-known", "9:30"."""
_SIGNS = re.compile(r"[\[\]{}<>*_`#~|()（）【】「」『』《》]")
_QUOTES = re.compile(r"[\"“”„«»]")
_NO_COMMA = re.compile(r"[^,;:()，；：、]")
# "NAME_1", "[CITY]", "XXX", "____", "....".
_PLACEHOLDER = re.compile(
    r"\b(?:PLACEHOLDER|ENTITY|PERSON|NAME|CITY|DATE|NUMBER|XXX+|YYY+|TBD)(?:[_ ]?\d+)?\b|_{2,}|\.{4,}"
)
_LABEL = re.compile(r"\s*[A-ZÄÖÜ][^\W\d_]*(?: [^\W\d_]+){0,3}: *\n?")
"""A word or a few before a colon at the start of a text, as in `Revised summary:`."""


def is_marked(original: str, revised: str, *, word_by_word: bool = False) -> str | None:
    """Why new marks or a placeholder give a revised text away; None if none does.

    Word by word no mark may come more often; a sentence that is said again may repeat its own.
    """
    if _PLACEHOLDER.search(revised) and not _PLACEHOLDER.search(original):
        return PLACEHOLDER
    label = _LABEL.match(revised)
    if label and not original.lstrip().startswith(label[0].strip()) and not _LABEL.match(original):
        return MARKED
    for signs in (_SIGNS, _QUOTES):
        before, after = Counter(signs.findall(original)), Counter(signs.findall(revised))
        has_more = bool(after - before) if word_by_word else bool(after.keys() - before.keys())
        if has_more:
            return MARKED
    return None


def form_fault(original: str, revised: str, *, commas_stay: bool = False) -> str | None:
    """Why a revised text has another form than the original outside the words that were changed.

    With `commas_stay` also the commas right beside these words are the same.
    """
    reason = is_marked(original, revised, word_by_word=True)
    if reason:
        return reason
    if original.strip().count("\n") != revised.strip().count("\n"):
        return FORM
    old, new = _pieces(original), _pieces(revised)
    for block in Levenshtein.opcodes([word for word, _ in old], [word for word, _ in new]):
        if block.tag == "replace" and commas_stay:
            before = _commas(old, block.src_start, block.src_end)
            if before != _commas(new, block.dest_start, block.dest_end):
                return FORM
        if block.tag == "equal":
            # What stands behind the last of these words belongs to the change that follows.
            kept = [between for _, between in old[block.src_start : block.src_end - 1]]
            if kept != [between for _, between in new[block.dest_start : block.dest_end - 1]]:
                return FORM
    return None


def _commas(pieces: Sequence[tuple[str, str]], start: int, end: int) -> tuple[str, str]:
    """The commas and the like before and behind some of the words; a full stop may belong to a name."""
    before = pieces[start - 1][1] if start else ""
    return _NO_COMMA.sub("", before), _NO_COMMA.sub("", pieces[end - 1][1])


def _pieces(text: str) -> Sequence[tuple[str, str]]:
    """Each word with what stands between it and the next one."""
    pieces = []
    matches = list(_WORD.finditer(text))
    for match, following in itertools.zip_longest(matches, matches[1:]):
        end = len(text.rstrip()) if following is None else following.start()
        pieces.append((match[0], text[match.end() : end]))
    return pieces
