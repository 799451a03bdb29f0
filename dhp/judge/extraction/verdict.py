"""A pairwise verdict read from the place of an answer where its form puts it."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dhp.core.answer_forms import AnswerForm
from dhp.core.refusals import holds_refusal
from dhp.core.specs import Scale
from dhp.judge.extraction import objects
from dhp.judge.extraction.clauses import bare, statements
from dhp.judge.extraction.extracted import UNPARSED, Extracted
from dhp.judge.extraction.grammar import BARE, FINAL, STATED, last_sentence
from dhp.judge.extraction.options import OPTION, VERDICTS, choice
from dhp.judge.extraction.plain import SAYS, plain, readable
from dhp.judge.extraction.probabilities import letter_masses
from dhp.judge.extraction.taken_back import goes_on
from dhp.judge.extraction.two_scores import of_two_scores
from dhp.llm.records import Position

TEN = Scale(min=1.0, max=10.0)
_KEYS = frozenset(
    "verdict winner better best choice preferred preference answer decision result selection judgement"
    " judgment label output".split()
)
_NAMES = tuple(
    f"{how} {text}"
    for how in "better best preferred winning chosen".split()
    for text in "response answer summary text assistant option model output".split()
)
"""Keys of two words that hold a verdict."""


class _Verdict(NamedTuple):
    """A verdict where an answer gives one."""

    choice: int
    rule: str
    end: int
    decides: bool = False
    """Whether it is marked as the last word."""


def read_verdict(answer: str, form: AnswerForm, *, scale: Scale = TEN) -> Extracted:
    """Which text an answer says is better: 1 the one shown first, -1 the second, 0 a tie. Never raises.

    The verdict stands in brackets, behind a label, or in a sentence of the judge's own; or alone: in
    `reason-first` in the last line, else at the beginning. A verdict that is marked as final decides; without
    one all verdicts must agree, or the answer is unparsed (`bare`: contradictory). `scale` is that of the
    scores in `two-scores`.
    """
    shown = readable(answer)
    if isinstance(shown, Extracted):
        return shown
    answers, words = objects.split(shown)
    if form == "two-scores":
        return of_two_scores(words, answers, scale)
    stated: list[_Verdict] = []
    for value in answers:
        for text in objects.of_rating(value, _NAMES, _KEYS):
            stated += _of_text(text)
    if not stated:
        stated = list(_places(words, form))
    deciding = [v for v in stated if v.decides] or stated
    if not deciding:
        return Extracted("refused") if holds_refusal(words) else UNPARSED
    if len({v.choice for v in deciding}) > 1:
        return Extracted("contradictory") if form == "bare" else UNPARSED
    last = max(v.end for v in deciding)
    if goes_on(words, last, float(deciding[0].choice), VERDICTS):
        return UNPARSED
    return Extracted("scored", float(deciding[0].choice), deciding[0].rule)


def _of_text(text: str) -> list[_Verdict]:
    """What the text of an object says: an option alone, or a sentence."""
    words = plain(text)
    alone = _alone(words, 0, strict=True)
    stated = [alone] if alone else list(_statements(words))[:1]
    return [v._replace(rule="json", end=0) for v in stated]


_LOSES = re.compile(
    r"[\W_]*(?:the )?(?:loser|runner-up|second best|worse|worst|weaker|inferior)(?: \w+)?[\"')\]]?(?: is|:)",
    re.I,
)


def _statements(words: str) -> Iterator[_Verdict]:
    """The verdicts that sentences give, by their words or in brackets."""
    for statement in statements(words, VERDICTS):
        rates = _RATING.search(words, statement.start, statement.value_start)
        named = words[statement.value_start : statement.value_end].strip("()[]\"'*_ ")
        if rates and (rates["of"] or named in "12"):
            continue  # a rating of one text, and no choice between two
        rule = statement.rule
        if words.endswith(("[[", "[[ "), 0, statement.value_start):
            rule = "bracketed"
        elif statement.number == 0 and statement.kind == STATED:
            rule = "tie"
        chosen = int(statement.number)
        if _LOSES.match(words, statement.start, statement.value_start):
            chosen = -chosen
        decides = statement.kind == FINAL and rule not in _STRICT
        yield _Verdict(chosen, rule, statement.value_end, decides)
    yield from _brackets_at_end(words)


_RATING = re.compile(
    r"\b(?:ratings?|rated?|scores?|scored|grades?|marks?|points?)\b(?P<of> (?:of|for)\b)?", re.I
)
_STRICT = ("bracketed", "labelled")
_BRACKETS = re.compile(rf"\[\[ ?{OPTION.pattern} ?\]\](?=[ .!)*]*(?:\n|\Z))", re.I)
_BEFORE_BRACKETS = re.compile(
    rf"\b(?:not|never|instead|than|if|could|would|might|first|initial\w*)\b|n't\b|{SAYS}", re.I
)


def _brackets_at_end(words: str) -> Iterator[_Verdict]:
    """`... [[A]]` at the end of a line that says nothing of somebody else."""
    for match in _BRACKETS.finditer(words):
        line = words.rfind("\n", 0, match.start()) + 1
        before = words[max(line, match.start() - 300) : match.start()]
        named = choice(match)
        if named is None or not before.strip() or "[[" in before or _BEFORE_BRACKETS.search(before):
            continue
        yield _Verdict(named, "bracketed", match.end())


_PLACE = re.compile(r"\W*\d[.)] ")
"""The mark of a place in a ranking: `2. A`"""
_REST = re.compile(r"[\s.!)\"'\]*]{0,8}")


def _alone(words: str, start: int, *, strict: bool) -> _Verdict | None:
    """The option that stands alone in a line, or opens it; `strict` that nothing else may be in it."""
    line = words.rfind("\n", 0, start) + 1
    stated = None if _PLACE.match(words, line) else bare(words, start, VERDICTS)
    if stated is None or stated.rule not in (BARE, "tie"):
        return None
    if strict and not _REST.fullmatch(words, stated.value_end):
        return None
    return _Verdict(int(stated.number), "alone", stated.value_end)


def _places(words: str, form: AnswerForm) -> Iterator[_Verdict]:
    """The verdicts that count: those in brackets or behind labels, else the sentences or line of the form."""
    stated = list(_statements(words))
    line, sentence = words.rfind("\n") + 1, last_sentence(words)
    strict = [v for v in stated if v.rule in _STRICT]
    if strict:
        yield from strict
        end = strict[-1].end
        last = [_alone(words, start, strict=True) for start in (line, sentence) if start >= end]
        yield from (v for v in [*last, *stated] if v is not None and v.end >= end)
        return
    better = [v for v in stated if v.rule != "worse"] or stated
    if form == "reason-first":
        alone = _alone(words, line, strict=True) or _alone(words, sentence, strict=True)
        alone = alone or (_alone(words, 0, strict=False) if line == 0 else None)
    else:
        alone = _alone(words, 0, strict=False)
    yield from [alone] if alone else better


def read_letter(answer: str, positions: Sequence[Position], *, ties: bool) -> Extracted:
    """The likelier letter where an answer that is one letter gives it.

    C counts with `ties` alone. The probabilities of A and B are renormalised over the letters; without any
    the verdict says why.
    """
    masses = letter_masses(positions, 3 if ties else 2)
    if masses is None:
        refused = read_verdict(answer, "bare").status == "refused"
        return Extracted("refused") if refused else UNPARSED
    if isinstance(masses, str):
        return Extracted("unparsed", rule=masses)
    first, second, *neither = (mass / sum(masses) for mass in masses)
    tie = max(neither, default=0.0) >= max(first, second)
    better = float((first > second) - (first < second))
    return Extracted("scored", 0.0 if tie else better, "prob", scores=(first, second))
