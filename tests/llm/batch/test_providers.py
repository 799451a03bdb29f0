"""Batches at providers: sent, awaited, fetched, resumed after a kill; each against a local server."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import dhp
from dhp.cli.batch_options import through_batches
from dhp.core.errors import InputError, StoppedEarly
from dhp.llm.batch import remote
from dhp.llm.batch.remote import RemoteBatches
from dhp.llm.batch.settings import BatchSettings
from tests.llm.batch.answers import expired, write_answers
from tests.llm.batch.provider_server import Provider, half_expired, provider_server

PACKAGES = {"openai": "openai", "anthropic": "anthropic", "gemini": "google.genai"}


def installed(name: str) -> bool:
    try:
        return find_spec(PACKAGES[name]) is not None
    except ModuleNotFoundError:
        return False


EACH = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.skipif(not installed(name), reason=f"needs {package}"))
        for name, package in PACKAGES.items()
    ],
)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    monkeypatch.setattr(remote, "_FIRST_WAIT", 0.01)
    with provider_server(Provider()) as running:
        for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
            monkeypatch.setenv(variable, "a-key")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.url)
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", f"{running.url}/gemini")
        yield running


def run(server: Provider, folder: Path, **batch: object) -> dhp.Results:
    settings = dhp.ModelSettings(
        base_url=f"{server.url}/v1", cache=folder / "cache", batch=BatchSettings(**batch)
    )
    return through_batches(
        lambda: dhp.run(
            "openai/m",
            "mini/answer_equivalence",
            n=2,
            protocol=dhp.protocol("dhp", samples=2),
            settings=settings,
            out=folder / "out",
        )
    )


@pytest.mark.slow
@EACH
def test_a_provider_gives_what_files_give(name: str, server: Provider, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "remote").mkdir()
    with pytest.raises(StoppedEarly):
        run(server, tmp_path / "files", batch_write=tmp_path / "r.jsonl")
    results = write_answers(tmp_path / "r.jsonl", tmp_path / "a.jsonl")
    by_file = run(server, tmp_path / "files", batch_read=(results,))
    by_batch = run(server, tmp_path / "remote", batch=name)
    assert by_batch.to_frame().equals(by_file.to_frame())
    assert by_batch.ratings["failed"] == 0
    assert len(server.batches) == 1
    assert by_batch.usage["calls"] == (40 if name == "anthropic" else 20), "one call a sample there"
    run(server, tmp_path / "remote", batch=name)
    assert len(server.batches) == 1, "a finished run sends nothing"


@EACH
def test_what_expired_is_sent_again(
    name: str, server: Provider, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.result = half_expired

    def recover(*_: object) -> None:
        server.result = type(server).result

    keep = RemoteBatches._check

    def check(*given: object) -> None:
        keep(*given)
        recover()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RemoteBatches, "_check", check)
        found = run(server, tmp_path, batch=name)
    assert found.ratings["failed"] == 0
    assert len(server.batches) == 2
    assert "requests failed" in caplog.text


@pytest.mark.slow
@EACH
@pytest.mark.parametrize("killed_at", ["before sending", "after sending", "while waiting"])
def test_a_kill_at_any_point_pays_nothing_twice(
    name: str, killed_at: str, server: Provider, tmp_path: Path
) -> None:
    class Killed(BaseException):
        pass

    def killed(*_: object, **__: object) -> None:
        raise Killed

    def killed_when_sent(self: RemoteBatches, job: remote.Job) -> None:
        if job.state == "sent":
            raise Killed
        keep(self, job)

    keep = RemoteBatches._keep
    with pytest.MonkeyPatch.context() as patch:
        if killed_at == "before sending":
            patch.setattr(RemoteBatches, "_send", killed)
        elif killed_at == "after sending":
            patch.setattr(RemoteBatches, "_keep", killed_when_sent)
        else:
            patch.setattr(remote.time, "sleep", killed)
            server.looks = 10**6
        with pytest.raises(Killed):
            run(server, tmp_path, batch=name)
    server.looks = 1
    assert run(server, tmp_path, batch=name).ratings["failed"] == 0
    assert len(server.batches) == 1


def test_a_direct_run_waits_for_what_is_in_flight(server: Provider, tmp_path: Path) -> None:
    server.looks = 10**6
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remote.time, "sleep", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run(server, tmp_path, batch="openai")
    with pytest.raises(StoppedEarly, match=r"requests wait in the batch dhp-.* at openai; `batch` fetches"):
        run(server, tmp_path)
    with pytest.raises(StoppedEarly, match="requests wait in the batch"):
        run(server, tmp_path, batch_read=())
    (job,) = RemoteBatches(tmp_path / "cache").jobs()
    RemoteBatches(tmp_path / "cache").cancel(job.batch)
    with pytest.raises(StoppedEarly, match=r"no request was answered .20 without a result."):
        run(server, tmp_path, batch="openai")
    with pytest.raises(InputError, match="is ended; allowed: one in work"):
        RemoteBatches(tmp_path / "cache").cancel(job.name)


def test_a_refused_batch_and_one_without_answers_stop_the_run(server: Provider, tmp_path: Path) -> None:
    server.failed = "the file holds two models"
    with pytest.raises(InputError, match=r"batch_0 at openai: was refused .the file holds two models."):
        run(server, tmp_path, batch="openai")
    server.failed, server.result = "", expired
    with pytest.raises(StoppedEarly, match=r"no request was answered .20 batch_expired.; the same command"):
        run(server, tmp_path, batch="openai")


def test_wrong_use_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="`batch` opena: unknown provider; did you mean 'openai'"):
        BatchSettings(batch="opena")
    with pytest.raises(InputError, match="leave out `batch_write`"):
        BatchSettings(batch="openai", batch_write="r.jsonl")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with provider_server(Provider()) as running, pytest.raises(InputError, match="no key in OPENAI_API_KEY"):
        run(running, tmp_path, batch="openai")
    with pytest.raises(InputError, match=r"batch 'x': is not in .*batches; dhp batch list"):
        RemoteBatches(tmp_path).cancel("x")
