"""Entries of a leaderboard: results with their places, and the names of their judges."""

import datetime as dt
import json
import logging
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from dhp.analysis.ratings import RatingsArray
from dhp.analysis.results import Interval, Result
from dhp.content.catalog import DATASETS, names_of, read_card, read_suite, read_task
from dhp.core.seeding import text_hash
from dhp.core.signature import protocol_name

UNKNOWN = "unknown"
"""The task or provider of a result that does not say it."""
_BILLIONS = re.compile(r"(?<![a-z0-9.])(?:(\d+)x)?(\d+(?:\.\d+)?)b(?![a-z0-9])", re.I)
"""Billions of parameters in a name: `7B`, `0.5b`, `8x7B` with its two factors; not in `v1.5b2` or `4bit`."""
_MILLIONS = re.compile(r"(?<![a-z0-9.])(\d+)m(?![a-z0-9])", re.I)
"""Millions of parameters in a name: `135M`; not in `m2m`."""


_LONGEST = 40
"""Characters of a name in the name of a file.

Chosen: three names, a hash and an ending stay below the 255 that file systems allow.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One result, with its ratings if they are at hand."""

    place: str
    """The file or folder it is from, for messages."""
    result: Result
    ratings: RatingsArray | None = None

    @property
    def kind(self) -> tuple[str, ...]:
        """What results of one table share: all parts of the signature that must agree, but the protocol."""
        return tuple(self.shared.values())

    @property
    def shared(self) -> dict[str, str]:
        """`kind` by the names of the parts."""
        return self.result.signed.comparable(but=["protocol"])

    @property
    def key(self) -> tuple[str, ...]:
        """What no two results of a board share: judge, way of settings, data and analysis."""
        return (self.result.model, self.result.protocol, *self.kind)

    @property
    def judge(self) -> tuple[str, str]:
        """Model and protocol."""
        return self.result.model, self.result.protocol

    @property
    def detection(self) -> float | None:
        """Detection, the average over levels, by which judges are ranked; None if it is undefined."""
        return self.result.detection.avg

    @property
    def detection_ends(self) -> Interval:
        """The 95 % limits of `detection`."""
        return self.result.detection.ci["avg"]

    @property
    def provider(self) -> str:
        """The model's name before its first `/`; `unknown` without one."""
        before, slash, _ = self.result.model.partition("/")
        return before if slash and before else UNKNOWN

    @property
    def size(self) -> float | None:
        """Billions of parameters by the model's name: 7B, 0.5b, 135M, 8x7B (which is 56); None without."""
        # After `?` come settings of the judge, whose numbers say nothing of its size.
        name = self.result.model.partition("?")[0]
        billions = _BILLIONS.search(name)  # of `30B-A3B`, all and active parameters, the first counts
        if billions:
            experts = int(billions[1] or 1)
            return experts * float(billions[2])
        millions = _MILLIONS.search(name)
        return int(millions[1]) / 1000 if millions else None

    @property
    def family(self) -> str | None:
        """What is before the size in the model's own name, such as qwen1.5 for `hf/Qwen/Qwen1.5-4B-Chat`.

        None if the name says no size, or nothing before it.
        """
        path = self.result.model.partition("?")[0].rstrip("/")
        name = path.rpartition("/")[2]
        size = _BILLIONS.search(name) or _MILLIONS.search(name)
        if size is None:
            return None
        before = name[: size.start()].strip("-_. ")
        return before.lower() or None

    @property
    def cost(self) -> float | None:
        """Money per 1,000 judgements asked for, in the currency of the run's prices; None without prices."""
        asked = self.result.ratings.get("asked", 0)
        if self.result.cost is None or asked < 1:
            return None
        return self.result.cost / asked * 1000

    @property
    def created(self) -> dt.datetime:
        """When it was computed."""
        return moment(self.result.created)

    @property
    def task(self) -> str:
        """The task of the suite or dataset, or the one with these metrics; `unknown` if there is none."""
        suite = self.result.signed.names["suite"]
        dataset = self.result.dataset.removeprefix("mini/")
        if suite in DATASETS:
            return read_suite(suite).task
        if dataset in DATASETS:
            return read_card(dataset).task
        metrics = self.metrics
        for task in names_of("task"):
            if set(read_task(task).metric_names) == metrics:
                return task
        return UNKNOWN

    @property
    def metrics(self) -> set[str]:
        """The metrics that any of its variants is rated on."""
        return set(chain.from_iterable(row.metrics for row in self.result.variants))


def newest(entries: Sequence[Entry]) -> list[Entry]:
    """The entries; of several with the same key only the one that was created last, with a warning.

    If the same result is there twice, the entry with ratings is taken, without a warning.
    """
    kept: dict[tuple[str, ...], Entry] = {}
    for entry in entries:
        first = kept.setdefault(entry.key, entry)
        if first.result == entry.result:
            if first.ratings is None:
                kept[entry.key] = entry
            continue
        # Runs are compared by their time, whatever the order of the paths.
        older, newer = (entry, first) if entry.created <= first.created else (first, entry)
        kept[entry.key] = newer
        logging.getLogger("dhp").warning(
            f"two runs of model '{entry.result.model}' (protocol '{entry.result.protocol}') on "
            f"'{entry.result.dataset}': the newest counts, {newer.place} ({newer.result.created}), not "
            f"{older.place} ({older.result.created})"
        )
    return list(kept.values())


def judge_names(entries: Iterable[Entry]) -> dict[tuple[str, str], str]:
    """(Model, protocol) -> name of the judge: its model, and its protocol if it is named or one of several.

    The name has the protocol's hash only if two protocols of the model have the same name.
    """
    protocols: dict[str, set[str]] = {}
    for entry in entries:
        protocols.setdefault(entry.result.model, set()).add(entry.result.protocol)
    names = {}
    for model, of_model in protocols.items():
        for protocol in of_model:
            names[model, protocol] = _judge_name(model, protocol, of_model - {protocol})
    return names


def _judge_name(model: str, protocol: str, others: Collection[str]) -> str:
    """The name of a judge, whose model has the protocols `others`, too."""
    way = protocol_name(protocol)
    names_of_others = [protocol_name(other) for other in others]
    if way in names_of_others:
        return f"{model} ({protocol})"
    # `none` if no model was asked, `unknown` if only ratings are known: neither says anything of a judge.
    if others or way not in ("none", UNKNOWN):
        return f"{model} ({way})"
    return model


def moment(written: str) -> dt.datetime:
    """A time in ISO 8601, UTC if it names no zone; raises `ValueError` for anything else."""
    when = dt.datetime.fromisoformat(written)
    return when if when.tzinfo else when.replace(tzinfo=dt.UTC)


def safe_name(*names: str, key: Sequence[str] = ()) -> str:
    """A file name without its ending that shows `names`, and differs if they or `key` differ.

    It has letters, digits and `-` only, so it can neither leave its folder nor mean anything to a page.
    """
    parts = []
    for name in names:
        readable = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")  # hf/Qwen/Qwen1.5 -> hf-Qwen-Qwen1-5
        if readable:
            parts.append(readable[:_LONGEST])
    # Of the names as they are: those that look alike once they are shortened still differ by it.
    parts.append(text_hash(json.dumps([*names, *key])))
    return "-".join(parts)
