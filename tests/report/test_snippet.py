"""The one-line form of a change."""

from hypothesis import given
from hypothesis import strategies as st

from dhp.core.diff import Operation, diff
from dhp.report.snippet import snippet

PIECES = st.lists(st.tuples(st.sampled_from(["=", "-", "+"]), st.text(min_size=1, max_size=400)), max_size=8)


def test_the_first_change_shows_between_what_stands_around_it() -> None:
    before = f"{'The weather was mild. ' * 9}Anna met Paul at noon. {'They walked on. ' * 9}"
    found = snippet(diff(before, before.replace("Paul", "Peter"), "word"))
    assert [operation for operation, _ in found] == ["=", "-", "+", "="]
    assert found[0][1].startswith("… ")
    assert found[0][1].endswith("Anna met ")
    assert [text for _, text in found[1:3]] == ["Paul", "Peter"]
    assert found[3][1].startswith(" at noon. They")
    assert found[3][1].endswith(" …")


@given(PIECES)
def test_any_change_gives_one_short_line_that_begins_at_the_first_change(
    pieces: list[tuple[Operation, str]],
) -> None:
    found = snippet(pieces)
    assert sum(len(text) for _, text in found) <= 300
    assert not any(set(text) & set("\n\r\t\v\f") for _, text in found)
    changed = [operation for operation, _ in pieces if operation != "="]
    shown = [operation for operation, _ in found if operation != "="]
    assert shown[:1] == changed[:1]
    assert bool(found) == bool(changed)
