"""Output of recorded verdicts on labelled pairs."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from dhp.cli.output import output_console, print_json
from dhp.core.errors import InputError, suggest
from dhp.core.text import printable
from dhp.loaders.labelled_pairs import read_judgebench_verdicts, read_llmbar_answers, read_llmbar_pairs
from dhp.plugins.arena.recorded_verdicts import RecordedCell, compared_ways, recorded_cells
from dhp.report.labels import between
from dhp.report.tables import plain_table

_FORMS = ("judgebench", "llmbar")


def print_recorded(files: Sequence[str], form: str, pairs: str | None, *, as_json: bool) -> None:
    """Print the figures of recorded verdicts: one line, or one JSON object, a model, protocol and subset."""
    cells = _cells([Path(file) for file in files], form, pairs)
    if as_json:
        print_json([cell.to_dict() for cell in cells])
        return
    console = output_console()
    by_model: dict[str, list[RecordedCell]] = defaultdict(list)
    for cell in cells:
        by_model[cell.model].append(cell)
    for model, own in by_model.items():
        _print_model(model, own)
    console.print(
        "correct: in the order given, swapped, in both; together: the two verdicts favour the better output, "
        "one of them may be a tie. flips: pairs whose verdict follows the order."
    )


def _cells(files: Sequence[Path], form: str, pairs: str | None) -> list[RecordedCell]:
    if form not in _FORMS:
        raise InputError(f"--format '{form}': unknown; {suggest(form, _FORMS)}")
    if form == "judgebench":
        if pairs is not None:
            raise InputError("--pairs: not with --format judgebench, whose files say which answer is better")
        return recorded_cells(*read_judgebench_verdicts(files))
    if pairs is None:
        raise InputError("--recorded: needs --pairs FILE, the pairs that the verdicts are about")
    labels = read_llmbar_pairs(Path(pairs))
    return recorded_cells(read_llmbar_answers(files, labels), labels)


def _print_model(model: str, cells: Sequence[RecordedCell]) -> None:
    console = output_console()
    figures = ("n", "given", "swapped", "both", "together", "flips", "95 %", "detection", "95 %")
    title = f"{model}  ·  verdicts on labelled pairs"
    table = plain_table(title, ("protocol", "asked", "subset", *figures), right=figures)
    for cell in cells:
        bias, detection = cell.figures.bias, cell.figures.win_rate
        table.add_row(
            printable(cell.protocol),
            "pointwise" if cell.pointwise else "pairwise",
            printable(cell.subset),
            str(cell.n),
            *(
                f"{correct / cell.n:.1%}"
                for correct in (*cell.correct, cell.correct_both, cell.correct_together)
            ),
            "–" if bias is None else f"{bias.share:.1%}",
            "–" if bias is None else between(bias.ci),
            "–" if detection.value is None else f"{detection.value:.1%}",
            between(detection.ci),
        )
    console.print(table)
    console.print()
    if not (ways := compared_ways(cells)):
        return
    table = plain_table(f"{model}  ·  pairwise less pointwise detection, on the same pairs")
    for heading in ("pairwise", "pointwise", "subset"):
        table.add_column(heading, overflow="fold")
    for heading in ("n", "pairwise", "pointwise", "difference", "95 %", "p"):
        table.add_column(heading, justify="right", overflow="fold")
    for way in ways:
        table.add_row(
            *map(printable, (way.pairwise, way.pointwise, way.subset)),
            str(way.n),
            f"{way.detections[0]:.1%}",
            f"{way.detections[1]:.1%}",
            f"{way.difference:+.1%}",
            "–" if way.ci is None else f"{way.ci[0]:+.1%} to {way.ci[1]:+.1%}",
            f"{way.p:.3g}",
        )
    console.print(table)
    console.print()
