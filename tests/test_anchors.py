"""What lessons speak of, and whether it still is as it was (design §9: verify before recall)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop_md import anchors, git, hooks, lessonfile, place, repos, standing
from learnloop_md.anchors import Anchor
from learnloop_md.lesson import Lesson
from tests import conftest
from tests.conftest import Ran, Run
from tests.homes import DAY, lesson_text

TODAY = ("--today", DAY)


def names(rule: str, **fields: object) -> list[str]:
    row = Lesson("a", "a.md", "", rule=rule)._replace(**fields)  # type: ignore[arg-type]
    return [anchor.name for anchor in anchors.spoken(row)]


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ("Read `src/app.py` first.", ["src/app.py"]),
        ("See [the loader](../src/load.py) and `conftest.py`.", ["conftest.py", "../src/load.py"]),
        ("`src/app.py:12-20`, `src/app.py#L3`", ["src/app.py"]),
        ("`src/app.py::load_rows` and `src/app.py#load_rows()`", ["src/app.py#load_rows"]),
        ("Run `python scripts/gen.py --all`.", ["scripts/gen.py"]),
        ("`Makefile`, `.env.example` and `./docs/`", ["Makefile", ".env.example", "docs/"]),
        ("A plain word `value`, a flag `--yes`, `a = b/c`, 3/4", ["b/c"]),
        ("`/etc/passwd`, `~/.netrc`, `C:\\x.py`, `https://a.example/b.html`, `*.py`, `src/**/x.py`", []),
        ("[site](https://a.example/b.html) and [part](#part)", []),
        ("```\n`src/app.py`\n```\nNothing.", []),
        ("`origin/main` may be one, git will tell.", ["origin/main"]),
    ],
)
def test_paths_are_found_in_backticks_and_links(rule: str, found: list[str]) -> None:
    """Design §9: found automatically."""
    assert names(rule) == found


def test_symbols_are_names_with_a_form_of_their_own() -> None:
    row = Lesson("a", "a.md", "", rule="`load_rows()`, `loadRows`, `Rows.load`, `value`, `src/app.py`, `--all_of`")
    assert anchors.symbols(row) == ("load_rows", "loadRows", "load")


def test_the_head_says_what_was_verified() -> None:
    more = "  anchors:\n    - src/app.py 3f2a81c0b1d2\n    - path: src/b.py\n      blob: 3f2a81c0b1d3\n"
    reading = lessonfile.read("a.md", lesson_text("a", "Read `src/app.py` first.", more=more).encode())
    assert isinstance(reading, lessonfile.Reading)
    found = [anchor.entry for anchor in anchors.spoken(reading.lesson)]
    assert found == ["src/app.py 3f2a81c0b1d2", "src/b.py 3f2a81c0b1d3"]


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_has_anchors_inside_the_repository_alone(rule: str, entry: str) -> None:
    for anchor in anchors.spoken(Lesson("a", "a.md", "", rule=f"`{rule}` [x]({rule})", anchors=(entry,))):
        assert not anchor.path.startswith(("/", "~"))
        assert anchors.parse(anchor.entry) == anchor._replace(linked=False)


def test_the_hash_is_gits_own_whatever_the_line_ends(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\ntwo\n")
    said = conftest.git(tmp_path, "hash-object", "a")
    assert anchors.now(Anchor("a"), b"one\r\ntwo\r\n").hash == said[:12]
    assert anchors.fault(Anchor("a", hash=said), b"one\r\ntwo\r\n") == ""
    assert anchors.fault(Anchor("a", hash=said), b"one\n") == "changed"


def test_of_a_symbol_only_its_own_lines_count() -> None:
    was = anchors.now(Anchor("a.py", "load"), b"def load(x):\n    pass\n")
    assert anchors.fault(was, b"import os\n\ndef load(x):\n    return 1\n") == ""
    assert anchors.fault(was, b"def load(x, y):\n") == "changed"
    assert anchors.fault(was, b"def loads(x):\n") == "gone"


# --- in a repository --------------------------------------------------------------------------------------------------


def commit(repo: Path, files: dict[str, str | None], message: str = "Change") -> None:
    for name, text in files.items():
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink() if text is None else path.write_text(text)
    conftest.git(repo, "add", "-A")
    conftest.git(repo, "commit", "-q", "-m", message)


@pytest.fixture
def told(repo: Path, memory: Path, learnloop: Run) -> Path:
    """A repository whose memory holds a lesson on a file of it."""
    commit(repo, {"src/load.py": "def load_rows(x):\n    pass\n"})
    done = learnloop("note", "Stream what `src/load.py` reads.", "--name", "stream", *TODAY, cwd=repo)
    assert done.code == 0, done.err
    return memory


def codes(ran: Ran) -> list[tuple[str, str]]:
    return [(row["code"], row["message"].split(" since")[0]) for row in ran.json["findings"]]


def verify(learnloop: Run, *words: str) -> Ran:
    return learnloop("verify", *words, *TODAY)


def test_nothing_is_stale_while_the_path_is_there(told: Path, repo: Path, learnloop: Run) -> None:
    done = verify(learnloop)
    assert (done.code, done.out) == (0, "1 lesson looked at: nothing that they speak of has changed or gone\n")
    commit(repo, {"src/load.py": "changed = True\n"})
    assert verify(learnloop).code == 0  # nobody verified what it was


def test_a_path_that_went_is_stale_everywhere(told: Path, repo: Path, learnloop: Run) -> None:
    """Design §9: verify and check list it, what serves it labels it."""
    commit(repo, {"src/load.py": None})
    done = verify(learnloop, "--json")
    assert (done.code, codes(done)) == (1, [("stale-anchor", "src/load.py went")])
    line = (told / "stream.md").read_text().splitlines()[done.json["findings"][0]["line"] - 1]
    assert "src/load.py" in line
    checked = learnloop("check", "--json", *TODAY)
    assert (checked.code, ("stale-anchor", "src/load.py went") in codes(checked)) == (0, True)
    recalled = learnloop("recall", "stream the rows", *TODAY)
    assert "[verify first: src/load.py went]" in recalled.out
    assert "`stream` [verify first: src/load.py went]\n" in learnloop("show", *TODAY).out
    assert learnloop("recall", "stream the rows", "--json", *TODAY).json["lessons"][0]["verify_first"] == [
        "src/load.py went"
    ]


def test_a_hook_labels_what_the_sync_at_the_end_of_a_session_found(
    told: Path, repo: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Design §9; the hook itself starts no git, and a command in between loses no label."""
    monkeypatch.setenv("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1")

    def labelled() -> bool:
        said = {"hook_event_name": "SessionStart", "source": "startup", "session_id": "3f2a81c0", "cwd": str(repo)}
        text = hooks.answer(json.dumps(said).encode())
        assert "`stream`" in text
        return "`stream` [verify first: src/load.py went]" in text

    commit(repo, {"src/load.py": None})
    assert not labelled()
    learnloop("sync", "--from-claude", cwd=repo)
    assert labelled()
    learnloop("note", "Buttons carry a label.", *TODAY, cwd=repo)
    assert labelled()
    commit(repo, {"src/load.py": "back\n"})
    learnloop("sync", "--from-claude", cwd=repo)
    assert not labelled()


def test_a_deletion_that_nobody_committed_counts(told: Path, repo: Path, learnloop: Run) -> None:
    (repo / "src" / "load.py").unlink()
    assert codes(verify(learnloop, "--json")) == [("stale-anchor", "src/load.py went")]


@pytest.mark.parametrize(
    "rule",
    [
        "Call `origin/main`, never `no/such/file.py`, and read `value.strip`.",
        "Look into `/etc/hosts` and `../other/app.py` and [there](../../../../elsewhere.md).",
        "Keep `.claude/memory/MEMORY.md` short, see [the other](other.md).",
    ],
)
def test_what_git_never_had_or_stands_outside_is_unknown(told: Path, repo: Path, learnloop: Run, rule: str) -> None:
    """Design §9: a path outside the repository is not stale, it is unknown."""
    assert learnloop("note", rule, "--new", *TODAY).code == 0
    assert verify(learnloop).code == 0


def test_what_had_gone_before_the_lesson_was_written_is_no_alarm(repo: Path, memory: Path, learnloop: Run) -> None:
    """ "Never bring `old.py` back" speaks of a file in its absence."""
    commit(repo, {"old.py": "x\n"})
    commit(repo, {"old.py": None})
    learnloop("note", "Never bring `old.py` back.", "--today", "2999-01-01", cwd=repo)
    assert verify(learnloop).code == 0


def test_what_git_ignores_by_now_is_no_alarm(repo: Path, memory: Path, learnloop: Run) -> None:
    commit(repo, {"dist/app.js": "x\n"})
    learnloop("note", "Never commit `dist/app.js`.", *TODAY, cwd=repo)
    commit(repo, {"dist/app.js": None, ".gitignore": "dist/\n"})
    assert verify(learnloop).code == 0


def test_what_a_sparse_checkout_leaves_out_is_no_alarm(told: Path, repo: Path, learnloop: Run) -> None:
    conftest.git(repo, "sparse-checkout", "set", "--no-cone", "/*", "!/src/")
    assert not (repo / "src").exists()
    assert verify(learnloop).code == 0


def test_fix_records_the_hash_in_one_commit_and_then_a_change_is_stale(told: Path, repo: Path, learnloop: Run) -> None:
    before = conftest.git(repo, "rev-list", "--count", "HEAD")
    done = verify(learnloop, "--fix", "--yes", "--json")
    assert (done.code, done.json["action"], done.json["verified"]) == (0, "verified", ["stream"])
    assert int(conftest.git(repo, "rev-list", "--count", "HEAD")) == int(before) + 1
    blob = conftest.git(repo, "rev-parse", "HEAD:src/load.py")
    assert f"  anchors:\n    - src/load.py {blob[:12]}\n" in (told / "stream.md").read_text()
    assert "Learnloop-Change: verify" in conftest.git(repo, "log", "-1", "--format=%B")
    assert verify(learnloop, "--fix", "--yes", "--json").json["action"] == "unchanged"

    commit(repo, {"src/load.py": "def load_rows(x):\n    return x\n"})
    assert codes(verify(learnloop, "--json")) == [("stale-anchor", "src/load.py changed")]
    assert "[verify first: src/load.py changed]" in learnloop("recall", "stream the rows", *TODAY).out
    assert verify(learnloop, "--fix", "--yes").code == 0
    assert verify(learnloop).code == 0


def test_fix_asks_first_and_without_a_terminal_writes_nothing(told: Path, repo: Path, learnloop: Run) -> None:
    head = conftest.git(repo, "rev-parse", "HEAD")
    for words in (("--fix",), ("--fix", "--dry-run")):
        done = verify(learnloop, *words)
        assert ("+    - src/load.py" in done.out, done.code) == (True, 0 if "--dry-run" in words else 1)
    assert conftest.git(repo, "rev-parse", "HEAD") == head
    assert "anchors" not in (told / "stream.md").read_text()


def test_what_went_is_accepted_only_for_a_lesson_that_is_named(told: Path, repo: Path, learnloop: Run) -> None:
    verify(learnloop, "--fix", "--yes")
    commit(repo, {"src/load.py": None})
    assert verify(learnloop, "--fix", "--yes").code == 1
    assert verify(learnloop, "stream", "--fix", "--yes").code == 0
    assert "    - src/load.py gone\n" in (told / "stream.md").read_text()
    assert verify(learnloop).code == 0
    commit(repo, {"src/load.py": "back\n"})
    assert codes(verify(learnloop, "--json")) == [("stale-anchor", "src/load.py returned")]


def test_a_symbol_is_found_where_one_file_defines_it(told: Path, repo: Path, learnloop: Run) -> None:
    learnloop("note", "Call `load_rows()` once.", "--name", "once", *TODAY)
    verify(learnloop, "--fix", "--yes")
    assert "    - src/load.py#load_rows " in (told / "once.md").read_text()
    commit(repo, {"src/load.py": "import os\n\n\ndef load_rows(x):\n    pass\n"})
    assert codes(verify(learnloop, "once", "--json")) == []
    commit(repo, {"src/load.py": "def read_rows(x):\n    pass\n"})
    assert codes(verify(learnloop, "once", "--json")) == [("stale-anchor", "src/load.py#load_rows went")]


def test_recall_starts_two_processes_of_git_at_most_for_it(
    told: Path, repo: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(repo, {"src/load.py": None, "a.py": "x\n"})
    started: list[str] = []
    real = subprocess.run
    row = Lesson("a", "a.md", "", rule="`src/load.py` `a.py` `b.py` `c/d.py` [x](e.py)", created="2026-01-01")
    where = place.find(repo)

    def counted(words: list[str], **more: object) -> object:
        started.append(" ".join(words))
        return real(words, **more)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "run", counted)
    found = standing.stale(where, repo, [row._replace(slug=f"s{n}") for n in range(5)], limit_s=5)
    assert [[str(one) for one in rows] for rows in found.values()] == [["src/load.py went"]] * 5
    assert len(started) <= 2
    started.clear()
    assert standing.stale(where, repo, [row._replace(rule="`a.py`")]) == {}
    assert started == []


def test_no_code_of_the_repository_runs(told: Path, repo: Path, learnloop: Run, tmp_path: Path) -> None:
    """Filters and signature programs of the configuration stay unused."""
    trap, script = tmp_path / "trap", tmp_path / "trap.sh"
    script.write_text(f"#!/bin/sh\ntouch {trap}\ncat\n")
    script.chmod(0o755)
    for key in ("filter.x.clean", "filter.x.smudge", "gpg.program", "core.fsmonitor", "diff.external"):
        conftest.git(repo, "config", key, str(script))
    conftest.git(repo, "config", "log.showSignature", "true")
    (repo / ".gitattributes").write_text("*.py filter=x diff=x\n")
    (repo / "src" / "load.py").write_text("changed\n")
    learnloop("note", "Read `gone/away.py` and `load_rows()`.", "--new", *TODAY)
    trap.unlink(missing_ok=True)
    verify(learnloop)
    verify(learnloop, "--fix")
    learnloop("recall", "stream the rows", *TODAY)
    assert not trap.exists()


def test_a_native_memory_speaks_of_the_repository_it_is_for(repo: Path, learnloop: Run) -> None:
    """Claude's own directory is a repository of its own; the code stands elsewhere."""
    commit(repo, {"src/load.py": "x\n"})
    assert learnloop("init", "--native", cwd=repo).code == 0
    learnloop("note", "Stream what `src/load.py` reads.", "--name", "stream", *TODAY, cwd=repo)
    assert verify(learnloop, "--fix", "--yes").code == 0
    commit(repo, {"src/load.py": "y\n"})
    assert codes(verify(learnloop, "--json")) == [("stale-anchor", "src/load.py changed")]


def test_a_skills_lesson_may_name_files_from_the_skills_folder(repo: Path, learnloop: Run) -> None:
    folder = repo / "skill"
    commit(repo, {"skill/SKILL.md": "---\nname: skill\ndescription: d\n---\n\nX\n", "skill/scripts/go.py": "x\n"})
    assert learnloop("init", "--skill", str(folder), cwd=repo).code == 0
    learnloop("note", "Start `scripts/go.py` first.", "--name", "go", *TODAY, cwd=folder)
    assert learnloop("verify", "--fix", "--yes", *TODAY, cwd=folder).code == 0
    commit(repo, {"skill/scripts/go.py": None})
    assert codes(learnloop("verify", "--json", *TODAY, cwd=folder)) == [("stale-anchor", "scripts/go.py went")]


def test_a_link_that_leads_out_of_the_repository_is_unknown(told: Path, repo: Path, learnloop: Run) -> None:
    (repo / "out.py").symlink_to("/etc/hosts")
    learnloop("note", "Read `out.py`.", "--name", "out", *TODAY)
    verify(learnloop, "--fix", "--yes")
    assert "anchors" not in (told / "out.md").read_text()


def test_two_hashes_after_a_merge_are_fine_while_one_holds(told: Path, repo: Path, learnloop: Run) -> None:
    verify(learnloop, "--fix", "--yes")
    text = (told / "stream.md").read_text()
    (told / "stream.md").write_text(text.replace("  anchors:\n", "  anchors:\n    - src/load.py 000000000000\n"))
    assert verify(learnloop).code == 0


def test_without_git_it_is_one_line(tmp_path: Path, learnloop: Run) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "MEMORY.md").write_text("# Memory\n")
    done = learnloop("verify", "--memory", str(tmp_path / "m"), cwd=tmp_path)
    assert (done.code, done.err.count("\n")) == (4, 1)


def test_words_that_do_not_go_together_are_refused(told: Path, learnloop: Run) -> None:
    for words in (("--accept",), ("--witness", "--fix"), ("--witness", "stream")):
        done = verify(learnloop, *words)
        assert (done.code, done.err.count("\n")) == (2, 1)


def test_a_slow_history_leaves_the_question_open(told: Path, repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo / "src" / "load.py").unlink()
    row = Lesson("a", "a.md", "", rule="`src/load.py`")

    def slow(*_: object, **more: object) -> object:
        raise git.GitError(f"git log took more than {more['limit_s']} s")

    monkeypatch.setattr(git, "call", slow)
    assert standing.stale(place.find(repo, finder=repos.near), repo, [row], limit_s=1) == {}
