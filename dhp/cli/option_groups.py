"""Groups of options: a dataclass whose fields are options is one parameter of the commands that take it."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from dhp.core.errors import InputError

if TYPE_CHECKING:
    from dhp.analysis.config import AnalysisConfig

Command = Callable[..., object]


def option(*names: str, default: Any = None, **settings: Any) -> Any:
    """A field of a group that is an option of the command line.

    Parameters
    ----------
    names, settings
        As for `click.option`; the field bears the name that click derives from the option.
    default
        Of the field and of the option; an empty tuple where it may be repeated.
    """
    default = () if settings.get("multiple") and default is None else default
    if isinstance(default, bool):
        settings.setdefault("is_flag", True)
    return field(default=default, metadata={"names": names, "settings": {**settings, "default": default}})


def option_group(name: str, group: type[Any]) -> Callable[[Command], Command]:
    """Let a command take an instance of a dataclass as its parameter `name`: each field is an option.

    In the help they stand below the first line of the dataclass's docstring.
    """
    heading = (group.__doc__ or "").partition("\n")[0].rstrip(".")

    def decorate(command: Command) -> Command:
        @wraps(command)
        def wrapper(**given: Any) -> object:
            given[name] = group(**{each.name: given.pop(each.name) for each in fields(group)})
            return command(**given)

        for each in reversed(fields(group)):
            settings = {"cls": _Option, "heading": heading, **each.metadata["settings"]}
            click.option(*each.metadata["names"], **settings)(wrapper)
        return wrapper

    return decorate


def pair_map(option: str, pairs: Sequence[str], form: str, example: str) -> dict[str, str]:
    """`NAME=VALUE` pairs of an option as a mapping; raises `InputError` for another form and a name twice."""
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not (name and equals and value):
            raise InputError(f"{option} '{pair}': must have the form {form}, e.g. {example}")
        if found.setdefault(name, value) != value:
            raise InputError(f"{option} '{pair}': '{name}' is mapped twice; map it once")
    return found


class _Option(click.Option):
    """An option of a group."""

    def __init__(self, *arguments: Any, heading: str, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.heading = heading


class GroupedCommand(click.Command):
    """A command whose help shows its options by group, its own ones first."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write all options."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            if record := parameter.get_help_record(ctx):
                sections.setdefault(getattr(parameter, "heading", "Options"), []).append(record)
        for heading in sorted(sections, key="Options".__ne__):
            with formatter.section(heading):
                formatter.write_dl(sections[heading])


SEED: dict[str, Any] = {"default": 0, "metavar": "K", "help": "Seed of every random choice."}
COUNT: dict[str, Any] = {
    "type": int,
    "metavar": "N",
    "help": "Number of examples; default: the card's or all.",
}
SUITE: dict[str, Any] = {
    "metavar": "NAME|FILE.yaml",
    "help": "Perturbers and parameters; default: the dataset's.",
}
ALLOW: dict[str, Any] = {
    "multiple": True,
    "metavar": "PART",
    "help": "A part of the signature that may differ: protocol or metrics; may be repeated.",
}
"""Settings of options that also stand outside a group."""


@dataclass(frozen=True)
class StatisticsOptions:
    """How ratings are analysed."""

    weights: str | None = option(
        "--weights", metavar="NAME|FILE.yaml", help="Expert weights; default: design where it fits."
    )
    statistics: str = option(
        "--statistics", default="default", metavar="default|paper", help="Exact tests, or the paper's own."
    )
    combination: str | None = option(
        "--combination", metavar="NAME", help="hmp, printed, hmp-asymptotic or joint; default: the preset's."
    )
    floor: float = option(
        "--floor", default=60.0, metavar="PERCENT", help="Detection below which damage counts as missed."
    )

    def config(self, *, stop_when_resolved: bool = False, find_threshold: bool = False) -> "AnalysisConfig":
        """For `dhp.run` and `dhp.analyze`."""
        from dhp.analysis.config import AnalysisConfig

        if not 50 < self.floor <= 100:
            raise InputError(f"--floor {self.floor:g}: allowed: more than 50, at most 100")
        given = {**asdict(self), "floor": self.floor / 100}
        return AnalysisConfig(**given, stop_when_resolved=stop_when_resolved, find_threshold=find_threshold)
