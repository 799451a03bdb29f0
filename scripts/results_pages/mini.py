"""The bundled texts: the whole benchmark by judges that run offline, and a recorded run of a small model."""

from collections.abc import Iterable
from pathlib import Path

from results_pages.parts import Audit, Grid, SetFigures, audit_of
from results_pages.released import OVERLAP, SURFACE

import dhp
from dhp.core.errors import InputError
from dhp.runs.reader import read_run

RECORDED = Path(__file__).resolve().parents[2] / "docs" / "results" / "smollm2"
"""The run of the small model."""
SMALL = "SmolLM2-135M-Instruct"
_CLASSICAL = tuple(name for name in OVERLAP if name != "metric/bleu")
"""Those of some sense against a source that is longer than the text."""
_JUDGES = (SURFACE, "baseline/constant", "baseline/random", *_CLASSICAL)


def mini(_: Path) -> SetFigures:
    """One grid a dataset; judges that miss a package are named."""
    results: list[tuple[str, dhp.Result]] = []
    left_out = []
    for model in _JUDGES:
        try:
            results += [(model, result) for result in dhp.run(model, "mini")]
        except InputError as e:
            left_out.append(f"{model} on mini: {e}")
    try:
        results += [(SMALL, result) for result in read_run(RECORDED).results]
    except InputError as e:
        left_out.append(f"{SMALL} on mini: {e}")
    names = dict.fromkeys(result.dataset for _, result in results)
    grids = []
    for name in names:
        grids.append(_grid(name, [(model, result) for model, result in results if result.dataset == name]))
    shown = tuple(g for g in grids if g.title in ("mini/summeval", "mini/story_cloze"))
    return SetFigures("mini", tuple(grids), (), shown, tuple(left_out))


def _grid(name: str, found: Iterable[tuple[str, dhp.Result]]) -> Grid:
    audits: list[Audit] = []
    commands = []
    for model, result in found:
        audits.append(audit_of(result, model, result.protocol.partition("@")[0] if result.asked else ""))
        if model == SMALL:
            commands.append("dhp analyze docs/results/smollm2/ratings.parquet --details")
        else:
            commands.append(f"dhp benchmark --model {model} --dataset {name} --details")
    return Grid(name, "", tuple(audits), tuple(commands))
