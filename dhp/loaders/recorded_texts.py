"""The texts that a table of recorded judgements is about."""

from collections.abc import Mapping
from pathlib import Path

from dhp.content.own_task import function_task
from dhp.core.errors import InputError
from dhp.core.own_table import RatingsForm
from dhp.core.ratings_table import read_judgements
from dhp.core.records import ORIGINAL, Example, PerturbedText, Variant, parse_variant
from dhp.loaders.dataset import Dataset
from dhp.loaders.pairs import DEFAULT_LEVEL

NO_TEXT = "(the text was not recorded)"
"""What stands instead of a text that the file does not have."""


def recorded_texts(path: Path, form: RatingsForm = RatingsForm()) -> Dataset:
    """Originals and degraded texts of a file of judgements, from its columns `text`, `source` and `level`.

    `form` says what the file calls its columns. Without a column `text` each has a remark in its place. A
    text without a judgement is not among them. Raises `InputError` for a file of another form, and for one
    without an original or without a degraded text.
    """
    # Each text once, with the values of its first row: there is a row for each metric, sample and judge.
    texts: dict[tuple[str, str], Mapping[str, object]] = {}
    for values in read_judgements(path, form).to_dict("records"):
        row: Mapping[str, object] = {str(name): value for name, value in values.items()}
        texts.setdefault((str(row["example"]), str(row["variant"])), row)
    originals = []
    levels: dict[str, str] = {}
    for (name, variant), row in texts.items():
        if variant == ORIGINAL:
            source, text = _text(row, "source") or "", _text(row, "text") or NO_TEXT
            originals.append(Example(name, source, text, _cluster(row)))
        else:  # the last row of a variant says its level
            levels[variant] = _text(row, "level") or DEFAULT_LEVEL
    examples = tuple(originals)
    if not examples or not levels:
        raise InputError(
            f"{path}: must have judgements of originals (variant '{ORIGINAL}') and of other texts"
        )
    variants = []
    made = []
    for name, level in levels.items():
        perturber, degree, _ = parse_variant(name)
        variants.append(Variant(name, perturber, level, "given", degree))
        for example in examples:
            judged = texts.get((example.id, name))
            if judged is not None:
                made.append(PerturbedText(example.id, name, _text(judged, "text") or NO_TEXT))
    return Dataset(path.stem, examples, function_task(), None, examples, tuple(variants), tuple(made))


def _text(row: Mapping[str, object], column: str) -> str | None:
    """The text in a column; None if there is none."""
    value = row.get(column)
    is_nan = value != value  # as pandas has it for an empty cell
    if value is None or is_nan or not str(value).strip():
        return None
    return str(value)


def _cluster(row: Mapping[str, object]) -> dict[str, str]:
    cluster = _text(row, "cluster")
    return {} if cluster is None else {"cluster": cluster}
