"""Changes of a judge prompt as plain runs: judged on one half of the texts, confirmed on the other.

`Asked` says what is tried and on which texts, `Trials` runs the judges, `Outcome` is the result.
`Trials.outcome` runs the prompt as it is on the first look, makes the changes that fit what this judge
misses, lets `race.race` choose among them on one half of the texts, and runs the best one on the other half.

Each look is a run of `dhp.run` over the texts of the look. Replies are stored, so a look takes what an
earlier one has paid for, and a killed command goes on where it stopped.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from dhp.analysis.config import AnalysisConfig
from dhp.analysis.results import Result
from dhp.content.catalog import descriptions
from dhp.core.errors import InputError, Unreadable
from dhp.core.progress import Progress
from dhp.core.records import parse_variant
from dhp.core.seeding import key_digest, text_hash
from dhp.core.writing import check_folder, inner_folder
from dhp.llm.estimate import Estimate
from dhp.llm.settings import ModelSettings
from dhp.loaders.dataset import Dataset
from dhp.plugins.improve.changes import Change, JudgePrompt, known_changes
from dhp.plugins.improve.errors import errors_apart, errors_of
from dhp.plugins.improve.race import FEWEST, LOOKS, Gain, Race, Unusable, race
from dhp.run import estimate, run
from dhp.runs.compare import compare_results
from dhp.runs.reader import RunResult, open_run

ORIGINAL = "original"
"""Name of the judge as it was."""
_LOOK = 10
"""Texts that a look needs at least. Chosen: a change is not dropped for fewer."""
_SEEN = 0.75
"""Detection, or share of texts that do not pass, from which a kind of damage is not missed. Chosen: halfway
between a blind judge and a perfect one."""
_PERFECT = 0.99
"""Detection, or 1 less the errors at the mark, from which there is nothing to gain. Chosen."""


def sharing(settings: ModelSettings) -> ModelSettings:
    """The same settings for many runs, which share one context: the limits hold for all of them together."""
    context = settings.context()

    # `run` asks its settings for a context, and would count calls and cost anew for each judge.
    class Shared(ModelSettings):
        def context(self) -> Any:
            return context

    values = {field.name: getattr(settings, field.name) for field in fields(settings)}
    return Shared(**values)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is tried, and on which texts."""

    model: str
    original: JudgePrompt
    dataset: Dataset
    way: Mapping[str, Any]
    """Further keywords of `dhp.run`."""
    settings: ModelSettings
    seed: int
    out: Path

    def halves(self) -> tuple[list[str], list[str]]:
        """Ids of the examples to choose by, and of those to confirm by; clusters stay together.

        Raises `InputError` if there are too few.
        """
        data, clusters = self.dataset, self.dataset.clusters
        halves: tuple[list[str], list[str]] = ([], [])

        # Examples of one cluster go into one half, as they are not independent.
        together: dict[str, list[str]] = {}
        for example in data.examples:
            cluster = clusters.get(example.id, example.id)
            together.setdefault(cluster, []).append(example.id)

        # In an order that is random by the seed, each to the half that has fewer so far.
        def digest(cluster: str) -> bytes:
            return key_digest(self.seed, "improve", data.name, cluster)

        for cluster in sorted(together, key=digest):
            smaller = min(halves, key=len)
            smaller.extend(together[cluster])

        if min(map(len, halves)) < FEWEST // 2:
            raise InputError(
                f"{data.name}: {len(data.examples)} examples, {len(halves[0])} to choose a change by and "
                f"{len(halves[1])} to confirm it; allowed: {FEWEST // 2} or more each, better 50"
            )
        return halves

    def part(self, ids: Sequence[str]) -> Dataset:
        """The data with the examples of these ids alone."""
        # `only` chooses examples alone: degraded texts that came with the other ones must go, too.
        pairs = tuple(pair for pair in self.dataset.pairs if pair.example in ids)
        return replace(self.dataset.only(ids), pairs=pairs)

    def identity(self) -> str:
        """Hash of the judge and the texts; a folder that was made for others is refused."""
        original, data = self.original, self.dataset
        asked: list[Any] = [self.model, self.seed, original.protocol.settings("protocol", "description")]
        for file in original.files:
            asked.append([file.metric, file.text])
        for metric in original.metrics:
            asked.append(metric.model_dump(mode="json"))
        asked += [data.name, data.suite_name, self.way.get("controls"), original.pass_mark]
        for example in data.examples:
            asked.append([example.id, example.source, example.output])
        return text_hash(json.dumps(asked))

    def keywords(self, name: str, prompt: JudgePrompt) -> dict[str, Any]:
        """How a judge is asked, for `dhp.run`; its prompts are written into the folder."""
        files = prompt.written(inner_folder(self.out, "prompts", name))
        return {
            "protocol": prompt.protocol,
            "prompt": files,
            "metrics": list(prompt.metrics),
            "analysis": AnalysisConfig(pass_mark=prompt.pass_mark),
            "settings": self.settings,
            "seed": self.seed,
            **self.way,
        }

    def ready(self, missed: Sequence[str]) -> tuple[dict[str, JudgePrompt], dict[str, str]]:
        """The changed prompts for a judge that misses these kinds, and why the others cannot be tried."""
        prompts, unusable = {}, {}
        for change in known_changes().changes:
            try:
                prompts[change.change] = self.original.changed(change, missed)
            except Unusable as e:
                unusable[change.change] = str(e)
        return prompts, unusable


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the trials have shown."""

    asked: Asked
    n: tuple[int, int]
    """Texts to choose by, and to confirm by."""
    as_it_was: RunResult
    """The judge as it was, on the texts to choose by."""
    race: Race
    costs: Mapping[str, float]
    """Change -> what a rating costs more, as a share."""
    priced: bool
    """Whether costs are money; else they are tokens."""
    looks: Sequence[int]
    """Texts at each look."""
    prompts: Mapping[str, JudgePrompt]
    confirmed: Gain | None
    """Of the best change on the other texts; None if there is none."""
    judges: tuple[RunResult, ...] = ()
    """The judge as it was and that of the best change, on the other texts."""

    @property
    def helps(self) -> str | None:
        """The change that is recommended; None if nothing helped."""
        return self.race.best if self.confirmed and self.confirmed.helps else None

    @property
    def alarms(self) -> list[str]:
        """Harmless edits that the best change marks down on the other texts, unlike the judge as it was."""
        old, new = self.judges
        before = {row.variant for row in old.result.alarms}
        return [row.variant for row in new.result.alarms if row.variant not in before]


class Trials:
    """Runs judges on some of the texts, each once; a context of one command."""

    def __init__(self, asked: Asked, progress: Progress | bool | None) -> None:
        self.asked = asked
        self._progress = progress
        self.halves = asked.halves()
        self._changes = [each.change for each in known_changes().changes]
        # Which change wins is not known yet: its folder must be free, whichever it is.
        for name in (ORIGINAL, "best", *self._changes):
            check_folder(asked.out / name)
        self.looks: list[int] = []
        for share in LOOKS:
            size = round(share * len(self.halves[0]))
            # Small looks are left out; the last one, over all texts of the half, always stays.
            if size >= _LOOK or share == LOOKS[-1]:
                self.looks.append(size)
        self._unusable: dict[str, str] = {}
        self._prompts: dict[str, JudgePrompt] = {}
        self._keywords: dict[str, dict[str, Any]] = {}
        self._add(ORIGINAL, asked.original)
        self._done: dict[tuple[str, int], RunResult] = {}

    def outcome(self) -> Outcome:
        """Choose a change, and confirm it."""
        first = self._judged(ORIGINAL, 0)  # at the first look, which says what the judge misses
        raced = Race()
        confirmed: Gain | None = None
        judges: tuple[RunResult, ...] = ()
        # A judge with nothing to gain is asked no further.
        if _right(first) < _PERFECT:
            changed, self._unusable = self.asked.ready(missed(first.result))
            for name, prompt in changed.items():
                self._add(name, prompt)
            raced = race(ORIGINAL, self._changes, self._compared, len(self.looks))
            if raced.best:
                with raced.usable(raced.best):  # its answers on the other half may be unreadable
                    judges = self._on_other_half(raced.best)
                    confirmed = gain(*judges)

        return Outcome(
            asked=self.asked,
            n=(len(self.halves[0]), len(self.halves[1])),
            # Its last look has the most texts: it was judged at each look that some change reached.
            as_it_was=self._done[ORIGINAL, self._last_look(ORIGINAL)],
            race=raced,
            costs={name: self._cost(name) for name in raced.gains},
            priced=first.result.cost is not None,
            looks=self.looks,
            prompts=self._prompts,
            confirmed=confirmed,
            judges=judges,
        )

    def _compared(self, first: str, second: str, look: int) -> Gain:
        """The gain of a second judge over a first at a look, as `race` asks for it."""
        if second in self._unusable:
            raise Unusable(self._unusable[second])
        # Outside the `try`: a fault of the first judge is no reason to leave the second one out.
        old = self._judged(first, look)
        try:
            new = self._judged(second, look)
        except Unreadable:
            raise Unusable("most of the answers cannot be read") from None
        except InputError as e:  # the judge as it was could be asked
            raise Unusable(str(e).replace("`", "")) from None
        if "prob" in self._prompts[second].protocol.extraction and not new.result.rules.get("prob"):
            raise Unusable("the server gives no log-probabilities")
        return gain(old, new)

    def _add(self, name: str, prompt: JudgePrompt) -> None:
        """Take a prompt into the trials; a file that cannot be written ends them all."""
        self._prompts[name] = prompt
        self._keywords[name] = self.asked.keywords(name, prompt)

    def _judged(self, name: str, look: int) -> RunResult:
        """A judge on the texts of a look, which are those of the look before and some more."""
        if (name, look) not in self._done:
            ids = self.halves[0][: self.looks[look]]
            self._done[name, look] = self._run(name, ids)
        return self._done[name, look]

    def _last_look(self, name: str) -> int:
        return max(look for judge, look in self._done if judge == name)

    def _run(self, name: str, ids: Sequence[str], out: Path | None = None) -> RunResult:
        asked = self.asked
        results = run(asked.model, asked.part(ids), out=out, progress=self._progress, **self._keywords[name])
        # One judge on one dataset gives one result.
        return open_run(results, name).rated[0]

    def _on_other_half(self, best: str) -> tuple[RunResult, RunResult]:
        """The judge as it was and that of a change, on the texts that confirm."""
        ids, out = self.halves[1], self.asked.out
        old = self._run(ORIGINAL, ids, inner_folder(out, ORIGINAL))
        new = self._run(best, ids, inner_folder(out, best))
        return old, new

    def _cost(self, name: str) -> float:
        """What the ratings of a change cost more than those of the judge as it was, as a share."""
        look = self._last_look(name)
        # Both at the same look, so for the same texts.
        new, old = _price(self._done[name, look]), _price(self._done[ORIGINAL, look])
        return new / old - 1 if old else 0.0


def _price(rated: RunResult) -> float:
    """The cost of a run, also of cached replies; in tokens where no prices are known."""
    tokens = 0
    for name, count in rated.result.usage.items():
        if name.endswith("tokens"):  # `prompt_tokens` and `completion_tokens`; calls are counted beside them
            tokens += count
    # `or`: if all prices are 0, tokens still tell the changes apart.
    return rated.result.cost or float(tokens)


def gain(old: RunResult, new: RunResult) -> Gain:
    """The second judge against the first: by errors at their pass marks, without marks by detection.

    Raises `Unusable` if they have too few pairs of scores in common.
    """
    compared = compare_results([old, new], ("protocol", "metrics"))
    if not compared.marks:
        # Two judges are one pair.
        (pair,) = compared.scores["detection"].pairs
        better = Gain(pair.difference, pair.low, pair.high, pair.p)
    else:
        fewer = errors_apart(old, new)  # arrays of one comparison
        better = Gain(
            float(fewer.difference[0]), float(fewer.low[0]), float(fewer.high[0]), float(fewer.p[0])
        )
    if math.isnan(better.p):
        raise Unusable("too few answers could be read")
    return better


def _right(rated: RunResult) -> float:
    """Detection; at a pass mark 1 less the errors."""
    errors = errors_of(rated)
    if errors is not None:
        return 1 - errors
    return rated.result.detection.avg or 0.0


def missed(result: Result) -> list[str]:
    """The perturbers whose damage a judge misses in some degree, the most missed first.

    A degree is missed if less than three quarters of its texts are detected; at a pass mark, if more than a
    quarter of them pass.
    """
    shares: dict[str, float] = {}
    for row in result.damage:
        seen = row.detection
        if result.pass_mark is not None:
            seen = 1 - row.passes.share if row.passes else None
        # A degree that nobody scored is neither seen nor missed.
        if seen is not None and seen < _SEEN:
            # Of several degrees the one that is seen least counts.
            name = parse_variant(row.variant).perturber
            shares[name] = min(seen, shares.get(name, 1.0))
    return sorted(shares, key=shares.__getitem__)


def estimates(asked: Asked) -> list[Estimate]:
    """What it would take at most: nothing dropped early, and the dearest change confirmed."""
    with TemporaryDirectory() as folder:  # a dry run leaves no prompts in the folder of the run
        return _estimates(replace(asked, out=Path(folder)))


def _estimates(asked: Asked) -> list[Estimate]:
    choosing, confirming = asked.halves()
    prompts, _ = asked.ready(list(descriptions()))  # all kinds, as what is missed is not known yet

    def taken(name: str, prompt: JudgePrompt, ids: Sequence[str], label: str) -> list[Estimate]:
        keywords = asked.keywords(name, prompt)
        pending = estimate(asked.model, asked.part(ids), progress=False, **keywords)
        # The table of estimates names a row by its protocol.
        return [replace(each, protocol=label) for each in pending]

    # The prompt as it is on all texts, each change on the half that chooses, the dearest one on the other.
    rows = taken(ORIGINAL, asked.original, choosing + confirming, "the prompt as it is")
    dearest, most = None, -1.0
    for name, prompt in prompts.items():
        of_change = taken(name, prompt, choosing, change_of(name).label)
        rows += of_change
        tokens = sum(_tokens(each) for each in of_change)
        if tokens > most:
            dearest, most = name, tokens
    if dearest is not None:
        label = f"{change_of(dearest).label}, to confirm"
        rows += taken(dearest, prompts[dearest], confirming, label)
    return rows


def _tokens(each: Estimate) -> float:
    return each.bill.prompt_tokens + each.bill.completion_tokens


def change_of(name: str) -> Change:
    """The change of that name."""
    by_name = {change.change: change for change in known_changes().changes}
    return by_name[name]
