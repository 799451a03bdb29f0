"""How well a judge detects silent and loud faults, for the report."""

from dhp.analysis.results import Result, VariantResult
from dhp.core.records import parse_variant

# A fault is silent if the last answer stays as it was, and loud if an answer changes.
SILENT = ("turn_deletion", "turn_swap", "answer_repetition", "call_argument", "call_claimed")
LOUD = ("foreign_answer", "question_unanswered", "result_ignored", "constraint_broken")


def notes(result: Result) -> list[str]:
    """How well a judge detects silent and loud faults, in one line; no line without faults of turns."""
    rows = [row for row in result.variants if row.level == "turn" and row.detection is not None]
    parts = []
    for what, names in (("silent (the last answer stays)", SILENT), ("loud (an answer changes)", LOUD)):
        of_kind = [row for row in rows if parse_variant(row.variant).perturber in names]
        if of_kind:
            parts.append(_said(what, of_kind))
    if not parts:
        return []
    return [f"faults of turns: {'; '.join(parts)}"]


def _said(what: str, rows: list[VariantResult]) -> str:
    mean = sum(row.detection or 0.0 for row in rows) / len(rows)
    noticed = sum(row.state.is_good for row in rows)
    return f"{what} detected in {mean:.0%}, {noticed} of {len(rows)} kinds noticed"
