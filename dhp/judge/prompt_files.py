"""Published prompt files, used as they are: `{{Document}}`, `{{Summary}}` and the like are filled in, raw."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from dhp.core.errors import InputError, suggest
from dhp.core.files import inner_files, read_text
from dhp.core.protocol_spec import AnswerForm
from dhp.core.records import Candidate
from dhp.core.slots import SLOT, join_slots, split_slots
from dhp.core.specs import Task

_SLOTS: Mapping[str, str] = {
    **dict.fromkeys("document source article fact context passage paragraph story".split(), "source"),
    **dict.fromkeys(
        "summary output response answer translation hypothesis ending system_output".split(), "output"
    ),
    **dict.fromkeys(("reference", "ref"), "reference"),
}
"""Slot in lower case -> what it stands for."""


def read_prompt_files(given: Sequence[str], metrics: Sequence[str]) -> dict[str, str]:
    """Metric -> prompt, from files, `METRIC=FILE`, or folders of `.txt` files.

    A file's metric is told by its name: the metric's own, or a first part (up to `_`, `-`, `.` or a space)
    with which only one metric's name begins, as `coh_detailed.txt` for coherence. Raises `InputError` where
    it tells none or several, where two files are for one metric, and for a file without a slot for the text
    under judgement.
    """
    files: dict[str, Path] = {}
    for metric, file in (found for each in given for found in _found(each, metrics)):
        if metric in files:
            raise InputError(
                f"{file}: a second prompt file for '{metric}' beside {files[metric]}; allowed: one a metric"
            )
        files[metric] = file
    return {metric: _read(file) for metric, file in files.items()}


def _found(given: str, metrics: Sequence[str]) -> Iterator[tuple[str, Path]]:
    metric, equals, name = given.partition("=")
    if equals and not Path(given).exists():
        if metric not in metrics:
            raise InputError(f"prompt file {given}: unknown metric '{metric}'; {suggest(metric, metrics)}")
        yield metric, Path(name)
        return
    path = Path(given)
    for file in inner_files(path, (".txt",), "prompt files") if path.is_dir() else [path]:
        yield _metric_of(file, metrics), file


def _metric_of(file: Path, metrics: Sequence[str]) -> str:
    stem = file.stem.lower()
    first = re.split(r"[_\-. ]", stem)[0]
    named = [m for m in metrics if re.match(rf"{re.escape(m)}(?![a-z0-9])", stem)]
    meant = [max(named, key=len)] if named else [m for m in metrics if first and m.startswith(first)]
    if len(meant) != 1:
        fault = "could be for " + " or ".join(meant) if meant else "tells no metric by its name"
        raise InputError(f"{file}: {fault}; {suggest(first, metrics)}, given as METRIC={file}")
    return meant[0]


def _read(file: Path) -> str:
    text = read_text(file).replace("\r\n", "\n")
    slots = SLOT.findall(text)
    if not any(_SLOTS.get(_plain(slot)) == "output" for slot in slots):
        allowed = [name for name, meaning in _SLOTS.items() if meaning == "output"]
        raise InputError(
            f"{file}: has no slot for the text under judgement, e.g. {{{{Summary}}}}; "
            f"{suggest(_plain(slots[-1]) if slots else '', allowed)}"
        )
    return text


def _plain(slot: str) -> str:
    return re.sub(r"[\s-]+", "_", slot.lower())


class FilePrompts:
    """Writes prompts by published files; neither fences nor alters anything."""

    def __init__(self, files: Mapping[str, str], task: Task) -> None:
        """`files`: metric -> text with slots, for which the names of the task's shown fields serve too.

        Raises `InputError` for any other slot.
        """
        known = {**_SLOTS, **{name: name for name in task.shown_fields}}
        self._pieces: dict[str, list[str]] = {}
        for metric in task.metric_names:
            pieces = split_slots(files[metric]) if metric in files else ()
            for slot in pieces[1::2]:
                if _plain(slot) not in known:
                    place = f"prompt file for '{metric}'"
                    raise InputError(
                        f"{place}: unknown slot '{{{{{slot}}}}}'; {suggest(_plain(slot), known)}"
                    )
            self._pieces[metric] = [
                known[_plain(piece)] if place % 2 else piece for place, piece in enumerate(pieces)
            ]

    def prompt(self, candidate: Candidate, metric: str, form: AnswerForm) -> str:
        """The metric's file with the candidate's texts in it, whatever the answer form.

        Raises `InputError` where the candidate lacks a text that the file asks for.
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
