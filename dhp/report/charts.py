"""Charts as inline pictures by matplotlib, in the colours of the page."""

import io
import re
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

COLOURS = {
    name: f"#fe{index:02x}01"
    for index, name in enumerate(("ink", "weak", "line", "page", "d", "ew", "yes", "no", "heat", "card"))
}
"""Name of a colour of the page's style -> what to call it in a figure; it follows the light or dark theme."""


def drawn(draw: Callable[["Figure"], None], width: float, height: float, description: str) -> "Markup":
    """The figure that `draw` draws, as an inline picture; sizes are in inches.

    `description` says what it shows, for those who cannot see it. The same drawing gives the same text.
    """
    import logging

    from markupsafe import Markup, escape
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it warns of a cache that cannot be written
    buffer = io.StringIO()
    with rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # the browser has fonts for what matplotlib's own lacks
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure)
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    box = re.search(r'viewBox="[^"]*"', text)
    assert box is not None
    inner = text[text.index(">", text.index("<svg")) + 1 :]
    inner = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", inner, flags=re.DOTALL)
    used = set(re.findall(r"#([\w.-]+)[)\"]", inner))
    inner = re.sub(r' id="([^"]*)"', lambda found: found[0] if found[1] in used else "", inner)
    inner = _small(re.sub(r"font-family: [^;\"]*;? ?", "", inner))
    for name, colour in COLOURS.items():
        inner = inner.replace(colour, f"var(--{name})")
    return Markup(
        f'<svg class="chart" style="--width: {width:g}in" role="img" aria-label="{escape(description)}" '
        f"{box[0]}>{inner}"
    )


def _small(svg: str) -> str:
    """The same picture in fewer characters: hundredths of a point, no groups and shapes that show nothing."""
    svg = re.sub(r' transform="rotate\(-0 [^"]*"| clip-path="[^"]*"(?= style="fill: none"/>)', "", svg)
    svg = re.sub(r'<path d="[^"]*" style="fill: none"/>', "", svg)
    svg = re.sub(
        r' (d|x|y|transform)="[^"]*"',
        lambda found: re.sub(r"(\.\d\d)\d+", r"\1", re.sub(r"\s+", " ", found[0])),
        svg,
    )
    svg = re.sub(r">\s+<", "><", svg)
    while (less := _BARE.sub(r"\1", svg)) != svg:
        svg = less
    return svg


_BARE = re.compile(r"<g>((?:<(?:path|use|rect)\b[^<>]*/>|<text\b[^<>]*>[^<>]*</text>)*)</g>|<defs></defs>")
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "dhp",
    "font.size": 9,
    "text.parse_math": False,
    "text.color": COLOURS["ink"],
    "axes.edgecolor": COLOURS["line"],
    "axes.labelcolor": COLOURS["ink"],
    "axes.facecolor": "none",
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": COLOURS["weak"],
    "ytick.color": COLOURS["weak"],
    "grid.color": COLOURS["line"],
}
