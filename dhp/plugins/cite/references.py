"""Which works a run or a dataset rests on, and how BibTeX writes them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from dhp._version import __version__
from dhp.analysis.results import Results
from dhp.content.catalog import DATASETS, mini_names, names_of, read_card, read_protocol
from dhp.core.errors import InputError, suggest
from dhp.core.signature import protocol_name
from dhp.core.specs import Card
from dhp.plugins.cite.works import BENCHMARK, PROTOCOLS, SOFTWARE, Work
from dhp.report.printout import latex_text
from dhp.runs.reader import RESULTS, read_run

_MINI = "mini/"
_JOURNAL = re.compile(r" \d{1,3}$")
"""The volume behind the name of a journal; proceedings end in no number or in a year."""
_CITATION = re.compile(r"(?P<authors>.+?) \((?P<year>\d{4})\)\. (?P<title>.+)\. (?P<venue>[^.]+(?:\.\d+)?)\.")
"""Form of the citation in the card of a dataset: authors (year). Title. Venue."""


def cite(*sources: str | Path | Results) -> str:
    """What to cite, in BibTeX: the benchmark and this program, then protocols and data; as `dhp cite`.

    Parameters
    ----------
    *sources
        Run folders, results of `dhp.run`, names of datasets and protocols; default: the benchmark and the
        program.

    Raises
    ------
    InputError
        If a source is neither a run nor the name of a dataset or protocol, with the near name.
    """
    works = {work: why for source in sources for work, why in _works_of(source)}
    software = replace(SOFTWARE, note=f"version {__version__}")
    purposes = {BENCHMARK: "the benchmark", software: "the program"}
    return "\n\n".join(_bibtex(work, why) for work, why in {**works, **purposes}.items()) + "\n"


def _works_of(source: str | Path | Results) -> Iterator[tuple[Work, str]]:
    if not isinstance(source, Results) and not (Path(source) / RESULTS).is_file():
        sets, protocols = _known_sets(), names_of("protocol")
        if str(source) not in (*sets, *protocols):
            raise InputError(
                f"{source}: is neither the folder of a run, nor a dataset or protocol; "
                f"{suggest(str(source), [*sets, *protocols])}"
            )
        yield from _of_sets([str(source)])
        yield from _of_protocols([str(source)])
        return
    results = source if isinstance(source, Results) else read_run(source).results
    yield from _of_protocols(protocol_name(each.protocol) for each in results if each.asked)
    yield from _of_sets(each.dataset for each in results)


def _of_protocols(names: Iterable[str]) -> Iterator[tuple[Work, str]]:
    """The works of bundled protocols; prompts of a user's own have none."""
    for name in dict.fromkeys(names):
        if name in names_of("protocol"):
            published = read_protocol(name).published or ""
            yield from ((work, f"protocol {name}") for title, work in PROTOCOLS.items() if title in published)


def _known_sets() -> list[str]:
    return [*names_of("dataset"), *(f"{_MINI}{name}" for name in DATASETS), *mini_names()]


def _of_sets(names: Iterable[str]) -> Iterator[tuple[Work, str]]:
    """The works of published datasets; bundled examples and a user's own data have none."""
    for name in dict.fromkeys(names):
        if name in names_of("dataset"):
            yield _work_of(read_card(name)), f"dataset {name}"


def _work_of(card: Card) -> Work:
    match = _CITATION.fullmatch(" ".join(card.citation.split()))
    if match is None:
        return Work(card.dataset, "", card.citation, None, url=card.homepage)
    names = re.split(r", | and ", match["authors"].replace(" et al.", " and others"))
    words = (re.sub(r"\W", "", word).lower() for word in (names[0], match["title"].split()[0]))
    key = match["year"].join(words)
    return Work(
        key, " and ".join(names), match["title"], int(match["year"]), match["venue"], url=card.homepage
    )


def _bibtex(work: Work, why: str) -> str:
    """One entry, under a line that says what it is cited for."""
    kind, place = "inproceedings", "booktitle"
    if _JOURNAL.search(work.venue):
        kind, place = "article", "journal"
    elif not work.venue or work.venue.startswith("arXiv"):
        kind, place = "misc", "howpublished"
    fields: Sequence[tuple[str, str]] = (
        ("author", work.authors),
        ("title", f"{{{latex_text(work.title)}}}"),
        ("year", str(work.year or "")),
        (place, latex_text(work.venue)),
        ("url", work.url),
        ("note", latex_text(work.note)),
    )
    lines = [f"  {name} = {{{value}}}," for name, value in fields if value]
    return "\n".join([f"% {why}", f"@{kind}{{{work.key},", *lines, "}"])
