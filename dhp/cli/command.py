"""Commands whose help has two lengths."""

from collections.abc import Sequence
from typing import Any

import click

from dhp.cli.messages import Messages
from dhp.cli.options import built_settings, is_stated, path_of
from dhp.core.checks import Rule
from dhp.core.errors import InputError


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
            # In the order of `common`, not of the declarations.
            options = [known[name] for name in (*self.common, "--help-all", "--help")]
        sections: dict[str, list[tuple[str, str]]] = {"Options": []}
        for option in options:
            heading = "Options" if common else getattr(option, "heading", "Options")
            record = option.get_help_record(ctx)
            if record:
                sections.setdefault(heading, []).append(record)
        return sections

    def invoke(self, ctx: click.Context) -> Any:
        """Run it with its settings records; messages name parameters by its options."""
        messages = ctx.find_object(Messages)  # None where a test invokes the command by itself
        if messages:
            messages.command = self
        for rule in self.rules:
            fault = rule(_Typed(ctx))
            if fault:
                raise InputError(fault)
        assert self.callback is not None
        return ctx.invoke(self.callback, **built_settings(ctx))


class _Typed:
    """The parameters of a command as a record for rules, which ask whether something was typed."""

    def __init__(self, context: click.Context) -> None:
        self._context = context

    def states(self, name: str) -> bool:
        """Whether an argument or an option was typed; one of a settings record is named `output.json`."""
        by_path = {path_of(each): each for each in self._context.command.params}
        parameter = by_path[name]
        # A file of options may hold `dry-run: false`, which asks for nothing.
        is_off = self._context.params.get(str(parameter.name)) is False
        return is_stated(parameter, self._context) and not is_off


_WHOLE = "dhp.whole_help"
"""Key in the `meta` of click, which a group and its command share."""


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

    # Eager: the help is shown even if a required argument is missing.
    return click.Option(
        ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=show, help=text
    )
