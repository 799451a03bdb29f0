"""Silent faults, after which the last answer is as it was, and loud ones, apart."""

from dhp.analysis.results import Result, VariantResult
from dhp.core.records import parse_variant

SILENT = ("turn_deletion", "turn_swap", "answer_repetition", "call_argument", "call_claimed")
LOUD = ("foreign_answer", "question_unanswered", "result_ignored", "constraint_broken")


def notes(result: Result) -> list[str]:
    """What a judge makes of silent faults and of loud ones; nothing where there are none of turns."""
    rows = [row for row in result.variants if row.level == "turn" and row.detection is not None]
    return [
        said
        for what, names in (
            ("silent faults of turns, which leave the last answer as it was", SILENT),
            ("loud faults of turns, which change an answer", LOUD),
        )
        if (said := _said(what, [row for row in rows if parse_variant(row.variant).perturber in names]))
    ]


def _said(what: str, rows: list[VariantResult]) -> str:
    if not rows:
        return ""
    mean = sum(row.detection or 0.0 for row in rows) / len(rows)
    noticed = sum(row.verdict == "noticed" for row in rows)
    return f"{what}: mean detection {mean:.0%}, {noticed} of {len(rows)} noticed"
