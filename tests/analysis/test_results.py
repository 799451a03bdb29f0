"""Results written and read back: nothing lost, nothing foreign taken in, one schema for both."""

import copy
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import dhp
from dhp.analysis.doses import fitted_detection
from dhp.analysis.results import NOTHING, DoseResponse, DoseThreshold, Results, results_schema
from dhp.content.catalog import variant_name
from dhp.core.errors import InputError
from dhp.runs.reader import read_results, read_run
from tests.parsed import Parsed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "r"
    dhp.run("baseline/surface", "mini/summeval", n=8, controls=True, attacks=True, out=path)
    return path


@pytest.fixture(scope="module")
def schema() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(results_schema())


@pytest.fixture
def found(folder: Path) -> dict[str, Any]:
    read = json.loads((folder / "results.json").read_text())
    assert isinstance(read, dict)
    del read["checksum"]  # tests edit it
    return read


@pytest.mark.slow
def test_what_is_written_is_read_back(folder: Path, schema: jsonschema.Draft202012Validator) -> None:
    results = dhp.run("baseline/surface", "mini/summeval", n=8, controls=True, attacks=True)
    (read,) = read_results(folder / "results.json")
    assert read.to_dict() | {"created": ""} == results[0].to_dict() | {"created": ""}
    written = json.loads((folder / "results.json").read_text())
    schema.validate(written)
    assert written.pop("checksum").keys() == {"ratings", "figures"}
    assert json.loads(json.dumps(read.to_dict())) == written


@pytest.mark.slow
def test_several_results_and_curves_are_read_back(schema: jsonschema.Draft202012Validator) -> None:
    results = dhp.run(["mock/ideal", "mock/blind"], "mini/summeval", doses=(5, 50))
    plain = json.loads(json.dumps(results.to_dict()))
    assert list(Results.from_json(plain, "here")) == list(results)
    schema.validate(plain)


BROKEN = [
    (["d_avg"], "4.4"),
    (["n"], 2.5),
    (["surprise"], 1),
    (["variants", 0, "metrics", "fluency", "p"], "small"),
    (["variants", 0, "metrics", "fluency", "extra"], 0),
    (["combination"], "mean"),
    (["schema"], "dhp.results/2"),
    (["ratings", "asked"], None),
]


@pytest.mark.slow
@pytest.mark.parametrize(("path", "value"), BROKEN, ids=lambda v: str(v))
def test_schema_and_reader_refuse_the_same(
    found: dict[str, Any], path: list[Any], value: object, schema: jsonschema.Draft202012Validator
) -> None:
    broken = copy.deepcopy(found)
    place: Any = broken
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(InputError, match=r"results\.json: ") as refusal:
        Results.from_json(broken, "results.json")
    assert "\n" not in str(refusal.value)
    with pytest.raises(jsonschema.ValidationError):
        schema.validate(broken)


@pytest.mark.slow
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_json_number_is_refused(found: dict[str, Any], value: float) -> None:
    with pytest.raises(InputError, match="here: d_min"):
        Results.from_json(found | {"d_min": value}, "here")


@pytest.mark.slow
def test_an_unknown_field_is_refused_with_the_near_name(found: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"here: d_averge: unknown key.*'d_avg'"):
        Results.from_json(found | {"d_averge": 1.0}, "here")


@pytest.mark.slow
def test_a_missing_field_is_named(found: dict[str, Any], schema: jsonschema.Draft202012Validator) -> None:
    for name in ("d_avg", "variants", "signature"):
        broken = {k: v for k, v in found.items() if k != name}
        with pytest.raises(InputError, match=name):
            Results.from_json(broken, "here")
        with pytest.raises(jsonschema.ValidationError):
            schema.validate(broken)


@pytest.mark.slow
def test_the_schema_takes_what_runs_write(
    found: dict[str, Any], schema: jsonschema.Draft202012Validator
) -> None:
    schema.validate(found)
    for several in ([found], [found, found]):
        schema.validate(several)
    with pytest.raises(jsonschema.ValidationError):
        schema.validate([])
    jsonschema.Draft202012Validator.check_schema(results_schema())


@pytest.mark.parametrize("content", ["[]", "{}", "3", '{"schema": "dhp.results/2"}', "{", ""])
def test_what_is_no_results_file(tmp_path: Path, content: str) -> None:
    (tmp_path / "results.json").write_text(content)
    with pytest.raises(InputError, match=r"results\.json"):
        read_run(tmp_path)


def test_a_folder_without_a_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no run"):
        read_run(tmp_path)


def test_what_stands_in_the_folder_is_given_back(folder: Path) -> None:
    run = read_run(folder)
    assert {e["id"] for e in run.examples} == {p["example"] for p in run.perturbed}
    assert run.manifest["identity"]["seed"] == 0
    assert run.prompts == []
    (rated,) = run.rated
    assert rated.result.d_avg == run.results.d_avg
    assert set(rated.ratings.examples) == {e["id"] for e in run.examples}


@pytest.mark.slow
def test_results_show_in_notebooks_and_in_a_line() -> None:
    results = dhp.run("mock/ideal", "mini/story_cloze", n=6)
    assert json.loads(results.to_json()) == json.loads(json.dumps(results.to_dict()))
    assert all(len(line) <= 120 for line in repr(results).splitlines())
    assert "mock/ideal on mini/story_cloze: " in repr(results[0])
    assert " more results" not in repr(Results([results[0]] * 12))
    lowest = variant_name(results[0].detection.min_variant)
    assert f", lowest kind 100% {lowest}" in repr(results[0])
    assert lowest not in repr(replace(results[0], detection=NOTHING))
    assert f"100% {lowest}" in repr(results)
    assert "next: Rate more texts" in repr(results)
    assert "mock/ideal (rubric) on" in repr(replace(results[0], protocol="rubric@1a2b"))
    assert repr(Results([results[0]] * 14)).endswith("and 2 more results")
    page = Parsed(results[0]._repr_html_())
    assert len(page.rows) == 1 + len(results[0].variants) + len(results[0].controls)
    (axes,) = results.plot().axes
    left, right = axes.get_xlim()
    assert left < 0.5 < 1 < right
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == [variant_name(row.variant) for row in (*results[0].variants, *results[0].controls)]


def test_the_fitted_line_goes_from_50_through_75_per_cent_to_the_lapses() -> None:
    t75 = DoseThreshold(8.0, 5.0, 12.0)
    found = DoseResponse("random_typos", (1, 4, 16), power=1.0, lapse=0.02, t75=t75)
    assert fitted_detection(found, [1e-9, 8, 1e9]) == pytest.approx([0.5, 0.75, 0.98])


def test_without_a_threshold_there_is_no_line() -> None:
    for t75 in (None, DoseThreshold(None, None, None), DoseThreshold(0.0, 0.0, 1.0)):
        assert fitted_detection(DoseResponse("p", (1,), power=1.0, lapse=0.0, t75=t75), [1]) is None
