"""How well a judge detects silent and loud faults, for the report."""

from dhp.analysis.results import Result, VariantResult
from dhp.core.records import parse_variant

# A fault is silent if the last answer stays as it was, and loud if an answer changes.
SILENT = ("turn_deletion", "turn_swap", "answer_repetition", "call_argument", "call_claimed")
LOUD = ("foreign_answer", "question_unanswered", "result_ignored", "constraint_broken")


def notes(result: Result) -> list[str]:
    """How well a judge detects silent and loud faults, in one line; no line without faults of turns."""
    silent, loud = [], []
    for row in result.variants:
        if row.level != "turn" or row.detection is None:
            continue
        perturber = parse_variant(row.variant).perturber
        if perturber in SILENT:
            silent.append(row)
        elif perturber in LOUD:
            loud.append(row)

    parts = []
    if silent:
        parts.append(_detected("silent (the last answer stays)", silent))
    if loud:
        parts.append(_detected("loud (an answer changes)", loud))
    if not parts:
        return []
    return [f"faults of turns: {'; '.join(parts)}"]


def _detected(what: str, rows: list[VariantResult]) -> str:
    # `or` is for the type alone: rows without detection are left out above.
    mean = sum(row.detection or 0.0 for row in rows) / len(rows)
    noticed = [row for row in rows if row.state.is_good]
    return f"{what} detected in {mean:.0%}, {len(noticed)} of {len(rows)} kinds noticed"
