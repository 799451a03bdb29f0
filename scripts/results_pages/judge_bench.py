"""llm-judge-bench: five judges, both orders, on wrong answers and on longer ones that are equally good."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from results_pages.parts import Grid, SetFigures, Table, audit_of, published_text

import dhp
from dhp.core.records import ORIGINAL

_WRONG = {"pos": "wrong answer", "verb": "wrong answer, padded"}
_LONGER = "equally good, longer"
_ANALYZE = (
    "python scripts/results.py DATA --ratings llm_judge_bench > ratings.csv && "
    "dhp analyze ratings.csv --details"
)


def llm_judge_bench(data: Path) -> SetFigures:
    """Detection of wrong answers, and length as a control."""
    frame = llm_judge_bench_ratings(data)
    grid = Grid(
        "Right answers preferred, in both orders",
        "Both answers were shown, in both orders; verdicts that flip with the order are ties. The control is "
        "an answer as good as the other and longer.",
        tuple(audit_of(r, r.model) for r in dhp.analyze(frame)),
        (_ANALYZE,),
    )
    return SetFigures("llm_judge_bench", (grid,), (_length(frame),), (grid,))


def llm_judge_bench_ratings(data: Path) -> pd.DataFrame:
    """Verdicts over both orders: 0 for the right or shorter answer; for the other 1, 0 or -1."""
    judges = json.loads(published_text(data / "llm_judge_bench" / "results.json"))
    rows = []
    for own in judges.values():
        if "_model" not in own:  # answers of the judges themselves
            continue
        for example, variant, value in _verdicts(own):
            for shown, score in ((ORIGINAL, 0), (variant, value)):
                rows.append(
                    {
                        "model": own["_model"],
                        "dataset": "llm_judge_bench",
                        "example": example,
                        "variant": shown,
                        "metric": "preference",
                        "score": score,
                        "level": "control" if variant == _LONGER else "error",
                    }
                )
    return pd.DataFrame(rows).drop_duplicates()


def _verdicts(own: dict[str, Any]) -> Iterator[tuple[str, str, int]]:
    """Example, kind, and by how much the wrong or longer answer is preferred: 1 if in both orders."""
    for example, answers in own["items"].items():
        for part, variant in _WRONG.items():
            yield example, variant, _preferred(answers[part])
    for example, answers in own["ties"].items():
        yield example, _LONGER, _preferred(answers)


def _preferred(answers: list[dict[str, Any]]) -> int:
    """The right or shorter answer is A in the first order, B in the second."""
    first, second = (answer["winner"] for answer in answers)
    return ((first == "B") + (second == "A")) - 1


def _length(frame: pd.DataFrame) -> Table:
    rows = []
    for judge, own in frame[frame["variant"] == _LONGER].groupby("model", sort=False):
        counts = [int((own["score"] == value).sum()) for value in (1, 0, -1)]
        rows.append((str(judge), *map(str, counts), str(len(own))))
    return Table(
        "Length alone",
        "Of the equally good pairs: those in which the longer answer wins in both orders, flips, and those "
        "in which the shorter one does.",
        ("judge", "longer wins", "flips", "shorter wins", "pairs"),
        tuple(rows),
        ("python scripts/results.py DATA --only llm_judge_bench --out pages",),
    )
