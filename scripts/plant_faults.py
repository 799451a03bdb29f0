"""Plant faults in the code that computes figures and reads answers, and count those that the tests catch.

    pip install cosmic-ray coverage && python -P scripts/plant_faults.py --mutants 200

(`-P`, so that coverage is the package and not scripts/coverage.py.)

Faults are those of cosmic-ray: another operator, comparison, number or boolean, a loop that does not run.
They are drawn by place, so that a line with many operators counts once. Annotations and docstrings are left
out. All tests of TESTS run once to record which of them execute which line. For each fault run those that
execute its statement, the quickest first; for a statement outside functions, or one that no test executes,
all tests of its folder; of many, those that end within CPU_SECONDS. Works on copies; prints each fault that
no test noticed, and the share that was. Slow tests are left out; hypothesis draws the same examples.
"""

import argparse
import ast
import functools
import os
import queue
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from coverage import Coverage

ROOT = Path(__file__).resolve().parent.parent
TESTS = {
    "dhp/stats": ["tests/stats", "tests/analysis"],
    "dhp/analysis": ["tests/analysis", "tests/perturb/test_mini_figures.py", "tests/test_calibration.py"],
    "dhp/judge/extraction": ["tests/judge/extraction"],
    "dhp/llm/store.py": ["tests/llm/test_store.py", "tests/test_formats.py"],
}
PYTEST = ["-x", "-q", "-o", "addopts=", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist"]
PYTEST += ["--hypothesis-profile=ci"]
CPU_SECONDS = 30.0  # as recorded, of the tests of one fault: the quickest run, those beyond are left out
SECONDS = 200  # of CPU, after which a fault hangs; ten times as many of the clock
CONTEXT = get_context("forkserver")
CONTEXT.set_forkserver_preload(["__main__", "hypothesis.strategies", "pandas", "scipy.stats"])
"""A process for each fault, forked from one that has imported what is slow to import and bears no fault."""
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


def left_out(source: str) -> list[tuple[Position, Position]]:
    """From where to where annotations and docstrings go."""
    found = []
    for node in ast.walk(ast.parse(source)):
        text = node.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) else None
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None), text):
            if isinstance(part, ast.expr):
                end = (part.end_lineno or 0, part.end_col_offset or 0)
                found.append(((part.lineno, part.col_offset), end))
    return found


def faults(file: Path) -> Iterator[tuple[Position, Fault]]:
    """Every fault of a file, with its place."""
    source = file.read_text(encoding="utf-8")
    outside = left_out(source)
    nodes = list(ast_nodes(get_ast(source)))
    for name in OPERATORS:
        operator = get_operator(name)()
        places = (start for node in nodes for start, _ in operator.mutation_positions(node))
        for occurrence, place in enumerate(places):
            if not any(start <= place < end for start, end in outside):
                yield place, Fault(str(file.relative_to(ROOT)), place[0], name, occurrence)


def drawn(count: int, seed: int, targets: Sequence[str]) -> list[Fault]:
    """Faults at `count` places of the targets, one of those that a place allows."""
    by_place: dict[tuple[Path, Position], list[Fault]] = {}
    for target in targets:
        path = ROOT / target
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            for place, fault in faults(file):
                by_place.setdefault((file, place), []).append(fault)
    rng = random.Random(seed)
    print(
        f"{len(by_place):,} places, {sum(map(len, by_place.values())):,} faults; drawn: {count}, seed {seed}"
    )
    return [rng.choice(by_place[at]) for at in rng.sample(sorted(by_place), min(count, len(by_place)))]


@dataclass(eq=False)  # plugins must have a hash
class Recorder:
    """A plugin of pytest that switches contexts and takes the CPU seconds of tests and their fixtures."""

    coverage: Coverage
    seconds: dict[str, float] = field(default_factory=dict)
    fixtures: dict[str, float] = field(default_factory=dict)
    start: float = 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """What fixtures execute may serve all tests of the file; no test finds values kept by another."""
        self.start = time.process_time()
        for name, module in list(sys.modules.items()):
            if name.startswith("dhp."):
                for value in vars(module).values():
                    if isinstance(value, functools._lru_cache_wrapper):
                        value.cache_clear()
        self.coverage.switch_context(item.nodeid.split("::")[0])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        """From here on the lines are those of the test."""
        file, now = item.nodeid.split("::")[0], time.process_time()
        self.fixtures[file] = max(self.fixtures.get(file, 0.0), now - self.start)
        self.start = now
        self.coverage.switch_context(item.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """What happens between tests belongs to none."""
        self.coverage.switch_context("")
        self.seconds[item.nodeid] = time.process_time() - self.start


@dataclass(frozen=True)
class Record:
    """What is known of the tests."""

    seconds: dict[str, float]
    """CPU time of each test."""
    fixtures: dict[str, float]
    """By file of tests: of the dearest fixtures, which tests of the file may share."""
    lines: dict[str, dict[int, list[str]]]
    """By file and line the tests, or files of tests, that execute it."""

    def cost(self, test: str) -> float:
        """Of a test that runs alone."""
        return self.seconds[test] + self.fixtures.get(test.split("::")[0], 0.0)


def recorded(copy: Path, targets: Sequence[str]) -> Record:
    """Run all tests of the targets in this process, in the copy, and record what executes what."""
    os.chdir(copy)
    sys.path.insert(0, str(copy))
    sys.dont_write_bytecode = False
    coverage = Coverage(data_file=None, include=[str(copy / "dhp" / "*")], config_file=False)
    coverage.set_option("run:core", "ctrace")  # other cores know no contexts
    recorder = Recorder(coverage)
    coverage.start()
    code = pytest.main([*PYTEST, *sorted({test for of in targets for test in TESTS[of]})], [recorder])
    coverage.stop()
    if code:
        raise RuntimeError("a test fails without a fault")
    data = coverage.get_data()
    files = {file: data.contexts_by_lineno(file) for file in data.measured_files()}
    by_line = {str(Path(file).relative_to(copy)): lines for file, lines in files.items()}
    return Record(recorder.seconds, recorder.fixtures, by_line)


def statement(source: str, line: int) -> tuple[set[int], bool]:
    """The lines of the statement at a line (the head of an `if` or `for`), and whether in a function."""
    lines, inside = {line}, False
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
            body = getattr(node, "body", None)
            lines = {line, *range(node.lineno, body[0].lineno if body else (node.end_lineno or 0) + 1)}
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and line >= node.body[0].lineno:
                inside = True
    return lines, inside


def tests_for(fault: Fault, source: str, record: Record) -> list[str]:
    """Those that execute the statement, quickest first; outside functions, or if none does, the folder's."""
    by_line = record.lines.get(fault.file, {})
    lines, inside = statement(source, fault.line)

    def are_at(test: str, names: set[str]) -> bool:
        return test in names or test.split("::")[0] in names

    quickest = sorted(record.seconds, key=record.cost)
    here = {name for line in lines for name in by_line.get(line, []) if name}
    if inside and here:
        return [test for test in quickest if are_at(test, here)]
    folders = next(tests for target, tests in TESTS.items() if fault.file.startswith(target))
    of_file = {name for names in by_line.values() for name in names}
    return sorted(
        (test for test in quickest if test.startswith(tuple(folders))),
        key=lambda test: not are_at(test, of_file),
    )


def within(tests: Sequence[str], record: Record) -> list[str]:
    """The first tests, which together take at most CPU_SECONDS; fixtures count once for each file."""
    files, total, chosen = set[str](), 0.0, []
    for test in tests:
        file = test.split("::")[0]
        total += record.seconds[test] if file in files else record.cost(test)
        if total > CPU_SECONDS:
            break
        files.add(file)
        chosen.append(test)
    return chosen


def run_tests(copy: Path, tests: Sequence[str]) -> None:
    """Run tests in this process, in the copy, and end with the exit code of pytest."""
    os.chdir(copy)
    sys.path.insert(0, str(copy))
    os.environ["PYTHONPATH"] = str(copy)
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    listed = copy / "tests.txt"
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        listed.write_text("\n".join(tests), encoding="utf-8")
        code = pytest.main([*PYTEST, f"@{listed}"])
    os._exit(code)


def noticed(copy: Path, tests: Sequence[str]) -> bool:
    """Whether a test fails, or does not end in time."""
    code = 0
    files = list(dict.fromkeys(test.split("::")[0] for test in tests))
    for names in (tests, files):
        process = CONTEXT.Process(target=run_tests, args=(copy, names))
        process.start()
        process.join(10 * SECONDS)
        if process.is_alive():
            process.kill()
            return True
        code = process.exitcode or 0
        if code != pytest.ExitCode.USAGE_ERROR:  # a fault may change the names of cases
            break
    return code != 0


def tried(fault: Fault, copies: "queue.Queue[Path]", record: Record) -> tuple[bool, str]:
    """Whether the fault is noticed, and what to print."""
    copy, start = copies.get(), time.monotonic()
    file = copy / fault.file
    source, as_before = file.read_text(encoding="utf-8"), file.stat()
    changed = fault.planted(source)
    every = tests_for(fault, source, record)
    tests = within(every, record)
    file.write_text(changed, encoding="utf-8")
    found = noticed(copy, tests)
    file.write_text(source, encoding="utf-8")
    os.utime(file, ns=(as_before.st_atime_ns, as_before.st_mtime_ns))  # its bytecode counts again
    copies.put(copy)
    says = f"{'noticed' if found else 'MISSED '} {time.monotonic() - start:4.0f} s"
    says += f" {len(tests):4} of {len(every):4} tests  {fault.file}:{fault.line}  {fault.operator}"
    if not found:
        pairs = zip(source.splitlines(), changed.splitlines(), strict=False)
        says += "".join(f"\n     - {a.strip()}\n     + {b.strip()}" for a, b in pairs if a != b)
    return found, says


def main() -> None:
    """Print what was not noticed, and the share that was."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", choices=TESTS, help="faults of this part alone")
    options = parser.parse_args()
    targets = [options.only] if options.only else list(TESTS)
    chosen = drawn(options.mutants, options.seed, targets)
    caught = 0
    copies: queue.Queue[Path] = queue.Queue()
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder) / "0"
        left = shutil.ignore_patterns(".git", ".venv", ".mypy_cache", ".hypothesis", "__pycache__")
        shutil.copytree(ROOT, first, ignore=left)
        with ProcessPoolExecutor(1, CONTEXT) as process:
            record = process.submit(recorded, first, targets).result()
        copies.put(first)
        for number in range(1, options.processes):  # with the bytecode of the tests and the package
            copies.put(shutil.copytree(first, Path(folder) / str(number)))
        print(f"{len(record.seconds):,} tests, {sum(record.seconds.values()):.0f} CPU seconds", flush=True)
        with ThreadPoolExecutor(options.processes) as pool:
            results = pool.map(lambda fault: tried(fault, copies, record), chosen)
            for number, (found, says) in enumerate(results, 1):
                caught += found
                print(f"{number:4} {says}", flush=True)
    print(f"noticed: {caught} of {len(chosen)}, {caught / len(chosen):.1%}")


if __name__ == "__main__":
    main()
