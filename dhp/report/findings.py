"""Findings of results in sentences, shared by page, terminal and Markdown.

`sentences` gives one sentence for each judge over all its datasets. Its parts are `Statement`s, in this
order: how much it could be read, what passes at a mark, the kinds of damage by verdict, whether its reasons
name them, and the controls and attacks that failed. A kind has the worst of its verdicts over degrees and
sets, with where that holds: `misses typos (2 of 6 sets)`. For runs with doses the sentence tells T75.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import fmean

from dhp.analysis.passing import PassShare
from dhp.analysis.reasons import Named, together
from dhp.analysis.results import FEWEST_PAIRS, MUTE_BELOW, DoseThreshold, Result, VariantResult
from dhp.analysis.unread import REMEDIES
from dhp.content.catalog import kind_name, variant_name
from dhp.core.rating_forms import ONE_ORDER
from dhp.core.records import parse_variant
from dhp.core.verdicts import (
    BLIND,
    MISSED,
    MUTE,
    NOT_NOTICED_SO_FAR,
    NOT_PROVEN_YET,
    NOTICED,
    UNDECIDED,
    Verdict,
    foremost,
    in_sentence,
)
from dhp.report.certainty_words import asking_sentence, certainty_sentence
from dhp.report.labels import at_mark, dose_interval, listed, percent, percents, shortened

_NAMED = 6
"""The most kinds of damage that a part of a sentence names."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A part of the sentence on a judge."""

    verdict: Verdict
    """The verdict or state that it tells."""
    text: str
    """Text of the statement, e.g. `misses grammatical errors (2 of 6 sets)`."""


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
    plain = by_judge(each for each in listed_results if not each.curves)
    shared = _shared(list(plain.values())) if together else set()
    statements_of = {judge: _statements(each, without=shared) for judge, each in plain.items()}
    first = next(iter(plain.values()), [])
    return [
        *([Sentence("every judge", tuple(_about_kinds(first, shared.__contains__)))] if shared else []),
        *(Sentence(judge, tuple(parts)) for judge, parts in statements_of.items() if parts),
        *(Sentence(f"{f.judge} on {f.dataset}", tuple(_of_doses(f))) for f in listed_results if f.curves),
    ]


def _shared(judges: Sequence[Sequence[Result]]) -> set[str]:
    """The kinds of damage of which the same is said of each judge; none where a judge left much unread.

    What it notices is then said beside how much it read.
    """
    if any(any(_about_reading(of)) for of in judges):
        return set()
    # Equal names are not enough: they say where a verdict holds, and the phrase which verdict it is.
    statements_of: list[set[tuple[str, str, str]]] = []
    for of in judges:
        statements = set()
        for _, phrase, names in _named_kinds(of):
            statements |= {(phrase, kind, name) for kind, name in names.items()}
        statements_of.append(statements)
    return {kind for _, kind, _ in set.intersection(*statements_of)} if statements_of else set()


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
    low, high = row.detection_ci or (0.5, 0.5)
    plain = word.untested or (word.is_good and low <= 0.5 <= high)
    return word if plain else f"{word} {percent(row.detection)}"


def cost(row: VariantResult) -> str:
    """What a control or attack changes, as a share of what damage changes; empty without such damage."""
    if row.share is None or row.beside is None:
        return ""
    return f"{percent(row.share)} of {variant_name(row.beside)}"


def _statements(results: Sequence[Result], without: Collection[str] = ()) -> list[Statement]:
    """What is said of a judge, but of the kinds `without`."""
    if all(each.too_few for each in results):
        return [Statement(UNDECIDED, f"needs {FEWEST_PAIRS} examples or more for a verdict")]
    judged = [each for each in results if not each.too_few]
    # What was not read is a tie, so every figure below depends on it: it is said first.
    reading = [*_about_reading(judged), *_about_orders(judged), *_about_clusters(judged)]
    if all(each.silent for each in judged):
        return reading
    marked = _at_mark(judged)
    blind = [Statement(BLIND, BLIND.phrase.format(f"any text{_on_blind(judged)}"))]
    if all(each.blind for each in judged):  # that no score moved says all of every kind
        return [*reading, *marked, *blind]
    parts = _about_kinds(judged, lambda kind: kind not in without)
    every = [verdict for verdict, _, names in _named_kinds(judged) if names]
    if every and all(verdict.may_change for verdict in every):
        parts.insert(0, Statement(UNDECIDED, "notices no kind of damage reliably"))
    if any(each.blind for each in judged):
        parts = [*blind, *parts]
    parts = [*reading, *marked, *parts, *_about_reasons(judged), *_about_probes(judged)]
    return parts if parts or without else [Statement(UNDECIDED, "no kind of damage was judged")]


def _about_reasons(results: Sequence[Result]) -> Iterator[Statement]:
    """How much of the damage that it sees its reasons name."""
    named = list(chain.from_iterable(each.reasons.values() for each in results))
    if named:
        yield Statement(UNDECIDED, reasons_sentence(together(named)))


def reasons_sentence(named: Named) -> str:
    """`sees 86 % of damaged texts; its reason names the change in 61 % of these (by chance 3 %)`."""
    words = f"sees {percent(named.seen / named.texts)} of damaged texts"
    if not named.seen:
        return words
    words += f"; its reason names the change in {percent(named.seen_named / named.seen)} of these"
    return words if named.by_chance is None else f"{words} (by chance {percent(named.by_chance)})"


TELL_BELOW = 0.95
"""Share of answers with a score below which the sentence on a judge begins with it."""


def _about_reading(results: Sequence[Result]) -> Iterator[Statement]:
    """How many of its answers have a score, why most others have none, and what would help."""
    known = [(each.read, each.answers) for each in results if each.read is not None]
    mute = [each for each in results if each.mute]
    total = sum(answers for _, answers in known)
    share = sum(read * answers for read, answers in known) / max(total, 1)
    if not known or (share >= TELL_BELOW and not mute):
        return
    answer = "verdict" if all(each.statistics == "sign-flip" for each in results) else "score"
    words = f"gave a {answer} in {percent(share)} of its answers{_silent_side(results)}"
    causes = Counter[str]()
    for each in results:
        causes.update(each.unread)
    # The commonest cause that something helps against; a reader can do nothing about the others.
    cause = next((cause for cause, _ in causes.most_common() if cause in REMEDIES), None)
    if cause is not None:
        words += (
            f" ({'most others: ' if len(causes) > 1 else 'others: '}{cause}; {REMEDIES[cause]} would help)"
        )
    if not mute:
        yield Statement(UNDECIDED, words)
        return
    where = f", mute on {len(mute)} of {len(results)} sets" if len(mute) < len(results) else ""
    yield Statement(MUTE, MUTE.phrase.format(f"{words}{where}"))


def _silent_side(results: Sequence[Result]) -> str:
    """The texts on which a judge is mute though it is not on all of them together."""
    originals = [each.read_originals for each in results if each.read_originals is not None]
    damaged = [each.read_damaged for each in results if each.read_damaged is not None]
    if not originals or not damaged:
        return ""
    means = {
        "originals": sum(originals) / len(originals),
        "damaged texts": sum(damaged) / len(damaged),
    }
    side = min(means, key=lambda name: means[name])
    mute_on_one = means[side] < MUTE_BELOW <= max(means.values())
    return f", in {percent(means[side])} of those about {side}" if mute_on_one else ""


def _about_orders(results: Sequence[Result]) -> Iterator[Statement]:
    """That comparisons were asked in one order only."""
    for each in results:
        if ONE_ORDER in each.rules:
            figures = f"{percent(each.detection.avg)} [{percents(each.detection.ci['avg'])}]"
            yield Statement(UNDECIDED, f"one order only: {figures}; the order is not controlled")


def _about_clusters(results: Sequence[Result]) -> Iterator[Statement]:
    """Why nothing can be decided where all examples belong together."""
    if any(each.clusters == 1 for each in results):
        words = "all examples are of one cluster, so that nothing can be decided: tests compare clusters"
        yield Statement(UNDECIDED, words)


def _about_kinds(results: Sequence[Result], wanted: Callable[[str], bool]) -> list[Statement]:
    """What is said of the kinds of damage that are wanted."""
    named = list(_named_kinds(results))
    total = sum(len(names) for _, _, names in named)
    judged = [each for each in results if not each.too_few]
    every = chain.from_iterable(each.variants for each in judged)
    words = [row.state for row in every]
    parts = []
    for verdict, phrase, names in named:
        shown = [name for kind, name in names.items() if wanted(kind)]
        everywhere = not any(name.endswith(")") for name in shown)  # brackets say where a verdict holds
        if len(shown) == total > _NAMED and everywhere:
            alike = sum(verdict.is_said_with(word) for word in words)
            most = "" if alike == len(words) else f" ({alike} of {len(words)})"
            parts.append(Statement(verdict, phrase.format(f"all {total} kinds of damage{most}")))
        elif shown:
            parts.append(Statement(verdict, phrase.format(shortened(shown, _NAMED))))
    return parts


def _named_kinds(results: Sequence[Result]) -> Iterator[tuple[Verdict, str, Mapping[str, str]]]:
    """Verdict and phrase, and kind of damage -> its name with where the verdict holds."""
    judged = [each for each in results if not each.too_few]
    if all(each.blind or each.silent for each in judged):
        return
    kinds: dict[str, dict[str, list[VariantResult]]] = {}
    for each in judged:
        for row in each.variants:
            kinds.setdefault(kind_name(row.variant), {}).setdefault(each.dataset, []).append(row)
    for verdict, phrase, of_word in _by_phrase(kinds, max(each.floor for each in judged)):
        yield verdict, phrase, {kind: f"{kind}{_extent(verdict, rows)}" for kind, rows in of_word.items()}


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
    kind = max(passing, key=lambda name: fmean(share.most for share in passing[name]))
    # Metrics of several sets may have other scales, and so other marks.
    marks = " or ".join(dict.fromkeys(each.pass_mark.mark for each in marked if each.pass_mark))
    words = f"at your mark of {marks}, {_divided(passing[kind], f'texts with {kind}', 'pass', 'are stopped')}"
    if len(passing) > 1:
        means = [each.mean_passing for each in marked if each.mean_passing]
        least = fmean(low for low, _ in means)
        most = fmean(high for _, high in means)
        words += f" ({at_mark(least, most)} of all damaged texts)"
    failing = [each.pass_mark.fails for each in marked if each.pass_mark and each.pass_mark.fails]
    if failing:
        words += f" and {_divided(failing, 'the good texts', 'fail', 'pass')}"
    further = [words]
    if len(marked) == 1 and marked[0].certainty is not None:
        further.append(certainty_sentence(marked[0].certainty))
    asking = marked[0].asking if len(marked) == 1 else None
    if asking is not None and asking.of_all[0].passing > 0:
        further.append(asking_sentence(asking))
    return [Statement(UNDECIDED, each) for each in further]


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


_Kinds = Mapping[str, Mapping[str, Sequence[VariantResult]]]


def _by_phrase(kinds: _Kinds, floor: float) -> Iterator[tuple[Verdict, str, _Kinds]]:
    """The kinds of each verdict in the order of the sentence, with its phrase.

    What is undecided has two: by whether its figure lies below the floor.
    """
    verdicts: dict[str, Verdict] = {}
    for kind, of_kind in kinds.items():
        verdicts[kind] = foremost(row.state for row in _joined(of_kind))
    for verdict in in_sentence("damage"):
        of_word = {kind: rows for kind, rows in kinds.items() if verdicts[kind] is verdict}
        if not verdict.is_open:
            yield verdict, verdict.phrase, of_word
            continue

        below = {kind: rows for kind, rows in of_word.items() if _open_below(rows, floor)}
        yield verdict, NOT_PROVEN_YET, {k: rows for k, rows in of_word.items() if k not in below}
        yield verdict, NOT_NOTICED_SO_FAR, below


def _open_below(rows: Mapping[str, Sequence[VariantResult]], floor: float) -> bool:
    """Whether what is undecided of a kind lies below the floor, on average."""
    known = [row.detection for row in _joined(rows) if row.state.is_open and row.detection is not None]
    return not known or sum(known) / len(known) < floor


def _joined(rows: Mapping[str, Sequence[VariantResult]]) -> list[VariantResult]:
    """The rows of a kind on all sets."""
    return list(chain.from_iterable(rows.values()))


def _on_blind(results: Sequence[Result]) -> str:
    """In how many sets no score moved, if not in all."""
    count = sum(each.blind for each in results)
    return f" in {count} of {len(results)} sets" if count < len(results) else ""


def _extent(verdict: Verdict, rows: Mapping[str, Sequence[VariantResult]]) -> str:
    """Where not everywhere: in how many sets, or of a single set in which degree."""
    concerned: list[VariantResult] = []
    sets = 0
    for of in rows.values():
        of_set = [row for row in of if row.state.is_said_with(verdict)]
        concerned += of_set
        sets += bool(of_set)
    if sets < len(rows):
        return f" ({sets} of {len(rows)} sets)"
    degrees = {parse_variant(row.variant).degree for row in concerned}
    return f" ({degrees.pop()})" if len(degrees) == 1 and len(concerned) < len(_joined(rows)) else ""


def _about_probes(results: Sequence[Result]) -> list[Statement]:
    """The controls and attacks that failed, each with its figure, or of several sets with their number."""
    probes = list(chain.from_iterable(each.probes for each in results))
    parts = []
    for verdict in in_sentence("probe"):
        hit: dict[str, list[VariantResult]] = {}
        for row in probes:
            if row.state is verdict and (verdict.is_bad or verdict.is_weak):
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
    curves = result.curves
    known = [(kind_name(c.perturber), c.doses, c.t75) for c in curves if c.t75 is not None]
    seen = [_seen(kind, doses, t75) for kind, doses, t75 in known if t75.value is not None]
    unseen = [f"{doses[-1]} {kind}{_interval(t75, doses)}" for kind, doses, t75 in known if t75.value is None]
    unknown = [kind_name(c.perturber) for c in curves if c.t75 is None]
    lengths = {c.characters for c in curves}
    where = f" in {lengths.pop()} characters" if len(lengths) == 1 and None not in lengths else ""
    parts = [Statement(NOTICED, f"notices {listed(seen)}{where}")] if seen else []
    if unseen:
        parts.append(Statement(MISSED, f"T75 not reached with {listed(unseen)}{'' if seen else where}"))
    if unknown:
        parts.append(Statement(UNDECIDED, f"no T75 of {listed(unknown)}"))
    return [*_about_reading([result]), *parts, *_about_probes([result])]


def _seen(kind: str, doses: Sequence[int], t75: DoseThreshold) -> str:
    if not t75.value:
        return f"{kind} from {doses[0]} on"
    return f"{math.ceil(t75.value)} {kind}{_interval(t75, doses)}"


def _interval(t75: DoseThreshold, doses: Sequence[int]) -> str:
    return dose_interval(t75, doses, lambda dose: str(math.ceil(dose)))
