"""`dhp jury`: which judges together see what one alone does not."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from dhp.cli.output import print_json, print_line
from dhp.content.damage import variant_name
from dhp.core.text import printable

if TYPE_CHECKING:
    from dhp.runs.jury import Jury, JuryMember


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--floor", default=0.75, type=float, metavar="P", help="Detection that every kind of damage must exceed."
)
@click.option(
    "--false-alarms",
    default=0.05,
    type=float,
    metavar="P",
    help="The most that scores of harmless changes may fall, as a net share of pairs.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def jury(runs: Sequence[str], floor: float, false_alarms: float, as_json: bool) -> None:
    """Find the smallest set of judges that sees every kind of damage, without new calls.

    RUN... are folders of finished runs on the same texts. A jury scores a text by the mean of the ranks that
    its judges give it.

    Example: dhp jury runs/one runs/two --floor 0.7
    """
    from dhp.runs.jury import jury_of_runs

    found = jury_of_runs(runs, floor=floor, false_alarms=false_alarms)
    if as_json:
        print_json([each.to_json() for each in found])
        return
    for each in found:
        for line in _lines(each):
            print_line(_shown(line), 6)


def _shown(line: str) -> str:
    return line[: len(line) - len(line.lstrip())] + printable(line.lstrip())


def _lines(found: "Jury") -> list[str]:
    lines = [f"{found.dataset}  n = {found.n}", *(f"  {_member(m)}" for m in found.alone)]
    lines.append(f"  {_member(found.together)}")
    if found.chosen is None:
        lines.append(
            f"no set of these judges detects every variant in more than {found.floor:.0%} of pairs "
            f"with false alarms of at most {found.most_false_alarms:.0%}"
        )
    else:
        lines.append(f"smallest jury: {_member(found.chosen)}")
    if found.blind_spots:
        lines.append(f"no judge alone detects: {'; '.join(map(variant_name, found.blind_spots))}")
    for place, gain in enumerate(found.gains):
        what = "alone has a lowest detection of" if place == 0 else "adds to the lowest detection"
        points, low, high = (f"{100 * x:.0f}" for x in (gain.gain, gain.low, gain.high))
        lines.append(f"  {gain.judge} {what} {points} points [{low}, {high}] on held-out halves")
    return lines


def _member(member: "JuryMember") -> str:
    defined = {v: x for v, x in member.detection.items() if x is not None}
    said = " + ".join(member.judges)
    if defined:
        worst = min(defined, key=defined.__getitem__)
        said += f": lowest detection {defined[worst]:.0%} ({variant_name(worst)})"
    alarms = [x for x in member.false_alarms.values() if x is not None]
    if alarms:
        said += f", false alarms {max(0.0, *alarms):.0%}"
    return said if member.cost is None else f"{said}, cost {member.cost:.2f}"
