"""Secrets of every input are in no file, store or printed line, though a server repeats them."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.cli.conftest import Run, dhp
from tests.server import Call, refusal, reply, scripted_server

__all__ = ["dhp"]
SECRETS = {
    "key": "sk-own-0123456789abcdef",
    "header": "gate<&>\"quoted'-0123456789",
    "body": "p@ss-w\\rd/0123456789",
    "inner": "inner-secret-of-nobody",
    "path": "0123456789abcdef0123456789abcdef",
    "short": "hunter2",
}
ADAPTER = "0f8fad5b-d9cb-469f-a165-70867728950e"


def says(call: Call) -> Any:
    """An answer, or a refusal, that repeats all that came."""
    repeated = " ".join(SECRETS.values())
    if call.raw[-60:].count(b"e") % 3 == 0:
        return refusal(400, f"no: {repeated}")
    return reply(f"Rating: 4\nYou sent {repeated}", model=f"stub {repeated}")


def kept(folder: Path) -> dict[str, bytes]:
    """Name -> what can be read in each file, tables and stores included."""
    texts: dict[str, bytes] = {}
    for path in folder.rglob("*"):
        if path.is_file():
            texts[str(path)] = path.read_bytes()
            if path.suffix == ".parquet":
                texts[str(path)] += pd.read_parquet(path).to_csv().encode()
            if path.suffix == ".sqlite":
                connection = sqlite3.connect(path)
                for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'"):
                    texts[str(path)] += repr(connection.execute(f"SELECT * FROM {name}").fetchall()).encode()
    return texts


COMMANDS = (
    "benchmark --dataset mini/summeval --n 5 --metric fluency --samples 1 --out out --json",
    "judge texts.jsonl --samples 1 --out rated.csv",
    "judge texts.jsonl --samples 1 --out rated.jsonl",
    "probe --dataset mini/summeval --n 2 --metric fluency --out probed",
)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_no_secret_is_kept_or_shown(
    command: str, dhp: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRETS["key"])
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Gate: Token {SECRETS['header']}")
    lines = [f'{{"source": "Ann has {i} cats.", "output": "She has {i}, and no secret."}}' for i in range(9)]
    Path("texts.jsonl").write_text("\n".join(lines))
    inner = json.dumps({"team": ADAPTER, "deep": [{"client_secret": SECRETS["inner"]}]})
    body = [f"password={SECRETS['body']}", f"metadata={inner}", f"token={SECRETS['short']}"]
    body += [f"adapter={ADAPTER}"]
    with scripted_server(says) as server:
        way = ["--model", "openai/stub", "--base-url", f"{server.url}/{SECRETS['path']}", "--cache", "cache"]
        more = [word for field in body for word in ("--body", field)]
        done = dhp(*command.split(), *way, *more, "--keep-going")
        sent = [call for call in server.calls if call.method == "POST"]
    assert done.code in (0, 3), done.err
    assert sent
    for call in sent:  # the run still uses them
        assert call.headers["authorization"] == f"Bearer {SECRETS['key']}"
        assert call.headers["x-gate"] == f"Token {SECRETS['header']}"
        assert call.body["password"] == SECRETS["body"]
        assert call.body["metadata"]["deep"][0]["client_secret"] == SECRETS["inner"]
        assert call.body["token"] == SECRETS["short"]
    written = kept(tmp_path)
    assert "cache/replies.sqlite" in {str(Path(name).relative_to(tmp_path)) for name in written}
    shown = {**written, "output": done.out.encode(), "errors": done.err.encode()}
    for name, secret in SECRETS.items():
        if name == "short":  # in a field of its name; in a text it is a word
            continue
        for place, text in shown.items():
            assert secret.encode() not in text, f"{name} in {place}"
            assert json.dumps(secret)[1:-1].encode() not in text, f"{name} in {place}"
    if command.startswith("benchmark"):
        manifest = Path("out/manifest.json").read_text("utf-8")
        assert ADAPTER in manifest, "what is no key stays"
        assert '"token": "***"' in manifest
        assert '"password": "***"' in manifest


@pytest.mark.slow
def test_what_is_known_by_a_checksum_is_known_without_its_secrets(
    dhp: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run, and a set of texts, whose names and texts hold the key are still their own when read again."""
    key = SECRETS["key"]
    monkeypatch.setenv("OPENAI_API_KEY", key)
    rows = [
        {"id": str(i), "source": f"Ann has {i} cats.", "output": f"By {key} she has {i} old cats in Berlin."}
        for i in range(5)
    ]
    Path("texts.jsonl").write_text("\n".join(map(json.dumps, rows)))
    way = ["--task", "summarization", "--metric", "fluency", "--samples", "1", "--cache", "cache", "--quiet"]
    with scripted_server(lambda call: reply("4")) as server:
        judge = ["--model", f"openai/{key}", "--base-url", server.url]
        for _ in range(2):
            done = dhp("benchmark", "--dataset", "texts.jsonl", *way, *judge, "--out", "out")
            assert done.code == 0, done.err
    assert dhp("gate", "out", "--min-detection", "1").code == 0  # a blind one, and not edited
    done = dhp("perturb", "--dataset", "texts.jsonl", *way[:2], "--freeze", "set")
    assert done.code == 0, done.err
    done = dhp("review", "set", "--page", "page.html")
    assert done.code == 0, done.err
    written = {name: text for name, text in kept(tmp_path).items() if "texts.jsonl" not in name}
    assert not [name for name, text in written.items() if key.encode() in text]
