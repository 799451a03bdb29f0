"""Hooks of mkdocs: pages made of the program itself, and the check that a page loads nothing from elsewhere.

mkdocs build --strict
"""

import html
import re
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any

import click
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

import dhp
from dhp.cli.command import Command
from dhp.cli.main import app
from dhp.content.catalog import names_of, read_protocol, read_suite
from dhp.core.options import option_of
from dhp.core.plugins import offered
from dhp.perturb.registry import find_perturbers

SUITES = ("summeval", "sumpubmed", "story_cloze", "answer_equivalence", "wmt22_deen", "wmt22_zhen", "general")
PYTHON = {
    "Runs": "run estimate judge perturb_datasets analyze correlate compare gate power report leaderboard",
    "Settings": "AnalysisConfig ModelSettings RateLimits Limits Prices JudgeSettings PerturbModel Choice",
    "Protocols and metrics": "protocol Protocol own_metric own_task",
    "Judges and perturbers": "Judge llm_judge LlmJudge Candidate Rating perturber Perturber Edited",
    "Data": "Dataset Example Variant log_dataset read_human_scores",
    "Results": "Results Result",
    "Errors": "DhpError InputError StoppedEarly NotApplicable",
}
"""Heading -> names of `dhp`, all of them."""
_LOADED = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=.?https?:|<link\b[^>]*stylesheet[^>]*https?:", re.I
)
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_SAYS: dict[str, str] = {}
"""Address of a page -> its first paragraph, in the order of the site."""
_ABOUT_PROTOCOLS = """\
A protocol says how a judge is asked and how its answers are read. `dhp show NAME` prints the exact
prompts; a YAML file with the same keys is a protocol of your own. What a paper says and what is ours stands
apart. How answers are read: [extraction.md](extraction.md).
"""
_ABOUT_PERTURBATIONS = """\
What makes a text worse in one known way is a perturber, with its level and its degrees. A suite, one YAML
file a dataset, says which of them are used and how much they do; `dhp perturb --dataset NAME --show 3`
shows texts and their differences. Rules are code; *authored* edits of the bundled texts were written for
this project; *llm* perturbers are carried out by a language model that you name (`--perturb-model`).
Controls must not lower a score, attacks must not raise one.
"""


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made of the program."""
    pages = {
        "reference/cli.md": _command_line(),
        "reference/python.md": _python(),
        "protocols.md": _protocols(),
        "perturbations.md": _perturbations(),
    }
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> None:
    """Note what a page is about, for `llms.txt`: its first paragraph."""
    _, _, text = markdown.partition("\n\n")
    paragraph = text.strip().partition("\n\n")[0]
    _SAYS[page.url] = " ".join(_LINK.sub(r"\1", paragraph).split())


def on_post_build(config: Any) -> None:
    """Write `llms.txt`, the list of pages for language models."""
    lines = ["# dhp", "", f"> {config.site_description}", ""]
    lines += [f"- [{url.removesuffix('.html')}]({url}): {says}" for url, says in _SAYS.items()]
    Path(config.site_dir, "llms.txt").write_text("\n".join(lines) + "\n", "utf-8")


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Refuse a page that would load something from elsewhere."""
    found = _LOADED.search(output)
    if found:
        raise PluginError(f"{page.file.src_uri}: loads something from elsewhere: {found[0]}")
    return output


def _command_line() -> str:
    context = click.Context(app, info_name="dhp", show_default=True)
    lines = ["# Command line", "", "What `dhp COMMAND --help-all` says, in one page.", ""]
    for command, inner in _commands(app, context):
        lines += [f"## {inner.command_path}", ""]
        lines += [_help(command, inner), ""]
    return "\n".join(lines)


def _commands(group: click.Group, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context)
        yield command, inner
        if isinstance(command, click.Group):
            yield from _commands(command, inner)


def _help(command: click.Command, context: click.Context) -> str:
    said = (command.help or "").strip()
    text, _, example = said.partition("Example:")
    parts = [_code(" ".join(command.collect_usage_pieces(context)), context.command_path), _plain(text)]
    if example:
        parts.append(f"```\n{' '.join(example.split())}\n```")
    if isinstance(command, Command):
        for heading, records in command.sections(context).items():
            rows = [
                f"| <code>{html.escape(name).replace('|', '&#124;')}</code> | {_cell(meaning)} |"
                for name, meaning in records
            ]
            parts.append("\n".join([f"| {_plain(heading)} | |", "|---|---|", *rows]))
    return "\n\n".join(parts)


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|<wbr>")


def _code(usage: str, path: str) -> str:
    return f"```\n{path} {usage}\n```"


def _plain(text: str) -> str:
    """Text in which nothing is markup."""
    return re.sub(r"([\\*_<>\[\]{}])", r"\\\1", " ".join(text.split()))


def _python() -> str:
    listed = {name for names in PYTHON.values() for name in names.split()} | {"__version__"}
    public = {*dhp.__all__, *offered("functions")}
    if listed != public:
        raise PluginError(f"scripts/docs_site.py: PYTHON and the names of dhp differ: {listed ^ public}")
    lines = ["# Python", "", "All names of `dhp`; each is imported when it is first used.", ""]
    for heading, names in PYTHON.items():
        lines += [f"## {heading}", ""]
        for name in names.split():
            lines += [
                f"::: {_path(name)}",
                "    options:",
                f"      heading: dhp.{name}",
                f"      toc_label: {name}",
                "",
                *_options(getattr(dhp, name)),
            ]
    return "\n".join(lines)


def _options(record: Any) -> list[str]:
    """The fields of a settings record that are options of the command line, too."""
    found = [each for each in fields(record) if option_of(each)] if is_dataclass(record) else []
    rows = []
    for each in found:
        known = option_of(each)
        assert known is not None
        default = "" if each.default in (MISSING, None, ()) else f"`{each.default!r}`"
        option = known.name or f"--{each.name.replace('_', '-')}"
        rows.append(f"| `{each.name}` | `{option}` | {default} | {_cell(known.help)} |")
    return ["| field | option | default | |", "|---|---|---|---|", *rows, ""] if rows else []


def _path(name: str) -> str:
    """Where a name of `dhp` is defined."""
    if name in dhp._CALLABLE:
        return ".".join(("dhp", *dhp._CALLABLE[name]))
    target = offered("functions").get(name)
    if target:
        return str(target).replace(":", ".")
    return f"dhp.{dhp._MODULE_OF[name]}.{name}"


def _protocols() -> str:
    lines = [
        "# Protocols",
        "",
        _ABOUT_PROTOCOLS,
        "## Pointwise",
        "",
        "Each text is rated on its own, by metric.",
    ]
    kept = {"answer", "steps", "samples", "temperature", "top_p", "max_tokens", "extraction"}
    for name in names_of("protocol"):
        found = read_protocol(name)
        lines += _protocol(name, found.description, found.model_dump(include=kept))
        sources = (("Published", found.published), ("Ours", found.ours))
        lines += [f"- {who}: {_plain(said)}" for who, said in sources if said]
    lines += ["", "## Pairwise", "", "Two texts are shown side by side, see [battle.md](battle.md)."]
    for name in names_of("pairwise protocol"):
        lines += _protocol(name, read_protocol(name).description, {})
    return "\n".join(lines) + "\n"


def _protocol(name: str, description: str, settings: dict[str, object]) -> list[str]:
    shown = ", ".join(
        f"{key} {'of the model' if value is None else value}" for key, value in settings.items()
    )
    return ["", f"### {name}", "", _plain(description), "", *([f"- Settings: {shown}"] if shown else [])]


def _perturbations() -> str:
    registry = find_perturbers((), [])
    used: dict[str, list[str]] = {}
    for suite in SUITES:
        for name in read_suite(suite).perturbers:
            used.setdefault(name, []).append(suite)
    lines = ["# Perturbations", "", _ABOUT_PERTURBATIONS, "| perturber | level | suites |", "|---|---|---|"]
    levels = {name: use.level for suite in SUITES for name, use in read_suite(suite).perturbers.items()}
    levels |= {name: found.level for name, found in registry.items()}
    for name, level in sorted(levels.items(), key=lambda each: (each[1], each[0])):
        lines.append(f"| `{name}` | {level} | {', '.join(used.get(name, ['–']))} |")
    lines += ["", "## Rules", ""]
    for name, found in sorted(registry.items(), key=lambda each: (each[1].level, each[0])):
        if found.function is not None:
            said = " ".join((found.function.__doc__ or "").split())
            lines += [f"### {name}", "", f"*{found.level}*. {said}", ""]
    return "\n".join(lines)
