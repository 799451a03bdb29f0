"""Tables brought to one row an example and one column a text: nested values and long tables made flat."""

from collections.abc import Iterator, Mapping
from typing import Any

from dhp.core.errors import InputError
from dhp.core.tables import Row, Table, as_text, table
from dhp.loaders.naming import context_of, is_degraded_text, is_degree, is_kind, words

LONG = ("kind", "degree", "perturbed")
"""What `--field` may say of a table with one row an example and perturbation."""


def flat(found: Table) -> Table:
    """Nested values as columns of their own, `outer.inner`.

    A list of objects that say kind, perhaps degree, and text becomes `column.kind.degree`.
    """
    rows = [Row(row.place, dict(_leaves(row, "", row.values))) for row in found.rows]
    return table(found.name, dict.fromkeys(c for row in rows for c in row.values), rows)


def _leaves(row: Row, prefix: str, values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for key, value in values.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from _leaves(row, f"{path}.", value)
        elif isinstance(value, list) and value and all(_says_kind(entry) for entry in value):
            seen: set[str] = set()
            for name, text in (_kind_and_text(row, path, entry) for entry in value):
                if name in seen:
                    raise row.fault(f"'{name}' stands twice; allowed: once")
                seen.add(name)
                yield name, text
        else:
            yield path, value


def _says_kind(entry: object) -> bool:
    return isinstance(entry, Mapping) and any(is_kind(str(key)) for key in entry)


def _kind_and_text(row: Row, path: str, entry: Mapping[str, Any]) -> tuple[str, object]:
    kinds = [as_text(value) or "" for key, value in entry.items() if is_kind(key)]
    degrees = [as_text(value) or "" for key, value in entry.items() if is_degree(key)]
    texts = [key for key in entry if _is_text(key)]
    if len(texts) != 1:
        raise row.fault(
            f"column '{path}': an entry has {len(texts)} texts ({', '.join(entry)}); allowed: one, 'text'"
        )
    return ".".join(filter(None, (path, *kinds, *degrees))), entry[texts[0]]


def _is_text(key: str) -> bool:
    return is_degraded_text(key) or set(words(key)) in ({"text"}, {"output"}, {"ending"}, {"answer"})


def by_example(found: Table, given: Mapping[str, str]) -> Table:
    """A table of one row an example and perturbation as one of a row an example; any other as it is.

    The degraded texts become columns `text column.kind.degree`. `given` may name the columns `kind`, `degree`
    and `perturbed`, and those of `context_of`. Raises `InputError` where rows of an example contradict each
    other.
    """
    kinds = [given["kind"]] if "kind" in given else [c for c in found.columns if is_kind(c)]
    texts = (
        [given["perturbed"]] if "perturbed" in given else [c for c in found.columns if is_degraded_text(c)]
    )
    degrees = [given["degree"]] if "degree" in given else [c for c in found.columns if is_degree(c)]
    if len(kinds) != 1 or len(texts) != 1:
        return found
    naming = {kinds[0], texts[0], *degrees}
    rest = [c for c in found.columns if c not in naming]
    others = {ours: theirs for ours, theirs in given.items() if theirs in rest}
    context = context_of(rest, found.name, others)
    key = [context["id"]] if "id" in context else list(context.values())
    if not key:
        return found
    merged: dict[tuple[str | None, ...], dict[str, object]] = {}
    places: dict[tuple[str | None, ...], str] = {}
    for row in found.rows:
        example = tuple(as_text(row.values.get(c)) for c in key)
        first = merged.setdefault(example, {c: row.values.get(c) for c in rest})
        places.setdefault(example, row.place)
        for column in context.values():
            if row.values.get(column) != first[column]:
                raise row.fault(
                    f"column '{column}' differs from {places[example]}, the same example; allowed: the same"
                )
        kind = (row.text(kinds[0]), *(as_text(row.values.get(c)) or "" for c in degrees))
        name = ".".join(filter(None, (texts[0], *kind)))
        if name in first:
            raise row.fault(f"'{name}' of this example stands twice; allowed: once")
        first[name] = row.values.get(texts[0])
    columns = dict.fromkeys(c for values in merged.values() for c in values)
    if "id" in context and len(merged) == len(found.rows) and len(columns) > len(rest) + 1:
        raise InputError(
            f"{found.name}: each row has an id of its own in '{context['id']}', so no two texts belong to "
            "one example; say which column tells the examples by --field id=COLUMN"
        )
    return table(found.name, columns, (Row(places[e], values) for e, values in merged.items()))
