"""An answer without what surrounds its words: markup, odd widths of characters."""

import re
import unicodedata

_HALVES = str.maketrans({"½": ".5", "¼": ".25", "¾": ".75"})
_CHARACTERS = str.maketrans(
    dict.fromkeys("*`\u200b\u200c\u200d\u2060\ufeff\ufe0e\ufe0f⟦⟧", "")
    | dict.fromkeys("–—―", " - ")
    | dict.fromkeys("‐‑", "-")
    | {"−": "-", "’": "'", "⁄": "/", "\u2581": " ", "_": " ", "\r": "\n", "〜": "~"}
)
_MARKUP = (
    (re.compile(r"\\[dt]?frac\{([^{}\n]{1,9})\}\{([^{}\n]{1,9})\}"), r"\1/\2"),
    (re.compile(r"\\(?:text(?:bf)?|mathbf|mathrm)\{"), "{"),
    (re.compile(r"\$([^$\n]{1,40})\$"), r"\1"),
    (re.compile(r"<\|[^|<>\n]{1,30}\|>|</?s>"), " "),
    (re.compile(r"(?m)^[ \t]{0,8}#{1,6}(?=[ \t])"), ""),
)


def squeezed(text: str) -> str:
    """With single spaces, and none around line ends."""
    return re.sub(r" ?\n ?", "\n", re.sub(r"[^\S\n]+", " ", text))


def clean(text: str) -> str:
    """Plain characters (Unicode NFKC), single spaces, no markup; lines are kept."""
    text = unicodedata.normalize("NFKC", text.translate(_HALVES)).translate(_CHARACTERS)
    for pattern, plain in _MARKUP:
        text = pattern.sub(plain, text)
    return squeezed(text)
