"""Pictures of how sure a judge is and how right, and of what asking a person leaves."""

from typing import TYPE_CHECKING, Any

from dhp.analysis.certainty import Asking, Certainty
from dhp.analysis.results import Result
from dhp.report.asking_table import asking_table
from dhp.report.certainty_words import asking_sentence, certainty_notes, certainty_sentence
from dhp.report.charts import COLOURS, Drawing
from dhp.report.document import Chart, Note, Part

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_LOOKS: tuple[dict[str, Any], ...] = (
    {"color": COLOURS["d"], "marker": "o"},
    {"color": COLOURS["weak"], "linestyle": (0, (3, 3))},
    {"color": COLOURS["ew"], "marker": "s"},
    {"color": COLOURS["no"], "linewidth": 2.0},
)
"""How the lines of `asking_drawing` are drawn, in their order."""


def asking_drawing(asking: Asking, of: str = "") -> Drawing:
    """Damaged texts that still pass by the share of texts that go to a person, and by lot."""
    lines = {
        "nearest to the mark": [row.passing for row in asking.of_all],
        # The gain is how much less passes than if as many texts were drawn at random.
        "at random": [row.passing + row.gain[0] for row in asking.of_all],
        "of passing texts only": [row.passing for row in asking.of_passing],
        "good texts that fail": [row.failing for row in asking.of_all],
    }
    shares = [row.share for row in asking.of_all]

    def draw(page: "Figure") -> None:
        axes = page.subplots()
        for (name, values), look in zip(lines.items(), _LOOKS, strict=True):
            axes.plot(shares, values, label=name, markersize=3.5, **look)
        axes.set_ylim(bottom=0)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda value, _: f"{value:.0%}")
        axes.set_xlabel("texts that go to a person")
        axes.set_title("damaged texts that still pass", fontsize=9.5, color=COLOURS["ink"], loc="left")
        page.legend(loc="outside right center", frameon=False, fontsize=8)

    rows: list[dict[str, object]] = []
    for name, line in lines.items():
        for share, value in zip(shares, line, strict=True):
            rows.append({"asked": share, "of": name, "share": value})
    words = f"What goes wrong by the share of texts that go to a person; {asking_sentence(asking)}."
    return Drawing(f"asking {of}", draw, 7.2, 2.8, words, rows)


def certainty_drawing(certainty: Certainty, of: str = "") -> Drawing:
    """Share of good texts by the probability of passing, with the band of an honest judge."""
    bins = certainty.bins
    likely = [each.likely for each in bins]

    def draw(page: "Figure") -> None:
        axes = page.subplots()
        axes.fill_between(
            likely,
            [each.low for each in bins],
            [each.high for each in bins],
            color=COLOURS["weak"],
            alpha=0.3,
            linewidth=0,
            label="an honest judge",
        )
        axes.plot(likely, [each.good for each in bins], color=COLOURS["d"], marker="o", label="this judge")
        axes.set_xlim(0, 1)
        axes.set_ylim(-0.02, 1.02)
        axes.set_xlabel("probability of passing")
        axes.set_title("good texts, half of all", fontsize=9.5, color=COLOURS["ink"], loc="left")
        page.legend(loc="outside right center", frameon=False, fontsize=8)

    rows: list[dict[str, object]] = []
    for each in bins:
        rows.append(
            {
                "probability": each.likely,
                "good": each.good,
                "honest_low": each.low,
                "honest_high": each.high,
                "texts": each.texts,
            }
        )
    words = f"Share of good texts by the judge's probability of passing; it {certainty_sentence(certainty)}."
    return Drawing(f"certainty {of}", draw, 7.2, 2.8, words, rows)


def certainty_parts(result: Result) -> list[Part]:
    """What a page says of how sure a judge is, below a title of its own."""
    parts: list[Part] = []
    if result.certainty is not None:
        parts.append(_as_sentence(certainty_sentence(result.certainty)))
        if result.certainty.bins:
            parts.append(Chart([certainty_drawing(result.certainty).on_page()]))
    if result.asking is not None:
        parts.append(_as_sentence(asking_sentence(result.asking)))
        parts.append(Chart([asking_drawing(result.asking).on_page()]))
        parts.append(asking_table(result.asking))
        parts.append(
            Note(
                f"A person is taken to be right. Over {result.asking.n} examples, good and damaged texts "
                "half and half; only kinds of damage that change what a text says."
            )
        )
    parts += map(Note, certainty_notes(result))
    return parts


def _as_sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
