"""The git door: a clean environment, no code of a repository's configuration, and nothing of a person's is swept."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from learnloop_md import git as door
from learnloop_md import plumbing
from learnloop_md.errors import UnableError
from learnloop_md.git import Repo
from tests.conftest import Failing, Run, git


def found(folder: Path) -> Repo:
    repo = door.find(folder)
    assert repo is not None
    return repo


def commit(root: Path, *paths: str) -> str:
    """Commit paths as they stand on disk."""
    repo = found(root)
    heads = door.at_head(repo, paths)
    return plumbing.commit(repo, door.head(repo), plumbing.Commit(door.on_disk(repo, heads), "ours\n"))


def test_the_scrubbed_names_are_the_ones_git_calls_local(repo: Path) -> None:
    """Design §6: scrub exactly what `git rev-parse --local-env-vars` prints (one name older versions still know)."""
    said = set(git(repo, "rev-parse", "--local-env-vars").split())
    assert said | {"GIT_INTERNAL_SUPER_PREFIX"} == set(door.LOCAL_ENVIRONMENT)


def test_the_environment_keeps_the_persons_own_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    env = door.environment()
    assert "GIT_DIR" not in env
    assert env["GIT_CONFIG_GLOBAL"] == os.environ["GIT_CONFIG_GLOBAL"]


def test_scrubbing_gives_the_environment_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    with door.scrubbed():
        inside = os.environ.get("GIT_DIR")
    assert (inside, os.environ["GIT_DIR"]) == (None, "/elsewhere")


def test_hostile_configuration_never_runs(repo: Path, tmp_path: Path, learnloop: Run) -> None:
    """Reliability 26: fsmonitor, hooks, aliases, pager, editor and external diff of a repository stay dead."""
    canary = tmp_path / "canary"
    script = tmp_path / "evil"
    script.write_text(f"#!/bin/sh\ncat /proc/$PPID/cmdline >>{canary}\nexit 1\n")
    script.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for hook in ("pre-commit", "post-commit", "commit-msg", "reference-transaction", "post-index-change"):
        shutil.copy2(script, hooks / hook)
    for key in ("core.fsmonitor", "core.editor", "core.pager", "diff.external"):
        git(repo, "config", key, str(script))
    git(repo, "config", "alias.status", f"!{script}")
    git(repo, "config", "core.hooksPath", str(hooks))
    codes = [
        learnloop(*words, cwd=repo).code
        for words in (("init",), ("note", "Read the log first."), ("status",), ("log",), ("undo",))
    ]
    assert codes == [0, 0, 0, 0, 0]
    assert (canary.read_text() if canary.exists() else "") == ""


def test_a_commit_holds_our_paths_alone(repo: Path) -> None:
    """R002-42, design §6: what the person has staged is not in our commit and stays staged."""
    (repo / "staged.txt").write_text("theirs\n")
    git(repo, "add", "staged.txt")
    (repo / "ours.md").write_text("ours\n")
    commit(repo, "ours.md")
    assert git(repo, "show", "--format=", "--name-only", "HEAD") == "ours.md"
    assert git(repo, "status", "--short") == "A  staged.txt"


def test_index_entries_of_the_person_stay_byte_for_byte(repo: Path) -> None:
    """Staged, staged and edited, intent-to-add, executable: `ls-files -s` outside our path is the same."""
    for name in ("staged", "both", "intended", "tool"):
        (repo / name).write_text(f"{name}\n")
    git(repo, "add", "staged", "both", "tool")
    git(repo, "update-index", "--chmod=+x", "tool")
    git(repo, "add", "--intent-to-add", "intended")
    (repo / "both").write_text("edited again\n")
    (repo / "app.py").write_text("x = 22\n")
    (repo / "loose").write_text("untracked\n")
    before = git(repo, "ls-files", "-s"), git(repo, "status", "--short")
    (repo / "ours.md").write_text("ours\n")
    commit(repo, "ours.md")
    listed = git(repo, "ls-files", "-s").splitlines()
    rest = "\n".join(line for line in listed if not line.endswith("\tours.md"))
    assert (rest, git(repo, "status", "--short")) == before


def test_an_edit_in_the_same_second_is_still_seen(repo: Path) -> None:
    """git tells by the index's own time which entries may hide an edit; our copy of the index must keep that time."""
    index, file = repo / ".git" / "index", repo / "app.py"
    when = file.stat().st_mtime
    file.write_text("x = 2\n")  # of the same size
    os.utime(file, (when, when))
    os.utime(index, (when, when))
    (repo / "ours.md").write_text("ours\n")
    commit(repo, "ours.md")
    assert git(repo, "status", "--short") == " M app.py"


def test_a_known_file_keeps_its_mode_in_the_tree(repo: Path) -> None:
    (repo / "ours.md").write_text("ours\n")
    (repo / "ours.md").chmod(0o755)
    git(repo, "add", "ours.md")
    git(repo, "commit", "-q", "-m", "Theirs")
    (repo / "ours.md").write_text("ours, edited\n")
    commit(repo, "ours.md")
    assert git(repo, "ls-tree", "HEAD", "ours.md").startswith("100755 ")


def test_a_new_file_brings_its_own_mode(repo: Path) -> None:
    (repo / "ours.md").write_text("ours\n")
    (repo / "ours.md").chmod(0o755)
    commit(repo, "ours.md")
    assert git(repo, "status", "--short") == ""


def test_a_removed_file_leaves_the_tree_and_the_index(repo: Path) -> None:
    (repo / "app.py").unlink()
    commit(repo, "app.py")
    assert (git(repo, "ls-tree", "HEAD"), git(repo, "ls-files")) == ("", "")


def test_content_goes_through_the_filters(repo: Path) -> None:
    """Reliability 27: a clean filter (git-crypt, LFS) is applied; bypassing it would publish plain text."""
    git(repo, "config", "filter.loud.clean", "tr a-z A-Z")
    (repo / ".gitattributes").write_text("*.md filter=loud\n")
    (repo / "ours.md").write_text("ours\n")
    commit(repo, "ours.md")
    assert git(repo, "show", "HEAD:ours.md") == "OURS"


def test_a_locked_index_is_a_reason_not_a_loss(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reliability 9: somebody else's lock is waited for, then reported, and never removed."""
    monkeypatch.setattr(plumbing, "_LOCK_WAIT_S", 0.05)
    lock = repo / ".git" / "index.lock"
    lock.write_bytes(b"")
    (repo / "ours.md").write_text("ours\n")
    with pytest.raises(door.GitError) as caught:
        commit(repo, "ours.md")
    assert caught.value.code == "index-locked"
    assert lock.read_bytes() == b""


def test_nothing_of_ours_is_left_in_the_git_directory(repo: Path) -> None:
    before = {path.name for path in (repo / ".git").iterdir()}
    (repo / "ours.md").write_text("ours\n")
    commit(repo, "ours.md")
    assert {path.name for path in (repo / ".git").iterdir()} - before == {"learnloop"}
    assert [path.name for path in (repo / ".git" / "learnloop").iterdir()] == ["lock"]


def test_a_split_index_stays_usable(repo: Path) -> None:
    git(repo, "update-index", "--split-index")
    (repo / "ours.md").write_text("ours\n")
    commit(repo, "ours.md")
    assert git(repo, "status", "--short") == ""


def test_the_status_tells_head_branch_and_letters_in_one_call(repo: Path) -> None:
    git(repo, "mv", "app.py", "b.py")
    (repo / "new file.md").write_text("x\n")
    now = door.status(found(repo), "")
    assert now.head == git(repo, "rev-parse", "HEAD")
    assert (now.branch, now.paths) == ("main", {"app.py": "D ", "b.py": "A ", "new file.md": "??"})


def test_the_status_shows_an_unmerged_path(repo: Path) -> None:
    git(repo, "switch", "-q", "-c", "other")
    (repo / "app.py").write_text("x = 2\n")
    git(repo, "commit", "-q", "-am", "Two")
    git(repo, "switch", "-q", "main")
    (repo / "app.py").write_text("x = 3\n")
    git(repo, "commit", "-q", "-am", "Three")
    door.call(repo, "merge", "other", check=False)
    assert door.changed(found(repo), "") == {"app.py": "UU"}


def test_a_rule_is_named_with_its_line_even_with_colons(repo: Path) -> None:
    (repo / ".gitignore").write_text("# a:b\na:*\n")
    assert door.ignored_by(found(repo), "a:b") == ".gitignore:2:a:*"


def test_a_negated_rule_does_not_ignore(repo: Path) -> None:
    (repo / ".gitignore").write_text("*.md\n!keep.md\n")
    assert door.ignored_by(found(repo), "keep.md") == ""


def test_an_excluded_path_is_excluded_once(repo: Path) -> None:
    assert door.exclude(found(repo), "notes/a b.md")
    assert not door.exclude(found(repo), "notes/a b.md")
    assert (repo / ".git/info/exclude").read_text().count("/notes/a\\ b.md") == 1


def test_a_folder_outside_git_has_no_repository(tmp_path: Path) -> None:
    assert door.find(tmp_path / "not" / "yet") is None


def test_inside_the_git_directory_there_is_no_work_tree(repo: Path) -> None:
    assert door.find(repo / ".git") is None


def test_a_bare_repository_is_refused(tmp_path: Path) -> None:
    """Reliability 15."""
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    with pytest.raises(UnableError) as caught:
        door.find(tmp_path / "bare.git")
    assert caught.value.code == "bare-repository"


def test_a_repository_of_somebody_else_is_refused_with_the_way_out(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reliability 29: git is asked before anything is written."""
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(UnableError) as caught:
        door.find(repo)
    assert (caught.value.code, "safe.directory" in caught.value.hint) == ("unsafe-directory", True)


def test_a_broken_repository_is_an_answer(repo: Path) -> None:
    (repo / ".git" / "config").write_text("[core\n")
    with pytest.raises(UnableError, match="git cannot read this repository"):
        door.find(repo)


def test_a_nested_repository_is_not_held(repo: Path) -> None:
    (repo / "inner" / "deep").mkdir(parents=True)
    git(repo / "inner", "init", "-q")
    outer = found(repo)
    assert outer.holds(repo / "other")
    assert not outer.holds(repo / "inner" / "deep")
    assert not outer.holds(repo.parent)


def test_the_main_root_of_a_linked_worktree_is_the_main_checkout(repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "-q", str(tmp_path / "linked"))
    linked = found(tmp_path / "linked")
    assert (linked.is_linked_worktree, linked.main_root) == (True, repo)


def test_a_worktree_of_a_bare_repository_is_its_own_root(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(repo), "bare.git")
    git(tmp_path / "bare.git", "worktree", "add", "-q", str(tmp_path / "linked"), "main")
    assert found(tmp_path / "linked").main_root == tmp_path / "linked"


def test_missing_objects_read_as_nothing(repo: Path) -> None:
    assert door.blobs(found(repo), ["HEAD:none", "HEAD:app.py", "0" * 40]) == [b"", b"x = 1\n", b""]
    assert door.blobs(found(repo), []) == []


def test_staged_content_is_read_from_the_hooks_own_index(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In `git commit -a` the hook's index is another file than .git/index."""
    (repo / "app.py").write_text("x = 2\n")
    shutil.copy2(repo / ".git/index", repo / ".git/next-index")
    door.call(repo, "add", "app.py", extra={"GIT_INDEX_FILE": str(repo / ".git/next-index")})
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/next-index")
    assert door.staged(found(repo), "") == {"app.py": b"x = 2\n"}


def test_a_tree_is_read_with_its_files(repo: Path) -> None:
    assert door.tree(found(repo), "HEAD", "") == {"app.py": b"x = 1\n"}


def test_the_default_branch_is_the_remotes_else_main(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(repo), "clone")
    git(repo, "branch", "-m", "main", "trunk")
    assert door.default_branch(found(tmp_path / "clone")) == "main"
    assert door.default_branch(found(repo)) == ""


def test_what_git_refuses_is_one_line(repo: Path) -> None:
    with pytest.raises(door.GitError, match="git rev-parse failed"):
        door.out(repo, "rev-parse", "--verify", "nothing")


def test_without_git_there_is_no_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reliability 14: files only."""
    monkeypatch.setenv("PATH", "/nowhere")
    assert door.find(tmp_path) is None


def test_a_repository_without_git_is_refused(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reliability 14: worked on as files alone, its memory would part from its history."""
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(door.GitError) as caught:
        door.find(repo)
    assert (caught.value.code, caught.value.hint) == ("no-git", "install git, or work without it")


def test_the_file_mode_on_disk_is_not_touched(repo: Path) -> None:
    (repo / "ours.md").write_text("ours\n")
    (repo / "ours.md").chmod(0o640)
    commit(repo, "ours.md")
    assert stat.S_IMODE((repo / "ours.md").stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("words", "ask"),
    [
        ("rev-parse --verify", door.head),
        ("rev-parse --verify", lambda repo: door.resolve(repo, "main")),
        ("merge-base --is-ancestor", lambda repo: door.is_ancestor(repo, "HEAD", "main")),
        ("symbolic-ref --quiet", door.branch),
        ("ls-tree -r", lambda repo: door.at_head(repo, ["app.py"])),
        ("log -g", door.recent_messages),
        ("config --type=bool", door.signs),
    ],
)
def test_git_that_fails_has_not_said_no(
    words: str, ask: Callable[[Repo], object], repo: Path, git_fails: Failing
) -> None:
    """Reliability 11: else there is no HEAD, no branch, no signature, and what follows is done to that."""
    with git_fails(words), pytest.raises(door.GitError, match="unable to read"):
        ask(found(repo))


def test_what_git_does_not_know_is_a_no(repo: Path) -> None:
    assert not door.is_ancestor(found(repo), "1" * 40, "HEAD")
    assert door.entries(found(repo), "1" * 40, ["."]) == {}
    assert [door.resolve(found(repo), name) for name in ("nowhere", "HEAD@{99}", "HEAD..HEAD", "")] == [""] * 4
