"""Run the judges of a list, each as far as it can be reached, and put all results on one leaderboard.

python scripts/paper_judges.py OUT [--list FILE] [--dataset NAME ...] [--base-url URL | --in-process]
    [--only TEXT] [--n N] [--steps FILE] [--prompt-file FILE ...]
    [--perturb-model MODEL | --perturbed SET]

The list is scripts/paper_judges.yaml. Models of OpenAI are asked where OPENAI_API_KEY is set. Others are
asked of the server at URL, as far as it serves them (start one after the other and repeat the command), or
loaded with --in-process, spread over all GPUs. A judge whose run is in OUT is not asked again; what was not
reached is said with the way to serve it. OUT/site is the leaderboard, D_avg and D_min in front; its pages
show D by kind of damage, and detection by size within a family. Settings are the paper's, as by
`dhp benchmark --preset paper`: judges write their own evaluation steps, unless --steps names a file of them.
Half of the damage is made by a language model: by --perturb-model, or it is read from --perturbed.
"""

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import yaml

import dhp

LIST = Path(__file__).with_name("paper_judges.yaml")


@dataclass(frozen=True)
class ListedJudge:
    """An entry of the list."""

    name: str
    family: str
    context: int | None = None
    serve: str | None = None
    note: str | None = None

    def model(self, served: Sequence[str], *, in_process: bool) -> str | None:
        """What `dhp.run` calls it where it can be reached; None where it cannot."""
        if self.name.startswith("openai/"):
            return self.name if os.environ.get("OPENAI_API_KEY") else None
        if self.name.startswith(("mock/", "baseline/")):
            return self.name
        if in_process:
            return f"hf/{self.name}"
        return f"openai/{self.name}" if self.name in served else None


def read_list(path: Path) -> list[ListedJudge]:
    return [ListedJudge(**entry) for entry in yaml.safe_load(path.read_text(encoding="utf-8"))["judges"]]


def served_models(base_url: str | None) -> list[str]:
    """The names of the models behind a server."""
    if base_url is None:
        return []
    try:
        with urlopen(f"{base_url.rstrip('/')}/models", timeout=10) as reply:
            return [model["id"] for model in json.load(reply)["data"]]
    except (URLError, OSError, ValueError, KeyError) as e:
        sys.exit(
            f"--base-url {base_url}: does not list its models ({e}); must be a server's address up to /v1"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--list", type=Path, default=LIST, metavar="FILE")
    parser.add_argument("--dataset", action="append", metavar="NAME", help="default: all that are prepared")
    parser.add_argument("--base-url", metavar="URL")
    parser.add_argument("--in-process", action="store_true")
    parser.add_argument("--only", default="", metavar="TEXT", help="judges with this in their names")
    parser.add_argument("--n", type=int, metavar="N")
    parser.add_argument("--steps", metavar="FILE")
    parser.add_argument("--prompt-file", action="append", default=[], metavar="[METRIC=]FILE")
    parser.add_argument("--perturb-model", metavar="MODEL")
    parser.add_argument("--perturbed", metavar="SET")
    chosen = parser.parse_args(arguments)
    served = served_models(chosen.base_url)
    for judge in read_list(chosen.list):
        if chosen.only.lower() not in judge.name.lower():
            continue
        folder = chosen.out / re.sub(r"[^A-Za-z0-9.]+", "-", judge.name)
        model = judge.model(served, in_process=chosen.in_process)
        if (folder / "results.json").is_file():
            print(f"{judge.name}: is in {folder}")
        elif model is None:
            how = judge.serve or "set OPENAI_API_KEY"
            print(f"{judge.name}: not reached; {how}" + (f" ({judge.note})" if judge.note else ""))
        else:
            print(f"{judge.name}: running")
            own_server = chosen.base_url if judge.name in served else None
            settings = dhp.ModelSettings(base_url=own_server, device="all" if chosen.in_process else "auto")
            try:
                dhp.run(
                    model,
                    chosen.dataset or ["all"],
                    preset="paper",
                    protocol=dhp.protocol("dhp", **({} if chosen.steps is None else {"steps": chosen.steps})),
                    prompt=tuple(chosen.prompt_file),
                    perturb_model=chosen.perturb_model,
                    perturbed=chosen.perturbed,
                    n=chosen.n,
                    settings=settings,
                    out=folder,
                )
            except dhp.DhpError as e:
                print(f"{judge.name}: {e}")
    runs = sorted(path.parent for path in chosen.out.glob("*/results.json"))
    if runs:
        print(f"written to {dhp.leaderboard(runs, out=chosen.out / 'site')}")


if __name__ == "__main__":
    main()
