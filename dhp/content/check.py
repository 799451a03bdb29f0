"""Strict check of all content files, for `dhp data check` and `dhp doctor`."""

from collections.abc import Iterator

from dhp.content.catalog import (
    descriptions,
    names_of,
    read_card,
    read_protocol,
    read_suite,
    read_task,
    read_weights,
    read_wording,
)
from dhp.core.errors import InputError
from dhp.core.specs import LANGUAGES


def check() -> Iterator[str]:
    """Read all content strictly; yields one line a file, raises `InputError` at the first fault."""
    for task in names_of("task"):
        yield f"task {task}: {len(read_task(task).metrics)} metrics"
    for dataset in names_of("dataset"):
        card = read_card(dataset)
        yield f"dataset {dataset}: task {card.task}, {f'N = {card.n}' if card.n else 'all pairs'}"
    for name in names_of("suite"):
        suite = read_suite(name)
        _check_name(f"perturbations/{name}.yaml", "suite", name, suite.suite)
        yield f"suite {name}: {len(suite.variants)} variants"
        unknown = sorted(set(suite.perturbers) - set(descriptions()))
        if unknown:
            raise InputError(f"perturbations/lists/descriptions.yaml: no sentence on '{unknown[0]}'")
    for name in names_of("weights"):
        weights = read_weights(name)
        yield f"weights {name}: {sum(map(len, weights.tasks.values()))} rows"
    yield from _protocols()


def _check_name(file: str, key: str, wanted: str, name: str) -> None:
    if name != wanted:
        raise InputError(f"{file}: {key}: must be '{wanted}', not '{name}'")


def _protocols() -> Iterator[str]:
    for pairwise in (False, True):
        for language in LANGUAGES:
            wording = read_wording(language, pairwise=pairwise)
            _check_name(wording.origin, "language", language, wording.language)
            personas = f"{language}: {len(wording.personas)} personas"
            yield f"wording {f'of pairwise prompts {language}' if pairwise else personas}"
        kind = "pairwise protocol" if pairwise else "protocol"
        for name in names_of(kind):
            protocol = read_protocol(name)
            _check_name(protocol.origin, "protocol", name, protocol.protocol)
            count = "both orders" if pairwise else f"{protocol.samples} samples"
            yield f"{kind} {name}: {protocol.answer}, {count}"
