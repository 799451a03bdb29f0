"""Degraded texts and scores that authors released.

The set is `YCWANGVINCE/DHP_Benchmark` on the Hugging Face Hub. Each card says which files hold its dataset
and which column holds what.
"""

import logging
from collections.abc import Mapping
from pathlib import Path

from dhp.content.catalog import DATASETS, read_card, read_task
from dhp.core.diff import audit
from dhp.core.errors import InputError, listed, one_of, suggest
from dhp.core.records import Example, PerturbedText
from dhp.core.specs import Card, FieldMap, Suite
from dhp.core.tables import (
    FILE,
    FOLDER,
    KEY,
    TABLE_SUFFIXES,
    Row,
    Table,
    has_tables,
    read_tables,
)
from dhp.loaders.dataset import Dataset
from dhp.loaders.hub import HUB_PREFIX, hub_folder
from dhp.loaders.user import plain_examples

NO_TEXT = "no such text in the set"
EQUAL = "equals the original"
"""Why an example has no text under a variant; a published text cannot be repaired."""
_CARD = "card.json"
"""The file that tells a perturbation set of ours from a folder of tables."""


def is_released(name: str) -> bool:
    """Whether `read_released` takes it: `hf:...`, a table, or a folder of tables, no perturbation set."""
    path = Path(name)
    if name.startswith(HUB_PREFIX) or (path.is_file() and path.suffix.lower() in TABLE_SUFFIXES):
        return True
    return path.is_dir() and not (path / _CARD).exists() and has_tables(path)


def released_datasets(name: str) -> list[str]:
    """The datasets of the benchmark that a folder holds by the names of its files; of a Hub name all six.

    Raises `InputError` if no file is named after one.
    """
    if name.startswith(HUB_PREFIX):
        return list(DATASETS)
    path = Path(name)
    names = []
    if path.is_dir():
        names = [dataset for dataset in DATASETS if has_tables(path, _map(dataset).files)]
    if not names:
        raise InputError(f"{name}: no file is named after a dataset; name it by `dataset`")
    return names


def read_released(name: str, dataset: str, suite: Suite, fields: Mapping[str, str] = {}) -> Dataset:
    """One dataset of a released set, with its degraded texts, variant by variant.

    The set is `hf:ORG/NAME`, a folder with the files that the card of the dataset names, or one table. Each
    variant of the suite must have a column. `fields`, `{ours: theirs}`, take the place of what the card says:
    ours are `id`, `source`, `output`, the variants, and any other name for a plain field; theirs is a column,
    or a path into a nested one: `a.b[0]`. A text that is missing or equals its original counts as not
    applicable; without a column `id` a text is known by itself. What the columns are read as is logged.
    Raises `InputError` for a set without this dataset, a column that is absent, an empty source or output,
    and a duplicate id.
    """
    known = _map(dataset)
    path = hub_folder(name) if name.startswith(HUB_PREFIX) else Path(name)
    tables = read_tables(path, known.files)
    variants = [variant.name for variant in suite.variants]
    for ours in fields:
        if "." in ours:
            one_of("variant", ours, variants, f"{name}: `fields`")
    # What the user says comes before what the card says.
    columns = {**known.fields, **fields}
    if "id" not in fields and not tables.has(columns["id"]):
        del columns["id"]  # the card names one, but nobody asked for it
    for ours, theirs in columns.items():
        if not tables.has(theirs):
            raise InputError(
                f"{name}: column '{theirs}' for '{ours}' is missing; map it by `fields` {ours}=COLUMN; "
                f"{suggest(theirs, tables.columns)}"
            )
    for variant in variants:
        if variant not in columns:
            raise InputError(
                f"{name}: no column for variant '{variant}' of suite '{suite.suite}'; map it by "
                f"`fields` {variant}=COLUMN; columns: {listed(tables.columns)}"
            )
    shown = ", ".join(f"{ours} = {theirs}" for ours, theirs in columns.items())
    logging.getLogger("dhp").warning("%s, %s: columns read as %s", name, dataset, shown)
    return _released(read_card(dataset), tables, suite, columns)


def _map(dataset: str) -> FieldMap:
    """What the card of a dataset says of the released set: its files and columns."""
    form = read_card(dataset).released
    if form is None:
        raise InputError(f"dataset '{dataset}' is in no released set; allowed: {', '.join(DATASETS)}")
    return form


def _released(card: Card, table: Table, suite: Suite, columns: Mapping[str, str]) -> Dataset:
    variants = {variant.name for variant in suite.variants}
    of_examples = {ours: theirs for ours, theirs in columns.items() if ours not in variants}
    used = {*columns, *columns.values(), FILE, FOLDER, KEY}
    # Every other column is a field of the example under its own name.
    further = {column: column for column in table.columns if column not in used}
    originals = plain_examples(table, of_examples | further)
    made: list[PerturbedText] = []
    for variant in suite.variants:
        column = columns[variant.name]
        for row, example in zip(table.rows, originals, strict=True):
            made.append(_text(row, column, example, variant.name))
    task = read_task(card.task)
    dataset = Dataset(card.dataset, originals, task, None, originals, suite.variants, tuple(made))
    return dataset.in_languages(card.source_language, card.output_language)


def _text(row: Row, column: str, example: Example, variant: str) -> PerturbedText:
    """The text of an example under a variant, or why there is none."""
    value = row.value(column)
    # Only NaN differs from itself.
    is_nan = value != value
    # Lists and objects go on to `text`, which refuses them.
    may_be_absent = value is None or isinstance(value, str) or is_nan
    if may_be_absent and not row.has(column):
        return PerturbedText(example.id, variant, None, NO_TEXT)
    text = row.text(column)  # raises `InputError` for a list or an object
    if text.strip() == example.output.strip():
        return PerturbedText(example.id, variant, None, EQUAL)
    return PerturbedText(example.id, variant, text, audit=audit(example.output, text))
