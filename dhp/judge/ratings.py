"""Ratings of a judge: checked, stopped where they cannot be read, and as a table."""

import contextlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING

from dhp.core.errors import InputError, Unreadable, Waiting, one_of, unquoted
from dhp.core.progress import Progress
from dhp.core.records import ORIGINAL, RATING_STATUSES, Candidate, Rating, grouped
from dhp.core.signature import protocol_name
from dhp.core.specs import Task
from dhp.core.text import printable
from dhp.judge.api import FIRST, Judge
from dhp.judge.extraction.probabilities import IMPOSSIBLE
from dhp.llm.estimate import Estimate, estimate_requests
from dhp.llm.records import Request

if TYPE_CHECKING:
    import pandas as pd


def checked_ratings(judge: Judge, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
    """The ratings of a judge, each as what it really is; what was left unrated follows as failed.

    A score off its metric's scale becomes `out_of_scale`. A rating of something that it was not given, a
    score that is not a finite number, or an unknown status raises `InputError` with judge and place: the
    judge is broken, and its other ratings cannot be trusted either.
    """
    check = _Check(judge.model, candidates, task)
    ratings: object = judge.rate(candidates, task)
    if not isinstance(ratings, Iterable):
        raise InputError(f"judge '{judge.model}': rate() returned {ratings!r}; must yield dhp.Rating")
    for rating in ratings:
        yield check.checked(rating)
    yield from check.unrated()


class _Check:
    """The texts and metrics that one judge was given, and the samples that it returned for each."""

    def __init__(self, model: str, candidates: Sequence[Candidate], task: Task) -> None:
        self._model = model
        self._scales = {metric.name: metric.scale for metric in task.metrics}
        self._samples: dict[tuple[str, str, str], set[int]] = {
            (c.example, c.variant, name): set() for c in candidates for name in self._scales
        }

    def checked(self, rating: object) -> Rating:
        if not isinstance(rating, Rating):
            kind = type(rating).__name__
            raise InputError(f"judge '{self._model}': yielded a {kind}; must yield dhp.Rating")
        key = (str(rating.example), str(rating.variant), str(rating.metric))
        samples, sample = self._samples.get(key), rating.sample
        if samples is None:
            place = self._place(rating)
            one_of("metric", key[2], self._scales, place)
            raise InputError(f"{place}: a rating of a text that the judge was not asked to rate")
        if isinstance(sample, bool) or not isinstance(sample, Integral):
            raise InputError(f"{self._place(rating)}: sample {sample!r} is not a whole number")
        if sample in samples:
            raise InputError(f"{self._place(rating)}, metric '{key[2]}': duplicate sample {sample}")
        samples.add(int(sample))
        raw = None if rating.raw is None else unquoted(str(rating.raw)).encode(errors="replace").decode()
        score, status = None, rating.status
        if status == "scored":
            number, scale = self._number(rating), self._scales[key[2]]
            if scale.min <= number <= scale.max:
                score = number
            else:
                status, raw = "out_of_scale", raw or f"{number:g}"
        elif status not in RATING_STATUSES:
            one_of("status", status, RATING_STATUSES, self._place(rating))
        return Rating(*key, int(sample), score, status, raw, rating.rule, rating.missing_mass)

    def _place(self, rating: Rating) -> str:
        return f"judge '{self._model}', example '{rating.example}', variant '{rating.variant}'"

    def _number(self, rating: Rating) -> float:
        """The score, a finite number."""
        score: object = rating.score
        if isinstance(score, Real) and not isinstance(score, bool):
            with contextlib.suppress(OverflowError):
                if math.isfinite(number := float(score)):
                    return number
        raise InputError(
            f"{self._place(rating)}: score {score!r} is not a number; without one, set a status that says why"
        )

    def unrated(self) -> Iterator[Rating]:
        """A failed rating for every text and metric without one."""
        for key, samples in self._samples.items():
            if not samples:
                yield Rating(*key, 0, None, "failed", "the judge gave no rating")


NO_ANSWER = "(reasoning, and no text that answers)"
TOOL_CALL = "(a tool call, and no text that answers)"
"""`Rating.raw` of such an answer."""
_LONGEST = 160
_TOKENS = (500, 4000)
"""Tokens of an answer: for reasons, and for a model that thinks before it answers."""
_PAIRS = (
    *("fail pass", "no yes", "false true", "incorrect correct", "bad good", "reject accept", "unsafe safe"),
    *("否 是", "错误 正确"),
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def readable(ratings: Iterable[Rating], judge: Judge, task: Task, where: str) -> Iterator[Rating]:
    """The ratings, as long as answers can be read: the first ones are checked once they are there.

    Raises `Unreadable` where fewer than half of a paid model's first answers have a score.
    """
    first: list[Rating] = []
    for rating in ratings:
        yield rating
        asked = not (judge.pairwise and rating.variant == ORIGINAL)  # which has its score without an answer
        if asked and len(first) < FIRST:
            first.append(rating)
            if len(first) == FIRST:
                _check_readable(judge, first, task, where)
    if len(first) < FIRST:
        _check_readable(judge, first, task, where)


def _check_readable(judge: Judge, ratings: Sequence[Rating], task: Task, where: str) -> None:
    """Raise `Unreadable` where fewer than half of the answers can be read; failed calls are no answers."""
    if judge.cached_model is None or judge.cached_model.context.keep_going:
        return
    answers = [r for r in ratings if r.status != "failed"]
    read = sum(r.status == "scored" for r in answers)
    if 2 * read >= len(answers):
        return
    name = f"{judge.model} ({protocol_name(judge.protocol)})"
    raise Unreadable(
        f"{name} on {where}: stopped, as {read or 'none'} of the first {len(answers)} answers can be read: "
        f"{judge.remedy(answers, task)}; `keep_going` asks for the rest anyway"
    )


def is_unreadable(rating: Rating) -> bool:
    """Whether there was an answer, and no score in it."""
    return rating.status in ("unparsed", "refused", "out_of_scale")


def reasons(ratings: Sequence[Rating], cut_off: int) -> str:
    """The counts of answers without a score by status, e.g. `40 unparsed, 38 of them cut off`."""
    counts = Counter(r.status.replace("_", " ") for r in ratings if is_unreadable(r))
    said = ", ".join(f"{n} {status}" for status, n in counts.most_common())
    return f"{said}, {cut_off} of the answers cut off at the limit" if cut_off else said


def sample_answer(ratings: Sequence[Rating]) -> str:
    """One answer that cannot be read, in quotation marks, shortened in its middle."""
    raw = next((r.raw for r in ratings if is_unreadable(r) and r.raw), "(an empty answer)")
    text = " ".join(printable(raw).split())
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"
    return f'"{text}"'


def remedy(ratings: Sequence[Rating], task: Task, *, tokens: int, cut_off: int, prompt_files: bool) -> str:
    """What most likely makes such answers readable; parameters are named as the library has them.

    `cut_off` is how many answers without a score ended at `tokens`, the most that an answer may have;
    `prompt_files` whether the prompt is the user's own.
    """
    unread = [r for r in ratings if is_unreadable(r)]
    answers = [r.raw or "" for r in unread]
    if 2 * cut_off >= len(unread):
        why = "the model thinks before it answers" if _thinks(answers) else "they need more room"
        return f"cut at {tokens} tokens, {why}: `max_tokens` {enough_tokens(ratings, tokens)}"
    if 2 * answers.count(NO_ANSWER) >= len(unread):
        return (
            'the whole answer comes as reasoning: `body` chat_template_kwargs={"enable_thinking":false} '
            "turns thinking off, or serve the model with its own reasoning parser, or without one"
        )
    if 2 * answers.count(TOOL_CALL) >= len(unread):
        return "the model calls tools: `body` tool_choice=none forbids it, or serve it without tools"
    impossible = [r.rule for r in unread if r.rule and r.rule.startswith(IMPOSSIBLE)]
    if 2 * len(impossible) >= len(unread):
        return f"the server gives {impossible[0]}: `extraction` parse reads the text"
    off = [r for r in unread if r.status == "out_of_scale"]
    if 2 * len(off) >= len(unread) and (said := _off_the_scale(off, task, prompt_files)):
        return said
    if words := _words(answers):
        how = f"`labels` {words}" if prompt_files else f"a prompt of your own with `labels` {words}"
        return f"the answers are words: {how}"
    if sum(r.status == "refused" for r in unread) * 2 >= len(unread):
        return "the model refuses: another prompt or `persona`, or another model"
    if prompt_files and sum("{" in a and '":' in a for a in answers) * 2 >= len(unread):
        keys = ", ".join(task.metric_names)
        return f"the answers are JSON: `answer` json, with the metrics as keys ({keys})"
    if prompt_files:
        return 'let the prompt ask for a last line such as "Rating: N", or for the number alone'
    return "a protocol whose answer the model can keep to, e.g. `protocol` rate-explain, or `max_tokens` 500"


def enough_tokens(ratings: Sequence[Rating], tokens: int) -> int:
    """The tokens that answers like these most likely need, of which `tokens` were not enough."""
    thinking = _thinks([r.raw or "" for r in ratings if is_unreadable(r)])
    return next((k for k in _TOKENS[thinking:] if k > tokens), 4 * tokens)


def _thinks(answers: Sequence[str]) -> bool:
    return any(not a or a.startswith("(no text") or "<think" in a for a in answers)


def _off_the_scale(off: Sequence[Rating], task: Task, prompt_files: bool) -> str:
    scales = {m.name: m.scale for m in task.metrics}
    scale = scales[off[0].metric]
    numbers = [float(n[0]) for r in off if (n := _NUMBER.search(r.raw or ""))]
    outside = sorted({n for n in numbers if not scale.min <= n <= scale.max})
    if not outside:
        return ""
    shown = " and ".join(f"{n:g}" for n in outside[:2])
    high = next((top for top in (1, 5, 7, 10, 100) if top >= max(*outside, scale.max)), max(outside))
    low = min(scale.min, *outside)
    wider = f"`scale` {low:g}..{high:g}"
    if not prompt_files:
        wider = f"a prompt of your own with {wider}, or `answer` da, which asks for 0 to 100"
    return f"{shown} lie outside {scale.min:g}-{scale.max:g}: {wider}"


def _words(answers: Sequence[str]) -> str:
    """The labels, worst first, that most answers hold; empty where they are none that are known."""
    for pair in _PAIRS:
        words = "|".join(map(re.escape, pair.split()))
        bounded = rf"(?<![a-z])(?:{words})(?![a-z])"
        if 2 * sum(bool(re.search(bounded, a[-200:], re.I)) for a in answers) >= len(answers) > 0:
            return pair.replace(" ", ",")
    return ""


COLUMNS = ["source", "system", "metric", "sample", "score", "status", "raw", "model", "protocol"]
PART_RATINGS = 100_000
"""Ratings that are in memory at a time, about."""


def texts_at_a_time(judge: Judge, task: Task) -> int:
    """Number of texts to rate at a time, so that their ratings fit into memory."""
    return max(1, PART_RATINGS // (len(task.metrics) * judge.samples))


def rate_texts(
    judges: Sequence[Judge],
    texts: Sequence[Candidate],
    task: Task,
    progress: Progress | None = None,
) -> "Iterator[pd.DataFrame]":
    """Ratings of texts by judges, some texts at a time.

    Of a text `example` is the id of the source and `variant` the system that wrote it. Tables have `COLUMNS`;
    a failed rating has no score.
    """
    for judge in [each.with_token_limit([(texts, task)]) for each in judges]:
        own = judge.own_task(task, texts)
        judge.prepare(texts, own)
        per_text, before = len(own.metrics) * judge.samples, 0
        for part in grouped(texts, texts_at_a_time(judge, own)):
            with suppress(Waiting):  # the other requests are to be collected too
                yield _rated(judge, part, own, progress, before, len(texts) * per_text)
            before += len(part) * per_text


def _rated(
    judge: Judge, texts: Sequence[Candidate], task: Task, progress: Progress | None, before: int, total: int
) -> "pd.DataFrame":
    """Ratings of some texts; `before` of all `total` have come before."""
    import pandas as pd

    ratings, found = [], checked_ratings(judge, texts, task)
    for done, r in enumerate(found if before else readable(found, judge, task, "the texts"), before + 1):
        ratings.append(r)
        if progress:
            progress(judge.model, done, total, "")
    rows = [
        (r.example, r.variant, r.metric, r.sample, r.score, r.status, r.raw, judge.model, judge.protocol)
        for r in in_order(ratings, texts, task)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def in_order(ratings: Iterable[Rating], texts: Sequence[Candidate], task: Task) -> list[Rating]:
    """Ratings by text, metric and sample; they come in the order in which a server answers."""
    order = {(text.example, text.variant): place for place, text in enumerate(texts)}
    metrics = task.metric_names
    return sorted(ratings, key=lambda r: (order[r.example, r.variant], metrics.index(r.metric), r.sample))


def _short(judge: Judge, task: Task, request: Request) -> str:
    return judge.short_request(request, task)


def judge_estimates(
    judges: Sequence[Judge], name: str, texts: Sequence[Candidate], task: Task
) -> list[Estimate]:
    """What ratings of the texts of the dataset `name` would take of each judge that asks a language model."""
    controls = sum(text.level == "control" for text in texts) / max(len(texts), 1)
    found = [
        estimate_requests(
            j.cached_model,
            j.protocol,
            name,
            j.requests(texts, j.own_task(task)),
            short=partial(_short, j, j.own_task(task)),
        )
        for j in judges
        if j.cached_model
    ]
    return [replace(each, controls=controls) for each in found]
