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


class GroupedOption(click.Option):
    """An option below a heading in the help."""

    def __init__(self, *names: Any, heading: str, **settings: Any) -> None:
        super().__init__(*names, **settings)
        self.heading = heading


class SettingOption(GroupedOption):
    """The option of one field of a settings record."""

    def __init__(
        self, *names: Any, path: str, known: Option, record: type[Any] | None, **settings: Any
    ) -> None:
        super().__init__(*names, **settings)
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
    (field,) = (each for each in fields(record) if each.name == name)
    return _decorator(name, field, "Options", None)


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
    arguments = [each for each in command.params if isinstance(each, click.Argument)]
    names = {str(each.name): each.human_readable_name for each in arguments}
    groups: dict[str, list[str]] = {}
    options = [option for option in command.params if isinstance(option, click.Option)]
    # The shortest paths first: `name` is the field of the outer record if an inner one has that name, too.
    for option in sorted(options, key=lambda option: path_of(option).count(".")):
        parts = path_of(option).split(".")
        for start in range(len(parts)):
            tail = ".".join(parts[start:])  # a message names as much of the path as it knows
            names.setdefault(tail, option.opts[0])
            if option.secondary_opts:
                names.setdefault(f"{tail}=False", option.secondary_opts[0])
        groups.setdefault(parts[0], []).append(option.opts[0])
    spelt = {option.opts[0].lstrip("-").replace("-", "_"): option.opts[0] for option in options}
    return {group: ", ".join(options) for group, options in groups.items()} | spelt | names


def path_of(parameter: click.Parameter) -> str:
    return parameter.path if isinstance(parameter, SettingOption) else str(parameter.name)


def _setting_options(command: click.Command, parameter: str) -> list[SettingOption]:
    """The options of a settings record, or of one field, e.g. `changes.samples`."""
    options = [option for option in command.params if isinstance(option, SettingOption)]
    return [option for option in options if f"{option.path}.".startswith(f"{parameter}.")]


def _spelt(option: click.Option, context: click.Context) -> str:
    """The option as it was typed: of a pair such as --ties/--no-ties the one that was meant."""
    off = context.params.get(str(option.name)) is False and option.secondary_opts
    return off[0] if off else option.opts[0]


def is_stated(parameter: click.Parameter, context: click.Context) -> bool:
    return context.get_parameter_source(str(parameter.name)) is not ParameterSource.DEFAULT


def _leaves(record: type[Any], path: str) -> Iterator[tuple[str, "Field[Any]", str]]:
    """Path, field and heading of each option of a record and of the records in it."""
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
        return {f"{field.name}.{name}": load_target(target) for name, target in offered(hook).items()}
    record = field.metadata.get("record", field.default_factory)
    return {field.name: record} if isinstance(record, type) and is_dataclass(record) else {}


def _decorator(
    path: str, field: "Field[Any]", heading: str, record: type[Any] | None
) -> Callable[[AnyCommand], AnyCommand]:
    known = option_of(field)
    assert known is not None
    kinds = (field.type, *get_args(field.type))
    # click reads these three as they are typed; a record checks all else.
    kind: Any = next((kind for kind in (bool, int, float) if kind in kinds), str)
    default = None if field.default is MISSING or known.repeatable else field.default
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
        is_flag=kind is bool or None,
        type=None if kind is bool else str if known.read else kind,
        default=default,
        show_default=default is not None and (default is not False or "/" in known.name),
    )


def _build_record(record: type[Any], path: str, values: Mapping[str, Any]) -> Any:
    """The record with the values that are given by their paths; raises `InputError` if one is lacking."""
    arguments: dict[str, Any] = {}
    for field in fields(record):
        field_path = f"{path}.{field.name}"
        below = {name: value for name, value in values.items() if name.startswith(f"{field_path}.")}
        if field_path in values:
            arguments[field.name] = values[field_path]
            continue
        built = _built(field, path, below) if below else None
        if built:
            arguments[field.name] = built
        elif field.default is MISSING and field.default_factory is MISSING:
            raise InputError(f"`{next(iter(values))}`: requires `{field_path}`")
    return record(**arguments)


def _built(field: "Field[Any]", path: str, values: Mapping[str, Any]) -> Any:
    """The record that a field holds; of a field for plug-ins the one that is asked for, if there is one."""
    records = {
        name: _build_record(record, f"{path}.{name}", values) for name, record in _inner(field).items()
    }
    if "hook" not in field.metadata:
        return next(iter(records.values()), None)
    used = {name: record for name, record in records.items() if record.is_used}
    if len(used) > 1:
        one, other, *_ = (stated(f"{path}.{name}")[0] for name in used)
        raise InputError(f"{one}: cannot be used with {other}; leave one of them out")
    return next(iter(used.values()), None)
