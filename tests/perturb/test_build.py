"""From names and options to degraded texts: doses, controls, attacks, perturbation sets."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import dhp
from dhp.content.catalog import read_suite
from dhp.core.errors import InputError
from dhp.core.records import parse_variant
from dhp.judge.factory import request_builder
from dhp.judge.judges.llm import LlmJudge
from dhp.llm.cached_model import CachedModel, RequestContext
from dhp.perturb.facts.kinds import CONTENT
from dhp.perturb.sets import write_set
from tests.judges import ByRule
from tests.perturb.says import Says
from tests.quick import undrawn_charts

__all__ = ["undrawn_charts"]

STORIES = "mini/story_cloze"
DOSES = (1, 5, 20)


def variants(result: dhp.Result) -> list[str]:
    return [v.variant for v in result.variants]


def consistency(c: dhp.Candidate, metric: str) -> float:
    """Notices nothing but wrong names, and lowers nothing but consistency."""
    return 3 if metric == "consistency" and c.variant.startswith("fictional") else 4


@pytest.mark.slow
def test_weights_tell_what_authored_damage_should_hurt() -> None:
    result = dhp.run(ByRule(consistency), "mini/summeval")
    assert result.weights == "design"
    (row,) = [v for v in result.variants if v.variant == "fictional_named_entities.minor"]
    p = row.metrics["consistency"].p
    assert row.p == pytest.approx(1 / (0.25 / p + 0.75), rel=1e-9)
    assert 0.05**row.d_ew == pytest.approx(1 / (0.7 / p + 0.3), rel=1e-9)


@pytest.mark.slow
def test_one_degree_called_like_a_dose_counts_like_any_other(tmp_path: Path) -> None:
    suite = tmp_path / "mine.yaml"
    suite.write_text(
        "suite: mine\ntask: summarization\nsource: s\nperturbers:\n"
        "  random_typos: {level: character, method: rule, degrees: {k5: {k: 5}}}\n"
    )
    result = dhp.run("mock/ideal", "mini/summeval", suite=str(suite))
    assert result.d_avg == result.variants[0].d > 1
    assert result.curves == ()


@pytest.mark.slow
def test_doses_degrade_more_and_more_and_find_the_threshold() -> None:
    result = dhp.run("mock/ideal?sensitivity=0.9", "mini/summeval", doses=DOSES)
    assert variants(result) == [f"{p}.k{k}" for p in ("random_deletions", "random_typos") for k in DOSES]
    assert (result.d_avg, result.d_min, result.d_min_variant) == (None, None, None)
    assert result.left_out == ()
    assert [c.perturber for c in result.curves] == ["random_deletions", "random_typos"]
    for curve in result.curves:
        assert curve.doses == DOSES
        assert curve.detection[0] < 0.75 < curve.detection[2]
        assert curve.t75.low <= curve.t75.value <= curve.t75.high
    (one,) = dhp.run("mock/ideal", "mini/wmt22_deen", n=6, doses={"word_deletions": [2, 8]}).curves
    assert one.perturber == "word_deletions"


def test_a_dose_that_a_text_cannot_take_is_never_a_smaller_one() -> None:
    (made,) = dhp.perturb_datasets("mini/summeval", n=4, doses={"random_typos": [5, 5000]})
    texts = {t.variant: t for t in made.texts}
    assert texts["random_typos.k5"].audit.made == 5
    assert texts["random_typos.k5000"].text is None
    assert texts["random_typos.k5000"].reason == "too short a text for this dose"


@pytest.mark.parametrize(
    ("doses", "message"),
    [
        ([5], "two or more rising whole numbers"),
        ([5, 2], "doses '5,2': allowed"),
        ([0, 2], "from 1 on"),
        ({"reordering": [1, 2]}, "'reordering' takes none in suite 'summeval'"),
        ({"random_typo": [1, 2]}, "'random_typos'"),
    ],
)
def test_bad_doses_are_one_line(doses: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        dhp.perturb_datasets("mini/summeval", n=3, doses=doses)  # type: ignore[arg-type]


@pytest.mark.slow
def test_controls_and_attacks_are_tested_apart() -> None:
    plain = dhp.run("mock/ideal", STORIES)
    probed = dhp.run("mock/ideal", STORIES, controls=True, attacks=True)
    assert (probed.d_avg, probed.d_min, variants(probed)) == (plain.d_avg, plain.d_min, variants(plain))
    assert probed.signature == plain.signature
    assert [c.variant for c in probed.controls] == ["identity", "harmless"]
    assert [a.variant for a in probed.attacks] == ["judge_instruction", "judge_flattery", "padding"]
    assert all(row.d == 0 for row in (*probed.controls, *probed.attacks) if row.d is not None)
    assert probed.warnings == ()
    assert probed.harmless_edits == "still"


@pytest.mark.slow
def test_planted_faults_of_a_judge_are_flagged() -> None:
    faulty = dhp.run(
        "mock/ideal?harmless=1&padding=-1&judge_flattery=1", "mini/summeval", controls=True, attacks=True
    )
    assert {c.variant: c.verdict for c in faulty.controls} == {
        "identity": "still",
        "harmless": "false alarm",
    }
    assert faulty.harmless_edits == "false alarm"
    attacks = {a.variant: a for a in faulty.attacks}
    assert attacks["padding"].verdict == "raised"
    assert attacks["judge_flattery"].d > 1
    assert attacks["judge_flattery"].verdict == "still", "it lowered the scores"


@pytest.mark.slow
def test_a_judge_that_lowers_everything_is_found_out_by_the_controls() -> None:
    grumpy = dhp.run("mock/ideal?identity=1&harmless=1", "mini/summeval", controls=True)
    assert {c.verdict for c in grumpy.controls} == {"false alarm"}
    # Major damage costs it more than harmless edits do, minor damage no more.
    verdicts = {(v.degree, v.verdict) for v in grumpy.variants}
    assert verdicts == {("minor", "as harmless edits"), ("major", "noticed")}


def mixed(c: dhp.Candidate, metric: str) -> float:
    """Punishes flattery by fluency, beyond doubt, and rewards it by relevance."""
    if c.variant != "judge_flattery":
        return 3
    raised = metric == "relevance" and c.example.endswith(tuple("12345"))
    return 2 if metric == "fluency" else 3 + raised


@pytest.mark.slow
def test_an_attack_that_raises_one_metric_is_flagged_whatever_the_others_do() -> None:
    result = dhp.run(ByRule(mixed), "mini/summeval", attacks=True)
    (row,) = [a for a in result.attacks if a.variant == "judge_flattery"]
    assert row.metrics["fluency"].p < row.metrics["relevance"].p < 0.001
    assert (row.best_metric, row.verdict) == ("relevance", "raised")
    assert row.metrics["relevance"].rose == pytest.approx(14 / 24)


def test_controls_can_be_added_to_ready_made_pairs(tmp_path: Path) -> None:
    rows = [
        {
            "id": str(i),
            "source": f"Ann has {i} cats.",
            "output": f"She has {i} cats - all of them grey.",
            "perturbed": "She has cats.",
            "kind": "number",
        }
        for i in range(8)
    ]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    result = dhp.run("mock/ideal", tmp_path / "pairs.jsonl", task="summarization", controls=True)
    assert variants(result) == ["number"]
    assert {c.variant: c.not_applicable for c in result.controls} == {"identity": 0, "harmless": 0}


def test_the_original_is_really_asked_about_again() -> None:
    answers = iter(range(10**6))
    model = Says(lambda prompt: str(1 + next(answers) % 5))
    way = dhp.protocol("dhp", samples=2)
    judge = LlmJudge(CachedModel(model, RequestContext()), request_builder(way))
    result = dhp.run(judge, "mini/answer_equivalence", n=3, controls=True)
    again = [prompt for prompt in set(model.prompts) if model.prompts.count(prompt) > 1]
    assert len(again) == 3, "the prompt of each original is asked twice, no other"
    (identity, _) = result.controls
    assert identity.metrics["answer_quality"].n == 3


@pytest.mark.slow
def test_a_table_of_ratings_gives_the_same_results(tmp_path: Path) -> None:
    run = dhp.run("mock/noisy", "mini/summeval", controls=True, attacks=True, out=tmp_path / "run")
    for suite in ("summeval", None):
        table = dhp.analyze(
            tmp_path / "run" / "ratings.parquet", suite=suite, analysis=dhp.AnalysisConfig(weights="uniform")
        )
        assert {v.variant: v.d for v in table.variants} == {v.variant: v.d for v in run.variants}
        assert [c.d for c in table.controls] == [c.d for c in run.controls]
        assert [a.d for a in table.attacks] == [a.d for a in run.attacks]
        assert (table.d_avg, table.d_min, table.left_out) == (run.d_avg, run.d_min, ())
    dosed = dhp.run("mock/noisy", "mini/summeval", doses=DOSES, out=tmp_path / "doses")
    table = dhp.analyze(tmp_path / "doses" / "ratings.parquet", suite="summeval")
    assert all(c.characters for c in dosed.curves)
    assert table.curves == tuple(replace(c, characters=None) for c in dosed.curves)
    shuffled = pd.read_parquet(tmp_path / "doses" / "ratings.parquet").sample(frac=1, random_state=1)
    again = {c.perturber: c for c in dhp.analyze(shuffled, suite="summeval").curves}
    for curve in dosed.curves:
        assert again[curve.perturber].t75 == curve.t75


def written_set(folder: Path, *names: str, **choice: object) -> Path:
    sets = dhp.perturb_datasets(list(names), **choice)  # type: ignore[arg-type]
    write_set(folder, sets)
    return folder


@pytest.mark.slow
def test_a_perturbation_set_gives_the_same_run(tmp_path: Path) -> None:
    folder = written_set(tmp_path / "set", STORIES, "mini/wmt22_zhen", controls=True)
    fresh = dhp.run("baseline/surface", [STORIES, "mini/wmt22_zhen"], controls=True)
    used = dhp.run("baseline/surface", perturbed=folder)
    assert [r.signature for r in used] == [r.signature for r in fresh]
    assert used.to_frame().equals(fresh.to_frame())
    assert [r.controls for r in used] == [r.controls for r in fresh]
    few = dhp.run("baseline/surface", STORIES, n=7, perturbed=folder)
    assert few.n == 7


@pytest.mark.slow
def test_a_perturbation_set_is_the_same_bytes_everywhere(tmp_path: Path) -> None:
    code = (
        "import sys, dhp, pathlib\nfrom dhp.perturb.sets import write_set\n"
        "names = ['mini/summeval', 'mini/story_cloze']\n"
        "sets = dhp.perturb_datasets(names, n=5, controls=True, attacks=True)\n"
        "write_set(pathlib.Path(sys.argv[1]), sets)"
    )
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", code, str(tmp_path / seed)], env=env, check=True, cwd=tmp_path)
    names = [path.relative_to(tmp_path / "1") for path in (tmp_path / "1").rglob("*") if path.is_file()]
    assert len(names) > 20
    assert len(names) == len([path for path in (tmp_path / "2").rglob("*") if path.is_file()])
    for name in names:
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_a_perturbation_set_of_other_examples_is_refused(tmp_path: Path) -> None:
    folder = written_set(tmp_path / "set", STORIES)
    with pytest.raises(
        InputError, match=r"the perturbation set has no dataset 'mini/summeval'; .*mini/story_cloze"
    ):
        dhp.run("baseline/surface", "mini/summeval", perturbed=folder)
    examples = [dhp.Example("story-01", "Another story.", "Another ending.")]
    other = dhp.Dataset.of(examples, name=STORIES, task="story_completion")
    with pytest.raises(InputError, match="example 'story-01'"):
        dhp.run("baseline/surface", other, perturbed=folder)


RELEASED = (
    "random_deletions random_typos fictional_named_entities grammatical_errors random_ending wrong_ending"
).split()


def released(folder: Path, *, nested: bool) -> Path:
    """A folder in the form of a released set, with one subset."""
    (made,) = dhp.perturb_datasets("mini/story_cloze", n=6)
    texts = {(t.example, t.variant): t.text for t in made.texts}
    rows = []
    for e in made.dataset.examples:
        own = {v.name: texts[e.id, v.name] for v in made.variants}
        row: dict[str, object] = {"id": e.id, "context" if nested else "source": e.source, "output": e.output}
        rows.append(row | ({"perturbed": own} if nested else own))
    folder.mkdir()
    (folder / "Story_Cloze.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("nested", [False, True])
def test_a_released_set_brings_its_examples_and_shows_how_it_was_read(
    tmp_path: Path, nested: bool, caplog: pytest.LogCaptureFixture
) -> None:
    folder = released(tmp_path / "theirs", nested=nested)
    fields = {v: f"perturbed.{v}" for v in RELEASED} | {"source": "context"} if nested else None
    result = dhp.run("baseline/surface", "story_cloze", perturbed=folder, fields=fields)
    shown = "source = context, .*wrong_ending = perturbed.wrong_ending" if nested else "source = source"
    assert re.search(f"story_cloze: columns read as .*{shown}", caplog.text)
    assert result.n == 6
    assert list(variants(result)) == RELEASED
    assert result.weights == "design"
    assert "method:llm+rule|" in result.signature
    with pytest.raises(InputError, match="has no dataset 'mini/story_cloze'"):
        dhp.run("baseline/surface", "mini/story_cloze", perturbed=folder)


@pytest.mark.slow
def test_a_released_set_is_judged_for_what_it_holds(tmp_path: Path) -> None:
    folder = released(tmp_path / "theirs", nested=False)
    results = dhp.run("baseline/constant", perturbed=folder)
    assert [r.dataset for r in results] == ["story_cloze"]
    with pytest.raises(InputError, match="`task`: cannot be used with `perturbed`"):
        dhp.run("baseline/constant", "story_cloze", perturbed=folder, task="translation")


GERMAN = [
    {
        "id": str(i),
        "source": f"Im Ort {i} fuhr ein Zug.",
        "output": f"Zug {i} fuhr. Er kam um {i}:30 an. Alle waren da. Niemand blieb.",
    }
    for i in range(8)
]


@pytest.mark.slow
def test_data_of_ones_own_get_rules_for_any_language(tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in GERMAN))
    for task in ("translation", "summarization"):
        (made,) = dhp.perturb_datasets(file, task=task, controls=False)
        suite = read_suite("general")
        assert (made.suite, made.methods, made.left_out) == ("general", "rule", ())
        assert [v.name for v in made.variants] == [v.name for v in suite.variants]
        assert {v.level for v in made.variants} == {"character", "word", "sentence"}
        form = [t for t in made.texts if parse_variant(t.variant).perturber not in {*CONTENT, "broken_form"}]
        assert all(t.text for t in form)
    result = dhp.run("mock/ideal", file, task="translation", out=tmp_path / "run")
    assert result.weights == "design"
    assert {v.variant for v in result.variants} <= {v.name for v in suite.variants}
    table = dhp.analyze(tmp_path / "run" / "ratings.parquet", suite="general")
    assert [v.d for v in table.variants] == [v.d for v in result.variants]
    (without,) = dhp.perturb_datasets(file, suite="general", controls=False)  # texts alone need no task
    assert [t.text for t in without.texts] == [t.text for t in made.texts]
    with pytest.raises(InputError, match=r"absent.jsonl: does not exist"):  # told first, also without a task
        dhp.perturb_datasets(tmp_path / "absent.jsonl")
    (named,) = dhp.perturb_datasets(file, task="summarization", suite="summeval")
    assert "grammatical_errors.minor" in named.left_out, "no rule for English stands in"


OWN_TASK = """
task: summarization
instruction: Summarise the article.
default_suite: summeval
source_label: Article
output_label: Summary
metrics:
  - name: brevity
    scale: {min: 0, max: 10}
    definition: How short the summary is while it still says what matters.
    steps: [Read the summary., Give a score from 0 (long-winded) to 10 (brief).]
    question: How brief is this summary?
    antonym: long-windedness
"""


@pytest.mark.slow
def test_metrics_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(OWN_TASK)
    rows = (
        {"id": str(i), "source": f"Town {i}.", "output": f"The town has {i} mills. It is old."}
        for i in range(8)
    )
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (result,) = dhp.run("mock/ideal", str(tmp_path / "own.jsonl"), task=str(tmp_path / "task.yaml"))
    assert result.scales == {"brevity": (0, 10)}
    assert result.d_avg > 1
    (tmp_path / "task.yaml").write_text(OWN_TASK.replace("min: 0", "min: 11"))
    with pytest.raises(dhp.InputError, match=r"task\.yaml: metrics\.0\.scale: "):
        dhp.run("mock/ideal", str(tmp_path / "own.jsonl"), task=str(tmp_path / "task.yaml"))
