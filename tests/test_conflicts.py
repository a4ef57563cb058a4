"""What the table in docs/merges.md counts: two branches that each add one thing, merged by plain git."""

from tests.stress.conflicts import conflicts, lesson, memory, run, word


def test_two_lines_conflict_where_no_line_stands_between_them() -> None:
    """Alone in a zone always; among four neighbours in about a third of the cases (2 / (4 + 2))."""
    assert conflicts(memory, word, 0, 5) == 5
    assert 1 <= conflicts(memory, word, 4, 30) <= 20


def test_two_events_of_one_list_conflict_in_the_same_way() -> None:
    assert conflicts(lesson, run, 0, 5) == 5
    assert 1 <= conflicts(lesson, run, 4, 30) <= 20
