"""Advice on what to do next about the results of a judge.

`advice` asks each topic (a function `_about_...`) what it has to say of the results of one judge, in the
order of the list `_TOPICS`, the most pressing first. Advice that `warns` also stands in a terminal, as a
note: `warnings` joins it with the warnings of the results, and says once what holds of several judges.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from dhp.analysis.control_state import CONTROL_PAIRS
from dhp.analysis.results import FEWEST_PAIRS, Result, VariantResult, about
from dhp.content.catalog import bundled_names, kind_name, variant_name
from dhp.report.findings import by_judge
from dhp.report.labels import listed, percent, shortened, style_words
from dhp.report.notes import unscored_words

_MISSING = 0.5
"""Probability that fell on no score from which the reader is warned. Chosen."""
_TIED = 0.5
"""Share of pairs that are tied from which a finer answer is advised. Chosen."""
_NAMED = 4
"""Kinds of damage named in one piece of advice."""
_NAMED_JUDGES = 2
"""Judges that a note names; more are counted."""


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
    # A warning of several results is said once, with the results that it concerns.
    results_with: dict[str, list[Result]] = {}
    for each in results:
        for warning in each.warnings:
            results_with.setdefault(warning, []).append(each)
    lines = []
    for warning, warned in results_with.items():
        lines.append(f"{warning}{_of(warned, results, several_judges=len(judges) > 1)}")
    for topic in (*_OF_ALL, *_TOPICS):
        concerned: list[str] = []
        of_concerned: list[Result] = []
        for judge, of_judge in judges.items():
            heeded = _heeded(topic, of_judge)
            if _warnings_of(topic, heeded):
                concerned.append(judge)
                of_concerned += heeded
        about = f"{_judges_in_words(concerned, len(judges))}: " if len(concerned) < len(judges) else ""
        # Asked anew about all of them, as the text of advice names sets and counts.
        lines += [f"{about}{text}" for text in _warnings_of(topic, of_concerned)]
    return list(dict.fromkeys(lines))


def _warnings_of(topic: "_Topic", results: Sequence[Result]) -> list[str]:
    return [piece.text for piece in topic(results) if piece.warns]


def _heeded(topic: "_Topic", results: Sequence[Result]) -> list[Result]:
    """The results that a topic looks at."""
    judged = [each for each in results if not each.too_few]
    return judged if topic in _OF_ALL else [each for each in judged if not each.blind]


def _judges_in_words(judges: Sequence[str], total: int) -> str:
    return listed(judges) if len(judges) <= _NAMED_JUDGES else f"{len(judges)} of {total} judges"


def _on(some: Sequence[Result], every: Sequence[Result]) -> str:
    """The datasets in words: empty for a single one, names for two, else their number."""
    names = _datasets(some)
    total = len(_datasets(every))
    if total == 1:
        return ""
    # If all sets are concerned, their number says so without their names.
    if len(names) == total:
        return " on both sets" if total == 2 else f" on all {total} sets"
    return f" on {listed(names)}" if len(names) < 3 else f" on {len(names)} of {total} sets"


def _datasets(results: Sequence[Result]) -> list[str]:
    return list(dict.fromkeys(each.dataset for each in results))


def _of(some: Sequence[Result], every: Sequence[Result], *, several_judges: bool) -> str:
    """The results concerned, in brackets; empty for all of them."""
    if len(some) == len(every):
        return ""
    names = []
    for each in some:
        names.append(f"{each.judge} on {each.dataset}" if several_judges else each.dataset)
    return f" [{'; '.join(names)}]"


def _has_model(results: Sequence[Result]) -> bool:
    return any(each.asked for each in results)


def _about_reading(results: Sequence[Result]) -> Iterator[Advice]:
    ratings = Counter[str]()
    for each in results:
        ratings.update(each.ratings)
    unscored = unscored_words(ratings)
    if unscored:
        # Calls that failed need another remedy than answers that cannot be read: most of them decide.
        failed = 2 * ratings["failed"] > ratings["asked"] - ratings["scored"]
        remedy = "See why calls fail" if failed else "Make all answers readable"
        yield Advice(f"{remedy}: {unscored}.")
    unsure = []
    worst = _MISSING
    for each in results:
        if each.missing_mass is not None and each.missing_mass > _MISSING:
            unsure.append(each)
            worst = max(worst, each.missing_mass)
    if unsure:
        where = _on(unsure, results)
        text = f"Check the form of its answers{where}: {worst:.0%} of the probability fell on no score."
        yield Advice(text, warns=True)


def _about_constants(results: Sequence[Result]) -> Iterator[Advice]:
    blind = [each for each in results if each.blind]
    if blind and len(blind) < len(results):  # of a judge that is blind throughout the sentence says so
        yield Advice(f"Check the judge: no score of any text moved{_on(blind, results)}.", warns=True)


def _about_controls(results: Sequence[Result]) -> Iterator[Advice]:
    alarmed = [each for each in results if each.alarms]
    if alarmed:
        lowering = chain.from_iterable(each.alarms for each in alarmed)
        remedy = "Do not let it decide alone"
        if _has_model(results):
            remedy = "Say in the prompt what must not count"
        yield Advice(f"{remedy}: {_names(lowering)} lower its score{_on(alarmed, results)}.")
    attacks = chain.from_iterable(each.attacks for each in results)
    raised = [row for row in attacks if row.state.is_raised]
    if raised:
        yield Advice(f"Do not use it where writers know of it: its scores rise with {_names(raised)}.")
    unknown = [each for each in results if each.control is None and each.statistics != "paper"]
    if unknown:
        text = f"Harmless edits were not judged{_on(unknown, results)}: false alarms stay unseen."
        yield Advice(text, warns=True)


def _about_comparison_with_controls(results: Sequence[Result]) -> Iterator[Advice]:
    compared = [each for each in results if each.control is not None]
    alike = _kinds(filter(_alike, _damage(compared)))
    if alike:
        text = f"{_shortened(alike)} cannot be told from harmless edits yet"
        yield Advice(f"Rate more texts: {text}.", warns=True)
    untested: list[Result] = []
    # Written as a dict of words for its order: each number of pairs is named once.
    pairs: dict[str, None] = {}
    for each in compared:
        if each.control is not None and each.control.state.untested:
            untested.append(each)
            pairs[str(each.control.n)] = None
    if untested:
        text = f"a test of harmless edits takes {CONTROL_PAIRS} pairs, there are {listed(list(pairs))}"
        yield Advice(f"Rate more texts{_on(untested, results)}: {text}.")


def _alike(row: VariantResult) -> bool:
    """Whether damage is undecided only because harmless edits may be noticed as often."""
    # The limits lie above one half, so the damage itself is seen; only the edits are in doubt.
    above = row.detection_ci is not None and row.detection_ci[0] > 0.5
    return above and row.state.is_open and row.n >= FEWEST_PAIRS


def _about_weak_kinds(results: Sequence[Result]) -> Iterator[Advice]:
    every = _damage(results)
    weak = list(filter(_is_weak, every))
    kinds = _kinds(weak)
    if not kinds:
        return
    if len(kinds) > 1 and len(weak) == len(every):
        remedy = "prompt or model" if _has_model(results) else "judge"
        yield Advice(f"Use another {remedy}: no kind is noticed.")
    elif _has_model(results):
        more = "by how much each lowers" if len(kinds) > 1 else "by how much it lowers"
        yield Advice(f"Name {_shortened(kinds)} in the prompt, and {more} the score.")
    else:
        yield Advice(f"Add a check or a second judge for {_shortened(kinds)}.")


def _about_ties(results: Sequence[Result]) -> Iterator[Advice]:
    """On kinds that are not noticed as most scores are the same."""
    tied = []
    for row in filter(_is_weak, _damage(results)):
        tied += [cell.tied for cell in row.metrics.values() if cell.tied is not None]
    mean_tied = sum(tied) / len(tied) if tied else 0.0
    if _has_model(results) and mean_tied >= _TIED:
        yield Advice(
            f"Ask for a finer answer: {percent(mean_tied)} of its scores there are tied. A finer "
            "scale, several samples or scores by probability show small drops."
        )


def _about_degrees(results: Sequence[Result]) -> Iterator[Advice]:
    """On kinds of which only the major degree is noticed."""
    every = _damage(results)
    seen = _kinds(row for row in every if row.degree == "major" and row.state.is_good)
    missed = _kinds(row for row in every if row.degree == "minor" and _is_weak(row))
    minor = [kind for kind in missed if kind in seen]
    if minor:
        yield Advice(f"Major damage of {_shortened(minor)} is noticed: `--doses` finds from which dose on.")


def _is_weak(row: VariantResult) -> bool:
    """Whether a prompt or a second judge can do something against the verdict."""
    word = row.state
    return not (word.is_noticed or word.like_edits or word.is_open)


def _about_number(results: Sequence[Result]) -> Iterator[Advice]:
    bundled_sets = bundled_names()
    of_the_user = _decidable(each for each in results if each.dataset not in bundled_sets)
    if of_the_user:
        # `_decidable` leaves out None already: the pair of zeros is for the type checker.
        needed = about(max(row.n_to_decide or (0, 0) for _, row in of_the_user))
        each_set = " a set" if len(_datasets(results)) > 1 else ""
        kinds = _kinds_on_sets(of_the_user, results)
        yield Advice(f"Rate {needed} examples{each_set} to decide on {kinds}.", warns=True)
    bundled = _decidable(each for each in results if each.dataset in bundled_sets)
    if bundled:  # nobody can rate more of them than there are
        kinds = _kinds_on_sets(bundled, results)
        text = f"The bundled texts are too few to decide on {kinds}: try your own, or a prepared set."
        yield Advice(text, warns=True)


def _decidable(results: Iterable[Result]) -> list[tuple[Result, VariantResult]]:
    """The kinds that more examples would decide, each with its result."""
    rows = []
    for each in results:
        for row in each.damage:
            if row.state.is_open and row.n_to_decide is not None:
                rows.append((each, row))
    return rows


def _kinds_on_sets(rows: Iterable[tuple[Result, VariantResult]], every: Sequence[Result]) -> str:
    """The kinds of damage, each with the sets that its rows are of."""
    results_of: dict[str, list[Result]] = {}
    for each, row in rows:
        results_of.setdefault(kind_name(row.variant), []).append(each)
    return _shortened([f"{kind}{_on(some, every)}" for kind, some in results_of.items()])


def _about_pairs(results: Sequence[Result]) -> Iterator[Advice]:
    for each in results:
        if each.pairs:
            low, high = each.pairs
            where = _on([each], results)
            text = f"Read the average{where} with care: its kinds have {low:,} to {high:,} pairs."
            yield Advice(text, warns=True)


def _about_scale(results: Sequence[Result]) -> Iterator[Advice]:
    if not _has_model(results):
        return
    for word, part in (("lenient", "the lower part"), ("compressed", "more than half")):
        # One piece of advice on how a scale is used is enough.
        used = [each for each in results if word in style_words(each)]
        if used:
            text = f"it hardly uses {part} of it{_on(used, results)}."
            yield Advice(f"Describe each point of the scale in the prompt: {text}")
            return


def _about_harder_damage(results: Sequence[Result]) -> Iterator[Advice]:
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
    names = dict.fromkeys(variant_name(row.variant) for row in rows)
    return listed(list(names))


def _shortened(kinds: Sequence[str]) -> str:
    return shortened(kinds, _NAMED)


_Topic = Callable[[Sequence[Result]], Iterable[Advice]]
_OF_ALL: Sequence[_Topic] = (_about_constants, _about_reading)
"""Topics that look at all results of a judge; the others leave out those in which no score moved."""
_TOPICS: Sequence[_Topic] = (
    _about_controls,
    _about_comparison_with_controls,
    _about_weak_kinds,
    _about_ties,
    _about_degrees,
    _about_number,
    _about_pairs,
    _about_scale,
    _about_harder_damage,
)
