"""CPU time per conversation and fault: python -P scripts/conversations_speed.py [--n 10000]"""

import argparse
import json
import tempfile
import time
from pathlib import Path

from dhp.content.catalog import content_folder
from dhp.loaders.resolve import resolve_datasets
from dhp.perturb.builder import perturb_datasets

PARSER = argparse.ArgumentParser(description=__doc__)
PARSER.add_argument(
    "--n", type=int, default=10_000, help="Number of conversations, made of the bundled ones."
)


def main() -> None:
    """Read and degrade many conversations, and print the CPU time of one."""
    n = PARSER.parse_args().n
    bundled = [
        json.loads(line)
        for line in (content_folder("datasets") / "mini" / "conversations.jsonl").read_text().splitlines()
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "chats.jsonl"
        with file.open("w") as out:
            for i in range(n):
                out.write(json.dumps({**bundled[i % len(bundled)], "id": str(i)}) + "\n")
        start = time.process_time()
        (dataset,) = resolve_datasets([str(file)])
        read = time.process_time() - start
        start = time.process_time()
        (made,) = perturb_datasets(dataset, controls=False, progress=None)
        degraded = time.process_time() - start
    texts = sum(text.text is not None for text in made.texts)
    print(f"{n:,} conversations read: {1000 * read / n:.3f} ms each")
    print(f"{len(made.variants)} variants, {texts:,} texts: {1000 * degraded / len(made.texts):.3f} ms each")


if __name__ == "__main__":
    main()
