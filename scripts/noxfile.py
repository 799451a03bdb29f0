"""Tests under several Pythons, with the lowest versions, and the slow ones: nox -f scripts/noxfile.py."""

import nox

nox.options.default_venv_backend = "uv|virtualenv"
nox.options.sessions = ["tests", "lowest", "lint"]
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The tests that run by default; further arguments go to pytest."""
    session.chdir("..")
    session.install("-e", ".[test]")
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session(python=PYTHONS[0], venv_backend="uv")
def lowest(session: nox.Session) -> None:
    """The same with the lowest version of each dependency."""
    session.chdir("..")
    session.install("--resolution", "lowest-direct", "-e", ".[data,test]")
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session(python=PYTHONS[0])
def slow(session: nox.Session) -> None:
    """Simulations, servers and builds."""
    session.chdir("..")
    session.install("-e", ".[dev]")
    session.run("python", "-m", "pytest", "-m", "slow", *session.posargs)


@nox.session(python=PYTHONS[0])
def lint(session: nox.Session) -> None:
    """Style, format, types, content."""
    session.chdir("..")
    session.install("-e", ".[dev]")
    for command in (
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["mypy"],
        ["dhp", "data", "check"],
    ):
        session.run(*command)
