"""The suites of the benchmark's datasets are Table 2 of Wang et al. (2025); what it leaves open is marked."""

import pytest

from dhp.content.catalog import DATASETS, read_suite

AMOUNTS = {
    "summeval": {"random_deletions": (10, 50), "random_typos": (10, 50)},
    "sumpubmed": {"random_deletions": (20, 100), "random_typos": (20, 100)},
    "story_cloze": {"random_deletions": (5,), "random_typos": (5,)},
    "answer_equivalence": {"random_deletions": (5, 25), "random_typos": (5, 25)},
    "wmt22_deen": {"random_deletions": (10, 50), "random_typos": (10, 50), "word_deletions": (5, 25)},
    "wmt22_zhen": {"random_deletions": (10, 50), "random_typos": (10, 50), "word_deletions": (5, 25)},
}
"""What is printed as k, minor and major."""
LEFT_OPEN = {"grammatical_errors": ["minor", "major"], "rewriting_insertion": ["minor", "major"]}
"""One or more, two or more: in both degrees."""


@pytest.mark.parametrize("name", DATASETS)
def test_printed_amounts(name: str) -> None:
    suite = read_suite(name)
    found = {
        perturber: tuple(
            degree["k"] for degree in (use.degrees.values() if use.degrees else [use.params or {}])
        )
        for perturber, use in suite.perturbers.items()
        if perturber in AMOUNTS[name]
    }
    assert found == AMOUNTS[name]


@pytest.mark.parametrize("name", DATASETS)
def test_what_the_table_leaves_open_is_our_choice(name: str) -> None:
    """Fictional entities are "one or more" in all tasks with degrees; appendix B says one for summaries."""
    summaries = name in ("summeval", "sumpubmed")
    open_there = {**LEFT_OPEN, "fictional_named_entities": ["major"] if summaries else ["minor", "major"]}
    if name == "story_cloze":
        open_there = {}  # one entity, one error: printed
    chosen = {perturber: use.own_choice for perturber, use in read_suite(name).perturbers.items()}
    assert {perturber: degrees for perturber, degrees in chosen.items() if degrees} == {
        perturber: degrees for perturber, degrees in open_there.items() if perturber in chosen
    }
