"""Judges that read their answers from a file."""

import gzip
import logging
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import multimode

from dhp.core.answer_forms import POINTWISE_FORMS, AnswerForm, turns_of
from dhp.core.errors import InputError, suggest
from dhp.core.files import inner_files, parse_json, read_text, reason, unpacked
from dhp.core.records import ORIGINAL, Candidate, Rating
from dhp.core.seeding import text_hash
from dhp.core.specs import Metric, Task
from dhp.core.tables import Row, as_text, json_lines, sound
from dhp.judge.api import Judge, split_settings, with_original
from dhp.judge.extraction.rating import metric_rating, read_answer
from dhp.llm.store import NOT_STORED

_PUBLISHED = {"example": "id", "variant": "system", "answer": "response", "model": "judge"}
"""What published rows call our columns."""
_METRICS = {
    "coh": "coherence",
    "con": "consistency",
    "eng": "engagingness",
    "flu": "fluency",
    "gro": "groundedness",
    "nat": "naturalness",
    "rel": "relevance",
    "und": "understandability",
}
"""Short names of metrics in names of files."""
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
"""Protocols whose form of answer is known."""


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """One answer of a judge, as it was given."""

    example: str
    variant: str
    """Variant as the recording names it: often the system that wrote the text."""
    metric: str
    sample: int
    """Number of the sample, from 0; where the recording numbers none, in the order of its rows."""
    answer: str
    protocol: str | None = None
    model: str | None = None


def read_recorded(path: Path) -> Iterator[RecordedAnswer]:
    """The answers in a file, or in all files of a folder; each may be gzipped (`.gz`).

    Forms: JSON Lines with `example, variant, metric, answer` and perhaps `sample, protocol, model`; JSON
    Lines with `judge, protocol, metric, system, id, response` (Shen et al. 2023); JSON lists of items with
    `source, context, system_id, all_responses` in a file called `MODEL_METRIC_PROTOCOL.json` (Chiang and Lee
    2023), where the example is `dialogue_id(source, context)`. Raises `InputError` with the place for
    anything else.
    """
    seen: dict[RecordedAnswer, set[int]] = defaultdict(set)
    for file in inner_files(path, (".jsonl", ".json", ".gz"), "recorded answers"):
        for row, answer in _answers(file):
            samples = seen[replace(answer, sample=0, answer="")]
            sample = len(samples) if answer.sample < 0 else answer.sample
            if sample in samples:
                raise row.fault(f"duplicate sample {sample} of this example, variant and metric")
            samples.add(sample)
            yield replace(answer, sample=sample)


def dialogue_id(source: str, context: str) -> str:
    """A stable id for a dialogue that has none."""
    return text_hash(f"{source}\n{context}")


_UNNUMBERED = -1
_SETTINGS = ("form", "model", "original", "protocol")


def _answers(file: Path) -> Iterator[tuple[Row, RecordedAnswer]]:
    """What a file says, row by row, with the sample `_UNNUMBERED` where it says none."""
    name = file.name.removesuffix(".gz")
    text = _unzipped(file) if file.suffix == ".gz" else read_text(file)
    if name.endswith(".json"):
        yield from _items(file, name.removesuffix(".json"), text)
        return
    for row in map(sound, json_lines(str(file), text.split("\n"))):
        yield row, _answer(row)


def _unzipped(file: Path) -> str:
    try:
        with gzip.open(file) as packed:
            return unpacked(str(file), packed).decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as e:
        raise InputError(f"{file}: not gzipped UTF-8 text ({reason(e)})") from None


def _answer(row: Row) -> RecordedAnswer:
    called = _PUBLISHED if "response" in row.values and "answer" not in row.values else {}
    texts = {name: _text(row, called.get(name, name)) for name in ("example", "variant", "metric")}
    for name in ("protocol", "model"):
        if row.has(column := called.get(name, name)):
            texts[name] = row.text(column)
    sample = row.values.get("sample", _UNNUMBERED)
    if "sample" in row.values and (type(sample) is not int or sample < 0):
        raise row.fault(f"sample {sample!r}; allowed: a whole number from 0")
    assert isinstance(sample, int)
    return RecordedAnswer(sample=sample, answer=_answer_text(row, called.get("answer", "answer")), **texts)


def _text(row: Row, column: str) -> str:
    if column not in row.values:
        raise row.fault(f"column '{column}' is missing; {suggest(column, row.values)}")
    return row.text(column)


def _answer_text(row: Row, column: str) -> str:
    """An answer may be empty, but it must be there."""
    text = as_text(row.values.get(column))
    if text is None:
        raise row.fault(f"column '{column}' holds no text; allowed: what the judge answered")
    return row.encodable(column, text)


def _items(file: Path, name: str, text: str) -> Iterator[tuple[Row, RecordedAnswer]]:
    model, _, rest = name.partition("_")
    metric, _, protocol = rest.partition("_")
    if not protocol:
        raise InputError(f"{file}: its name must be MODEL_METRIC_PROTOCOL.json, e.g. gpt3.5_coh_geval.json")
    items = parse_json(str(file), text)
    if not isinstance(items, list):
        raise InputError(f"{file}: a {type(items).__name__}; allowed: a list of items")
    for number, item in enumerate(items, 1):
        place = f"{file}: item {number}"
        if not isinstance(item, dict):
            raise InputError(f"{place}: a {type(item).__name__}; allowed: an object")
        row = Row(place, item)
        example = dialogue_id(_text(row, "source"), _text(row, "context"))
        key = (example, _text(row, "system_id"), _METRICS.get(metric, metric), _UNNUMBERED)
        answers = item.get("all_responses")
        if not isinstance(answers, list):
            raise row.fault("'all_responses' is not a list; allowed: the list of answers")
        for each in answers:
            answered = _answer_text(Row(place, {"all_responses": each}), "all_responses")
            yield row, RecordedAnswer(*key, answered, protocol, model)


class RecordedJudge(Judge):
    """Gives the answers of a recording again, read by the form in which they were asked for.

    `replay/FILE` may be followed by settings: `protocol=` and `model=` choose where a recording holds
    several, `original=` names the recorded variant that plays the original (default: `original`), `form=`
    says what the answers look like where the protocol's name does not.
    """

    def __init__(self, model: str) -> None:
        self.model = model
        name, settings = split_settings(model, _SETTINGS)
        file = name.removeprefix("replay/")
        if not file:
            raise InputError(f"model '{model}': its file is missing; must have the form replay/FILE")
        answers = list(read_recorded(Path(file)))
        if not answers:
            raise InputError(f"{file}: holds no answers; allowed: at least one")
        for key in ("model", "protocol"):
            answers = self._chosen(answers, key, settings.get(key))
        self.protocol = answers[0].protocol or "none"
        self._form = self._form_of(settings.get("form") or self.protocol)
        self._original = settings.get("original", ORIGINAL)
        self._variants = {answer.variant for answer in answers}
        if "original" in settings:
            self._need_original()
        self._answers: dict[tuple[str, str, str], list[RecordedAnswer]] = defaultdict(list)
        for answer in answers:
            self._answers[answer.example, answer.variant, answer.metric].append(answer)
        self.samples = max(map(len, self._answers.values()))
        self._say_repeated(file)

    def _say_repeated(self, file: str) -> None:
        """A warning where some texts have more answers than most: their mean would count in silence."""
        usual = min(multimode(map(len, self._answers.values())))
        several = [
            {a.answer for a in recorded} for recorded in self._answers.values() if len(recorded) > usual
        ]
        if several:
            logging.getLogger("dhp").warning(
                "%s: %d of %d texts and metrics have more than %d answer%s, %d of them different ones; "
                "their mean counts",
                file,
                len(several),
                len(self._answers),
                usual,
                "s" if usual > 1 else "",
                sum(len(answers) > 1 for answers in several),
            )

    def asked_about(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """The texts with a recorded answer whose original has one, too; all if there is none."""
        recorded = {(example, variant) for example, variant, _ in self._answers}
        names = {c.variant: self._original if c.variant == ORIGINAL else c.variant for c in candidates}
        return with_original(candidates, lambda c: (c.example, names[c.variant]) in recorded) or candidates

    def prepare(self, candidates: Sequence[Candidate], task: Task) -> None:
        """Raises `InputError` if originals are to be rated and no recorded variant plays the original."""
        if any(c.variant == ORIGINAL for c in candidates):
            self._need_original()

    def _need_original(self) -> None:
        if self._original not in self._variants:
            raise InputError(
                f"model '{self.model}': no variant '{self._original}' is recorded; set original=NAME; "
                f"{suggest(self._original, self._variants)}"
            )

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """The recorded samples of every candidate and metric; failed where there are none."""
        for candidate in candidates:
            variant = self._original if candidate.variant == ORIGINAL else candidate.variant
            for metric in task.metrics:
                answers = self._answers.get((candidate.example, variant, metric.name))
                if answers is None:
                    yield Rating(
                        candidate.example, candidate.variant, metric.name, 0, None, "failed", NOT_STORED
                    )
                    continue
                for answer in answers:
                    yield self._rating(answer, candidate.variant, metric)

    def _rating(self, answer: RecordedAnswer, variant: str, metric: Metric) -> Rating:
        turns = turns_of(self._form)
        form = turns[answer.sample % len(turns)]
        read = read_answer(answer.answer, metric, form)
        return metric_rating(read, metric, form, (answer.example, variant, answer.sample), answer.answer)

    def _chosen(
        self, answers: Sequence[RecordedAnswer], key: str, wanted: str | None
    ) -> list[RecordedAnswer]:
        """The answers of one model, or one protocol."""
        values = {getattr(answer, key) for answer in answers}
        if wanted is None and len(values) == 1:
            return list(answers)
        names = [name or "" for name in values]
        if wanted is None:
            raise InputError(
                f"model '{self.model}': several {key}s are recorded; choose one by {key}=NAME; "
                f"{suggest('', names)}"
            )
        if wanted not in values:
            raise InputError(
                f"model '{self.model}': no {key} '{wanted}' is recorded; {suggest(wanted, names)}"
            )
        return [answer for answer in answers if getattr(answer, key) == wanted]

    def _form_of(self, name: str) -> AnswerForm:
        plain = name.partition("@")[0].replace("_", "-")
        if plain not in _FORMS:
            raise InputError(
                f"model '{self.model}': the form of answers in '{name}' is unknown; set it, "
                f"as in replay/FILE?form=score-only; "
                f"{suggest(name, POINTWISE_FORMS)}"
            )
        return _FORMS[plain]
