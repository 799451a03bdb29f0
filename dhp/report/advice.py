"""Notes on how the figures of a result came about, and advice on what to do next.

`advice` asks each topic (a function `_about_...`) what it has to say of the results of one judge, in the
order of the list `_TOPICS`, the most pressing first. Advice that `warns` also stands in a terminal, as a
note: `warnings` joins it with the warnings of the results, and says once what holds of several judges.
`notes` are remarks on a single result.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from dhp.analysis.control_state import CONTROL_PAIRS
from dhp.analysis.kinds import ONE_LEVEL
from dhp.analysis.ratings import without_score
from dhp.analysis.results import FEWEST_PAIRS, Result, VariantResult, about
from dhp.content.catalog import bundled_names, kind_name, variant_name
from dhp.core.plugins import load_target, offered
from dhp.core.records import ASKED_AGAIN
from dhp.report.findings import by_judge
from dhp.report.labels import listed, percent, shortened, style_words

_MISSING = 0.5
"""Probability that fell on no score from which the reader is warned."""
_TIED = 0.5
"""Share of pairs that are tied from which a finer answer is advised."""
_ROUNDED = 0.05
"""Share of a decision model's pairs that are tied from which the reader is told."""
_NAMED = 4
"""Kinds of damage named in one piece of advice."""
_NAMED_JUDGES = 2
"""Judges that a note names; more are counted."""
_HALO = 0.9  # mean correlation between metrics from which it is said
_STYLES = {
    "lenient": "degraded texts have a mean in the upper third of the scale",
    "harsh": "originals have a mean in the lower half of the scale",
    "compressed": "nine in ten scores lie within half of the scale",
}
_DOMINANT = 0.8  # share of one score from which it is said


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing to do."""

    text: str
    """One or two sentences, with code in back quotes."""
    warns: bool = False
    """Whether the terminal says it, too: it changes how far the figures can be trusted."""


def advice(results: Sequence[Result]) -> list[Advice]:
    """What to do about the results of one judge, the most pressing first."""
    pieces: list[Advice] = []
    for topic in (*_OF_ALL, *_TOPICS):
        pieces += topic(_heeded(topic, results))
    return pieces


def warnings(results: Sequence[Result]) -> list[str]:
    """What makes figures doubtful: the warnings of the results, then the advice that warns.

    What concerns several judges is said once, with their names or number if not all are concerned.
    """
    judges = by_judge(results)
    by_note: dict[str, list[Result]] = {}
    for each in results:
        for warning in each.warnings:
            by_note.setdefault(warning, []).append(each)
    several = len(judges) > 1
    lines = [f"{warning}{_of(of, results, several=several)}" for warning, of in by_note.items()]
    for topic in (*_OF_ALL, *_TOPICS):
        concerned: list[str] = []
        every: list[Result] = []
        for judge, of in judges.items():
            heeded = _heeded(topic, of)
            if _warnings_of(topic, heeded):
                concerned.append(judge)
                every += heeded
        about = f"{_judges_in_words(concerned, len(judges))}: " if len(concerned) < len(judges) else ""
        # Asked anew about all of them, as the text of advice names sets and counts.
        lines += [f"{about}{text}" for text in _warnings_of(topic, every)]
    return list(dict.fromkeys(lines))


def _warnings_of(topic: "_Topic", results: Sequence[Result]) -> list[str]:
    return [piece.text for piece in topic(results) if piece.warns]


def _heeded(topic: "_Topic", results: Sequence[Result]) -> list[Result]:
    """The results that a topic looks at."""
    judged = [each for each in results if not each.too_few]
    return judged if topic in _OF_ALL else [each for each in judged if not each.blind]


def _judges_in_words(judges: Sequence[str], total: int) -> str:
    return listed(judges) if len(judges) <= _NAMED_JUDGES else f"{len(judges)} of {total} judges"


def on(some: Sequence[Result], every: Sequence[Result]) -> str:
    """The datasets in words: empty for a single one, names for two, else their number."""
    names = list(dict.fromkeys(each.dataset for each in some))
    total = len({each.dataset for each in every})
    if total == 1:
        return ""
    if len(names) == total:
        return " on both sets" if total == 2 else f" on all {total} sets"
    return f" on {listed(names)}" if len(names) < 3 else f" on {len(names)} of {total} sets"


def _of(some: Sequence[Result], every: Sequence[Result], *, several: bool) -> str:
    """The results concerned, in brackets; empty for all of them."""
    if len(some) == len(every):
        return ""
    names = [f"{each.judge} on {each.dataset}" if several else each.dataset for each in some]
    return f" [{'; '.join(names)}]"


def _has_model(results: Sequence[Result]) -> bool:
    return any(each.asked for each in results)


def _about_reading(results: Sequence[Result]) -> Iterable[Advice]:
    ratings = Counter[str]()
    for each in results:
        ratings.update(each.ratings)
    causes = _unscored(ratings)
    if causes:
        # Calls that failed need another remedy than answers that cannot be read: most of them decide.
        failed = 2 * ratings["failed"] > ratings["asked"] - ratings["scored"]
        yield Advice(f"{'See why calls fail' if failed else 'Make all answers readable'}: {causes}.")
    unsure = [each for each in results if (each.missing_mass or 0.0) > _MISSING]
    if unsure:
        worst = max(each.missing_mass or 0.0 for each in unsure)
        where = on(unsure, results)
        text = f"Check the form of its answers{where}: {worst:.0%} of the probability fell on no score."
        yield Advice(text, warns=True)


def _about_constants(results: Sequence[Result]) -> Iterable[Advice]:
    blind = [each for each in results if each.blind]
    if blind and len(blind) < len(results):  # of a judge that is blind throughout the sentence says so
        yield Advice(f"Check the judge: no score of any text moved{on(blind, results)}.", warns=True)


def _about_controls(results: Sequence[Result]) -> Iterable[Advice]:
    alarmed = [each for each in results if each.alarms]
    if alarmed:
        lowering = chain.from_iterable(each.alarms for each in alarmed)
        remedy = (
            "Say in the prompt what must not count" if _has_model(results) else "Do not let it decide alone"
        )
        yield Advice(f"{remedy}: {_names(lowering)} lower its score{on(alarmed, results)}.")
    attacks = chain.from_iterable(each.attacks for each in results)
    raised = [row for row in attacks if row.state.is_raised]
    if raised:
        yield Advice(f"Do not use it where writers know of it: its scores rise with {_names(raised)}.")
    unknown = [each for each in results if each.control is None and each.statistics != "paper"]
    if unknown:
        text = f"Harmless edits were not judged{on(unknown, results)}: false alarms stay unseen."
        yield Advice(text, warns=True)


def _about_comparison_with_controls(results: Sequence[Result]) -> Iterable[Advice]:
    compared = [each for each in results if each.control is not None]
    alike = _kinds(filter(_alike, _damage(compared)))
    if alike:
        text = f"{_shortened(alike)} cannot be told from harmless edits yet"
        yield Advice(f"Rate more texts: {text}.", warns=True)
    untested: list[Result] = []
    pairs: dict[str, None] = {}
    for each in results:
        if each.control is not None and each.control.state.untested:
            untested.append(each)
            pairs[str(each.control.n)] = None
    if untested:
        text = f"a test of harmless edits takes {CONTROL_PAIRS} pairs, there are {listed(list(pairs))}"
        yield Advice(f"Rate more texts{on(untested, results)}: {text}.")


def _alike(row: VariantResult) -> bool:
    """Whether damage is undecided only because harmless edits may be noticed as often."""
    above = row.detection_ci is not None and row.detection_ci[0] > 0.5
    return above and row.state.is_open and row.n >= FEWEST_PAIRS


def _about_weak_kinds(results: Sequence[Result]) -> Iterable[Advice]:
    every = _damage(results)
    rows = list(filter(_is_weak, every))
    kinds = _kinds(rows)
    if not kinds:
        return
    if len(kinds) > 1 and len(rows) == len(every):
        yield Advice(
            f"Use another {'prompt or model' if _has_model(results) else 'judge'}: no kind is noticed."
        )
    elif _has_model(results):
        more = "by how much each lowers" if len(kinds) > 1 else "by how much it lowers"
        yield Advice(f"Name {_shortened(kinds)} in the prompt, and {more} the score.")
    else:
        yield Advice(f"Add a check or a second judge for {_shortened(kinds)}.")
    cells = chain.from_iterable(row.metrics.values() for row in rows)
    tied = [cell.tied for cell in cells if cell.tied is not None]
    mean_tied = sum(tied) / len(tied) if tied else 0.0
    if _has_model(results) and mean_tied >= _TIED:
        yield Advice(
            f"Ask for a finer answer: {percent(mean_tied)} of its scores there are tied. A finer "
            "scale, several samples or scores by probability show small drops."
        )
    seen = _kinds(row for row in every if row.degree == "major" and row.state.is_good)
    missed = _kinds(row for row in rows if row.degree == "minor")
    minor = [kind for kind in missed if kind in seen]
    if minor:
        yield Advice(f"Major damage of {_shortened(minor)} is noticed: `--doses` finds from which dose on.")


def _is_weak(row: VariantResult) -> bool:
    """Whether a prompt or a second judge can do something against the verdict."""
    word = row.state
    return not (word.is_noticed or word.like_edits or word.is_open)


def _about_number(results: Sequence[Result]) -> Iterable[Advice]:
    bundled_sets = bundled_names()
    bundled: list[tuple[Result, VariantResult]] = []
    of_the_user: list[tuple[Result, VariantResult]] = []
    for each in results:
        decidable = [row for row in each.damage if row.state.is_open and row.n_to_decide is not None]
        (bundled if each.dataset in bundled_sets else of_the_user).extend((each, row) for row in decidable)
    for pairs in (of_the_user, bundled):
        if not pairs:
            continue
        kinds = _shortened([f"{kind}{on(of, results)}" for kind, of in _by_kind(pairs).items()])
        if pairs is bundled:  # nobody can rate more of them than there are
            text = f"The bundled texts are too few to decide on {kinds}: try your own, or a prepared set."
        else:
            each_set = " a set" if len({e.dataset for e in results}) > 1 else ""
            needed = about(max(row.n_to_decide or (0, 0) for _, row in pairs))
            text = f"Rate {needed} examples{each_set} to decide on {kinds}."
        yield Advice(text, warns=True)


def _about_pairs(results: Sequence[Result]) -> Iterable[Advice]:
    for each in results:
        if each.pairs:
            low, high = each.pairs
            text = (
                f"Read the average{on([each], results)} with care: its kinds have {low:,} to {high:,} pairs."
            )
            yield Advice(text, warns=True)


def _about_scale(results: Sequence[Result]) -> Iterable[Advice]:
    if not _has_model(results):
        return
    for word, part in (("lenient", "the lower part"), ("compressed", "more than half")):
        used = [each for each in results if word in style_words(each)]
        if used:
            text = f"it hardly uses {part} of it{on(used, results)}."
            yield Advice(f"Describe each point of the scale in the prompt: {text}")
            return


def _about_harder_damage(results: Sequence[Result]) -> Iterable[Advice]:
    rows = _damage(results)
    if rows and all(row.state.is_good for row in rows):
        attacks = "" if any(each.attacks for each in results) else " and attacks (`--attacks`)"
        yield Advice(f"Try smaller damage (`--doses`){attacks}: all that was tried is noticed.")


def _damage(results: Sequence[Result]) -> list[VariantResult]:
    """The kinds of damage of all results."""
    return list(chain.from_iterable(each.damage for each in results))


def _kinds(rows: Iterable[VariantResult]) -> list[str]:
    return list(dict.fromkeys(kind_name(row.variant) for row in rows))


def _names(rows: Iterable[VariantResult]) -> str:
    return listed(list(dict.fromkeys(variant_name(row.variant) for row in rows)))


def _by_kind(rows: Iterable[tuple[Result, VariantResult]]) -> dict[str, list[Result]]:
    """Kind of damage -> where it stands."""
    by_kind: dict[str, list[Result]] = {}
    for each, row in rows:
        by_kind.setdefault(kind_name(row.variant), []).append(each)
    return by_kind


def _shortened(kinds: Sequence[str]) -> str:
    return shortened(kinds, _NAMED)


_Topic = Callable[[Sequence[Result]], Iterable[Advice]]
_OF_ALL: Sequence[_Topic] = (_about_constants, _about_reading)
_TOPICS: Sequence[_Topic] = (
    _about_controls,
    _about_comparison_with_controls,
    _about_weak_kinds,
    _about_number,
    _about_pairs,
    _about_scale,
    _about_harder_damage,
)


def notes(result: Result) -> list[str]:
    """Remarks on how the figures of a result came about."""
    return [
        *_notes_on_pairs(result),
        *_notes_on_judge(result),
        *_notes_on_reading(result),
        *notes_of_plugins(result),
    ]


def notes_of_plugins(result: Result) -> list[str]:
    """What plug-ins have to say of a result."""
    lines: list[str] = []
    for target in offered("notes").values():
        lines += load_target(target)(result)
    return lines


def _notes_on_pairs(result: Result) -> list[str]:
    remarks = []
    if result.left_out and (result.curves or result.d_avg is None):  # else below the table
        remarks.append(f"left out, not rated: {'; '.join(map(variant_name, result.left_out))}")
    for row in (*result.variants, *result.probes):
        name = variant_name(row.variant)
        if row.not_applicable:
            remarks.append(f"{name}: not applicable to {row.not_applicable:,} of {result.n:,} examples")
        if row.d is None and row.not_applicable < result.n:
            remarks.append(f"{name}: a metric has no pair left, so D is undefined; averages leave it out")
    few = [variant_name(row.variant) for row in result.variants if row.n < FEWEST_PAIRS]
    if few:
        remarks.append(f"fewer than {FEWEST_PAIRS} pairs, in no average: {'; '.join(few)}")
    fails = None if result.pass_mark is None else result.pass_mark.fails
    if result.pass_mark is not None and fails is not None:
        remarks.append(
            f"at the mark of {result.pass_mark.mark}, of {fails.n:,} good texts {percent(fails.share)} fail, "
            f"{percent(fails.rest)} pass and {percent(fails.no_score)} get no score"
        )
    if result.clusters is not None and result.statistics == "paper":
        remarks.append(
            f"p and D take the examples of {result.clusters} clusters for independent, as published"
        )
    elif result.clusters is not None:
        remarks.append(f"tests take clusters of examples as a whole: {result.clusters} of them")
    if result.levels == "none":
        remarks.append("levels unknown: all kinds count as one level")
    elif result.levels == "column":
        unknown = [variant_name(row.variant) for row in result.variants if row.level == ONE_LEVEL]
        if unknown:
            remarks.append(f"level unknown, together one level more: {', '.join(unknown)}")
    return remarks


def _notes_on_judge(result: Result) -> list[str]:
    remarks = []
    for metric, figures in result.repeats.items():
        if (figures["dominance"] or 0.0) > _DOMINANT:
            remarks.append(f"{metric}: {figures['dominance']:.0%} of all its scores are the same one")
    metrics_of: dict[str, list[str]] = {}
    for metric, style in result.styles.items():
        for word in style.words or ():
            metrics_of.setdefault(word, []).append(metric)
    for word, metrics in metrics_of.items():
        remarks.append(f"response style: {word} ({_STYLES[word]}): {', '.join(metrics)}")
    mean = _mean_halo(result)
    if mean is not None and mean > _HALO:
        remarks.append(f"halo: on degraded texts the metrics move together (mean correlation {mean:.2f})")
    return remarks


def _notes_on_reading(result: Result) -> list[str]:
    remarks = []
    causes = _unscored(result.ratings)
    if causes:
        remarks.append(causes)
    remarks += [f"failed {count} times: {reason}" for reason, count in list(result.failures.items())[:3]]
    again = result.ratings.get(ASKED_AGAIN)
    if again:
        remarks.append(
            f"{again:,} of {result.ratings['asked']:,} answers were asked for again, as unreadable"
        )
    if result.missing_mass is not None:
        remarks.append(f"scores by probability; {result.missing_mass:.1%} of it fell on no score, on average")
    tied = _tied_by_rounding(result)
    if tied is not None and tied >= _ROUNDED:
        remarks.append(
            f"{percent(tied)} of the scores under damage stayed as they were: a decision model gives its "
            "probabilities rounded, mostly to two digits, and so does not show small drops"
        )
    parsed = sum(count for rule, count in result.rules.items() if rule.startswith("parse:"))
    if parsed:
        remarks.append(f"{parsed} scores were read from the text, as no probabilities came with them")
    return remarks


def _tied_by_rounding(result: Result) -> float | None:
    """Share of the pairs with both scores that are tied; None if no decision model scored texts.

    Two expected levels are hardly ever equal unless the probabilities are rounded.
    """
    decides = set(result.rules) == {"prob"} and result.missing_mass is None and not result.pairs
    every = chain.from_iterable(row.metrics.values() for row in result.variants)
    cells = [cell for cell in every if cell.tied is not None]
    read = sum(cell.n - cell.unread for cell in cells)
    if not decides or not read:
        return None
    return sum(cell.n * (cell.tied or 0.0) - cell.unread for cell in cells) / read


def _unscored(ratings: Mapping[str, int]) -> str:
    """`200 of 900 ratings have no score (unparsed 150, failed 50)`; empty if all have one."""
    missing = ratings["asked"] - ratings["scored"]
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in without_score(ratings).items())
    return f"{missing:,} of {ratings['asked']:,} ratings have no score ({reasons})" if missing else ""


def _mean_halo(result: Result) -> float | None:
    """Mean correlation of two different metrics on degraded texts, if all of them are defined."""
    correlations: list[float | None] = []
    for metric, row in result.halo.get("degraded", {}).items():
        correlations += [r for other, r in row.items() if other != metric]
    known = [r for r in correlations if r is not None]
    return sum(known) / len(known) if known and len(known) == len(correlations) else None
