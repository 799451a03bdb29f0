"""The forms that a judgement takes in a table: a score, a verdict, preferences, or an answer in words.

`as_ratings` turns each form into scores: a verdict with its confidence into a point from 0 to 1
(`_accepted`), preferences in one or both orders into a point from -1 to 1 beside the original at 0
(`_compared`). Answers in words stay as they are, and are read by the judge's protocol.
"""

import math
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from dhp.core.errors import InputError
from dhp.core.records import ORIGINAL
from dhp.core.tables import is_blank

if TYPE_CHECKING:
    import pandas as pd

VERDICT, CONFIDENCE = "verdict", "confidence"
"""Columns of yes-or-no judgements: whether the text was accepted, and how sure that was, in [0, 1]."""
NAMED, BY_CHANCE = "named", "named_by_chance"
"""Columns of ratings of damaged texts: whether the reason names what was changed, and whether the reason
about the undamaged text does so, too."""
STATED = ("probability", CONFIDENCE, NAMED, BY_CHANCE)
"""Columns of what is known of a rating beside its score, from 0 to 1; `probability` is that of passing."""
ANSWER = "answer"
"""Column of what a judge wrote, in which its score is still to be read."""
ORDERS = ("original_first", "original_second")
"""Columns of comparisons: which text was preferred when the original was shown first, and second."""
FLIP = "flip"
"""The rule of a rating whose two verdicts contradict each other."""
ONE_SILENT = "one silent"
"""The rule of a rating of which one order has no verdict: a tie in that order."""
ONE_ORDER = "one order"
"""The rule of a rating that was asked in one order only."""
BESIDE = "beside"
"""The rule of an original with which others are compared: its score of 0 is no answer."""
OVERALL = "overall"
"""Metric of judgements that name none."""
_ASIDE = 0.001
"""How far a verdict lies from the even point at the least, however little sure it is. Chosen."""
ACCEPTED = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
"""What a cell of verdicts says, in small letters -> whether the text was accepted."""
_PREFERRED = {"original": 1, "tie": 0, "degraded": -1}
"""What a cell of `ORDERS` says -> which text it prefers, as a number."""
_TEXT_KEYS = ("model", "protocol", "dataset", "example", "metric", "sample")


def is_pairwise(columns: Collection[str]) -> bool:
    """Whether a table holds what was preferred, in both orders or in one."""
    return not set(ORDERS).isdisjoint(columns)


def preferred(cell: object) -> int | None:
    """1 if a cell prefers the original, -1 the degraded text, 0 neither; None if it could not be read."""
    return None if is_blank(cell) else _PREFERRED.get(str(cell).strip().lower())


def verdict_rule(first: int | None, second: int | None) -> str:
    """How verdicts in two orders stand to each other, of which one may lack: `agree`, `one tie`, `flip`..."""
    if first is None or second is None:
        return ONE_SILENT
    if first == second:
        return "agree"
    return "one tie" if 0 in (first, second) else FLIP


def as_ratings(frame: "pd.DataFrame", place: str) -> "pd.DataFrame":
    """A table of recorded judgements as a table of ratings, with a column `score`.

    A row is one judgement. It has one of these:

    - `score`: a number; the table is returned unchanged.
    - `verdict` (true or false: accepted) and perhaps `confidence` (0 to 1, in this verdict): the score is the
      confidence that the text is good, above .5 if it was accepted, else below. It is the `probability` of
      passing, too, unless a column says that.
    - `original_first` and `original_second`, about a degraded text and its original: `original`, `degraded`
      or `tie`. The original has the score 0, the degraded text its two-order score, from -1 to 1. One column
      is enough; a judge with no verdict in both orders of any pair was asked in one order only.

    An empty cell could not be read: no score, `unparsed`; of two orders a tie in that order. What was not
    asked has no row. Without a column `metric` it is `overall`. Raises `InputError` with `place` and the row
    for any other value.
    """
    if "score" in frame:
        return frame
    if not is_pairwise(frame.columns) and VERDICT not in frame:
        return frame
    made = frame.reset_index(drop=True)
    if "metric" not in made:
        made = made.assign(metric=OVERALL)
    made = _compared(made, place) if is_pairwise(frame.columns) else _accepted(made, place)
    statuses: list[Any] = []
    stated = made["status"] if "status" in made else [None] * len(made)
    for status, score in zip(stated, made["score"], strict=True):
        if not is_blank(status):
            statuses.append(status)
        else:
            statuses.append("unparsed" if math.isnan(score) else "scored")
    made["status"] = statuses
    made.attrs = dict(frame.attrs)  # where the table comes from, which pandas drops
    return made


def stated_columns(frame: "pd.DataFrame", place: str) -> "Iterator[tuple[str, pd.Series[float]]]":
    """The columns `STATED` that a table has, as numbers; NaN if a cell holds none.

    Raises `InputError` with `place` and the row if `named` is neither true nor false, nor a share.
    """
    import pandas as pd

    for name in STATED:
        if name not in frame:
            continue
        cells = frame[name]
        if cells.dtype.kind not in "biuf":
            cells = cells.mask(cells.map(is_blank).astype(bool))
        if name == NAMED:
            cells = _yes_or_no(cells, place)
        yield name, pd.to_numeric(cells, errors="coerce").astype(float)


def _yes_or_no(cells: "pd.Series[Any]", place: str) -> "pd.Series[Any]":
    """True or false, or the share of several, as numbers."""
    import pandas as pd

    words = cells.map(lambda value: ACCEPTED.get(str(value).strip().lower(), value))
    # Words that are neither true nor false become NaN, and are refused below.
    numbers = pd.to_numeric(words, errors="coerce")
    wrong = words.notna() & ~numbers.between(0, 1)
    if wrong.any():
        row = int(wrong.to_numpy().argmax()) + 1
        raise InputError(
            f"{place}: row {row}: {NAMED} is {cells.iloc[row - 1]!r}; allowed: true, false, or nothing"
        )
    return numbers


def _accepted(frame: "pd.DataFrame", place: str) -> "pd.DataFrame":
    accepted = [_one_of(ACCEPTED, text, what) for text, what in _cells(frame, VERDICT, place)]
    if CONFIDENCE not in frame:
        sure: list[float | None] = [1.0] * len(accepted)
    else:
        sure = [_share(text, what) for text, what in _cells(frame, CONFIDENCE, place)]
    scores = list(map(_accepted_score, accepted, sure))
    if CONFIDENCE in frame and "probability" not in frame:
        frame = frame.assign(probability=scores)
    return frame.assign(score=scores)


def _accepted_score(accepted: bool | None, sure: float | None) -> float:
    """The confidence that the text is good; a verdict stays on its side, however little sure it is."""
    if accepted is None or sure is None:
        return float("nan")
    if accepted:
        return max(sure, 0.5 + _ASIDE)
    return min(1 - sure, 0.5 - _ASIDE)


def _compared(frame: "pd.DataFrame", place: str) -> "pd.DataFrame":
    import pandas as pd

    original = frame["variant"] == ORIGINAL
    if original.any():
        row = int(original.to_numpy().argmax()) + 1
        raise InputError(f"{place}: row {row}: compares the original with itself; must name a degraded text")
    for name in ORDERS:
        if name not in frame:
            frame = frame.assign(**{name: None})
    first, second = _preferences(frame, ORDERS[0], place), _preferences(frame, ORDERS[1], place)
    judges = frame["model"].astype(str).tolist() if "model" in frame else [""] * len(frame)
    in_both: set[str] = set()  # judges that gave a verdict in both orders of some pair
    for judge, one, other in zip(judges, first, second, strict=True):
        if one is not None and other is not None:
            in_both.add(judge)

    scores: list[float] = []
    rules: list[str | None] = []
    for judge, one, other in zip(judges, first, second, strict=True):
        score, rule = _two_orders(one, other, both=judge in in_both)
        scores.append(score)
        rules.append(rule)
    rated = frame.assign(score=scores, rule=pd.Series(rules, dtype=object))
    # What makes two rows about one original, as far as the table has it.
    keys = [name for name in _TEXT_KEYS if name in frame]
    # One for all copies of a text: a copy that won has more than its 0, one that lost has less.
    originals = frame.drop_duplicates(keys).assign(variant=ORIGINAL, score=0.0, rule=BESIDE)
    of_copies = ["level", "status", *ORDERS]
    originals = originals.drop(columns=of_copies, errors="ignore")  # which the table may lack
    return pd.concat([originals, rated], ignore_index=True)


def _preferences(frame: "pd.DataFrame", column: str, place: str) -> list[int | None]:
    return [_one_of(_PREFERRED, text, what) for text, what in _cells(frame, column, place)]


def _two_orders(first: int | None, second: int | None, *, both: bool) -> tuple[float, str | None]:
    """The score of a degraded text, NaN without a verdict, and how its verdicts stand to each other.

    `both` says whether the judge was asked in both orders.
    """
    if first is None and second is None:
        return float("nan"), None
    total = (first or 0) + (second or 0)  # what could not be read is a tie in that order
    # Subtracted from 0.0, as -0 would be written as -0.0.
    if both:
        return 0.0 - total / 2, verdict_rule(first, second)
    return 0.0 - total, ONE_ORDER


def _cells(frame: "pd.DataFrame", column: str, place: str) -> list[tuple[str | None, str]]:
    """The text of each cell, None for an empty one; and what to say of it in a message."""
    cells: list[tuple[str | None, str]] = []
    for number, value in enumerate(frame[column], 1):
        text = None if is_blank(value) else str(value).strip()
        cells.append((text, f"{place}: row {number}: {column} is {text!r}"))
    return cells


def _one_of(known: dict[str, int] | dict[str, bool], text: str | None, what: str) -> Any:
    if text is None:
        return None
    plain = text.lower().removesuffix(".0")  # pandas writes 1 so in a column with an empty cell
    if plain not in known:
        raise InputError(f"{what}; allowed: {', '.join(known)}, or nothing if it could not be read")
    return known[plain]


def _share(text: str | None, what: str) -> float | None:
    if text is None:
        return None
    try:
        share = float(text)
    except ValueError:
        # Out of the range, so that the error below speaks of it.
        share = -1.0
    if not 0 <= share <= 1:
        raise InputError(f"{what}; must be a number from 0 to 1")
    return share
