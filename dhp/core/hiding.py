"""Secrets are hidden here: whoever writes, stores or prints lets `hidden` put `***` in their place.

What is secret is decided in `dhp.core.secrets`, which needs more of the standard library; this file is read
at each start of a command.
"""

import json
import logging
import re
from collections.abc import Mapping
from typing import Any

HIDDEN = "***"
_BACKSLASHES = r"(?<!\\)(?:\\\\)*"
"""Escaped backslashes before one that begins an escape."""
_replacements: tuple[tuple[str, str], ...] = ()
"""Text -> what is written in its place, the longest text first. A new tuple takes its place as a whole, as
threads read it."""


def add(replacements: Mapping[str, str]) -> None:
    """Hide texts from now on: each is a key, its value is written in its place."""
    global _replacements
    known = dict(_replacements)
    if replacements.keys() <= known.keys():
        return
    if not known:
        logging.getLogger("dhp").addFilter(_hide_in_record)
    known |= replacements
    # The longest first, as a shorter one may be a part of it.
    _replacements = tuple(sorted(known.items(), key=lambda each: -len(each[0])))


def _hide_in_record(record: logging.LogRecord) -> bool:
    """Hide the secrets in what is logged, whoever listens."""
    message = record.getMessage()
    shown = hidden(message)
    if shown != message:
        record.msg, record.args = shown, ()
    return True


def hidden(text: str) -> str:
    """The text with `***` in place of each secret."""
    for secret, shown in _replacements:
        if secret in text:
            text = _without(secret, shown, text)
    return text


def hidden_bytes(data: bytes) -> bytes:
    """As `hidden`, of a text in UTF-8."""
    for secret, shown in _replacements:
        if secret.encode() in data:
            text = data.decode("utf-8", "surrogateescape")
            data = _without(secret, shown, text).encode("utf-8", "surrogateescape")
    return data


def _without(secret: str, shown: str, text: str) -> str:
    """The text with `shown` in place of a secret; no escape of JSON such as `\\u0090` is cut into.

    First what stands behind whole escapes is replaced. If a secret is still there, its first digits are the
    last ones of an escape, which goes with it.
    """
    literal = re.escape(secret)
    behind_escapes = re.compile(rf"({_BACKSLASHES}\\u[\da-fA-F]{{4}})|{literal}")
    text = behind_escapes.sub(lambda match: match[1] or shown, text)
    cut_escape = re.compile(rf"(?:({_BACKSLASHES})\\u[\da-fA-F]{{0,3}})?{literal}")
    return cut_escape.sub(lambda match: (match[1] or "") + shown, text)


def hidden_value(value: Any) -> Any:
    """A value of JSON without secrets, as it is written."""
    return json.loads(hidden(json.dumps(value))) if _replacements else value


def hidden_table(table: Any) -> Any:
    """A table of pyarrow without secrets in its texts."""
    import pyarrow
    import pyarrow.compute as pc

    for place, field in enumerate(table.schema):
        if not (pyarrow.types.is_string(field.type) or pyarrow.types.is_large_string(field.type)):
            continue
        for secret, shown in _replacements:
            column = table.column(place)
            if pc.any(pc.match_substring(column, secret)).as_py():
                replaced = pc.replace_substring(column, secret, shown)
                table = table.set_column(place, field, replaced)
    return table
