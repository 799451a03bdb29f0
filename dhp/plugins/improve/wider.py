"""A wider scale in a prompt that states its scale in numbers."""

import re
from collections.abc import Mapping, Sequence

from dhp.analysis.marks import PassMark
from dhp.core.specs import Metric, Scale
from dhp.judge.prompt_files import pieces_of
from dhp.plugins.improve.race import Unusable

# What stands between the ends of a scale: "1-5", "1 to 5", "between 1 and 5", "1..5".
_BETWEEN = r"\s*(?:-|–|—|\.{2,}|to|and|through|至|到)\s*"
_BEFORE, _AFTER = r"(?<![A-Za-z0-9_.])", r"(?![A-Za-z0-9_]|\.\d)"
"""Bounds of a number; letters of Chinese may stand beside it."""
_NUMBER = re.compile(rf"{_BEFORE}\d+(?:\.\d+)?{_AFTER}")
# Points of a scale in other words: "five-point scale", "4 stars", "half points".
_WORDS = re.compile(
    r"(?i)\b(?:(?:three|four|five|six|seven|nine|ten)\b|(?:[3-9]|10)[- ]point|stars?\b|half[- ]points?)"
)


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


def wider_mark(mark: PassMark, metrics: Sequence[Metric], highest: int) -> PassMark:
    """The pass mark on scales up to `highest`: 7 of 10 is 70 of 100."""
    if mark is None:
        return None
    if isinstance(mark, Mapping):
        scales = {metric.name: metric.scale for metric in metrics}
        wider = {}
        for name, each in mark.items():
            wider[name] = _wider(each, scales.get(name, metrics[0].scale), highest)
        return wider
    return _wider(mark, metrics[0].scale, highest)


def _wider(mark: float | str, scale: Scale, highest: int) -> str:
    return f"{float(mark) * highest / scale.max:g}"


def wider_text(text: str, scale: Scale, highest: int) -> str:
    """The prompt with the new end of the scale wherever it states the old one.

    Raises `Unusable` if it states none in numbers, or speaks of points of the scale in another way: then
    the old scale would stay in places.
    """
    low, high = f"{scale.min:g}", f"{scale.max:g}"
    stated = re.compile(
        rf"(?:{_BEFORE}(?P<up>{low}{_BETWEEN}){high}|{_BEFORE}{high}(?P<down>{_BETWEEN}{low})"
        rf"|(?P<of>(?:\bout of|/)\s*){high}){_AFTER}"
    )

    has_points = False
    for piece in pieces_of(text)[::2]:
        has_points = has_points or any(m["up"] or m["down"] for m in stated.finditer(piece))
        rest = stated.sub(" ", piece)
        # "5 is best" would be wrong on the wider scale.
        points = [n for n in _NUMBER.findall(rest) if scale.min <= float(n) <= scale.max]
        if points or _WORDS.search(rest):
            raise Unusable("the prompt speaks of single points of its scale")
    if not has_points:
        raise Unusable("the prompt states no scale in numbers")

    def widened(m: re.Match[str]) -> str:
        return f"{highest}{m['down']}" if m["down"] else f"{m['up'] or m['of']}{highest}"

    # Slots are searched, too; one such as {{1-5}} must not become another slot.
    slots = set(pieces_of(text)[1::2])
    wide = stated.sub(widened, text)
    if set(pieces_of(wide)[1::2]) != slots:
        raise Unusable("a slot of the prompt looks like a scale")
    return wide
