"""What the tests of the loaders share: a real local server, real data, writers of published forms."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Server:
    """A web server on this machine that answers what it is told."""

    url: str
    answers: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    agents: list[str] = field(default_factory=list)

    def serve(self, name: str, body: bytes, status: int = 200, **headers: str) -> str:
        """Answer `body` at the returned address; header names are written with `_` for `-`."""
        shown = {"Content-Length": str(len(body))} | {k.replace("_", "-"): v for k, v in headers.items()}
        self.answers[f"/{name}"] = (status, shown, body)
        return f"{self.url}/{name}"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "*")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told.agents.append(self.headers.get("User-Agent", ""))
            status, headers, body = told.answers.get(self.path, (404, {"Content-Length": "0"}, b""))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    told = Server(f"http://127.0.0.1:{http.server_port}")
    thread = Thread(target=http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield told
    http.shutdown()
    http.server_close()
    thread.join()


def write_jsonl(path: Path, rows: Sequence[object]) -> Path:
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), encoding="utf-8")
    return path


def write_json(path: Path, rows: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def write_csv(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_parquet(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([dict(r) for r in rows]), path)
    return path


def wmt_xml(documents: Mapping[str, Sequence[tuple[str, str]]], pair: str = "de-en", **more: str) -> str:
    """WMT's XML with references B and A and a system's output; `more` maps document ids to attributes."""
    source, target = pair.split("-")
    parts = []
    for name, segments in documents.items():

        def side(tag: str, texts: Sequence[str]) -> str:
            body = "\n".join(f'<seg id="{i}">{t}</seg>' for i, t in enumerate(texts, 1))
            return f"<{tag}><p>{body}</p></{tag.split()[0]}>"

        sources, references = [s for s, _ in segments], [r for _, r in segments]
        parts.append(
            f'<doc origlang="{source}" id="{name}" {more.get(name, "")}>'
            + side(f'src lang="{source}"', sources)
            + side(f'ref lang="{target}" translator="B"', ["wrong" * 100] * len(segments))
            + side(f'ref lang="{target}" translator="A"', references)
            + side(f'hyp lang="{target}" system="Online-A"', ["bad" * 200] * len(segments))
            + "</doc>"
        )
    body = "".join(parts)
    return (
        f"<?xml version='1.0' encoding='utf-8'?>\n<dataset id=\"wmttest2022\">\n"
        f'<collection id="general">{body}</collection></dataset>\n'
    )
