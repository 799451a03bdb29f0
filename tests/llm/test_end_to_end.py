"""The benchmark itself on real models: in process, behind a real server, and from recorded replies."""

import json
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

import dhp
from dhp.content.catalog import DATASETS
from dhp.core.errors import InputError
from dhp.llm.cached_model import CachedModel, RequestContext
from dhp.llm.clients.openai_client import OpenAIClient
from dhp.llm.records import Params, Request
from dhp.llm.store import FILE
from tests.llm.hf_server import Served
from tests.llm.stub import stats, stub_server

SMALL = {"dataset": "mini/answer_equivalence", "n": 4}


def asking(folder: Path, **more: object) -> dhp.ModelSettings:
    return dhp.ModelSettings(cache=folder / "cache", keep_going=True, **more)


@pytest.fixture(scope="module", autouse=True)
def undrawn_charts() -> None:
    """Here charts are drawn: whole pages are compared."""


@pytest.mark.parametrize("name", ["dhp", "g-eval-prob", "mix"])
def test_a_model_in_process_is_judged(name: str, tiny_model: Path, tmp_path: Path) -> None:
    way = dhp.protocol(name) if name != "mix" else dhp.protocol(name, max_tokens=12, samples=2)
    results = dhp.run(
        f"hf/{tiny_model}", protocol=way, settings=asking(tmp_path), out=tmp_path / "out", **SMALL
    )
    again = dhp.run(
        f"hf/{tiny_model}", protocol=way, settings=asking(tmp_path), out=tmp_path / "out", **SMALL
    )
    assert results.ratings["asked"] == 4 * 11 * way.samples
    assert results.ratings["failed"] == 0
    assert results.usage == again.usage
    assert results.usage["calls"] > 0
    assert results.to_frame().equals(again.to_frame())
    assert (results.missing_mass is not None) == (name == "g-eval-prob")
    replayed = dhp.run(f"recorded/{tmp_path / 'cache' / FILE}", protocol=way, **SMALL)
    assert replayed.to_frame().equals(results.to_frame())


def test_a_real_server_is_judged(
    transformers_server: Served, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    command = [sys.executable, "-m", "dhp.benchmark", "--model", f"openai/{transformers_server.model}"]
    command += ["--base-url", transformers_server.base_url, "--keep-going"]
    command += "--dataset mini/answer_equivalence --n 3 --cache".split()
    command += [tmp_path / "cache", "--no-ask-again", "--out", tmp_path / "out", "--concurrency", "4"]
    sampled = "--temperature 0.9 --samples 2 --answer-tokens 6 --top-p 0.95".split()
    done = subprocess.run([*command, *sampled], capture_output=True, text=True, check=False)
    (result,) = [json.loads((tmp_path / "out" / "results.json").read_text())]
    ratings = pd.read_parquet(tmp_path / "out" / "ratings.parquet")
    unread = ratings["score"].isna().mean()  # of a model with random weights
    assert done.returncode == (3 if unread > 0.5 else 0), done.stderr
    assert result["usage"]["calls"] == result["ratings"]["asked"] == len(ratings) == 66
    assert result["usage"]["completion_tokens"] <= 60 * 6
    assert ratings["raw"].nunique() > 1
    done = subprocess.run(
        [*command[:-4], "--extraction", "prob", "--samples", "1"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert "log-probabilities" in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2


def test_a_real_server_heeds_the_seed_of_the_run(
    transformers_server: Served, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One call at a time: its seed holds for the whole process."""

    rows = [
        {
            "id": str(i),
            "source": f"Ann has {i} cats.",
            "question": "How many?",
            "output": f"She has {i} cats.",
        }
        for i in range(4)
    ]
    (tmp_path / "mine.jsonl").write_text("\n".join(map(json.dumps, rows)))

    def said(seed: int, folder: str) -> list[str]:
        dhp.run(
            f"openai/{transformers_server.model}",
            tmp_path / "mine.jsonl",
            task="question_answering",
            protocol=dhp.protocol("dhp", temperature=1.0, samples=2, max_tokens=8),
            settings=asking(
                tmp_path / folder,
                base_url=transformers_server.base_url,
                rate_limits=dhp.RateLimits(concurrency=1),
            ),
            out=tmp_path / folder / "out",
            seed=seed,
        )
        ratings = pd.read_parquet(tmp_path / folder / "out" / "ratings.parquet")
        originals = ratings[ratings["variant"] == "original"].sort_values(["example", "sample"])
        return list(originals["raw"])

    first, again, other = said(0, "a"), said(0, "b"), said(1, "c")
    assert "ignores n" in caplog.text
    assert first == again
    assert first != other


def test_a_server_and_this_process_agree_on_greedy_answers(
    transformers_server: Served, tiny_model: Path, tmp_path: Path
) -> None:
    way = dhp.protocol("dhp", samples=1, max_tokens=8)
    here = dhp.run(
        f"hf/{tiny_model}",
        protocol=way,
        settings=asking(tmp_path, dtype="float32"),
        out=tmp_path / "here",
        **SMALL,
    )
    there = dhp.run(
        f"openai/{transformers_server.model}",
        protocol=way,
        settings=asking(tmp_path, base_url=transformers_server.base_url),
        out=tmp_path / "there",
        **SMALL,
    )
    frames = [pd.read_parquet(tmp_path / name / "ratings.parquet") for name in ("here", "there")]
    assert frames[0]["raw"].tolist() == frames[1]["raw"].tolist()
    assert here.ratings == there.ratings
    assert here.usage["prompt_tokens"] == there.usage["prompt_tokens"]


def test_a_dry_run_measures_a_model_in_process(tiny_model: Path, tmp_path: Path) -> None:
    (found,) = dhp.estimate(f"hf/{tiny_model}", protocol="g-eval-prob", settings=asking(tmp_path), **SMALL)
    assert re.fullmatch(r"\S+ s a prompt, measured on 8 of them in this process", found.assumed)
    each = float(found.assumed.split(" ")[0])
    assert found.bill.seconds == pytest.approx(found.bill.calls * each, rel=0.1)
    assert found.stored == 0


def test_a_text_that_is_too_long_is_named_and_nothing_is_cut(tiny_model: Path, tmp_path: Path) -> None:
    rows = [{"id": "long", "source": "word " * 5000, "output": "A short text. It says little."}]
    (tmp_path / "long.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(InputError, match=r"(\d+) of \1 prompts .*a prompt of \d+ tokens"):
        dhp.run(f"hf/{tiny_model}", tmp_path / "long.jsonl", task="summarization", settings=asking(tmp_path))


@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again_ends_as_an_unbroken_one(tmp_path: Path) -> None:
    concurrency, kills = 8, 3
    with stub_server("--latency", "0.15") as url:
        command = [sys.executable, "-m", "dhp.benchmark", "--model", "openai/stub", "--base-url", url]
        command += f"--n 12 --dataset mini/summeval --samples 2 --concurrency {concurrency}".split()
        whole = [*command, "--out", tmp_path / "whole", "--cache", tmp_path / "a"]
        subprocess.run(whole, check=True, capture_output=True)
        paid = sum(stats(url)["paid"].values())
        broken = [*command, "--out", tmp_path / "broken", "--cache", tmp_path / "b"]
        drawn = random.Random(0)
        for _ in range(kills):
            process = subprocess.Popen(broken, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            before = sum(stats(url)["paid"].values())
            end = time.monotonic() + 60
            while sum(stats(url)["paid"].values()) < before + 5 and time.monotonic() < end:
                time.sleep(0.02)
            time.sleep(drawn.random() * 0.3)
            assert process.poll() is None, "the run must not have ended yet"
            process.kill()
            process.wait()
        subprocess.run(broken, check=True, capture_output=True)
        again = sum(stats(url)["paid"].values()) - 2 * paid
    assert again <= kills * concurrency
    for name in ("ratings.parquet", "perturbed.jsonl", "examples.jsonl", "prompts.json"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "broken" / name).read_bytes()
    pages = [(tmp_path / run / "report.html").read_text() for run in ("whole", "broken")]
    times = r"\d{4}-\d\d-\d\dT[\d:+]+|<dt>seconds a call.*?</dd>"
    whole, broken_off = (re.sub(times, "then", page) for page in pages)
    assert whole == broken_off
    results = [json.loads((tmp_path / run / "results.json").read_text()) for run in ("whole", "broken")]
    for name in ("created", "latency", "checksum"):
        assert all(r.pop(name) for r in results)
    assert results[0] == results[1]


@pytest.mark.slow
@pytest.mark.realdata
def test_published_prompt_files_on_published_texts(real: Path, tmp_path: Path) -> None:
    files = real / "prompt_files" / "geval_summeval"
    with stub_server() as url:
        results = dhp.run(
            "openai/stub",
            "summeval",
            data=real / "summeval",
            n=20,
            protocol=dhp.protocol("g-eval-sample", samples=2),
            prompt=[str(files)],
            metrics=["coherence", "consistency"],
            settings=asking(tmp_path, base_url=url),
        )
        prompts = [body["messages"][0]["content"] for body in stats(url)["bodies"]]
    missing = sum(v.not_applicable for v in results.variants)
    assert missing <= 20, "of 240 texts, most of them by rules that know words from lists"
    assert results.ratings["asked"] == results.ratings["scored"] == (20 * 14 - missing) * 2 * 2
    assert results.weights == "uniform"
    for prompt in prompts:
        name = "con_detailed.txt" if prompt.endswith("- Consistency:") else "coh_detailed.txt"
        assert prompt.startswith((files / name).read_text().partition("{{Document}}")[0])
        assert "{{" not in prompt


VLLM = os.environ.get("DHP_VLLM_URL"), os.environ.get("DHP_VLLM_MODEL")


@pytest.mark.skipif(
    not all(VLLM), reason="needs a vLLM server at DHP_VLLM_URL that serves the folder DHP_VLLM_MODEL"
)
def test_a_vllm_server_gives_the_expected_scores_of_this_process(tmp_path: Path) -> None:
    url, folder = VLLM
    way = dhp.protocol("g-eval-prob", max_tokens=1)
    dhp.run(
        f"hf/{folder}",
        protocol=way,
        settings=asking(tmp_path, dtype="float32"),
        out=tmp_path / "here",
        **SMALL,
    )
    dhp.run(
        "openai/tiny", protocol=way, settings=asking(tmp_path, base_url=url), out=tmp_path / "there", **SMALL
    )
    frames = [pd.read_parquet(tmp_path / name / "ratings.parquet") for name in ("here", "there")]
    assert frames[0]["status"].tolist() == frames[1]["status"].tolist()
    assert frames[0]["score"].notna().mean() > 0.5
    assert (frames[0]["score"] - frames[1]["score"]).abs().max() < 1e-3
    # Without a seed: version 0.32 for CPUs dies of one.
    request = Request("Rate this.", Params(1.0, None, 4), (0, 1, 2), "here")
    ((_, outcomes),) = CachedModel(OpenAIClient("tiny", url), RequestContext()).ask([request])
    assert [outcome.calls for outcome in outcomes.values()] == [1, 0, 0]


@pytest.mark.parametrize("dataset", DATASETS)
def test_nonsense_of_a_real_model_is_never_scored(
    dataset: str, transformers_server: Served, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "dhp.benchmark", "--model", "mock/ideal", "--dataset", f"mini/{dataset}"]
    command += ["--perturb-model", f"openai/{transformers_server.model}", "--perturb-tokens", "24"]
    command += ["--base-url", transformers_server.base_url, "--n", "2", "--out", tmp_path / "out"]
    done = subprocess.run(
        [*command, "--cache", tmp_path / "cache"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if "none of 8 answers" in line]
    assert line.startswith("dhp: perturber 'fictional_named_entities")
    assert not (tmp_path / "out").exists()


def test_nonsense_of_a_model_in_process_is_never_scored(tiny_model: Path, tmp_path: Path) -> None:
    model = dhp.PerturbModel(f"hf/{tiny_model}", max_tokens=16)
    with pytest.raises(InputError, match=r"none of 8 answers of hf/.* passed the check: "):
        dhp.run("mock/ideal", "mini/story_cloze", n=2, perturb_model=model, settings=asking(tmp_path))
    (texts, *_) = dhp.estimate(
        "mock/ideal", "mini/story_cloze", n=2, perturb_model=model, settings=asking(tmp_path)
    )
    assert (texts.what, texts.samples, texts.stored, texts.exact) == ("texts", 4, 2, True)
