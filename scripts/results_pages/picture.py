"""The README's picture: ten judges of 2026, how often they see an error and how often it still passes."""

from collections.abc import Sequence
from html import escape

from results_pages.blind_spot import ERRORS, MARK
from results_pages.parts import Audit, SetFigures

from dhp.report.labels import percent, percents

TITLE = ("How often does the judge score the worse text lower,", "and how often does it still pass?")
_WIDTH, _NAMES, _CELL, _ROW, _TOP = 700, 232, 116, 34, 116
_INK = {
    "light": {"page": "#ffffff", "text": "#1c2024", "weak": "#5b6470", "good": "#2f7dd1", "bad": "#d9622b"},
    "dark": {"page": "#0d1117", "text": "#e6edf3", "weak": "#9aa5b1", "good": "#4493f8", "bad": "#f0883e"},
}


def pictures(figures: SetFigures) -> dict[str, str]:
    """The picture for light and for dark pages, by file name."""
    (grid,) = figures.grids
    rows = sorted(grid.audits, key=_order)
    return {f"blind-spot-{theme}.svg": _picture(rows, theme) for theme in _INK}


def described(figures: SetFigures) -> str:
    """What the picture shows, for those who cannot see it."""
    (grid,) = figures.grids
    rows = []
    for audit in sorted(grid.audits, key=_order):
        seen, passed = audit.result_of(ERRORS[0]).detection, audit.passes(ERRORS[0]).share
        rows.append(f"{audit.judge} {percent(seen)} and {percent(passed)}")
    return (
        "Ten judges of 2026 on 42 subtle errors: how often the error is scored lower, and how often it "
        f"still passes at {MARK} of 10. {'; '.join(rows)}."
    )


def _order(audit: Audit) -> tuple[float, float]:
    """By what passes, then by what is seen."""
    seen = (audit.result_of(kind).detection or 0.0 for kind in ERRORS)
    return sum(audit.passes(kind).share for kind in ERRORS), -sum(seen)


def _picture(audits: Sequence[Audit], theme: str) -> str:
    ink = _INK[theme]
    height = _TOP + _ROW * len(audits) + 34
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'height="{height}" font-family="system-ui, sans-serif" role="img">',
        f"<title>{' '.join(TITLE)}</title>",
        f'<rect width="100%" height="100%" fill="{ink["page"]}"/>',
        *(_text(12, 24 + 21 * i, line, ink["text"], size=16, weight=650) for i, line in enumerate(TITLE)),
    ]
    for pair, heading in enumerate(("scores it lower", f"still passes at {MARK} of 10")):
        left = _NAMES + 2 * pair * _CELL
        parts.append(_text(left + _CELL, 80, heading, ink["text"], anchor="middle", weight=600))
        parts += [
            _text(left + (i + 0.5) * _CELL, 101, kind, ink["weak"], anchor="middle", size=12.5)
            for i, kind in enumerate(ERRORS)
        ]
    for number, audit in enumerate(audits):
        parts += _line(audit, _TOP + number * _ROW, ink)
    note = "42 tasks of code, mathematics and summary; small: 95 % intervals"
    parts += [_text(12, height - 13, note, ink["weak"], size=12), "</svg>\n"]
    return "\n".join(parts)


def _line(audit: Audit, top: int, ink: dict[str, str]) -> list[str]:
    rows = [audit.result_of(kind) for kind in ERRORS]
    seen = [(row.detection or 0.0, row.detection_ci, ink["good"]) for row in rows]
    passed = [(share.share, share.ci, ink["bad"]) for share in map(audit.passes, ERRORS)]
    parts = [_text(12, top + 21, audit.judge, ink["text"], size=13.5)]
    for column, (share, ci, fill) in enumerate((*seen, *passed)):
        left = _NAMES + column * _CELL
        # Detection starts at 50 %, where a judge is blind.
        strength = min(1.0, 1.5 * share) if column >= len(seen) else 2 * share - 1
        parts.append(
            f'<rect x="{left + 2}" y="{top + 2}" width="{_CELL - 4}" height="{_ROW - 4}" rx="4" '
            f'fill="{fill}" fill-opacity="{0.06 + 0.6 * max(0.0, strength):.2f}"/>'
        )
        parts.append(_text(left + 52, top + 22, percent(share), ink["text"], anchor="end", weight=600))
        parts.append(_text(left + 58, top + 22, percents(ci), ink["text"], size=11.5))
    return parts


def _text(
    x: float, y: float, words: str, fill: str, *, size: float = 14, weight: int = 400, anchor: str = "start"
) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" fill="{fill}" font-size="{size:g}" font-weight="{weight}" '
        f'text-anchor="{anchor}">{escape(words)}</text>'
    )
