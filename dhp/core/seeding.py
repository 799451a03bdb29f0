"""Random streams keyed by purpose, never by order or process.

The generator is `random.Random`, whose `random()` and `getrandbits()` give the same numbers on every
platform and Python version.
"""

import hashlib
import json
import random
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
_HEX_DIGITS = 12
"""Digits of a hash that is printed. Chosen."""


def key_digest(*key: object) -> bytes:
    """sha256 of a key made of strings and numbers; distinct keys never collide by concatenation."""
    return hashlib.sha256(json.dumps(key, ensure_ascii=False, default=str).encode()).digest()


def stream(*key: object) -> random.Random:
    """A random stream that depends on `key` alone, usually (seed, dataset, example id, perturber)."""
    return random.Random(int.from_bytes(key_digest(*key)))


def shuffled(items: Iterable[T], rng: random.Random) -> list[T]:
    """The items in random order; how `random.shuffle` draws may change with Python, this does not."""
    return list(drawn(items, rng))


def drawn(items: Iterable[T], rng: random.Random) -> Iterator[T]:
    """The items in the order of `shuffled`, one by one: what is not asked for is not drawn."""
    order = list(items)
    for i in range(len(order)):
        # By `random()` alone, which gives the same numbers everywhere; see the head of this file.
        j = i + int(rng.random() * (len(order) - i))
        order[i], order[j] = order[j], order[i]
        yield order[i]


def drawn_at_once(items: Sequence[T], rng: random.Random) -> Iterator[T]:
    """The items of `drawn`, all drawn before the first is used, for a stream that is used further."""
    # The same numbers as from a call of `rng.random()` for each item, in a fifth of the time: `random()` is
    # made of two draws of 32 bits, the upper 27 of one and the upper 26 of the other.
    draws = rng.getrandbits(64 * len(items)).to_bytes(8 * len(items), "little") if items else b""
    moved: dict[int, int] = {}
    for i, (high, low) in enumerate(struct.iter_unpack("<II", draws)):
        draw = ((high >> 5) * 2**26 + (low >> 6)) / 2**53
        j = i + int(draw * (len(items) - i))
        yield items[moved.get(j, j)]
        # `moved` stands for the list of `drawn`: only the places whose item has changed are in it.
        moved[j] = moved.get(i, i)


def text_hash(text: str | bytes) -> str:
    """The first 12 hex digits of sha256: short enough to print, long enough to tell contents apart."""
    data = text.encode() if isinstance(text, str) else text
    return hashlib.sha256(data).hexdigest()[:_HEX_DIGITS]


def natural_order(name: str) -> tuple[object, ...]:
    """A key by which names are sorted as people count, `t2` before `t10`, and each has one place."""
    parts = re.split(r"([0-9]+)", name)
    # Texts and numbers take turns, and a text, perhaps an empty one, ends them: `t10` is `t`, `10`, ``.
    texts, numbers = parts[::2], [*parts[1::2], ""]
    key: list[object] = []
    for text, number in zip(texts, numbers, strict=True):
        # Digits without leading zeros: the longer number is the larger one, however long it is.
        digits = number.lstrip("0")
        key.append((text, len(digits), digits))
    return (*key, name)


def list_hash(values: Iterable[object], *, before: str = "", after: str = "", sort_keys: bool = False) -> str:
    """`text_hash` of a list as JSON between two texts; no more than one value is in memory."""
    digest = hashlib.sha256(f"{before}[".encode())
    for number, value in enumerate(values):
        separator = ", " if number else ""
        digest.update(f"{separator}{json.dumps(value, sort_keys=sort_keys)}".encode())
    digest.update(f"]{after}".encode())
    return digest.hexdigest()[:_HEX_DIGITS]
