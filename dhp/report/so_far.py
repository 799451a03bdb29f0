"""What a run shows before it ends: its first pairs in the terminal, and a page that is written anew.

Both come at growing distances while a language model is asked. A run that is stopped leaves the page of what
is there, marked as partial.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dhp.analysis.merged_ratings import merged_ratings
from dhp.analysis.ratings import RatingsArray
from dhp.analysis.results import Result, Results
from dhp.content.catalog import variant_name
from dhp.core.diff import diff
from dhp.core.errors import DhpError, StoppedEarly
from dhp.core.records import ORIGINAL, PROBES
from dhp.report.labels import score
from dhp.report.page import html_report
from dhp.runs.rating import Whole
from dhp.runs.reader import Extent, Run
from dhp.runs.writer import RunFolder

if TYPE_CHECKING:
    import pandas as pd

_FIRST_SECONDS = 5.0
"""Seconds before the first page. Chosen, as are the others."""
_MOST_SECONDS = 300.0
"""The most seconds between two pages; each distance is half as long again as the one before."""
_SHARE = 0.05
"""The most of a run's time that its pages may take."""
_PAIRS = 3
"""Pairs that the terminal shows: one of each level of damage, of which there are three."""
_SHOWN = 60
"""Characters of a text in a line."""
_HELD = 100_000
"""The most ratings of finished judges that are held for the texts of the page."""

Analyse = Callable[[RatingsArray], tuple[Result, RatingsArray]]


class SoFar:
    """Watches the ratings of a run, and shows what is there of them."""

    def __init__(
        self, folder: RunFolder, done: Sequence[tuple[Result, RatingsArray]], of_results: int
    ) -> None:
        """`done` is the list of the results that are whole, which grows up to `of_results`."""
        self._folder, self._done, self._of_results = folder, done, of_results
        self._latest: tuple[Whole, Analyse, int] | None = None
        self._frames: list[pd.DataFrame] = []
        self._distance = _FIRST_SECONDS
        self._next = time.monotonic() + self._distance
        self._is_first = True

    @contextmanager
    def stopping(self) -> Iterator[None]:
        """Writes the page of what is there if the run is stopped within it."""
        try:
            yield
        except (KeyboardInterrupt, StoppedEarly):
            if self._write(stopped=True):
                _log().warning("the report of what is there so far, marked as partial: %s", self._page)
            raise

    def watch(self, analyse: Analyse, examples: int) -> Callable[[Whole], None]:
        """What is to be called as the ratings of a result come; `examples` is how many there will be."""

        def look(whole: Whole) -> None:
            self._latest = whole, analyse, examples
            if time.monotonic() >= self._next:
                self._show()

        return look

    def kept(self, frames: "Iterator[pd.DataFrame]") -> "Iterator[pd.DataFrame]":
        """Tables of ratings, held until the run has ended if there are more results to come and not many."""
        for frame in frames:
            # The ratings of the last result are not held, as the run ends with them.
            if len(self._done) + 1 < self._of_results:
                self._frames.append(frame)
                # The oldest go first: of these the explorer of the page then has no scores.
                while sum(map(len, self._frames)) > _HELD:
                    self._frames.pop(0)
            yield frame

    @property
    def _page(self) -> str:
        return str(self._folder.path / "report.html")

    def _show(self) -> None:
        """Write the page, and of the first one say where it is, with a few pairs."""
        began = time.monotonic()
        run = self._write(stopped=False)
        if run and self._is_first:
            for line in first_pairs(run):
                _log().info("%s", line)
            _log().info("the report so far, written anew as the run goes on: %s", self._page)
            self._is_first = False
        now = time.monotonic()
        # A page that takes long to write comes seldom, so that all pages keep to their share of the time.
        self._next = now + max(self._distance, (now - began) / _SHARE)
        self._distance = min(1.5 * self._distance, _MOST_SECONDS)

    def _write(self, *, stopped: bool) -> Run | None:
        """Write the page of what is there; the run so far, None if nothing is or it cannot be written."""
        if self._folder.is_finished:  # a whole report stays
            return None
        try:
            made = self._so_far(stopped=stopped)
            if made is not None:
                self._folder.write_report(html_report(made))
        # The run must not fail because of its page.
        except DhpError:
            return None
        return made

    def _so_far(self, *, stopped: bool) -> Run | None:
        """The run as far as it is there."""
        # Copies, as the result that has not ended is added to them below.
        done, frames = list(self._done), list(self._frames)
        rated, of = 0, 0
        if self._latest is not None and len(done) < self._of_results:
            whole, analyse, of = self._latest
            frame = whole()
            if frame is not None:
                (ratings,) = merged_ratings([frame])
                done.append(analyse(ratings))
                frames.append(frame)
                rated = len(ratings.examples)
        if not done:
            return None
        results = Results([result for result, _ in done], [ratings for _, ratings in done])
        extent = Extent(rated, of, len(done), self._of_results, stopped)
        return Run(self._folder.path, results, str(self._folder.path), extent, frames)


def first_pairs(run: Run) -> list[str]:
    """The first judged pairs of a run in a line each, one of each level of damage, with the scores."""
    ratings = run.rated[-1].ratings
    example = ratings.examples[0]
    rows: dict[str, dict[str, Any]] = {}
    for row in run.pairs():
        is_about = row["example"] == example and row["dataset"] == ratings.dataset
        if is_about and row["text"] is not None and row["level"] not in PROBES:
            rows.setdefault(row["level"], row)
    lines = []
    for row in list(rows.values())[:_PAIRS]:
        before, after = (_score(ratings, text) for text in (ORIGINAL, row["variant"]))
        change = _change(row["before"], row["text"], row["level"])
        lines.append(f"{example}: score {before} -> {after}, {variant_name(row['variant'])}: {change}")
    return lines


def _score(ratings: RatingsArray, text: str) -> str:
    """The mean score of the first example in this text, over the metrics."""
    # The original stands first in the arrays of ratings.
    place = 0 if text == ORIGINAL else 1 + ratings.variants.index(text)
    return score(float(ratings.means[place, :, 0].mean()))


def _change(before: str, after: str, level: str) -> str:
    """The first change in words: what went and what came."""
    gone = come = ""
    for operation, piece in diff(before, after, level):
        if operation == "-":
            gone += piece
        elif operation == "+":
            come += piece
        elif gone or come:  # what follows belongs to the next change
            break
    if gone.strip() and come.strip():
        return f"{_quoted(gone)} became {_quoted(come)}"
    if gone.strip():
        return f"{_quoted(gone)} went"
    if come.strip():
        return f"{_quoted(come)} came"
    return "spaces changed"


def _quoted(text: str) -> str:
    return f'"{_shortened(text)}"'


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN].rstrip()} …"


def _log() -> logging.Logger:
    return logging.getLogger("dhp")
