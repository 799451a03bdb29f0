"""Events `gen_ai.evaluation.result` of OpenTelemetry, of spans and of log records.

https://github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai/gen-ai-events.md
"""

from collections.abc import Iterable, Mapping
from typing import Any

from dhp.loaders.telemetry import attributes, records

_EVENT = "gen_ai.evaluation.result"
_SCORE = "gen_ai.evaluation.score."
_RESPONSE = "gen_ai.response.id"


def is_telemetry(part: Mapping[str, Any]) -> bool:
    """Whether an object is OTLP's JSON, or a span, log record or event, with or without an SDK's frame."""
    if "resourceSpans" in part or "resourceLogs" in part:
        return True
    if "attributes" in part and ("context" in part or "trace_id" in part or "traceId" in part):
        return True
    if _evaluations(part):
        return True
    # A span of a model alone, whose evaluation may stand in a log record.
    return any(name.startswith("gen_ai.") for name in attributes(part))


def _evaluations(span: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The events of an evaluation that a span holds."""
    events = span.get("events")
    if not isinstance(events, list | tuple):
        return []
    return [event for event in events if isinstance(event, Mapping) and event.get("name") == _EVENT]


def evaluation_entries(parts: Iterable[Any]) -> list[dict[str, Any]]:
    """The attributes of each event of an evaluation, with those of the span that it evaluates.

    `parts` are objects of OTLP's JSON (`resourceSpans`, `resourceLogs`), or spans and log records as the
    Python SDK writes them. An event belongs to the span that holds it, or that its span id or response id
    names.
    """
    spans: list[Mapping[str, Any]] = []
    logged: list[Mapping[str, Any]] = []
    for each in records(parts):
        if "events" in each or "kind" in each:  # a log record has neither
            spans.append(each)
        else:
            logged.append(each)

    entries: list[dict[str, Any]] = []
    known: dict[str, Mapping[str, Any]] = {}  # id of a span or a response -> attributes of the span
    for span in spans:
        about = attributes(span)
        for name in (_span_id(span), about.get(_RESPONSE)):
            if name:
                known[str(name)] = about
        for event in _evaluations(span):
            # The event's own attributes count before those of its span.
            entries.append({**about, **attributes(event)})

    for record in logged:
        about = attributes(record)
        if _is_evaluation(record, about):
            span = known.get(str(about.get(_RESPONSE))) or known.get(_span_id(record)) or {}
            entries.append({**span, **about})
    return entries


def _is_evaluation(record: Mapping[str, Any], about: Mapping[str, Any]) -> bool:
    """Whether a log record is an event of an evaluation."""
    # Each SDK has its own place for the name of an event, and some leave it out.
    if about.get("event.name") == _EVENT:
        return True
    for place in ("name", "eventName", "event_name"):
        if record.get(place) == _EVENT:
            return True
    return any(name.startswith(_SCORE) for name in about)


def _span_id(record: Mapping[str, Any]) -> str:
    context = record.get("context") or {}  # in it the Python SDK has the ids of a span
    value = record.get("spanId") or record.get("span_id") or context.get("span_id")
    return str(value or "").removeprefix("0x")
