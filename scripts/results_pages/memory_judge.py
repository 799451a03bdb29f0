"""LoCoMo: a judge of memory systems, as they use it, on answers that are wrong on purpose."""

import json
from pathlib import Path

import pandas as pd
from results_pages.parts import Grid, SetFigures, Table, audit_of, published_text, share_text

import dhp
from dhp.analysis.results import Result
from dhp.core.records import ORIGINAL

JUDGE = "gpt-4o-mini, LoCoMo prompt"
_VARIANTS = {"full_context": ORIGINAL, "specific": "specific but wrong", "vague": "vague but topical"}
_MAJORITY = 0.5
_ANALYZE = (
    "python scripts/results.py DATA --ratings locomo_judge > ratings.csv && "
    f"dhp analyze ratings.csv --pass-mark {_MAJORITY} --details"
)


def locomo_judge(data: Path) -> SetFigures:
    """Detection of two ways to be wrong, and how many of these answers pass."""
    frame = locomo_ratings(data)
    (result,) = dhp.analyze(frame, analysis=dhp.AnalysisConfig(pass_mark=_MAJORITY))
    grid = Grid(
        "Wrong answers accepted less often",
        "The score is the share of three verdicts that accept an answer. A pair is a wrong answer and that "
        "of GPT-4.1 mini with the whole conversation before it.",
        (audit_of(result, result.model),),
        (_ANALYZE,),
    )
    passing = _passing(result, frame)
    return SetFigures("locomo_judge", (grid,), (passing,), (grid, passing))


def locomo_ratings(data: Path) -> pd.DataFrame:
    """Three verdicts an answer, 1 for accepted; questions on one conversation are a cluster."""
    rows = []
    for name, variant in _VARIANTS.items():
        recorded = json.loads(published_text(data / "locomo_judge" / f"{name}.json"))
        for conversation, answers in recorded["detailed_results"].items():
            for answer in answers:
                for sample, accepted in enumerate(answer["llm_judgments"].values()):
                    rows.append(
                        {
                            "model": JUDGE,
                            "dataset": "locomo_judge",
                            "example": answer["question_id"],
                            "variant": variant,
                            "metric": "accepted",
                            "score": float(accepted),
                            "sample": sample,
                            "level": "answer",
                            "cluster": conversation,
                        }
                    )
    return pd.DataFrame(rows)


def _passing(result: Result, frame: pd.DataFrame) -> Table:
    accepted = frame.groupby("variant")["score"].mean()
    rows = [(row.variant, share_text(row.passes), f"{accepted[row.variant]:.1%}") for row in result.variants]
    fails = result.pass_mark.fails if result.pass_mark else None
    rows.append(("full context, rejected", share_text(fails), f"{1 - accepted[ORIGINAL]:.1%}"))
    return Table(
        "What passes",
        "Share of the wrong answers that pass, by most of the three verdicts and over all verdicts, as the "
        "audit counts; of the full-context answers the share that is rejected. 95 % intervals take the "
        "questions on a conversation together.",
        ("judge", "answers", "by most verdicts", "of all verdicts"),
        tuple((result.model, *row) for row in rows),
        (_ANALYZE,),
        words=2,
    )
