"""Finds and strictly reads the content folders: `datasets/`, `perturbations/`, `expert_weights/`."""

from dhp.content.catalog import (
    DATASETS,
    check,
    dataset_names,
    mini_examples_file,
    read_card,
    read_suite,
    read_task,
    read_weights,
    suite_names,
    task_names,
    weights_names,
)
from dhp.content.files import content_folder, load_spec

__all__ = [
    "DATASETS",
    "check",
    "content_folder",
    "dataset_names",
    "load_spec",
    "mini_examples_file",
    "read_card",
    "read_suite",
    "read_task",
    "read_weights",
    "suite_names",
    "task_names",
    "weights_names",
]
