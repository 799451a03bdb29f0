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
        count = f"N = {card.n}" if card.n else "all pairs"
        yield f"dataset {dataset}: task {card.task}, {count}"
    for name in names_of("suite"):
        suite = read_suite(name)
        _check_name(f"perturbations/{name}.yaml", "suite", name, suite.suite)
        yield f"suite {name}: {len(suite.variants)} variants"
        # `dhp list` and `dhp show` print a sentence on each perturber.
        unknown = sorted(set(suite.perturbers) - set(descriptions()))
        if unknown:
            raise InputError(f"perturbations/lists/descriptions.yaml: no sentence on '{unknown[0]}'")
    for name in names_of("weights"):
        weights = read_weights(name)
        rows = sum(len(of_task) for of_task in weights.tasks.values())
        yield f"weights {name}: {rows} rows"
    yield from _protocols()


def _check_name(file: str, key: str, wanted: str, name: str) -> None:
    """Raise `InputError` if a file says another name than its own."""
    if name != wanted:
        raise InputError(f"{file}: {key}: must be '{wanted}', not '{name}'")


def _protocols() -> Iterator[str]:
    for language in LANGUAGES:
        wording = read_wording(language)
        _check_name(wording.origin, "language", language, wording.language)
        yield f"wording {language}: {len(wording.personas)} personas"
    for name in names_of("protocol"):
        protocol = read_protocol(name)
        _check_name(protocol.origin, "protocol", name, protocol.protocol)
        yield f"protocol {name}: {protocol.answer}, {protocol.samples} samples"
    for language in LANGUAGES:
        wording = read_wording(language, pairwise=True)
        _check_name(wording.origin, "language", language, wording.language)
        yield f"wording of pairwise prompts {language}"
    for name in names_of("pairwise protocol"):
        protocol = read_protocol(name)
        _check_name(protocol.origin, "protocol", name, protocol.protocol)
        yield f"pairwise protocol {name}: {protocol.answer}, both orders"
