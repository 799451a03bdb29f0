"""What users naturally write works or is refused in one line: tables in memory, one value for several."""

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dhp
from dhp.core.errors import InputError
from dhp.core.options import scale_ends
from dhp.perturb.builder import with_own_task

ROWS: list[Mapping[str, object]] = [
    {
        "ticket": f"Printer {i} is broken.",
        "summary": f"The printer {i} on floor {i} is broken again.",
        "floor": i,
    }
    for i in range(8)
]
FIELDS = {"source": "ticket", "output": "summary"}
METRIC = dhp.own_metric("usefulness", "1..10")
TASK = dhp.own_task([METRIC])


@dhp.perturber(name="shout", level="word", degrees={"minor": {"words": 1}, "major": {"words": 3}})
def shout(text: str, rng: random.Random, words: int) -> str:
    """Writes the first words in capitals."""
    first = text.split()
    return " ".join([*map(str.upper, first[:words]), *first[words:]])


def length(outputs: str) -> float:
    """A judge of one's own, sensitive to capitals."""
    return sum(map(str.islower, outputs)) / len(outputs)


def texts(dataset: Any, **choice: Any) -> list[str | None]:
    (part,) = dhp.perturb_datasets(dataset, progress=None, **choice)
    return [text.text for text in part.texts]


@pytest.fixture
def suite(tmp_path: Path) -> str:
    """One kind of damage, which needs no dictionaries."""
    file = tmp_path / "tiny.yaml"
    use = "{level: character, method: rule, degrees: {minor: {k: 2}}}"
    file.write_text(f"suite: tiny\nsource: own\nperturbers:\n  random_deletions: {use}\n")
    return str(file)


def test_a_table_in_memory_is_one_on_disk(tmp_path: Path, suite: str) -> None:
    """The same examples, whether they come as a DataFrame, a list of dictionaries or a file."""
    pd.DataFrame(ROWS).to_csv(tmp_path / "tickets.csv", index=False)
    made = [
        dhp.perturb_datasets(each, task="summarization", fields=FIELDS, suite=suite, progress=None)[0]
        for each in (ROWS, pd.DataFrame(ROWS), tmp_path / "tickets.csv")
    ]
    assert [part.dataset.name for part in made] == ["table", "table", "tickets.csv"]
    assert made[0].texts == made[1].texts
    assert list(made[0].dataset.examples) == list(made[2].dataset.examples)
    fourth = made[0].dataset.examples[3]
    assert fourth == dhp.Example(
        fourth.id, "Printer 3 is broken.", "The printer 3 on floor 3 is broken again.", {"floor": "3"}
    )


def test_a_run_on_rows_with_a_metric_of_ones_own(suite: str) -> None:
    result = dhp.run("mock/ideal", ROWS, fields=FIELDS, metrics=METRIC, suite=suite, task=TASK, progress=None)
    assert with_own_task(ROWS, dhp.Choice(), METRIC).task == TASK  # by which no task need be named
    assert (result.dataset, result.n, set(result.scales)) == ("table", 8, {"usefulness"})
    (kept,) = dhp.perturb_datasets(ROWS, fields=FIELDS, task=TASK, suite=suite, where={"floor": "3"})
    assert [e.source for e in kept.dataset.examples] == ["Printer 3 is broken."]


def test_a_function_needs_no_task_for_data_of_ones_own() -> None:
    settings = dhp.JudgeSettings(scale=(0, 10))
    asked = {"fields": FIELDS, "judge_settings": settings, "controls": False, "progress": None}
    result = dhp.run(lambda output: len(output) / 20, ROWS, **asked)
    assert (result.dataset, set(result.scales)) == ("table", {"score"})
    with pytest.raises(InputError, match=r"usefulness.*allowed: score"):
        dhp.run(lambda output: len(output) / 20, ROWS, metrics="usefulness", **asked)


def test_rows_are_rated_without_being_degraded() -> None:
    rows = [{"source": "S", "output": "word " * i, "system": f"s{i}"} for i in (1, 2, 3)]
    found = dhp.judge("mock/ideal", pd.DataFrame(rows), metrics="fluency", progress=None)
    assert list(found["system"]) == ["s1", "s2", "s3"]
    assert set(found["metric"]) == {"fluency"}


def test_missing_values_of_a_frame_are_no_text() -> None:
    frame = pd.DataFrame([{**ROWS[0], "summary": None}, *ROWS[1:]])
    with pytest.raises(InputError, match=r"table: 1 of 8 rows .*'summary'"):
        texts(frame, task="summarization", fields=FIELDS)


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        ([dhp.Example("1", "s", "o")], "dataset: is of type Example; .* dhp.Dataset.of\\(examples"),
        (5, "dataset: is of type int; allowed: a name, a file, a DataFrame"),
        ([], "dataset: is an empty list"),
        (pd.DataFrame({"output": []}), "table: is empty; must have at least one row"),
        ([{"output": "o"}, "mini"], "dataset: is of type dict; allowed"),
        ([{"a": "o"}], "table: .*column 'output' is missing"),
    ],
)
def test_what_is_no_dataset_is_refused_in_one_line(dataset: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        texts(dataset, task="summarization" if isinstance(dataset, pd.DataFrame | list) else None)
    assert "\n" not in str(caught.value)


def test_one_value_stands_for_a_list_of_one(tmp_path: Path) -> None:
    assert texts("mini/story_cloze", n=3, perturbers=shout) == texts(
        "mini/story_cloze", n=3, perturbers=[shout]
    )
    (tmp_path / "fluency.txt").write_text("Story: {{story}} Ending: {{ending}} How fluent, from 1 to 5?")
    prompt = tmp_path / "fluency.txt"
    settings = dhp.ModelSettings(store=False)
    wanted: dict[str, Any] = {"settings": settings, "n": 3, "progress": None}
    asked = [
        dhp.estimate("openai/none", "mini/story_cloze", prompt=files, metrics=metrics, **wanted)
        for files, metrics in ((prompt, "fluency"), ([str(prompt)], ["fluency"]), ((prompt,), ("fluency",)))
    ]
    assert asked[0] == asked[1] == asked[2]


@pytest.mark.parametrize("n", ["5", 5.0, True])
def test_a_number_of_examples_is_a_whole_number(n: Any) -> None:
    for function in (dhp.run, dhp.perturb_datasets, dhp.Choice):
        with pytest.raises(InputError, match=f"`n` {n!r}: "):
            function(n=n)
    with pytest.raises(InputError, match="`seed` '3': is of type str"):
        dhp.run("mock/ideal", seed="3")  # type: ignore[arg-type]


def test_a_number_of_numpy_is_one() -> None:
    assert texts("mini/story_cloze", n=np.int64(3)) == texts("mini/story_cloze", n=3)


def test_a_scale_is_two_numbers_or_a_text(suite: str) -> None:
    judged = [
        dhp.run(length, ROWS, task=TASK, suite=suite, fields=FIELDS, judge_settings=each, progress=None)
        for each in (dhp.JudgeSettings(scale="0..1"), dhp.JudgeSettings(scale=(0, 1)))
    ]
    assert judged[0].scales == judged[1].scales == {next(iter(judged[0].scales)): (0.0, 1.0)}
    assert judged[0].d_avg == judged[1].d_avg
    for text, ends in (("1..10", (1, 10)), ("-1 .. 1", (-1, 1)), ("1-5", (1, 5)), ("0:1", (0, 1))):
        assert scale_ends(text, "scale") == ends
    for wrong in ("0-", "high", ""):
        with pytest.raises(InputError, match=r"must have the form FIRST\.\.LAST, e\.g\. 1\.\.10"):
            dhp.JudgeSettings(scale=wrong)
    for other, fault in (
        ((1, 2, 3), "a list of 2 or a text"),
        (5, "a list of 2 or a text"),
        (("a", "b"), "a number"),
    ):
        with pytest.raises(InputError, match=f"`judge_settings.scale` .* must be {fault}"):
            dhp.JudgeSettings(scale=other)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"`judge_settings.scale`"):
        dhp.JudgeSettings(scale="1..0")


def test_a_perturber_is_called_as_the_function_it_was() -> None:
    assert shout("a good text", random.Random(0), words=2) == "A GOOD text"
    from dhp.perturb.registry import builtin_perturbers

    with pytest.raises(InputError, match="'grammatical_errors': is carried out by a language model"):
        builtin_perturbers()["grammatical_errors"]("a", random.Random(0))


@pytest.mark.parametrize("degrees", [["minor"], "minor", {"minor": 3}, {"minor": ["k"]}])
def test_degrees_that_are_no_mapping_are_refused_in_one_line(degrees: Any) -> None:
    with pytest.raises(InputError, match=r"perturber 'mine': degrees is .*; allowed: a mapping") as caught:
        dhp.perturber(name="mine", level="word", degrees=degrees)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"protocol": 5}, "`protocol` 5: is of type int; allowed: a name, a file"),
        ({"metrics": 5}, "`metrics` 5: allowed: names of metrics"),
        ({"doses": 5}, "doses '5'"),
        ({"doses": ["1", "2"]}, "doses '1,2'"),
        ({"perturbers": length}, "is of type function, not made by @dhp.perturber"),
        (
            {"judge_settings": {"scale": 1}},
            "`judge_settings` {'scale': 1}: is of type dict; must be a dhp.JudgeSettings",
        ),
    ],
)
def test_what_is_of_another_type_is_refused_in_one_line(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        dhp.run("mock/ideal", "mini/story_cloze", n=3, progress=None, **given)
    assert "\n" not in str(caught.value)


def test_a_part_that_may_differ_is_one_text() -> None:
    with pytest.raises(InputError, match="`allow` 'n'"):
        dhp.compare("one", "two", allow="n")
    with pytest.raises(InputError, match="one: "):
        dhp.compare("one", "two", allow="protocol")
