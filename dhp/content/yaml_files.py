"""YAML files of content, checked against their records.

`load_spec` reads a file in three steps: `_StrictLoader` parses it, and refuses what readers of YAML take for
different things; `_expanded` bounds what aliases stand for; pydantic makes the record, whose first fault
`_first_fault` puts into one line, in the words of `dhp.core.checks`.
"""

import functools
import itertools
import re
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic import ValidationError

from dhp.core.checks import shown
from dhp.core.errors import InputError, suggest
from dhp.core.files import read_text, reason
from dhp.core.options import Option
from dhp.core.specs import NAME, S, Spec

_PACKAGE = Path(__file__).resolve().parent.parent
"""The folder `dhp`."""


@functools.cache
def content_folder(name: str) -> Path:
    """The folder `name` as shipped in the wheel, or in the checkout this package runs from."""
    # The wheel has the folders within the package, a checkout beside it.
    for candidate in (_PACKAGE / "_content" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise InputError(f"content folder '{name}' is missing from this installation; install dhp again")


_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # in C it is eight times faster


_PLAIN_TAGS = ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
"""What the parser calls values without quotation marks that it does not take for texts."""
_PLAIN = re.compile(
    r"(?i)true|false|[-+]?(?:0|[1-9]\d*)(?:\.\d*)?(?:e[-+]?\d+)?|[-+]?\.\d+(?:e[-+]?\d+)?"
    r"|[-+]?\.inf|\.nan"
)
"""Truth values and numbers that every version of YAML, and every reader, takes for the same.

`true`, `-12`, `0.5`, `1e-3`, `.5`, `.inf`, `.nan`; not `yes`, `010`, `1:30` or `1_000`.
"""


class _StrictLoader(_SafeLoader):  # type: ignore[misc]
    """Safe YAML whose keys are texts or numbers, each only once in a mapping, and plain values one thing.

    YAML 1.1 takes yes, no, on and off for truth values, 010 for 8, 1:30 for 90 and 1_0 for 10: whoever writes
    them may have meant something else.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys: set[object] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                problem = f"a {type(key).__name__} as a key; must be a text or a number"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key_node.start_mark)
            if key in keys:
                raise yaml.MarkedYAMLError(problem=f"duplicate key '{key}'", problem_mark=key_node.start_mark)
            keys.add(key)
        mapping: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return mapping

    def construct_scalar(self, node: yaml.ScalarNode) -> str:
        text: str = super().construct_scalar(node)
        # A value in quotation marks has a style: it is a text, whatever it looks like.
        if not node.style and node.tag in _PLAIN_TAGS and not _PLAIN.fullmatch(text):
            problem = (
                f"'{text}' may mean several things; allowed: true, false, a decimal number, "
                f"or '{text}' in quotation marks"
            )
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
        return text


def load_yaml(path: Path) -> object:
    """One YAML document, safe-loaded; unreadable or broken files raise `InputError` with the line."""
    return _parsed(path, read_text(path))


_MOST_NODES = 100_000
"""Values of a document whose aliases are written out; a few lines of aliases of aliases come to billions.

Chosen: far more than any content file has. Ten such lines took 11 GB of memory.
"""


def _expanded(node: yaml.Node, known: dict[int, int]) -> int:
    """The number of nodes of a tree, each alias counted as what it stands for.

    `known` has the numbers by the `id` of nodes, so that each node is counted once. Raises `YAMLError` above
    the bound.
    """
    if id(node) not in known:
        # An alias within its own anchor meets this value, and is refused.
        known[id(node)] = _MOST_NODES
        total = 1
        for child in _children(node):
            total += _expanded(child, known)
        known[id(node)] = total
    if known[id(node)] > _MOST_NODES:
        problem = f"holds more than {_MOST_NODES:,} values once its aliases (*) are written out"
        raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
    return known[id(node)]


def _children(node: yaml.Node) -> list[yaml.Node]:
    """The values of a list, or the keys and values of a mapping."""
    if isinstance(node, yaml.ScalarNode):
        return []
    if isinstance(node, yaml.MappingNode):
        return list(itertools.chain.from_iterable(node.value))
    return list(node.value)


def _parsed(path: Path, text: str) -> object:
    """The value of a text; raises `InputError` with the line if it is no YAML."""
    # In two steps, nodes and then values: aliases are counted before anything is made of them.
    loader = _StrictLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        if "*" in text:  # else there is no alias
            _expanded(node, {})
        return loader.construct_document(node)
    except yaml.MarkedYAMLError as e:
        line = e.problem_mark.line + 1 if e.problem_mark else "?"
        raise InputError(f"{path}: line {line}: {e.problem}") from None
    except yaml.YAMLError as e:
        raise InputError(f"{path}: not YAML ({e})".replace("\n", " ")) from None
    except (ValueError, RecursionError) as e:  # a date or number that Python cannot hold, or too deep a nest
        raise InputError(f"{path}: not YAML ({reason(e)})") from None
    finally:
        loader.dispose()


def load_spec(path: Path, spec: type[S]) -> S:
    """Read a content file; a violation raises `InputError`: file, place, what is wrong, what is allowed.

    A file is parsed once a process, unless its text changes.
    """
    return cast(S, _spec_of(path, read_text(path), spec))


@functools.lru_cache(maxsize=256)
def _spec_of(path: Path, text: str, spec: type[Spec]) -> Spec:
    data = _parsed(path, text)
    if not isinstance(data, dict):
        raise InputError(f"{path}: must be a mapping with keys {', '.join(spec.model_fields)}")
    with refusals(str(path), spec):
        read = spec.model_validate(data)
    read._origin = str(path)
    return read


def load_steps(path: Path, of: str) -> dict[str | None, dict[str, list[str]]]:
    """Task -> name -> steps, from a YAML file of `task: {name: [step, ...]}`; messages call a name `of`.

    A file without the level of tasks is for all tasks; then the only key is None.
    """
    data = load_yaml(path)
    if not isinstance(data, dict) or not data:
        raise InputError(f"{path}: must be a mapping of {of}: [step, ...], by task or for all tasks")
    is_by_task = all(isinstance(entries, dict) for entries in data.values())
    steps: dict[str | None, dict[str, Any]] = {}
    if is_by_task:
        for task, entries in data.items():
            steps[str(task)] = entries
    else:
        steps[None] = data
    for key, entries in steps.items():
        for name, listed in entries.items():
            if not _are_steps(listed):
                place = f"{path}: {key}: {name}" if key else f"{path}: {name}"
                raise InputError(f"{place}: must be a list of steps, each a text")
    return steps


def _are_steps(value: object) -> bool:
    """Whether a value is a list of texts, at least one and none empty."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(step, str) and step.strip() for step in value)


@contextmanager
def refusals(place: str, spec: type[Any]) -> Iterator[None]:
    """Within it a record of type `spec` is made; its first fault is an `InputError` in one line."""
    try:
        yield
    except ValidationError as e:
        fault = _first_fault(e, spec)
        raise InputError(f"{place}: {fault}" if place else fault) from None


def _first_fault(error: ValidationError, spec: type[Any]) -> str:
    """The first fault that pydantic found in a record of type `spec`, in one line.

    An unknown key comes before any other, as it is usually a typing error for one that is missing.
    """
    errors = error.errors()
    unknown = [each for each in errors if each["type"] == "extra_forbidden"]
    first = unknown[0] if unknown else errors[0]
    kind, path = first["type"], first["loc"]
    place = ".".join(str(part) for part in path)
    # What pydantic calls an unknown key of a model, and of a dataclass.
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        *parents, key = path
        return f"{place}: unknown key; {suggest(str(key), _fields_at(spec, parents))}"
    if kind == "missing":
        return f"{place}: missing"
    fault = _declared_fault(kind, first["input"], first.get("ctx", {}))
    if fault is not None:
        return f"{place} {shown(first['input'])}: {fault}".strip()
    # What a validator of ours says, to which pydantic adds two words. One of the whole record has no place.
    message = first["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


_TYPES: Mapping[str, str] = {
    "string_type": "a text",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "dataclass_type": "a mapping",
}
"""Kind of a pydantic error -> what the value must be."""


def _declared_fault(kind: str, value: Any, limits: Mapping[str, Any]) -> str | None:
    """What is wrong by the declaration of a field, as settings say it; None for a fault of another kind.

    `kind` and `limits` are what pydantic calls the type and the context of an error.
    """
    if kind in _TYPES:
        return f"is of type {type(value).__name__}; must be {_TYPES[kind]}"
    if kind == "literal_error":
        words = re.findall("'([^']*)'", limits["expected"])  # 'en', 'de' or 'zh'
        return f"unknown; {suggest(str(value), words)}"
    if kind == "string_pattern_mismatch":
        if limits["pattern"] != NAME:
            return f"must have the form {limits['pattern']}"
        return "is not a name; must be of lower-case letters, digits and '_'"
    if kind == "finite_number" or limits.keys() & {"ge", "le", "gt"}:
        # An option with the same bounds words it as settings do.
        return Option(help="", **limits).fault(value)
    if limits.get("min_length") == 1:
        return "must not be empty"
    if "min_length" in limits:
        return f"must have {limits['min_length']} {_counted(value)} or more"
    if "max_length" in limits:
        return f"must have at most {limits['max_length']} {_counted(value)}"
    return None


def _counted(value: object) -> str:
    """What the length of a value counts."""
    return "characters" if isinstance(value, str) else "entries"


def _fields_at(spec: type[Any], parents: list[int | str]) -> list[str]:
    """The allowed keys of the record that the path `parents` leads to."""
    record: Any = spec
    for part in parents:
        inner = _innermost(_fields(record).get(part))
        if _fields(inner):  # else `part` is a place in a list, a key of a mapping, or a field without keys
            record = inner
    return [str(name) for name in _fields(record)]


def _innermost(annotation: Any) -> Any:
    """The spec inside `list[Spec]`, `dict[Name, Spec]` or `Spec | None`; else the annotation itself."""
    for argument in getattr(annotation, "__args__", ()):
        inner = _innermost(argument)
        if _fields(inner):
            return inner
    return annotation


def _fields(spec: Any) -> dict[int | str, Any]:
    """Key -> type of each field of a model or a dataclass; empty for any other type."""
    if is_dataclass(spec):
        return {field.name: field.type for field in fields(spec)}
    types_by_key = {}
    for name, field in getattr(spec, "model_fields", {}).items():
        key = field.alias or name  # an alias is what the file says: `schema` for `schema_`
        types_by_key[key] = field.annotation
    return types_by_key
