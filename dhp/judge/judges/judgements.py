"""Judges whose scores, verdicts or comparisons were recorded, `recorded/FILE`."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dhp.core.errors import InputError, one_of, suggest
from dhp.core.files import reason
from dhp.core.recorded import is_pairwise, read_judgements
from dhp.core.records import RATING_STATUSES, Candidate, Rating, RatingStatus
from dhp.core.seeding import text_hash
from dhp.core.signature import PAIRWISE
from dhp.core.specs import Scale, Task
from dhp.judge.api import WIDE, Judge, computed_task, metric_name, split_settings, with_original

if TYPE_CHECKING:
    import pandas as pd

RECORDED = "recorded/"
_SETTINGS = ("model", "protocol")


class JudgementsJudge(Judge):
    """Gives recorded judgements again; texts without one were not asked about, and are left out.

    `judgements` are (example, variant) -> its ratings; `compare` says whether they are comparisons.
    """

    def __init__(
        self,
        model: str,
        protocol: str,
        judgements: Mapping[tuple[str, str], Sequence[Rating]],
        *,
        compare: bool,
    ) -> None:
        self.model, self.protocol, self.compare = model, protocol, compare
        self._judgements = judgements
        ratings = [r for each in judgements.values() for r in each]
        self.samples = 1 + max(r.sample for r in ratings)
        self._metrics = tuple(dict.fromkeys(r.metric for r in ratings))
        self._scores = [r.score for r in ratings if r.score is not None]
        self.settings = {"judgements": text_hash(repr(sorted(map(repr, ratings))))}

    def own_task(self, task: Task, candidates: Sequence[Candidate] = ()) -> Task:
        """The task with the recorded metrics; their scale is the range of the scores."""
        low, high = min(self._scores, default=0.0), max(self._scores, default=0.0)
        if self.compare:
            low, high = -1.0, 1.0
        scale = Scale(min=low, max=high) if low < high else Scale(min=-WIDE, max=WIDE)
        made = [computed_task(task, name, name, scale).metrics[0] for name in self._metrics]
        return task.model_copy(update={"metrics": made, "translations": {}})

    def asked_about(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """The texts with a recorded judgement whose original has one, too."""
        kept = with_original(candidates, lambda c: (c.example, c.variant) in self._judgements)
        if not any(c.level for c in kept):
            raise InputError(
                f"model '{self.model}': has no judgement of any of these texts; example and variant must be "
                "named in the file as in the data"
            )
        return kept

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """The recorded ratings of every text."""
        for candidate in candidates:
            yield from self._judgements.get((candidate.example, candidate.variant), ())


def recorded_file(model: str) -> Path:
    """The file in the name of a recorded judge; raises `InputError` for a name without one."""
    name, _ = split_settings(model, _SETTINGS)
    file = name.removeprefix(RECORDED)
    if not file:
        raise InputError(f"model '{model}': its file is missing; must have the form {RECORDED}FILE")
    return Path(file)


def recorded_judges(model: str) -> list[JudgementsJudge]:
    """The judges of a file, one for each model and protocol in it.

    `recorded/FILE?model=NAME&protocol=NAME` chooses some. See `dhp.core.recorded` for what the file holds.
    Raises `InputError` for a file of another form, a judgement twice, and a name that is not in it.
    """
    path, (_, settings) = recorded_file(model), split_settings(model, _SETTINGS)
    frame = read_judgements(path)
    for key, default in (("model", f"{RECORDED}{path.name}"), ("protocol", "none")):
        frame[key] = frame[key].astype(str) if key in frame else default
        if (wanted := settings.get(key)) is not None:
            if wanted not in set(frame[key]):
                raise InputError(
                    f"model '{model}': no {key} '{wanted}' in the file; {suggest(wanted, set(frame[key]))}"
                )
            frame = frame[frame[key] == wanted]
    compare = is_pairwise(frame.columns)
    verdicts = []
    for (name, protocol), part in frame.groupby(["model", "protocol"], sort=False):
        ratings = _ratings(part, str(path))
        way = f"{PAIRWISE}{protocol if protocol != 'none' else 'recorded'}" if compare else str(protocol)
        verdicts.append(JudgementsJudge(str(name), way, ratings, compare=compare))
    return verdicts


def _ratings(part: "pd.DataFrame", place: str) -> dict[tuple[str, str], list[Rating]]:
    """(example, variant) -> its ratings; samples without a number are counted in their order."""
    counts: dict[tuple[str, str, str], int] = defaultdict(int)
    by_text: dict[tuple[str, str], list[Rating]] = defaultdict(list)
    seen: set[tuple[str, str, str, int]] = set()
    for row in part.to_dict("records"):
        key = str(row["example"]), str(row["variant"]), metric_name(str(row["metric"]))
        sample = counts[key] if "sample" not in row else _whole(row["sample"], place)
        counts[key] += 1
        if (*key, sample) in seen:
            raise InputError(
                f"{place}: example '{key[0]}', variant '{key[1]}': sample {sample} is there twice"
            )
        seen.add((*key, sample))
        score = _number(row["score"], f"{place}: example '{key[0]}', variant '{key[1]}'")
        status = "scored" if score is not None else _reason(row.get("status"), place)
        rule = row.get("rule")
        by_text[key[:2]].append(
            Rating(*key, sample, score, status, None, rule if isinstance(rule, str) else None)
        )
    return by_text


def _reason(status: object, place: str) -> RatingStatus:
    """Why there is no score."""
    text = str(status or "unparsed")
    known: Mapping[str, RatingStatus] = {each: each for each in RATING_STATUSES[1:]} | {"nan": "unparsed"}
    one_of("status", text, known, place)
    return known[text]


def _whole(value: object, place: str) -> int:
    try:
        return int(float(str(value)))
    except ValueError as e:
        raise InputError(f"{place}: sample {value!r} ({reason(e)}); must be a whole number") from None


def _number(value: object, place: str) -> float | None:
    if value is None or value != value or not str(value).strip():
        return None
    try:
        return float(str(value))
    except ValueError:
        raise InputError(f"{place}: score {value!r} is not a number") from None
