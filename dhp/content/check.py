"""Strict check of all content files, for `dhp data check` and `dhp doctor`."""

from collections.abc import Iterator

from dhp.content.catalog import (
    dataset_names,
    descriptions,
    read_card,
    read_suite,
    read_task,
    read_weights,
    suite_names,
    task_names,
    weights_names,
)
from dhp.content.protocols import (
    evaluation_languages,
    evaluation_protocol,
    pairwise_names,
    protocol_names,
    read_evaluation,
    read_protocol,
    read_wording,
    wording_languages,
)
from dhp.core.errors import InputError
from dhp.core.protocol_spec import LANGUAGES


def check() -> Iterator[str]:
    """Read all content strictly; yields one line a file, raises `InputError` at the first fault."""
    for task in task_names():
        yield f"task {task}: {len(read_task(task).metrics)} metrics"
    for dataset in dataset_names():
        card = read_card(dataset)
        yield f"dataset {dataset}: task {card.task}, {f'N = {card.n}' if card.n else 'all pairs'}"
    for name in suite_names():
        suite = read_suite(name)
        _check_name(f"perturbations/{name}.yaml", "suite", name, suite.suite)
        yield f"suite {name}: {len(suite.variants)} variants"
        if unknown := sorted(set(suite.perturbers) - set(descriptions())):
            raise InputError(f"perturbations/lists/descriptions.yaml: no sentence on '{unknown[0]}'")
    for name in weights_names():
        weights = read_weights(name)
        yield f"weights {name}: {sum(map(len, weights.tasks.values()))} rows"
    yield from check_protocols()


def _check_name(file: str, key: str, wanted: str, found: str) -> None:
    if found != wanted:
        raise InputError(f"{file}: {key}: must be '{wanted}', not '{found}'")


def check_protocols() -> Iterator[str]:
    """Read all wording and protocols strictly; yields one line a file, `InputError` at the first fault."""
    for language in LANGUAGES:
        wording = read_wording(language)
        _check_name(wording.origin, "language", language, wording.language)
        yield f"wording {language}: {len(wording.personas)} personas"
    for name in protocol_names():
        protocol = read_protocol(name)
        _check_name(protocol.origin, "protocol", name, protocol.protocol)
        yield f"protocol {name}: {protocol.answer}, {protocol.samples} samples"
    for language in wording_languages(pairwise=True):
        wording = read_wording(language, pairwise=True)
        _check_name(wording.origin, "language", language, wording.language)
        yield f"wording of pairwise prompts {language}"
    for name in pairwise_names():
        protocol = read_protocol(name)
        _check_name(protocol.origin, "protocol", name, protocol.protocol)
        yield f"pairwise protocol {name}: {protocol.answer}, both orders"
    yield from _evaluations()


def _evaluations() -> Iterator[str]:
    for language in evaluation_languages():
        content = read_evaluation(language)
        yield f"evaluation {language}: {len(content.categories)} categories, {len(content.metrics)} metrics"
    yield f"protocol {evaluation_protocol().protocol}: {evaluation_protocol().answer}"
