"""Before and after in one coloured line."""

import re

from rich.text import Text

from dhp.core.text import printable

_REPLACED = 0.6  # share of equal tokens, spaces included, below which marks would only confuse
_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")


def before_after(label: str, before: str, after: str, remark: str = "") -> Text:
    """The degraded text with what went in red strike-through and what came in green.

    Compared token by token; a text that was replaced as a whole shows as it is. Without colour, deletions
    show as [-gone-] and insertions as {+come+}.
    """
    from rapidfuzz.distance import Levenshtein

    old, new = (_TOKEN.findall(printable(text)) for text in (before, after))
    line = Text(f"{printable(label)}{f' ({remark})' if remark else ''}: ", style="bold")
    if Levenshtein.normalized_similarity(old, new) < _REPLACED:
        return line.append("".join(new), style="not bold green")
    for edit in Levenshtein.opcodes(old, new):
        gone = "".join(old[edit.src_start : edit.src_end])
        come = "".join(new[edit.dest_start : edit.dest_end])
        if edit.tag == "equal":
            line.append(gone, style="not bold")
            continue
        if gone:
            line.append(f"[-{gone}-]", style="not bold red strike")
        if come:
            line.append(f"{{+{come}+}}", style="not bold green")
    return line
