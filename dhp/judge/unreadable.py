"""Answers that cannot be read: how many, and what most likely helps.

`readable` lets ratings pass and stops a run whose first answers cannot be read. `remedy` goes through the
faults that answers may have, and names the setting that mends the first one that at least half of them have.
"""

import re
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import closing

from dhp.core.answer_forms import AnswerForm
from dhp.core.errors import Unreadable
from dhp.core.records import ORIGINAL, UNREAD, Rating
from dhp.core.shown import printable
from dhp.core.signature import protocol_name
from dhp.core.specs import Task
from dhp.judge.api import FIRST_ANSWERS, Judge
from dhp.judge.extraction.plain import UNKNOWN_MARK
from dhp.judge.extraction.probabilities import IMPOSSIBLE
from dhp.judge.pairs import PairVerdict

NO_ANSWER = "(reasoning, and no text that answers)"
"""`Rating.raw` of an answer that is thoughts alone."""
TOOL_CALL = "(a tool call, and no text that answers)"
"""`Rating.raw` of an answer that is a call of a tool."""
_LONGEST = 160
"""Characters of an answer that are shown. Chosen: two lines of a terminal."""
_FOR_REASONS = 500
"""Tokens of an answer with reasons. Chosen."""
_FOR_THOUGHTS = 4000
"""Tokens of an answer of a model that thinks before it answers. Chosen."""
_PAIRS = (
    ("fail", "pass"),
    ("no", "yes"),
    ("false", "true"),
    ("incorrect", "correct"),
    ("bad", "good"),
    ("reject", "accept"),
    ("unsafe", "safe"),
    ("否", "是"),
    ("错误", "正确"),
)
"""Words that judges answer in place of numbers, the worse one first."""
_USUAL_TOPS = (1, 5, 7, 10, 100)
"""Upper ends that scales usually have."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
"""The first number of an answer off the scale: `8.5`, `-1`"""


def readable(
    ratings: Generator[Rating, None, None], judge: Judge, task: Task, where: str
) -> Generator[Rating, None, None]:
    """The ratings, as long as answers can be read: the first ones are checked once they are there.

    Raises `Unreadable` if fewer than half of a paid model's first answers have a score.
    """
    first: list[Rating] = []
    is_checked = False
    with closing(ratings):  # the exception would keep what asks alive, with its connections
        for rating in ratings:
            yield rating
            if judge.compare and rating.variant == ORIGINAL:
                continue  # it has its score unasked
            if is_checked:
                continue
            first.append(rating)
            if len(first) == FIRST_ANSWERS:
                _check_readable(judge, first, task, where)
                is_checked = True
    if not is_checked:
        _check_readable(judge, first, task, where)


def _check_readable(judge: Judge, ratings: Sequence[Rating], task: Task, where: str) -> None:
    """Raise `Unreadable` if fewer than half of the answers can be read; failed calls are no answers."""
    if judge.cached_model is None or judge.cached_model.context.keep_going or judge.waits:
        return
    answers = [r for r in ratings if r.status != "failed"]
    read = len([r for r in answers if r.status == "scored"])
    if 2 * read >= len(answers):
        return
    name = f"{judge.model} ({protocol_name(judge.protocol)})"
    raise Unreadable(
        f"{name} on {where}: stopped, as {read or 'none'} of the first {len(answers)} answers can be read: "
        f"{judge.remedy(answers, task)}; `keep_going` asks for the rest anyway"
    )


def is_unreadable(rating: Rating | PairVerdict) -> bool:
    """Whether there was an answer, and no score in it."""
    return rating.status in UNREAD


def reasons(ratings: Sequence[Rating], cut_off: int) -> str:
    """The counts of answers without a score by status, e.g. `40 unparsed, 38 of them cut off`."""
    counts = Counter(r.status.replace("_", " ") for r in ratings if is_unreadable(r))
    counted = ", ".join(f"{n} {status}" for status, n in counts.most_common())
    return f"{counted}, {cut_off} of the answers cut off at the limit" if cut_off else counted


def sample_answer(ratings: Sequence[Rating]) -> str:
    """One answer that cannot be read, in quotation marks, shortened in its middle."""
    answers = [r.raw for r in ratings if is_unreadable(r) and r.raw]
    raw = answers[0] if answers else "(an empty answer)"
    text = " ".join(printable(raw).split())
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"
    return f'"{text}"'


def remedy(
    ratings: Sequence[Rating],
    task: Task,
    *,
    tokens: int,
    cut_off: int,
    prompt_files: bool,
    compare: bool = False,
    answer: AnswerForm = "free-text",
) -> str:
    """What most likely makes such answers readable; parameters are named as the library has them.

    `cut_off` is how many answers without a score ended at `tokens`, the most that an answer may have;
    `prompt_files` whether the prompt is the user's own; `compare` whether the judge compares two texts;
    `answer` the form that was asked for.
    """
    unread = [r for r in ratings if is_unreadable(r)]
    answers = [r.raw or "" for r in unread]
    half = len(unread) / 2  # a fault that most answers have is the one to mend first
    if cut_off >= half:
        why = "the model thinks before it answers" if _thinks(answers) else "they need more room"
        return f"cut at {tokens} tokens, {why}: `max_tokens` {enough_tokens(ratings, tokens)}"
    advice = _of_the_server(unread, answers)
    if advice:
        return advice
    if compare:
        return "an answer that the model can keep to, e.g. `answer` reason-first, or `max_tokens` 500"

    # Answers that are there, and say no rating on the scale.
    impossible = _rules(unread, IMPOSSIBLE)
    if len(impossible) >= half:
        return f"the server gives {impossible[0]}: `extraction` parse reads the text"
    off = [r for r in unread if r.status == "out_of_scale"]
    if off and len(off) >= half:
        advice = _off_the_scale(off, task, prompt_files)
        if advice:
            return advice
    words = _words(answers)
    if words:
        how = f"`labels` {words}" if prompt_files else f"a prompt of your own with `labels` {words}"
        return f"the answers are words: {how}"
    if len([r for r in unread if r.status == "refused"]) >= half:
        return "the model refuses: another prompt or `persona`, or another model"
    return _of_the_prompt(answers, task, prompt_files, answer)


def _of_the_server(unread: Sequence[Rating], answers: Sequence[str]) -> str:
    """What the server or the model makes of answers that are none; empty for answers in words."""
    half = len(unread) / 2
    if _count(answers, NO_ANSWER) >= half:
        return (
            'the whole answer comes as reasoning: `body` chat_template_kwargs={"enable_thinking":false} '
            "turns thinking off, or serve the model with its own reasoning parser, or without one"
        )
    marks = _rules(unread, UNKNOWN_MARK)
    if len(marks) >= half:
        return (
            f'{marks[0]}: `body` chat_template_kwargs={{"enable_thinking":false}} turns thinking off, or '
            "serve the model with its own reasoning parser"
        )
    if _count(answers, TOOL_CALL) >= half:
        return "the model calls tools: `body` tool_choice=none forbids it, or serve it without tools"
    return ""


def _of_the_prompt(answers: Sequence[str], task: Task, prompt_files: bool, answer: AnswerForm) -> str:
    """What another prompt or form of answer helps, if nothing more is known of the answers."""
    half = len(answers) / 2
    with_json = len([text for text in answers if "{" in text and '":' in text])
    if answer == "json" and with_json < half:
        each = "" if len(task.metrics) == 1 else ", with a prompt for each metric"
        return f"the answers are no JSON: `answer` free-text reads a rating in words{each}"
    if prompt_files and answer != "json" and with_json >= half:
        keys = ", ".join(task.metric_names)
        return f"the answers are JSON: `answer` json, with the metrics as keys ({keys})"
    if prompt_files:
        return 'let the prompt ask for a last line such as "Rating: N", or for the number alone'
    return "a protocol whose answer the model can keep to, e.g. `protocol` rate-explain, or `max_tokens` 500"


def enough_tokens(ratings: Sequence[Rating | PairVerdict], tokens: int) -> int:
    """The tokens that answers like these most likely need, if `tokens` were not enough."""
    thinks = _thinks([r.raw or "" for r in ratings if is_unreadable(r)])
    if tokens < _FOR_REASONS and not thinks:
        return _FOR_REASONS
    return _FOR_THOUGHTS if tokens < _FOR_THOUGHTS else 4 * tokens


def _count(answers: Sequence[str], words: str) -> int:
    """How many answers hold these words."""
    return len([answer for answer in answers if words in answer])


def _rules(ratings: Sequence[Rating], beginning: str) -> list[str]:
    """The rules, or reasons, of ratings that begin so."""
    return [r.rule for r in ratings if r.rule and r.rule.startswith(beginning)]


def _thinks(answers: Sequence[str]) -> bool:
    """Whether an answer has thoughts in it, or nothing else was written within the limit."""
    return any(not a or "(no text" in a or "<think" in a for a in answers)


def _off_the_scale(off: Sequence[Rating], task: Task, prompt_files: bool) -> str:
    """What is said of answers off the scale; empty if none begins with a number outside it."""
    scales = {m.name: m.scale for m in task.metrics}
    scale = scales[off[0].metric]
    numbers: set[float] = set()
    for rating in off:
        match = _NUMBER.search(rating.raw or "")
        if match is not None:
            numbers.add(float(match[0]))
    outside = sorted(n for n in numbers if not scale.min <= n <= scale.max)
    if not outside:
        return ""
    shown = " and ".join(f"{n:g}" for n in outside[:2])
    wide_enough = [top for top in _USUAL_TOPS if top >= max(*outside, scale.max)]
    high = wide_enough[0] if wide_enough else max(outside)
    low = min(scale.min, *outside)
    wider = f"`scale` {low:g}..{high:g}"
    if not prompt_files:
        wider = f"a prompt of your own with {wider}, or `answer` da, which asks for 0 to 100"
    return f"{shown} lie outside {scale.min:g}-{scale.max:g}: {wider}"


def _words(answers: Sequence[str]) -> str:
    """The labels, worst first, that at least half of the answers hold; empty for words that are not known."""
    for worse, better in _PAIRS:
        bounded = re.compile(rf"(?<![a-z])(?:{worse}|{better})(?![a-z])", re.I)
        holding = [answer for answer in answers if bounded.search(answer[-200:])]  # verdicts come last
        if answers and 2 * len(holding) >= len(answers):
            return f"{worse},{better}"
    return ""
