"""What a forge will not merge: files that both sides changed, lessons of one name, rules of one number."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from learnloop_md import git
from learnloop_md.checks import ERROR, WARNING
from learnloop_md.comparison import Found
from learnloop_md.lines import split_lines
from learnloop_md.sides import Side

_MOST = 50  # files that git is asked to merge: after so many a person brings the branch up to date first
_BY_HAND = ("SKILL.md", "learnings.md")  # a skill's own, beside its memory


def find(base: Side, head: Side, theirs: Side, paths: Collection[str]) -> list[Found]:
    """The clashes of head with where the base's branch has gone; git's own merge of lines, as forges run no drivers."""
    also = set(paths) | {path for path in theirs.listed if path.endswith(".md") and path in head.listed}
    both = [p for p in sorted(also) if not (base.same(head, p) or base.same(theirs, p) or head.same(theirs, p))]
    for side in (base, head, theirs):
        side.fetch(both)
    found: list[Found] = []
    for path in both[:_MOST]:
        is_ours = path in paths and not path.endswith(_BY_HAND)
        found += _of_file(path, base.read(path), head.read(path), theirs.read(path), theirs.name, is_ours=is_ours)
    return found


def _of_file(
    path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None, name: str, *, is_ours: bool
) -> Iterator[Found]:
    if ours is None or theirs is None:
        if base is not None:
            gone = "this side" if ours is None else name
            yield Found("forge-conflict", WARNING, path, 1, f"{gone} removed what the other side changed")
        return
    if base is None:
        yield Found("added-twice", ERROR, path, 1, f"{name} added a file of this name too, and it says something else")
        return
    for number, line in _numbers(base, ours, theirs):
        message = f"number {number} is taken: {name} added a rule {number} as well"
        yield Found("number-taken", WARNING, path, line, message)
    _, clean = git.merge_file(base, ours, theirs)
    if not clean:
        added = _only_adds(base, ours) and _only_adds(base, theirs)
        what = "both sides only added lines" if added else "both sides changed the same lines"
        way = "learnloop sync --resolve settles it" if is_ours else "merge it by hand"
        message = f"a forge will report a conflict with {name}: {what}; {way}"
        yield Found("forge-conflict", WARNING, path, 1, message)


def _only_adds(old: bytes, new: bytes) -> bool:
    later = iter(new.splitlines())
    return all(line in later for line in old.splitlines())  # each is looked for behind the one before


def _numbers(base: bytes, ours: bytes, theirs: bytes) -> list[tuple[str, int]]:
    """Numbers of a numbered list that both sides gave away, for different things, with our lines."""
    old, mine, other = (_numbered(data) for data in (base, ours, theirs))
    return [
        (number, line)
        for (number, text), line in mine.items()
        if (number, text) not in old
        and any(n == number and words != text for n, words in other.keys() - old.keys())
        and not any(n == number for n, _ in old)
    ]


def _numbered(data: bytes) -> dict[tuple[str, str], int]:
    found = {}
    for n, line in enumerate(split_lines(data.decode("utf-8", "replace")), 1):
        match = re.match(r"(\d{1,6})[.)]\s+(\S.*)", line)
        if match:
            found[match[1], match[2].strip()] = n
    return found
