"""Finds and strictly reads the content folders: `datasets/`, `perturbations/`, `protocols/`, ..."""

from dhp.content.catalog import (
    DATASETS,
    check,
    dataset_names,
    descriptions,
    mini_examples_file,
    read_card,
    read_list,
    read_probes,
    read_suite,
    read_task,
    read_weights,
    suite_names,
    task_names,
    weights_names,
)
from dhp.content.files import content_folder, load_spec
from dhp.content.protocols import (
    override,
    protocol_names,
    read_persona,
    read_protocol,
    read_steps,
    read_wording,
)

__all__ = [
    "DATASETS",
    "check",
    "content_folder",
    "dataset_names",
    "descriptions",
    "load_spec",
    "mini_examples_file",
    "override",
    "protocol_names",
    "read_card",
    "read_list",
    "read_persona",
    "read_probes",
    "read_protocol",
    "read_steps",
    "read_suite",
    "read_task",
    "read_weights",
    "read_wording",
    "suite_names",
    "task_names",
    "weights_names",
]
