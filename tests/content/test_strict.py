"""Content files are read strictly: every fault is one line with file, place and what is allowed."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from dhp.content.catalog import DATASETS, names_of, read_card, read_suite, read_task, read_weights
from dhp.content.check import check
from dhp.content.yaml_files import content_folder, load_spec, load_yaml
from dhp.core.errors import InputError
from dhp.core.specs import ANY_TASK, Card, Weights
from dhp.perturb.registry import find_perturbers
from dhp.perturb.suites import check_suite

METRIC = "{name: m, scale: {min: 1, max: 5}, definition: d, steps: [s], question: q, antonym: a}"
LABELS = "default_suite: summeval\nsource_label: s\noutput_label: o"
TASK = f"task: t\ninstruction: i\n{LABELS}\nmetrics: [{METRIC}]\n"
USE = "{level: character, method: rule, params: {k: 1}}"
SUITE = f"suite: s\ntask: summarization\nsource: x\nperturbers:\n  random_typos: {USE}\n"
ROW = "{coherence: 0.5, consistency: 0.5, fluency: 0, relevance: 0}"
WEIGHTS = f"weights: w\nversion: 1\nprovenance: p\ntasks:\n  summarization:\n    random_typos: {ROW}\n"


def test_all_content_is_valid() -> None:
    assert len(list(check())) >= 4 + 6 + 6 + 2
    for dataset in DATASETS:
        check_suite(read_suite(dataset), find_perturbers())
        assert read_suite(dataset).task == read_card(dataset).task


FAULTY_TASKS = [
    (TASK.replace("metrics:", "metric:"), "metric: unknown key.*'metrics'"),
    (TASK.replace("question: q", "qestion: q"), "metrics.0.qestion: unknown key.*'question'"),
    (TASK.replace("min: 1, ", ""), "metrics.0.scale.min: missing"),
    (TASK.replace("min: 1", "min: '1'"), "metrics.0.scale.min '1'"),
    (TASK.replace("min: 1", "min: true"), "metrics.0.scale.min True"),
    (TASK.replace("max: 5", "max: .inf"), "metrics.0.scale.max inf"),
    (TASK.replace("min: 1", "min: 9"), "min must be less than max"),
    (TASK.replace("name: m", "name: My Metric"), "metrics.0.name 'My Metric': is not a name"),
    (TASK.replace("steps: [s]", "steps: []"), "metrics.0.steps"),
    (TASK.replace("instruction: i", "instruction: 7"), "instruction 7"),
    (TASK.replace(f"[{METRIC}]", f"[{METRIC}, {METRIC}]"), "metric names must differ"),
    (TASK + "task: again\n", "line 7: duplicate key 'task'"),
    (TASK + "? [a, b]\n: c\n", "line 7: a list as a key; must be a text or a number"),
    (TASK + "  : [\n", "line 7"),
    (TASK + "x: yes\n", "line 7: 'yes' may mean several things; allowed: true, false, a decimal number"),
    (TASK + "x: [no, Off]\n", "line 7: 'no' may mean"),
    (TASK + "x: 010\n", "line 7: '010' may mean"),
    (TASK + "x: 1:30\n", "line 7: '1:30' may mean"),
    (TASK + "on: 1\n", "line 7: 'on' may mean"),
    ("- a list\n", "must be a mapping"),
    ("", "is empty"),
]
FAULTY_SUITES = [
    (
        SUITE.replace("summarization", "summarisation"),
        "unknown task 'summarisation'.*'summarization'",
    ),
    (SUITE.replace("method", "metod"), "perturbers.random_typos.metod: unknown key.*'method'"),
    (
        SUITE.replace("character", "char"),
        "perturbers.random_typos.level 'char': unknown.*'character'",
    ),
    (
        SUITE.replace("params: {k: 1}", "params: {k: 1}, degrees: {minor: {k: 1}}"),
        "degrees: ",
    ),
    (SUITE.replace("random_typos", "original"), "'original' names the undamaged text"),
    (f"suite: x\ntask: {'9' * 5000}\n", "not YAML"),
]
FAULTY_WEIGHTS = [
    (WEIGHTS.replace("fluency: 0,", "fluency: 0.1,"), "random_typos: weights must sum to 1, not 1.1"),
    (
        WEIGHTS.replace("0.5, consistency: 0.5", "-0.5, consistency: 1.5"),
        "random_typos.coherence -0.5",
    ),
    (WEIGHTS.replace(", relevance: 0", ""), "no weight for metric 'relevance'"),
    (WEIGHTS.replace("fluency", "fluancy"), "unknown metric 'fluancy'.*'fluency'"),
    (WEIGHTS.replace("summarization", "sumarization"), "unknown task 'sumarization'"),
]


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        *((read_task, *case) for case in FAULTY_TASKS),
        *((read_suite, *case) for case in FAULTY_SUITES),
        *((read_weights, *case) for case in FAULTY_WEIGHTS),
    ],
)
def test_a_faulty_file_is_one_line(
    tmp_path: Path, read: Callable[[str], object], text: str, message: str
) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read(str(file))
    assert str(caught.value).startswith(f"{file}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("read", [read_card, read_task, read_suite, read_weights])
def test_an_unknown_name_says_what_there_is(read: object) -> None:
    with pytest.raises(InputError, match=r"unknown .* 'nothing'; allowed: "):
        read("nothing")  # type: ignore[operator]
    with pytest.raises(InputError, match=r"no\.yaml"):
        load_spec(Path("no.yaml"), Card)


# Table 2 of Wang et al. (2025): the suites of the benchmark; what it leaves open is marked

AMOUNTS: Mapping[str, Mapping[str, tuple[object, ...]]] = {
    "summeval": {"random_deletions": (10, 50), "random_typos": (10, 50), "reordering": (2, "all")},
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
    found = {}
    for perturber, use in read_suite(name).perturbers.items():
        if perturber in AMOUNTS[name]:
            degrees = use.degrees.values() if use.degrees else [use.params or {}]
            found[perturber] = tuple(degree.get("k", degree.get("count")) for degree in degrees)
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


def test_each_suite_has_as_many_variants_as_the_table() -> None:
    counts = [len(read_suite(name).variants) for name in DATASETS]
    assert counts == [12, 12, 6, 9, 10, 10]


def test_metrics_of_the_paper() -> None:
    assert read_task("summarization").metric_names == ("coherence", "consistency", "fluency", "relevance")
    assert read_task("story_completion").metric_names == ("coherence", "consistency", "fluency")
    assert read_task("question_answering").metric_names == ("answer_quality",)
    assert read_task("translation").metric_names == ("accuracy", "fluency")


def test_design_weights_cover_every_perturber_of_every_suite() -> None:
    design = load_spec(content_folder("expert_weights") / "design.yaml", Weights)
    # Design has no rows for the tasks of these two.
    for suite in map(read_suite, set(names_of("suite")) - {"general_llm", "conversations"}):
        for task in design.tasks if suite.task == ANY_TASK else [suite.task]:
            assert set(suite.perturbers) <= set(design.tasks[task])


def test_the_design_weighs_a_perturber_of_a_plugin_as_the_one_it_is_like() -> None:
    design = read_weights("design")
    for task, rows in design.tasks.items():
        assert rows["inflection_errors"] == rows["grammatical_errors"], task
    assert "inflection_errors" not in read_weights("uniform").tasks


@pytest.mark.parametrize(
    "text",
    [
        "".join(
            f"{name}: &{name} [{', '.join([f'*{below}' if below else 'x'] * 9)}]\n"
            for below, name in zip(("", *"abcdefghi"), "abcdefghij", strict=True)
        ),
        "a: &a {b: *a}\n",
        "base: &b {" + ", ".join(f"k{i}: v" for i in range(400)) + "}\nall: [" + "*b, " * 200 + "*b]\n",
    ],
    ids=["doubling", "within itself", "many of one"],
)
def test_aliases_that_come_to_too_much_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(text)
    with pytest.raises(InputError, match=r"suite.yaml: line \d+: holds more than 100,000 values once"):
        load_yaml(tmp_path / "suite.yaml")


def test_aliases_are_read_as_what_they_stand_for(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text("a: &a {x: 1}\nb: [*a, *a]\n")
    assert load_yaml(tmp_path / "suite.yaml") == {"a": {"x": 1}, "b": [{"x": 1}] * 2}
