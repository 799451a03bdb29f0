"""Records that may be more than fit into memory: the same in a file as in a tuple."""

import pickle
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhp.core import spool
from dhp.core.errors import DiskFull, InputError
from dhp.core.records import Example
from dhp.core.spool import Spool, Spooled, spooled

RECORDS = [Example(str(i), f"S{i}", f"Ö{i} 😀", {"k": "v"}) for i in range(600)]


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten records are many."""
    monkeypatch.setattr(spool, "KEPT", 10)
    monkeypatch.setattr(spool, "BLOCK", 4)


def test_few_stay_a_tuple_and_many_go_to_disk() -> None:
    assert spooled(RECORDS[:10]) == tuple(RECORDS[:10])
    assert spooled([]) == ()
    many = spooled(iter(RECORDS))
    assert isinstance(many, Spooled)
    assert spooled(many) is many


@given(st.lists(st.integers(0, 25), max_size=40), st.randoms(use_true_random=False))
def test_groups_come_back_in_any_order(sizes: list[int], rng: object) -> None:
    groups = [RECORDS[start : start + size] for start, size in enumerate(sizes)]
    order = sorted(range(len(groups)), key=lambda _: rng.random())  # type: ignore[attr-defined]
    made: Spool[int, Example] = Spool()
    for number in sorted(order, key=lambda n: -n):
        made.put(number, iter(groups[number]))
    assert sorted(made.groups) == sorted(order)
    found, wanted = made.read(order), [record for number in order for record in groups[number]]
    assert list(found) == wanted
    assert len(found) == len(wanted)
    for place in {0, len(wanted) // 2, len(wanted) - 1, -1} if wanted else ():
        assert found[place] == wanted[place]
    assert list(found[3:17:2]) == wanted[3:17:2]
    assert isinstance(found, tuple) == (sum(sizes) <= 10)


def test_a_sequence_is_read_by_several_at_once_and_says_where_it_ends() -> None:
    many = spooled(RECORDS)
    assert all(one == other == record for one, other, record in zip(many, many, RECORDS, strict=True))
    with pytest.raises(IndexError):
        many[600]
    assert RECORDS[5] in many
    assert pickle.loads(pickle.dumps(many)) == tuple(RECORDS)


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    many = spooled(RECORDS)
    assert len(many) == 600
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(InputError, match=r"missing: cannot be written \(.*\); TMPDIR names another folder"):
        spooled(RECORDS)


@pytest.mark.parametrize("buffering", [0, 1 << 20])
def test_a_full_disk_is_named(buffering: int, monkeypatch: pytest.MonkeyPatch) -> None:
    full = Path("/dev/full")
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: full.open("r+b", buffering=buffering))
    with pytest.raises(DiskFull, match=r"No space left on device.; make room, and the same command goes on"):
        list(spooled(RECORDS))
