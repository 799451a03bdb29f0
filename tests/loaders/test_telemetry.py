"""Spans in OTLP's JSON are taken apart, and what is no value of it stays as it is."""

import pytest

from dhp.loaders.telemetry import attributes, records


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ({"stringValue": "x"}, "x"),
        ({"intValue": "-3"}, -3),
        ({"arrayValue": {"values": [{"stringValue": "x"}, {"intValue": 4}]}}, ["x", 4]),
        ({"kvlistValue": {"values": [{"key": "k", "value": {"boolValue": True}}]}}, {"k": True}),
        ({"intValue": "x"}, "x"),
        ({"arrayValue": 5}, 5),
        (7, 7),
    ],
)
def test_values_of_attributes(value: object, plain: object) -> None:
    assert attributes({"attributes": [{"key": "name", "value": value}, 5]}) == {"name": plain}


def test_spans_are_found_at_any_depth() -> None:
    span, record = {"name": "s"}, {"body": "r"}
    parts = [{"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}, [{"logRecords": [record]}], 7, span]
    assert list(records(parts)) == [span, record, span]
