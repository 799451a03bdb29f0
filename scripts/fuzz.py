"""Mutate files of every kind that dhp reads, and answers of judges, and read them.

    python scripts/fuzz.py [--n 10000] [--kind KIND ...] [--seed 0] [--recorded DATA_FOLDER]
    python scripts/fuzz.py --long

A file must be read, or refused in one line, at once; an answer must be read in every form within the rules of
a reading: a score on the scale, a choice or a reason. Prints, for each kind, how many were read and refused,
and how many did anything else: another exception, a refusal of several lines, more than `SLOW` seconds. Each
of those is printed. With `--recorded` the answers are those of published data, else a few. With `--long`, the
seconds that one reading of 100 kB and of 1 MB of the same unit takes.
"""

import argparse
import gzip
import io
import json
import logging
import random
import runpy
import signal
import tarfile
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
import yaml

import dhp
from dhp.content.catalog import read_protocol, read_suite, read_task, read_weights
from dhp.core.answer_forms import PAIRWISE_FORMS, POINTWISE_FORMS
from dhp.core.errors import DhpError
from dhp.core.seeding import stream
from dhp.core.specs import Scale
from dhp.judge.extraction.rating import read_rating
from dhp.judge.extraction.verdict import read_verdict
from dhp.judge.judges.recorded import recorded_judges
from dhp.llm.api import Retry
from dhp.llm.clients.responses import read_replies
from dhp.loaders.fetch import unpack
from dhp.loaders.resolve import resolve_datasets
from dhp.loaders.user import read_texts
from dhp.plugins.batch.results import BatchResults
from dhp.plugins.human.scores import read_scores
from dhp.runs.reader import read_results

SLOW = 10
"""Seconds from which reading a small file counts as a hang."""
ODD = (
    *r'NaN -Infinity 1e999 -1 0 null true [] {} "" "\ud800" =1+1 ../.. *a &a % é'.split(),
    *(
        "!!python/object:os.system",
        "9" * 5000,
        "[" * 3000,
        "\x00",
        "\ufeff",
        "\u2028",
        "\r",
        "\n\n",
        "\n? [a, b]\n: c\n",
    ),
)
"""Pieces that are put into files."""
ODD_IN_ANSWERS = (
    *r"⟦ ⟧ ⟦?⟧ <think> </think> [[ ]] 1e309 -0 ½ ٤ ² ① ★☆ 四分之三 百 % / 1-5 \frac{ $ ** ```".split(),
    *(
        "if",
        "would",
        "\x00",
        "\u202e",
        "\ud800",
        "\u200b",
        "not",
        "Output",
        "(a)",
        "Rating:",
        "Score",
        "9",
        "0",
    ),
)
Pieces = Sequence[str]


def cut(data: bytes, rng: random.Random, odd: Pieces) -> bytes:
    """Its start."""
    return data[: rng.randrange(len(data) + 1)]


def drop(data: bytes, rng: random.Random, odd: Pieces) -> bytes:
    """Without a piece."""
    start = rng.randrange(len(data) + 1)
    return data[:start] + data[start + rng.choice([1, 2, 10, 100]) :]


def flip(data: bytes, rng: random.Random, odd: Pieces) -> bytes:
    """With a few other bytes."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 6) if data else 0):
        changed[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(changed)


def insert(data: bytes, rng: random.Random, odd: Pieces) -> bytes:
    """With an odd piece put in."""
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.choice(odd).encode(errors="surrogatepass") + data[place:]


def replace_word(data: bytes, rng: random.Random, odd: Pieces) -> bytes:
    """With an odd piece in the place of a value."""
    words = data.split(b" ")
    words[rng.randrange(len(words))] = rng.choice(odd).encode(errors="surrogatepass")
    return b" ".join(words)


def shuffle(data: bytes, rng: random.Random, odd: Pieces) -> bytes:
    """Its words in another order."""
    words = data.split(b" ")
    rng.shuffle(words)
    return b" ".join(words)


def digit(data: bytes, rng: random.Random, odd: Pieces) -> bytes:
    """With other digits in a few places."""
    changed = bytearray(data)
    places = [i for i, byte in enumerate(data) if 48 <= byte < 58]
    for place in rng.sample(places, min(len(places), rng.randint(1, 4))):
        changed[place] = rng.choice(b"0123456789-.e")
    return bytes(changed)


def repeat(data: bytes, rng: random.Random, odd: Pieces) -> bytes:
    """With a piece twice, or a short one many times."""
    start, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    times = rng.choice([1, 1, 1, 40])
    return data[:end] + data[start:end][: 200 if times > 1 else None] * times + data[end:]


MUTATIONS = (cut, drop, flip, insert, replace_word, shuffle, digit, repeat)


@dataclass(frozen=True)
class Kind:
    """A kind of file."""

    files: Mapping[str, bytes]
    """Name -> sound content."""
    read: Callable[[Path], object]
    odd: Pieces = ODD
    """Pieces that are put in."""


def _ratings() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    index = pd.MultiIndex.from_product(
        [range(6), ["original", "a.minor", "a.major"], ["fluency"], range(2)],
        names=["example", "variant", "metric", "sample"],
    )
    frame = index.to_frame(index=False)
    frame["level"] = "word"
    frame["score"] = rng.integers(1, 6, len(frame)).astype(float)
    return frame


def _parquet(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


def _zipped(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def _tarred(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return gzip.compress(buffer.getvalue(), mtime=0)


def _lines(rows: list[dict[str, Any]]) -> bytes:
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()


def _unpacked(archive: Path) -> None:
    folder = archive.parent / "unpacked"
    unpack(archive, folder)
    outside = {path.name for path in archive.parent.iterdir()} - {archive.name, "unpacked"}
    if outside:
        raise AssertionError(f"written outside its folder: {outside}")


def _analyzed(path: Path) -> None:
    dhp.analyze(path)


def _batch_results() -> bytes:
    """A file of answers, errors and refusals as it comes back from a batch."""
    body = {"model": "m-2026-01-01", "choices": [{"index": 0, "message": {"content": "4"}}]}
    filtered = {"error": {"message": "flagged", "code": "content_filter"}}
    rows = [
        {"custom_id": "a1", "response": {"status_code": 200, "body": body}, "error": None},
        {"custom_id": "a2", "response": None, "error": {"code": "batch_expired", "message": "too late"}},
        {"custom_id": "a3", "response": {"status_code": 400, "body": filtered}},
    ]
    return _lines(rows)


def _read_batch(path: Path) -> None:
    results = BatchResults([path])
    for name in ("a1", "a2", "a3"):
        if name in results:
            results.read(name, {"model": "m", "messages": [], "n": 1, "max_tokens": 5})
    results.note_others()


def _human_scores() -> str:
    rows = (f"e{i},s{j},fluency,{(i + j) % 5 + 1},{r}" for i in range(3) for j in range(2) for r in "ab")
    return "\n".join(["source,system,metric,score,rater", *rows])


def _logs() -> dict[str, bytes]:
    """Logs of other tools, one for each form that is read."""
    said = "Paris is the capital. It is old."
    message = [{"role": "user", "content": "Who?"}, {"role": "assistant", "content": said}]
    sample = {"id": 1, "epoch": 1, "input": "Who?", "target": "", "output": {"completion": said}}
    inspect = {"version": 2, "eval": {"task": "t"}, "samples": [{**sample, "messages": message}] * 2}
    result = {"prompt": {"raw": "Who?"}, "vars": {"context": "x"}, "response": {"output": said}}
    case = {"name": "c", "input": "Who?", "actualOutput": said, "retrievalContext": ["One."]}
    plain = {"id": "t", "input": {"messages": message[:1]}, "output": message[1]}
    inside = {"header.json": json.dumps({**inspect, "samples": None}).encode()}
    logs = {
        "inspect.json": inspect,
        "promptfoo.json": {"evalId": "e", "results": {"version": 3, "results": [result]}},
        "deepeval.json": {"testCases": [case]},
        "plain.json": [plain] * 2,
    }
    return {
        **{name: json.dumps(log).encode() for name, log in logs.items()},
        "plain.jsonl": _lines([plain] * 2),
        "inspect.eval": _zipped({**inside, "samples/1_epoch_1.json": json.dumps(sample).encode()}),
    }


def _conversations() -> dict[str, bytes]:
    """Transcripts, one for each form that is read."""
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 4}'}}
    use = {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 4}}
    result = {"type": "tool_result", "tool_use_id": "a", "content": "no"}
    asked, answer = {"role": "user", "content": "Free?"}, {"role": "assistant", "content": "No, taken."}
    openai = [
        asked,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "no"},
        answer,
    ]
    anthropic = [
        asked,
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
        answer,
    ]
    parts = [{"role": "user", "parts": [{"type": "text", "content": "Free?"}]}]
    span = {
        "gen_ai.conversation.id": "c",
        "gen_ai.input.messages": json.dumps(parts),
        "gen_ai.output.messages": json.dumps([{**parts[0], "role": "assistant"}]),
    }
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in span.items()]
    spans = [{"traceId": "t", "name": "chat", "attributes": attributes}]
    observation = {"id": "o", "traceId": "t", "type": "GENERATION", "input": openai[:3], "output": answer}
    forms = {
        "openai": {"messages": openai},
        "anthropic": {"system": "Be brief.", "messages": anthropic},
        "deepeval": [{"scenario": "s", "turns": [asked, answer]}],
        "spans": [span],
        "otlp": {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]},
        "langfuse": {"data": [{**observation, "startTime": "2026-01-01T10:00:03Z"}]},
    }
    return {f"{name}.json": json.dumps(form).encode() for name, form in forms.items()}


ANSWERS = (
    "The plot is clear, but 2 names are wrong, which keeps it from being a 5 out of 5. Rating: 4/5",
    "评分：4分。理由：内容完整，有1个错误。",
    "Output (a) names the mayor. Therefore, Output (a) is better.",
    '{"score": 3.5, "reason": "between 3 and 4"}',
    "8 7\nThe first text is shorter.",
)
SCALES = [Scale(min=float(low), max=float(high)) for low, high in [(1, 5), (1, 3), (0, 100), (-2, 2)]]
SLOW_ANSWER = 1.0
"""Seconds of CPU from which a reading of an answer counts as a hang."""


def read_answer(text: str, scale: Scale) -> float:
    """Read an answer in every form, check what is read, and return the seconds of the slowest reading."""
    slowest = 0.0
    for form in (*POINTWISE_FORMS, *PAIRWISE_FORMS):
        if form == "mix":
            continue
        start = time.process_time()
        if form in PAIRWISE_FORMS:
            found = read_verdict(text, form)
            assert (found.score is None) != (found.status == "scored"), "neither a choice nor a reason"
        else:
            read = read_rating(text, scale, form, cut_off=len(text) % 2 == 0)
            assert (read.score is None) != (read.status == "scored"), "a score without its status"
            assert read.score is None or scale.min <= read.score <= scale.max, "a score off the scale"
        slowest = max(slowest, time.process_time() - start)
    assert slowest < SLOW_ANSWER, "a slow reading"
    return slowest


def _read_answer(path: Path) -> None:
    text = path.read_bytes().decode(errors="surrogateescape")
    read_answer(text, SCALES[len(text) % len(SCALES)])


def recorded_answers(folder: Path) -> Sequence[str]:
    """Published answers about one text and about two."""
    script = runpy.run_path(str(Path(__file__).with_name("extraction.py")))
    answers = {text for _, text in script["answers"](folder)}
    for file in sorted((folder / "llmbar").glob("answers-*.jsonl")):
        for each in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            answers.update(each[key] for key in ("answer_as_given", "answer_swapped") if key in each)
    return sorted(answers)


UNITS = (
    "9|(|4 |a |score of |1. |⭐|☆★|一|Rating: 4\n|<think>|<think></think>|1-5 |3.|{|A-|a(1) |4/5 |**|⟦|$|_"
    "|1, |would make it a |if it were |Final score: 4/5\n|a. b: 3. |response 1: 2 |Output (a) is "
    "|both the two |[[|A is |not |五分之|\\frac{1}{2}|\n|from |1 or 2 or "
).split("|")


def print_growth() -> None:
    """Seconds of CPU for long texts of one unit, the slowest last."""
    print("| unit | 100 kB | 1 MB |\n|---|---:|---:|")
    rows = []
    for unit in UNITS:
        texts = [unit * (size // len(unit)) for size in (100_000, 1_000_000)]
        slow = [read_answer(text, SCALES[0]) for text in texts]
        rows.append((slow[1], unit, slow[0]))
    for long, unit, short in sorted(rows):
        print(f"| {unit!r} | {short:.3f} | {long:.3f} |")


def kinds(judged: Sequence[str] = ANSWERS) -> dict[str, Kind]:
    """Name -> kind; `judged` are answers of judges."""
    examples = [
        {
            "id": f"e{i}",
            "source": f"It rained on day {i}. Ann left.",
            "output": f"Rain, day {i}.",
            "lang": "en",
        }
        for i in range(4)
    ]
    table = pd.DataFrame(examples)
    ratings = _ratings()
    results = dhp.analyze(ratings).to_dict()
    answers = [{"example": "e1", "variant": "original", "metric": "fluency", "answer": "Score: 4"}] * 3
    dumped = {
        "suite": read_suite("summeval"),
        "task": read_task("summarization"),
        "protocol": read_protocol("dhp"),
    }
    specs = {
        name: yaml.safe_dump(spec.model_dump(mode="json", exclude_defaults=True), sort_keys=False).encode()
        for name, spec in dumped.items()
    }
    own = b"protocol: mine\ndescription: Mine.\nsamples: 2\nparts:\n  answer: '{{low}} to {{high}}'\n"
    weights = b"weights: mine\nversion: 1\nprovenance: Mine.\ntasks:\n  summarization:\n    random_typos: "
    weights += b"{coherence: 0.5, consistency: 0, fluency: 0.25, relevance: 0.25}\n"
    inside = {
        "a/x.jsonl": _lines(examples),
        "b.csv": table.assign(id=["a", "b", "c", "d"]).to_csv(index=False).encode(),
    }
    reply = {
        "choices": [{"index": 0, "message": {"content": "4"}, "finish_reason": "stop"}],
        "usage": {"total": 3},
    }
    return {
        "examples": Kind(
            {
                "x.jsonl": _lines(examples),
                "x.json": json.dumps(examples).encode(),
                "x.csv": table.to_csv(index=False).encode(),
                "x.tsv": table.to_csv(index=False, sep="\t").encode(),
                "x.parquet": _parquet(table),
                "x.zip": _zipped(inside),
            },
            lambda path: read_texts(path, read_task("summarization")),
        ),
        "ratings": Kind(
            {
                "x.csv": ratings.to_csv(index=False).encode(),
                "x.jsonl": _lines(ratings.to_dict("records")),
                "x.parquet": _parquet(ratings),
            },
            _analyzed,
        ),
        "results": Kind({"results.json": json.dumps(results, indent=1).encode()}, read_results),
        "suite": Kind({"x.yaml": specs["suite"]}, lambda path: read_suite(str(path))),
        "task": Kind({"x.yaml": specs["task"]}, lambda path: read_task(str(path))),
        "protocol": Kind({"x.yaml": specs["protocol"], "y.yaml": own}, lambda path: read_protocol(str(path))),
        "weights": Kind({"x.yaml": weights}, lambda path: read_weights(str(path))),
        "answers": Kind(
            {"x.jsonl": _lines(answers)}, lambda path: recorded_judges(f"recorded/{path}?form=score-only")
        ),
        "archives": Kind({"x.tar.gz": _tarred(inside)}, _unpacked),
        "batches": Kind({"x.jsonl": _batch_results()}, _read_batch),
        "logs": Kind(_logs(), lambda path: resolve_datasets([str(path)])),
        "conversations": Kind(_conversations(), lambda path: resolve_datasets([str(path)], judge_part="run")),
        "human scores": Kind({"x.csv": _human_scores().encode()}, lambda path: read_scores(path)),
        "answers of judges": Kind(
            {f"{i}.txt": text.encode(errors="surrogatepass") for i, text in enumerate(judged)},
            _read_answer,
            ODD_IN_ANSWERS,
        ),
        "replies": Kind({"x.json": json.dumps(reply).encode()}, lambda path: read_replies(path.read_bytes())),
    }


class _Hang(BaseException):
    pass


@contextmanager
def _limited():  # type: ignore[no-untyped-def]
    def stop(number: int, frame: FrameType | None) -> None:
        raise _Hang

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SLOW)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def outcome(kind: Kind, name: str, data: bytes) -> str:
    """`read`, `refused`, or what went wrong."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / name
        path.write_bytes(data)
        try:
            with _limited():
                kind.read(path)
        except (DhpError, Retry) as e:  # `Retry` of an answer without JSON, and of a stream without its end
            return "refused" if "\n" not in str(e) else f"several lines: {e!s:.200}"
        except _Hang:
            return f"hang: more than {SLOW} s"
        except Exception as e:  # noqa: BLE001  any other exception is what this looks for
            at = e.__traceback__  # the innermost frame
            while at and at.tb_next:
                at = at.tb_next
            where = f"{Path(at.tb_frame.f_code.co_filename).name}:{at.tb_lineno}" if at else ""
            return f"{type(e).__name__} at {where}: {e!s:.200}"
    return "read"


def fuzz(kind: Kind, n: int, seed: int) -> tuple[dict[str, int], dict[str, str]]:
    """Counts of `read`, `refused` and `fault`, and one file for each distinct fault."""
    counts, faults = {"read": 0, "refused": 0, "fault": 0}, dict[str, str]()
    files = sorted(kind.files.items())
    for i in range(n):
        rng = stream("fuzz", seed, i)
        name, data = rng.choice(files)
        for _ in range(rng.choice([1, 1, 1, 3])):
            data = rng.choice(MUTATIONS)(data, rng, kind.odd)
        found = outcome(kind, name, data)
        counts[found if found in counts else "fault"] += 1
        if found not in counts:
            faults.setdefault(found.partition(":")[0], f"{found}\n    {name}: {data[:300]!r}")
    return counts, faults


def main() -> None:
    """Print the table, and a non-zero exit code where anything went wrong."""
    logging.disable()  # warnings about sound but odd tables
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=10_000, help="mutated files of each kind")
    parser.add_argument("--kind", action="append", choices=kinds(), help="only this kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--recorded", type=Path, metavar="DATA_FOLDER", help="of published answers")
    parser.add_argument("--long", action="store_true", help="read long answers instead")
    options = parser.parse_args()
    if options.long:
        print_growth()
        return
    known = kinds(recorded_answers(options.recorded) if options.recorded else ANSWERS)
    print("| kind of file | read | refused | faults | seconds |\n|---|---:|---:|---:|---:|")
    broken = False
    for name in options.kind or known:
        start = time.perf_counter()
        counts, faults = fuzz(known[name], options.n, options.seed)
        seconds = time.perf_counter() - start
        print(
            f"| {name} | {counts['read']:,} | {counts['refused']:,} | {counts['fault']} | {seconds:.0f} |",
            flush=True,
        )
        for fault in faults.values():
            broken = True
            print(f"    {fault}")
    raise SystemExit(1 if broken else 0)


if __name__ == "__main__":
    main()
