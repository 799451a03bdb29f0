"""Recorded answers give the ratings they gave, offline, and nothing that was not recorded."""

import gzip
import json
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

import dhp
from dhp.content.catalog import read_task
from dhp.content.own_task import own_metric, own_task
from dhp.core import files
from dhp.core.errors import InputError
from dhp.core.records import Candidate, Rating
from dhp.core.specs import Scale, Task
from dhp.judge.factory import find_judge
from dhp.judge.judges.recorded import RecordedAnswer, dialogue_id, read_recorded


def task(low: float = 1, high: float = 5, name: str = "fluency") -> Task:
    known = read_task("summarization")
    metric = known.metrics[0].model_copy(update={"name": name, "scale": Scale(min=low, max=high)})
    return known.model_copy(update={"metrics": [metric]})


def row(answer: object, variant: str = "original", example: str = "a", **more: object) -> dict[str, object]:
    return {"example": example, "variant": variant, "metric": "fluency", "answer": answer, **more}


def write(path: Path, *rows: object) -> Path:
    text = json.dumps(rows) if ".json" in path.suffixes else "".join(json.dumps(r) + "\n" for r in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def rated(model: str, *variants: str, asked: Task | None = None) -> list[Rating]:
    candidates = [Candidate("a", v, f"text of {v}", "source") for v in variants or ("original",)]
    return list(find_judge(model).rate(candidates, asked or task()))


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz"])
def test_plain_rows(tmp_path: Path, name: str) -> None:
    rows = [row("4"), row(5), row("", sample=7, protocol="geval", model="m"), row("2", "typos")]
    assert list(read_recorded(write(tmp_path / name, *rows))) == [
        RecordedAnswer("a", "original", "fluency", 0, "4"),
        RecordedAnswer("a", "original", "fluency", 1, "5"),
        RecordedAnswer("a", "original", "fluency", 7, "", "geval", "m"),
        RecordedAnswer("a", "typos", "fluency", 0, "2"),
    ]


def test_published_rows_and_items_in_one_folder(tmp_path: Path) -> None:
    published = {
        "judge": "m",
        "protocol": "rts",
        "metric": "fluency",
        "system": "M1",
        "id": "a",
        "response": "x",
    }
    item = {"source": "s", "context": "c", "system_id": "Nucleus", "all_responses": ["3", "Rating: 2"]}
    write(tmp_path / "one.jsonl.gz", published, published)
    write(tmp_path / "gpt3.5_coh_geval_no_auto_cot.json.gz", item)
    (tmp_path / "README.txt").write_text("not an answer")
    assert set(read_recorded(tmp_path)) == {
        RecordedAnswer("a", "M1", "fluency", 0, "x", "rts", "m"),
        RecordedAnswer("a", "M1", "fluency", 1, "x", "rts", "m"),
        RecordedAnswer(dialogue_id("s", "c"), "Nucleus", "coherence", 0, "3", "geval_no_auto_cot", "gpt3.5"),
        RecordedAnswer(
            dialogue_id("s", "c"), "Nucleus", "coherence", 1, "Rating: 2", "geval_no_auto_cot", "gpt3.5"
        ),
    }


@pytest.mark.parametrize(
    ("name", "rows", "message"),
    [
        ("x.jsonl", [row("4"), 5], "line 2: a int; must be one JSON object"),
        ("x.jsonl", [{"exampel": "a"}], "line 1: column 'example' is missing; did you mean 'exampel'"),
        ("x.jsonl", [row(None)], "line 1: column 'answer' holds no text"),
        ("x.jsonl", [row("4", sample="0")], "line 1: sample '0'; allowed: a whole number from 0"),
        ("x.jsonl", [row("4", sample=True)], "line 1: sample True"),
        ("x.jsonl", [row("4", sample=1), row("4", sample=1)], "line 2: duplicate sample 1 of this example"),
        ("x.jsonl", [row("\ud800")], "line 1: column 'answer' holds a lone surrogate"),
        ("x.json", [], "its name must be MODEL_METRIC_PROTOCOL.json"),
        ("m_coh_p.json", [3], "item 1: a int; allowed: an object"),
        (
            "m_coh_p.json",
            [{"source": "s", "context": "c", "system_id": "N", "all_responses": "3"}],
            "item 1: 'all_responses' is not a list",
        ),
        ("m_coh_p.json", [{"source": "s", "context": "c"}], "item 1: column 'system_id' is missing"),
    ],
)
def test_malformed_rows_are_named(tmp_path: Path, name: str, rows: list[Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as failed:
        list(read_recorded(write(tmp_path / name, *rows)))
    assert "\n" not in str(failed.value)
    assert name in str(failed.value)


TEXTS = st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=3
)


@given(st.lists(st.builds(row, st.text(st.characters(codec="utf-8")), TEXTS, TEXTS), min_size=1))
def test_what_was_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, str]]
) -> None:
    path = write(tmp_path_factory.mktemp("recording") / "x.jsonl.gz", *rows)
    found = list(read_recorded(path))
    assert [(a.example, a.variant, a.answer) for a in found] == [
        (r["example"], r["variant"], r["answer"]) for r in rows
    ]
    assert len({(a.example, a.variant, a.sample) for a in found}) == len(rows)


@given(st.dictionaries(st.sampled_from([*row(""), "sample", "system", "id", "response"]), JSON))
def test_no_row_breaks_the_reader(
    tmp_path_factory: pytest.TempPathFactory, any_row: dict[str, object]
) -> None:
    path = write(tmp_path_factory.mktemp("recording") / "x.jsonl", any_row)
    try:
        (found,) = read_recorded(path)
    except InputError as e:
        message = str(e)
    else:
        assert found.example.strip()
        assert found.sample >= 0
        return
    assert f"{path}: line 1: " in message


def test_files_that_are_no_recordings(tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_text('{"example": "a"')
    (tmp_path / "plain.jsonl.gz").write_text("{}")
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(b"{}" * 50)[:-9])
    (tmp_path / "empty.jsonl").write_text("\n")
    write(tmp_path / "nothing.jsonl.gz")
    for name, message in {
        "broken.jsonl": "line 1: broken JSON",
        "plain.jsonl.gz": "not gzipped UTF-8 text",
        "cut.jsonl.gz": "not gzipped UTF-8 text",
        "empty.jsonl": "is empty",
        "nothing.jsonl.gz": "holds no answers",
        "none.jsonl": "does not exist",
    }.items():
        with pytest.raises(InputError, match=message):
            find_judge(f"replay/{tmp_path / name}")


def test_answers_are_read_and_what_is_missing_fails(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", row("Rating: 4"), row("It is long."), row("Rating: 2", "typos"))
    ratings = rated(f"replay/{path}?form=free-text", "original", "typos", "cut")
    assert [(r.variant, r.sample, r.score, r.status, r.raw) for r in ratings] == [
        ("original", 0, 4, "scored", "Rating: 4"),
        ("original", 1, None, "unparsed", "It is long."),
        ("typos", 0, 2, "scored", "Rating: 2"),
        ("cut", 0, None, "failed", "not in the recording"),
    ]
    assert ratings[0].rule
    missing = rated(f"replay/{path}?form=free-text", asked=task(1, 5, "coherence"))
    assert [(r.metric, r.status) for r in missing] == [("coherence", "failed")]


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
    assert find_judge(f"replay/{path}").protocol == protocol
    assert [r.score for r in rated(f"replay/{path}")] == [score]


def test_stars_and_letters_are_put_on_the_metrics_scale(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", row("B", protocol="mcq"))
    assert [r.score for r in rated(f"replay/{path}", asked=task(0, 100))] == [25]


def test_a_mix_alternates_its_two_forms(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", *[row("2\nIt could have been worse.")] * 4)
    assert [r.score for r in rated(f"replay/{path}?form=mix")] == [2, None, 2, None]


def test_answers_of_some_texts_that_stand_twice_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    once = [row("4", example=example) for example in "abcde"]
    twice = [row("5", example="a"), row("4", example="b"), row("4", "typos", "f"), row("3", "typos", "f")]
    path = write(tmp_path / "x.jsonl", *once, *twice)
    find_judge(f"replay/{path}?form=score-only")
    assert caplog.messages == [
        f"{path}: 3 of 6 texts and metrics have more than 1 answer, 2 of them different ones; "
        "their mean counts"
    ]
    caplog.clear()
    find_judge(f"replay/{write(path, *once, *once)}?form=score-only")
    assert caplog.messages == []


def test_several_protocols_or_models_must_be_chosen_from(tmp_path: Path) -> None:
    rows = [row("4", protocol=p, model=m) for p in ("geval", "mcq") for m in ("m1", "m2")]
    path = write(tmp_path / "x.jsonl", *rows)
    for settings, message in {
        "": "several models are recorded; choose one by model=NAME; allowed: m1, m2",
        "?model=m1": "several protocols are recorded; choose one by protocol=NAME; allowed: geval, mcq",
        "?model=m1&protocol=gevl": "no protocol 'gevl' is recorded; did you mean 'geval'",
        "?model=m1&protokol=geval": "unknown setting 'protokol'; did you mean 'protocol'",
        "?model=m1&protocol=geval&form=star": "score-only; did you mean 'stars'",
    }.items():
        with pytest.raises(InputError, match=message):
            find_judge(f"replay/{path}{settings}")
    chosen = rated(f"replay/{path}?model=m1&protocol=geval")
    assert [(r.score, r.sample) for r in chosen] == [(4, 0)]


def test_labels_and_scales_on_which_low_is_good_count_as_of_a_model(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", row("Verdict: pass"), row("4", metric="slips"))
    metrics = [own_metric("fluency", labels=["fail", "pass"]), own_metric("slips", "5..1")]
    ratings = rated(f"replay/{path}?form=score-only", asked=own_task(metrics))
    assert [(r.metric, r.score, r.rule) for r in ratings] == [("fluency", 2, "label"), ("slips", 2, "bare")]


def test_a_recorded_variant_plays_the_original(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", row("4", "M22"), row("2", "M9"))
    ratings = rated(f"replay/{path}?form=score-only&original=M22", "original", "M9")
    assert [(r.variant, r.score) for r in ratings] == [("original", 4), ("M9", 2)]
    judge = find_judge(f"replay/{path}?form=score-only")
    judge.prepare([Candidate("a", "M9", "text", "source")], task())  # no original is to be rated
    with pytest.raises(InputError, match="set original=NAME; allowed: M22, M9"):
        judge.prepare([Candidate("a", "original", "text", "source")], task())
    with pytest.raises(
        InputError, match="no variant 'M2' is recorded; set original=NAME; did you mean 'M22'"
    ):
        find_judge(f"replay/{path}?form=score-only&original=M2")


def test_no_file_or_form_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", row("4"))
    with pytest.raises(InputError, match="must have the form replay/FILE"):
        find_judge("replay/")
    with pytest.raises(InputError, match=r"score-only; allowed: analyze-rate"):
        find_judge(f"replay/{path}")


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.parametrize("protocol", ["rts", "stareval", "mcq"])
def test_a_recorded_judge_ranks_real_systems_as_experts_do(real: Path, tmp_path: Path, protocol: str) -> None:
    """Other systems' summaries in place of damaged copies: the worse the system, the higher D must be."""
    recording = real / "judge_responses" / "summeval_gpt-3.5-turbo-0301.jsonl.gz"
    recorded = {answer.variant for answer in read_recorded(recording)}
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
    result = dhp.run(f"replay/{recording}?protocol={protocol}&original=M22", str(path), task="summarization")[
        0
    ]
    assert (result.n, result.protocol, len(result.variants)) == (100, protocol, 11)
    assert result.ratings["asked"] >= 4800
    assert result.ratings["scored"] >= 0.995 * result.ratings["asked"]
    d = [v.d for v in result.variants]
    assert spearmanr(d, [fmean(experts[v.variant]) for v in result.variants]).statistic < -0.9
    assert max(d) > 10
    assert min(d) < 2


@pytest.mark.realdata
def test_every_published_answer_is_read(real: Path) -> None:
    answers = list(read_recorded(real / "topical_chat" / "chatgpt_responses"))
    assert len(answers) == 20 * (360 + 359 + 355 + 356 + 359 + 360 + 358 + 353 + 359 + 358)
    assert len({a.example for a in answers}) == 60
    assert {a.metric for a in answers} == {"coherence", "naturalness"}
    assert len({a.protocol for a in answers}) == 5


def test_a_packed_recording_that_holds_too_much_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_UNPACKED", 10**6)
    (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress(bytes(2 * 10**6)))
    with pytest.raises(InputError, match=r"x\.jsonl\.gz: holds more than 1,000,000 bytes when unpacked"):
        list(read_recorded(tmp_path / "x.jsonl.gz"))
