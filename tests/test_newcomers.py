"""Six first contributions, made on one copy: each works with the files that are named and no others, and the
tests of the rooms that they touch, of the architecture and of the documentation still pass."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PARTS = (
    "dhp perturbations expert_weights datasets protocols tests docs scripts README.md LICENSE CITATION.cff "
    "pyproject.toml mkdocs.yml action.yml"
).split()
ALWAYS = "tests/test_architecture.py tests/test_words.py tests/test_documented_fields.py tests/test_docs.py"


@dataclass(frozen=True)
class Change:
    """What a newcomer does, and what must come of it."""

    edits: Mapping[str, Callable[[str], str]]
    """File -> what becomes of its text, which is empty for a new file."""
    shows: str
    """Code that fails unless the change works."""
    tests: str
    """Tests of the rooms that are touched."""


def after(*pairs: str) -> Callable[[str], str]:
    """Puts a text behind another one that is there: behind, new, behind, new, ..."""

    def edited(text: str) -> str:
        for behind, new in zip(pairs[::2], pairs[1::2], strict=True):
            assert behind in text, behind
            text = text.replace(behind, behind + new, 1)
        return text

    return edited


def new_file(content: str) -> Callable[[str], str]:
    """A file that is not there yet."""
    return lambda text: text or content


def rows_like(name: str, new: str) -> Callable[[str], str]:
    """Doubles each row of a name under a new one."""
    return lambda text: re.sub(rf"( *){name}(:.*\n)", rf"\g<0>\g<1>{new}\g<2>", text)


PERTURBER = '''@perturber(name="doubled_vowels", level="character", degrees={"minor": {"k": 5}})
def doubled_vowels(text: str, rng: Random, *, k: int | None = None, share: float | None = None) -> str:
    """Double vowels."""
    places = [place for place, letter in enumerate(text) if letter in "aeiou"]
    most, _ = letters_dose(text, k, share)
    if len(places) < most:
        raise NotApplicable(f"{len(places)} vowels")
    chosen = set(rng.sample(places, most))
    return "".join(letter * (1 + (place in chosen)) for place, letter in enumerate(text))


'''
PROVIDER = '''"""Models that repeat one number."""

from dhp.core.plugins import Plugin

PLUGIN = Plugin("echo", "a model that repeats a number", models={"echo": "dhp.plugins.echo.model:opened"})
'''
MODEL = '''"""A model in this process that answers with its own name."""

from collections.abc import Iterable, Iterator

from dhp.llm.records import Answer, Reply, Request
from dhp.llm.settings import ModelSettings


class EchoModel:
    """Answers every request with the name of the model."""

    def __init__(self, name: str) -> None:
        self.model, self.endpoint = f"echo/{name}", "echo"

    def count_tokens(self, prompt: str) -> int:
        """Tokens of a prompt."""
        return len(prompt.split())

    def misfit(self, request: Request) -> str | None:
        """Every prompt fits."""
        return None

    def answer(self, requests: Iterable[Request]) -> Iterator[Answer]:
        """The name, for each sample."""
        for request in requests:
            text = self.model.partition("/")[2]
            yield request, {sample: Reply(text, "stop", 1, 1, 1) for sample in request.keys}


def opened(name: str, settings: ModelSettings) -> EchoModel:
    """The model of that name."""
    return EchoModel(name)
'''
COLUMN = """    Column(
        "incomplete",
        lambda r: sum(cell.missing for cell in r.metrics.values()),
        _count,
        "pairs of all metrics in which a side has no score",
        details=1,
    ),
"""
WORD = """SPOTLESS = Verdict(
    "spotless",
    about="damage",
    standing="good",
    sign="◉",
    style="green",
    phrase="never overlooks {}",
    explanation="every score fell",
)
"""
RESULTS = """
import contextlib, io, tempfile
from dataclasses import replace
from pathlib import Path
import dhp
from dhp.cli import main
said = "The mill {} was sold to Anna Berg in May. She paid 90 coins for it and left."
texts = [{"id": str(i), "source": f"All about mill {i}.", "output": said.format(i)} for i in range(8)]
how = {"task": "summarization", "metrics": "fluency", "progress": None}
how["settings"] = dhp.ModelSettings(cache=Path(tempfile.mkdtemp()))
def rated(model="mock/ideal", **more):
    return dhp.run(model, texts, **how, **more)
"""
FORM = """protocol: points
description: A score without evaluation steps.
published: >-
  None.
ours: >-
  All of it.
answer: points
steps: none
samples: 1
temperature: null
max_tokens: 64
extraction: parse
"""
ENGLISH = """  points: |-
    Criterion: {{metric}}, in points from {{low}} to {{high}}
    {{definition}}
"""
CHINESE = """  points: |-
    标准：{{metric}}，用分数表示，从 {{low}} 到 {{high}}
    {{definition}}
"""
CHANGES = {
    "a perturber by rule": Change(
        {
            "dhp/perturb/rules/characters.py": after("    return asked, dose\n\n\n", PERTURBER),
            "perturbations/general.yaml": rows_like("random_typos", "doubled_vowels"),
            "perturbations/lists/descriptions.yaml": rows_like("random_typos", "doubled_vowels"),
            "expert_weights/design.yaml": rows_like("random_typos", "doubled_vowels"),
        },
        """
row = rated(controls=False)[0].variants
assert any(r.variant == "doubled_vowels.minor" and r.n == 8 for r in row), row
""",
        "tests/perturb/test_rules.py tests/perturb/test_build.py tests/content",
    ),
    "a provider of models": Change(
        {"dhp/plugins/echo/__init__.py": new_file(PROVIDER), "dhp/plugins/echo/model.py": new_file(MODEL)},
        """
result = rated("echo/4")[0]
assert result.model == "echo/4" and result.ratings["scored"] == result.ratings["asked"], result.ratings
""",
        "tests/plugins/test_plugins.py",
    ),
    "a column of the table of kinds": Change(
        {"dhp/report/columns.py": after('"p-value that some metric fell", details=2),\n', COLUMN)},
        """
results = rated(out="run")
printed = {}
for form in ("--details", "--markdown --details", "--latex --details"):
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        main.main(["report", "run", "--table", *form.split()])
    printed[form] = stream.getvalue()
printed["page"] = Path("run/report.html").read_text()
assert [form for form, text in printed.items() if "incomplete" not in text] == []
""",
        "tests/report/test_columns.py tests/report/test_terminal.py tests/report/test_notebook.py "
        "tests/report/test_page.py tests/cli/test_output.py",
    ),
    "a word of verdicts": Change(
        {"dhp/core/verdicts.py": after('bad in a judge whatever the damage."""\n\n', WORD)},
        """
from dhp.analysis.results import Results
from dhp.core.verdicts import SPOTLESS
result = rated()[0]
rows = (replace(result.variants[0], verdict=SPOTLESS), *result.variants[1:])
results = Results([replace(result, variants=rows)])
assert "never overlooks" in results.sentence, results.sentence
assert "spotless" in repr(results) and "spotless" in results._repr_html_()
assert Results.from_json(results.to_dict(), "x")[0].variants[0].verdict is SPOTLESS
""",
        "tests/report/test_findings.py tests/report/test_terminal.py tests/report/test_page.py "
        "tests/analysis",
    ),
    "a form of answers": Change(
        {
            "dhp/core/answer_forms.py": after(
                '    "da",\n',
                '    "points",\n',
                "FORMS: Mapping[AnswerForm, Form] = {\n",
                '    "points": Form(scale=Scale(min=0, max=100), written_steps=False),\n',
            ),
            "protocols/wording/en.yaml": after(
                "  analyze-rate: *metric_scale\n",
                ENGLISH,
                "answers:\n",
                "  points: |-\n    Give {{metric}} in points, from {{low}} to {{high}}.\n",
            ),
            "protocols/wording/zh.yaml": after(
                "  analyze-rate: *metric_scale\n",
                CHINESE,
                "answers:\n",
                "  points: |-\n    请用分数给出{{metric}}，从 {{low}} 到 {{high}}。\n",
            ),
            "protocols/points.yaml": new_file(FORM),
        },
        """
from dhp.content.catalog import read_task
from dhp.judge.extraction.rating import read_answer
metric = read_task("summarization").metrics[0]
assert read_answer("85", metric, "points").score is not None
there = dhp.ModelSettings(base_url="http://localhost:1/v1")
assert dhp.llm_judge("openai/m", "points", settings=there).protocol.startswith("points@")
""",
        "tests/content tests/judge/test_prompts.py tests/judge/test_labels.py",
    ),
    "a figure of each cell": Change(
        {
            "dhp/analysis/results.py": after(
                '    """The mean drop in standard deviations of the scores; None if no score varies."""\n',
                '    largest_drop: float | None = None\n    """The largest drop; None without a pair."""\n',
            ),
            "dhp/analysis/kinds.py": after(
                "            standardised_drop=finite(drops[v, m]),\n",
                "            largest_drop=float(np.nanmax(differences[:, v, m])) if pairs else None,\n",
            ),
            "dhp/report/columns.py": after(
                '    Column("tied", lambda c: c.tied, percent, "share of the pairs in which it stayed"),\n',
                '    Column("largest drop", lambda c: c.largest_drop, figure, "largest fall of a score"),\n',
            ),
        },
        """
results = rated(out="run")
assert results[0].variants[0].metrics["fluency"].largest_drop >= 0
assert "largest_drop" in results.to_json() and "largest drop" in Path("run/report.html").read_text()
""",
        "tests/analysis/test_analyze.py tests/report/test_columns.py tests/report/test_page.py "
        "tests/test_formats.py",
    ),
}


LABELS = """
from dhp.content.catalog import names_of
from dhp.judge.factory import protocol, request_builder
for name in sorted(names_of("protocol")):
    if name != "points":
        print(request_builder(protocol(name)).label)
"""
"""Code that prints the labels of all protocols, with their hashes."""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with all changes, which touch no line in common."""
    folder = tmp_path_factory.mktemp("newcomers") / "copy"
    folder.mkdir()
    left = shutil.ignore_patterns("__pycache__", "*.pyc")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, folder / part, ignore=left)
        else:
            shutil.copy(ROOT / part, folder)
    for change in CHANGES.values():
        for file, edited in change.edits.items():
            path = folder / file
            path.parent.mkdir(exist_ok=True)
            text = path.read_text("utf-8") if path.exists() else ""
            path.write_text(edited(text), "utf-8")
            assert path.read_text("utf-8") != text, file
    return folder


def python(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A process that works in the copy."""
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)


def said(done: subprocess.CompletedProcess[str]) -> str:
    """The end of what a process printed."""
    return f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_a_first_contribution_needs_its_files_alone(name: str, copy: Path) -> None:
    done = python(copy, "-c", RESULTS + CHANGES[name].shows)
    assert done.returncode == 0, said(done)


@pytest.mark.slow
def test_protocols_keep_their_hashes(copy: Path) -> None:
    changed, before = (python(folder, "-c", LABELS) for folder in (copy, ROOT))
    assert changed.stdout == before.stdout != "", said(changed)


@pytest.mark.slow
def test_all_other_tests_still_pass(copy: Path) -> None:
    rooms = dict.fromkeys(file for change in CHANGES.values() for file in change.tests.split())
    done = python(copy, "-m", "pytest", "-n", "0", "-q", *ALWAYS.split(), *rooms)
    assert done.returncode == 0, said(done)
