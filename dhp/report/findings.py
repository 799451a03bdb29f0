"""Findings of results in sentences, shared by page, terminal and Markdown.

`sentences` gives one sentence for each judge over all its datasets. `_statements` puts its parts in this
order: how much could be read, what passes at a mark, the kinds of damage by verdict
(`dhp.report.kind_statements`), whether the judge's reasons name them, and the controls and attacks that
failed. Each part is made by a function of its own, which gives no part if there is nothing to say. For runs
with doses the sentence tells T75.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import fmean

from dhp.analysis.passing import PassShare
from dhp.analysis.reasons import Named, together
from dhp.analysis.results import FEWEST_PAIRS, MUTE_BELOW, DoseThreshold, Result, VariantResult
from dhp.analysis.unread import REMEDIES
from dhp.content.catalog import kind_name, variant_name
from dhp.core.rating_forms import ONE_ORDER
from dhp.core.verdicts import BLIND, MISSED, MUTE, NOTICED, UNDECIDED, in_sentence
from dhp.report.certainty_words import asking_sentence, certainty_sentence
from dhp.report.kind_statements import Statement, about_kinds, kinds_by_verdict
from dhp.report.labels import at_mark, dose_interval, listed, percent, percents

TELL_BELOW = 0.95
"""Share of answers with a score below which the sentence on a judge begins with it. Chosen."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """What a judge notices and misses."""

    about: str
    """The judge, and the dataset if that is needed."""
    parts: tuple[Statement, ...]
    """Statements, what it notices first; at least one."""

    @property
    def text(self) -> str:
        """The sentence without the judge."""
        return f"{'; '.join(part.text for part in self.parts)}."

    def __str__(self) -> str:
        return f"{self.about}: {self.text}"


def sentences(results: Iterable[Result], *, together: bool = False) -> list[Sentence]:
    """One sentence per judge over all its datasets; for doses one per judge and dataset.

    With `together` what holds of every judge is said once, first.
    """
    listed_results = list(results)
    with_doses = [each for each in listed_results if each.curves]
    judges = by_judge(each for each in listed_results if not each.curves)
    shared = _shared(list(judges.values())) if together else set()
    made = []
    if shared:
        # The same is said of every judge, so the results of any of them give the words.
        any_judge = next(iter(judges.values()))
        statements = about_kinds(any_judge, lambda kind: kind in shared)
        made.append(Sentence("every judge", tuple(statements)))
    for judge, of_judge in judges.items():
        statements = _statements(of_judge, without=shared)
        if statements:
            made.append(Sentence(judge, tuple(statements)))
    for each in with_doses:
        made.append(Sentence(f"{each.judge} on {each.dataset}", tuple(_of_doses(each))))
    return made


def _shared(judges: Sequence[Sequence[Result]]) -> set[str]:
    """The kinds of damage of which the same is said of each judge; none if a judge left much unread.

    What such a judge notices has to stand beside how much it read.
    """
    if not judges or any(_about_reading(of_judge) for of_judge in judges):
        return set()
    # Equal names are not enough: they say where a verdict holds, and the phrase says which verdict it is.
    statements_of_judges: list[set[tuple[str, str, str]]] = []
    for of_judge in judges:
        statements = set()
        for group in kinds_by_verdict(of_judge):
            statements |= {(group.phrase, kind, name) for kind, name in group.names.items()}
        statements_of_judges.append(statements)
    statements_of_all = set.intersection(*statements_of_judges)
    return {kind for _, kind, _ in statements_of_all}


def by_judge(results: Iterable[Result]) -> dict[str, list[Result]]:
    """Judge -> its results, in order of appearance."""
    by_name: dict[str, list[Result]] = {}
    for each in results:
        by_name.setdefault(each.judge, []).append(each)
    return by_name


def control_words(row: VariantResult | None) -> str:
    """The state of a control or attack, with the figure that it goes by."""
    if row is None:
        return "not judged"
    word = row.state
    share = cost(row)
    if word.is_weak and share:
        return f"{word}, {share}"
    # Without limits nothing speaks against one half.
    low, high = row.detection_ci or (0.5, 0.5)
    holds_half = low <= 0.5 <= high  # then the figure of a control that is still would tell nothing
    if word.untested or (word.is_good and holds_half):
        return word
    return f"{word} {percent(row.detection)}"


def cost(row: VariantResult) -> str:
    """What a control or attack changes, as a share of what damage changes; empty without such damage."""
    if row.share is None or row.beside is None:
        return ""
    return f"{percent(row.share)} of {variant_name(row.beside)}"


def _statements(results: Sequence[Result], without: Collection[str]) -> list[Statement]:
    """What is said of a judge, leaving out the kinds `without`."""
    judged = [each for each in results if not each.too_few]
    if not judged:
        return [Statement(UNDECIDED, f"needs {FEWEST_PAIRS} examples or more for a verdict")]
    # What was not read is a tie, so every figure below depends on it: it is said first.
    parts = [*_about_reading(judged), *_about_orders(judged), *_about_clusters(judged)]
    # No pair was read, so nothing is known of what it sees.
    if all(each.silent for each in judged):
        return parts
    parts += _at_mark(judged)
    if any(each.blind for each in judged):
        parts.append(Statement(BLIND, BLIND.phrase.format(f"any text{_on_blind(judged)}")))
    if all(each.blind for each in judged):  # that no score moved says all of every kind
        return parts
    verdicts = [group.verdict for group in kinds_by_verdict(judged)]
    if verdicts and all(verdict.may_change for verdict in verdicts):
        parts.append(Statement(UNDECIDED, "notices no kind of damage reliably"))
    parts += about_kinds(judged, lambda kind: kind not in without)
    parts += _about_reasons(judged)
    parts += _about_probes(judged)
    if not parts and not without:
        return [Statement(UNDECIDED, "no kind of damage was judged")]
    return parts


def _about_reasons(results: Sequence[Result]) -> list[Statement]:
    """How much of the damage that it sees its reasons name."""
    named = list(chain.from_iterable(each.reasons.values() for each in results))
    return [Statement(UNDECIDED, reasons_sentence(together(named)))] if named else []


def reasons_sentence(named: Named) -> str:
    """`sees 86 % of damaged texts; its reason names the change in 61 % of these (by chance 3 %)`."""
    words = f"sees {percent(named.seen / named.texts)} of damaged texts"
    if not named.seen:
        return words
    words += f"; its reason names the change in {percent(named.seen_named / named.seen)} of these"
    return words if named.by_chance is None else f"{words} (by chance {percent(named.by_chance)})"


def _about_reading(results: Sequence[Result]) -> list[Statement]:
    """How many of its answers have a score, why most others have none, and what would help."""
    # The share over all sets, in which each counts by its number of answers.
    answers = 0
    scored = 0.0
    for each in results:
        if each.read is not None:
            answers += each.answers
            scored += each.read * each.answers
    if all(each.read is None for each in results):
        return []
    share = scored / max(answers, 1)
    mute = [each for each in results if each.mute]
    if share >= TELL_BELOW and not mute:
        return []
    answer = "verdict" if all(each.statistics == "sign-flip" for each in results) else "score"
    words = f"gave a {answer} in {percent(share)} of its answers{_silent_side(results)}{_remedy(results)}"
    if not mute:
        return [Statement(UNDECIDED, words)]
    if len(mute) < len(results):
        words += f", mute on {len(mute)} of {len(results)} sets"
    return [Statement(MUTE, MUTE.phrase.format(words))]


def _remedy(results: Sequence[Result]) -> str:
    """The commonest cause of unread answers that something helps against, and what does; empty if none."""
    causes = Counter[str]()
    for each in results:
        causes.update(each.unread)
    for cause, _ in causes.most_common():
        if cause in REMEDIES:
            # A cause that is the only one explains all answers without a score.
            others = "most others" if len(causes) > 1 else "others"
            return f" ({others}: {cause}; {REMEDIES[cause]} would help)"
    return ""


def _silent_side(results: Sequence[Result]) -> str:
    """The side, originals or damaged texts, on which a judge is mute if it reads enough of the other."""
    originals = [each.read_originals for each in results if each.read_originals is not None]
    damaged = [each.read_damaged for each in results if each.read_damaged is not None]
    if not originals or not damaged:
        return ""
    read = {"originals": fmean(originals), "damaged texts": fmean(damaged)}
    side = min(read, key=lambda name: read[name])
    # Mute about these alone; of a judge that is mute about both, the whole share tells it.
    if read[side] < MUTE_BELOW <= max(read.values()):
        return f", in {percent(read[side])} of those about {side}"
    return ""


def _about_orders(results: Sequence[Result]) -> list[Statement]:
    """That comparisons were asked in one order only."""
    parts = []
    for each in results:
        if ONE_ORDER in each.rules:
            figures = f"{percent(each.detection.avg)} [{percents(each.detection.ci['avg'])}]"
            parts.append(Statement(UNDECIDED, f"one order only: {figures}; the order is not controlled"))
    return parts


def _about_clusters(results: Sequence[Result]) -> list[Statement]:
    """Why nothing can be decided if all examples belong together."""
    if all(each.clusters != 1 for each in results):
        return []
    words = "all examples are of one cluster, so that nothing can be decided: tests compare clusters"
    return [Statement(UNDECIDED, words)]


def _at_mark(results: Sequence[Result]) -> list[Statement]:
    """What passes at the user's mark: the damage of which most does, the mean over sets, and what fails."""
    marked = [each for each in results if each.pass_mark is not None]
    passing: dict[str, list[PassShare]] = {}
    for each in marked:
        for row in each.variants:
            if row.passes is not None:
                passing.setdefault(kind_name(row.variant), []).append(row.passes)
    if not passing:
        return []
    parts = [Statement(UNDECIDED, _passing_words(marked, passing))]
    if len(marked) == 1:  # each set has a certainty of its own, so of several none is said
        certainty, asking = marked[0].certainty, marked[0].asking
        if certainty is not None:
            parts.append(Statement(UNDECIDED, certainty_sentence(certainty)))
        if asking is not None and asking.of_all[0].passing > 0:
            parts.append(Statement(UNDECIDED, asking_sentence(asking)))
    return parts


def _passing_words(marked: Sequence[Result], passing: Mapping[str, Sequence[PassShare]]) -> str:
    """`at your mark of 4, 35% of texts with typos pass (20% of all damaged texts) and 5% of ... fail`.

    `passing` are the shares of each kind of damage, one for each degree and set.
    """
    kind = max(passing, key=lambda name: fmean(share.most for share in passing[name]))
    # Metrics of several sets may have other scales, and so other marks.
    marks = dict.fromkeys(each.pass_mark.mark for each in marked if each.pass_mark is not None)
    texts = f"texts with {kind}"
    words = f"at your mark of {' or '.join(marks)}, {_divided(passing[kind], texts, 'pass', 'are stopped')}"
    if len(passing) > 1:
        means = [each.mean_passing for each in marked if each.mean_passing]
        least = fmean(low for low, _ in means)
        most = fmean(high for _, high in means)
        words += f" ({at_mark(least, most)} of all damaged texts)"
    failing = []
    for each in marked:
        if each.pass_mark is not None and each.pass_mark.fails is not None:
            failing.append(each.pass_mark.fails)
    if failing:
        words += f" and {_divided(failing, 'the good texts', 'fail', 'pass')}"
    return words


def _divided(shares: Sequence[PassShare], texts: str, here: str, beyond: str) -> str:
    """How texts divide at a mark: on this side, and if some got no score, on the other one and on none."""
    share = fmean(each.share for each in shares)
    rest = fmean(each.rest for each in shares)
    silent = fmean(each.no_score for each in shares)
    if not silent:
        return f"{percent(share)} of {texts} {here}"
    on_this_side = f"{percent(share) if share else 'none'} {here}"
    on_the_other = f"{percent(rest) if rest else 'none'} {beyond}"
    return f"of {texts} {on_this_side}, {on_the_other}, {percent(silent)} get no score"


def _on_blind(results: Sequence[Result]) -> str:
    """In how many sets no score moved, if not in all."""
    blind = [each for each in results if each.blind]
    return f" in {len(blind)} of {len(results)} sets" if len(blind) < len(results) else ""


def _about_probes(results: Sequence[Result]) -> list[Statement]:
    """The controls and attacks that failed, each with its figure, or of several sets with their number."""
    probes = list(chain.from_iterable(each.probes for each in results))
    parts = []
    for verdict in in_sentence("probe"):
        if not verdict.is_bad and not verdict.is_weak:
            continue
        hit: dict[str, list[VariantResult]] = {}
        for row in probes:
            if row.state is verdict:
                hit.setdefault(variant_name(row.variant), []).append(row)
        named = []
        for name, rows in hit.items():
            extent = _figure(rows[0]) if len(results) == 1 else f"{len(rows)} of {len(results)} sets"
            named.append(f"{name} ({extent})")
        if named:
            parts.append(Statement(verdict, verdict.phrase.format(listed(named))))
    return parts


def _figure(row: VariantResult) -> str:
    if row.state.is_weak and row.share is not None and row.beside is not None:
        return f"{percent(row.share)} of the drop by {variant_name(row.beside)}"
    return percent(row.detection)


def _of_doses(result: Result) -> list[Statement]:
    """`notices 7 typos [5 to 10] in 400 characters`, by T75 of each curve."""
    reached, not_reached, unknown = [], [], []
    for curve in result.curves:
        kind = kind_name(curve.perturber)
        if curve.t75 is None:
            unknown.append(kind)
        elif curve.t75.value is None:
            not_reached.append(f"{curve.doses[-1]} {kind}{_interval(curve.t75, curve.doses)}")
        elif curve.t75.value == 0:  # already the smallest dose is detected more often than in 75 %
            reached.append(f"{kind} from {curve.doses[0]} on")
        else:
            # A dose is a whole number: rounded up, as a smaller one is detected less often than in 75 %.
            dose = math.ceil(curve.t75.value)
            reached.append(f"{dose} {kind}{_interval(curve.t75, curve.doses)}")
    lengths = {curve.characters for curve in result.curves}
    # Only if all perturbers worked on texts of one length does it hold for every dose that is named.
    length = lengths.pop() if len(lengths) == 1 else None
    where = "" if length is None else f" in {length} characters"

    parts = _about_reading([result])
    if reached:
        parts.append(Statement(NOTICED, f"notices {listed(reached)}{where}"))
    if not_reached:
        words = f"T75 not reached with {listed(not_reached)}"
        parts.append(Statement(MISSED, words if reached else f"{words}{where}"))
    if unknown:
        parts.append(Statement(UNDECIDED, f"no T75 of {listed(unknown)}"))
    return [*parts, *_about_probes([result])]


def _interval(t75: DoseThreshold, doses: Sequence[int]) -> str:
    return dose_interval(t75, doses, lambda dose: str(math.ceil(dose)))
