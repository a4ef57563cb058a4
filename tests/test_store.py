"""The files on disk: what is read, what is refused, and that a write is whole or not at all."""

from __future__ import annotations

import os
import socket
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from learnloop_md import place, store
from learnloop_md.errors import UnableError
from learnloop_md.store import Agreed, Ledger, WriteError
from tests.conftest import git


def reasons(folder: Path) -> dict[str, str]:
    return {row.path: row.reason for row in store.read(folder).refused}


def test_markdown_files_are_read_with_their_bytes(tmp_path: Path) -> None:
    (tmp_path / "topic").mkdir()
    (tmp_path / "topic" / "a.md").write_bytes(b"\xff\r\n")
    (tmp_path / "b.txt").write_text("no")
    assert store.read(tmp_path).data == {"topic/a.md": b"\xff\r\n"}


def test_hidden_folders_are_not_ours(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "a.md").write_text("x")
    assert store.read(tmp_path).data == {}


def test_what_is_no_regular_file_is_refused_without_being_opened(tmp_path: Path) -> None:
    """Reliability 32: neither a pipe nor a socket nor a folder hangs a reader."""
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(tmp_path / "socket.md"))
        found = reasons(tmp_path)
    assert found == dict.fromkeys(("pipe.md", "folder.md", "socket.md"), "not-a-regular-file")


def test_a_file_over_the_limit_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "big.md").open("wb") as file:
        file.truncate(2**31)
    assert reasons(tmp_path) == {"big.md": "too-large"}


def test_a_second_name_of_a_file_elsewhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (tmp_path / "memory").mkdir()
    os.link(tmp_path / "secret", tmp_path / "memory" / "a.md")
    assert reasons(tmp_path / "memory") == {"a.md": "hardlink"}


@pytest.mark.parametrize("goal", ["../outside.md", "nowhere.md", "/dev/zero", "loop.md"])
def test_a_link_that_leads_nowhere_of_ours_is_refused(tmp_path: Path, goal: str) -> None:
    """Reliability 31."""
    (tmp_path / "outside.md").write_text("x")
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "loop.md").symlink_to(goal)
    assert reasons(tmp_path / "memory") == {"loop.md": "symlink-escape"}


def test_a_link_within_the_memory_counts_once(tmp_path: Path) -> None:
    """Design §11."""
    (tmp_path / "a.md").write_text("x")
    (tmp_path / "b.md").symlink_to("a.md")
    assert store.read(tmp_path) == store.Files({"a.md": b"x"})


def test_a_write_keeps_the_mode(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("old")
    path.chmod(0o640)
    store.write(path, b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o640)


def test_a_new_file_has_the_mode_that_the_umask_gives(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        store.write(tmp_path / "deep" / "a.md", b"x")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "deep" / "a.md").stat().st_mode) == 0o640


def test_a_link_is_written_through_and_kept(tmp_path: Path) -> None:
    (tmp_path / "real.md").write_text("old")
    (tmp_path / "link.md").symlink_to("real.md")
    store.write(tmp_path / "link.md", b"new")
    assert ((tmp_path / "link.md").is_symlink(), (tmp_path / "real.md").read_bytes()) == (True, b"new")


def test_nothing_removes_a_file_and_what_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    store.write(tmp_path / "a.md", None)
    store.write(tmp_path / "a.md", None)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reliability 12."""

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "a.md").write_text("old")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(UnableError, match="No space left"):
        store.write(tmp_path / "a.md", b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.md", b"old")]


def test_several_files_are_written_all_or_none(tmp_path: Path) -> None:
    """The second one cannot be written: a file stands where its folder would be."""
    (tmp_path / "a.md").write_text("old")
    (tmp_path / "file").write_text("x")
    files: dict[str, bytes | None] = {"a.md": b"new", "b.md": b"new", "file/c.md": b"new"}
    with pytest.raises(UnableError):
        store.write_all(tmp_path, files)
    assert ((tmp_path / "a.md").read_text(), (tmp_path / "b.md").exists()) == ("old", False)


def test_a_file_that_cannot_be_read_is_an_answer(tmp_path: Path) -> None:
    with pytest.raises(UnableError):
        store.read_bytes(tmp_path)
    assert store.read_bytes(tmp_path / "none") is None


def test_the_ledger_comes_back_as_it_was_kept(memory: Path, repo: Path) -> None:
    item: dict[str, Any] = {"message": "m\n", "files": {"a.md": "100644 x", "b.md": None}, "was": {}, "below": {}}
    item["head"] = "abc"
    kept = Ledger({"新": Agreed("新.md", "text \udcff", "- [x](x)", "current")}, "abc", (item,))
    found = place.find(repo)
    store.save_ledger(found, kept)
    assert store.load_ledger(found) == kept
    del item["below"]  # as a version before had it
    store.save_ledger(found, kept)
    assert store.load_ledger(found) == kept._replace(queue=({**item, "below": {}},))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"agreed": {"a": [1]}, "commit": "", "queue": []}'])
def test_a_damaged_ledger_counts_as_none(memory: Path, repo: Path, text: str) -> None:
    found = place.find(repo)
    (found.state / "ledger.json").write_text(text)
    assert store.load_ledger(found) is None


def test_the_state_stands_in_the_git_directory_shared_by_worktrees(repo: Path, memory: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "side")
    here, there = (place.find(where).state for where in (repo, tmp_path / "tree"))
    assert here == there
    assert here.is_relative_to(repo / ".git" / "learnloop")


def test_without_git_the_state_stands_below_the_state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "MEMORY.md").write_text("# Memory\n")
    assert place.find(tmp_path, str(tmp_path)).state.is_relative_to(tmp_path / "state" / "learnloop")


def test_a_lock_that_cannot_be_made_is_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    (tmp_path / "MEMORY.md").write_text("# Memory\n")
    with pytest.raises(UnableError), store.locked(place.find(tmp_path, str(tmp_path))):
        pass


def test_a_folder_of_lessons_that_is_a_link_is_neither_read_nor_written(tmp_path: Path) -> None:
    """design §11: no link leads out of a memory, a folder's no more than a file's."""
    outside, folder = tmp_path / "outside", tmp_path / "memory"
    outside.mkdir()
    folder.mkdir()
    (outside / "canary.md").write_text("---\nname: canary\n---\n\nOutside.\n")
    (folder / "lessons").symlink_to(outside)
    found = store.read(folder, "lessons")
    assert (found.data, [q.reason for q in found.refused]) == ({}, ["symlink-escape"])
    with pytest.raises(WriteError, match="symbolic link"):
        store.write_all(folder, {"lessons/new.md": b"x"})
    assert [path.name for path in outside.iterdir()] == ["canary.md"]


def test_a_file_swapped_for_a_link_is_never_read_through_it(tmp_path: Path) -> None:
    """The matrix of faults: whoever may write into the folder cannot make us read outside, in 1,000 tries."""
    outside, folder = tmp_path / "outside", tmp_path / "memory"
    (outside / "sub").mkdir(parents=True)
    (folder / "sub").mkdir(parents=True)
    for path in (outside / "one.md", outside / "sub" / "two.md"):
        path.write_text("canary")
    stop = threading.Event()

    def swap() -> None:
        """A file and a folder, each in turn the real thing and a link to the same name outside."""
        while not stop.is_set():
            for name in ("one.md", "sub"):
                link, real = tmp_path / f"{name}.link", tmp_path / f"{name}.real"
                link.symlink_to(outside / name)
                if name == "sub":
                    (folder / name).rename(real)
                    link.rename(folder / name)
                    (folder / name).unlink()
                    real.rename(folder / name)
                else:
                    link.replace(folder / name)
                    real.write_text("inside")
                    real.replace(folder / name)

    (folder / "one.md").write_text("inside")
    (folder / "sub" / "two.md").write_text("inside")
    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        read = [data for _ in range(1000) for data in store.read(folder).data.values()]
    finally:
        stop.set()
        swapper.join()
    assert read
    assert b"canary" not in read
