"""`dhp jury`: find judges that together notice every kind of damage."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from dhp.analysis.config import AnalysisConfig
from dhp.cli.command import Command
from dhp.cli.options import setting
from dhp.cli.output import JSON, print_out
from dhp.content.catalog import variant_name
from dhp.core.verdicts import FALSE_ALARM, NOTICED
from dhp.report.printout import Printout

if TYPE_CHECKING:
    from dhp.plugins.jury.juries import Jury, JuryMember


@click.command(cls=Command)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@setting(AnalysisConfig, "floor")
@JSON
def jury(runs: Sequence[str], floor: float, json: bool) -> None:
    """Find the smallest set of judges that notices every kind of damage.

    No call is made. RUN... are folders of finished runs on the same texts. A jury scores a text by the mean
    of the ranks that its judges give it.

    Example: dhp jury runs/one runs/two
    """
    from dhp.plugins.jury.juries import jury_of_runs

    figures = jury_of_runs(runs, floor=floor)
    lines = [line for each in figures for line in _lines(each)]
    print_out(Printout(lines, [each.to_json() for each in figures]), json=json)


def _lines(jury: "Jury") -> list[str]:
    lines = [f"{jury.dataset}  n = {jury.n}", *(f"  {_member(m)}" for m in jury.alone)]
    lines.append(f"  {_member(jury.together)}")
    if jury.chosen is None:
        lines.append("no set of these judges notices every kind of damage without a false alarm")
    else:
        lines.append(f"smallest jury: {_member(jury.chosen)}")
    if jury.missed:
        lines.append(f"missed by each judge alone: {'; '.join(map(variant_name, jury.missed))}")
    for index, gain in enumerate(jury.gains):
        what = "alone has a lowest detection of" if index == 0 else "adds to the lowest detection"
        points, low, high = (f"{100 * x:.0f}" for x in (gain.gain, gain.low, gain.high))
        lines.append(f"  {gain.judge} {what} {points} points [{low}, {high}] on held-out halves")
    return lines


def _member(member: "JuryMember") -> str:
    noticed = list(member.verdicts.values()).count(NOTICED)
    line = f"{' + '.join(member.judges)}: noticed {noticed} of {len(member.verdicts)}"
    defined = {v: x for v, x in member.detection.items() if x is not None}
    if defined:
        worst = min(defined, key=defined.__getitem__)
        line += f", lowest {variant_name(worst)} {defined[worst]:.0%} {member.verdicts[worst]}"
    alarms = [variant_name(v) for v, state in member.controls.items() if state is FALSE_ALARM]
    line += f", false alarm: {', '.join(alarms)}" if alarms else ""
    return line if member.cost is None else f"{line}, cost {member.cost:.2f}"
