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
_MILLIONS = re.compile(r"(?<![a-z0-9.])(\d+)m(?![a-z0-9])", re.I)


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One result, with its ratings where they are at hand."""

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
    def provider(self) -> str:
        """The model's name before its first `/`; `unknown` without one."""
        before, slash, _ = self.result.model.partition("/")
        return before if slash and before else UNKNOWN

    @property
    def size(self) -> float | None:
        """Billions of parameters by the model's name: 7B, 0.5b, 135M, 8x7B (which is 56); None without."""
        name = self.result.model.partition("?")[0]
        match = _BILLIONS.search(name)
        if match:  # of `30B-A3B`, all and active parameters, the first counts
            return int(match[1] or 1) * float(match[2])
        match = _MILLIONS.search(name)
        return int(match[1]) / 1000 if match else None

    @property
    def family(self) -> str | None:
        """What is before the size in the model's own name, such as qwen1.5 for `hf/Qwen/Qwen1.5-4B-Chat`;
        None if the name says no size, or nothing before it."""
        name = self.result.model.partition("?")[0].rstrip("/").rpartition("/")[2]
        match = _BILLIONS.search(name) or _MILLIONS.search(name)
        return (name[: match.start()].strip("-_. ").lower() or None) if match else None

    @property
    def cost(self) -> float | None:
        """Money per 1,000 judgements asked for, in the currency of the run's prices; None without prices."""
        asked = self.result.ratings.get("asked", 0)
        return None if self.result.cost is None or asked < 1 else self.result.cost / asked * 1000

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
        metrics = set(chain.from_iterable(row.metrics for row in self.result.variants))
        return next((t for t in names_of("task") if set(read_task(t).metric_names) == metrics), UNKNOWN)


def newest(entries: Sequence[Entry]) -> list[Entry]:
    """The entries, of those with the same key the one that was created last; the others are warned of.

    Of the same result twice the one with ratings is taken, without a word.
    """
    kept: dict[tuple[str, ...], Entry] = {}
    for entry in entries:
        first = kept.setdefault(entry.key, entry)
        if first.result == entry.result:
            kept[entry.key] = first if first.ratings is not None else entry
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


def score(result: Result, quantity: str) -> tuple[float | None, Interval]:
    """`detection` or `lowest_detection` with its interval."""
    name = "avg" if quantity == "detection" else "min"
    return getattr(result.detection, name), result.detection.ci[name]


def judge_names(entries: Iterable[Entry]) -> dict[tuple[str, str], str]:
    """(Model, protocol) -> name of the judge: its model, with its protocol if named or if others are there.

    With the protocol's hash only where names do not tell them apart.
    """
    protocols: dict[str, set[str]] = {}
    for entry in entries:
        protocols.setdefault(entry.result.model, set()).add(entry.result.protocol)
    names = {}
    for model, of in protocols.items():
        for protocol in of:
            names[model, protocol] = _judge_name(model, protocol, of - {protocol})
    return names


def _judge_name(model: str, protocol: str, others: Collection[str]) -> str:
    way = protocol_name(protocol)
    if any(other.partition("@")[0] == way for other in others):
        return f"{model} ({protocol})"
    return f"{model} ({way})" if others or way not in ("none", "unknown") else model


def moment(written: str) -> dt.datetime:
    """A time in ISO 8601, UTC if it names no zone; raises `ValueError` for anything else."""
    when = dt.datetime.fromisoformat(written)
    return when if when.tzinfo else when.replace(tzinfo=dt.UTC)


def safe_name(*names: str, key: Sequence[str] = ()) -> str:
    """A file name without its ending that tells `names`, and differs where they or `key` do.

    Letters, digits and `-` only, so it can neither leave its folder nor mean anything to a page.
    """
    readable = [re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:40] for name in names]
    return "-".join([*filter(None, readable), text_hash(json.dumps([*names, *key]))])
