"""`dhp compare` on real run folders."""

import json

from .conftest import Run


def test_tables_and_figures_of_three_judges(dhp: Run) -> None:
    folders = []
    for name, model in (("floor", "baseline/random"), ("good", "mock/ideal"), ("noisy", "mock/noisy")):
        done = dhp("benchmark", "--model", model, "--dataset", "mini/story_cloze", "--out", name)
        assert done.code == 0
        folders.append(name)
    done = dhp("compare", *folders)
    assert done.code == 0, done.err
    ranked = [line.split()[0] for line in done.out.splitlines()[3:6]]
    assert ranked == ["mock/ideal", "mock/noisy", "baseline/random"]
    assert "cannot be told apart" in done.out
    found = json.loads(dhp("compare", *folders, "--json").out)
    assert found[0]["scores"]["d_avg"]["rank"] == [3, 1, 2]
    alone = dhp("compare", folders[0])
    assert alone.code == 2
    assert "has one judge only" in alone.err
    assert len(alone.err.strip().splitlines()) == 1
