"""Three-way merges: what both sides meant, by field and by entry; nothing that one side added is lost."""

from __future__ import annotations

import contextlib
import time
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop_md.merging import UnreadableSideError, merge
from tests.scenarios import SCENARIOS, Result, Scenario, lesson, memory
from tests.stress.merges import KINDS, PATHS, broken, triple


def merged(kind: str, base: str, ours: str, theirs: str) -> str:
    """The clean merge of three texts."""
    done = merge(kind, PATHS[kind], base.encode(), ours.encode(), theirs.encode())
    assert done.clean, done.content
    assert done.content is not None
    return done.content.decode()


def after(scenario: Scenario, *, swapped: bool = False) -> Result:
    """Every file of a scenario merged by itself, as git does."""
    sides = [scenario.ours, scenario.theirs][:: -1 if swapped else 1]
    clean, files = True, {}
    for path in {*scenario.base, *scenario.ours, *scenario.theirs}:
        base = scenario.base.get(path)
        texts = [base, *(side.get(path, base) for side in sides)]
        data = [None if text is None else text.encode() for text in texts]
        done = merge("index" if path == "MEMORY.md" else "lesson", path, *data)
        clean = clean and done.clean
        if done.content is not None:
            files[path] = done.content
    return Result(clean, files)


@pytest.mark.parametrize("swapped", [False, True], ids=["ours", "theirs"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_two_branches_give_what_both_meant(scenario: Scenario, swapped: bool) -> None:
    """Design §6: whichever side is ours."""
    result = after(scenario, swapped=swapped)
    if scenario.name.startswith("10"):  # here no git stands in between
        result = result._replace(clean=False)
    assert scenario.holds(result), result.files


@pytest.mark.parametrize("kind", KINDS)
@given(random=st.randoms(use_true_random=False))
def test_every_merge_holds_the_seven_properties(kind: str, random: Random) -> None:
    """Design §6: commutes, identity twice, same, stable, nothing lost, read again."""
    assert list(broken(kind, triple(kind, random))) == []


# --- lessons ----------------------------------------------------------------------------------------------------------


def test_fields_of_theirs_that_nobody_knows_come_with_their_words() -> None:
    base = lesson("a", "r1")
    theirs = base.replace("  seen:", "  odd: 'kept' # why\n  seen:").replace("metadata:", "tools: [a, b]\nmetadata:")
    text = merged("lesson", base, lesson("a", "r1", "r2"), theirs)
    assert "  odd: 'kept' # why\n" in text
    assert "\ntools: [a, b]\n" in text


def test_an_event_keeps_what_else_stands_in_it() -> None:
    base = lesson("a", "r1")
    theirs = base.replace("run: r1\n", "run: r1\n    - on: 2026-06-01\n      run: r9\n      by: ada # on call\n")
    assert "      by: ada # on call\n" in merged("lesson", base, lesson("a", "r1", "r2"), theirs)


def test_comments_and_order_of_both_heads_are_kept() -> None:
    base = lesson("a", "r1").replace("type: feedback", "type: feedback\n  kind: note")
    ours = base.replace("  kind: note", "  # by hand\n  kind: note")
    theirs = base.replace("run: r1\n", "run: r1 # first\n    - on: 2026-06-01\n      run: r2\n")
    text = merged("lesson", base, ours, theirs)
    assert ("  # by hand\n" in text, "run: r1 # first\n" in text) == (True, True)


def test_of_two_days_of_creation_the_earlier_one_counts() -> None:
    base = lesson("a", "r1")
    early, late = (base.replace("created: 2026-05-26", f"created: 2026-0{n}-01") for n in (3, 9))
    assert "created: 2026-03-01" in merged("lesson", base, late, early)


def test_an_archived_lesson_that_another_took_the_place_of_stays_archived() -> None:
    """Design §5: a sighting of a superseded or codified lesson is reported, it does not bring it back."""
    base = lesson("a", "r1")
    gone = lesson("a", "r1", state="archived", note="Superseded by b").replace("  seen:", "  superseded_by: b\n  seen:")
    text = merged("lesson", base, gone, lesson("a", "r1", "r2"))
    assert ("state: archived" in text, "run: r2" in text) == (True, True)


def test_archived_and_seen_by_a_second_run_comes_back_as_current() -> None:
    text = merged("lesson", lesson("a", "r1"), lesson("a", "r1", state="archived", note="Old"), lesson("a", "r1", "r2"))
    assert ("state: current" in text, "archive_note" in text) == (True, False)


@pytest.mark.parametrize("run", ["r1", "r2"])
def test_a_confirmation_by_the_run_that_saw_it_brings_it_back(run: str) -> None:
    """It counts as any other, though it bears the day and run of a sighting."""
    base = lesson("a", "r1")
    day = base.partition("- on: ")[2][:10]
    confirmed = base.replace("  seen:", f"  confirmed:\n    - on: {day}\n      run: {run}\n  seen:")
    text = merged("lesson", base, lesson("a", "r1", state="archived", note="Old"), confirmed)
    assert ("state: candidate" in text, "archive_note" in text) == (True, False)


def test_archived_and_graduated_by_hand_stays_in_force() -> None:
    text = merged("lesson", lesson("a"), lesson("a", state="archived", note="Old"), lesson("a", state="current"))
    assert "state: current" in text


def test_what_may_be_private_stays_private() -> None:
    base = lesson("a", "r1")
    ours, theirs = (base.replace("type: feedback", f"type: {kind}") for kind in ("reference", "user"))
    assert "type: user" in merged("lesson", base, ours, theirs)


def test_a_why_and_a_how_that_are_new_on_either_side_are_both_kept() -> None:
    base = lesson("a", "r1").replace("\n**Why:** It went wrong.\n", "")
    text = merged("lesson", base, base + "\n**How to apply:** Look up.\n", base + "\n**Why:** It broke.\n")
    assert text.endswith("\nDo it.\n\n**Why:** It broke.\n\n**How to apply:** Look up.\n")


def test_two_paragraphs_of_one_long_rule_are_merged() -> None:
    base = lesson("a", "r1", rule="One.\n\nTwo.\n\nThree.")
    text = merged("lesson", base, base.replace("One.", "Eins.", 2), base.replace("Three.", "Drei."))
    assert "Eins.\n\nTwo.\n\nDrei.\n" in text


def test_a_conflict_in_a_code_block_is_not_hidden_in_it() -> None:
    """Whoever reads the file must see that it is in conflict: a marker inside a fence is code."""
    base = lesson("a", "r1", rule="Run it.\n\n```sh\nuv run a\n```")
    sides = [base.replace("uv run a", f"uv run {n}").encode() for n in "bc"]
    done = merge("lesson", "a.md", base.encode(), *sides)
    assert done.content is not None
    assert not done.clean
    with pytest.raises(UnreadableSideError):
        merge("lesson", "a.md", base.encode(), done.content, sides[0])


@pytest.mark.parametrize(
    ("ours", "code"),
    [
        (b"---\nname: a\n", "frontmatter-unclosed"),
        (b"---\nname: &a x\n---\nDo it.\n", "yaml-anchors"),
        (b"<<<<<<< ours\nDo it.\n=======\nNot.\n>>>>>>> theirs\n", "conflict-markers"),
        (b"\xff\xfe", "not-utf8"),
        (b"", "empty"),
    ],
    ids=["unclosed", "anchor", "markers", "bytes", "empty"],
)
def test_a_side_that_cannot_be_read_is_left_to_git(ours: bytes, code: str) -> None:
    with pytest.raises(UnreadableSideError) as caught:
        merge("lesson", "a.md", lesson("a").encode(), ours, lesson("a", "r1").encode())
    assert caught.value.code == code


def test_a_long_file_is_merged_or_left_to_git_in_a_short_time() -> None:
    """A person waits for it in the middle of a rebase: 64 KiB of any lines."""
    random = Random(1)
    for words, count in (((f"Line {n} of the rule." for n in range(3_000)), 3_000), (None, 16_000)):
        rows = list(words or (random.choice("abc") for _ in range(count)))
        sides = []
        for half in (0, count // 2):
            changed = list(rows)
            for _ in range(50):
                changed[half + random.randrange(count // 2)] = f"Changed {half}."
            sides.append(lesson("a", rule="\n".join(changed)).encode())
        began = time.process_time()
        with contextlib.suppress(UnreadableSideError) if words is None else contextlib.nullcontext():
            assert merge("lesson", "a.md", lesson("a", rule="\n".join(rows)).encode(), *sides).clean
        assert time.process_time() - began < 2


def test_a_map_that_both_sides_changed_is_left_to_git() -> None:
    base = lesson("a").replace("metadata:", "odd:\n  x: 1\nmetadata:")
    with pytest.raises(UnreadableSideError):
        merge("lesson", "a.md", base.encode(), *(base.replace("x: 1", f"x: {n}").encode() for n in (2, 3)))


@pytest.mark.parametrize("swapped", [False, True])
def test_another_lesson_that_git_takes_for_a_renamed_one_is_left_to_a_person(*, swapped: bool) -> None:
    """Where one side removed a lesson and noted one like it, the other side's change would go to the wrong one."""
    base, other = (
        f"---\nname: {name}\nmetadata:\n  state: candidate\n---\n\n{rule}\n".encode()
        for name, rule in (("zebra", "Zebras run in the meadow."), ("tea", "Brew tea first."))
    )
    ours = base.replace(b"candidate", b"current")
    with pytest.raises(UnreadableSideError) as told:
        merge("lesson", "tea.md", base, *((other, ours) if swapped else (ours, other)))
    assert told.value.code == "another-lesson"
    renamed = other.replace(b"metadata:", b"renamed_from: zebra\nmetadata:")
    merged = merge("lesson", "tea.md", base, ours, renamed).content or b""
    assert b"state: current" in merged
    assert b"Brew tea first." in merged


def test_a_lesson_that_one_side_deleted_and_the_other_changed_is_kept() -> None:
    base, edited = lesson("a", "r1").encode(), lesson("a", "r1", "r2").encode()
    assert merge("lesson", "a.md", base, None, edited) == merge("lesson", "a.md", base, edited, None) == (edited, True)
    assert merge("lesson", "a.md", base, None, base) == (None, True)


# --- documents --------------------------------------------------------------------------------------------------------


def test_prose_that_both_sides_changed_stands_between_markers_and_the_lines_do_not() -> None:
    base = memory("", "a")
    done = merge(
        "index", "MEMORY.md", base.encode(),
        memory("", "ab").replace("Read me first.", "Read me.").encode(),
        memory("", "ac").replace("Read me first.", "Read this first.").encode(),
    )  # fmt: skip
    assert done.content is not None
    assert not done.clean
    text = done.content.decode()
    assert "<<<<<<< ours\nRead me.\n=======\nRead this first.\n>>>>>>> theirs\n" in text
    assert [text.count(f"({slug}.md)") for slug in "abc"] == [1, 1, 1]
    assert text.index(">>>>>>>") < text.index("(a.md)")


def test_the_first_archived_line_of_either_side_stands_in_the_comment() -> None:
    base = memory("", "ab")
    assert merged("index", base, memory("", "b", "a"), memory("", "a", "b")) == memory("", "", "ab")


def test_a_line_outside_the_zones_stays_outside_them() -> None:
    base = "# Memory\n\n- [A](a.md)\n- [B](b.md)\n\n## Notes\n\nText.\n"
    ours = base.replace("- [B]", "- [C](c.md)\n- [B]")
    theirs = base.replace("[A]", "[Alpha]").replace("- [B](b.md)\n", "- [B](b.md)\n- [D](d.md)\n")
    text = "# Memory\n\n- [Alpha](a.md)\n- [C](c.md)\n- [B](b.md)\n- [D](d.md)\n\n## Notes\n\nText.\n"
    assert merged("index", base, ours, theirs) == text


def test_a_section_that_each_side_added_is_kept() -> None:
    base = memory("", "a")
    text = merged("index", base, base + "\n## Mine\n\nText.\n", base + "\n## Yours\n\nOther text.\n")
    assert sorted(text.removeprefix(base).split()) == sorted("## Mine Text. ## Yours Other text.".split())


@pytest.mark.parametrize("head", ["# Mem\n\n", "# Mem\n\n## Current\n\n"], ids=["loose", "zone"])
def test_a_new_line_does_not_come_between_another_and_its_indented_words(head: str) -> None:
    base = head + "- [A](a.md) — one\n- [B](b.md) — bee\n  only on Linux\n"
    new = base + "- [C](c.md) — cee\n"
    edited = base.replace("on Linux", "on macOS")
    for sides in ((edited, new), (new, edited)):
        assert merged("index", base, *sides) == new.replace("on Linux", "on macOS")


def test_each_of_two_lines_for_one_file_is_merged() -> None:
    """A table of contents may name a file twice: an edit of the second line is an edit."""
    base = "# Mem\n\n- [A](a.md) — one\n- [A again](a.md) — second\n- [B](b.md) — bee\n"
    edited, more = base.replace("second", "second and better"), base + "- [C](c.md) — cee\n"
    both = edited + "- [C](c.md) — cee\n"
    assert (merged("index", base, edited, more), merged("index", base, more, edited)) == (both, both)
    without = base.replace("- [A again](a.md) — second\n", "")
    assert merged("index", base, more, without) == without + "- [C](c.md) — cee\n"


@pytest.mark.parametrize("swapped", [False, True], ids=["ours", "theirs"])
def test_a_line_stays_under_its_heading_where_theirs_renamed_it(swapped: bool) -> None:
    base = "# Mem\n\n### Build\n\n- [A](a.md) — aa\n\n### Testing\n\n- [B](b.md) — bb\n"
    new, renamed = base + "- [C](c.md) — cc\n", base.replace("Testing", "Tests")
    sides = (renamed, new) if swapped else (new, renamed)
    assert merged("index", base, *sides) == new.replace("Testing", "Tests")


ENTRY = "### 2026-05-26 | A\n- Context: It broke.\n- Lesson: Do it.\n- State: {state}\n- File: lessons/a.md\n"
NOTEBOOK = (
    "# Review memory\n\n## Candidate Patterns\n\n{candidate}## Current Patterns\n\n{current}## Archived Patterns\n"
)


def notebook(entry: str, zone: str = "candidate") -> str:
    """A notebook with one entry."""
    entry = entry.format(state=zone.upper()) + "\n"
    return NOTEBOOK.format(**{name: entry if name == zone else "" for name in ("candidate", "current")})


def test_an_entry_that_was_moved_and_edited_is_both() -> None:
    edited = ENTRY.replace("It broke.", "It broke twice,\n  on two days.") + "> said by Ada\n"
    text = merged("notebook", notebook(ENTRY), notebook(ENTRY, "current"), notebook(edited))
    assert text == notebook(edited, "current")


def test_two_fields_of_one_entry_are_merged() -> None:
    one, two = ENTRY.replace("Do it.", "Do it twice."), ENTRY.replace("| A", "| Always")
    both = ENTRY.replace("Do it.", "Do it twice.").replace("| A", "| Always")
    assert merged("notebook", notebook(ENTRY), notebook(one), notebook(two)) == notebook(both)


def test_a_field_that_both_sides_changed_is_the_only_conflict() -> None:
    sides = [notebook(ENTRY.replace("Do it.", f"Do it {word}.")).encode() for word in ("now", "later")]
    done = merge("notebook", "memory.md", notebook(ENTRY).encode(), *sides)
    rows = "<<<<<<< ours\n- Lesson: Do it now.\n=======\n- Lesson: Do it later.\n>>>>>>> theirs\n"
    assert done == (notebook(ENTRY.replace("- Lesson: Do it.\n", rows)).encode(), False)
