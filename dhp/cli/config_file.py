"""Options from a YAML file.

`--config` is read before the other options. Its values become the defaults of the command, each as it would
be typed, so that click reads and checks them like the command line.
"""

import json
from pathlib import Path

import click

from dhp.core.errors import InputError, suggest


def config_option(command: click.decorators.FC) -> click.decorators.FC:
    """Let a command take its options from a YAML file; those of the command line come first."""
    return click.option(
        "--config",
        metavar="FILE.yaml",
        # Eager: its values must be there as defaults before click reads the other options.
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
    known: dict[str, click.Parameter] = {}
    for parameter in context.command.params:
        for option in (*parameter.opts, *parameter.secondary_opts):
            known[option.removeprefix("--")] = parameter
    defaults: dict[str, object] = {}
    for key, value in content.items():
        name = str(key).replace("_", "-")
        if name not in known or name == "config":
            raise InputError(f"--config {path}: unknown option '{key}'; {suggest(name, known)}")
        as_typed = _value(known[name], value, f"--config {path}: {key}")
        off = f"--{name}" in known[name].secondary_opts  # as in --no-controls
        defaults[str(known[name].name)] = not as_typed if off else as_typed
    context.default_map = defaults


def _value(parameter: click.Parameter, value: object, place: str) -> object:
    """The value of an option as click takes a default; `place` is for messages."""
    if isinstance(value, dict):  # e.g. `field: {output: summary}` for `--field output=summary`
        values: list[object] = [f"{ours}={_typed(theirs)}" for ours, theirs in value.items()]
    else:
        values = value if isinstance(value, list) else [value]
    is_flag = getattr(parameter, "is_flag", False)
    for each in values:
        # YAML reads `true` as a truth value; an option with words would take it for the text "True".
        if isinstance(each, bool) and not is_flag:
            raise InputError(f"{place}: true or false; allowed: a text or a number")
        if isinstance(each, list | dict) or each is None:
            raise InputError(f"{place}: allowed: a text, a number, true or false, or a list of these")
    if parameter.multiple:
        return [str(each) for each in values]
    if len(values) != 1:
        raise InputError(f"{place}: several values; allowed: one")
    return values[0] if isinstance(values[0], bool) else str(values[0])


def _typed(value: object) -> str:
    """A value of a mapping as it would be typed."""
    # A user types true and null, where Python would write True and None.
    return json.dumps(value) if isinstance(value, list | dict | bool | None) else str(value)
