"""Why a judge's answers have no score, and what most likely helps."""

from collections import Counter
from typing import TYPE_CHECKING

from dhp.core.records import CALLED_TOOL, CUT_OFF, ONLY_THOUGHTS, SECOND, UNREAD

if TYPE_CHECKING:
    import pandas as pd

REFUSED, OFF_SCALE, EMPTY = "refused", "off the scale", "an empty answer"
NO_RATING, NOT_RECORDED = "no rating in the words", "why is not recorded"
_MORE_TOKENS = "more answer tokens (`--max-tokens`) or less reasoning effort"
REMEDIES = {
    CUT_OFF: _MORE_TOKENS,
    ONLY_THOUGHTS: _MORE_TOKENS,
    EMPTY: _MORE_TOKENS,
    REFUSED: "another prompt or another model",
    OFF_SCALE: "the ends of the scale in the prompt",
    CALLED_TOOL: "a request that offers no tools",
    NO_RATING: "`--answer json`, or a prompt that asks for the rating alone",
}
"""Cause -> what most likely makes such answers readable."""


def causes(table: "pd.DataFrame") -> dict[str, int]:
    """Cause -> number of answers without a score, the commonest first, of a table of ratings."""
    unread = table[table["status"].isin(UNREAD)]
    # Of a table that lacks the column, one None for each row.
    nothing = [None] * len(unread)
    rules, answers = unread.get("rule", nothing), unread.get("raw", nothing)
    recorded = "raw" in table
    counts: Counter[str] = Counter()
    for status, rule, answer in zip(unread["status"], rules, answers, strict=True):
        counts[_cause(status, rule, answer, recorded=recorded)] += 1
    return dict(counts.most_common())


def _cause(status: str, rule: object, answer: object, *, recorded: bool) -> str:
    """`recorded` says whether the judge's words were kept."""
    if status == "refused":
        return REFUSED
    if status != "unparsed":
        return OFF_SCALE
    if isinstance(rule, str):
        # `again:a tool call` of an answer that was asked for again, else `a tool call`
        reason = rule.removeprefix(SECOND).removeprefix(":").partition(":")[0]
        if reason:
            return reason
    if not recorded:
        return NOT_RECORDED
    return NO_RATING if isinstance(answer, str) and answer.strip() else EMPTY
