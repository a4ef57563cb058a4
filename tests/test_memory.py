"""A memory from the bytes of its files: states that count, what is quarantined, what the document says."""

from __future__ import annotations

from pathlib import Path

import pytest

from learnloop_md import index, memory, notebook
from learnloop_md.errors import LearnloopError
from learnloop_md.lesson import Lesson
from learnloop_md.lessonfile import Quarantined
from learnloop_md.memory import assemble, counting_state, find_slug
from learnloop_md.store import Agreed, Files, Ledger
from tests.conftest import Run, git
from tests.homes import Model, lesson_text

PLAIN = "Plain words.\n"
STATELESS = "---\nname: a\ndescription: A rule\n---\n\nA rule.\n"


def secret() -> str:
    return "".join(("ghp_", "x7Kq2LmN9pR4sT6uV8", "wY1zA3bC5dE0fG2hJ4"))


@pytest.mark.parametrize(
    ("path", "text", "state"),
    [
        ("a.md", STATELESS, "candidate"),
        ("adopted.md", STATELESS, "current"),
        ("a.md", PLAIN, "current"),
        ("archive/a.md", STATELESS, "archived"),
        ("archived/deep/a.md", PLAIN, "archived"),
        ("a.md", lesson_text("a", "A.", state="Archived"), "archived"),
        ("archive/a.md", lesson_text("a", "A.", state="current"), "current"),
        ("a.md", lesson_text("a", "A.", state="done"), "candidate"),
    ],
)
def test_the_state_that_counts(path: str, text: str, state: str) -> None:
    """Design §2: the one stated, in any case; else current for adopted files and notes; else candidate."""
    model = Model("project", {path: text}, adopted=("adopted",))
    assert [lesson.state for lesson in model.memory.lessons.values()] == [state]


def test_a_file_without_state_counts_the_same_by_itself() -> None:
    assert counting_state(Lesson("a", "a.md", "", state="", has_head=False), ()) == "current"


def test_a_secret_quarantines_the_file_and_names_its_kind_and_line() -> None:
    model = Model("project", {"a.md": f"---\nname: a\n---\n\nUse {secret()} here.\n", "b.md": STATELESS})
    (found,) = model.memory.quarantined
    assert (found.path, found.line, found.reason.partition(":")[0]) == ("a.md", 5, "secret")
    assert secret() not in found.message
    assert list(model.memory.lessons) == ["b"]


def test_a_text_scanned_before_is_not_scanned_again_unless_asked() -> None:
    text = f"Use {secret()} here.\n"
    files, row = Files({"a.md": text.encode()}), Agreed("a.md", text, "", "")
    place, ledger = Model("project", {}).place, Ledger({"a": row})
    trusting = assemble(place, files, None, ledger, scan_all=False)
    thorough = assemble(place, files, None, ledger)
    assert (len(trusting.quarantined), len(thorough.quarantined)) == (0, 1)


def test_of_two_files_with_one_slug_the_upper_one_counts() -> None:
    model = Model("project", {"topics/a.md": PLAIN, "a.md": STATELESS, "archive/b.md": PLAIN, "zoo/b.md": PLAIN})
    assert {slug: lesson.path for slug, lesson in model.memory.lessons.items()} == {
        "a": "a.md",
        "b": "zoo/b.md",
    }
    assert sorted(model.memory.doubled) == [("archive/b.md", "zoo/b.md"), ("topics/a.md", "a.md")]


def test_faults_of_a_head_are_kept_with_their_file() -> None:
    model = Model("project", {"a.md": "---\nname: a\ndescription: one: two\n---\n\nA.\n"})
    assert [fault.code for fault in model.memory.faults["a.md"]] == ["head-not-yaml"]


@pytest.mark.parametrize("document", [b"\xff\xfe", b"a\x00b", b"<<<<<<< HEAD\n"])
def test_a_document_that_cannot_be_read_blocks_changes(document: bytes) -> None:
    rows = assemble(Model("project", {}).place, Files({}), document, None)
    assert rows.blocked
    assert rows.blocked.path == "MEMORY.md"
    assert rows.document == ""


@pytest.mark.parametrize(("document", "there"), [(None, False), (b"", True), (b" \n", True)])
def test_a_missing_document_is_told_from_an_empty_one(document: bytes | None, there: bool) -> None:
    rows = assemble(Model("project", {}).place, Files({}), document, None)
    assert (rows.has_document, rows.blocked) == (there, None)


def test_refused_files_are_among_the_quarantined() -> None:
    refused = (Quarantined("big.md", "too-large"),)
    assert assemble(Model("project", {}).place, Files({}, refused), None, None).quarantined == refused


def test_a_document_that_is_a_link_out_of_the_repository_is_not_read(tmp_path: Path, learnloop: Run) -> None:
    folder = tmp_path / "memory"
    folder.mkdir()
    (tmp_path / "elsewhere.md").write_text("- [A](a.md) — hostile\n")
    (folder / "a.md").write_text(STATELESS)
    (folder / "MEMORY.md").symlink_to(tmp_path / "elsewhere.md")
    before = (tmp_path / "elsewhere.md").read_bytes()
    learnloop("sync", "--memory", str(folder), cwd=tmp_path)
    assert (tmp_path / "elsewhere.md").read_bytes() == before


def test_a_document_that_is_a_link_into_the_repository_is_read_and_written_through(repo: Path, learnloop: Run) -> None:
    """Design §11: the link is kept."""
    folder = repo / "memory"
    folder.mkdir()
    (repo / "INDEX.md").write_text("# Memory\n")
    (folder / "MEMORY.md").symlink_to(repo / "INDEX.md")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "A link")
    (folder / "a.md").write_text(lesson_text("a", "A rule."))
    assert learnloop("sync", "--memory", str(folder), cwd=repo).code == 0
    assert "(a.md)" in (repo / "INDEX.md").read_text()
    assert (folder / "MEMORY.md").is_symlink()
    assert git(repo, "status", "--short") == ""


def test_lessons_of_a_private_type_are_private_where_there_is_a_remote(
    repo: Path, memory: Path, learnloop: Run
) -> None:
    """Design §2: in a repository that has a remote, lessons of type user stay out of git and of MEMORY.md."""
    git(repo, "remote", "add", "origin", "https://example.invalid/x.git")
    (memory / "me.md").write_text(
        "---\nname: me\ndescription: I like tea\nmetadata:\n  type: user\n---\n\nI like tea.\n"
    )
    assert learnloop("sync", cwd=repo).code == 0
    assert "me.md" not in (memory / "MEMORY.md").read_text()
    assert git(repo, "ls-files", "--", ".claude/memory/me.md") == ""


# --- what the document says -------------------------------------------------------------------------------


def test_the_first_line_of_a_lesson_is_its_entry() -> None:
    document = "- [One](a.md) — first\n- [Two](a.md) — second\n"
    model = Model("project", {"a.md": STATELESS}, document)
    assert model.entries["a"] == memory.Entry(
        "", {"title": "One", "description": "first"}, "- [One](a.md) — first", 1, "a.md"
    )


def test_a_line_is_known_by_the_path_of_its_file() -> None:
    model = Model("project", {"topics/a.md": STATELESS}, "- [One](topics/a.md) — first\n- [Gone](gone.md)\n")
    assert {slug: entry.path for slug, entry in model.entries.items()} == {
        "a": "topics/a.md",
        "gone": "gone.md",
    }


def test_an_entry_that_names_its_file_goes_before_one_that_only_sounds_like_it() -> None:
    document = notebook.NEW.replace(
        "## Current Patterns\n",
        "### 2026-05-01 | A\n- Lesson: Only sounds.\n\n"
        "### 2026-05-02 | Other\n- Lesson: Names.\n- File: lessons/a.md\n",
    )
    model = Model("skill", {"lessons/a.md": STATELESS}, document)
    assert model.entries["a"].claims["rule"] == "Names."


@pytest.mark.parametrize("kind", ["project", "skill"])
def test_a_rendered_entry_claims_what_claims_of_says(kind: str) -> None:
    path = "lessons/a.md" if kind == "skill" else "a.md"
    more = '  title: Use [x], "not" y\n  tags:\n    - one\n'
    model = Model(kind, {path: lesson_text("a", "Say: why # and `how`.", more=more)}, None)
    model.sync()
    said = {name: value for name, value in model.entries["a"].claims.items() if name != "state"}
    claims = memory.claims_of(model.place, model.lesson("a"))
    assert said == {name: value for name, value in claims.items() if value}


def test_a_line_too_long_is_compared_as_it_is_rendered() -> None:
    title = "A very long title " * 12
    model = Model("project", {"a.md": lesson_text("a", "A.", more=f"  title: {title}\n")}, index.NEW)
    model.sync()
    assert model.entries["a"].claims == memory.claims_of(model.place, model.lesson("a"))


def test_lessons_behind_a_listed_hub_need_no_line() -> None:
    files = {
        "hub.md": "- [A](a.md)\n",
        "a.md": lesson_text("a", "A."),
        "other.md": "- [B](b.md)\n",
        "b.md": lesson_text("b", "B."),
    }
    model = Model("project", files, "- [Hub](hub.md)\n")
    assert memory.hubbed(model.memory, model.document or "") == {"a"}
    model.sync()
    assert "(a.md)" not in (model.document or "")
    assert "(b.md)" in (model.document or "")


def test_lines_over_the_budget_are_left_out_and_named() -> None:
    model = Model("project", {f"r{n}.md": lesson_text(f"r{n}", f"Rule {n}.") for n in range(6)}, index.NEW)
    place = model.place._replace(settings=model.place.settings._replace(index_lines=8))
    rows = model.memory._replace(place=place)
    stepped = memory.in_step(rows, index.NEW, rows.lessons, rows.lessons)
    assert stepped.left_out == tuple(slug for slug in sorted(rows.lessons) if f"({slug}.md)" not in stepped.text)
    assert index.loaded_size(stepped.text)[0] <= 8
    assert stepped.left_out


# --- names ------------------------------------------------------------------------------------------------

NAMES = Model(
    "project",
    {
        "read-first.md": STATELESS,
        "read-last.md": STATELESS,
        "read.md": STATELESS,
        "use-uv.md": STATELESS,
        "hurt.md": "",
    },
)


@pytest.mark.parametrize(
    ("name", "slug"),
    [("read", "read"), ("read-f", "read-first"), ("use", "use-uv"), ("topics/use-uv.md", "use-uv")],
)
def test_a_lesson_is_named_by_any_unique_beginning(name: str, slug: str) -> None:
    """R004-98; Design §3: the slug or any unique beginning of it works."""
    assert find_slug(NAMES.memory, name) == slug


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("read-", "ambiguous-name", "read-first, read-last"),
        ("hurt", "quarantined", "hurt.md is quarantined (empty)"),
        ("reed-first", "unknown-lesson", "there is no lesson 'reed-first'"),
        ("", "unknown-lesson", "there is no lesson ''"),
        ("zzz", "unknown-lesson", "there is no lesson 'zzz'"),
    ],
)
def test_a_name_that_means_no_lesson_is_refused(name: str, code: str, words: str) -> None:
    with pytest.raises(LearnloopError) as error:
        find_slug(NAMES.memory, name)
    assert error.value.code == code
    assert words in error.value.message


def test_a_mistyped_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(LearnloopError) as error:
        find_slug(NAMES.memory, "reed-first")
    assert error.value.hint == "did you mean read-first?"


# --- what is remembered -----------------------------------------------------------------------------------


def test_the_ledger_holds_file_and_entry_of_every_lesson() -> None:
    model = Model(
        "project",
        {"a.md": lesson_text("a", "A."), "notes.md": PLAIN},
        "# M\n\n## Candidate\n\n- [A](a.md) — x\n",
    )
    assert memory.agreed_now(model.memory) == {
        "a": Agreed("a.md", model.files["a.md"], "- [A](a.md) — x", "candidate"),
        "notes": Agreed("notes.md", PLAIN, "", ""),
    }


def test_lessons_in_conflict_quarantined_and_removed_keep_their_row() -> None:
    rows = {
        slug: Agreed(f"{slug}.md", "old", "", zone) for slug, zone in [("a", ""), ("hurt", ""), ("gone", "removed")]
    }
    model = Model("project", {"a.md": STATELESS, "hurt.md": ""}, index.NEW)
    model.ledger = Ledger(rows)
    assert memory.agreed_now(model.memory, skip=["a"]) == rows
