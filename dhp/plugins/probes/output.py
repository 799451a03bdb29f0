"""Lines of the probes for people: terminal, page, files.

`lines_of` says each probe in a `Line`, once for all printers. `probe_parts` is what the terminal shows,
`probes_page` the page, with pictures; `write_probes` writes the folder.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from dhp.analysis.ratings import without_score
from dhp.content.catalog import kind_name
from dhp.core.files import indented_json, json_line
from dhp.core.hiding import hidden_table
from dhp.core.verdicts import Verdict
from dhp.core.writing import OutputFolder, writing
from dhp.plugins.probes.drawing import probes_charts
from dhp.plugins.probes.options import STABILITY_DOSE
from dhp.plugins.probes.probing import Probed, ProbeResult
from dhp.plugins.probes.statistics import Calibration, Figure, Moves, Rise, Stability
from dhp.plugins.probes.texts import LABELS
from dhp.report.document import Chart, Column, Heading, Note, Part, Table
from dhp.report.labels import listed, percent
from dhp.report.web import document_page
from dhp.runs.writer import perturbed_lines

_AGAINST = ("rises", "not monotone", "flat", "unstable")
"""States of doses and repeats that speak against a judge."""


def _speaks_against(state: str) -> bool:
    return state.is_bad if isinstance(state, Verdict) else state in _AGAINST


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the report."""

    probe: str
    what: str
    """The change, dose or question."""
    figure: str
    noise: str
    """The same of the same text asked again; empty if the figure is noise itself."""
    n: str
    state: str
    meaning: str
    """The figure in plain words."""


def lines_of(result: ProbeResult) -> list[Line]:
    """A line a probe, of invariance one a change."""
    lines = []
    for name, figures in result.invariance.items():
        lines.append(_of_change(name, figures))
    for name, label in LABELS.items():
        if name in result.left_out:
            lines.append(_left_out("invariance", label, name, result))
    if result.verbosity:
        lines.append(_of_padding(result.verbosity, result))
    if result.calibration:
        lines.append(_of_calibration(result.calibration, result))
    if result.stability:
        lines.append(_of_stability(result.stability, result))
    return lines


def _left_out(probe: str, what: str, perturber: str, result: ProbeResult) -> Line:
    """The line of a probe that no text allows, or that no text has a score for."""
    why = "no text has a score both before and after"
    for variant, reason in result.left_out.items():
        if variant.startswith(perturber):  # the first reason stands for those of all degrees
            why = reason
            break
    return Line(probe, what, "–", "", "0", "left out", why)


def _of_change(name: str, moves: Moves) -> Line:
    meaning = (
        f"{percent(moves.moved.value)} of the scores move, by {_part(moves.size)} of the scale on average "
        f"(mean change {_signed(moves.change.value)}); asked again the same text moves "
        f"{percent(moves.again.value)}, by {_part(moves.again_size)}"
    )
    # A change that is not shown to move anything has a share that is noise.
    if moves.share is not None and (moves.state.is_weak or moves.state.is_bad):
        meaning += f"; it costs {percent(moves.share)} of what the mildest damage costs"
    figure = f"moved {shown(moves.moved)}"
    return Line(
        "invariance", LABELS[name], figure, shown(moves.again), str(moves.moved.n), moves.state, meaning
    )


def _of_padding(rise: Rise, result: ProbeResult) -> Line:
    if not rise.net.n:
        return _left_out("verbosity", "padding", "padding", result)
    doses = listed([str(dose.k) for dose in rise.doses])
    rose = listed([percent(dose.rose.value) for dose in rise.doses])
    fell = listed([percent(dose.fell.value) for dose in rise.doses])
    meaning = (
        f"with {doses} empty sentences {rose} of the scores rise and {fell} fall; "
        f"asked again {percent(rise.again.rose.value)} rise and {percent(rise.again.fell.value)} fall"
    )
    figure, noise = f"rose less fell {shown(rise.net, sign=True)}", shown(rise.again.net, sign=True)
    return Line("verbosity", "padding", figure, noise, str(rise.net.n), rise.state, meaning)


def _of_calibration(calibration: Calibration, result: ProbeResult) -> Line:
    damage = kind_name(result.damage)
    if not calibration.order.n:
        return _left_out("calibration", damage, result.damage, result)
    means = listed([_part(mean) for mean in calibration.means.values()])
    doses = listed([str(k) for k in calibration.means])
    meaning = (
        f"texts with {doses} damages score {means} of the scale; of two texts the one with more damages "
        f"scores higher in {percent(calibration.reversed.value)} (the same text asked again: "
        f"{percent(calibration.again.value)})"
    )
    if calibration.rises_at:
        meaning += f"; scores rise again at {listed([str(k) for k in calibration.rises_at])}"
    meaning += f"; {_points_line(result)}"
    figure, n = f"right order {shown(calibration.order)}", str(calibration.order.n)
    return Line("calibration", damage, figure, "50% by chance", n, calibration.state, meaning)


def _points_line(result: ProbeResult) -> str:
    """Which points of the scale are used, by all metrics together if their scales are alike."""
    scales = {tuple(points) for points in result.points.values()}
    if len(scales) != 1:
        unused = 0
        for shares in result.points.values():
            unused += [*shares.values()].count(0)
        return f"{unused} points of the scales of {len(result.points)} metrics are never used"

    (points,) = scales
    used = [point for point in points if _is_used(point, result)]
    never = [point for point in points if point not in used]
    if any(" to " in point for point in points):  # tenths of a long scale, such as `1 to 10.9`
        return f"scores are in {len(used)} of {len(points)} tenths of the scale"
    words = f"points used: {listed(used)}"
    return f"{words}, never {listed(never)}" if never else words


def _is_used(point: str, result: ProbeResult) -> bool:
    return any(shares[point] > 0 for shares in result.points.values())


def _of_stability(stability: Stability, result: ProbeResult) -> Line:
    damage = kind_name(result.damage)
    if not stability.flips.n:
        return _left_out("stability", damage, result.damage, result)
    meaning = (
        f"original and copy with {STABILITY_DOSE} damages, each asked {result.repeats} times: "
        f"{percent(stability.flips.value)} of the pairs come out in the opposite order another time, "
        f"{percent(stability.changes.value)} in another one, ties included; "
        f"{percent(stability.identical.value)} of the texts always have the same score, and two scores of a "
        f"text differ by {_part(stability.size)} of the scale"
    )
    figure, n = f"flips {shown(stability.flips)}", str(stability.flips.n)
    return Line("stability", damage, figure, "", n, stability.state, meaning)


def shown(figure: Figure, *, sign: bool = False) -> str:
    """A share with its interval, in per cent."""
    if figure.value is None:
        return "–"
    form = "+.0f" if sign else ".0f"
    value = f"{_rounded(figure.value):{form}}%"
    if figure.ci is None:
        return value
    return f"{value} [{_rounded(figure.ci[0]):{form}} to {_rounded(figure.ci[1]):{form}}]"


def _rounded(share: float) -> float:
    return round(100 * share) + 0.0  # no minus before a zero


def _part(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.2f}"


_COLUMNS: tuple[Column[Line], ...] = (
    Column("probe", lambda one: one.probe, names=True, right=False),
    Column("what", lambda one: one.what, right=False),
    Column("figure", lambda one: one.figure, right=False),
    Column("same text again", lambda one: one.noise, right=False),
    Column("n", lambda one: int(one.n), words=lambda one: one.n),
    Column("state", lambda one: one.state, right=False),
)


def probe_parts(results: Sequence[ProbeResult]) -> list[Part]:
    """A table a judge and dataset, each line followed by what it means."""
    parts: list[Part] = []
    for result in results:
        lines = lines_of(result)
        table = Table(
            _title(result),
            _COLUMNS,
            lines,
            style=lambda one: "bold red" if _speaks_against(one.state) else "",
        )
        # The sentence first, then the figures, then what each of them means.
        parts += [_sentence(result.model, lines), table]
        parts += [f"  {one.probe}, {one.what}: {one.meaning}" for one in lines]
        note = _unscored(result)
        if note:
            parts.append(f"note: {note}")
        parts.append("")
    return parts


def _title(result: ProbeResult) -> str:
    return f"{result.model} on {result.dataset}: {_counted(result)}"


def _counted(result: ProbeResult) -> str:
    return f"{sum(result.ratings.values()):,} ratings of {result.n} examples"


def _sentence(model: str, lines: Sequence[Line]) -> str:
    """How many probes speak against a judge, of those that any text allows, and which."""
    asked = [one for one in lines if one.n != "0"]
    against = []
    for one in asked:
        if _speaks_against(one.state):
            against.append(f"{one.what} ({one.state})")
    if not against:
        return f"{model}: none of {len(asked)} probes speaks against it"
    return f"{model}: {len(against)} of {len(asked)} probes speak against it: {listed(against)}"


def _unscored(result: ProbeResult) -> str:
    """How many ratings have no score, if any."""
    reasons = []
    for reason, count in without_score(result.ratings).items():
        reasons.append(f"{count:,} {reason}")
    return f"ratings without a score are left out of every pair: {', '.join(reasons)}" if reasons else ""


def probes_page(probed: Probed) -> str:
    """The page of a probe: for each judge and dataset sentence, pictures and table."""
    parts: list[Part] = []
    for result in probed.results:
        lines = lines_of(result)
        # What no text allows is a note and no row, which would be a row of dashes.
        asked, left_out = [], []
        for one in lines:
            if one.n == "0":
                left_out.append(f"{one.what} ({one.meaning})")
            else:
                asked.append(one)
        parts += [
            Heading(_sentence(result.model, lines)),
            Note(f"{result.dataset}: {_counted(result)}"),
            Chart(probes_charts(result)),
            Table(_title(result), _ON_PAGE, asked, css="results stacked wrapped", titled=False),
        ]
        if left_out:
            parts.append(Note(f"Left out: {listed(left_out)}."))
        note = _unscored(result)
        if note:
            parts.append(Note(note))
    return document_page("Probes", _LEAD, parts)


_LEAD = "What moves the scores of a judge beside damage. None of these figures is part of detection or D."
_ON_PAGE: tuple[Column[Line], ...] = (
    Column("what", lambda one: one.what, names=True, right=False, extra=lambda one: {"small": one.probe}),
    *_COLUMNS[2:],
    Column("meaning", lambda one: one.meaning, right=False),
)


FILES = ("examples.jsonl", "perturbed.jsonl", "ratings.parquet", "report.html", "probes.json")


def write_probes(probed: Probed, folder: OutputFolder) -> None:
    """Write examples, texts, ratings and `report.html`, each whole or not at all, and last `probes.json`."""
    import pyarrow
    from pyarrow.parquet import write_table

    examples = []
    for part in probed.parts:
        for example in part.dataset.examples:
            examples.append(json_line({"dataset": part.dataset.name, **example.to_dict()}))
    folder.write("examples.jsonl", examples)

    sets = [(part.dataset.name, part.variants, part.texts) for part in probed.parts]
    folder.write("perturbed.jsonl", perturbed_lines(sets))

    ratings = pyarrow.Table.from_pandas(probed.ratings, preserve_index=False)
    with writing(folder.place("ratings.parquet")) as file:
        write_table(hidden_table(ratings), file)

    folder.write("report.html", [probes_page(probed)])
    # Last: where it is, all other files are whole.
    content = probed.to_json()
    for written, result in zip(content["results"], probed.results, strict=True):
        written["lines"] = [asdict(line) for line in lines_of(result)]
    folder.write("probes.json", [indented_json(content)])
