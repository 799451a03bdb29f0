"""A typed table of named things that suggests the near name."""

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from dhp.core.errors import InputError, suggest

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """An immutable mapping from name to thing.

    `kind` names the things in error messages. A missing name raises `InputError` with the near name and
    the allowed ones.
    """

    def __init__(self, kind: str, items: Mapping[str, T]) -> None:
        self._kind = kind
        self._items = dict(items)

    def __getitem__(self, name: str) -> T:
        try:
            return self._items[name]
        except KeyError:
            raise InputError(f"unknown {self._kind} '{name}'; {suggest(name, self._items)}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def extended(self, items: Mapping[str, T]) -> "Registry[T]":
        """A new registry with `items` added; a name that is taken raises `InputError`."""
        for name in items:
            if name in self._items:
                raise InputError(f"{self._kind} '{name}' exists already; choose another name")
        return Registry(self._kind, {**self._items, **items})
