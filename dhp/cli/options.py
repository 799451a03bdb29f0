"""Options that several subcommands share, in groups."""

import io
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from dataclasses import field as option
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated

import typer

from dhp.core.errors import InputError, suggest

if TYPE_CHECKING:
    from dhp.analysis.results import Results
    from dhp.cli.progress import Show
    from dhp.perturb.build import Choice
    from dhp.perturb.dose_suites import Doses
    from dhp.perturb.model_config import PerturbModel

_OUR_FIELDS = ("id", "source", "output", "question", "wrong_ending", "perturbed", "kind", "level")

ModelNames = Annotated[
    list[str],
    typer.Option("--model", metavar="MODEL", help="provider/name, e.g. baseline/surface; may be repeated."),
]
Count = Annotated[
    int | None, typer.Option("--n", metavar="N", help="Number of examples; default: the card's or all.")
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of every random choice.")]
SuiteName = Annotated[
    str | None,
    typer.Option(
        "--suite", metavar="NAME|FILE.yaml", help="Perturbers and parameters; default: the dataset's."
    ),
]


@dataclass(frozen=True)
class TextOptions:
    """Which texts a command is about."""

    dataset: Annotated[
        list[str],
        typer.Option(
            "--dataset",
            metavar="NAME|FILE",
            help="mini (default), mini/NAME, NAME, all, FILE.jsonl|.csv|.parquet or hf:ORG/NAME; repeatable.",
        ),
    ] = option(default_factory=list)
    data: Annotated[
        str | None,
        typer.Option("--data", metavar="PATH", help="Where the dataset NAME lies as its owners publish it."),
    ] = None
    task: Annotated[
        str | None,
        typer.Option("--task", metavar="NAME|FILE.yaml", help="What the texts of your own file are."),
    ] = None
    field: Annotated[
        list[str],
        typer.Option("--field", metavar="OURS=THEIRS", help="Column of your own file, e.g. output=summary."),
    ] = option(default_factory=list)
    suite: SuiteName = None
    perturber: Annotated[
        list[str],
        typer.Option(
            "--perturber", metavar="MODULE:FUNCTION", help="A perturber of your own; may be repeated."
        ),
    ] = option(default_factory=list)
    only: Annotated[
        str | None,
        typer.Option("--only", metavar="rule", help="Stand-ins by rule; default without --perturb-model."),
    ] = None
    perturb_model: Annotated[
        str | None,
        typer.Option("--perturb-model", metavar="MODEL", help="Makes the perturbations by language model."),
    ] = None
    perturb_steps: Annotated[
        str,
        typer.Option("--perturb-steps", metavar="written|auto", help="Adjustment steps in its prompts."),
    ] = "written"
    perturb_prompts: Annotated[
        str | None,
        typer.Option("--perturb-prompts", metavar="DIR", help="Prompt files of your own for it."),
    ] = None
    perturb_tokens: Annotated[
        int | None,
        typer.Option(
            "--perturb-tokens", metavar="K", help="Most tokens of one text; default: by its length."
        ),
    ] = None
    perturbed: Annotated[
        str | None,
        typer.Option("--perturbed", metavar="DIR|hf:ORG/NAME", help="A frozen or released set of texts."),
    ] = None
    controls: Annotated[bool, typer.Option("--controls", help="Add changes that must not lower a score.")] = (
        False
    )
    attacks: Annotated[bool, typer.Option("--attacks", help="Add changes that must not raise a score.")] = (
        False
    )
    doses: Annotated[
        list[str],
        typer.Option(
            "--doses",
            metavar="[PERTURBER=]K,K,...",
            help="Degrade in each of these doses, e.g. 1,2,5,10.",
        ),
    ] = option(default_factory=list)
    n: Count = None
    seed: Seed = 0

    def choice(self) -> "Choice":
        """For `dhp.run` and `dhp.perturb_datasets`."""
        from dhp.perturb.registry import load_perturber

        return {
            "data": self.data,
            "task": self.task,
            "fields": field_map(self.field),
            "n": self.n,
            "suite": self.suite,
            "perturbers": [load_perturber(reference) for reference in self.perturber],
            "perturb_model": self._perturb_model(),
            "perturbed": self.perturbed,
            "controls": self.controls,
            "attacks": self.attacks,
            "doses": _doses(self.doses),
        }

    def _perturb_model(self) -> "PerturbModel | None":
        if self.only not in (None, "rule"):
            raise InputError(f"--only '{self.only}': unknown; allowed: rule")
        if self.perturb_model is None:
            if self.only and self.perturbed:
                raise InputError(
                    f"--only: cannot be used with --perturbed {self.perturbed}, which brings its texts"
                )
            given = {
                "--perturb-steps": self.perturb_steps != "written",
                "--perturb-prompts": self.perturb_prompts,
                "--perturb-tokens": self.perturb_tokens,
            }
            if without := [option for option, value in given.items() if value]:
                raise InputError(f"{without[0]}: is for a language model; give one by --perturb-model")
            return None
        if self.only:
            raise InputError("--only rule: contradicts --perturb-model; give one or the other")
        from dhp.perturb.model_config import PerturbModel

        return PerturbModel(self.perturb_model, self.perturb_steps, self.perturb_prompts, self.perturb_tokens)


@dataclass(frozen=True)
class StatisticsOptions:
    """How ratings are analysed."""

    weights: Annotated[
        str | None,
        typer.Option(
            "--weights", metavar="NAME|FILE.yaml", help="Expert weights; default: design where it fits."
        ),
    ] = None
    statistics: Annotated[
        str,
        typer.Option("--statistics", metavar="default|paper", help="Exact tests, or the paper's own."),
    ] = "default"
    combination: Annotated[
        str | None,
        typer.Option(
            "--combination", metavar="NAME", help="hmp, printed or hmp-asymptotic; default: the preset's."
        ),
    ] = None
    resamples: Annotated[
        int, typer.Option("--resamples", metavar="K", help="Of the examples, for the 95 % intervals.")
    ] = 2000


@dataclass(frozen=True)
class OutputOptions:
    """What is printed of results: tables for people, or one of these."""

    json: Annotated[bool, typer.Option("--json", help="Print what results.json holds.")] = False
    csv: Annotated[bool, typer.Option("--csv", help="Print one row a variant and metric.")] = False
    markdown: Annotated[bool, typer.Option("--markdown", help="Print tables for a pull request.")] = False
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False

    def check(self, dry_run: bool = False) -> None:
        """Raise `InputError` for more than one of them, and for any in a dry run, which has no results."""
        given = [f"--{name}" for name, wanted in asdict(self).items() if wanted]
        if len(given) > 1:
            raise InputError(f"{' and '.join(given)}: contradict each other; give at most one")
        if given and dry_run:
            raise InputError(f"{given[0]}: cannot be used with --dry-run, which has no results to print")

    @contextmanager
    def working(self, unit: str) -> Iterator["Show | None"]:
        """Yields what shows progress on standard error; where all shall be quiet, None, without warnings."""
        if self.quiet:
            with warnings.catch_warnings(action="ignore"):
                yield None
            return
        from dhp.cli.progress import progress_shown

        with progress_shown(unit) as show:
            yield show

    def show(self, results: "Results") -> None:
        """Print the results; what a program is to read in UTF-8, whatever the terminal speaks."""
        if self.quiet:
            return
        if not (self.json or self.csv or self.markdown):
            from dhp.cli.console import output_console
            from dhp.report.terminal import print_results

            print_results(results, output_console())
            return
        from dhp.report.formats import csv_text, json_text, markdown_text

        form = json_text if self.json else csv_text if self.csv else markdown_text
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8", errors="replace", newline="\n")
        print(form(results), end="")

    def say(self, line: str) -> None:
        """Print a line for people, beside what is for a program."""
        if not self.quiet:
            for_program = self.json or self.csv or self.markdown
            print(line if for_program else f"\n{line}", file=sys.stderr if for_program else sys.stdout)


def _doses(given: Sequence[str]) -> "Doses | None":
    """`K,K,...` for all perturbers, or `PERTURBER=K,K,...` for those named."""
    named: dict[str, list[int]] = {}
    for entry in given:
        name, _, amounts = entry.rpartition("=")
        if name in named:
            raise InputError(f"--doses '{entry}': doses of '{name or 'all perturbers'}' are given twice")
        try:
            named[name] = [int(k) for k in amounts.split(",")]
        except ValueError:
            raise InputError(f"--doses '{entry}': must have the form K,K,... or PERTURBER=K,K,...") from None
    if "" in named and len(given) > 1:
        raise InputError("--doses: give doses for all perturbers once, or for each by PERTURBER=K,K,...")
    return named.get("", named) or None


def field_map(pairs: Sequence[str]) -> dict[str, str]:
    """`OURS=THEIRS` pairs as a mapping."""
    fields: dict[str, str] = {}
    for pair in pairs:
        ours, equals, theirs = pair.partition("=")
        if not (ours and equals and theirs):
            raise InputError(f"--field '{pair}': must have the form OURS=THEIRS, e.g. output=summary")
        if ours not in _OUR_FIELDS and get_close_matches(ours, _OUR_FIELDS, n=1, cutoff=0.75):
            raise InputError(f"--field '{pair}': unknown field '{ours}'; {suggest(ours, _OUR_FIELDS)}")
        if fields.setdefault(ours, theirs) != theirs:
            raise InputError(f"--field '{pair}': '{ours}' is mapped twice; map it once")
    return fields
