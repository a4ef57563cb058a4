"""The merge driver of the state file with real git: by key; what it cannot merge stays an ordinary conflict."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop_md import mergestate
from learnloop_md.merging import UnreadableSideError, merge
from tests.conftest import CopyOf, Run, git
from tests.homes import Home, make_home
from tests.test_merge_drivers import WAYS, run

LINES = {
    "skill": "skill/memory.json merge=learnloop-state",
    "project": ".claude/memory/memory.json merge=learnloop-state",
}


@pytest.fixture(params=["skill", "project"])
def home(request: pytest.FixtureRequest, tmp_path: Path, copy_of: CopyOf, learnloop: Run) -> Home:
    def build(root: Path) -> Home:
        made = make_home(request.param, root, learnloop)
        assert learnloop("git-config", "--enable", cwd=made.root).code == 0
        return made

    return copy_of(f"with drivers {request.param}", build, tmp_path / "code")


def state_file(home: Home) -> Path:
    return (home.root / "skill" if home.kind == "skill" else home.folder) / "memory.json"


def said(home: Home) -> Any:
    return json.loads(state_file(home).read_text("utf-8"))


def write(home: Home, text: str) -> None:
    state_file(home).write_text(text, "utf-8")
    git(home.root, "add", "-A")
    git(home.root, "commit", "-q", "-m", "Set a state")


def branched(home: Home, base: str, ours: str, theirs: str) -> None:
    """A base on main, and the branches ours and theirs."""
    write(home, base)
    git(home.root, "branch", "start")
    for name, text in (("ours", ours), ("theirs", theirs)):
        git(home.root, "checkout", "-q", "-b", name, "start")
        write(home, text)


def joined(home: Home, way: str) -> int:
    """Theirs brought to ours by merge or cherry-pick, or rebased on it; git's exit code."""
    git(home.root, "checkout", "-q", "theirs" if way == "rebase" else "ours")
    words = {"merge": ["merge", "--no-edit", "theirs"], "rebase": ["rebase", "-q", "ours"]}
    return run(home.root, *words.get(way, ["cherry-pick", "theirs"]))[0]


@pytest.mark.parametrize("way", WAYS)
def test_two_branches_that_count_and_set_merge_by_key(home: Home, way: str) -> None:
    """R000-71, R003-51: neighbouring lines are no conflict; of two counts the higher one; sorted, two spaces."""
    base = mergestate.rendered({"mode": "slow", "page": 1, "runs": 3})
    ours = mergestate.rendered({"mode": "slow", "page": 4, "runs": 5, "bad": ["a.csv"]})
    theirs = mergestate.rendered({"mode": "fast", "page": 1, "runs": 9, "day": "today", "odd": {"b": 1, "a": None}})
    branched(home, base, ours, theirs)
    assert joined(home, way) == 0
    merged = {"bad": ["a.csv"], "day": "today", "mode": "fast", "odd": {"a": None, "b": 1}, "page": 4, "runs": 9}
    assert state_file(home).read_text("utf-8") == mergestate.rendered(merged)
    assert git(home.root, "status", "--porcelain") == ""
    assert home.run("check").code == 0


def test_counts_made_by_the_command_on_two_branches_merge(home: Home) -> None:
    assert home.run("state", "set", "runs", "1").code == 0
    git(home.root, "branch", "theirs")
    for words in (("incr", "runs"), ("set", "ours", "1")):
        assert home.run("state", *words).code == 0
    git(home.root, "checkout", "-q", "theirs")
    for words in (("incr", "runs", "4"), ("set", "theirs", "1")):
        assert home.run("state", *words).code == 0
    git(home.root, "checkout", "-q", "main")
    assert run(home.root, "merge", "--no-edit", "theirs")[0] == 0
    assert said(home) == {"ours": 1, "runs": 5, "theirs": 1}
    assert home.run("sync").code == 0
    assert git(home.root, "status", "--porcelain") == ""


@pytest.mark.parametrize("way", WAYS)
def test_a_key_that_both_set_otherwise_is_an_ordinary_conflict_of_that_key(home: Home, way: str) -> None:
    """git knows all three versions, the other keys are merged, and `sync --resolve` names the key."""
    base, ours, theirs = (
        mergestate.rendered({"mode": mode, "page": page}) for mode, page in (("slow", 1), ("fast", 4), ("off", 9))
    )
    branched(home, base, ours, theirs)
    assert joined(home, way) != 0
    text = state_file(home).read_text("utf-8")
    assert (text.count("<<<<<<< ours"), text.count(">>>>>>> theirs"), '\n  "page": 9\n' in text) == (1, 1, True)
    assert [row.split()[2] for row in git(home.root, "ls-files", "-u").splitlines()] == ["1", "2", "3"]
    done = home.run("sync", "--resolve")
    assert (done.code, "both sides set a key otherwise: mode is" in done.err) == (1, True)
    state_file(home).write_text(mergestate.rendered({"mode": "off", "page": 9}))
    done = home.run("sync", "--resolve")
    assert (done.code, "between the markers" in done.err, "git add it" in done.err) == (1, False, True)
    assert said(home) == {"mode": "off", "page": 9}
    git(home.root, "add", "-A")
    words = {"merge": ["commit", "--no-edit"]}.get(way, [way, "--continue"])
    assert run(home.root, *words)[0] == 0
    assert said(home) == {"mode": "off", "page": 9}


@pytest.mark.parametrize(
    "bad", ["{", "[1]\n", '{"a": 1, "a": 2}\n', '{"page": NaN}\n', "", '{"page": 1e999}\n'], ids=repr
)
def test_a_side_that_is_no_state_is_an_ordinary_conflict(home: Home, bad: str) -> None:
    """Even where the lines would fit together: nobody read what they mean."""
    base = mergestate.rendered({"page": 1})
    branched(home, base, bad, mergestate.rendered({"page": 2}))
    assert joined(home, "merge") != 0
    stages = git(home.root, "ls-files", "-u").splitlines()
    assert [row.split()[2] for row in stages] == ["1", "2", "3"]
    found = {git(home.root, "cat-file", "-p", row.split()[1]).strip() for row in stages}
    assert bad.strip() in found


def test_a_state_settled_by_hand_beside_an_unreadable_side_is_only_to_be_added(home: Home) -> None:
    branched(home, mergestate.rendered({"page": 1}), "{", mergestate.rendered({"page": 2}))
    assert joined(home, "merge") != 0
    assert "settle it by hand" in home.run("sync", "--resolve").err
    state_file(home).write_text(mergestate.rendered({"page": 3}))
    done = home.run("sync", "--resolve")
    assert (done.code, "settle it by hand" in done.err, "git add it" in done.err) == (1, False, True)


def test_deleted_here_and_changed_there_is_a_conflict_and_only_deleted_is_not(home: Home) -> None:
    base = mergestate.rendered({"a": 1, "b": 1, "z": 1})
    branched(home, base, mergestate.rendered({"a": 1}), mergestate.rendered({"a": 1, "b": 1, "z": 2}))
    assert joined(home, "merge") != 0
    text = state_file(home).read_text("utf-8")
    taken = {re.sub(MARKED, lambda m, side=side: m[side], text) for side in (1, 2)}  # type: ignore[misc]
    assert sorted(map(len, map(json.loads, taken))) == [1, 2]  # valid JSON, whichever side is taken


def test_a_clone_without_the_driver_loses_nothing(home: Home, learnloop: Run) -> None:
    """Design §6: git merges by lines, as before there was a driver."""
    assert learnloop("git-config", "--disable", cwd=home.root).code == 0
    branched(home, *(mergestate.rendered({"runs": n}) for n in (1, 2, 3)))
    assert joined(home, "merge") != 0
    assert state_file(home).read_text("utf-8").count("<<<<<<<") == 1
    assert home.run("sync", "--resolve").code == 0
    assert said(home) == {"runs": 3}


# --- .gitattributes ---------------------------------------------------------------------------------------------------


def test_init_names_the_driver_of_the_state_in_front_of_the_document(home: Home) -> None:
    rows = (home.root / ".gitattributes").read_text("utf-8").splitlines()
    assert rows[1] == LINES[home.kind]
    path = state_file(home).relative_to(home.root).as_posix()
    assert git(home.root, "check-attr", "merge", path).endswith(": learnloop-state")


def test_init_again_adds_the_line_that_an_earlier_version_did_not_write(home: Home, learnloop: Run) -> None:
    """Nothing else of the file changes, and until then nothing is missing."""
    attributes = home.root / ".gitattributes"
    now = attributes.read_text("utf-8")
    attributes.write_text("*.png binary\n" + now.replace(f"{LINES[home.kind]}\n", "") + "*.x text\n", "utf-8")
    git(home.root, "commit", "-qam", "As an earlier version wrote it")
    assert home.run("state", "set", "page", "1").code == 0
    assert "drivers are not registered" not in home.run("status").out
    told = learnloop("git-config", "--enable", cwd=home.root).out
    path = state_file(home).relative_to(home.root).as_posix()
    assert f"{path}: no line of .gitattributes gives it our driver: learnloop init" in told
    words = ("--skill", "skill") if home.kind == "skill" else ()
    assert learnloop("init", *words, cwd=home.root).code == 0
    assert attributes.read_text("utf-8") == f"*.png binary\n{now}*.x text\n"
    assert git(home.root, "status", "--porcelain") == ""
    assert learnloop("git-config", "--enable", cwd=home.root).out.count("memory.json") == 0


def test_a_clone_that_knows_only_the_earlier_drivers_is_told(home: Home) -> None:
    git(home.root, "config", "--remove-section", "merge.learnloop-state")
    assert "drivers are not registered" in home.run("status").out


# --- as a function ----------------------------------------------------------------------------------------------------

MARKED = re.compile(r"<<<<<<< ours\n(.*?)=======\n(.*?)>>>>>>> theirs\n", re.DOTALL)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)
STATES = st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=4).map(lambda found: json.dumps(found).encode())


def spelled(value: Any) -> str:
    """A value as JSON: to Python 1, 1.0 and true are equal."""
    return json.dumps(value, sort_keys=True)


@given(STATES | st.none(), STATES, STATES, st.randoms(use_true_random=False))
def test_whichever_side_a_person_takes_of_each_key_the_file_is_a_state(
    base: bytes | None, ours: bytes, theirs: bytes, random: Random
) -> None:
    """Any JSON is kept as it is: each key has the value of one of the sides."""
    done = merge("state", "memory.json", base, ours, theirs)
    assert done.content is not None
    taken = MARKED.sub(lambda m: m[random.choice((1, 2))], done.content.decode())
    found, sides = mergestate.parse(taken), [mergestate.parse(side.decode()) for side in (ours, theirs)]
    assert all(spelled(value) in [spelled(side.get(key)) for side in sides] for key, value in found.items())
    for key in sides[0].keys() & sides[1].keys():
        assert key in found or b"<<<<<<<" in done.content


@given(STATES, st.binary(max_size=8))
def test_a_side_of_any_bytes_ends_in_a_merge_or_in_an_ordinary_conflict(state: bytes, odd: bytes) -> None:
    for sides in ((state, odd, b'{"z": 1}'), (state, b'{"z": 1}', odd)):
        with contextlib.suppress(UnreadableSideError):
            done = merge("state", "memory.json", *sides)
            assert done.content == odd or mergestate.parse(MARKED.sub(lambda m: m[1], (done.content or b"").decode()))


def test_the_command_writes_the_merge_and_leaves_what_it_cannot_read(tmp_path: Path, learnloop: Run) -> None:
    files = [tmp_path / name for name in ("base", "ours", "theirs")]
    for path, text in zip(files, ('{"n": 1}', '{"n": 2, "a": 1}', '{"n": 3}'), strict=True):
        path.write_text(text)
    words = ("merge-driver", "state", *map(str, files), "skill/memory.json")
    assert learnloop(*words) == (0, "", "")
    assert files[1].read_text() == mergestate.rendered({"a": 1, "n": 3})
    files[2].write_text('{"a": "x"}')
    files[1].write_text('{"a": "y"}')
    assert learnloop(*words).code == 65
    files[1].write_text("{")
    ran = learnloop(*words)
    assert (ran.code > 128, files[1].read_text(), ran.err.count("\n")) == (True, "{", 1)
