"""What LLMBar's recorded ratings say of GPT-4 and ChatGPT: D and effect for each subset.

python scripts/llmbar_ratings.py FOLDER [--protocol Rating], where `answers-*.jsonl` and `pairs.jsonl` lie.
"""

import argparse
from pathlib import Path

import dhp
from dhp.loaders.recorded_scores import read_recorded_scores


def main() -> None:
    """Print one line a model and subset."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--protocol", default="Rating")
    given = parser.parse_args()
    ratings = read_recorded_scores("llmbar", given.folder)
    chosen = ratings[ratings["protocol"] == given.protocol]
    print(f"{'model':10}{'subset':10}{'pairs':>6}{'D':>8}{'effect':>8}  verdict")
    for result in dhp.analyze(chosen):
        for variant in result.variants:
            pairs, d, effect = variant.metrics["rating"].n, variant.d or 0.0, variant.effect or 0.0
            verdict = (
                "notices" if d >= 1 else "prefers the worse text" if effect < -0.3 else "does not notice"
            )
            print(f"{result.model:10}{variant.variant:10}{pairs:6}{d:8.2f}{effect:8.2f}  {verdict}")


if __name__ == "__main__":
    main()
