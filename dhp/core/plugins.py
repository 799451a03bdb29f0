"""Plug-ins: features that the core does not need, each a folder of `dhp/plugins` or a package of others."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from dhp.core.errors import InputError

GROUP = "dhp.plugins"
"""Entry points of other packages; each is a `Plugin`."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """What a plug-in adds. A target is `MODULE:OBJECT`; it is imported when it is used."""

    name: str
    help: str
    """What it is for, in one line."""
    commands: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Name of a command of `dhp` -> target, a `click.Command`, and one line of help."""
    functions: Mapping[str, str] = field(default_factory=dict)
    """Name that `dhp` offers in Python -> target."""
    models: Mapping[str, str] = field(default_factory=dict)
    """Provider of language models -> target, called with the name after the slash and the
    `dhp.ModelSettings`; it returns a `dhp.llm.api.Client` or `dhp.llm.api.LocalModel`."""
    fillers: Mapping[str, str] = field(default_factory=dict)
    """Name of what answers requests instead of the engine -> target, a record
    `dhp.llm.filler_settings.FillerSettings`, whose fields are options of commands with language models."""
    batch_providers: Mapping[str, str] = field(default_factory=dict)
    """Name of a provider that answers files of requests later -> target, the record that the plug-in which
    sends such files has for providers."""
    judges: Mapping[str, str] = field(default_factory=dict)
    """Provider, the part of a model's name before the slash -> target. It is called with the name and the
    seed, and returns a judge that asks no language model."""
    forms: Mapping[str, str] = field(default_factory=dict)
    """Form of the name of a model or judge, such as `openai/NAME` -> what it is, for `dhp list judges`."""
    datasets: Mapping[str, str] = field(default_factory=dict)
    """Kind of data that are no table of texts -> target, called with a `dhp.loaders.request.Request`. It
    returns a `Dataset`, or None for data of another kind."""
    perturbers: Mapping[str, str] = field(default_factory=dict)
    """Name of a perturber -> target, a `dhp.perturb.api.Perturber`."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Subject -> target, called with a `dhp.Result`, which returns remarks on it for readers, a line each."""
    scorers: Mapping[str, str] = field(default_factory=dict)
    """Kind of scorer of another framework -> target, called with any object. It returns a
    `dhp.judge.adapters.adapter.Adapter`, or None for an object of another kind."""
    log_scorers: Mapping[str, str] = field(default_factory=dict)
    """Kind of log -> target, called with a path. It returns the scorers that a log names, or None for a file
    of another kind."""
    log_ratings: Mapping[str, str] = field(default_factory=dict)
    """Kind of log -> target, called with a path and names of ours -> paths in an entry. It returns the scores
    that a judge gave in a log, as a table of ratings, or None for a file of another kind."""
    content: Path | None = None
    """A folder of texts for its perturbers and datasets, laid out as the folders of content of the package:
    `perturbations/NAME.yaml`, `perturbations/lists/NAME.yaml`, `datasets/tasks/NAME.yaml` and so on."""
    extra: str | None = None
    """The extra of the distribution that it needs, if any."""


@cache
def plugins() -> tuple[Plugin, ...]:
    """All plug-ins by name: the folders of `dhp/plugins`, then those that other packages register."""
    # Sorted, as file systems list a folder in orders of their own.
    folders = sorted(Path(__file__).parent.parent.joinpath("plugins").glob("*/__init__.py"))
    records = []
    for path in folders:
        module = import_module(f"dhp.plugins.{path.parent.name}")
        records.append(module.PLUGIN)
    # An empty place is the folder in which Python was started.
    if any(_may_register(place or ".") for place in sys.path):
        records += _registered()
    return tuple(records)


def _may_register(place: str) -> bool:
    """Whether a place of installed packages holds one that names our group; an archive may.

    `importlib.metadata` takes a third of the time of a command's help, and few users have such a package:
    this look at the same files decides whether it is asked.
    """
    folder = Path(place)
    try:
        if not folder.is_dir():
            # A file on the path of modules is an archive: it may hold one, and is not looked into here.
            return folder.exists()
        packages = list(os.scandir(folder))
    except OSError:  # not ours to read: `importlib.metadata` passes over it as well
        return False
    for package in packages:
        if package.name.endswith(("-info", "-INFO")):
            try:
                text = Path(package.path, "entry_points.txt").read_bytes()
            except OSError:  # a package without entry points
                continue
            if GROUP.encode() in text:
                return True
    return False


def _registered() -> list[Plugin]:
    """The plug-ins of other packages, by the names of their entry points."""
    from importlib.metadata import entry_points

    records = []
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        plugin = entry.load()
        if not isinstance(plugin, Plugin):
            raise InputError(f"plug-in '{entry.name}': {entry.value} is no dhp.core.plugins.Plugin")
        records.append(plugin)
    return records


def offered(hook: str) -> dict[str, Any]:
    """Name -> what plug-ins offer in a field of `Plugin`; raises `InputError` if two offer the same name."""
    offers: dict[str, Any] = {}
    owner: dict[str, str] = {}
    for plugin in plugins():
        for name, target in getattr(plugin, hook).items():
            if name in offers:
                both = f"'{owner[name]}' and '{plugin.name}'"
                raise InputError(f"plug-ins {both}: both add '{name}' to their {hook}; allowed: one of them")
            offers[name], owner[name] = target, plugin.name
    return offers


def load_target(target: str) -> Any:
    """The object of a target `MODULE:OBJECT`."""
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)
