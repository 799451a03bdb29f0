"""A pairwise verdict read from the place of an answer where its form puts it.

`read_verdict` looks at the JSON of an answer, else at what its sentences and brackets say (`_statements`) and
at an option that stands alone where the form puts it (`_alone`). Verdicts behind labels and in brackets go
before those of sentences (`_places`). With the form `two-scores` the scores decide (`two_scores`), and of
probabilities the likelier letter (`read_letter`).
"""

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
"""The scale of scores with the form `two-scores`, unless one is given: that of the protocol `battle`."""
_KEYS = frozenset(
    "verdict winner better best choice preferred preference answer decision result selection judgement"
    " judgment label output".split()
)
"""Words of keys that hold a verdict."""


def _names() -> tuple[str, ...]:
    """Keys of two words that hold a verdict: `better_response`, `winning_text`."""
    names: list[str] = []
    for how in "better best preferred winning chosen".split():
        for text in "response answer summary text assistant option model output".split():
            names.append(f"{how} {text}")
    return tuple(names)


_NAMES = _names()


class _Verdict(NamedTuple):
    """A verdict that an answer gives, and its place."""

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
"""The beginning of a statement about the other one: `The loser is`, `Second best: `"""
_RATING = re.compile(
    r"\b(?:ratings?|rated?|scores?|scored|grades?|marks?|points?)\b(?P<of> (?:of|for)\b)?", re.I
)
"""A word of ratings: `Score of A`, `Rating: 1`"""
_STRICT = ("bracketed", "labelled")
"""Rules of verdicts that go before those of sentences."""


def _statements(words: str) -> Iterator[_Verdict]:
    """The verdicts that sentences give, by their words or in brackets."""
    for statement in statements(words, VERDICTS):
        rates = _RATING.search(words, statement.start, statement.value_start)
        named = words[statement.value_start : statement.value_end].strip("()[]\"'*_ ")
        if rates and (rates["of"] or named in ("1", "2")):
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


_BRACKETS = re.compile(rf"\[\[ ?{OPTION.pattern} ?\]\](?=[ .!)*]*(?:\n|\Z))", re.I)
"""`[[A]]` at the end of a line."""
_BEFORE_BRACKETS = re.compile(
    rf"\b(?:not|never|instead|than|if|could|would|might|first|initial\w*)\b|n't\b|{SAYS}", re.I
)
"""Words before brackets by which they are no verdict: `The text says [[A]]`, `rather than [[B]]`"""


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
"""What may close an answer that is an option alone: `A.`, `(A)**`"""


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

    # Verdicts in brackets or behind labels, with what is said behind the last of them.
    strict = [v for v in stated if v.rule in _STRICT]
    if strict:
        yield from strict
        end = strict[-1].end
        later = [v for v in stated if v.end >= end]
        for start in (line, sentence):
            alone = _alone(words, start, strict=True) if start >= end else None
            if alone is not None and alone.end >= end:
                yield alone
        yield from later
        return

    # An option alone where the form puts it, else all that sentences say.
    if form == "reason-first":
        alone = _alone(words, line, strict=True) or _alone(words, sentence, strict=True)
        if alone is None and line == 0:  # in one line the verdict may come first after all
            alone = _alone(words, 0, strict=False)
    else:
        alone = _alone(words, 0, strict=False)
    if alone is not None:
        yield alone
        return
    better = [v for v in stated if v.rule != "worse"]  # that one is worse counts if nothing else does
    yield from better or stated


def read_letter(answer: str, positions: Sequence[Position], *, ties: bool) -> Extracted:
    """The likelier letter, if an answer is one letter.

    C counts with `ties` alone. The probabilities of A and B are renormalised over the letters; without any
    the verdict says why.
    """
    masses = letter_masses(positions, 3 if ties else 2)
    if masses is None:
        refused = read_verdict(answer, "bare").status == "refused"
        return Extracted("refused") if refused else UNPARSED
    if isinstance(masses, str):
        return Extracted("unparsed", rule=masses)
    total = sum(masses)
    first, second = masses[0] / total, masses[1] / total
    tie = masses[2] / total if ties else 0.0
    if first == second or tie >= max(first, second):
        choice_of_letter = 0.0
    else:
        choice_of_letter = 1.0 if first > second else -1.0
    return Extracted("scored", choice_of_letter, "prob", scores=(first, second))
