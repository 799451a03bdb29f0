"""A wider scale in a prompt that states its scale in numbers.

The scale is rewritten where both its ends stand together, "from 1 to 5", or the upper one behind "/" or "out
of". Whatever else may speak of the old scale makes the change unusable: a prompt that names two scales would
be judged by both.
"""

import re
from collections.abc import Mapping, Sequence

from dhp.core.specs import Metric, Scale
from dhp.judge.prompt_files import pieces_of
from dhp.plugins.improve.race import Unusable

_BETWEEN = r"\s*(?:-|–|—|\.{2,}|to|and|through|至|到)\s*"
"""What stands between the ends of a scale: "1-5", "1 to 5", "between 1 and 5", "1..5"."""
_BEFORE = r"(?<![A-Za-z0-9_.])"
_AFTER = r"(?![A-Za-z0-9_]|\.\d)"
"""Bounds of a number: 5 is none in "v5", "0.5", "5th" and "5.5". Letters of Chinese may touch it."""
_NUMBER = re.compile(rf"{_BEFORE}\d+(?:\.\d+)?{_AFTER}")
"""A number: "4", "2.5"."""
_WORDS = re.compile(
    r"(?i)\b(?:(?:three|four|five|six|seven|nine|ten)\b|(?:[3-9]|10)[- ]point|stars?\b|half[- ]points?)"
)
"""Points of a scale in other words: "five-point scale", "4 stars", "half points"."""


def wider_metric(metric: Metric, highest: int) -> Metric:
    """The metric on a scale up to `highest`; raises `Unusable` if it cannot be widened."""
    scale = metric.scale
    if metric.labels:
        raise Unusable("answers are words")
    # Another lowest point, or a scale of two points, is likely no plain rating.
    if scale.min not in (0, 1) or scale.max != int(scale.max) or scale.max <= scale.min + 1:
        raise Unusable(f"the scale {scale.min:g} to {scale.max:g} cannot be widened safely")
    if scale.max >= highest:
        raise Unusable("the scale is as wide already")
    return metric.model_copy(update={"scale": Scale(min=scale.min, max=float(highest))})


def wider_marks(marks: Mapping[str, str], metrics: Sequence[Metric], highest: int) -> dict[str, str]:
    """Pass marks on scales up to `highest`: 7 of 10 is 70 of 100. The metrics still have their old scales."""
    scales = {metric.name: metric.scale for metric in metrics}
    scales[""] = metrics[0].scale  # of a mark for all metrics
    wider = {}
    for name, mark in marks.items():
        wider[name] = f"{float(mark) * highest / scales[name].max:g}"
    return wider


def wider_text(text: str, scale: Scale, highest: int) -> str:
    """The prompt with the new end of the scale wherever it states the old one.

    Raises `Unusable` if it states none in numbers, or speaks of points of the scale in another way: then
    the old scale would stay in places.
    """
    low, high = f"{scale.min:g}", f"{scale.max:g}"
    # "1 to 5" (up), "5 to 1" (down), "out of 5" or "/5" (of).
    stated = re.compile(
        rf"(?:{_BEFORE}(?P<up>{low}{_BETWEEN}){high}|{_BEFORE}{high}(?P<down>{_BETWEEN}{low})"
        rf"|(?P<of>(?:\bout of|/)\s*){high}){_AFTER}"
    )

    has_both_ends = False  # "out of 5" alone does not say where the scale starts
    for piece in pieces_of(text)[::2]:  # every second piece is a slot
        for match in stated.finditer(piece):
            if match["up"] or match["down"]:
                has_both_ends = True
        rest = stated.sub(" ", piece)
        # "5 is best" would be wrong on the wider scale.
        points = [n for n in _NUMBER.findall(rest) if scale.min <= float(n) <= scale.max]
        if points or _WORDS.search(rest):
            raise Unusable("the prompt speaks of single points of its scale")
    if not has_both_ends:
        raise Unusable("the prompt states no scale in numbers")

    def widened(match: re.Match[str]) -> str:
        if match["down"]:  # "5 to 1"
            return f"{highest}{match['down']}"
        before = match["up"] or match["of"]
        return f"{before}{highest}"

    # Slots are searched, too; one such as {{1-5}} must not become another slot.
    wide = stated.sub(widened, text)
    if set(pieces_of(wide)[1::2]) != set(pieces_of(text)[1::2]):
        raise Unusable("a slot of the prompt looks like a scale")
    return wide
