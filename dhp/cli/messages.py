"""Messages on standard error; the parameters that the library names in them are shown as options."""

import logging
import re
import sys
from collections.abc import Callable

from dhp.core.text import printable

_PARAMETER = re.compile(r"`([a-z_]+(?:\.[a-z_]+)?(?:=(?:None|False))?)`")
"""How the library names a parameter in a message."""
_OPTIONS = {
    "board": "--to",
    "d_avg": "--min-d-avg",
    "d_min": "--min-d-min",
    "detection": "--min-detection",
    "fields": "--field",
    "judge_settings": "--scale, --threshold, --judge-version and the like",
    "judge_settings.fields": "--map",
    "judge_settings.scale": "--scale",
    "judge_settings.threads": "--judge-threads",
    "judge_settings.threshold": "--threshold",
    "judge_settings.version": "--judge-version",
    "limits.calls": "--max-calls",
    "limits.cost": "--max-cost",
    "limits.tokens": "--max-tokens",
    "max_tokens": "--answer-tokens",
    "metrics": "--metric",
    "perturb_model.max_tokens": "--perturb-tokens",
    "perturb_model.steps": "--perturb-steps",
    "perturbers": "--perturber",
    "prices.completion": "--price-out",
    "prices.prompt": "--price-in",
    "rate_limits.longest_wait": "--longest-wait",
    "runs": "--simulate",
    "send_seed=False": "--no-seed",
    "store=False": "--no-cache",
    "temperature=None": "--temperature default",
    "top_p=None": "--top-p default",
}
"""Parameter -> its option, where that has another name."""


class Messages(logging.Handler):
    """Prints errors, warnings and what the package logs, a line each."""

    def __init__(self, options: Callable[[], frozenset[str]]) -> None:
        """`options` gives those of all commands."""
        super().__init__()
        self._known = options

    def say(self, message: str) -> None:
        """Print a message."""
        shown = _PARAMETER.sub(self._option, message)
        print(f"dhp: {printable(' '.join(shown.split()))}", file=sys.stderr)

    def emit(self, record: logging.LogRecord) -> None:
        """Print what is logged."""
        self.say(record.getMessage())

    def show_warning(self, message: Warning | str, *_: object) -> None:
        """In the place of `warnings.showwarning`."""
        self.say(str(message))

    def _option(self, found: re.Match[str]) -> str:
        """The option of a parameter; what is none stays."""
        option = _OPTIONS.get(found[1], f"--{found[1].replace('_', '-')}")
        return option if re.split("[ ,]", option)[0] in self._known() else found[0]
