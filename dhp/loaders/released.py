"""Degraded texts as others released them: tables whose columns are told by their names.

Made for `YCWANGVINCE/DHP_Benchmark` on the Hugging Face Hub, the set of the paper, whose form is taken as it
comes: a column a variant, nested values, or a row a text.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dhp.core.diff import audit
from dhp.core.errors import InputError
from dhp.core.files import read_json
from dhp.core.records import Example, PerturbedText, Variant
from dhp.core.specs import Suite
from dhp.core.tables import TABLE_SUFFIXES, Row, Table, as_text, read_table, table
from dhp.loaders.hub import HUB_PREFIX, hub_table
from dhp.loaders.naming import CONTEXT, VariantNames, check_given, context_of
from dhp.loaders.published.read import READERS
from dhp.loaders.subsets import Subset
from dhp.loaders.wide import LONG, by_example, flat

NO_TEXT = "no such text in the set"
EQUAL = "equals the original"
"""Why an example has no text under a variant; a published text cannot be repaired."""
_CARD = "card.json"
_SUFFIXES = (*TABLE_SUFFIXES, ".json")


@dataclass(frozen=True, slots=True)
class Released:
    """One dataset of a released set."""

    dataset: str
    """Our name, e.g. `summeval`."""
    examples: tuple[Example, ...]
    """In the order of the release."""
    variants: tuple[Variant, ...]
    """All of the suite, as it describes them."""
    texts: tuple[PerturbedText, ...]
    """Variant by variant, example by example."""
    field_map: Mapping[str, str]
    """`id`, `source`, `output`, `question` and the variants -> their column, `outer.inner` where nested."""


def is_released(name: str) -> bool:
    """Whether `read_released` takes it: `hf:...`, or a folder of tables that is no frozen set."""
    if name.startswith(HUB_PREFIX):
        return True
    folder = Path(name)
    return folder.is_dir() and not (folder / _CARD).exists() and bool(_tables_below(folder))


def released_datasets(name: str) -> list[str]:
    """The datasets of the benchmark that a folder holds by the names of its files; of a Hub name all six.

    Raises `InputError` where no file is named after one.
    """
    known = tuple(READERS)
    if name.startswith(HUB_PREFIX):
        return list(known)
    files = _tables_below(Path(name))
    found = [dataset for dataset in known if Subset(dataset, known).named(files)]
    if not found:
        raise InputError(f"{name}: no file is named after a dataset; say by --dataset which it is")
    return found


def read_released(name: str, dataset: str, suite: Suite, fields: Mapping[str, str] = {}) -> Released:
    """Examples and degraded texts of one dataset of a released set.

    Parameters
    ----------
    name
        A folder with one table (`.jsonl`, `.json`, `.csv`, `.parquet`), or one for each dataset, told by its
        name or its folder's; or `hf:ORG/NAME[:SPLIT]` with configurations, files or splits so named.
    dataset
        Our name of the dataset.
    suite
        The variants to find; each must have a column.
    fields
        `{ours: theirs}` where the columns' names do not say enough. Ours are `id`, `source`, `output`,
        `question` and the variants; any other name makes a plain field of the column. Of a table with a row a
        text, `kind`, `degree` and `perturbed` are the columns that say which text it is.

    A text that is missing or equals its original counts as not applicable. Raises `InputError` for a set
    without this dataset, a column that could be several things, a degraded text of no variant of the suite,
    a variant without a column, an empty source or output, and an id or text that stands twice.
    """
    subset = Subset(dataset, tuple(READERS))
    if name.startswith(HUB_PREFIX):
        found = hub_table(name.removeprefix(HUB_PREFIX), subset)
    else:
        found = _folder_table(Path(name), subset)
    nested = flat(found)
    check_given(
        {ours: theirs for ours, theirs in fields.items() if ours in LONG}, nested.columns, suite, name
    )
    wide = by_example(nested, fields)
    given = {o: c for o, c in fields.items() if o not in LONG}
    check_given(given, wide.columns, suite, wide.name)
    return _released(dataset, wide, suite, given)


def _released(dataset: str, wide: Table, suite: Suite, given: Mapping[str, str]) -> Released:
    context = context_of(wide.columns, wide.name, given)
    for needed in ("source", "output"):
        if needed not in context:
            raise InputError(
                f"{wide.name}: no column for the {needed}; say which by --field {needed}=COLUMN; "
                f"columns: {', '.join(wide.columns)}"
            )
    names = VariantNames(suite, wide.name)
    texts = [c for c in wide.columns if c not in context.values() and _may_hold_texts(wide, c)]
    columns = names.columns(texts, given)
    used = {*context.values(), *columns.values(), *given.values()}
    plain = {c: c for c in wide.columns if "." not in c and c not in used}
    plain |= {ours: theirs for ours, theirs in given.items() if ours not in (*CONTEXT, *columns)}
    if "question" in context:
        plain["question"] = context["question"]
    examples: dict[str, Example] = {}
    rows: dict[str, Row] = {}
    for number, row in enumerate(wide.rows, 1):
        example = _example(row, number, context, plain)
        if example.id in rows:
            raise row.fault(
                f"id '{example.id}' stands twice (first at {rows[example.id].place}); allowed: once"
            )
        examples[example.id], rows[example.id] = example, row
    made = tuple(
        _text(row, columns[v.name], examples[example], v.name)
        for v in suite.variants
        for example, row in rows.items()
    )
    return Released(dataset, tuple(examples.values()), suite.variants, made, {**context, **columns})


def _may_hold_texts(wide: Table, column: str) -> bool:
    """Whether a column holds texts, or nothing at all."""
    values = [row.values.get(column) for row in wide.rows]
    return any(isinstance(value, str) for value in values) or all(value is None for value in values)


def _example(row: Row, number: int, context: Mapping[str, str], plain: Mapping[str, str]) -> Example:
    fields = {}
    for name, column in plain.items():
        if (text := as_text(row.values.get(column))) is not None:
            fields[name] = row.encodable(column, text)
    identity = row.text(context["id"]) if "id" in context else str(number)
    return Example(identity, row.text(context["source"]), row.text(context["output"]), fields)


def _text(row: Row, column: str, example: Example, variant: str) -> PerturbedText:
    value = row.values.get(column)
    if not row.has(column) and (value is None or isinstance(value, str) or value != value):
        return PerturbedText(example.id, variant, None, NO_TEXT)
    text = row.text(column)
    if text.strip() == example.output.strip():
        return PerturbedText(example.id, variant, None, EQUAL)
    return PerturbedText(example.id, variant, text, audit=audit(example.output, text))


# Files


def _tables_below(folder: Path) -> list[str]:
    """The tables in a folder, as paths below it; hidden ones left out."""
    found = (p.relative_to(folder) for p in sorted(folder.rglob("*")) if p.suffix.lower() in _SUFFIXES)
    return [p.as_posix() for p in found if not any(part.startswith(".") for part in p.parts)]


def _folder_table(folder: Path, subset: Subset) -> Table:
    if not folder.exists():
        raise InputError(f"{folder}: does not exist; allowed: a folder of tables, or hf:ORG/NAME")
    files = _tables_below(folder) if folder.is_dir() else []
    if not files:
        raise InputError(f"{folder}: no folder with tables in it; allowed: {', '.join(_SUFFIXES)}")
    chosen = subset.table(str(folder), files)
    tables = [_read(folder / file, subset) for file in chosen]
    if len(tables) == 1:
        return tables[0]
    columns = dict.fromkeys(c for t in tables for c in t.columns)
    return table(str((folder / chosen[0]).parent), columns, (row for t in tables for row in t.rows))


def _read(path: Path, subset: Subset) -> Table:
    if path.suffix.lower() != ".json":
        return read_table(path)
    value = read_json(path)
    rows = [Row(f"{path}: row {i}", values) for i, values in enumerate(_objects(path, value, subset), 1)]
    return table(str(path), dict.fromkeys(c for row in rows for c in row.values), rows)


def _objects(path: Path, value: object, subset: Subset) -> list[dict[str, object]]:
    """The rows of a JSON file: a list of objects, an object around one, id -> object, or column -> list."""
    fault = InputError(f"{path}: no table; allowed: a list of objects, or an object of id -> object")
    if isinstance(value, list):
        if not all(isinstance(entry, dict) for entry in value):
            raise fault
        return value
    if not isinstance(value, dict) or not value:
        raise fault
    if len(keys := subset.fitting(list(value))) == 1:
        return _objects(path, value[keys[0]], subset)
    if all(isinstance(entry, dict) for entry in value.values()):
        return [{"id": key, **entry} for key, entry in value.items()]
    lists = [entry for entry in value.values() if isinstance(entry, list)]
    if len(lists) == 1 and all(isinstance(entry, dict) for entry in lists[0]):
        return _objects(path, lists[0], subset)
    if len(lists) == len(value) and len({len(entry) for entry in lists}) == 1:
        return [dict(zip(value, entries, strict=True)) for entries in zip(*lists, strict=True)]
    raise fault
