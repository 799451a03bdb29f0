"""The folder of a run.

1. `check` refuses the folder of another run as early as it can, before texts are degraded.
2. `claim` writes the manifest, which says what the run is, before anything is paid.
3. Texts are written, and ratings are added as they come.
4. The results are written when all ratings are there: a folder with `results.json` holds a finished run.
   Prompts, steps and the page follow.
"""

import datetime as dt
import importlib.metadata
import json
import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from dhp.analysis.results import Results
from dhp.core.checksum import CHECKSUM, of_ratings, sealed
from dhp.core.errors import InputError
from dhp.core.files import indented_json, json_line
from dhp.core.hiding import hidden_value
from dhp.core.records import Example, PerturbedText, Variant
from dhp.core.seeding import text_hash
from dhp.core.signature import protocol_name
from dhp.core.writing import MANIFEST, RUN, OutputFolder, check_folder, check_parent
from dhp.runs.ratings_file import RatingsFile
from dhp.runs.reader import RATINGS, RESULTS

_RUNS = Path("runs")
"""Where runs go if no folder is named."""
_FILES = ("examples.jsonl", "perturbed.jsonl", "prompts.json", "results.json", "report.html")
"""By which a folder is known as that of a run, beside the manifest."""
_LIBRARIES = ("lemminflect", "nltk", "numpy", "pandas", "rapidfuzz", "scipy", "typo", "wordfreq")
"""Whose version may move a text or a figure; the manifest has them."""


@cache
def _versions() -> Mapping[str, str]:
    """Library -> its installed version."""
    return {name: importlib.metadata.version(name) for name in _LIBRARIES}


PerturbedSet = tuple[str, Sequence[Variant], Sequence[PerturbedText]]
"""Name of the data, its variants, and the text of each example in each of them."""


def run_name(identity: Mapping[str, object]) -> str:
    """Name of a run in the store of replies: it keeps its own replies after a restart."""
    return text_hash(json.dumps(identity, sort_keys=True))


def _example_lines(datasets: Mapping[str, Sequence[Example]]) -> Iterator[str]:
    for name, examples in datasets.items():
        for example in examples:
            yield json_line({"dataset": name, **example.to_dict()})


def perturbed_lines(sets: Sequence[PerturbedSet]) -> Iterator[str]:
    """JSONL, one line per dataset, variant and example."""
    for name, variants, texts in sets:
        known = {variant.name: variant for variant in variants}
        for perturbed in texts:
            variant = known[perturbed.variant]
            row = {
                "dataset": name,
                "example": perturbed.example,
                "variant": perturbed.variant,
                "level": variant.level,
                "method": variant.method,
                "degree": variant.degree,
                "status": "ok" if perturbed.text is not None else "not_applicable",
                "reason": perturbed.reason,
                "rejected": list(perturbed.rejected),
                "text": perturbed.text,
                "audit": perturbed.audit and asdict(perturbed.audit),
            }
            yield json_line(row)


class RunFolder:
    """`manifest.json`, `perturbed.jsonl`, `ratings.parquet`, `results.json` and `report.html` of one run.

    A folder belongs to one run, known by its identity (seed, judges, hashes of the texts put before them):
    the same run may write to it again, another one is refused unless the first has not ended. With `own` the
    run gets a separate folder below `path`, named after what was asked. One process at a time writes to a
    folder: as a context manager it gives the folder free.
    """

    def __init__(self, path: Path, is_own: bool = False) -> None:
        self._folder = OutputFolder(path, RUN, _FILES)
        self._own = is_own
        self._created = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        self._identity: Mapping[str, object] = {}
        self._usage: Mapping[str, Mapping[str, int]] = {}
        self._answered_by: Mapping[str, Mapping[str, int]] = {}
        # A folder of its own is made below `path`: there only a file is in the way.
        if not is_own or path.is_file():
            self._folder.check_free()

    @property
    def path(self) -> Path:
        """Where it is."""
        return self._folder.path

    @property
    def is_finished(self) -> bool:
        """Whether a run has written its results here."""
        return (self.path / RESULTS).exists()

    def __enter__(self) -> "RunFolder":
        return self

    def __exit__(self, *error: object) -> None:
        self._folder.__exit__()

    def check(self, known: Mapping[str, object]) -> None:
        """Raise `InputError` if the folder cannot be that of a run with these parts of an identity.

        Also if another process writes to it; from here on this one does.
        """
        if self._own:
            # Its own folder is named after texts that are not there yet: with any name it shows whether a
            # folder can be made there.
            check_parent(self.path / "any", f"`out` {self.path}")
            return
        self._take()
        manifest = self._folder.manifest()
        if not manifest:
            return
        written = self._written(manifest)
        if self.is_finished:
            # Only a finished run is protected, and of the new one only these parts are known so far.
            parts = {name: value for name, value in written.items() if name in known}
            # The room for answers is known once there are texts: `claim` compares it, too.
            self._check_same(_without_max_tokens(parts), _without_max_tokens(hidden_value(known)))

    def claim(self, identity: Mapping[str, object], usage: Mapping[str, Mapping[str, int]]) -> None:
        """Check that the folder is new, empty or that of the same run, and write the manifest.

        `usage` says what the texts of each dataset took of a language model.
        """
        identity = hidden_value(identity)
        if self._own:
            self._folder = OutputFolder(self.path / _folder_name(identity), RUN, _FILES)
            self._own = False
            check_folder(self._folder.path)
        self._take()
        manifest = self._folder.manifest()
        if manifest:
            written, created = self._written(manifest), manifest.get("created")
            if self.is_finished:
                self._check_same(written, identity)
            # As the manifest has it: tuples are lists there.
            is_same = written == json.loads(json.dumps(identity))
            if is_same and isinstance(created, str):
                self._created = created
            if not is_same:
                self._folder.remove("report.html")  # of a run that was stopped
        self._identity, self._usage = identity, usage
        self._folder.write_manifest(self._manifest())

    def note_models(self, answered_by: Mapping[str, Mapping[str, int]]) -> None:
        """Write into the manifest which models the answers name: model asked -> model named -> replies."""
        self._answered_by = answered_by
        self._folder.write_manifest(self._manifest())

    def _take(self) -> None:
        self._folder.take()
        self.ratings.check()

    def _written(self, manifest: Mapping[str, Any]) -> dict[str, object]:
        """The identity of the run that is there."""
        try:
            identity = dict(manifest["identity"])
            _judges(identity)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError(f"`out` {self.path}: its {MANIFEST} is broken; choose another folder") from None
        return identity

    def _check_same(self, existing: Mapping[str, object], identity: Mapping[str, object]) -> None:
        """Raise `InputError` if the run in the folder is another one, with what differs."""
        here = json.loads(json.dumps(identity))  # as the manifest has it: tuples are lists there
        what = _first_difference(existing, here)
        if what is None:
            return
        edited = _edited(existing, here) if what == "models" else None
        if edited:
            raise InputError(
                f"`out` {self.path}: {edited} changed since the run there; give this run another `out` "
                f"or `name`, or remove {self.path}"
            )
        raise InputError(
            f"`out` {self.path}: holds a different run ({_what_differs(what, existing, here)}); "
            "choose another folder"
        )

    @cached_property
    def ratings(self) -> RatingsFile:
        """Takes the ratings of a run that has claimed the folder."""
        return RatingsFile(self._folder.path / RATINGS)

    def write_texts(
        self, datasets: Mapping[str, Sequence[Example]], perturbed: Sequence[PerturbedSet]
    ) -> None:
        """Write the undamaged texts with what the writers were given, and the degraded ones, as JSONL."""
        self._folder.write("examples.jsonl", _example_lines(datasets))
        self._folder.write("perturbed.jsonl", perturbed_lines(perturbed))

    def write_results(self, results: Results) -> None:
        """Write ratings and results; each file appears whole or not at all, the results last."""
        self.ratings.finish()
        ratings = of_ratings(self.path / RATINGS)
        objects = [sealed(result.to_dict(), ratings) for result in results]
        content = objects[0] if len(objects) == 1 else objects
        self._text(RESULTS, indented_json(content))

    def write_report(self, page: str) -> None:
        """Write `report.html`."""
        self._text("report.html", page)

    def write_prompts(self, prompts: Sequence[Mapping[str, str]]) -> None:
        """Write the prompts by which language models were asked, each for one text of the dataset."""
        self._text("prompts.json", indented_json(list(prompts)))

    def write_steps(self, judge: str, steps: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
        """Write the steps that a model wrote, if it did; evaluation steps as `--steps` takes them."""
        import yaml

        if not steps:
            return
        plain: dict[str, dict[str, list[str]]] = {}
        for name, by_metric in steps.items():
            plain[name] = {metric: list(each) for metric, each in by_metric.items()}
        # `openai/gpt-4o dhp@1a2b` becomes `openai_gpt_4o_dhp_1a2b`.
        of_judge = re.sub(r"[^A-Za-z0-9]+", "_", judge).strip("_")
        self._text(
            f"steps-{of_judge}.yaml", yaml.safe_dump(plain, allow_unicode=True, sort_keys=False, width=110)
        )

    def _text(self, name: str, content: str) -> None:
        self._folder.write(name, [content])

    def _manifest(self) -> dict[str, Any]:
        return {
            "created": self._created,
            "python": platform.python_version(),
            "libraries": _versions(),
            "answered_by": {model: dict(names) for model, names in self._answered_by.items()},
            "usage_of_perturb_model": {name: dict(usage) for name, usage in self._usage.items()},
            CHECKSUM: "sha256",
            "identity": dict(self._identity),
        }


def run_folder(out: str | None, name: str | None) -> RunFolder:
    """The folder `out`; else `runs/NAME` of a judge that is named, else one in `runs` named after the run."""
    if out is not None:
        return RunFolder(Path(out))
    # `my prompt/v2` becomes `my-prompt-v2`: no name leads out of `runs`.
    named = re.sub(r"[^A-Za-z0-9_.-]+", "-", name or "").strip("-.")[:80]
    check_folder(_RUNS / named)
    return RunFolder(_RUNS / named) if named else RunFolder(_RUNS, is_own=True)


def _folder_name(identity: Mapping[str, Any]) -> str:
    """After data, judge and prompt, the hash of all that was asked last."""
    datasets = [each["dataset"] for each in identity["datasets"]]
    models, prompts = [], []
    for judge in identity["models"]:
        models.append(judge["model"])
        prompts.append(protocol_name(judge["protocol"]))
    # Each once, in their order.
    models, prompts = list(dict.fromkeys(models)), list(dict.fromkeys(prompts))

    if len(datasets) == 1:
        names = [datasets[0]]
    else:
        names = ["mini" if datasets[0].startswith("mini/") else "several"]
    names.append(models[0] if len(models) == 1 else f"{len(models)} models")
    if prompts != ["none"]:
        names.append(prompts[0] if len(prompts) == 1 else f"{len(prompts)} prompts")
    names.append(text_hash(json.dumps(identity, sort_keys=True))[:8])
    return "-".join(map(_readable, names))


def _readable(name: str) -> str:
    """A part of the name of a folder: `openai/gpt-4o` becomes `openai_gpt_4o`, at most 40 characters."""
    return re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[:40]


_PARTS = {"data": "texts", "perturbed": "damaged texts", "variants": "kinds of damage", "probes": "controls"}
"""Part of the identity of a data set -> what messages call it."""


def _first_difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str | None:
    """The first name with another value, in the order of the new ones; None if all are equal."""
    for name in {**new, **old}:
        if old.get(name) != new.get(name):
            return name
    return None


def _what_differs(what: str, existing: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """The part of two identities that differs; of data sets what differs in the first one that does."""
    if what == "datasets":
        # Not strict: the two runs may have different numbers of data sets.
        for old, new in zip(existing[what], here[what], strict=False):
            part = _first_difference(old, new)
            if part and old["dataset"] == new["dataset"]:
                return f"{_PARTS.get(part, part)} of {new['dataset']} differ"
    return f"{what} differ"


def _edited(existing: Mapping[str, Any], here: Mapping[str, Any]) -> str | None:
    """What was changed of which judge, if the judges are the same by their names."""
    before, after = _judges(existing), _judges(here)
    if len(before) != len(after):
        return None
    for (name, _), (new_name, _) in zip(before, after, strict=True):
        if name != new_name:
            return None

    for ((model, prompt), old), (_, new) in zip(before, after, strict=True):
        judge = model if prompt == "none" else prompt
        # The prompt first, also where a setting differs too: it is what users edit.
        if old.get("prompt_files") != new.get("prompt_files"):
            return f"the prompt of '{judge}'"
        setting = _first_difference(old, new)
        if setting:
            return f"`{setting}` of '{judge}'"
    return None


def _judges(identity: Mapping[str, Any]) -> list[tuple[tuple[str, str], dict[str, Any]]]:
    """The judges of a run: model and name of the prompt, and all else that decides their ratings."""
    judges = []
    for judge in identity.get("models", []):
        # On one level, so that a message can name any single setting.
        settings = {**judge.get("settings", {}), **judge}
        name = settings.pop("model"), protocol_name(settings.pop("protocol"))
        settings.pop("settings", None)
        judges.append((name, settings))
    return judges


def _without_max_tokens(identity: Mapping[str, object]) -> dict[str, Any]:
    """Parts of an identity without the room for answers, which a run may widen, and the name made of it."""
    plain: dict[str, Any] = json.loads(json.dumps(identity))
    for model in plain.get("models", ()):
        model["protocol"] = protocol_name(str(model.get("protocol")))
        model.get("settings", {}).pop("max_tokens", None)
    return plain
