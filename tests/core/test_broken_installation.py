"""A package that dhp needs and that is missing is named, with exit code 2."""

import subprocess
import sys
from pathlib import Path

import pytest

from dhp.core.errors import broken_installation

SLOW = ("filelock", "numpy", "pandas", "pyarrow", "scipy", "yaml")


@pytest.mark.parametrize("package", ["click", *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_a_missing_package_is_named(package: str, tmp_path: Path) -> None:
    asked = ["benchmark", "--model", "mock/noisy", "--dataset", "mini/summeval", "--n", "5"]
    hidden = f"import sys; sys.modules['{package}'] = None; from dhp.__main__ import start; "
    code = f"{hidden} start({[*asked, '--out', str(tmp_path / 'out')]})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "Traceback" not in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last == f"dhp: the package '{package}', which dhp needs, is not installed; install dhp again"
    assert done.returncode == 2


def test_an_error_within_dhp_is_none_of_a_package() -> None:
    assert broken_installation(ModuleNotFoundError("x", name="dhp.core.none")) is None
    assert broken_installation(ImportError("x")) is None
    assert broken_installation(ValueError("x")) is None
    broken = broken_installation(ImportError("cannot import name 'a'", name="click"))
    assert (
        broken
        == "the package 'click', which dhp needs, is broken (cannot import name 'a'); install dhp again"
    )
