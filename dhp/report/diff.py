"""Before and after in one coloured line."""

import difflib
import re

from rich.text import Text

_REPLACED = 0.6  # share of equal tokens, spaces included, below which marks would only confuse
_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")


def before_after(label: str, before: str, after: str, remark: str = "") -> Text:
    """The degraded text with what went in red strike-through and what came in green.

    Compared token by token; a text that was replaced as a whole shows as it is. Without colour, deletions
    show as [-gone-] and insertions as {+come+}.
    """
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    line = Text(f"{label}{f' ({remark})' if remark else ''}: ", style="bold")
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < _REPLACED:
        return line.append(after, style="not bold green")
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        gone, come = "".join(old[i1:i2]), "".join(new[j1:j2])
        if kind == "equal":
            line.append(gone, style="not bold")
            continue
        if gone:
            line.append(f"[-{gone}-]", style="not bold red strike")
        if come:
            line.append(f"{{+{come}+}}", style="not bold green")
    return line
