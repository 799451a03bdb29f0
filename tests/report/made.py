"""Results made by hand, field by field, for tests of what is said of them."""

from typing import Any

from dhp.analysis.results import Cell, DoseResponse, DoseThreshold, Result, RunDetection, VariantResult
from dhp.core.records import parse_variant
from dhp.core.verdicts import verdict_of

_PARTS = "suite:s@1|method:rule|metrics:1@1|weights:uniform|statistics:default+hmp|protocol:none|seed:0|dhp:1"


def row(
    variant: str, verdict: Any = "noticed", detection: float | None = 0.9, **fields: Any
) -> VariantResult:
    """A kind of damage, or a control, with 24 pairs and an interval of ten points on either side."""
    ends = None if detection is None else (max(detection - 0.1, 0.0), min(detection + 0.1, 1.0))
    cell = Cell(0.01, -2.0, 24, 0, 0.1, fell=0.8, tied=0.2, rose=0.0, detection=detection, detection_ci=ends)
    plain: dict[str, Any] = {
        "variant": variant,
        "level": "word",
        "method": "rule",
        "degree": parse_variant(variant).degree,
        "metrics": {"quality": cell},
        "p": 0.01,
        "d": 1.5,
        "d_ew": 1.5,
        "not_applicable": 0,
        "detection": detection,
        "detection_ci": ends,
        "best_metric": "quality",
        "n": 24,
        "verdict": None if verdict is None else verdict_of(verdict),
    }
    return VariantResult(**(plain | fields))


def control(
    verdict: Any = "still", detection: float = 0.5, variant: str = "harmless", **fields: Any
) -> VariantResult:
    """A control, or with `level` an attack."""
    return row(variant, verdict, detection, **({"level": "control"} | fields))


def result(*rows: VariantResult, **fields: Any) -> Result:
    """One judge on one dataset; `rows` are its kinds of damage."""
    known = [each for each in rows if each.detection is not None and each.n >= 5]
    lowest = min(known, key=lambda each: each.detection or 0.0, default=None)
    average = sum(each.detection or 0.0 for each in known) / len(known) if known else None
    run = RunDetection(
        average,
        None if lowest is None else lowest.detection,
        None if lowest is None else lowest.variant,
        {"avg": None if average is None else (average - 0.05, average), "min": None},
    )
    plain: dict[str, Any] = {
        **dict.fromkeys(("d_avg", "d_min", "d_avg_ew", "d_min_ew", "d_min_variant")),
        **dict.fromkeys(("missing_mass", "cost")),
        **dict.fromkeys(("attacks", "curves", "left_out", "warnings"), ()),
        "signature": f"dataset:d@1|n:24|{_PARTS}",
        "created": "2025-01-02T03:04:05+00:00",
        "model": "own/judge",
        "protocol": "none",
        "dataset": "set",
        "n": 24,
        "statistics": "default",
        "combination": "hmp",
        "weights": "uniform",
        "levels": "suite",
        "variants": rows,
        "controls": (control(),),
        "ratings": {"asked": 100, "scored": 100},
        **{
            name: {}
            for name in ("unscored", "repeats", "scales", "styles", "halo", "failures", "rules", "usage")
        },
        "detection": run,
    }
    return Result(**(plain | fields))


def dose_response(t75: float | None, low: float | None = 2.0, high: float | None = None) -> DoseResponse:
    """Typos in doses of 1, 4 and 16, in texts of 80 characters."""
    found = DoseThreshold(t75, low, high)
    return DoseResponse("random_typos", (1, 4, 16), (0.55, 0.8, 0.98), 1.5, 0.02, found, 80)
