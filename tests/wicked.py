"""A run whose names, texts and answers are markup, for tests that none of it is run."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import dhp
from dhp.core.records import Candidate, Rating
from dhp.core.specs import Task

EVIL = (
    "</script></title></textarea></style><script>hacked=1</script><img src=x onerror='hacked=2'>"
    "<svg onload=hacked=3></svg><a href='javascript:hacked=4'>go</a>[go](javascript:hacked=5)"
    "{{7*7}}{% set hacked = 6 %}${hacked=7}"
)


class Wicked:
    """Its name and its answers are markup."""

    model, protocol = f"own/{EVIL}", EVIL

    def rate(self, candidates: Sequence[Candidate], task: Task) -> Iterator[Rating]:
        """Score by length."""
        for c in candidates:
            for metric in task.metric_names:
                yield Rating(c.example, c.variant, metric, 0, len(c.text) % 5 + 1, raw=EVIL)


def wicked_run(folder: Path) -> Path:
    """The folder of its run on texts with markup."""
    rows = [
        {"id": f"{i}{EVIL}", "source": EVIL, "output": f"A cat sat down. {EVIL} The dog of Ann ran off {i}."}
        for i in range(6)
    ]
    data = folder / "data.jsonl"
    data.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    dhp.run(Wicked(), str(data), task="summarization", suite="summeval", out=folder / "run")
    return folder / "run"
