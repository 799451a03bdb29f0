"""Options from the fields of settings records.

`settings` gives a command an option for each field of a record, and of the records in it. The option knows
the path to its field. When the command runs, `Command` asks `built_settings` for the records, which are made
of the options that were typed alone: a default stands in the record and nowhere else.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, get_args

import click
from click.core import ParameterSource

from dhp.core.checks import words_of
from dhp.core.errors import InputError
from dhp.core.options import Option, option_of
from dhp.core.plugins import load_target, offered

AnyCommand = Callable[..., object]


class SettingOption(click.Option):
    """The option of one field of a settings record."""

    def __init__(
        self,
        *names: Any,
        path: str,
        known: Option,
        record: type[Any] | None,
        heading: str,
        **settings: Any,
    ) -> None:
        super().__init__(*names, **settings)
        self.heading = heading
        """Below which it stands in the help."""
        self.path = path
        """The parameter of the command and the fields that lead to the value, joined by dots."""
        self.record = record
        """What the parameter of the command takes; None if it takes the typed value itself."""
        self.known = known

    def value(self, typed: Any) -> Any:
        """What the record is given for what was typed; raises `InputError` if that means nothing."""
        if self.known.read is None:
            return typed
        try:
            return self.known.read(typed)
        except ValueError as e:
            raise InputError(f"{self.opts[0]} {e}") from None


def settings(
    parameter: str, record: type[Any], *, only: Collection[str] = ()
) -> Callable[[AnyCommand], AnyCommand]:
    """Let a `Command` take a settings record as a parameter: each of its fields is an option.

    A record within a record is a separate group in the help. `only` names the fields that are options.
    """

    def decorate(command: AnyCommand) -> AnyCommand:
        # click shows the decorator nearest to the function last.
        for path, field, heading in reversed(list(_leaves(record, parameter))):
            if not only or field.name in only:
                _decorator(path, field, heading, record)(command)
        return command

    return decorate


def setting(record: type[Any], name: str) -> Callable[[AnyCommand], AnyCommand]:
    """Let a command take one field of a settings record as a parameter of that name, as it is typed."""
    by_name = {field.name: field for field in fields(record)}
    return _decorator(name, by_name[name], "Options", None)


def built_settings(context: click.Context) -> dict[str, Any]:
    """What a command is called with: its parameters as they were typed, and the settings records.

    Raises `InputError` for a value or a record that is refused.
    """
    records: dict[str, type[Any]] = {}
    for option in context.command.params:
        if isinstance(option, SettingOption) and option.record is not None:
            parameter, _, _ = option.path.partition(".")
            records[parameter] = option.record
    # A copy: messages look up in the context what was typed.
    arguments = dict(context.params)
    for parameter, record in records.items():
        values: dict[str, Any] = {}
        for option in _setting_options(context.command, parameter):
            typed = arguments.pop(str(option.name))
            if is_stated(option, context):
                values[option.path] = option.value(typed)
        arguments[parameter] = _build_record(record, parameter, values)
    return arguments


def stated(*parameters: str) -> list[str]:
    """The options of these settings, or all, that the user gave to the command that runs."""
    context = click.get_current_context()
    options: list[click.Option] = []
    for parameter in parameters:
        options += _setting_options(context.command, parameter)
    if not parameters:
        options = [each for each in context.command.params if isinstance(each, click.Option)]
    return [_spelt(option, context) for option in options if is_stated(option, context)]


def refuse_surplus(what: str, allowed: Collection[str]) -> None:
    """Raise `InputError` for an option that the user gave and that is not for this."""
    surplus = [option for option in stated() if option not in allowed]
    if surplus:
        raise InputError(f"{surplus[0]}: is not for {what}; allowed: {', '.join(allowed) or 'no option'}")


def option_names(command: click.Command) -> dict[str, str]:
    """How messages may name a parameter, e.g. `limits.cost` -> the option, e.g. `--max-cost`.

    A settings record has the names of all its options, an argument the one in the usage line.
    """
    names: dict[str, str] = {}
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            names[str(parameter.name)] = parameter.human_readable_name

    # By its path and by each end of it, as a message names as much of the path as it knows. The shortest
    # paths come first: `name` is the field of the outer record if an inner one has that name, too.
    options = [option for option in command.params if isinstance(option, click.Option)]
    options.sort(key=lambda option: path_of(option).count("."))
    for option in options:
        parts = path_of(option).split(".")
        for start in range(len(parts)):
            end = ".".join(parts[start:])
            names.setdefault(end, option.opts[0])
            if option.secondary_opts:
                # Messages write `store=False`: there the option is the spelling that switches it off.
                names.setdefault(f"{end}=False", option.secondary_opts[0])

    # By its spelling, where the field has another name: `max_cost` is `--max-cost`.
    for option in options:
        spelling = option.opts[0].lstrip("-").replace("-", "_")
        names.setdefault(spelling, option.opts[0])

    groups: dict[str, list[str]] = {}
    for option in options:
        group, _, _ = path_of(option).partition(".")
        groups.setdefault(group, []).append(option.opts[0])
    for group, spellings in groups.items():
        names.setdefault(group, ", ".join(spellings))
    return names


def path_of(parameter: click.Parameter) -> str:
    """The name of a parameter of a command; of a setting the path to its field, e.g. `limits.cost`."""
    return parameter.path if isinstance(parameter, SettingOption) else str(parameter.name)


def _setting_options(command: click.Command, parameter: str) -> list[SettingOption]:
    """The options of a settings record, or of one field, e.g. `changes.samples`."""
    options = []
    for option in command.params:
        # The dot keeps `changes.steps_of` out of `changes.steps`.
        if isinstance(option, SettingOption) and f"{option.path}.".startswith(f"{parameter}."):
            options.append(option)
    return options


def _spelt(option: click.Option, context: click.Context) -> str:
    """The option as it was typed: of a pair such as --ties/--no-ties the one that was meant."""
    # `--no-ties` and `--ties` are two spellings of one option: its value says which was typed.
    is_off = context.params.get(str(option.name)) is False
    if is_off and option.secondary_opts:
        return option.secondary_opts[0]
    return option.opts[0]


def is_stated(parameter: click.Parameter, context: click.Context) -> bool:
    """Whether it was typed, or stands in a file of options."""
    return context.get_parameter_source(str(parameter.name)) is not ParameterSource.DEFAULT


def _leaves(record: type[Any], path: str) -> Iterator[tuple[str, "Field[Any]", str]]:
    """Path, field and heading of each option of a record and of the records in it."""
    # The first line of its docstring is the heading in the help.
    heading = (record.__doc__ or "").partition("\n")[0].rstrip(".")
    for field in fields(record):
        inner = _inner(field)
        if inner:
            for name, each in inner.items():
                yield from _leaves(each, f"{path}.{name}")
        elif option_of(field):
            yield f"{path}.{field.name}", field, heading


def _inner(field: "Field[Any]") -> dict[str, type[Any]]:
    """Path -> settings record that a field may hold; of a field for plug-ins, each that a plug-in adds."""
    hook = field.metadata.get("hook")
    if hook:
        of_plugins: dict[str, type[Any]] = {}
        for name, target in offered(hook).items():
            of_plugins[f"{field.name}.{name}"] = load_target(target)
        return of_plugins
    record = field.metadata.get("record", field.default_factory)
    is_record = isinstance(record, type) and is_dataclass(record)
    return {field.name: record} if is_record else {}


def _kind(field: "Field[Any]") -> type[Any]:
    """What click reads a typed value as; a record checks what its field says beyond that."""
    # The type itself, or what a union such as `float | None` is made of.
    kinds = (field.type, *get_args(field.type))
    for kind in (bool, int, float):
        if kind in kinds:
            return kind
    return str


def _decorator(
    path: str, field: "Field[Any]", heading: str, record: type[Any] | None
) -> Callable[[AnyCommand], AnyCommand]:
    known = option_of(field)
    assert known is not None
    kind = _kind(field)
    is_flag = kind is bool
    # What `read` makes a value of is a text to click.
    kind_of_click: type[Any] | None = str if known.read else kind
    if is_flag:
        kind_of_click = None  # it takes no value
    default = None if field.default is MISSING or known.repeatable else field.default
    # That a flag is off goes without saying, but not which of a pair such as --ties/--no-ties holds.
    shows_default = default is not None and (default is not False or "/" in known.name)
    return click.option(
        known.name or f"--{field.name.replace('_', '-')}",
        path.replace(".", "_"),
        cls=SettingOption,
        path=path,
        record=record,
        known=known,
        heading=heading,
        help=known.help,
        metavar=known.metavar or "|".join(words_of(field.type)) or None,
        multiple=known.repeatable,
        is_flag=is_flag or None,
        type=kind_of_click,
        default=default,
        show_default=shows_default,
    )


def _build_record(record: type[Any], path: str, values: Mapping[str, Any]) -> Any:
    """The record with the values that are given by their paths; raises `InputError` if one is lacking."""
    arguments: dict[str, Any] = {}
    for field in fields(record):
        field_path = f"{path}.{field.name}"
        if field_path in values:
            arguments[field.name] = values[field_path]
            continue
        inner = _inner_record(field, path, values)
        if inner is not None:
            arguments[field.name] = inner
        elif field.default is MISSING and field.default_factory is MISSING:
            raise InputError(f"`{_below(path, values)[0]}`: requires `{field_path}`")
    return record(**arguments)


def _inner_record(field: "Field[Any]", path: str, values: Mapping[str, Any]) -> Any:
    """The record that a field holds, if something in it was typed; of a field for plug-ins the one in use."""
    records: dict[str, Any] = {}
    for name, record in _inner(field).items():
        inner_path = f"{path}.{name}"
        if _below(inner_path, values):
            records[inner_path] = _build_record(record, inner_path, values)
    if "hook" in field.metadata:
        records = {each: record for each, record in records.items() if record.is_used}
    if len(records) > 1:
        one, other, *_ = records
        raise InputError(f"{stated(one)[0]}: cannot be used with {stated(other)[0]}; leave one of them out")
    return next(iter(records.values()), None)


def _below(path: str, values: Mapping[str, Any]) -> list[str]:
    """The paths of the values in a record."""
    return [name for name in values if name.startswith(f"{path}.")]
