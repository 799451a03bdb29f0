"""Spans and log records of OpenTelemetry: one by one, with their attributes as plain values."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_LISTS = ("resourceSpans", "scopeSpans", "resourceLogs", "scopeLogs", "spans", "logRecords")
"""Lists of OTLP's JSON, from the outer to the inner: resource, then scope, then spans or log records."""


def records(parts: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    """The spans and log records in objects of OTLP's JSON, in lists, or as they are."""
    for part in parts:
        if isinstance(part, list):
            yield from records(part)
        if not isinstance(part, Mapping):
            continue
        lists = [part[name] for name in _LISTS if isinstance(part.get(name), list)]
        for inner in lists:
            yield from records(inner)
        if not lists:
            yield part


def attributes(record: Mapping[str, Any]) -> dict[str, Any]:
    """Name -> plain value, of an object or of OTLP's list of keys and values; else of the record itself."""
    value = record.get("attributes", record)
    if isinstance(value, Mapping):
        return dict(value)
    if not isinstance(value, list):
        return {}
    return _by_name(value)


def _by_name(pairs: Iterable[Any]) -> dict[str, Any]:
    """The values of OTLP's keys and values: `[{"key": "n", "value": {"intValue": "3"}}]` is `{"n": 3}`."""
    named = {}
    for pair in pairs:
        if isinstance(pair, Mapping):
            named[str(pair.get("key"))] = _plain(pair.get("value"))
    return named


def _plain(value: Any) -> Any:
    """A value of OTLP's JSON, in which each value has its kind as key and integers are texts."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return value
    ((kind, plain),) = value.items()
    if kind == "intValue" and str(plain).removeprefix("-").isdecimal():
        return int(plain)
    inner = plain.get("values") if isinstance(plain, Mapping) else None
    if isinstance(inner, list) and kind == "arrayValue":
        return [_plain(each) for each in inner]
    if isinstance(inner, list) and kind == "kvlistValue":
        return _by_name(inner)
    return plain
