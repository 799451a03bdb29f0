"""Plant faults in the code that computes figures and reads answers, and count those that the tests catch.

    pip install cosmic-ray && python scripts/plant_faults.py --mutants 200

Faults are those of cosmic-ray: another operator, comparison, number or boolean, a loop that does not run.
They are drawn by place, so that a line with many operators counts once. Annotations are left out. Works on a
copy; prints each fault that no test of TESTS noticed, and the share that was noticed.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

ROOT = Path(__file__).resolve().parent.parent
TESTS = {
    "dhp/stats": ["tests/stats", "tests/analysis"],
    "dhp/analysis": ["tests/analysis", "tests/perturb/test_mini_figures.py", "tests/test_calibration.py"],
    "dhp/judge/extraction": ["tests/judge/extraction"],
    "dhp/llm/store.py": ["tests/llm/test_store.py", "tests/test_formats.py"],
}
ARITHMETIC = "Add_Sub Sub_Add Mul_Div Div_Mul FloorDiv_Mul Mod_Mul Pow_Mul BitAnd_BitOr BitOr_BitAnd"
COMPARISONS = "Eq_NotEq NotEq_Eq Lt_LtE LtE_Lt Gt_GtE GtE_Gt Lt_GtE Gt_LtE LtE_Gt GtE_Lt Is_IsNot IsNot_Is"
OTHERS = "AddNot ReplaceTrueWithFalse ReplaceFalseWithTrue ReplaceAndWithOr ReplaceOrWithAnd NumberReplacer"
OTHERS += " ReplaceBreakWithContinue ReplaceContinueWithBreak ExceptionReplacer ZeroIterationForLoop"
UNARY = "USub Not Invert"
OPERATORS = [
    *(f"core/ReplaceBinaryOperator_{name}" for name in ARITHMETIC.split()),
    *(f"core/ReplaceComparisonOperator_{name}" for name in COMPARISONS.split()),
    *(f"core/ReplaceUnaryOperator_Delete_{name}" for name in UNARY.split()),
    *(f"core/{name}" for name in OTHERS.split()),
]
Position = tuple[int, int]


@dataclass(frozen=True)
class Fault:
    """One change of one file."""

    file: str
    line: int
    operator: str
    occurrence: int

    def planted(self, source: str) -> str:
        """The source with the fault."""
        changed = mutate_code(source, get_operator(self.operator)(), self.occurrence)
        assert changed is not None
        return str(changed)


def annotations(source: str) -> list[tuple[Position, Position]]:
    """From where to where the annotations go."""
    found = []
    for node in ast.walk(ast.parse(source)):
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if isinstance(part, ast.expr):
                end = (part.end_lineno or 0, part.end_col_offset or 0)
                found.append(((part.lineno, part.col_offset), end))
    return found


def faults(file: Path) -> Iterator[tuple[Position, Fault]]:
    """Every fault of a file, with its place."""
    source = file.read_text(encoding="utf-8")
    outside = annotations(source)
    nodes = list(ast_nodes(get_ast(source)))
    for name in OPERATORS:
        operator = get_operator(name)()
        places = (start for node in nodes for start, _ in operator.mutation_positions(node))
        for occurrence, place in enumerate(places):
            if not any(start <= place < end for start, end in outside):
                yield place, Fault(str(file.relative_to(ROOT)), place[0], name, occurrence)


def drawn(count: int, seed: int) -> list[Fault]:
    """Faults at `count` places, one of those that a place allows."""
    by_place: dict[tuple[Path, Position], list[Fault]] = {}
    for target in TESTS:
        path = ROOT / target
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            for place, fault in faults(file):
                by_place.setdefault((file, place), []).append(fault)
    rng = random.Random(seed)
    print(
        f"{len(by_place):,} places, {sum(map(len, by_place.values())):,} faults; drawn: {count}, seed {seed}"
    )
    return [rng.choice(by_place[at]) for at in rng.sample(sorted(by_place), min(count, len(by_place)))]


def noticed(copy: Path, tests: Sequence[str], seconds: float) -> bool:
    """Whether a test fails, or does not end in time."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n0", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        return (
            subprocess.run(
                command, cwd=copy, env=environment, capture_output=True, timeout=seconds
            ).returncode
            != 0
        )
    except subprocess.TimeoutExpired:
        return True


def tests_for(file: str) -> list[str]:
    """The tests of the file's folder, those of its own name first."""
    tests = next(tests for target, tests in TESTS.items() if file.startswith(target))
    own = f"{tests[0]}/test_{Path(file).stem}.py"
    return [own, *tests] if (ROOT / own).exists() else tests


def main() -> None:
    """Print what was not noticed, and the share that was."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=600, help="seconds for the tests of one fault")
    options = parser.parse_args()
    chosen = drawn(options.mutants, options.seed)
    caught = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        left = shutil.ignore_patterns(".git", ".venv", ".mypy_cache", "__pycache__")
        shutil.copytree(ROOT, copy, ignore=left)
        for number, fault in enumerate(chosen, 1):
            file, start = copy / fault.file, time.monotonic()
            source = file.read_text(encoding="utf-8")
            changed = fault.planted(source)
            file.write_text(changed, encoding="utf-8")
            found = noticed(copy, tests_for(fault.file), options.timeout)
            file.write_text(source, encoding="utf-8")
            caught += found
            says = f"{'noticed' if found else 'MISSED '} {time.monotonic() - start:4.0f} s"
            print(f"{number:4} {says}  {fault.file}:{fault.line}  {fault.operator}", flush=True)
            if not found:
                pairs = zip(source.splitlines(), changed.splitlines(), strict=False)
                print(
                    *(f"     - {a.strip()}\n     + {b.strip()}" for a, b in pairs if a != b),
                    sep="\n",
                    flush=True,
                )
    print(f"noticed: {caught} of {len(chosen)}, {caught / len(chosen):.1%}")


if __name__ == "__main__":
    main()
