"""LLMBar's pairs and the answers of judges that its authors released, laid out as JSON Lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dhp.core.errors import InputError
from dhp.core.tables import Row, read_table


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A pair of outputs of which people say which one is better."""

    id: str
    subset: str
    label: int
    """1 or 2: the better output."""


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """What a judge answered about one pair."""

    id: str
    model: str
    protocol: str
    pointwise: bool
    """Whether the answers are ratings of output 1 and output 2; else of the pair as given and swapped."""
    answers: tuple[str, str]
    place: str
    """File and line."""


def read_llmbar_pairs(path: Path) -> dict[str, LabelledPair]:
    """Id -> pair, from a table with the columns `id, subset, label`.

    Raises `InputError` for a file of another form, a label other than 1 or 2, and an id that stands twice.
    """
    table = read_table(path)
    table.need(["id", "subset", "label"])
    found: dict[str, LabelledPair] = {}
    for row in table.rows:
        if row.text("label") not in ("1", "2"):
            raise row.fault(f"column 'label' is '{row.text('label')}'; allowed: 1 or 2")
        if (name := row.text("id")) in found:
            raise row.fault(f"id '{name}' stands twice; allowed: once")
        found[name] = LabelledPair(name, row.text("subset"), int(row.text("label")))
    return found


def read_llmbar_answers(paths: Sequence[Path], pairs: dict[str, LabelledPair]) -> list[RecordedAnswer]:
    """Answers: `id, model, protocol` and either `answer_as_given, answer_swapped` or `score_1, score_2`.

    Raises `InputError` for a file of another form, an id that is no pair, and an answer that stands twice.
    """
    found: list[RecordedAnswer] = []
    seen: set[tuple[str, str, str]] = set()
    for path in paths:
        table = read_table(path)
        table.need(["id", "model", "protocol"])
        for row in table.rows:
            answer = _answer(row)
            key = (answer.id, answer.model, answer.protocol)
            if answer.id not in pairs:
                raise row.fault(
                    f"id '{answer.id}' is none of the {len(pairs)} pairs; allowed: those of `pairs`"
                )
            if key in seen:
                raise row.fault(f"a second answer of {key[1]}, {key[2]}, about '{key[0]}'; allowed: one")
            seen.add(key)
            found.append(answer)
    return found


def _answer(row: Row) -> RecordedAnswer:
    forms = (("answer_as_given", "answer_swapped"), ("score_1", "score_2"))
    for pointwise, (one, two) in enumerate(forms):
        texts = [row.value(one), row.value(two)]
        if all(isinstance(text, str | int | float) for text in texts):
            about = (row.text("id"), row.text("model"), row.text("protocol"))
            return RecordedAnswer(*about, bool(pointwise), (str(texts[0]), str(texts[1])), row.place)
    raise InputError(
        f"{row.place}: holds no answers; allowed: {' or '.join(' and '.join(form) for form in forms)}"
    )
