"""Batches at providers: sent, awaited, fetched, resumed after a kill; each against a local server."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

import dhp
from dhp.core.errors import InputError, StoppedEarly
from dhp.plugins.batch import jobs
from dhp.plugins.batch.jobs import Job, RemoteBatches
from dhp.plugins.batch.providers import check_address, open_provider
from dhp.plugins.batch.settings import BatchSettings
from tests.plugins.batch.answers import answer, expired, write_answers
from tests.plugins.batch.provider_server import Provider, half_expired, provider_server
from tests.server import Answer, Call, scripted_server

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
    monkeypatch.setattr(jobs, "_FIRST_WAIT", 0.01)
    with provider_server(Provider()) as running:
        for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
            monkeypatch.setenv(variable, "a-key")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.url)
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", f"{running.url}/gemini")
        yield running


def run(
    server: Provider,
    folder: Path,
    calls: int | None = None,
    *,
    out: str = "out",
    samples: int = 2,
    rate_limits: dhp.RateLimits | None = None,
    **batch: object,
) -> dhp.Results:
    settings = dhp.ModelSettings(
        base_url=f"{server.url}/v1",
        cache=folder / "cache",
        limits=dhp.Limits(calls=calls),
        rate_limits=rate_limits or dhp.RateLimits(),
        filler=BatchSettings(**batch),
    )
    return dhp.run(
        "openai/m",
        "mini/answer_equivalence",
        n=2,
        controls=False,
        protocol=dhp.protocol("dhp", samples=samples),
        settings=settings,
        out=folder / out,
    )


def interrupted(server: Provider, folder: Path, out: str = "out") -> None:
    """A run that is stopped while it waits for a batch, which stays in work."""
    server.looks = 10**6
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs.time, "sleep", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run(server, folder, out=out, batch="openai")


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


@pytest.mark.slow
@EACH
def test_what_expired_is_sent_again(
    name: str, server: Provider, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server.result, keep = half_expired, RemoteBatches._check

    def check(*given: object) -> None:
        keep(*given)
        server.result = answer

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

    def killed_when_sent(self: RemoteBatches, job: Job) -> Job:
        if job.state == "sent":
            raise Killed
        return keep(self, job)

    keep = RemoteBatches._keep
    with pytest.MonkeyPatch.context() as patch:
        if killed_at == "before sending":
            patch.setattr(RemoteBatches, "_send", killed)
        elif killed_at == "after sending":
            patch.setattr(RemoteBatches, "_keep", killed_when_sent)
        else:
            patch.setattr(jobs.time, "sleep", killed)
            server.looks = 10**6
        with pytest.raises(Killed):
            run(server, tmp_path, batch=name)
    server.looks = 1
    assert run(server, tmp_path, batch=name).ratings["failed"] == 0
    assert len(server.batches) == 1


@pytest.mark.slow
def test_a_direct_run_waits_for_what_is_in_flight(server: Provider, tmp_path: Path) -> None:
    interrupted(server, tmp_path)
    with pytest.raises(
        StoppedEarly, match=r"requests wait in the batch dhp-.* at openai; `batch` openai fetches"
    ):
        run(server, tmp_path)
    with pytest.raises(StoppedEarly, match="requests wait in the batch"):
        run(server, tmp_path, batch_read=())
    (job,) = RemoteBatches(tmp_path / "cache").jobs()
    RemoteBatches(tmp_path / "cache").cancel(job.batch)
    with pytest.raises(InputError, match="is ended; must be a running one"):
        RemoteBatches(tmp_path / "cache").cancel(job.name)
    assert run(server, tmp_path).ratings["failed"] == 0
    assert (len(server.batches), server.direct) == (1, 20), "a batch that was given up stands in nobody's way"


wait = RemoteBatches.wait


def fetched_and_killed(server: Provider, folder: Path) -> None:
    """A run that ends as soon as its batch has."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RemoteBatches, "wait", lambda self, names: (wait(self, names), 1 / 0))
        with pytest.raises(ZeroDivisionError):
            run(server, folder, batch="openai")
    assert [job.state for job in RemoteBatches(folder / "cache").jobs()] == ["stored"]


@pytest.mark.slow
def test_a_direct_run_takes_what_was_fetched(server: Provider, tmp_path: Path) -> None:
    fetched_and_killed(server, tmp_path)
    assert run(server, tmp_path).ratings["failed"] == 0
    assert server.direct == 0


@pytest.mark.slow
def test_a_kill_between_the_fetch_and_the_store_loses_nothing(server: Provider, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RemoteBatches, "_store_replies", lambda self, job: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run(server, tmp_path, batch="openai")
    with pytest.raises(StoppedEarly, match=r"requests wait in the batch dhp-.* at openai"):
        run(server, tmp_path)
    assert run(server, tmp_path, batch="openai").ratings["failed"] == 0
    assert len(server.batches) == 1
    assert server.direct == 0


@pytest.mark.slow
def test_a_direct_run_leaves_alone_what_is_sent_while_it_asks(server: Provider, tmp_path: Path) -> None:
    """The batch is sent by another process when a tenth of the direct run's calls are made."""
    direct = server.answer

    def answered(call: Call) -> object:
        found = direct(call)
        if call.path.endswith("/chat/completions") and server.direct == 2:
            interrupted(server, tmp_path, out="other")
        return found

    server.answer = answered
    limits = dhp.RateLimits(concurrency=1)
    with pytest.raises(StoppedEarly, match=r"requests wait in the batch dhp-.* at openai"):
        run(server, tmp_path, rate_limits=limits)
    (batch,) = server.batches.values()
    assert 2 <= server.direct <= 4
    assert server.direct + len(server.lines(batch)) <= 20 + 2, "all but the calls under way are asked once"


@pytest.mark.slow
def test_more_samples_are_not_asked_while_some_are_in_flight(server: Provider, tmp_path: Path) -> None:
    interrupted(server, tmp_path)
    with pytest.raises(StoppedEarly, match="requests wait in the batch"):
        run(server, tmp_path, out="more", samples=3)
    assert server.direct == 0
    server.looks = 1
    run(server, tmp_path, batch="openai")
    assert run(server, tmp_path, out="more", samples=3).ratings["failed"] == 0
    assert server.direct == 20, "the third samples"


@pytest.mark.slow
def test_a_run_waits_for_its_own_batches_alone(server: Provider, tmp_path: Path) -> None:
    """One of another study is in work at a server that is gone; one of this study at another provider."""
    cache = RemoteBatches(tmp_path / "cache")
    interrupted(server, tmp_path)
    server.looks = 1
    (job,) = cache.jobs()
    other = replace(job, name="dhp-other", model="openai/other", endpoint="http://127.0.0.1:9/v1")
    (cache.folder / "dhp-other.jsonl").write_bytes((cache.folder / f"{job.name}.jsonl").read_bytes())
    cache._keep(other)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dhp.plugins.batch.providers.check_provider", lambda name: None)
        assert run(server, tmp_path, batch="anthropic").ratings["failed"] == 0
    assert len(server.batches) == 1
    assert {job.name: job.state for job in cache.jobs()} == {job.name: "stored", "dhp-other": "sent"}


@pytest.mark.slow
def test_a_limit_holds_for_all_rounds_of_a_command(server: Provider, tmp_path: Path) -> None:
    with pytest.raises(StoppedEarly, match=r"stopped at `limits.calls` 7; repeat the command"):
        run(server, tmp_path, calls=7, batch="openai")
    assert [len(server.lines(batch)) for batch in server.batches.values()] == [7]
    server.result = half_expired
    with pytest.raises(StoppedEarly, match=r"stopped at `limits.calls` 7"):
        run(server, tmp_path, calls=7, batch="openai")
    assert len(server.batches) == 2, "the next command has the limit anew"


@pytest.mark.slow
def test_a_limit_holds_after_batches_that_a_command_only_waited_for(server: Provider, tmp_path: Path) -> None:
    interrupted(server, tmp_path)
    server.looks = 1
    server.result = half_expired
    with pytest.raises(StoppedEarly):
        run(server, tmp_path, calls=2, batch="openai")
    assert [len(server.lines(batch)) for batch in server.batches.values()] == [20, 2]


def test_answers_that_cannot_be_read_are_not_bought_for_ever(server: Provider, tmp_path: Path) -> None:
    def empty(line: dict) -> dict:
        found = answer(line)
        found["response"]["body"]["choices"] = []
        return found

    server.result = empty
    with pytest.raises(StoppedEarly, match=r"no request was answered .20 without an answer that can be read"):
        run(server, tmp_path, batch="openai")
    assert len(server.batches) == 1


@EACH
def test_a_batch_whose_name_got_lost_on_the_way_is_not_sent_again(
    name: str, server: Provider, tmp_path: Path
) -> None:
    server.lost = 1
    with pytest.raises(StoppedEarly, match="nothing is lost, repeat the command to resume"):
        run(server, tmp_path, batch=name)
    assert len(server.batches) == 1
    assert run(server, tmp_path, batch=name).ratings["failed"] == 0
    assert len(server.batches) == 1


@pytest.mark.slow
def test_two_runs_at_once_send_the_same_requests_once(server: Provider, tmp_path: Path) -> None:
    send = RemoteBatches.send

    def late(self: RemoteBatches, *given: object) -> set[str]:
        """Another run of the same command comes first."""
        with pytest.MonkeyPatch.context() as inner:
            inner.setattr(RemoteBatches, "send", send)
            run(server, tmp_path, out="other", batch="openai")
        return send(self, *given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RemoteBatches, "send", late)
        assert run(server, tmp_path, batch="openai").ratings["failed"] == 0
    assert len(server.batches) == 1


@pytest.mark.slow
def test_a_batch_that_the_provider_does_not_know_can_be_given_up(server: Provider, tmp_path: Path) -> None:
    interrupted(server, tmp_path)
    cache = RemoteBatches(tmp_path / "cache")
    (job,) = cache.jobs()
    cache._keep(replace(job, batch="batch_9"))
    with pytest.raises(InputError, match=rf"dhp batch cancel {job.name} cancels it"):
        run(server, tmp_path, batch="openai")
    assert cache.cancel(job.name).state == "cancelled"
    assert run(server, tmp_path).ratings["failed"] == 0
    assert server.direct == 20


@pytest.mark.slow
def test_a_batch_whose_files_are_gone_can_be_given_up(server: Provider, tmp_path: Path) -> None:
    interrupted(server, tmp_path)
    cache = RemoteBatches(tmp_path / "cache")
    (job,) = cache.jobs()
    shutil.rmtree(cache.folder)
    with pytest.raises(StoppedEarly, match=f"requests wait in the batch {job.name} at openai"):
        run(server, tmp_path)
    assert cache.cancel(job.name).state == "cancelled"
    with pytest.raises(InputError, match="is not in"):
        cache.cancel(job.name)
    assert run(server, tmp_path).ratings["failed"] == 0


@pytest.mark.parametrize(
    ("provider", "model", "endpoint", "fault"),
    [
        ("anthropic", "openai/gpt-4o", "https://api.openai.com/v1", "base_url` https://api.anthropic.com/v1"),
        ("gemini", "openai/gemini-2.5-flash", "https://api.openai.com/v1", "base_url` https://generativela"),
        ("openai", "openai/claude-x", "https://api.anthropic.com/v1", "allowed: `batch` anthropic"),
        ("openai", "litellm/openai/gpt-4o", "litellm", "does not take it; allowed: openai/NAME"),
        ("openai", "openai/m", "https://x.azure.com api-version=1", "Azure"),
    ],
)
def test_a_model_of_another_provider_is_refused(provider: str, model: str, endpoint: str, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        check_address(provider, model, endpoint)


@pytest.mark.slow
@EACH
@pytest.mark.parametrize("cuts", [1, 4])
def test_results_that_are_cut_short_are_fetched_again_and_nothing_is_sent_anew(
    name: str, cuts: int, server: Provider, tmp_path: Path
) -> None:
    server.cuts = cuts
    if cuts > 3:
        with pytest.raises(StoppedEarly, match=r"its results hold (10 of 20|20 of 40) .*; repeat"):
            run(server, tmp_path, batch=name)
        assert [job.state for job in RemoteBatches(tmp_path / "cache").jobs()] == ["sent"]
    assert run(server, tmp_path, batch=name).ratings["failed"] == 0
    assert len(server.batches) == 1
    assert server.direct == 0


@pytest.mark.slow
def test_a_refused_batch_and_one_without_answers_stop_the_run(server: Provider, tmp_path: Path) -> None:
    server.failed = "the file holds two models"
    with pytest.raises(InputError, match=r"batch_0 at openai: was refused .the file holds two models."):
        run(server, tmp_path, batch="openai")
    server.failed, server.result = "", expired
    with pytest.raises(StoppedEarly, match=r"no request was answered .20 batch_expired.; repeat the command"):
        run(server, tmp_path, batch="openai")


def test_wrong_use_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"`batch`: unknown provider 'opena'.*'openai'"):
        BatchSettings(batch="opena")
    with pytest.raises(InputError, match=r"`batch`: .*`batch_write`"):
        BatchSettings(batch="openai", batch_write="r.jsonl")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with provider_server(Provider()) as running, pytest.raises(InputError, match="OPENAI_API_KEY is not set"):
        run(running, tmp_path, batch="openai")


@EACH
def test_a_key_goes_along_no_redirect(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(variable, "a-secret-key")
    lines = tmp_path / "requests.jsonl"
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "max_tokens": 4}
    lines.write_text(json.dumps({"custom_id": "a", "body": body}) + "\n")
    with scripted_server(lambda call: (200, {}, {}), get=lambda call: (200, {}, {})) as other:

        def elsewhere(call: Call) -> Answer:
            return 307, {"Location": other.url + call.path}, b""

        with scripted_server(elsewhere, get=elsewhere) as own:
            monkeypatch.setenv("ANTHROPIC_BASE_URL", own.url)
            monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", own.url)
            provider = open_provider(name, f"{own.url}/v1")
            batch = "batches/0" if name == "gemini" else "batch_0"
            for ask in (lambda: provider.state(batch), lambda: provider.submit(lines, "dhp-a")):
                with pytest.raises(Exception):  # noqa: B017  each package has errors of its own
                    ask()
            assert len(own.calls) >= 2
        assert not other.calls
