"""Prompt files, used as they are, with slots such as `{{Document}}` or `{summary}`.

`read_files` reads them, `prompt_versions` tells which are versions of one prompt and so judges of their own,
`prompts_by_metric` which metric each is for. `FilePrompts` then puts the texts into the slots.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dhp.core.answer_forms import AnswerForm
from dhp.core.errors import InputError, one_of, suggest
from dhp.core.files import inner_files, read_text
from dhp.core.options import as_list
from dhp.core.records import Candidate
from dhp.core.slots import SLOT, join_slots
from dhp.core.specs import Scale, Task

_SOURCES = "document source article fact context passage paragraph story".split()
_OUTPUTS = "summary output response answer translation hypothesis ending system_output".split()
_SLOTS: Mapping[str, str] = {
    **dict.fromkeys(_SOURCES, "source"),
    **dict.fromkeys(_OUTPUTS, "output"),
    **dict.fromkeys(("reference", "ref"), "reference"),
}
"""Slot in lower case -> what it stands for."""
_LETTERS = r"[^\W\d][\w .()/&%#+-]*"
"""Names of columns, such as `Summary (EN)`; with quotes, colons or commas braces hold JSON or prose."""
_NAME = re.compile(_LETTERS)
_DOUBLE = re.compile(r"\$?\{\{\s*(.*?)\s*\}\}")
"""A slot of G-Eval's files, `{{Document}}`, and `${{Document}}`."""
_HERE = re.compile(r"\b([A-Z][A-Z_]*?)_HERE\b")
"""A slot such as `SUMMARY_HERE`."""
_SINGLE = re.compile(rf"(\{{\{{|\}}\}})|\$?\{{[ \t]*({_LETTERS}?)[ \t]*\}}")
"""A slot of a format string, `{summary}` or `${summary}`, or `{{` and `}}`, which stand for one brace."""
_STATED = (
    # Coherence (1-5)
    re.compile(r"\((\d{1,3}) ?(?:-|–|to) ?(\d{1,3})\)", re.I),
    # on a scale of 1 to 5
    re.compile(r"\bscale (?:of |from |between )?(\d{1,3}) ?(?:-|–|to|and) ?(\d{1,3})\b", re.I),
    # Give a score for the summary from 1 to 5
    re.compile(
        r"\b(?:score|rating|rate|number|points?)\b[^.\n]{0,40}? "
        r"(?:from|between) (\d{1,3}) (?:to|and) (\d{1,3})\b",
        re.I,
    ),
)
"""How prompts state a scale."""


@dataclass(frozen=True, slots=True)
class PromptFile:
    """A file with the metric that it is given for, if it is given for one."""

    path: Path
    metric: str | None
    text: str
    folder: str | None = None
    """Name of the folder that was given instead of the file."""

    @property
    def name(self) -> str:
        """What a judge is called that is asked by it."""
        return _judge_name(self.path.stem)


PromptFiles = str | Path | Sequence[str | Path]
"""One or several: files, `METRIC=FILE`, or folders of `.txt` files."""


def read_files(prompt_files: PromptFiles, *, json: bool = False) -> tuple[PromptFile, ...]:
    """The prompts in these; raises `InputError` for one that cannot be read, and without `json` for JSON."""
    files: list[PromptFile] = []
    for each in as_list(prompt_files):
        files += _prompt_files(each)
    for file in files:
        if file.path.suffix.lower() == ".json" and not json:
            raise InputError(
                f"{file.path}: is a JSON file; allowed: plain text (.txt), one prompt a file, cut out of it "
                "first"
            )
    return tuple(files)


def prompt_versions(prompt_files: PromptFiles, *, one_prompt: bool) -> list[PromptFiles]:
    """The prompt files of each judge: several folders are versions of a prompt, and so are several files
    if a judge has `one_prompt`, as it has one metric or answers about all at once.

    Raises `InputError` for a file that cannot be read, and for two versions of one name.
    """
    arguments = [str(each) for each in as_list(prompt_files)]
    if len(arguments) < 2:
        return [prompt_files]
    others = [each for each in arguments if not Path(each).is_dir()]
    for_metrics = [each for each in arguments if "=" in each and not Path(each).exists()]  # METRIC=FILE
    if others and (for_metrics or not one_prompt):  # they are the prompts of one judge
        return [prompt_files]
    names = [version_name(read_files(each)) for each in arguments]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"`prompt`: two prompts are named '{twice[0]}'; give each a name of its own")
    return list(arguments)


def version_name(files: Sequence[PromptFile]) -> str | None:
    """What a judge is called that is asked by these prompts: as their folder, or the only file."""
    folders = {file.folder for file in files}
    folder = folders.pop() if len(folders) == 1 else None
    if folder is not None:
        return _judge_name(folder)
    return files[0].name if len(files) == 1 else None


def prompts_by_metric(
    files: Sequence[PromptFile],
    metrics: Sequence[str],
    columns: Mapping[str, str] = {},
    *,
    shows_text: bool = True,
) -> dict[str, str]:
    """Metric -> prompt, of the metrics of a task.

    A single file belongs to a single metric. Otherwise the name of a file determines its metric: it is the
    name of the metric, or its first part (up to `_`, `-`, `.` or a space) begins the name of only one metric,
    as `coh_detailed.txt` for coherence. `columns` are those of the data, by what they stand for.

    Raises `InputError` if a name fits no metric or several, if two files are for one metric, and, if a
    prompt `shows_text`, for a file without a slot for the text under judgement.
    """
    by_metric: dict[str, PromptFile] = {}
    only = len(files) == len(metrics) == 1
    for file in files:
        if file.metric is not None:
            one_of("metric", file.metric, metrics, f"prompt file {file.metric}={file.path}")
        metric = file.metric or (metrics[0] if only else _metric_of(file.path, metrics))
        if metric in by_metric:
            raise InputError(
                f"{file.path}: a second prompt file for '{metric}' beside {by_metric[metric].path}; "
                "allowed: one per metric"
            )
        by_metric[metric] = file
    if shows_text:
        for file in by_metric.values():
            check_output_slot(file, columns)
    return {metric: file.text for metric, file in by_metric.items()}


def _judge_name(stem: str) -> str:
    """A name of a file or folder as names of judges have it: `my prompt (2)` is `my-prompt-2`."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", stem).strip("-.") or "prompt"


def check_output_slot(file: PromptFile, columns: Mapping[str, str] = {}) -> None:
    """Raise `InputError` for a file that does not show the text under judgement."""
    known = {**_SLOTS, **{_plain(name): meaning for name, meaning in columns.items()}}
    allowed = [name for name, meaning in known.items() if meaning == "output"]
    slots = pieces_of(file.text)[1::2]  # text and names of slots stand in turn
    if any(_plain(slot) in allowed for slot in slots):
        return
    for match in _SINGLE.finditer(file.text):
        name = match[2] or ""
        if _plain(name) in allowed:
            raise InputError(
                f"{file.path}: {{{name}}} is plain text there, as the file has slots such as "
                f"{_written(slots[0], file.text)}; write it as {_written(name, file.text)}"
            )
    raise InputError(
        f"{file.path}: has no slot for the text under judgement, e.g. {{{{Summary}}}}; "
        f"{suggest(_plain(slots[-1]) if slots else '', allowed)}"
    )


def _prompt_files(argument: str) -> Iterator[PromptFile]:
    """The prompts of one argument: a file, `METRIC=FILE`, or a folder."""
    metric, equals, name = argument.partition("=")
    if equals and not Path(argument).exists():
        yield PromptFile(Path(name), metric, _text(Path(name)))
        return
    path = Path(argument)
    if not path.is_dir():
        yield PromptFile(path, None, _text(path))
        return
    for file in inner_files(path, (".txt",), "prompt files"):
        yield PromptFile(file, None, _text(file), path.resolve().name)


def _text(path: Path) -> str:
    """A prompt, the same from whatever system it comes: it is part of the key of stored replies."""
    return read_text(path).replace("\r\n", "\n")


def _metric_of(file: Path, metrics: Sequence[str]) -> str:
    """The metric that the name of a file begins with, or begins the name of."""
    stem = file.stem.lower()
    first = re.split(r"[_\-. ]", stem)[0]
    named = [m for m in metrics if re.match(rf"{re.escape(m)}(?![a-z0-9])", stem)]
    meant = [m for m in metrics if first and m.startswith(first)]
    if named:  # of `overall` and `overall_quality` the longer one
        meant = [max(named, key=len)]
    if len(meant) != 1:
        fault = "could be for " + " or ".join(meant) if meant else "its name begins with no metric"
        raise InputError(f"{file}: {fault}; write METRIC={file}; {suggest(first, metrics)}")
    return meant[0]


def pieces_of(text: str) -> tuple[str, ...]:
    """Text and the names of slots in turn.

    Slots are `{{name}}`; in a file without any `NAME_HERE`, without these `{name}`, and `{{` and `}}`
    stand for one brace, as in a format string. A `$` before the braces of a slot goes with it. Braces around
    anything that is no name, such as JSON, are text.
    """
    if any(_NAME.fullmatch(name) for name in SLOT.findall(text)):
        return tuple(_DOUBLE.split(text))
    if _HERE.search(text):
        return tuple(_HERE.split(text))
    pieces, end = [""], 0  # the last piece is text that may go on
    for slot in _SINGLE.finditer(text):
        pieces[-1] += text[end : slot.start()]
        end = slot.end()
        double_brace = slot[1]
        if double_brace:
            pieces[-1] += double_brace[0]
        else:
            pieces += [slot[2], ""]
    pieces[-1] += text[end:]
    return tuple(pieces)


def _written(slot: str, text: str) -> str:
    """A slot in the form that the text has: `{{name}}` or `NAME_HERE`."""
    has_braces = any(_NAME.fullmatch(name) for name in SLOT.findall(text))
    return f"{{{{{slot}}}}}" if has_braces else f"{_plain(slot).upper()}_HERE"


def _plain(slot: str) -> str:
    """The name of a slot as names are compared: `System Output` is `system_output`."""
    return re.sub(r"[\s-]+", "_", slot.lower())


def stated_scales(text: str) -> list[tuple[int, int]]:
    """The scales that a prompt states in numbers, low end first, in no order of their places."""
    scales: list[tuple[int, int]] = []
    for pattern in _STATED:
        for match in pattern.finditer(text):
            low, high = int(match[1]), int(match[2])
            if low < high <= 100 and low <= 1:  # `(3-5)` are sentences or words, hardly a scale
                scales.append((low, high))
    return scales


def scale_fault(text: str, scale: Scale) -> str | None:
    """What is wrong if a file states scales, and none of them is the metric's; else None."""
    scales = stated_scales(text)
    if not scales or (scale.min, scale.max) in scales:
        return None
    low, high = scales[0]
    return (
        f"states the scale {low} to {high}, and the metric's is {scale.min:g} to {scale.max:g}; allowed: a "
        f"file on the metric's scale, or in `metrics` a metric of your own with the scale {low}..{high}"
    )


def meaning_of(slot: str, task: Task, metric: str) -> str:
    """What a slot stands for: `source`, `output`, `reference` or a field of the task.

    Slots are the usual names, the task's shown fields and, before both, the columns of the data. Raises
    `InputError` for any other slot in the file for this metric.
    """
    known = dict(_SLOTS)
    for name in task.shown_fields:
        known[_plain(name)] = name
    for name, meaning in task.columns.items():
        known[_plain(name)] = meaning
    if _plain(slot) not in known:
        raise InputError(
            f"prompt file for '{metric}': unknown slot '{{{{{slot}}}}}'; {suggest(_plain(slot), known)}"
        )
    return known[_plain(slot)]


class FilePrompts:
    """Writes prompts by files; neither fences nor alters anything."""

    def __init__(self, files: Mapping[str, str], task: Task) -> None:
        """`files`: metric -> text with slots, see `meaning_of`."""
        self._pieces: dict[str, list[str]] = {}
        for metric in task.metrics:
            fault = scale_fault(files.get(metric.name, ""), metric.scale)
            if fault:
                raise InputError(f"prompt file for '{metric.name}': {fault}")
        for name in task.metric_names:
            pieces = list(pieces_of(files.get(name, "")))
            for i in range(1, len(pieces), 2):  # text and names of slots stand in turn
                pieces[i] = meaning_of(pieces[i], task, name)
            self._pieces[name] = pieces

    def prompt(self, candidate: Candidate, metric: str, form: AnswerForm) -> str:
        """The metric's file with the candidate's texts in it, whatever the answer form.

        Raises `InputError` if the candidate lacks a text that the file asks for.
        """
        texts = {**candidate.fields, "source": candidate.source, "output": candidate.text}
        if candidate.reference is not None:
            texts["reference"] = candidate.reference
        pieces = self._pieces[metric]
        for needed in pieces[1::2]:
            if needed not in texts:
                place = f"example '{candidate.example}'"
                raise InputError(f"{place}: has no '{needed}', which the prompt file for '{metric}' asks for")
        return join_slots(pieces, texts)
