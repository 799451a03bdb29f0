"""Numbers as the marks of lists write them: figures, letters, Roman, Chinese and circled numerals."""

from collections.abc import Iterator, Mapping, Sequence

_MOST = 999
"""The last number in figures: longer lists are numbered in no text."""


def _roman() -> Iterator[str]:
    for tens in ("", "x", "xx", "xxx"):
        for ones in ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"):
            yield tens + ones


def _chinese() -> Iterator[str]:
    digits = ("", *"一二三四五六七八九")
    for tens in range(10):
        for ones in range(10):
            ten = "十" if tens else ""
            yield (digits[tens] if tens > 1 else "") + ten + digits[ones]


_FIGURES = tuple(map(str, range(_MOST + 1)))
_FULL_WIDTH = str.maketrans("0123456789", "０１２３４５６７８９")
ROMAN: Mapping[bool, str] = {False: "roman", True: "ROMAN"}
"""Whether they are capitals -> the system of Roman numerals."""
SYSTEMS: Mapping[str, Sequence[str]] = {
    "figures": _FIGURES,
    "full width": tuple(number.translate(_FULL_WIDTH) for number in _FIGURES),
    ROMAN[False]: tuple(_roman()),
    ROMAN[True]: tuple(map(str.upper, _roman())),
    "letters": ("", *"abcdefghijklmnopqrstuvwxyz"),
    "LETTERS": ("", *"ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    "Chinese": tuple(_chinese()),
    "circled": ("", *map(chr, range(0x2460, 0x2474))),
}
"""System -> its numbers; the one for n stands at n."""


def _known() -> dict[str, tuple[str, int]]:
    """Numeral -> its system and number."""
    known = dict[str, tuple[str, int]]()
    for system, numerals in SYSTEMS.items():  # i, v and x are letters, which come after the Roman numerals
        for number, each in enumerate(numerals):
            known[each] = system, number
    return known


_KNOWN: Mapping[str, tuple[str, int]] = _known()


def numeral(text: str, *, roman: bool = False) -> tuple[str, int] | None:
    """The system of a numeral and its number; None for other text. With `roman`, i, v, x are 1, 5, 10."""
    system = ROMAN[text.isupper()]
    if roman and text in SYSTEMS[system]:
        return system, SYSTEMS[system].index(text)
    return _KNOWN.get(text)


def written(number: int, system: str) -> str | None:
    """A number in a system; None if the system does not go so far."""
    numerals = SYSTEMS[system]
    return numerals[number] if number < len(numerals) else None
