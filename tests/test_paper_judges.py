"""The list of judges is whole, and the script runs what it reaches and says how to reach the rest."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.scripts import SCRIPTS, loaded

TABLE_3 = {
    *("gpt-3.5-turbo-0125", "gpt-4-1106-preview"),
    *("Meta-Llama-3-8B-Instruct", "Meta-Llama-3-70B-Instruct"),
    *("vicuna-7b-v1.5-16k", "vicuna-13b-v1.5-16k", "Mistral-7B-Instruct-v0.2"),
    *("Qwen1.5-4B-Chat", "Qwen1.5-7B-Chat", "Qwen1.5-14B-Chat", "Qwen1.5-32B-Chat", "Qwen1.5-72B-Chat"),
}
"""The versions in Table 3 of Wang et al. (2025)."""


@pytest.fixture(scope="module")
def script() -> SimpleNamespace:
    return loaded("paper_judges")


def test_the_list(script: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    judges = script.read_list(SCRIPTS / "paper_judges.yaml")
    assert len(judges) == 12
    assert {judge.name.partition("/")[2] for judge in judges} == TABLE_3
    assert {judge.family for judge in judges} == {"GPT", "Llama", "Vicuna", "Mistral", "Qwen"}
    assert all(judge.context and judge.context >= 8_000 for judge in judges), "Appendix D: 8K tokens or more"
    assert all(judge.serve for judge in judges if judge.family != "GPT")
    small = next(judge for judge in judges if "Qwen1.5-4B" in judge.name)
    assert small.model([small.name], in_process=False) == f"openai/{small.name}"
    assert small.model([], in_process=True) == f"hf/{small.name}"
    assert {judge.model([], in_process=False) for judge in judges} == {None}


@pytest.mark.slow
def test_what_is_reached_is_run(
    script: SimpleNamespace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = tmp_path / "judges.yaml"
    listed.write_text(
        "judges:\n  - {name: mock/noisy, family: Mock}\n"
        "  - {name: org/Some-7B, family: Some, serve: serve it}\n"
    )
    command = [str(tmp_path / "out"), "--list", str(listed), "--dataset", "mini/summeval", "--n", "6"]
    script.main(command)
    said = capsys.readouterr().out
    assert "org/Some-7B: not reached; serve it" in said
    assert (tmp_path / "out" / "site" / "index.html").is_file()
    script.main(command)
    assert "mock/noisy: is in" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="does not list its models"):
        script.main([*command, "--base-url", "http://127.0.0.1:9/v1"])
