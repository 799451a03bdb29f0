"""Real components: model and server of the package sparrow-decider, the client of the openai package."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import openai
import pandas as pd
import pytest

import dhp
from dhp.plugins.decisions.client import _decisions
from tests.server import scripted_server

from .server import decisions


@pytest.fixture(scope="module")
def sparrow() -> Iterator[str]:
    """Address of a running server with the package's own nano model."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    program = Path(sys.executable).with_name("sparrow-decider")
    process = subprocess.Popen([program, "serve", "--port", str(port)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                urlopen(f"http://127.0.0.1:{port}/").close()
                break
            except URLError:
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_a_real_decision_model_rates_the_bundled_texts(sparrow: str, tmp_path: Path) -> None:
    settings = dhp.ModelSettings(base_url=sparrow, cache=tmp_path / "cache")
    out = tmp_path / "run"
    results = dhp.run(
        "decisions/sparrow",
        "mini/summeval",
        protocol=["decision", "decision-faults"],
        settings=settings,
        out=out,
        progress=None,
    )
    ratings = pd.read_parquet(out / "ratings.parquet")
    assert len(ratings) == 2 * 1344
    assert (ratings["status"] == "scored").all()
    assert ratings["probabilities"].notna().all()
    points, faults = results
    assert points.usage["calls"] == 336, "all four metrics of a text in one request"
    assert points.detection.avg > faults.detection.avg, "the words of the levels decide"


@pytest.mark.skipif(not hasattr(openai.OpenAI, "decisions"), reason="openai before 3.57 has no decisions")
def test_the_official_client_reads_what_the_scripted_server_answers() -> None:
    """The stub of the other tests is a server of the form that OpenAI's own client expects."""
    with scripted_server(decisions()) as server:
        client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="none")
        asked = _decisions(
            {
                "state": {"source": "a b", "output": "a"},
                "questions": {
                    "truth": {"type": "noul", "instructions": "True?"},
                    "tone": {"type": "choice", "instructions": "Which?", "criteria": {"x": "1", "y": None}},
                    "form": {"type": "score", "instructions": "How?", "criteria": ["bad", "good"]},
                },
            }
        )
        decision = client.decisions.create(model="gpt-6-luna", **asked)
    assert [answer.type for answer in decision.answers] == ["predicate", "choice", "score"]
    assert [answer.name for answer in decision.answers] == ["truth", "tone", "form"]
    assert decision.answers[0].probability == pytest.approx(0.5)
