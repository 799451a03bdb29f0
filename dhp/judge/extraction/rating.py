"""A rating read from the place of an answer where its form puts it.

`read_rating` looks in this order: at the JSON of the answer; at what its sentences state (`clauses`) and the
values that stand alone; at a yes or no that the question defines. All that it finds must agree (`chosen`),
and nothing behind it may take it back (`taken_back`). Only then it is looked at whether the scale is right.
"""

import functools
import re
from collections.abc import Mapping, Sequence

from dhp.core.answer_forms import FORMS, AnswerForm, answer_scale
from dhp.core.records import Rating
from dhp.core.refusals import holds_refusal
from dhp.core.specs import Metric, Scale
from dhp.judge.api import rescale
from dhp.judge.extraction import objects
from dhp.judge.extraction.behind import stop_of
from dhp.judge.extraction.clauses import bare, names_another_scale, statements
from dhp.judge.extraction.extracted import UNPARSED, Extracted
from dhp.judge.extraction.grammar import (
    FINAL,
    LABELLED,
    NAMED,
    RESULT,
    SENTENCE_END,
    STATED,
    Grammar,
    Statement,
    distinct,
    last_sentence,
)
from dhp.judge.extraction.labels import read_label
from dhp.judge.extraction.plain import plain, readable
from dhp.judge.extraction.taken_back import goes_on
from dhp.judge.extraction.values import LETTER, NUMBER, SIGNED_NUMBER, letter_reader, number_reader
from dhp.judge.extraction.words import any_of, words_of
from dhp.judge.extraction.yes_no import read_yes_no


def metric_rating(
    read: Extracted, metric: Metric, form: AnswerForm, place: tuple[str, str, int], raw: str | None
) -> Rating:
    """The rating by what was read from an answer: on the metric's scale, higher for better.

    `place` is (example, variant, sample).
    """
    score, scale = read.score, metric.scale
    assert read.status != "contradictory", "as one text is rated"
    if score is not None:
        score = rescale(score, answer_scale(form, scale), scale)
        if metric.lower_is_better:  # rounding may lead beyond the scale
            score = min(max(scale.min + scale.max - score, scale.min), scale.max)
    probabilities = read.probabilities
    if probabilities is not None and metric.lower_is_better:
        probabilities = probabilities[::-1]
    example, variant, sample = place
    return Rating(
        example,
        variant,
        metric.name,
        sample,
        score,
        read.status,
        raw=read.words or raw,
        rule=read.rule,
        missing_mass=read.missing_mass,
        probabilities=probabilities,
    )


def read_answer(text: str, metric: Metric, form: AnswerForm, *, cut_off: bool = False) -> Extracted:
    """What an answer says of a metric, by its labels if it has some, on the answer's own scale.

    The form is never `mix`; for `cut_off` see `read_rating`.
    """
    if metric.labels:
        return read_label(text, metric.labels, cut_off=cut_off)
    asked = f"{metric.question}\n{metric.definition}"
    names = tuple(dict.fromkeys((metric.name.replace("_", " ").lower(), metric.label.lower())))
    scale = answer_scale(form, metric.scale)
    return read_rating(text, scale, form, cut_off=cut_off, asked=asked, names=names)


def read_rating(
    text: str,
    scale: Scale,
    form: AnswerForm,
    *,
    cut_off: bool = False,
    asked: str = "",
    names: tuple[str, ...] = (),
) -> Extracted:
    """The rating in an answer.

    It is read only where the form puts it: at the beginning, in `analyze-rate` at the end, elsewhere behind a
    label with which a line or sentence begins. An answer with two different ratings there is unparsed. Never
    raises, and never turns a failure into a score. Of more than 40,000 characters the middle is not looked
    at. The form is never `mix`; in `letters` the lowest point of the scale is A. If the answer was cut off at
    the token limit, a number that may go on, or that comes before the rating asked for, does not count.
    `asked` is the question, which may say what Yes and No stand for: `1 (no) to 3 (yes)`. `names` are what
    the criterion is called; without any, the name of any known criterion counts.
    """
    is_short = len(text) <= 64  # chosen: long answers hardly ever come again
    read = _read_short if is_short else _read
    return read(text, scale, form, cut_off, asked, names)


def _read(
    text: str, scale: Scale, form: AnswerForm, cut_off: bool, asked: str, names: tuple[str, ...]
) -> Extracted:
    """See `read_rating`."""
    shown = readable(text)
    if isinstance(shown, Extracted):
        return shown
    if cut_off and form == "analyze-rate":
        return UNPARSED  # the rating would have come last
    grammar = _grammar(scale, form == "letters", names)

    # What JSON says and what the words say must agree; either may be alone.
    in_objects, words = _of_objects(shown, grammar)
    if isinstance(in_objects, Extracted):
        return in_objects
    in_words = chosen(words, grammar, form)
    if in_objects is not None and in_words is not None and in_objects.number != in_words.number:
        return UNPARSED
    statement = in_objects or in_words

    # Without a rating it may be a yes or no, or a refusal.
    if statement is None:
        end = read_yes_no(words, asked, scale)
        if end is not None:
            return Extracted("scored", end, "yes-no")
        return Extracted("refused") if holds_refusal(words) else UNPARSED

    # A rating that was found may be no score.
    if cut_off and statement.rule != "json" and _may_go_on(statement, words, text, form, scale):
        return UNPARSED
    if names_another_scale(words, grammar) or not scale.min <= statement.number <= scale.max:
        return Extracted("out_of_scale", rule=statement.rule)
    rule = "letter" if form == "letters" else statement.rule
    return Extracted("scored", statement.number, rule)


@functools.lru_cache(maxsize=64)
def _grammar(scale: Scale, letters: bool, names: tuple[str, ...]) -> Grammar:
    """How ratings on a scale are written, in numbers or in letters."""
    if letters:
        return Grammar(letter_reader(scale), stop_of, LETTER, names, scale.min, scale.max, chooses=True)
    begins = SIGNED_NUMBER if scale.min < 0 else NUMBER
    return Grammar(number_reader(scale), stop_of, begins, names, scale.min, scale.max)


_read_short = functools.lru_cache(maxsize=512)(_read)
"""Bare scores come again and again."""


def _of_objects(text: str, grammar: Grammar) -> tuple[Statement | Extracted | None, str]:
    """The rating in the JSON of an answer, unparsed if it holds several, and the words outside."""
    answers, words = objects.split(text, grammar.high)
    # As in words, the name of any known criterion counts if that of the metric is not given.
    known = () if grammar.names else tuple(words_of("criteria"))
    values: set[str] = set()
    for value in answers:
        values |= objects.of_rating(value, grammar.names, known=known)
    if not values:
        return None, words
    statement = bare(plain(values.pop()), 0, grammar)
    if values or statement is None:  # a second value, or none that can be read
        return UNPARSED, words
    return statement._replace(rule="json"), words


_STEP = re.compile(
    rf"\W{{0,6}}\d{{1,2}}(?:[.):、]| -) ?(?:(?:(?:where|when|if) [^.,\n]{{1,80}}, )?{any_of('steps')}"
    r"|[^.!\n]{1,200}\?)",
    re.I,
)
"""A step of the instructions, or a question: `1. Read the text.`, `2. Is it clear?`"""
_MARK = re.compile(r"[^\w+-]{0,6}(?P<mark>\d{1,2}|[A-Z])(?:[.):-](?=\s)|、| =(?= [A-Za-z])) *")
"""What may be the mark of a list, or the rating: `4. The summary ...`, `B) The summary ...`"""
_WHOLE = re.compile(r"\d+[ .!)]*")
"""The rest of a line that is a number alone, behind a mark: `2.` of `1. 2.`"""


def line_value(text: str, start: int, grammar: Grammar) -> Statement | None:
    """The value with which a line begins; None if it is the mark of a list, step or reference."""
    mark = _MARK.match(text, start)
    if mark is None or not text[mark.end() :].strip():  # `4`, `4.`
        return bare(text, start, grammar)
    line_end = text.find("\n", mark.end())
    if line_end < 0:
        line_end = mark.end() + 200  # of a very long last line the beginning is enough
    rest_of_line = text[mark.end() : line_end]
    if statements(rest_of_line, grammar):  # `1. Rating: 4`
        return None
    if text[mark.end() :].strip(" .").lower() in words_of("criteria").union(grammar.names):
        return None  # `1. Coherence`
    if _STEP.match(text, start) or _in_a_list(text, start, mark["mark"]):
        return None
    if _WHOLE.fullmatch(text, mark.end()):  # `1. 2`
        start = mark.end()
    return bare(text, start, grammar)


def _in_a_list(text: str, start: int, mark: str) -> bool:
    """Whether the mark before or after it begins another line or sentence."""
    if mark.isdigit():
        before, after = str(int(mark) - 1), str(int(mark) + 1)
    else:
        before, after = re.escape(chr(ord(mark) - 1)), re.escape(chr(ord(mark) + 1))
    # Marks of one list look alike: `2) ` below `1) `, `5 = good` behind `4 = fair`.
    later = re.compile(rf"(?:\n\W{{0,6}}|[.!?] |(?<=[a-z]) ){after}(?:[.):、]| =|-\s)")
    if later.search(text, start):
        return True
    earlier = re.compile(rf"(?:\A|\n|[.!?] )\W{{0,6}}{before}(?:[.):、]|-\s)")
    return earlier.search(text, 0, start) is not None


_PREAMBLE = re.compile(r"[^\n\d]{1,80}[.:!]?\n+")
"""A line without a number above the rating: `Here is my rating:`"""
_REST = re.compile(r"(?:です|とします|と評価します|입니다)?[ .!。)\"'*]*")
"""What may stand behind a value that is the whole line, `4 です。`"""
_IN_BRACKETS = re.compile(
    r"\W{0,6}(?:(?:[^\W\d_]+[.,]? ){1,2}|(?:The|This) [a-z]+ (?:is|does|has|was)\b[^\n\"“”\d.]{1,150})\("
    r"(?=[^()\n]{1,12}\)(?:[.!\n]|\s*\Z))|\W{0,6}no[,:] (?=\S{1,9}\Z)",
    re.I,
)
"""What leads to a value at the beginning and is no clause: `Somewhat (` or `The text is somewhat coherent (`
with `2).` behind it, `No, ` with `2`."""


def chosen(text: str, grammar: Grammar, form: AnswerForm) -> Statement | None:
    """The rating on which all that an answer says agrees; one that is marked as final decides."""
    # What counts: final ratings, else all that are stated; and the values that stand alone.
    every = statements(text, grammar)
    stated = [s for s in every if _counts(s, text, grammar, form)]
    finals = [s for s in stated if s.kind == FINAL]
    agreeing = [*(finals or stated), *_alone(text, grammar, form)]
    if not agreeing:
        agreeing = _weaker(every, text)
    if len(distinct(agreeing)) != 1:
        return None

    # They agree: the first names the rule, or in `analyze-rate` the last, where the rating belongs.
    worded = finals or stated or agreeing
    labelled = [s for s in worded if s.kind in (FINAL, LABELLED)] or worded  # a label names the rule first
    rating = labelled[-1] if form == "analyze-rate" else labelled[0]

    # Only what stands behind the last of them, or a repetition of them, can take it back.
    repeated = [s for s in every if s.number == rating.number]
    behind = max(s.value_end for s in [*agreeing, *repeated])
    return None if goes_on(text, behind, rating.number, grammar) else rating


def _counts(statement: Statement, text: str, grammar: Grammar, form: AnswerForm) -> bool:
    """Whether a statement is a rating wherever it stands."""
    if statement.kind == STATED and form == "letters":
        # Later in an answer a letter in a sentence may be that of an option that is only spoken of.
        return SENTENCE_END.search(text, 0, statement.start + 1) is None
    if statement.kind == NAMED:
        return bool(grammar.names)
    return statement.kind in (FINAL, LABELLED, STATED)


def _alone(text: str, grammar: Grammar, form: AnswerForm) -> list[Statement]:
    """The values without words where the form puts the rating, and one that is the whole last line."""
    # A value that is the whole last line, or sentence.
    whole = None
    for start in (text.rfind("\n") + 1, last_sentence(text)):
        ending = bare(text, start, grammar)
        if ending is not None and _REST.fullmatch(text, ending.value_end):
            whole = ending
            break

    # `Somewhat (2)`, or the value with which the answer, or what follows its first line, begins.
    in_brackets = _IN_BRACKETS.match(text)
    if whole is None and in_brackets is not None:
        whole = bare(text, in_brackets.end(), grammar)
    elif form != "analyze-rate":
        opening = line_value(text, 0, grammar)
        preamble = _PREAMBLE.match(text) if opening is None else None
        if preamble is not None:
            opening = line_value(text, preamble.end(), grammar)
        if opening is not None:
            return [opening] if whole is None else [opening, whole]
        if form not in ("free-text", "rate-explain"):
            return []
    return [] if whole is None else [whole]


def _weaker(every: Sequence[Statement], text: str) -> list[Statement]:
    """What counts if no rating is stated: the value of a criterion that the answer names, or a result."""
    named = [s for s in every if s.kind == NAMED]
    return named or [s for s in every if s.kind == RESULT and _at_its_end(s, text)]


_OTHER_LABEL = re.compile(r"^[^\n:=|]{1,40} ?[:=|] ?\d", re.M)
"""A line such as `Plot: 4`, beside which a result is one of several."""


def _at_its_end(statement: Statement, text: str) -> bool:
    """Whether a value begins or ends the answer, and no other line has a label."""
    if _OTHER_LABEL.search(text, 0, statement.start) or _OTHER_LABEL.search(text, statement.value_end):
        return False
    if _REST.fullmatch(text, statement.value_end):
        return True
    is_one_line = statement.start == 0 and "\n" not in text[statement.value_start :].strip()
    sign_before = text[: statement.value_start].rstrip(" \"'([")[-1:]
    return is_one_line and sign_before in ":=|-]】"


def _may_go_on(statement: Statement, words: str, text: str, form: AnswerForm, scale: Scale) -> bool:
    """Whether the number that ends a cut off answer may begin a longer one, or a sentence."""
    if words[statement.value_end :].strip(" .*") or text.endswith("\n"):
        return False  # something stands behind it
    if not FORMS[form].alone or statement.kind in (LABELLED, FINAL, NAMED) or statement.rule == "stated":
        return True
    if form == "letters":
        return False
    is_whole = statement.number.is_integer() and "." not in words  # a number behind a point may go on
    return not is_whole or _has_longer(statement.number, scale)


def _has_longer(value: float, scale: Scale) -> bool:
    """Whether a whole number of the scale begins with the digits of a whole one, as 85 with those of 8."""
    if value == 0:
        return False
    low, high = scale.min, scale.max
    if value < 0:
        low, high = -high, -low
    least = 10 * abs(value)  # of the numbers with one digit more
    return least <= high and least + 9 >= low


def read_object(text: str, metrics: Mapping[str, str]) -> dict[str, str] | None:
    """Metric -> what the JSON of an answer says about it, as text; None if it holds no such object.

    `metrics` has the name of each metric -> what it is called in prompts; either may be the key. Keys are
    compared without case, spaces, `_` and `-`; `<metric>_score` is that of the metric, and with one metric
    `score` is enough. If a metric has an object of its own, its `score`, `rating`, `value` and the like
    count. What two objects say differently is left out.
    """
    shown = readable(text)
    if isinstance(shown, Extracted):
        return None
    by_metric: dict[str, set[str]] = {}
    for value in objects.own_objects(shown):
        for name, rating in objects.of_metrics(value, metrics).items():
            by_metric.setdefault(name, set()).add(rating)

    agreed: dict[str, str] = {}
    for name, texts in by_metric.items():
        if len(texts) == 1:
            agreed[name] = texts.pop()
    return agreed or None
