"""Why a judge's answers have no score, and what most likely helps."""

from collections import Counter
from typing import TYPE_CHECKING

from dhp.core.records import CALLED_TOOL, CUT_OFF, ONLY_THOUGHTS, SECOND, UNREAD

if TYPE_CHECKING:
    import pandas as pd

REFUSED, OFF_SCALE, EMPTY = "refused", "off the scale", "an empty answer"
NO_RATING, NOT_RECORDED = "no rating in the words", "why is not recorded"
REMEDIES = {
    CUT_OFF: "more answer tokens (`--max-tokens`) or less reasoning effort",
    ONLY_THOUGHTS: "more answer tokens (`--max-tokens`) or less reasoning effort",
    EMPTY: "more answer tokens (`--max-tokens`) or less reasoning effort",
    REFUSED: "another prompt or another model",
    OFF_SCALE: "the ends of the scale in the prompt",
    CALLED_TOOL: "a request that offers no tools",
    NO_RATING: "`--answer json`, or a prompt that asks for the rating alone",
}
"""Cause -> what most likely makes such answers readable."""


def causes(table: "pd.DataFrame") -> dict[str, int]:
    """Cause -> number of answers without a score, the commonest first, of a table of ratings."""
    unread = table[table["status"].isin(UNREAD)]
    columns = [unread[name] if name in unread else [None] * len(unread) for name in ("rule", "raw")]
    recorded = "raw" in table
    counts = Counter(
        _cause(status, rule, raw, recorded=recorded)
        for status, rule, raw in zip(unread["status"], *columns, strict=True)
    )
    return dict(counts.most_common())


def _cause(status: str, rule: object, raw: object, *, recorded: bool) -> str:
    """`recorded` says whether the judge's words were kept."""
    if status != "unparsed":
        return REFUSED if status == "refused" else OFF_SCALE
    reason = rule.removeprefix(SECOND).removeprefix(":").partition(":")[0] if isinstance(rule, str) else ""
    if reason:
        return reason
    if not recorded:
        return NOT_RECORDED
    return NO_RATING if isinstance(raw, str) and raw.strip() else EMPTY
