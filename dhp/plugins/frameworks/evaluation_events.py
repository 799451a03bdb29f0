"""Events `gen_ai.evaluation.result` of OpenTelemetry, of spans and of log records.

https://github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/gen-ai-events.md
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_EVENT = "gen_ai.evaluation.result"
_SCORE = "gen_ai.evaluation.score."
_RESPONSE = "gen_ai.response.id"


def is_telemetry(part: Mapping[str, Any]) -> bool:
    """Whether an object is OTLP's JSON, or a span, log record or event, with or without an SDK's frame."""
    if "resourceSpans" in part or "resourceLogs" in part:
        return True
    if "attributes" in part and {"context", "trace_id", "traceId"} & {*part}:
        return True
    inner = part.get("events")
    events = [each for each in inner if isinstance(each, Mapping)] if isinstance(inner, list) else []
    if any(event.get("name") == _EVENT for event in events):
        return True
    return any(name.startswith("gen_ai.") for name in _attributes(part))


def evaluation_entries(parts: Iterable[Any]) -> list[dict[str, Any]]:
    """The attributes of each event of an evaluation, with those of the span that it evaluates.

    `parts` are objects of OTLP's JSON (`resourceSpans`, `resourceLogs`), or spans and log records as the
    Python SDK writes them. An event belongs to the span that holds it, or that its span id or response id
    names.
    """
    every = list(_records(parts))
    spans = [each for each in every if "events" in each or "kind" in each]
    records = [each for each in every if not ("events" in each or "kind" in each)]
    known: dict[str, Mapping[str, Any]] = {}
    for span in spans:
        about = _attributes(span)
        for name in (_span_id(span), about.get(_RESPONSE)):
            if name:
                known[str(name)] = about
    entries = [
        {**_attributes(span), **_attributes(event)}
        for span in spans
        for event in span.get("events") or ()
        if isinstance(event, Mapping) and event.get("name") == _EVENT
    ]
    for record in records:
        about = _attributes(record)
        names = (*(record.get(name) for name in ("name", "eventName", "event_name")), about.get("event.name"))
        if _EVENT in names or any(name.startswith(_SCORE) for name in about):
            of = known.get(str(about.get(_RESPONSE))) or known.get(_span_id(record)) or {}
            entries.append({**of, **about})
    return entries


def _records(parts: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    """Spans and log records, one by one."""
    inner = {
        "resourceSpans": "scopeSpans",
        "scopeSpans": "spans",
        "resourceLogs": "scopeLogs",
        "scopeLogs": "logRecords",
    }
    for part in parts:
        if isinstance(part, list):
            yield from _records(part)
        if not isinstance(part, Mapping):
            continue
        lists = [name for name in (*inner, *inner.values()) if isinstance(part.get(name), list)]
        for name in dict.fromkeys(lists):
            yield from _records(part[name])
        if not lists:
            yield part


def _span_id(record: Mapping[str, Any]) -> str:
    context = record.get("context")
    value = record.get("spanId") or record.get("span_id") or (context or {}).get("span_id")
    return str(value or "").removeprefix("0x")


def _attributes(record: Mapping[str, Any]) -> dict[str, Any]:
    """Name -> plain value, of an object or of OTLP's list of keys and values; else of the record itself."""
    value = record.get("attributes", record)
    if isinstance(value, Mapping):
        return dict(value)
    listed = value if isinstance(value, list) else []
    return {str(e.get("key")): _plain(e.get("value")) for e in listed if isinstance(e, Mapping)}


def _plain(value: Any) -> Any:
    """A value of OTLP's JSON, in which integers are texts; lists and objects are left."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return value
    ((kind, plain),) = value.items()
    return int(plain) if kind == "intValue" else plain
