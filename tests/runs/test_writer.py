"""The folder of a run."""

import json
from pathlib import Path

from dhp.runs.writer import MANIFEST, RunFolder


def test_a_run_that_goes_on_keeps_the_time_at_which_it_was_begun(tmp_path: Path) -> None:
    identity: dict[str, object] = {"seed": 0, "datasets": [], "models": []}
    RunFolder(tmp_path).claim(identity, {})
    path = tmp_path / MANIFEST
    begun = {**json.loads(path.read_text()), "created": "2001-02-03T04:05:06+00:00"}
    path.write_text(json.dumps(begun))
    RunFolder(tmp_path).claim(identity, {})
    assert json.loads(path.read_text())["created"] == begun["created"]
