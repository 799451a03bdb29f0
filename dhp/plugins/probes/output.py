"""The outputs of a probe: terminal (`probe_parts`), page (`probes_page`), folder (`write_probes`)."""

from collections.abc import Sequence
from dataclasses import asdict

from dhp.analysis.ratings import without_score
from dhp.core.files import indented_json, json_line
from dhp.core.hiding import hidden_table
from dhp.core.writing import OutputFolder, writing
from dhp.plugins.probes.drawing import probes_charts
from dhp.plugins.probes.lines import Line, lines_of, sentence
from dhp.plugins.probes.probing import Probed
from dhp.plugins.probes.result import ProbeResult
from dhp.report.document import Chart, Column, Heading, Note, Part, Table
from dhp.report.labels import listed
from dhp.report.web import document_page
from dhp.runs.writer import perturbed_lines

FILES = ("examples.jsonl", "perturbed.jsonl", "ratings.parquet", "report.html", "probes.json")
_LEAD = "What moves the scores of a judge beside damage. None of these figures is part of detection or D."
_COLUMNS: tuple[Column[Line], ...] = (
    Column("probe", lambda one: one.probe, names=True, right=False),
    Column("what", lambda one: one.what, right=False),
    Column("figure", lambda one: one.figure, right=False),
    Column("same text again", lambda one: one.noise, right=False),
    Column("n", lambda one: int(one.n), words=lambda one: one.n),
    Column("state", lambda one: one.state, right=False),
)
_ON_PAGE: tuple[Column[Line], ...] = (
    Column("what", lambda one: one.what, names=True, right=False, extra=lambda one: {"small": one.probe}),
    *_COLUMNS[2:],  # all but probe and what, which stand together
    Column("meaning", lambda one: one.meaning, right=False),
)


def probe_parts(results: Sequence[ProbeResult]) -> list[Part]:
    """For each judge and dataset a sentence, a table, and what each of its lines means."""
    parts: list[Part] = []
    for result in results:
        lines = lines_of(result)
        table = Table(
            _title(result),
            _COLUMNS,
            lines,
            style=lambda one: "bold red" if one.speaks_against else "",
        )
        parts += [sentence(result.model, lines), table]
        parts += [f"  {one.probe}, {one.what}: {one.meaning}" for one in lines]
        note = _unscored(result)
        if note:
            parts.append(f"note: {note}")
        parts.append("")
    return parts


def _title(result: ProbeResult) -> str:
    return f"{result.model} on {result.dataset}: {_counted(result)}"


def _counted(result: ProbeResult) -> str:
    return f"{sum(result.ratings.values()):,} ratings of {result.n} examples"


def _unscored(result: ProbeResult) -> str:
    """How many ratings have no score, if any."""
    reasons = [f"{count:,} {reason}" for reason, count in without_score(result.ratings).items()]
    if not reasons:
        return ""
    return f"ratings without a score are left out of every pair: {', '.join(reasons)}"


def probes_page(probed: Probed) -> str:
    """The page of the probes: for each judge and dataset a sentence, pictures and a table."""
    parts: list[Part] = []
    for result in probed.results:
        lines = lines_of(result)
        # What no text allows is a note: its row would hold nothing but dashes.
        asked, left_out = [], []
        for one in lines:
            if one.n == "0":
                left_out.append(f"{one.what} ({one.meaning})")
            else:
                asked.append(one)
        parts += [
            Heading(sentence(result.model, lines)),
            Note(f"{result.dataset}: {_counted(result)}"),
            Chart(probes_charts(result)),
            Table(_title(result), _ON_PAGE, asked, css="results stacked wrapped", titled=False),
        ]
        if left_out:
            parts.append(Note(f"Left out: {listed(left_out)}."))
        note = _unscored(result)
        if note:
            parts.append(Note(note))
    return document_page("Probes", _LEAD, parts)


def write_probes(probed: Probed, folder: OutputFolder) -> None:
    """Write examples, texts, ratings and `report.html`, each whole or not at all, and last `probes.json`."""
    import pyarrow
    from pyarrow.parquet import write_table

    examples = []
    for part in probed.parts:
        for example in part.dataset.examples:
            examples.append(json_line({"dataset": part.dataset.name, **example.to_dict()}))
    folder.write("examples.jsonl", examples)

    sets = []
    for part in probed.parts:
        sets.append((part.dataset.name, part.variants, part.texts))
    folder.write("perturbed.jsonl", perturbed_lines(sets))

    ratings = pyarrow.Table.from_pandas(probed.ratings, preserve_index=False)
    with writing(folder.place("ratings.parquet")) as file:
        write_table(hidden_table(ratings), file)

    folder.write("report.html", [probes_page(probed)])
    # The last file: if it is there, all others are whole.
    content = probed.to_json()
    for written, result in zip(content["results"], probed.results, strict=True):
        written["lines"] = [asdict(line) for line in lines_of(result)]
    folder.write("probes.json", [indented_json(content)])
