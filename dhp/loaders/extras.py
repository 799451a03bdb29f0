"""Whether an optional library is there."""

from importlib.metadata import PackageNotFoundError, version

from dhp.core.errors import InputError


def require(*distributions: str, purpose: str) -> None:
    """Raise `InputError` with the command to type unless all `distributions` are installed.

    Installed packages are asked for, nothing is imported: a folder of the same name in the working
    directory would pass for the library.
    """
    for distribution in distributions:
        try:
            version(distribution)
        except PackageNotFoundError:
            raise InputError(
                f"{purpose} needs the package '{distribution}', which is not installed; "
                f"pip install {' '.join(distributions)}"
            ) from None
