"""Lessons for programs and people elsewhere: `export jsonl`, `mirror`, `bundle` (R000-73, R004-50, design §11)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop_md import fromjsonl, importing, lessonfile, outgoing, record
from learnloop_md import memory as memories
from learnloop_md import place as places
from learnloop_md.lesson import KINDS, Event, Lesson
from learnloop_md.memory import Memory
from learnloop_md.plan import Draft
from learnloop_md.settings import Settings
from tests.conftest import CopyOf, Run, git
from tests.homes import ASK, DAY, OLD, READ, STAGE, Home, Model, filled, make_home


@pytest.fixture
def home(tmp_path: Path, copy_of: CopyOf, learnloop: Run) -> Home:
    return copy_of("filled skill", lambda root: filled(make_home("skill", root, learnloop)), tmp_path / "code")


def _lines(home: Home, *more: str) -> list[dict[str, object]]:
    done = home.run("export", "jsonl", *more)
    assert done.code == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


# --- JSON lines ---------------------------------------------------------------------------------------------------


def test_every_active_lesson_is_a_line_that_is_a_record(home: Home) -> None:
    """R000-73: one JSON object a line; archived ones only when asked for."""
    rows = _lines(home)
    assert [row["id"] for row in rows] == [ASK, READ, STAGE]
    assert all(record.faults(row) == [] for row in rows)
    assert OLD in [row["id"] for row in _lines(home, "--all")]


def test_what_was_exported_comes_in_elsewhere_and_changes_nothing_here(
    home: Home, tmp_path: Path, learnloop: Run
) -> None:
    """R000-73: the same lines again are known, in the memory they came from too."""
    file = tmp_path / "out.jsonl"
    assert home.run("export", "jsonl", "--to", str(file)).code == 0
    before = home.bytes()
    assert home.run("import", str(file), "--json").json["action"] == "unchanged"
    assert home.bytes() == before
    other = make_home("project", tmp_path / "other", learnloop)
    assert len(other.run("import", str(file), "--json").json["added"]) == 3
    assert sorted(str(row["approach"]) for row in _lines(other)) == sorted(str(row["approach"]) for row in _lines(home))


@pytest.mark.parametrize("how", ["anybody's", "one more line"])
def test_records_of_others_are_not_overwritten(home: Home, tmp_path: Path, how: str) -> None:
    """docs/import.md: an export goes over a file that is its own, and no other."""
    file, foreign = tmp_path / "out.jsonl", '{"id": "learn_20250101_001", "timestamp": "2025-01-01T00:00:00Z"}\n'
    words = ("export", "jsonl", "--to", str(file))
    assert home.run(*words).code == 0
    assert home.run("archive", STAGE, "--note", "gone").code == 0
    assert home.run(*words).code == 0
    file.write_text(foreign if how == "anybody's" else file.read_text() + foreign)
    before = file.read_bytes()
    done = home.run(*words, "--json")
    assert (done.code, done.json["error"]["code"], file.read_bytes()) == (3, "exists", before)
    assert home.run(*words, "--replace").code == 0


@pytest.mark.parametrize("renewed", [False, True])
def test_a_line_that_was_edited_is_not_overwritten(home: Home, tmp_path: Path, renewed: bool) -> None:
    """docs/import.md: a record with other words is none of this memory, whatever its id."""
    file = tmp_path / "out.jsonl"
    words = ("export", "jsonl", "--to", str(file))
    assert home.run(*words).code == 0
    file.write_text(file.read_text().replace("Stage files", "Stage MY files"))
    if renewed:
        home.note("Quote paths in scripts.")
    before = file.read_bytes()
    done = home.run(*words, "--json")
    assert (done.code, done.json["error"]["code"], file.read_bytes()) == (3, "exists", before)
    assert home.run(*words, "--replace").code == 0


def test_an_export_is_renewed_where_nothing_is_lost(home: Home, tmp_path: Path) -> None:
    """What was written here is known by its bytes, in another clone by records that are the same still."""
    file = tmp_path / "out.jsonl"
    words = ("export", "jsonl", "--to", str(file))
    assert home.run(*words).code == 0
    home.note("Stage files by name.", "r2")
    assert home.run(*words).code == 0
    next((home.root / ".git" / "learnloop").glob("*/exported")).unlink()
    home.note("Quote paths in scripts.")
    assert home.run(*words).code == 0
    assert "Quote paths" in file.read_text()


def test_what_was_archived_comes_in_archived(home: Home, tmp_path: Path, learnloop: Run) -> None:
    """docs/import.md: archived comes in what its source has archived."""
    file = tmp_path / "out.jsonl"
    assert home.run("export", "jsonl", "--all", "--to", str(file)).code == 0
    other = make_home("project", tmp_path / "other", learnloop)
    other.run("import", str(file))
    assert other.run("status", "--json").json["lessons"]["archived"] == 1
    assert [row["id"] for row in _lines(other, "--all") if row.get("state") == "archived"] == [OLD]
    before = other.bytes()
    assert other.run("import", str(file), "--json").json["action"] == "unchanged"
    assert other.bytes() == before


def _said(home: Home) -> list[tuple[str, str, str, str]]:
    rows = memories.load(places.find(home.folder, str(home.folder))).lessons.values()
    return sorted((row.slug, row.rule, row.state, row.superseded_by) for row in rows)


def test_a_superseded_record_comes_in_archived_though_its_heir_is_archived_too(
    home: Home, tmp_path: Path, learnloop: Run
) -> None:
    """docs/import.md: an export with --all brings the same lessons with the same states, once."""
    failed = {
        "task_type": "csv", "input_summary": "Read CSV", "approach": "strip", "outcome": "failure", "confidence": 1,
        "what_failed": "BOM bytes broke the CSV header parser", "id": "learn_20261130_001",
    }  # fmt: skip
    better = {
        "task_type": "csv", "input_summary": "Read CSV again", "approach": "chat", "outcome": "success",
        "confidence": 0.5, "what_worked": "Strip the BOM before reading the header", "supersedes_id": failed["id"],
    }  # fmt: skip
    for row in (failed, better):
        (tmp_path / "record.json").write_text(json.dumps(row))
        assert home.run("capture", "--from", str(tmp_path / "record.json")).code == 0
    assert home.run("archive", "strip", "--note", "No longer needed").code == 0
    assert home.run("supersede", READ, STAGE).code == 0
    file = tmp_path / "out.jsonl"
    assert home.run("export", "jsonl", "--all", "--to", str(file)).code == 0
    other = make_home("skill", tmp_path / "other", learnloop)
    done = other.run("import", str(file), "--json")
    assert (done.code, len(done.json["added"])) == (0, 6), done.out
    assert _said(other) == _said(home)
    assert other.run("export", "jsonl", "--all").out == file.read_text()
    before = other.bytes()
    assert other.run("import", str(file), "--json").json["action"] == "unchanged"
    assert home.run("import", str(file), "--json").json["action"] == "unchanged"
    assert other.bytes() == before


def test_a_line_that_is_new_in_an_export_does_not_join_one_that_was_known(
    home: Home, tmp_path: Path, learnloop: Run
) -> None:
    """Two lessons that a person keeps apart are two elsewhere too, whichever came first."""
    file, other = tmp_path / "out.jsonl", make_home("skill", tmp_path / "other", learnloop)
    export = ("export", "jsonl", "--all", "--to", str(file))
    assert home.run(*export).code == 0
    assert other.run("import", str(file)).code == 0
    home.note("Stage files by name!", "r5", "--new", "--name", "a-stage")
    assert home.run(*export).code == 0
    assert [row["slug"] for row in other.run("import", str(file), "--json").json["added"]] == ["a-stage"]
    assert _said(other) == _said(home)


_RULES = [
    "Strip the BOM before reading the header.", "Strip the BOM before you read the header.", "Stage files by name.",
    "Never stage files by name.", "Ask before renaming names.", "Quote every path in scripts.",
]  # fmt: skip
_ROWS = st.lists(
    st.tuples(
        st.sampled_from([*KINDS, "run"]), st.sampled_from(_RULES), st.sampled_from(["candidate", "current", "archived"])
    ),
    max_size=6,
)


@given(_ROWS, st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=3))
def test_an_export_of_all_makes_the_same_memory_elsewhere(
    rows: list[tuple[str, str, str]], replaced: list[tuple[int, int]]
) -> None:
    """docs/import.md: the same lessons with the same states; a second time nothing."""
    files = {}
    for n, (kind, rule, state) in enumerate(rows):
        run: dict[str, Any] = {
            "kind": "success", "id": f"learn_20260526_{n:03d}", "timestamp": "2026-05-26T10:00:00Z", "approach": "a",
            "task_type": "csv", "input_summary": "Read.", "outcome": "success", "what_worked": rule,
        }  # fmt: skip
        old = [(b, a) for a, b in replaced if n == a and b < n][:1]
        more: dict[str, Any] = {"supersedes": f"n-{old[0][0]}"} if old else {}
        one = Lesson(f"n-{n}", f"n-{n}.md", "", name=f"n-{n}", type="feedback", rule=rule, created="2026-05-26",
                     state=state, seen=(Event("2026-05-26", "r1"),), confidence=0.5)  # fmt: skip
        one = one._replace(**(run if kind == "run" else {"kind": kind}), **more)
        files[one.path] = lessonfile.render(one)
        for was, _ in old:  # what gave way is archived
            path = f"n-{was}.md"
            files[path] = lessonfile.with_fields(files[path], {"state": "archived", "superseded_by": f"n-{n}"})
    source, target = Model("project", files).memory, Model("project", {}).memory
    text = outgoing.jsonl(source, source.lessons.values(), with_states=True)
    first = _brought(target, text)
    states = sorted((row.rule, row.state) for row in source.lessons.values())
    assert sorted((row.rule, row.state) for row in first.lessons.values()) == states
    assert outgoing.jsonl(first, _as_in(first, source), with_states=True) == text
    assert _brought(first, text).lessons == first.lessons


def _as_in(made: Memory, source: Memory) -> list[Lesson]:
    """The lessons in the order of those that they came from."""
    ids = [lesson.record.id if lesson.record else lesson.slug for lesson in source.lessons.values()]
    return sorted(made.lessons.values(), key=lambda row: ids.index(row.record.id if row.record else row.slug))


def _brought(target: Memory, text: str) -> Memory:
    draft = Draft(target, today=DAY, run="import", command="c0ffee")
    items, faults = fromjsonl.read(text, "out.jsonl", DAY)
    report = importing.bring(draft, items, faults, "out.jsonl", strict=True)
    assert report.refused == ()
    return target._replace(lessons=draft.lessons)


_PLACE = places.Place(Path("/nowhere"), "project", "", None, Settings(), "MEMORY.md")
_NOWHERE = Memory(_PLACE, {}, {}, (), (), "", frozenset(), None, True)
_RULE, _WHY, _HOW = "Use the repository's own client.", "The stock client has no retry.", "Import from lib/http."


def test_a_correction_is_told_elsewhere_as_what_to_do(tmp_path: Path, learnloop: Run) -> None:
    """R000-73: its reason is what failed; out, in and out again it says the same."""
    one, two = (make_home("project", tmp_path / name, learnloop) for name in ("one", "two"))
    one.note(_RULE, "r1", "--why", _WHY, "--how", _HOW, "--kind", "correction")
    file = tmp_path / "out.jsonl"
    assert one.run("export", "jsonl", "--to", str(file)).code == 0
    row = json.loads(file.read_text())
    assert [row[key] for key in ("outcome", "what_worked", "what_failed")] == ["success", _RULE, _WHY]
    slug = two.run("import", str(file), "--json").json["added"][0]["slug"]
    found = lessonfile.read(f"{slug}.md", two.file(slug).read_bytes())
    assert isinstance(found, lessonfile.Reading)
    assert (found.lesson.rule, found.lesson.why, found.lesson.how) == (_RULE, _WHY, _HOW)
    assert two.run("export", "jsonl").out == file.read_text()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("why", ["", _WHY])
@pytest.mark.parametrize("how", ["", _HOW])
def test_rule_why_how_and_kind_survive_as_a_record(kind: str, why: str, how: str) -> None:
    """R000-73: and where there is a reason, no rule is called what failed."""
    lesson = Lesson("a-b", "a-b.md", "", kind=kind, rule=_RULE, why=why, how=how)
    told = record.read(json.loads(outgoing.jsonl(_NOWHERE, [lesson]))).record
    assert record.teaching(told, exported=True) == (_RULE, why, how, kind)
    assert (told.what_failed == _RULE) == (kind == "failure" and not why)


_WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=300)


@given(rule=_WORDS, kind=st.sampled_from(KINDS), context=_WORDS, tags=st.lists(_WORDS, max_size=2))
def test_the_line_of_any_lesson_is_a_record(rule: str, kind: str, context: str, tags: list[str]) -> None:
    """R000-13: shortened where it is too long."""
    if not rule.strip() or not all(tag.strip() for tag in tags):
        return
    lesson = Lesson("a-b", "a-b.md", "", kind=kind, rule=rule, context=context, tags=tuple(tags), created="2026-05-26")
    (line,) = outgoing.jsonl(_NOWHERE, [lesson]).splitlines() or [""]
    assert record.faults(json.loads(line)) == []


# --- the mirror ---------------------------------------------------------------------------------------------------


def test_the_mirror_shows_every_lesson_by_status(home: Home) -> None:
    """R004-50: header, counts, one line a lesson; a second time the same bytes."""
    for words in (("pin", STAGE), ("confirm", ASK), ("run", "ok"), ("codify", ASK)):
        assert home.run(*words).code == 0
    text = home.run("export", "mirror").out
    assert text.startswith("# Learnings: skill\n\n<!-- made by `learnloop export mirror` sha256=")
    assert f"Updated: {DAY} · runs: 1 (100% ok) · 1 pinned · 1 active · 1 promoted · 1 archived\n" in text
    assert f"- [{STAGE}] Stage files by name. (note, +1, candidate, last: {DAY})" in text
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["## Pinned", "## Active", "## Promoted", "## Archived"]
    assert home.run("export", "mirror").out == text


def test_the_mirror_is_renewed_and_nobody_elses_file_is_overwritten(home: Home) -> None:
    file = home.root / "LEARNINGS.md"
    file.write_text("# Mine\n")
    done = home.run("export", "mirror", "--to", "LEARNINGS.md", "--json")
    assert (done.code, done.json["error"]["code"], file.read_text()) == (3, "exists", "# Mine\n")
    file.unlink()
    assert home.run("export", "mirror", "--to", "LEARNINGS.md").code == 0
    home.note("Quote paths in scripts.")
    assert home.run("export", "mirror", "--to", "LEARNINGS.md").code == 0
    assert "quote-paths-in-scripts" in file.read_text()
    assert home.run("export", "mirror", "--to", "LEARNINGS.md", "--json").json["action"] == "unchanged"


@pytest.mark.parametrize("edit", [("Stage files", "Stage MY files"), ("## Active", "## Mine\n\nMY LINE\n\n## Active")])
def test_a_mirror_that_was_edited_is_left_alone(home: Home, edit: tuple[str, str]) -> None:
    """docs/import.md: a line or a word of a person's is never overwritten without --replace."""
    file, words = home.root / "LEARNINGS.md", ("export", "mirror", "--to", "LEARNINGS.md")
    assert home.run(*words).code == 0
    file.write_text(file.read_text().replace(*edit))
    home.note("Quote paths in scripts.")
    before = file.read_bytes()
    done = home.run(*words, "--json")
    assert (done.code, done.json["error"]["code"], file.read_bytes()) == (3, "hand-edited", before)
    assert home.run(*words, "--replace").code == 0
    assert "MY" not in file.read_text()


def test_other_line_ends_are_no_edit_of_a_mirror(home: Home) -> None:
    file, words = home.root / "LEARNINGS.md", ("export", "mirror", "--to", "LEARNINGS.md")
    assert home.run(*words).code == 0
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    home.note("Quote paths in scripts.")
    assert home.run(*words).code == 0


# --- what ships with a skill --------------------------------------------------------------------------------------


def test_current_lessons_ship_and_candidates_do_not(home: Home) -> None:
    """R004-21, ruling C14: no candidate, no count, no evidence; in SKILL.md's folder, committed by the person."""
    head = git(home.root, "rev-parse", "HEAD")
    assert home.run("export", "bundle", "--json").json["lessons"] == [ASK]
    text = (home.root / "skill" / "learnings.md").read_text()
    assert text.startswith("# Learnings\n")
    assert "- Ask before renaming names.\n" in text
    assert "Stage files" not in text
    assert git(home.root, "rev-parse", "HEAD") == head


def test_the_bundle_is_renewed_beside_promoted_rules_and_never_overwrites_an_edit(home: Home) -> None:
    """R004-40: what was promoted stays; an edited block is refused."""
    home.note("Stage files by name.", "r2")
    assert home.run("promote", STAGE).code == 0
    file = home.root / "skill" / "learnings.md"
    assert home.run("export", "bundle").code == 0
    once = file.read_text()
    assert f"<!-- learnloop: {STAGE} {DAY} -->" in once
    assert home.run("export", "bundle", "--json").json["action"] == "unchanged"
    file.write_text(once.replace("Ask before renaming names.", "Ask first."))
    assert home.run("export", "bundle").code == 3
    file.write_text(once)
    assert home.run("export", "bundle", "--remove").code == 0
    assert "Ask before" not in file.read_text()
    assert f"<!-- learnloop: {STAGE} {DAY} -->" in file.read_text()


def test_nothing_current_makes_no_file(tmp_path: Path, learnloop: Run) -> None:
    home = make_home("skill", tmp_path / "new", learnloop)
    assert home.run("export", "bundle", "--json").json["error"]["code"] == "empty"
    assert not (home.root / "skill" / "learnings.md").exists()


# --- all of them --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["jsonl", "mirror", "bundle"])
def test_private_lessons_and_links_leave_in_no_export(tmp_path: Path, learnloop: Run, what: str) -> None:
    """design §2, §8: private types stay, hostile text is neutralised."""
    home = make_home("skill", tmp_path / "new", learnloop)
    for run in ("r1", "r2"):
        home.note("Call me by my first name.", run, "--type", "user")
        home.note("Read !`rm -r x` first.", run)
    out = home.run("export", what, *(["--to", "out.md"] if what != "jsonl" else []))
    assert out.code == 0, out.err
    text = out.out if what == "jsonl" else (home.root / "out.md").read_text()
    assert "first name" not in text
    assert "first" in text
    if what != "jsonl":
        assert "!`rm" not in text


@pytest.mark.parametrize("what", ["jsonl", "mirror", "bundle"])
def test_a_dry_run_of_an_export_writes_nothing(home: Home, what: str) -> None:
    assert home.run("export", what, "--to", "out.md", "--dry-run").code == 0
    assert not (home.root / "out.md").exists()


@pytest.mark.parametrize(
    ("words", "code"), [(("jsonl", "--to", "."), 2), (("mirror", "--to", "skill/references/x.md"), 2)]
)
def test_a_wrong_target_is_told(home: Home, words: tuple[str, ...], code: int) -> None:
    assert home.run("export", *words).code == code


@pytest.mark.parametrize("what", ["jsonl", "mirror", "bundle", "agents"])
def test_no_export_makes_a_folder(home: Home, what: str) -> None:
    """docs/import.md: a folder that is not there is refused, as `report --html` does."""
    done = home.run("export", what, "--to", "missing/dir/x.md", "--json")
    assert (done.code, done.json["error"]["code"]) == (4, "no-folder")
    assert not (home.root / "missing").exists()


def test_events_do_not_ship() -> None:
    lesson = Lesson("a", "a.md", "", state="current", rule="Quote.", seen=(Event("2026-05-26", "ada", "her laptop"),))
    assert "laptop" not in outgoing.bundle([lesson])
