"""What requests cost us, against a local stub server: time, memory, and what survives faults and kills.

    python scripts/engine.py [overhead|transports|memory|store|faults|kills ...] [--share 1.0]

Each part prints its figures beside what must hold. Timings are noisy; shares are of what the server's latency
and the number of calls in flight allow.
"""

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dhp.core.progress import progress_shown
from dhp.core.records import Candidate
from dhp.core.specs import Task
from dhp.judge.check import checked_ratings
from dhp.judge.factory import protocol, request_builder
from dhp.judge.judges.llm import LlmJudge
from dhp.llm.cached_model import CachedModel, RequestContext
from dhp.llm.clients.openai_client import TRANSPORTS, OpenAIClient
from dhp.llm.limits import RateLimits
from dhp.llm.records import Params, Reply, Request
from dhp.llm.store import Store, keys, row
from dhp.llm.usage import Usage
from dhp.perturb.builder import perturb_datasets
from tests.llm.stub import stats, stub_process

SOURCE = "A sentence of an article that goes on for a while and says little. " * 45
RUNS = ((64, 0.0, 12_000, None), (64, 0.2, 8_000, 0.95), (256, 0.2, 28_000, 0.88))
"""Calls in flight, latency in seconds, calls, share of the ideal rate that must be reached."""
FAULTS = "429=0.10,500=0.05,drop=0.02,hang=0.02,garbage=0.01"


def texts(count: int) -> tuple[list[Candidate], Task]:
    """Candidates for at least `count` ratings under four metrics, about 3,600 characters a prompt."""
    task = perturb_datasets("mini/summeval", n=1)[0].dataset.task
    return [Candidate(f"e{i}", "original", f"Summary number {i}.", SOURCE) for i in range(count // 4)], task


def judge(
    url: str, folder: Path, concurrency: int, timeout: float = 60.0, transport: str = "fast"
) -> LlmJudge:
    """The default protocol with one sample, so that each rating is a call."""
    context = RequestContext(Store(folder / "replies.sqlite"), rate_limits=RateLimits(concurrency))
    cached_model = CachedModel(
        OpenAIClient("stub", url, timeout=timeout, transport=transport), context, run="measured"
    )
    return LlmJudge(cached_model, request_builder(protocol("dhp", samples=1)))


def rated(asked: LlmJudge, candidates: Sequence[Candidate], task: Task) -> tuple[int, float, float]:
    """Ratings, seconds, seconds of processor time; with parsing, store and progress."""
    count = 0
    began, used = time.perf_counter(), time.process_time()
    with progress_shown("ratings") as show:
        for _ in checked_ratings(asked, candidates, task):
            count += 1
            if count % 20 == 0:
                show("stub", count, 4 * len(candidates), asked.cached_model.spent(Usage()))
    return count, time.perf_counter() - began, time.process_time() - used


def _some(calls: int, share: float) -> int:
    """So many of these calls; 64 are for what is imported with the first ones."""
    return 64 + max(4, int(calls * share))


def overhead(share: float) -> None:
    """Processor time a call and share of the ideal rate."""
    for concurrency, latency, calls, bar in RUNS:
        with stub_process("--latency", latency) as url, tempfile.TemporaryDirectory() as folder:
            candidates, task = texts(_some(calls, share))
            asked = judge(url, Path(folder), concurrency)
            rated(asked, candidates[:16], task)  # imports
            count, seconds, used = rated(asked, candidates[16:], task)
        rate = count / seconds
        reached = f"{rate:,.0f} calls/s (>= 2,000)"
        if bar:
            reached = f"{rate:,.0f} calls/s, {rate * latency / concurrency:.1%} of the ideal (>= {bar:.0%})"
        spent = f"{used / count * 1e3:.3f} ms CPU a call (<= 0.4)"
        print(f"{concurrency} in flight, {latency * 1000:.0f} ms: {reached}, {spent}")


def transports(share: float) -> None:
    """Processor time a call by both transports, in turn; the fast one must stay three times cheaper."""
    times = max(1, int(5 * share))
    found: dict[str, list[float]] = {name: [] for name in TRANSPORTS}
    for _ in range(times):
        for name, spent in found.items():
            with stub_process() as url, tempfile.TemporaryDirectory() as folder:
                candidates, task = texts(_some(2_000, share))
                asked = judge(url, Path(folder), 64, transport=name)
                rated(asked, candidates[:16], task)  # imports
                count, _, used = rated(asked, candidates[16:], task)
            spent.append(used / count * 1e3)
    medians = {name: statistics.median(spent) for name, spent in found.items()}
    for name, spent in found.items():
        print(
            f"{name}: {medians[name]:.3f} ms CPU a call ({min(spent):.3f} to {max(spent):.3f}, {times} runs)"
        )
    print(f"sdk / fast: {medians['sdk'] / medians['fast']:.1f} (>= 3)")


def memory(share: float) -> None:
    """Growth of resident memory over 100,000 ratings."""
    candidates, task = texts(_some(100_000, share))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with stub_process() as url, tempfile.TemporaryDirectory() as folder:
        count, seconds, _ = rated(judge(url, Path(folder), 64), candidates, task)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"{count:,} ratings in {seconds:.0f} s: {grown:.0f} MB beyond import and texts (< 120)")


def store(share: float) -> None:
    """Processor time a stored row, in groups of 32."""
    with tempfile.TemporaryDirectory() as folder:
        kept, rows = Store(Path(folder) / "replies.sqlite"), []
        for number in range(int(64_000 * share)):
            key = keys("m", "e", Request(f"prompt {number}", Params(0.0, None, 16), (0,), ""))[0]
            rows.append(
                row(
                    key,
                    "openai/gpt-4o-mini",
                    "https://api.openai.com/v1",
                    0,
                    Reply("4", "stop", 900, 1, 1),
                    "run",
                )
            )
        used = time.process_time()
        for first in range(0, len(rows), 32):
            kept.add(rows[first : first + 32])
        used = time.process_time() - used
    print(f"store: {used / len(rows) * 1e6:.1f} microseconds CPU a row (<= 15)")


def faults(share: float) -> None:
    """Every rating answered or failed with its reason, none twice, none lost."""
    with (
        stub_process("--faults", FAULTS, "--retry-after", "0.05") as url,
        tempfile.TemporaryDirectory() as folder,
    ):
        asked = judge(url, Path(folder), 64, timeout=0.5)
        candidates, task = texts(_some(8_000, share))
        ratings = list(checked_ratings(asked, candidates, task))
        counted = stats(url)
    places = {(r.example, r.metric) for r in ratings}
    failed = [r.raw for r in ratings if r.status == "failed"]
    twice = sum(count - 1 for count in counted["paid"].values())
    print(
        f"faults: {len(ratings):,} ratings of {len(places):,} places, {len(failed)} failed ({set(failed)}), "
        f"{asked.cached_model.session_usage.retries:,} retries, {twice} paid twice (0); "
        f"server: {counted['statuses']}"
    )


def kills(share: float, concurrency: int = 16) -> None:
    """A run killed again and again against one that is not."""
    times = max(1, int(20 * share))
    with stub_process("--latency", "0.4") as url, tempfile.TemporaryDirectory() as folder:
        base = [sys.executable, "-m", "dhp.benchmark", "--model", "openai/stub", "--base-url", url]
        base += ["--dataset", "mini/summeval", "--samples", "2", "--concurrency", str(concurrency)]
        whole, broken = Path(folder) / "whole", Path(folder) / "broken"
        subprocess.run(
            [*base, "--out", whole, "--cache", whole.parent / "a"], check=True, capture_output=True
        )
        paid = sum(stats(url)["paid"].values())
        command = [*base, "--out", broken, "--cache", broken.parent / "b"]
        killed = 0
        while killed < times:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(random.uniform(1.2, 2.2))
            if process.poll() is not None:
                break
            process.kill()
            process.wait()
            killed += 1
        subprocess.run(command, check=True, capture_output=True)
        again = sum(stats(url)["paid"].values()) - 2 * paid
        same = [f"{name} {'equal' if _equal(whole / name, broken / name) else 'DIFFERENT'}" for name in FILES]
    print(f"killed {killed} times: {', '.join(same)}; {again} replies paid again (<= {killed * concurrency})")


FILES = ("results.json", "ratings.parquet", "perturbed.jsonl", "manifest.json", "report.html")


def _equal(one: Path, other: Path) -> bool:
    """Byte for byte, timestamps apart."""
    if one.suffix != ".json":
        return one.read_bytes() == other.read_bytes()
    read = [json.loads(path.read_text()) for path in (one, other)]
    return _without_times(read[0]) == _without_times(read[1])


def _without_times(value: object) -> object:
    if isinstance(value, dict):
        return {k: _without_times(v) for k, v in value.items() if k != "created"}
    return [_without_times(v) for v in value] if isinstance(value, list) else value


PARTS = {
    "overhead": overhead,
    "transports": transports,
    "memory": memory,
    "store": store,
    "faults": faults,
    "kills": kills,
}


def main() -> None:
    """Print the figures of some or all parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--share", type=float, default=1.0, help="of the whole size; default: 1")
    given = parser.parse_args()
    for name in given.part or PARTS:
        if name == "memory" and len(given.part) != 1:  # in a process of its own
            subprocess.run([sys.executable, __file__, "memory", "--share", str(given.share)], check=True)
        else:
            PARTS[name](given.share)


if __name__ == "__main__":
    main()
