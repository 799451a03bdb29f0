"""What the probes say of a judge, in words: a `Line` for each probe, the same for all outputs."""

from collections.abc import Sequence
from dataclasses import dataclass

from dhp.content.catalog import kind_name
from dhp.core.verdicts import Verdict
from dhp.plugins.probes.options import STABILITY_DOSE
from dhp.plugins.probes.result import ProbeResult
from dhp.plugins.probes.statistics import Calibration, Figure, Moves, Rise, Stability
from dhp.plugins.probes.suite import LABELS
from dhp.report.labels import listed, percent

_AGAINST = ("rises", "not monotone", "flat", "unstable")
"""States of doses and repeats that speak against a judge."""


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

    @property
    def speaks_against(self) -> bool:
        """Whether the state speaks against the judge."""
        if isinstance(self.state, Verdict):  # of a change, as of a control of a run
            return self.state.is_bad
        return self.state in _AGAINST


def lines_of(result: ProbeResult) -> list[Line]:
    """A line for each probe; for invariance one for each change."""
    lines = [_of_change(name, figures) for name, figures in result.invariance.items()]
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
    return Line(
        probe="invariance",
        what=LABELS[name],
        figure=f"moved {shown(moves.moved)}",
        noise=shown(moves.again),
        n=str(moves.moved.n),
        state=moves.state,
        meaning=meaning,
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
    return Line(
        probe="verbosity",
        what="padding",
        figure=f"rose less fell {shown(rise.net, sign=True)}",
        noise=shown(rise.again.net, sign=True),
        n=str(rise.net.n),
        state=rise.state,
        meaning=meaning,
    )


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
    return Line(
        probe="calibration",
        what=damage,
        figure=f"right order {shown(calibration.order)}",
        noise="50% by chance",
        n=str(calibration.order.n),
        state=calibration.state,
        meaning=meaning,
    )


def _points_line(result: ProbeResult) -> str:
    """Which points of the scale are used, by all metrics together if their scales are alike."""
    scales = {tuple(points) for points in result.points.values()}
    if len(scales) != 1:
        unused = 0
        for shares in result.points.values():
            unused += list(shares.values()).count(0)
        return f"{unused} points of the scales of {len(result.points)} metrics are never used"

    used, never = [], []
    for point in scales.pop():
        if any(shares[point] > 0 for shares in result.points.values()):
            used.append(point)
        else:
            never.append(point)
    points = [*used, *never]
    if any(" to " in point for point in points):  # tenths of a long scale, such as `1 to 10.9`
        return f"scores are in {len(used)} of {len(points)} tenths of the scale"
    words = f"points used: {listed(used)}"
    return f"{words}, never {listed(never)}" if never else words


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
    return Line(
        probe="stability",
        what=damage,
        figure=f"flips {shown(stability.flips)}",
        noise="",
        n=str(stability.flips.n),
        state=stability.state,
        meaning=meaning,
    )


def shown(figure: Figure, *, sign: bool = False) -> str:
    """A share with its interval, in per cent."""
    if figure.value is None:
        return "–"
    form = "+.0f" if sign else ".0f"
    value = f"{_rounded(figure.value):{form}}%"
    if figure.ci is None:
        return value
    low, high = figure.ci
    return f"{value} [{_rounded(low):{form}} to {_rounded(high):{form}}]"


def _rounded(share: float) -> float:
    return round(100 * share) + 0.0  # no minus before a zero


def _part(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.2f}"


def sentence(model: str, lines: Sequence[Line]) -> str:
    """How many probes speak against a judge, of the probes that any text allows, and which."""
    # A probe that no text allows speaks neither for a judge nor against it.
    asked = [one for one in lines if one.n != "0"]
    against = [f"{one.what} ({one.state})" for one in asked if one.speaks_against]
    if not against:
        return f"{model}: none of {len(asked)} probes speaks against it"
    return f"{model}: {len(against)} of {len(asked)} probes speak against it: {listed(against)}"
