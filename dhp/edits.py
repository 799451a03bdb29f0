"""How far a degraded text is from its original."""

from dhp.records import Audit


def audit(before: str, after: str, asked: int | None = None, made: int | None = None) -> Audit:
    """Edit distance and similarity of two texts, with the edits asked and made where they were counted."""
    from rapidfuzz.distance import Levenshtein

    distance = Levenshtein.distance(before, after)
    return Audit(asked, made, distance, round(1 - distance / max(len(before), len(after)), 6))
