"""`dhp init`: ask for the options of your own data, prompt and model, and write them to a file.

`_QUESTIONS` has the questions in their order. For each one `_Init` has a method of its name, which raises
`InputError` for an answer that cannot be used. The file is written after every answer, so that a stopped
command goes on where it was: it reads the file, and checks its answers again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dhp.cli.benchmark import COMMON, benchmark
from dhp.cli.command import Command
from dhp.cli.output import say
from dhp.core.errors import InputError, listed, suggest
from dhp.core.writing import check_output, output_path, write_lines
from dhp.loaders.pairs import said_before, said_last

if TYPE_CHECKING:
    from dhp.core.specs import Metric
    from dhp.core.tables import Row

_COLUMNS = ("output", "source", "id")
"""Questions about columns of the table: in the file their answers stand below `field`."""
_LEFT_OUT = ("--field", "--config", "--dry-run", "--details")
"""Common options of `dhp benchmark` that are not offered in the file."""


@dataclass(slots=True)
class _Init:
    """The answers so far, by the names of options, and what was learnt from them."""

    answers: dict[str, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    rows: "Sequence[Row]" = ()
    """Of the table."""
    models: tuple[str, ...] = ()
    """Names of the models of the server."""

    def dataset(self, answer: str) -> None:
        """A table of texts that can be read; shows its columns."""
        from dhp.loaders.user import is_user_data, open_table

        if not is_user_data(answer):
            raise InputError(f"--dataset {answer}: allowed: a table, .csv, .json, .jsonl, .tsv or .parquet")
        table = open_table(answer)
        self.columns, self.rows = table.columns, table.rows
        say(f"  {len(table.rows)} rows; columns: {listed(table.columns)}")

    def output(self, answer: str) -> None:
        """A column of the table, or a path into one, with a text."""
        self._column(answer)
        for row in self.rows[:1]:  # a path that leads to no text shows in the first row
            said_last(row, answer)

    def _column(self, answer: str) -> None:
        """Raise `InputError` if the table lacks a column; a path such as `Messages[0]` begins with one."""
        for column in self.columns:
            if answer == column or answer.startswith((f"{column}[", f"{column}.")):
                return
        raise InputError(f"column '{answer}' is missing; {suggest(answer, self.columns)}")

    def source(self, answer: str) -> None:
        """Accept no source, or another column of the table."""
        if answer == self.answers["output"]:
            raise InputError(f"column '{answer}': holds the text that is judged; choose another one, or none")
        if answer:
            self._column(answer)
            for row in self.rows[:1]:
                said_before(row, answer)

    def id(self, answer: str) -> None:
        """Accept none, or a column whose values differ."""
        if not answer:
            return
        self._column(answer)
        names = [row.text(answer) for row in self.rows]
        if len({*names}) < len(names):
            raise InputError(f"column '{answer}': has equal values; choose one that names each row, or none")

    def metric(self, answer: str) -> None:
        """A name."""
        # Any scale will do: it is asked for next.
        self._metric(answer, "1..5")

    def scale(self, answer: str) -> None:
        """Two numbers that differ."""
        self._metric(self.answers["metric"], answer)

    def pass_mark(self, answer: str) -> None:
        """Accept none, or a score on the scale."""
        from dhp.analysis.marks import resolved_marks

        if answer:
            metric = self._metric(self.answers["metric"], self.answers["scale"])
            resolved_marks(answer, [metric.name], [metric])

    def _metric(self, name: str, scale: str) -> "Metric":
        from dhp.content.own_task import own_metric

        return own_metric(name.lower().replace("-", "_"), scale)

    def base_url(self, answer: str) -> None:
        """Accept no address, or an address; shows the models of the server."""
        if answer:
            from dhp.doctor import server

            check = server(answer)
            self.models = tuple(check.values.get("models", ()))
            say(f"  {check.name}: {check.says}")

    def model(self, answer: str) -> None:
        """A judge that there may be; of a server that was asked one of its models."""
        from dhp.cli.show import JUDGES, judge_form

        provider, _, name = answer.partition("/")
        if judge_form(answer) is None:
            raise InputError(f"model '{answer}': unknown provider; {suggest(answer, JUDGES)}")
        if provider == "openai" and self.models and name not in self.models:
            raise InputError(f"model '{answer}': the server has no '{name}'; {suggest(name, self.models)}")

    def prompt_file(self, answer: str) -> None:
        """A file whose slots can be filled; one that does not exist is written."""
        from dhp.content.own_task import own_task
        from dhp.judge.factory import protocol, request_builder
        from dhp.loaders.resolve import resolve_datasets
        from dhp.perturb.perturbed_dataset import original_of

        if not Path(answer).exists():
            _write_prompt(Path(answer), self.answers)
            return
        self._take_scale_of(Path(answer))
        task = own_task([self._metric(self.answers["metric"], self.answers["scale"])])
        fields = {}
        for name in _COLUMNS:
            if self.answers[name]:
                fields[name] = self.answers[name]
        # One example is enough to see whether every slot can be filled.
        (loaded,) = resolve_datasets([self.answers["dataset"]], task=task, fields=fields, n=1)
        builder = request_builder(protocol(), prompt_files=[answer])
        # Requests are made one by one as they are asked for: the list makes all, and so finds a bad slot.
        list(builder.requests([original_of(loaded.examples[0], loaded.task)], loaded.task))

    def _take_scale_of(self, prompt: Path) -> None:
        """Answer the question of the scale by what the prompt states, if that is one other scale."""
        from dhp.judge.prompt_files import scale_fault, stated_scales

        if not prompt.is_file():
            return
        text = prompt.read_text(encoding="utf-8", errors="replace")
        scales = {*stated_scales(text)}
        metric = self._metric(self.answers["metric"], self.answers["scale"])
        if len(scales) == 1 and scale_fault(text, metric.scale):
            low, high = scales.pop()
            mark = self.answers["pass_mark"]
            self.answers["scale"] = f"{low}..{high}"
            say(f"  {prompt} states the scale {low}..{high}, which is taken")
            if mark:
                self.answers["pass_mark"] = ""
                say(f"  the pass mark {mark} was on the other scale: set pass-mark in the file anew")

    def completed(self, name: str, answer: str) -> str:
        """The answer as it is written: a model that the server listed is one of `openai/`."""
        return f"openai/{answer}" if name == "model" and answer in self.models else answer

    def default(self, name: str) -> str | None:
        """What is proposed."""
        if name == "model" and self.models:
            return f"openai/{self.models[0]}"
        return _QUESTIONS[name][2]


_QUESTIONS: dict[str, tuple[str, str, str | None]] = {
    "dataset": ("FILE", "Table of good texts", None),
    "output": ("COLUMN", "Column of the text that is judged", None),
    "source": ("COLUMN", "Column of what the writer was given (empty: none)", ""),
    "id": ("COLUMN", "Column that names each row (empty: rows are numbered)", ""),
    "metric": ("NAME", "What is rated, in a word", "quality"),
    "scale": ("LOW..HIGH", "Scale, e.g. 1..10 (10..1: lower is better)", "1..5"),
    "pass_mark": ("SCORE", "Score from which a text passes (empty: none)", ""),
    "base_url": ("URL", "Server, up to /v1 (empty: that of OpenAI)", ""),
    "model": ("MODEL", "Model", "openai/gpt-4o-mini"),
    "prompt_file": ("FILE", "Prompt file", "prompt.txt"),
}
"""Kind of answer, question and what is proposed, in their order; the last one has an answer in every complete
file."""


_MOST_TRIES = 10
"""Answers to one question, so that a program which answers the same for ever ends."""


def _key(name: str) -> str:
    return name.replace("_", "-")


def _answers(command: Callable[..., object]) -> Callable[..., object]:
    """Let a command take the answer to each question as an option."""
    # click shows the option that was added last first.
    for name, (kind, question, _) in reversed(_QUESTIONS.items()):
        command = click.option(f"--{_key(name)}", metavar=kind, help=f"{question}.")(command)
    return command


@click.command(cls=Command)
@_answers
@click.option("--out", default="dhp.yaml", metavar="FILE", help="Where to write the options.")
def init(out: str, **keywords: str | None) -> None:
    """Write a dhp.yaml for your own data, prompt and model.

    It asks for each missing answer, checks it, and goes on where it was stopped.

    Example: dhp init --dataset tickets.csv --output summary --source ticket --metric usefulness
    """
    path = output_path(out)
    check_output(path)
    state = _Init()
    written = _read(path)
    entries = []
    for name, value in written.items():
        if value:
            entries.append(f"{_key(name)} {value}")
    if entries:
        say(f"{out} has: {', '.join(entries)}")
    # Answers of the file are checked again, too: the table or the server may have changed.
    for name, (_, question, _) in _QUESTIONS.items():
        answer = written.get(name, keywords[name])
        if name in written and keywords[name] not in (None, answer):
            raise InputError(f"--{_key(name)}: {out} has '{answer}'; edit it, or choose another --out")
        if answer is None:
            answer = _ask(state, name, question)
        else:
            answer = state.completed(name, answer)
            getattr(state, name)(answer)
        state.answers[name] = answer
        if name not in written:
            _write(path, state.answers)
    say(f"{out} is complete; run it by: dhp benchmark --config {out}")


def _ask(state: _Init, name: str, text: str) -> str:
    """The answer of the user, who is asked again until it can be used, but not for ever."""
    proposed, tries = state.default(name), 0

    def checked(answer: str) -> str:
        nonlocal tries
        tries += 1
        try:
            if not answer and proposed is None:
                raise InputError("an answer is needed")
            answer = state.completed(name, answer)
            getattr(state, name)(answer)
        except InputError as e:
            if tries == _MOST_TRIES:
                raise InputError(f"--{_key(name)}: {e}; {_MOST_TRIES} answers in a row cannot be used") from e
            # After this error click asks again.
            raise click.UsageError(str(e).replace("`", "")) from None
        return answer

    # Without a default click asks by itself after an empty answer, for ever.
    value: str = click.prompt(text, default=proposed or "", show_default=bool(proposed), value_proc=checked)
    return value


def _read(path: Path) -> dict[str, str]:
    """The answers in a file; an empty one counts if a later one exists."""
    from dhp.content.yaml_files import load_yaml

    if not path.exists():
        return {}
    content = load_yaml(path)
    if not isinstance(content, dict):
        raise InputError(f"--out {path}: is not a file of options; choose another one")
    flat: dict[str, Any] = dict(content)
    columns = content.get("field")  # output, source and id stand below it
    if isinstance(columns, dict):
        flat |= columns

    answers: dict[str, str] = {}
    empty: list[str] = []
    for name in _QUESTIONS:
        if _key(name) not in flat:
            empty.append(name)
            continue
        # A question without a line in the file was answered by nothing if a later one has a line.
        answers |= dict.fromkeys(empty, "")
        empty.clear()
        answers[name] = str(flat[_key(name)])
    return answers


def _write(path: Path, answers: Mapping[str, str]) -> None:
    """Write the answers and, as comments, the other options that most people need."""
    options: dict[str, click.Option] = {}
    for parameter in benchmark.params:
        if isinstance(parameter, click.Option):
            options[parameter.opts[0]] = parameter
    lines = [
        f"# Run it by: dhp benchmark --config {path}",
        "# Every option of dhp benchmark --help-all may be set here; the command line overrides this file.",
    ]
    for name, answer in answers.items():
        if name == "output":
            lines += ["", f"# {options['--field'].help}", "field:"]
        if not answer:
            continue
        key = _key(name)
        if name in _COLUMNS:
            lines.append(f"  {name}: {_value(answer)}")
        else:
            lines += ["", f"# {options[f'--{key}'].help}", f"{key}: {_value(answer)}"]

    for option in COMMON.split():
        key = option.removeprefix("--")
        if option in _LEFT_OUT or answers.get(key.replace("-", "_")):
            continue
        known = options[option]
        shown = "true" if known.is_flag else known.metavar
        lines += ["", f"# {known.help}", f"# {key}: {shown}"]
    write_lines(path, ["\n".join(lines) + "\n"])


def _value(text: str) -> str:
    """A text as YAML, in one line."""
    import yaml

    # A document that is a plain text alone ends in a line `...`.
    dumped: str = yaml.safe_dump(text, allow_unicode=True, width=10_000)
    return dumped.removesuffix("\n").removesuffix("...").rstrip()


def _write_prompt(path: Path, answers: Mapping[str, str]) -> None:
    """Write a first prompt, with a slot for each column; a column whose name is no slot has that of ours."""
    prompt = ""
    for name in ("source", "output"):
        column = answers[name]
        if column:
            slot = column if column.isidentifier() else name
            prompt += f"{column}: {{{{{slot}}}}}\n\n"
    low, _, high = answers["scale"].partition("..")
    prompt += f"Rate the {answers['metric']} of the {answers['output']}, from {low} to {high}. Rating:\n"
    write_lines(path, [prompt])
    say(f"  written to {path}: a first prompt, to be edited; {{{{column}}}} takes a column of the table")
