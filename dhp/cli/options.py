"""Options of commands, from the fields of settings records or from a file, and messages that name them."""

import json
import logging
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Any, get_args

import click
from click.core import ParameterSource

from dhp.core.checks import Rule
from dhp.core.errors import InputError, suggest, unquoted
from dhp.core.options import Option, option_of
from dhp.core.plugins import load_target, offered

AnyCommand = Callable[..., object]


class GroupedOption(click.Option):
    """An option that stands below a heading in the help."""

    def __init__(self, *names: Any, heading: str, **settings: Any) -> None:
        super().__init__(*names, **settings)
        self.heading = heading


class SettingOption(GroupedOption):
    """The option of one field of a settings record."""

    def __init__(self, *names: Any, path: str, known: Option, **settings: Any) -> None:
        super().__init__(*names, **settings)
        self.path = path
        """The parameter of the command and the fields that lead to the value, joined by dots."""
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
    """Let a command take a settings record as a parameter: each of its fields is an option.

    A record within a record is a group of its own in the help. `only` names the fields that are options.
    """

    def decorate(command: AnyCommand) -> AnyCommand:
        @wraps(command)
        def wrapper(**keywords: Any) -> object:
            context, values = click.get_current_context(), {}
            for option in _setting_options(context.command, parameter):
                typed = keywords.pop(str(option.name))
                if _is_stated(option, context):
                    values[option.path] = option.value(typed)
            return command(**keywords, **{parameter: _build_record(record, parameter, values)})

        for path, field, heading in reversed(list(_leaves(record, parameter))):
            if not only or field.name in only:
                _decorator(path, field, heading)(wrapper)
        return wrapper

    return decorate


def setting(record: type[Any], name: str) -> Callable[[AnyCommand], AnyCommand]:
    """Let a command take one field of a settings record as a parameter of that name, as it is typed."""
    (field,) = (each for each in fields(record) if each.name == name)
    return _decorator(name, field, "Options")


def stated(*parameters: str) -> list[str]:
    """The options of these settings, or all, that the user gave to the command that runs."""
    context = click.get_current_context()
    options = [option for option in context.command.params if isinstance(option, click.Option)]
    if parameters:
        options = [option for each in parameters for option in _setting_options(context.command, each)]
    return [_spelt(option, context) for option in options if _is_stated(option, context)]


def refuse_surplus(what: str, allowed: Collection[str]) -> None:
    """Raise `InputError` for an option that the user gave and that is not for this."""
    if surplus := [option for option in stated() if option not in allowed]:
        raise InputError(f"{surplus[0]}: is not for {what}; allowed: {', '.join(allowed) or 'no option'}")


def option_names(command: click.Command) -> dict[str, str]:
    """How messages may name a parameter, e.g. `limits.cost` -> the option, e.g. `--max-cost`.

    A settings record has the names of all its options, an argument the one in the usage line.
    """
    arguments = [each for each in command.params if isinstance(each, click.Argument)]
    names = {str(each.name): each.human_readable_name for each in arguments}
    groups: dict[str, list[str]] = {}
    options = [option for option in command.params if isinstance(option, click.Option)]
    for option in sorted(options, key=lambda option: _path(option).count(".")):
        parts = _path(option).split(".")
        for start in range(len(parts)):
            names.setdefault(".".join(parts[start:]), option.opts[0])
            if option.secondary_opts:
                names.setdefault(f"{'.'.join(parts[start:])}=False", option.secondary_opts[0])
        groups.setdefault(parts[0], []).append(option.opts[0])
    spelt = {option.opts[0].lstrip("-").replace("-", "_"): option.opts[0] for option in options}
    return {group: ", ".join(options) for group, options in groups.items()} | spelt | names


def _path(parameter: click.Parameter) -> str:
    return parameter.path if isinstance(parameter, SettingOption) else str(parameter.name)


def _setting_options(command: click.Command, parameter: str) -> list[SettingOption]:
    """The options of a settings record, or of one field, e.g. `changes.samples`."""
    options = [option for option in command.params if isinstance(option, SettingOption)]
    return [option for option in options if f"{option.path}.".startswith(f"{parameter}.")]


def _spelt(option: click.Option, context: click.Context) -> str:
    """The option as it was typed: of a pair such as --ties/--no-ties the one that was meant."""
    off = context.params.get(str(option.name)) is False and option.secondary_opts
    return off[0] if off else option.opts[0]


def _is_stated(parameter: click.Parameter, context: click.Context) -> bool:
    return context.get_parameter_source(str(parameter.name)) is not ParameterSource.DEFAULT


def _leaves(record: type[Any], path: str) -> Iterator[tuple[str, "Field[Any]", str]]:
    """Path, field and heading of each option of a record and of the records in it."""
    heading = (record.__doc__ or "").partition("\n")[0].rstrip(".")
    for field in fields(record):
        if inner := _inner(field):
            for name, each in inner.items():
                yield from _leaves(each, f"{path}.{name}")
        elif option_of(field):
            yield f"{path}.{field.name}", field, heading


def _inner(field: "Field[Any]") -> dict[str, type[Any]]:
    """Path -> settings record that a field may hold; of a field for plug-ins, each that a plug-in adds."""
    if hook := field.metadata.get("hook"):
        return {f"{field.name}.{name}": load_target(target) for name, target in offered(hook).items()}
    record = field.metadata.get("record", field.default_factory)
    return {field.name: record} if isinstance(record, type) and is_dataclass(record) else {}


def _decorator(path: str, field: "Field[Any]", heading: str) -> Callable[[AnyCommand], AnyCommand]:
    known = option_of(field)
    assert known is not None
    kinds = (field.type, *get_args(field.type))
    kind: Any = next((kind for kind in (bool, int, float) if kind in kinds), str)
    default = None if field.default is MISSING or known.repeatable else field.default
    return click.option(
        known.name or f"--{field.name.replace('_', '-')}",
        path.replace(".", "_"),
        cls=SettingOption,
        path=path,
        known=known,
        heading=heading,
        help=known.help,
        metavar=known.metavar or None,
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
        elif below and (built := _built(field, path, below)):
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


class Command(click.Command):
    """A command whose --help shows the options that most people need, and whose --help-all shows all.

    `common` names these options in the order of their use; without it all are shown. `rules` say which
    options go together, by their names as parameters.
    """

    def __init__(self, *arguments: Any, common: str = "", rules: Sequence[Rule] = (), **known: Any) -> None:
        super().__init__(*arguments, **known)
        self.common = common.split()
        self.rules = rules
        if self.common:
            self.params.append(help_all("Show all options."))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the common options, or all of them by group."""
        for heading, rows in self.sections(ctx, common=not is_whole_help(ctx)).items():
            with formatter.section(heading):
                formatter.write_dl(rows)

    def sections(self, ctx: click.Context, *, common: bool = False) -> dict[str, list[tuple[str, str]]]:
        """Heading -> spelling and help of each option; the options of the command itself come first."""
        options = [option for option in self.get_params(ctx) if isinstance(option, click.Option)]
        if common and self.common:
            known = {option.opts[0]: option for option in options}
            options = [known[name] for name in (*self.common, "--help-all", "--help")]
        sections: dict[str, list[tuple[str, str]]] = {"Options": []}
        for option in options:
            heading = "Options" if common else getattr(option, "heading", "Options")
            if record := option.get_help_record(ctx):
                sections.setdefault(heading, []).append(record)
        return sections

    def invoke(self, ctx: click.Context) -> Any:
        """Run it; messages name parameters by its options."""
        if messages := ctx.find_object(Messages):
            messages.command = self
        for rule in self.rules:
            if fault := rule(_Typed(ctx)):
                raise InputError(fault)
        return super().invoke(ctx)


class _Typed:
    """The parameters of a command as a record for rules."""

    def __init__(self, context: click.Context) -> None:
        self._context = context

    def states(self, name: str) -> bool:
        """Whether an argument or an option was typed; one of a settings record is named `output.json`."""
        (parameter,) = (each for each in self._context.command.params if _path(each) == name)
        return _is_stated(parameter, self._context)


_WHOLE = "dhp.whole_help"


def is_whole_help(context: click.Context) -> bool:
    """Whether --help-all was given."""
    return bool(context.meta.get(_WHOLE))


def help_all(text: str) -> click.Option:
    """The option that shows the whole help of a command or of a group."""

    def show(context: click.Context, _: click.Parameter, wanted: bool) -> None:
        if wanted:
            context.meta[_WHOLE] = True
            click.echo(context.get_help(), color=context.color)
            context.exit()

    return click.Option(
        ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=show, help=text
    )


def config_option(command: click.decorators.FC) -> click.decorators.FC:
    """Let a command take its options from a YAML file; those of the command line come first."""
    return click.option(
        "--config",
        metavar="FILE.yaml",
        is_eager=True,
        expose_value=False,
        callback=_read,
        help="Read options from this file, as written by dhp init.",
    )(command)


def _read(context: click.Context, _: click.Parameter, path: str | None) -> None:
    if path is None:
        return
    from dhp.content.yaml_files import load_yaml

    content = load_yaml(Path(path))
    if not isinstance(content, dict):
        raise InputError(f"--config {path}: must be a mapping of options, e.g. model: openai/NAME")
    known = {o.removeprefix("--"): p for p in context.command.params for o in (*p.opts, *p.secondary_opts)}
    defaults: dict[str, object] = {}
    for key, value in content.items():
        name = str(key).replace("_", "-")
        if name not in known or name == "config":
            raise InputError(f"--config {path}: unknown option '{key}'; {suggest(name, known)}")
        found_value = _value(known[name], value, f"--config {path}: {key}")
        off = f"--{name}" in known[name].secondary_opts  # as in --no-controls
        defaults[str(known[name].name)] = not found_value if off else found_value
    context.default_map = defaults


def _value(parameter: click.Parameter, value: object, place: str) -> object:
    values = value if isinstance(value, list) else [value]
    if not getattr(parameter, "is_flag", False) and any(isinstance(each, bool) for each in values):
        raise InputError(f"{place}: true or false; allowed: a text or a number")
    if isinstance(value, dict):
        values = [f"{ours}={_typed(theirs)}" for ours, theirs in value.items()]
    if any(isinstance(each, list | dict) or each is None for each in values):
        raise InputError(f"{place}: allowed: a text, a number, true or false, or a list of these")
    if parameter.multiple:
        return [str(each) for each in values]
    if len(values) != 1:
        raise InputError(f"{place}: several values; allowed: one")
    return values[0] if isinstance(values[0], bool) else str(values[0])


def _typed(value: object) -> str:
    """A value of a mapping as it would be typed."""
    return json.dumps(value) if isinstance(value, list | dict | bool | None) else str(value)


_PARAMETER = re.compile(r"`([a-z_]+(?:\.[a-z_]+)*)(=None|=False)?`")
"""How the library names a parameter in a message."""


class Messages(logging.Handler):
    """Prints errors, warnings and what the package logs, one line each."""

    def __init__(self, names: Callable[[click.Command | None], Mapping[str, str]]) -> None:
        """`names` gives the options that parameters have in a command."""
        super().__init__()
        self._names = names
        self.command: click.Command | None = None
        """The command that runs."""

    def say(self, message: str) -> None:
        """Print a message."""
        from dhp.core.text import printable

        if _PARAMETER.search(message):
            names = self._names(self.command)
            message = _PARAMETER.sub(lambda match: _option(match, names), message)
        print(f"dhp: {printable(' '.join(unquoted(message).split()))}", file=sys.stderr)

    def emit(self, record: logging.LogRecord) -> None:
        """Print what is logged."""
        self.say(record.getMessage())

    def show_warning(self, message: Warning | str, *_: object) -> None:
        """Replacement of `warnings.showwarning`."""
        self.say(str(message))


def _option(match: re.Match[str], names: Mapping[str, str]) -> str:
    """The option of a parameter; other names are left unchanged."""
    name, value = match[1], match[2] or ""
    group, _, rest = name.partition(".")
    if name not in names and group in names:
        name = rest
    if value == "=None":
        return f"{names[name]} default" if name in names else match[0]
    return names.get(name + value, match[0])
