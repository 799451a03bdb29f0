"""What is cited for a run or a dataset: facts of the cards, complete entries of BibTeX, no entry twice."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

import dhp
from dhp.analysis.results import Results
from dhp.content.catalog import names_of, read_card, read_protocol
from dhp.plugins.cite.references import _bibtex, cite
from dhp.plugins.cite.works import BENCHMARK, PROTOCOLS, SOFTWARE, Work
from tests.cli.conftest import Run
from tests.report.made import result, row

ROOT = Path(__file__).parents[3]


def entries(bibtex: str) -> dict[str, dict[str, str]]:
    """Key -> field -> value; the braces of every entry are balanced."""
    found: dict[str, dict[str, str]] = {}
    for start in re.finditer(r"^@(\w+)\{([^,\s]+),$", bibtex, re.MULTILINE):
        end = bibtex.index("\n}", start.end())
        inside = bibtex[start.end() : end]
        assert inside.count("{") == inside.count("}")
        assert start[2] not in found, "an entry twice"
        fields = re.findall(r"^  (\w+) = \{(.*)\},$", inside, re.MULTILINE)
        assert len(fields) == len(inside.strip().splitlines())
        found[start[2]] = {"kind": start[1], **dict(fields)}
    return found


def test_every_dataset_is_cited_by_the_facts_of_its_card() -> None:
    for name in names_of("dataset"):
        card = read_card(name)
        (found,) = (e for key, e in entries(cite(name)).items() if key not in (BENCHMARK.key, SOFTWARE.key))
        assert found["year"] in card.citation
        assert found["title"].strip("{}").replace("\\", "") in " ".join(card.citation.split())
        assert all(author in card.citation for author in found["author"].split(" and ") if author != "others")
        assert found["url"] == card.homepage
    assert entries(cite("summeval"))["fabbri2021summeval"]["journal"] == "TACL 9"
    assert entries(cite("rewardbench2"))["malik2025rewardbench"]["kind"] == "misc"
    assert len(entries(cite("wmt22_deen", "wmt22_zhen"))) == 3, "one paper of two sets"


def test_every_published_protocol_has_its_paper() -> None:
    for name in names_of("protocol"):
        asked = result(row("random_typos.minor"), protocol=f"{name}@12345678", dataset="summeval")
        found = entries(cite(Results([asked])))
        published = read_protocol(name).published
        named = [work.key for said, work in PROTOCOLS.items() if said in (published or "")]
        assert bool(named) == bool(published), name
        assert {*named, "fabbri2021summeval", BENCHMARK.key, SOFTWARE.key} == set(found)


def test_a_protocol_is_cited_by_its_name() -> None:
    assert "liu2023geval" in entries(cite("g-eval-prob"))
    with pytest.raises(dhp.InputError, match="did you mean 'g-eval-prob'") as refused:
        cite("g-eval-probs")
    assert "mini/bump" not in str(refused.value), "only what is bundled has this name"


def test_a_run_on_bundled_texts_cites_benchmark_and_program(tmp_path: Path) -> None:
    found = dhp.run("mock/ideal", "mini/summeval", n=5, progress=False)
    assert set(entries(cite(found))) == {BENCHMARK.key, SOFTWARE.key}
    assert entries(cite())["dhp"]["note"] == f"version {dhp.__version__}"


def test_the_benchmark_is_cited_as_in_the_root() -> None:
    told = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["preferred-citation"]
    authors = [f"{each['family-names']}, {each['given-names']}" for each in told["authors"]]
    here = (BENCHMARK.authors, BENCHMARK.title, BENCHMARK.year, BENCHMARK.venue, BENCHMARK.url)
    assert here == (" and ".join(authors), told["title"], told["year"], told["collection-title"], told["url"])


def test_what_bibtex_would_take_for_markup_is_escaped() -> None:
    work = Work("k", "A", "100 % of {this} & that_", 2020, "V")
    assert r"title = {{100 \% of \{this\} \& that\_}}" in _bibtex(replace(work), "why")


def test_an_unknown_name_is_refused_with_the_near_one(dhp: Run) -> None:
    done = dhp("cite", "sumeval")
    assert done.code == 2
    assert "neither the folder of a run, nor a dataset or protocol; did you mean 'summeval'?" in done.err
    assert "@inproceedings{wang2025dhp," in dhp("cite").out
