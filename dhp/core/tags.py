"""Tags around a text that is shown to a model, and around what it returns."""

import re
import unicodedata
from collections.abc import Sequence

_ANGLES = str.maketrans(dict.fromkeys("‹〈⟨❮❬⧼《≺", "<"))
"""Signs that look like the opening bracket of a tag."""
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
"""Letters and marks that are not seen, beside those of the categories of `_unseen`."""


def free_tag(tag: str, *texts: str) -> str:
    """`tag`, or `tag-2`, `tag-3`, ...: the first that no text holds in any case, width or spacing.

    Characters that are not seen do not hide one.
    """
    with_tags = []
    for text in texts:
        # ASCII holds no sign that looks like another one, and most texts are told by this.
        seen = text if text.isascii() else _as_seen(text)
        if "<" in seen:
            with_tags.append(seen)
    name, number = tag, 1
    while _is_held(name, with_tags):
        number += 1
        name = f"{tag}-{number}"
    return name


def _is_held(tag: str, texts: Sequence[str]) -> bool:
    """Whether a text has a tag that begins with this name: `<text`, `< / TEXT-1`."""
    tag_in_text = re.compile(rf"<\s*/?\s*{re.escape(tag)}", re.I)
    return any(tag_in_text.search(text) for text in texts)


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
    ends = list(re.finditer(rf"<\s*/\s*{re.escape(tag)}\s*>", text, re.I))
    if not ends:
        return None
    # The last start before the last end: a pair that was opened twice gives the inner text.
    before_end = text[: ends[-1].start()]
    starts = list(re.finditer(rf"<\s*{re.escape(tag)}\s*>", before_end, re.I))
    return before_end[starts[-1].end() :].strip() if starts else None
