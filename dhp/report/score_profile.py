"""What is said of scores without damaged copies."""

from collections.abc import Sequence
from dataclasses import replace

from dhp.analysis.score_profile import SCHEMA, ScoreProfile, Share
from dhp.report.document import Column, Note, Part, Strong, Table, filled
from dhp.report.labels import figure, percent
from dhp.report.printout import Printout

_SHOWN = 4
"""Points of the scale that a table names."""


_SHARE = Column[Share | None](
    "share",
    lambda share: None if share is None else share.value,
    percent,
    ends=lambda share: None if share is None else share.ci,
    optional=True,
)


def _points(profile: ScoreProfile) -> str:
    named = list(profile.points.items())[:_SHOWN]
    words = ", ".join(f"{point:g} ({percent(share)})" for point, share in named)
    more = len(profile.points) - len(named)
    return f"{words}, {more} more" if more else words


_COLUMNS: tuple[Column[ScoreProfile], ...] = (
    Column("judge", lambda each: each.judge, names=True, right=False),
    Column("metric", lambda each: each.metric, right=False),
    Column("texts", lambda each: each.texts),
    # 0 as None: the column is left out if every text has a score.
    Column("no score", lambda each: each.unscored or None, optional=True),
    Column("mean", lambda each: each.mean, figure),
    Column("points used", lambda each: len(each.points), words=_points, right=False),
    Column("ties", lambda each: each.ties, percent, help="pairs of texts with the same score"),
    replace(_SHARE, heading="passes").on(lambda each: each.passes),
    replace(_SHARE, heading="same again", help="two judgements of one text that agree").on(
        lambda each: each.repeated
    ),
)


def _sentence(profile: ScoreProfile) -> str:
    """What stands out, the ties first: a judge that ties most texts can tell few apart."""
    # The points are in order of their shares: the first is the most frequent.
    point, share = next(iter(profile.points.items()))
    used = "1 point" if len(profile.points) == 1 else f"{len(profile.points)} points"
    parts = [f"uses {used} of its scale, {percent(share)} of scores are {point:g}"]
    if profile.ties is not None:
        parts.append(f"two texts tie in {percent(profile.ties)} of pairs")
    if profile.passes is not None:
        parts.append(f"{_with_limits(profile.passes)} of texts pass")
    if profile.repeated is not None:
        parts.append(f"asked again it agrees in {_with_limits(profile.repeated)}")
    return f"{profile.judge}, {profile.metric}: {'; '.join(parts)}."


def _with_limits(share: Share) -> str:
    """`82% (75 to 88)`."""
    words = percent(share.value)
    return words if share.ci is None else f"{words} ({100 * share.ci[0]:.0f} to {100 * share.ci[1]:.0f})"


def profile_printout(profiles: Sequence[ScoreProfile], texts: str) -> Printout:
    """Sentences, a table, and what it takes to learn whether the judge notices damage.

    `texts` is the file with the texts that the scores are of, or a word for it.
    """

    parts: list[Part] = [Strong(_sentence(profile)) for profile in profiles]
    parts.append("")
    parts.append(Table("scores without damaged copies, 95 %", filled(_COLUMNS, profiles), profiles))
    if any(profile.passes is None for profile in profiles):
        parts.append(Note("`--pass-mark X` shows how many texts pass."))
    parts.append(
        Note(
            "No text is said to be a damaged copy of another (`--field variant=COLUMN` names it), so this "
            f"does not say what the judge notices. For that: `dhp perturb --dataset {texts} --out set.csv`, "
            "have its column output rated, then `dhp analyze LOG`."
        )
    )
    return Printout(parts, {"schema": SCHEMA, "profiles": [profile.to_json() for profile in profiles]})
