"""What figures say in plain words; shared by terminal and page."""

from dhp.results import Result, VariantResult


def figure(value: float | None) -> str:
    """Two decimals, or a dash for undefined."""
    return "–" if value is None else f"{value:.2f}"


def noticed(value: float | None) -> str:
    """Whether a D passes the line at 1."""
    return "undefined" if value is None else "noticed" if value >= 1 else "missed"


def largest_effect(row: VariantResult) -> tuple[float | None, str]:
    """The largest rank-biserial correlation over metrics, and the metric most hurt, `none` if none was."""
    effects = {metric: cell.effect for metric, cell in row.metrics.items() if cell.effect is not None}
    if not effects:
        return None, ""
    metric = max(effects, key=lambda name: effects[name])
    return effects[metric], metric if effects[metric] > 0 else "none"


def pairs(row: VariantResult) -> str:
    """The pairs each test kept: one number, or the range over metrics."""
    counts = sorted({cell.n for cell in row.metrics.values()})
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]}-{counts[-1]}"


def notes(result: Result) -> list[str]:
    """What a reader of the table must know besides its figures."""
    found = []
    if result.left_out:
        found.append(f"left out, not rated: {', '.join(result.left_out)}")
    for row in result.variants:
        if row.not_applicable:
            found.append(f"{row.variant}: not applicable to {row.not_applicable} of {result.n} examples")
        if row.d is None and row.not_applicable < result.n:
            found.append(
                f"{row.variant}: a metric has no pair left, so D is undefined; averages leave it out"
            )
    missing = result.ratings["asked"] - result.ratings["scored"]
    if missing:
        reasons = [f"{k} {v}" for k, v in result.ratings.items() if k not in ("asked", "scored") and v]
        found.append(f"{missing} of {result.ratings['asked']} ratings have no score ({', '.join(reasons)})")
    if result.levels == "none":
        found.append("levels unknown: all variants count as one level")
    return found
