"""Runs of an agent with one planted fault, and how sure four judges are that each is sound."""

from pathlib import Path

from results_pages.differences import differences
from results_pages.parts import Grid, SetFigures, audit_of

import dhp
from dhp.loaders.released import read_recorded_scores

_FOLDER = "DATA/trajectory_judge --format trajectory"


def agents(data: Path) -> SetFigures:
    """Detection of each fault, silent and loud apart, and judges against each other."""
    frame = read_recorded_scores("trajectory", data / "trajectory_judge")
    grid = Grid(
        "Faulty runs trusted less",
        "The score is the confidence that a run is sound; a pair is a faulty run and the sound run of the "
        "same instance. A fault is silent where the outcome is correct all the same.",
        tuple(audit_of(r, r.model) for r in dhp.analyze(frame)),
        (f"dhp analyze {_FOLDER} --details",),
    )
    return SetFigures("agents", (grid,), (differences(frame, f"dhp compare {_FOLDER}"),), (grid,))
