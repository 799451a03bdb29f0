"""Measure what reusing the shared beginning of prompts gains: one prompt for each variant of a text.

Run it from anywhere: python scripts/prefix_reuse.py
On a GPU: --device cuda --dtype bfloat16 --layers 32 --hidden 4096 --batch-size 13
The model has random weights; plain and reusing runs alternate in one process.
"""

import argparse
import statistics
import time
from collections.abc import Sequence
from random import Random
from typing import Any

from dhp.llm.hf.compute import begin, generate
from dhp.llm.hf.decoding import Decoding

BAR = 4.0


def parse() -> argparse.Namespace:
    """The arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--hidden", type=int, default=512)
    parser.add_argument("--shared", type=int, default=900, help="tokens that all prompts begin with")
    parser.add_argument("--own", type=int, default=100, help="tokens of each prompt alone")
    parser.add_argument("--variants", type=int, default=13)
    parser.add_argument("--batch-size", type=int, default=4, help="prompts computed at once")
    parser.add_argument("--repeats", type=int, default=3)
    return parser.parse_args()


def random_model(args: argparse.Namespace) -> Any:
    """A Llama of the given size with random weights."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=32000,
        hidden_size=args.hidden,
        intermediate_size=args.hidden * 11 // 4,
        num_hidden_layers=args.layers,
        num_attention_heads=args.hidden // 64,
        max_position_embeddings=args.shared + args.own + 1,
    )
    torch.manual_seed(0)
    with torch.device(args.device):
        return LlamaForCausalLM(config).to(getattr(torch, args.dtype)).eval()


def seconds(model: Any, rows: Sequence[Sequence[int]], shared: int, size: int) -> tuple[float, Any]:
    """Wall time and highest log-probabilities after each row; with `shared` 0 each from its start."""
    import torch

    decoding = Decoding(1, sampled=False, temperature=1.0, top_p=1.0, top_k=0, min_p=0.0, top_logprobs=20)
    start = time.perf_counter()
    cache = begin(model, rows[0][:shared]) if shared else None
    found = []
    for first in range(0, len(rows), size):
        batch = rows[first : first + size]
        found += generate(model, batch, decoding, [Random()] * len(batch), set(), cache)
    taken = time.perf_counter() - start
    return taken, torch.tensor([[logprob for _, logprob in row.alternatives[0]] for row in found])


def main() -> None:
    """Measure, print, and exit with 1 below the bar."""
    import torch

    args = parse()
    model = random_model(args)
    generator = torch.Generator().manual_seed(0)

    def tokens(number: int) -> list[int]:
        return torch.randint(32000, (number,), generator=generator).tolist()

    beginning = tokens(args.shared)
    rows = [beginning + tokens(args.own) for _ in range(args.variants)]
    seconds(model, rows[:2], 0, args.batch_size), seconds(model, rows[:2], args.shared, args.batch_size)
    times: dict[str, list[float]] = {"plain": [], "reuse": []}
    difference = 0.0
    for _ in range(args.repeats):
        plain, a = seconds(model, rows, 0, args.batch_size)
        reuse, b = seconds(model, rows, args.shared, args.batch_size)
        times["plain"].append(plain)
        times["reuse"].append(reuse)
        difference = max(difference, (a - b).abs().max().item())
    count = args.variants * (args.shared + args.own)
    medians = {name: statistics.median(found) for name, found in times.items()}
    for name, median in medians.items():
        print(f"{name:6} {median:8.3f} s  {count / median:10,.0f} prompt tokens/s")
    ratio = medians["plain"] / medians["reuse"]
    print(f"ratio  {ratio:8.2f}    largest difference of a log-probability {difference:.1e}")
    if ratio < BAR:
        raise SystemExit(f"below the bar of {BAR:g}")


if __name__ == "__main__":
    main()
