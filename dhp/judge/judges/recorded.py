"""Judges whose ratings stand in a table, `recorded/FILE`.

The table is read, split by model and protocol, and each part becomes a judge that gives its ratings again.
Scores are taken as they are. Answers in words are read like those of a language model, on the scale of the
task at hand.
"""

import json
import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import multimode
from typing import TYPE_CHECKING

from dhp.core.answer_forms import POINTWISE_FORMS, AnswerForm, turns_of
from dhp.core.errors import InputError, listed, one_of, suggest
from dhp.core.files import reason
from dhp.core.own_table import RatingsForm
from dhp.core.rating_forms import ANSWER, is_pairwise, stated_columns
from dhp.core.ratings_table import read_judgements
from dhp.core.records import RATING_STATUSES, Candidate, Rating, RatingStatus
from dhp.core.seeding import text_hash
from dhp.core.signature import PAIRWISE
from dhp.core.specs import Metric, Scale, Task
from dhp.core.tables import is_blank
from dhp.judge.api import WIDE, Judge, computed_task, is_computed, metric_name, split_settings, with_original
from dhp.judge.extraction.rating import metric_rating, read_answer

if TYPE_CHECKING:
    import pandas as pd

RECORDED = "recorded/"
"""How the names of these judges begin."""
_CHOICES = ("model", "protocol", "form")
"""Settings that are no names of columns."""
_FORMS: Mapping[str, AnswerForm] = {
    "rts": "analyze-rate",
    "stareval": "stars",
    "mcq": "letters",
    "geval": "score-only",
    "geval-no-auto-cot": "score-only",
    "llm-eval-no-cot": "free-text",
    "dhp": "score-only",
    "g-eval-prob": "score-only",
    "g-eval-sample": "score-only",
    **{form: form for form in POINTWISE_FORMS},
}
"""Protocols, ours and published ones, whose form of answer is known."""


class RecordedJudge(Judge):
    """Gives recorded ratings again; texts without one were not asked about, and are left out.

    `ratings` are (example, variant) -> ratings of the text; `compare` says whether texts were compared.
    With a `form` their `raw` is an answer of this form, still to be read.
    """

    def __init__(
        self,
        model: str,
        protocol: str,
        ratings: Mapping[tuple[str, str], Sequence[Rating]],
        *,
        compare: bool = False,
        form: AnswerForm | None = None,
    ) -> None:
        self.model, self.protocol, self.compare = model, protocol, compare
        self._recorded, self._form = ratings, form
        every: list[Rating] = []
        for of_text in ratings.values():
            every += of_text
        self.samples = 1 + max(rating.sample for rating in every)
        self._metrics = tuple(dict.fromkeys(rating.metric for rating in every))
        self._with_probabilities = {rating.metric for rating in every if rating.probabilities is not None}
        self._scores = [rating.score for rating in every if rating.score is not None]
        self._warned: set[str] = set()
        """Tasks for which a warning has said that probabilities are not used."""
        # Sorted, as the same ratings in another order are the same judge.
        self.settings = {"judgements": text_hash(repr(sorted(map(repr, every))))}

    def own_task(self, task: Task, candidates: Sequence[Candidate] = ()) -> Task:
        """The task with the recorded metrics; of answers in words those of its metrics that they are about.

        The scale of a score is the range of all. A metric of the task that has recorded probabilities stays
        as it is: they are of the points of its scale.
        """
        if self._form is not None:
            asked = [metric for metric in task.metrics if metric.name in self._metrics]
            if not asked:
                raise InputError(
                    f"model '{self.model}': holds answers about {listed(self._metrics)}, and task "
                    f"'{task.task}' has no such metric, whose scale they need; name another by `task`"
                )
            return task.model_copy(update={"metrics": asked})
        low, high = min(self._scores, default=0.0), max(self._scores, default=0.0)
        if self.compare:
            low, high = -1.0, 1.0
        scale = Scale(min=low, max=high) if low < high else Scale(min=-WIDE, max=WIDE)
        known = {metric.name: metric for metric in task.metrics if metric.name in self._with_probabilities}
        metrics: list[Metric] = []
        for name in self._metrics:
            metrics.append(known.get(name) or computed_task(task, name, name, scale).metrics[0])
        unknown = [name for name in self._metrics if name in self._with_probabilities - known.keys()]
        if unknown and task.task not in self._warned:  # a run asks several times
            self._warned.add(task.task)
            logging.getLogger("dhp").warning(
                "model '%s': probabilities of %s are left out, as task '%s' has no such metric, whose "
                "points they need; name another by `task`",
                self.model,
                listed(unknown),
                task.task,
            )
        return task.model_copy(update={"metrics": metrics, "translations": {}})

    def asked_about(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """The texts with a recorded rating whose original has one, too."""
        kept = with_original(candidates, lambda c: (c.example, c.variant) in self._recorded)
        if not any(c.level for c in kept):
            raise InputError(
                f"model '{self.model}': has no judgement of any of these texts; example and variant must be "
                "named in the file as in the data"
            )
        return kept

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """The recorded ratings of every text."""
        metrics = {metric.name: metric for metric in task.metrics}
        for candidate in candidates:
            for rating in self._recorded.get((candidate.example, candidate.variant), ()):
                if self._form is None:
                    known = not is_computed(metrics[rating.metric])
                    yield rating if known else replace(rating, probabilities=None)
                elif rating.metric in metrics:
                    yield _read(rating, metrics[rating.metric], self._form)


def _read(rating: Rating, metric: Metric, form: AnswerForm) -> Rating:
    """The rating in an answer; under a protocol whose samples are asked in turn, by the form of its turn."""
    turns = turns_of(form)
    asked, answer = turns[rating.sample % len(turns)], rating.raw or ""
    place = (rating.example, rating.variant, rating.sample)
    read = metric_rating(read_answer(answer, metric, asked), metric, asked, place, answer)
    return replace(read, stated=rating.stated)


def recorded_file(model: str) -> Path:
    """The file in the name of a recorded judge; raises `InputError` for a name without one."""
    file = model.removeprefix(RECORDED).partition("?")[0]
    if not file:
        raise InputError(f"model '{model}': its file is missing; must have the form {RECORDED}FILE")
    return Path(file)


def is_store(model: str) -> bool:
    """Whether it names a store of replies, from which a language model's answers are read again."""
    return model.startswith(RECORDED) and recorded_file(model).suffix == ".sqlite"


def reads_table(model: object) -> bool:
    """Whether it names a table of ratings."""
    return isinstance(model, str) and model.startswith(RECORDED) and not is_store(model)


def columns_of(model: str) -> RatingsForm:
    """What the table of a recorded judge calls its columns, by the settings in the judge's name."""
    _, settings = split_settings(model)
    fields = {ours: theirs for ours, theirs in settings.items() if ours not in _CHOICES}
    return RatingsForm(fields=fields or None)


def recorded_judges(model: str) -> list[RecordedJudge]:
    """The judges of a file, one for each model and protocol in it.

    `recorded/FILE?model=NAME&protocol=NAME` chooses some, and `form=FORM` says what answers look like if
    the protocol's name does not. Any other setting, `score=COLUMN`, says what the file calls a column. See
    `dhp.core.rating_forms` for what it holds. Raises `InputError` for a file of another form, a rating twice,
    and a name that is not in it.
    """
    path, (_, settings) = recorded_file(model), split_settings(model)
    frame = read_judgements(path, columns_of(model))
    for key, default in (("model", f"{RECORDED}{path.name}"), ("protocol", "none")):
        frame[key] = frame[key].astype(str) if key in frame else default
        wanted = settings.get(key)
        if wanted is not None:
            if wanted not in set(frame[key]):
                raise InputError(
                    f"model '{model}': no {key} '{wanted}' in the file; {suggest(wanted, set(frame[key]))}"
                )
            frame = frame[frame[key] == wanted]
    compare, answers = is_pairwise(frame.columns), "score" not in frame
    judges = []
    for (name, protocol), part in frame.groupby(["model", "protocol"], sort=False):
        ratings = _answers(part, str(path)) if answers else _ratings(part, str(path))
        _say_repeated(ratings, str(path))
        way = str(protocol)
        if compare:
            way = f"{PAIRWISE}recorded" if way == "none" else f"{PAIRWISE}{way}"
        read_as = _form_of(settings.get("form", way), model) if answers else None
        judges.append(RecordedJudge(str(name), way, ratings, compare=compare, form=read_as))
    return judges


def _form_of(name: str, model: str) -> AnswerForm:
    """The form of answers in a protocol, by its name, which may have a hash: `rate_explain@1f2e`."""
    plain = name.partition("@")[0].replace("_", "-")
    if plain not in _FORMS:
        raise InputError(
            f"model '{model}': the form of answers in '{name}' is unknown; set it, "
            f"as in {RECORDED}FILE?form=score-only; {suggest(name, POINTWISE_FORMS)}"
        )
    return _FORMS[plain]


def _answers(part: "pd.DataFrame", place: str) -> dict[tuple[str, str], list[Rating]]:
    """(example, variant) -> ratings that are still to be read from their answers."""
    unread = part.assign(score=None, status="unparsed", rule=None)
    answers: list[str] = []
    for answer in part[ANSWER]:
        answers.append("" if is_blank(answer) else str(answer))
    return _ratings(unread, place, answers)


def _ratings(
    part: "pd.DataFrame", place: str, answers: Sequence[str] = ()
) -> dict[tuple[str, str], list[Rating]]:
    """(example, variant) -> its ratings; samples without a number are counted in their order."""
    stated = [(name, column.tolist()) for name, column in stated_columns(part, place)]
    samples: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    by_text: dict[tuple[str, str], list[Rating]] = defaultdict(list)
    for number, row in enumerate(part.to_dict("records")):
        example, variant, metric = str(row["example"]), str(row["variant"]), metric_name(str(row["metric"]))
        known = samples[example, variant, metric]
        sample = len(known) if "sample" not in row else _whole(row["sample"], place)
        text_place = f"{place}: example '{example}', variant '{variant}'"
        if sample in known:
            raise InputError(f"{text_place}: sample {sample} is there twice")
        known.append(sample)
        score = _number(row["score"], text_place)
        status: RatingStatus = "scored" if score is not None else _reason(row.get("status"), place)
        rule = row.get("rule")
        reason = None if is_blank(row.get("reason")) else str(row["reason"])
        rating = Rating(
            example,
            variant,
            metric,
            sample,
            score,
            status,
            raw=answers[number] if answers else reason,
            rule=rule if isinstance(rule, str) else None,
            probabilities=_shares(row.get("probabilities"), place),
            stated={name: values[number] for name, values in stated} or None,
        )
        by_text[example, variant].append(rating)
    return by_text


def _shares(cell: object, place: str) -> tuple[float, ...] | None:
    """The probabilities of the points of a scale, which a cell holds as a list in JSON."""
    if is_blank(cell):
        return None
    try:
        return tuple(float(share) for share in json.loads(str(cell)))
    except (ValueError, TypeError) as e:
        raise InputError(
            f"{place}: probabilities {cell!r} ({reason(e)}); must be a list of numbers"
        ) from None


def _say_repeated(ratings: Mapping[tuple[str, str], Sequence[Rating]], place: str) -> None:
    """Warn if some texts have more ratings than most: their mean would count in silence."""
    by_metric: dict[tuple[str, str, str], list[Rating]] = defaultdict(list)
    for of_text in ratings.values():
        for rating in of_text:
            by_metric[rating.example, rating.variant, rating.metric].append(rating)
    usual = min(multimode(map(len, by_metric.values())))  # of several that are as frequent the smallest
    repeated = different = 0
    for several in by_metric.values():
        if len(several) > usual:
            repeated += 1
            if len({(rating.score, rating.raw) for rating in several}) > 1:
                different += 1
    if repeated:
        logging.getLogger("dhp").warning(
            "%s: %d of %d texts and metrics have more than %d rating%s, %d of them different ones; "
            "their mean counts",
            place,
            repeated,
            len(by_metric),
            usual,
            "s" if usual > 1 else "",
            different,
        )


def _reason(status: object, place: str) -> RatingStatus:
    """Why there is no score."""
    text = str(status or "unparsed")
    known: Mapping[str, RatingStatus] = {each: each for each in RATING_STATUSES[1:]} | {"nan": "unparsed"}
    one_of("status", text, known, place)
    return known[text]


def _whole(value: object, place: str) -> int:
    """The number of a sample; a table with gaps has it as 1.0."""
    try:
        return int(float(str(value)))
    except ValueError as e:
        raise InputError(f"{place}: sample {value!r} ({reason(e)}); must be a whole number") from None


def _number(value: object, place: str) -> float | None:
    """A score; None for an empty cell."""
    if value is None or value != value or not str(value).strip():  # NaN differs from itself
        return None
    try:
        return float(str(value))
    except ValueError:
        raise InputError(f"{place}: score {value!r} is not a number") from None
