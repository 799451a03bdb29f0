"""Recorded answers give the ratings they gave, offline, and nothing that was not recorded."""

import json
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from statistics import fmean

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

import dhp
from dhp.content.catalog import read_task
from dhp.content.own_task import own_metric, own_task
from dhp.core.errors import InputError
from dhp.core.records import Candidate, Rating
from dhp.core.specs import Scale, Task
from dhp.judge.judges.recorded import recorded_judges


def task(low: float = 1, high: float = 5, name: str = "fluency") -> Task:
    known = read_task("summarization")
    metric = known.metrics[0].model_copy(update={"name": name, "scale": Scale(min=low, max=high)})
    return known.model_copy(update={"metrics": [metric]})


def row(answer: object, variant: str = "original", example: str = "a", **more: object) -> dict[str, object]:
    return {"example": example, "variant": variant, "metric": "fluency", "answer": answer, **more}


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


def rated(model: str, *variants: str, asked: Task | None = None) -> list[Rating]:
    candidates = [Candidate("a", v, f"text of {v}", "source") for v in variants or ("original",)]
    (judge,) = recorded_judges(model)
    return list(judge.rate(candidates, judge.own_task(asked or task())))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=3
)


@pytest.mark.slow
@given(st.lists(st.dictionaries(st.sampled_from([*row(""), "sample", "score"]), JSON), min_size=1))
def test_no_row_breaks_the_reader(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, object]]
) -> None:
    path = write(tmp_path_factory.mktemp("recording") / "x.jsonl", *rows)
    with suppress(InputError):
        judges = recorded_judges(f"recorded/{path}?form=score-only")
        assert all(judge.samples >= 1 for judge in judges)


def test_answers_are_read_and_what_is_missing_was_not_asked(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", row("Rating: 4"), row("It is long."), row("Rating: 2", "typos"))
    ratings = rated(f"recorded/{path}?form=free-text", "original", "typos", "cut")
    assert [(r.variant, r.sample, r.score, r.status, r.raw) for r in ratings] == [
        ("original", 0, 4, "scored", "Rating: 4"),
        ("original", 1, None, "unparsed", "It is long."),
        ("typos", 0, 2, "scored", "Rating: 2"),
    ]
    assert ratings[0].rule
    with pytest.raises(InputError, match="holds answers about fluency, and task 'summarization' has no such"):
        rated(f"recorded/{path}?form=free-text", asked=task(1, 5, "coherence"))


def test_columns_of_other_names_are_named_in_the_query(tmp_path: Path) -> None:
    published = {"judge": "m", "protocol": "rts", "metric": "fluency", "system": "original", "id": "a"}
    path = write(tmp_path / "x.jsonl", published | {"response": "It has flaws. Score: 4."})
    columns = "example=id&variant=system&answer=response"
    assert [r.score for r in rated(f"recorded/{path}?{columns}&protocol=rts")] == [4]
    with pytest.raises(InputError, match=r"column 'respons' is missing.*'response'"):
        rated(f"recorded/{path}?answer=respons")


@pytest.mark.parametrize(
    ("protocol", "answer", "score"),
    [
        ("rts", "It has 2 flaws. Score: 4.", 4),
        ("analyze_rate", "Analysis: rather 3 than 4.\nRating: 4", 4),
        ("rate_explain", "Rating: 4\nRationale: not a 5.", 4),
        ("geval", "4", 4),
        ("geval_no_auto_cot", "4", 4),
        ("llm_eval_no_cot", "4. It is good.", 4),
        ("stareval", "Four stars. The summary is good.", 4),
        ("mcq", "D", 4),
        ("da", "75", 4),
        ("dhp@0123456789ab", "4", 4),
    ],
)
def test_the_protocol_says_how_an_answer_is_read(
    tmp_path: Path, protocol: str, answer: str, score: float
) -> None:
    path = write(tmp_path / "x.jsonl", row(answer, protocol=protocol))
    (judge,) = recorded_judges(f"recorded/{path}")
    assert judge.protocol == protocol
    assert [r.score for r in rated(f"recorded/{path}")] == [score]


def test_stars_and_letters_are_put_on_the_metrics_scale(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", row("B", protocol="mcq"))
    assert [r.score for r in rated(f"recorded/{path}", asked=task(0, 100))] == [25]


def test_a_mix_alternates_its_two_forms(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", *[row("2\nIt could have been worse.")] * 4)
    assert [r.score for r in rated(f"recorded/{path}?form=mix")] == [2, None, 2, None]


def test_answers_of_some_texts_that_stand_twice_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    once = [row("4", example=example) for example in "abcde"]
    twice = [row("5", example="a"), row("4", example="b"), row("4", "typos", "f"), row("3", "typos", "f")]
    path = write(tmp_path / "x.jsonl", *once, *twice)
    recorded_judges(f"recorded/{path}?form=score-only")
    assert caplog.messages == [
        f"{path}: 3 of 6 texts and metrics have more than 1 rating, 2 of them different ones; "
        "their mean counts"
    ]
    caplog.clear()
    recorded_judges(f"recorded/{write(path, *once, *once)}?form=score-only")
    assert caplog.messages == []


def test_probabilities_of_a_metric_without_points_are_left_out_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    scored = {"example": "a", "variant": "original", "metric": "fluency", "score": 4}
    file = write(tmp_path / "x.jsonl", scored | {"probabilities": "[0, 0, 0, 1, 0]"})
    assert rated(f"recorded/{file}")[0].probabilities == (0, 0, 0, 1, 0)
    assert caplog.messages == []
    for run in (1, 2):
        (judge,) = recorded_judges(f"recorded/{file}")
        judges_task = [judge.own_task(task(name="coherence")) for _ in range(2)][-1]
        (rating,) = judge.rate([Candidate("a", "original", "text", "source")], judges_task)
        assert rating.probabilities is None
        assert len(caplog.messages) == run, "said once by each judge, however often it is asked"
    assert caplog.messages[0].startswith("model 'recorded/x.jsonl': probabilities of fluency are left out")


def test_each_model_and_protocol_is_a_judge(tmp_path: Path) -> None:
    rows = [row("4", protocol=p, model=m) for p in ("geval", "dhp") for m in ("m1", "m2")]
    path = write(tmp_path / "x.jsonl", *rows)
    assert len(recorded_judges(f"recorded/{path}")) == 4
    for settings, message in {
        "?protocol=gevl": "no protocol 'gevl' in the file.*'geval'",
        "?protokol=geval": "column 'geval' is missing",
        "?model=m1&form=star": "score-only.*'stars'",
    }.items():
        with pytest.raises(InputError, match=message):
            recorded_judges(f"recorded/{path}{settings}")
    chosen = rated(f"recorded/{path}?model=m1&protocol=geval")
    assert [(r.score, r.sample) for r in chosen] == [(4, 0)]


def test_labels_and_scales_on_which_low_is_good_count_as_of_a_model(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", row("Verdict: pass"), row("4", metric="slips"))
    metrics = [own_metric("fluency", labels=["fail", "pass"]), own_metric("slips", "5..1")]
    ratings = rated(f"recorded/{path}?form=score-only", asked=own_task(metrics))
    assert [(r.metric, r.score) for r in ratings] == [("fluency", 2), ("slips", 2)]


def test_no_file_or_form_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", row("4"))
    with pytest.raises(InputError, match="must have the form recorded/FILE"):
        recorded_judges("recorded/")
    with pytest.raises(InputError, match=r"score-only; allowed: analyze-rate"):
        recorded_judges(f"recorded/{path}")


def test_scores_in_a_table_of_texts_are_a_judge(tmp_path: Path) -> None:
    """What a user computed elsewhere stands beside the texts: its column is named."""
    rows = [
        {"id": "a", "system": "x", "source": "S", "output": "O", "BLEURT": "-0.5"},
        {"id": "a", "system": "y", "source": "S", "output": "P", "BLEURT": "1.25"},
        {"id": "b", "system": "x", "source": "T", "output": "Q", "BLEURT": ""},
    ]
    path = tmp_path / "texts.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    columns = "example=id&variant=system&score="
    frame = dhp.judge(f"recorded/{path}?{columns}BLEURT", str(path))
    assert [*frame["score"][:2], *frame["status"]] == [-0.5, 1.25, "scored", "scored", "unparsed"]
    with pytest.raises(InputError, match=r"column 'BLUERT' is missing.*'BLEURT'"):
        dhp.judge(f"recorded/{path}?{columns}BLUERT", str(path))


@pytest.mark.slow
@pytest.mark.realdata
def test_a_recorded_judge_ranks_real_systems_as_experts_do(real: Path, tmp_path: Path) -> None:
    """Other systems' summaries in place of damaged copies: the worse the system, the higher D must be."""
    answers = pd.read_json(
        real / "judge_responses" / "summeval_gpt-3.5-turbo-0301.jsonl.gz",
        lines=True,
        dtype={"id": str},
    )
    recording, recorded = tmp_path / "answers.jsonl", set(answers["system"])
    answers["system"] = answers["system"].replace("M22", "original")
    answers.to_json(recording, orient="records", lines=True)
    pairs, experts = [], defaultdict(list)
    for line in (real / "summeval" / "summeval.jsonl").read_text().splitlines():
        document = json.loads(line)
        texts = dict(zip(document["systems"], document["machine_summaries"], strict=True))
        place = {"id": document["id"], "source": document["text"], "output": texts["M22"]}
        for at, (system, text) in enumerate(texts.items()):
            if system in recorded and text != texts["M22"]:
                pairs.append({**place, "perturbed": text, "kind": system})
                experts[system].append(
                    fmean(document[name][at] for name in read_task("summarization").metric_names)
                )
    path = write(tmp_path / "pairs.jsonl", *pairs)
    judge = f"recorded/{recording}?example=id&variant=system&answer=response"
    results = dhp.run(judge, str(path), task="summarization")
    assert {result.protocol for result in results} == {"rts", "stareval", "mcq"}
    for result in results:
        assert (result.n, len(result.variants)) == (100, 11)
        assert result.ratings["asked"] >= 4800
        assert result.ratings["scored"] >= 0.995 * result.ratings["asked"]
        d = [v.d for v in result.variants]
        assert spearmanr(d, [fmean(experts[v.variant]) for v in result.variants]).statistic < -0.9
        assert max(d) > 10
        assert min(d) < 2
