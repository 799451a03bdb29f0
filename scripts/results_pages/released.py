"""BUMP, DEMETR and runs of agents: damage that others made, as released and classical metrics see it."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from results_pages.asking import asking_table
from results_pages.parts import Audit, Grid, SetFigures, audit_of, differences, tabled
from results_pages.recorded_scores import read_recorded_scores

import dhp
from dhp.core.errors import InputError
from dhp.core.records import ORIGINAL
from dhp.core.tables import read_table

OVERLAP = ("metric/rouge1", "metric/rouge2", "metric/rougeL", "metric/bleu", "metric/chrf")
SURFACE = "baseline/surface"
_SOUND = 0.5
"""The mark between the verdicts false and true."""


def bump(data: Path) -> SetFigures:
    """Twelve metrics with the scores that were released, and the judge that looks at the surface."""
    released = Grid(
        "Scores as released",
        "The source of each summary is the news article; how each metric was run is said by the authors.",
        tuple(audit_of(r, f"{r.model} (BUMP)") for r in dhp.analyze(bump_ratings(data))),
        (tabled("bump", "dhp analyze ratings.csv --details"),),
    )
    surface, command = _run(SURFACE, "bump", data / "bump")
    own = Grid("Computed here", "Against the article.", (surface,), (command,))
    both = (*released.audits, *own.audits)
    shown = Grid("BUMP", "", both, (*released.commands, *own.commands))
    return SetFigures("bump", (released, own), (), (shown,))


def bump_ratings(data: Path) -> pd.DataFrame:
    """The scores that were released."""
    return read_recorded_scores("bump", data / "bump" / "task1_dataset.json")


def demetr(data: Path) -> SetFigures:
    """Classical metrics against the human reference, by kind of damage and by severity."""
    audits: list[Audit] = []
    commands: list[str] = []
    left_out = list(_missing(data / "demetr"))
    for model in (*OVERLAP, SURFACE):
        try:
            audit, command = _run(model, "demetr", data / "demetr")
        except InputError as e:
            left_out.append(f"{model} on demetr: {e}")
            continue
        audits.append(audit)
        commands.append(command)
    grid = Grid(
        "Computed here",
        "ROUGE, BLEU and chrF against the human reference; baseline/surface sees the translation alone, "
        "as its source is in another language.",
        tuple(audits),
        tuple(commands),
    )
    return SetFigures("demetr", (grid,), (), (grid,), tuple(left_out))


def _run(model: str, dataset: str, data: Path) -> tuple[Audit, str]:
    """A run of a judge on a released set, and the command that does the same."""
    (result,) = dhp.run(model, dataset, data=data)
    command = f"dhp benchmark --model {model} --dataset {dataset} --data DATA/{dataset} --details"
    return audit_of(result, model), command


def _missing(folder: Path) -> Iterator[str]:
    """A line on DEMETR's files that are not at hand, as far as their numbers tell."""
    there = {int(f.stem.split("_id")[1].split("_")[0]) for f in folder.glob("*_id*.json")}
    lacking = [str(number) for number in range(1, 36) if number not in there]
    if lacking:
        numbers = ", ".join(lacking)
        yield f"{len(lacking)} of 35 files of demetr ({numbers}): dhp data prepare demetr fetches them"


def agents_ratings(data: Path) -> pd.DataFrame:
    """How far each judge trusts each run."""
    return read_recorded_scores("trajectory", data / "trajectory_judge")


def agents_verdicts(data: Path) -> pd.DataFrame:
    """Verdicts on runs that have a sound twin, with the confidence in the verdict."""
    folder = data / "trajectory_judge"
    instance_of = {
        row.text("trajectory_id"): row.text("instance_id")
        for row in read_table(folder / "trajectories.jsonl").rows
    }
    rows = []
    for row in read_table(folder / "verdicts.jsonl").rows:
        run = row.text("trajectory_id")
        example = instance_of[run]
        kind = run.removeprefix(example).lstrip("-")
        faulty = row.value("faulty")
        sound = None if faulty is None else str(not faulty).lower()
        variant = ORIGINAL if kind == "clean" else kind
        rows.append((example, variant, "sound", sound, row.value("confidence"), row.text("judge_id")))
    frame = pd.DataFrame(rows, columns=["example", "variant", "metric", "verdict", "confidence", "model"])
    return frame[frame["example"].isin(frame.loc[frame["variant"] == ORIGINAL, "example"])]


def agents(data: Path) -> SetFigures:
    """Detection of each fault, silent and loud apart, and judges against each other."""
    frame = agents_ratings(data)
    grid = Grid(
        "Faulty runs trusted less",
        "The score is the confidence that a run is sound; a pair is a faulty run and the sound run of the "
        "same instance. A fault is silent where the outcome is correct all the same.",
        tuple(audit_of(r, r.model) for r in dhp.analyze(frame)),
        (tabled("agents", "dhp analyze ratings.csv --details"),),
    )
    marked = dhp.analyze(agents_verdicts(data), analysis=dhp.AnalysisConfig(pass_mark=_SOUND))
    command = tabled("agents_verdicts", f"dhp analyze ratings.csv --pass-mark {_SOUND:g}")
    tables = (
        differences(frame, tabled("agents", "dhp compare ratings.csv")),
        asking_table([(_SOUND, marked)], (command,)),
    )
    return SetFigures("agents", (grid,), tables, (grid,))
