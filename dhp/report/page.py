"""`report.html` of a run, with the texts in its explorer.

`write_report` finds the file of the page, and which page it is: that of a run, of a comparison or of a folder
of runs. `html_report` makes the page of a run: it draws the curves, packs the texts, and hands all parts to
the template `report.html`, which knows their order.
"""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from dhp.analysis.results import Result, Results, VariantResult
from dhp.content.catalog import descriptions
from dhp.core.errors import InputError
from dhp.core.options import near_keywords
from dhp.core.progress import Progress, numbered, progress_of, stage
from dhp.core.records import parse_variant
from dhp.core.verdicts import verdicts_about
from dhp.core.writing import write_lines
from dhp.report.advice import Advice, advice
from dhp.report.certainty_charts import certainty_parts
from dhp.report.charts import detection_drawing, discernment_charts, judges_chart, marks_drawing
from dhp.report.compared_page import compared_page
from dhp.report.document import Alarm, Chart, Fold, Heading, Note, Part
from dhp.report.explorer import MOST_EXAMPLES, explorer_data
from dhp.report.findings import by_judge, sentences
from dhp.report.labels import best_mark
from dhp.report.matrix import Matrix, matrices
from dhp.report.misses import Texts, at_mark, misses
from dhp.report.result_parts import drawn_kinds, figures_of
from dhp.report.runs_index import holds_runs, write_index
from dhp.report.side_by_side import judges_on_sets, ranked, side_by_side
from dhp.report.terminal import runs_tables
from dhp.report.web import page
from dhp.runs.compare import Comparisons
from dhp.runs.reader import Run, RunSource, open_run

_LOWEST = 0.4
"""Where the charts of detection start at the latest."""


def html_report(run: Run, progress: Progress | None = None) -> str:
    """The report of a run: the sentence, the matrix, what to do next, then each result and its texts.

    `progress` is called as `progress(what, done, total, cost)`, chart by chart.

    One file that needs no network; every text in it is escaped, and all but the pairs of texts can be read
    without JavaScript. Raises `InputError` if a file of the run cannot be read.
    """
    results = list(run.results)
    together = judges_chart(results)
    curves: list[list[Part]] = []
    for number, each in enumerate(results, 1):
        with stage(numbered(progress, number, len(results)), "drawing the charts of the report"):
            # If the judges share a chart, their own would show the same curves again.
            if each.curves and together is None:
                curves.append([Chart([detection_drawing(each.curves).on_page()], _OF_CURVES)])
            else:
                curves.append([])
    with stage(progress, "packing the texts of the report"):
        # Results that were never written have no texts, and so no explorer.
        pairs = explorer_data(run) if run.has_texts else ""
    several = len(results) > 1
    manifest = run.manifest if run.has_texts else {}
    rows = list(chain.from_iterable((*each.variants, *each.probes) for each in results))
    judged = list(chain.from_iterable(each.damage for each in results))
    states = {row.state for row in judged}
    scripts = ["tables.js", "explorer.js"]
    if run.extent and not run.extent.stopped:  # the run goes on, and writes the page anew
        scripts.append("reload.js")
    return page(
        "report.html",
        styles=("report.css", "drawn.css", "matrix.css", "maps.css", "explorer.css"),
        scripts=scripts,
        results=results,
        extent=run.extent,
        curves=curves,
        several=several,
        sentences=sentences(results),
        # Of a single result the matrix would be one column: its table says the same.
        matrices=_placed_matrices(results) if several else [],
        advice=_advised(results),
        misses=misses(run.rated, _texts(run)) if run.has_texts else [],
        at_mark=at_mark(run.rated),
        # A verdict that no row has needs no place in the key.
        verdicts=[verdict for verdict in verdicts_about("damage") if verdict in states],
        runs=_runs(results),
        figures_of=figures_of,
        drawn_kinds=partial(drawn_kinds, start=_start(judged)),
        damage=_damage(rows),
        controls=any(row.level == "control" for row in rows),
        of_judges=[Heading(_OF_JUDGES), Chart([together])] if together else [],
        folds=_folds(results),
        warnings=_warnings(results),
        explorer=pairs,
        prompts=run.prompts,
        manifest=json.dumps(manifest, ensure_ascii=False, indent=1),
        # The time of the run if it has one, else that of the newest result; the day of either is shown.
        made=str(manifest.get("created") or max(each.created for each in results))[:10],
    )


_OF_JUDGES = "How little damage does each judge see?"
_OF_CURVES = (
    "Detection by dose, with the fitted psychometric curve. Upright mark: T75, the dose detected in three of "
    "four texts; bar: its 95 % interval."
)


def _name(result: Result, results: Sequence[Result]) -> str:
    """The data of a result, with its judge if there are several."""
    several = len({each.judge for each in results}) > 1
    return f"{result.dataset}: {result.judge}" if several else result.dataset


def _advised(results: Sequence[Result]) -> dict[str, list[Advice]]:
    """Judge -> what to do about it, of those for whom there is something to do."""
    advised = {}
    for judge, of_judge in by_judge(results).items():
        pieces = advice(of_judge)
        if pieces:
            advised[judge] = pieces
    return advised


def _warnings(results: Sequence[Result]) -> list[Part]:
    lines: list[Part] = []
    for each in results:
        about = f", {each.dataset}" if len(results) > 1 else ""
        lines += [Alarm(f"Warning{about}: {warning}") for warning in each.warnings]
    return lines


def _folds(results: Sequence[Result]) -> list[Part]:
    """What is folded below the tables: bars of D, what passes at each mark, how sure a judge is."""
    folds: list[Part] = []
    several = len(results) > 1
    discernment = discernment_charts(results)
    if discernment:
        folds.append(Fold("D by kind of damage", [Chart(discernment)]))

    marks: list[Part] = []
    for each in results:
        if each.sweep is not None:
            if several:
                marks.append(Heading(_name(each, results)))
            marks.append(Chart([marks_drawing(each.sweep).on_page()], best_mark(each.sweep)))
    if marks:
        hint = Note("A mark of your own is set with `--pass-mark`.")
        folds.append(Fold("What would pass at each mark", [*marks, hint]))

    for each in results:
        if each.certainty is not None or each.asking is not None:
            about = f": {_name(each, results)}" if several else ""
            title = f"How sure, how right, and when to ask a person{about}"
            folds.append(Fold(title, certainty_parts(each)))
    return folds


@near_keywords
def write_report(
    run: RunSource | Comparisons, out: str | Path | None = None, progress: Progress | bool | None = True
) -> Path:
    """Write the page of a run, its results or a comparison; returns its path.

    The page of a run goes into its folder by default. Of a folder that holds finished runs the page lists
    them: `index.html`. Results of a run without `out` have a page without texts. Raises `InputError` for a
    folder that holds no run, results that are not in a folder without `out`, and anything else.
    """
    if not isinstance(run, str | Path | Results | Comparisons):
        raise InputError(
            f"dhp.report: no page of an object of type {type(run).__name__}; allowed: the folder of a run, "
            "the results of dhp.run, what dhp.compare returns"
        )
    if isinstance(run, Comparisons):
        # A comparison has no folder of its own, so its file has to be named.
        path = _path(out, None)
        # A comparison holds its runs; those without texts in a folder are named only.
        with_texts = [each for each in run.runs if each.has_texts]
        write_lines(path, [compared_page(run.rated, run, with_texts)])
        return path
    # A folder that is no run itself has the page of all runs in it.
    if not isinstance(run, Results) and holds_runs(run):
        return write_index(run, out)
    run_of_page = open_run(run, "the results")
    # Results in memory may have no folder; then the file has to be named, too.
    path = _path(out, run.folder if isinstance(run, Results) else run_of_page.folder)
    with progress_of(progress) as show:
        text = html_report(run_of_page, show)
    write_lines(path, [text])
    return path


def _path(out: str | Path | None, folder: Path | None) -> Path:
    """The file of a page: `out`, or in the folder of the run."""
    if out is not None:
        return Path(out)
    if folder is None:
        raise InputError('there is no folder for the page; name its file: dhp.report(..., "report.html")')
    return folder / "report.html"


def _placed_matrices(results: Sequence[Result]) -> list[tuple[Matrix, list[int]]]:
    """Each matrix with the places of its columns among the results."""
    placed = []
    for matrix in matrices(results):
        places = [results.index(column) for column in matrix.columns]
        placed.append((matrix, places))
    return placed


def _start(rows: Sequence[VariantResult]) -> float:
    """Where all charts of detection start, rounded down to a tenth."""
    lowest = _LOWEST
    for row in rows:
        if row.detection_ci is not None:
            lowest = min(lowest, row.detection_ci[0])
    # 0.37 becomes 0.3, so that the tracks of all charts begin at a round number.
    return int(10 * lowest) / 10


def _runs(results: Sequence[Result]) -> list[Part]:
    """The table of the results; of several judges on several sets the matrices of both, and it folded."""
    whole = runs_tables(results)
    on_sets = judges_on_sets([each for each in results if not each.curves])
    if not on_sets:
        return whole
    return [*on_sets, Fold("Each judge on each set", whole), side_by_side(ranked(results))]


def _damage(rows: Sequence[VariantResult]) -> dict[str, str]:
    """Perturber -> what it does to a text, in a sentence."""
    known = descriptions()
    damage = {}
    for row in rows:
        name = parse_variant(row.variant).perturber
        damage[name] = known.get(name) or "A perturber of your own."
    return damage


def _texts(run: Run) -> Mapping[str, Texts]:
    """Dataset -> (example, variant) -> its row, of the examples shown."""
    # Datasets without a text are there, too, so that `misses` can ask for each.
    texts: dict[str, dict[tuple[str, str], Mapping[str, Any]]] = {r.dataset: {} for r in run.results}
    for row in run.pairs(MOST_EXAMPLES):
        texts.setdefault(row["dataset"], {})[row["example"], row["variant"]] = row
    return texts
