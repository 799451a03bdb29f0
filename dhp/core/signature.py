"""What a result depends on."""

import re
from collections.abc import Collection
from dataclasses import dataclass, fields

from dhp._version import __version__
from dhp.core.errors import InputError

MUST_AGREE = ("dataset", "n", "suite", "method", "metrics", "weights", "statistics", "protocol")
"""The parts in which results must agree if a comparison of their figures is to mean something."""
PAIRWISE = "pairwise:"
"""Beginning of the name of a protocol under which texts are compared with their originals."""


def protocol_name(protocol: str) -> str:
    """The name of a protocol, or of a prompt, without the hash of its settings."""
    return protocol.partition("@")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What a result depends on, part by part; `str()` prints it, `parse` reads it.

    Parts that hold content end in `@` and a hash of that content.
    """

    dataset: str
    """`<name>@<hash>`; the hash is that of the texts, or that of the ratings if only these are known."""
    n: str
    """The number of examples."""
    suite: str
    """`<name>@<hash>`, or only the name if the texts are not known."""
    method: str
    """Way the texts were made, as named by `methods`."""
    metrics: str
    """Number and hash of the metrics, `<number>@<hash>`."""
    weights: str
    """Name, version and hash of the expert weights, `<name>.v<version>@<hash>`."""
    statistics: str
    """`<preset>+<combination>`."""
    protocol: str
    """`<name>@<hash>`, or `none` or `unknown`."""
    seed: str | None = None
    """Seed of the run; None if only ratings are known."""
    dhp: str = __version__
    """The version of this package."""

    def __str__(self) -> str:
        """The parts in one line, in the order of the fields."""
        parts = [f"{name}:{value}" for name, value in self.parts.items()]
        return "|".join(parts)

    @classmethod
    def parse(cls, line: str) -> "Signature":
        """The signature that prints as `line`; raises `InputError` if it lacks a part or has one twice."""
        parts: dict[str, str] = {}
        for part in _SEPARATOR.split(line):
            name, _, value = part.partition(":")
            if name in parts:
                raise InputError(f"signature: part '{name}' is given twice")
            if name not in _NAMES:
                raise InputError(f"signature: part '{name}' is unknown; allowed: {', '.join(_NAMES)}")
            parts[name] = value
        # The seed may be absent: an analysis of ratings alone has none.
        lacking = [name for name in _NAMES if name not in parts and name != "seed"]
        if lacking:
            raise InputError(f"signature lacks '{lacking[0]}'; allowed: {', '.join(_NAMES)}")
        return cls(**parts)

    @property
    def parts(self) -> dict[str, str]:
        """Name -> text of each part that is there, in order."""
        values = {name: getattr(self, name) for name in _NAMES}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def names(self) -> dict[str, str]:
        """`dataset`, `n`, `suite`, `weights`, `statistics` and `protocol` as results state them: no hashes.

        The number of examples is the most that a variant could get.
        """
        return {
            "dataset": self.dataset.rpartition("@")[0],
            # `<=24` is 24: the most that a variant could get.
            "n": self.n.partition("@")[0].removeprefix("<="),
            "suite": self.suite.partition("@")[0],
            "weights": self.weights.rpartition("@")[0].rpartition(".v")[0],
            "statistics": "+".join(self.statistics.split("+")[:2]),
            "protocol": self.protocol,
        }

    def comparable(self, but: Collection[str] = ()) -> dict[str, str]:
        """Name -> text of the parts of `MUST_AGREE`, but for those named."""
        return {name: getattr(self, name) for name in MUST_AGREE if name not in but}

    def differences(self, other: "Signature", but: Collection[str] = ()) -> dict[str, tuple[str, str]]:
        """Name -> own text and that of the other, for the `comparable` parts that differ."""
        differing = {}
        theirs = other.comparable(but)
        for name, ours in self.comparable(but).items():
            if ours != theirs[name]:
                differing[name] = (ours, theirs[name])
        return differing


_NAMES = tuple(field.name for field in fields(Signature))


# A bar before the name of a part: that of `...|n:24`, and none within the name of a file.
_SEPARATOR = re.compile(rf"\|(?=(?:{'|'.join(_NAMES)}):)")
