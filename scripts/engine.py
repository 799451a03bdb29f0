"""What requests cost us, against a local stub server: time and memory.

    python scripts/engine.py [overhead|client|transports|memory ...] [--share 1.0]

Each part prints its figures beside what must hold. Timings are noisy; shares are of what the server's latency
and the number of calls in flight allow.
"""

import argparse
import asyncio
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

from openai import AsyncOpenAI

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dhp.core.progress import progress_shown
from dhp.core.records import Candidate
from dhp.core.specs import Task
from dhp.judge.factory import protocol, request_builder
from dhp.judge.judges.llm import LlmJudge
from dhp.judge.ratings import checked_ratings
from dhp.llm.cached_model import CachedModel, RequestContext
from dhp.llm.clients.openai_client import OpenAIClient
from dhp.llm.clients.servers import TransportName
from dhp.llm.limits import RateLimits, Usage
from dhp.llm.store import Store
from dhp.perturb.builder import perturb_datasets
from tests.llm.stub import stub_process

SOURCE = "A sentence of an article that goes on for a while and says little. " * 45
RUNS = ((64, 0.0, 12_000, None), (64, 0.2, 8_000, 0.95), (256, 0.2, 28_000, 0.88))
"""Calls in flight, latency in seconds, calls, share of the ideal rate that must be reached."""


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


async def _by_client(url: str, concurrency: int, calls: int) -> float:
    """Seconds of processor time of so many calls by the official client alone."""
    client = AsyncOpenAI(api_key="none", base_url=url, max_retries=8)

    async def ask(numbers: Iterator[int]) -> None:
        for i in numbers:
            prompt = {"role": "user", "content": f"{SOURCE} Summary number {i}."}
            reply = await client.chat.completions.create(model="stub", messages=[prompt], max_tokens=16)
            assert reply.choices[0].message.content

    await ask(iter(range(16)))  # imports
    used, numbers = time.process_time(), iter(range(calls))
    await asyncio.gather(*(ask(numbers) for _ in range(concurrency)))
    used = time.process_time() - used
    await client.close()
    return used


def client(share: float) -> None:
    """Processor time a call of the official client, without parsing or store, and ours with both, in turn."""
    for concurrency in (64, 256):
        ratios = []
        for _ in range(3):
            calls = _some(3_000, share)
            with stub_process() as url:
                theirs = asyncio.run(_by_client(url, concurrency, calls)) / calls
            with stub_process() as url, tempfile.TemporaryDirectory() as folder:
                candidates, task = texts(2 * calls)
                asked = judge(url, Path(folder), concurrency)
                rated(asked, candidates[:16], task)  # imports
                count, _, used = rated(asked, candidates[16:], task)
            ratios.append(theirs / (used / count))
        low, middle, high = sorted(ratios)
        print(f"client / ours, {concurrency} in flight, 0 ms: {middle:.1f} ({low:.1f} to {high:.1f}) (>= 8)")


def transports(share: float) -> None:
    """Processor time a call by both transports, in turn; the fast one must stay three times cheaper."""
    times = max(1, int(5 * share))
    found: dict[str, list[float]] = {name: [] for name in get_args(TransportName)}
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


PARTS = {"overhead": overhead, "client": client, "transports": transports, "memory": memory}


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
