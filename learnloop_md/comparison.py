"""What a comparison of two sides says: for each memory its changes, what is wrong with them, and what they cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from learnloop_md import digest, documents, index
from learnloop_md.changes import KINDS, Change
from learnloop_md.checks import ERROR, WARNING
from learnloop_md.fence import tokens
from learnloop_md.memory import Memory

GROUPS = ("never", ERROR, WARNING, "loss", "policy", "secret")
# What a finding may be, so that a word which would never fail is told.
CODES = frozenset(
    (
        "added-twice archive-note-target autonomy-shaped bad-confidence bad-name bad-number bad-settings bad-type "
        "bidi-control blank-name conflict conflict-markers confusable-name contract-missing contradiction "
        "control-char dangling-line duplicate-entry duplicate-field duplicate-id duplicate-line duplicate-slug empty "
        "exfiltration-shaped field-missing field-too-long file-too-large forge-conflict frontmatter-not-mapping "
        "frontmatter-unclosed graduation-due hardlink head-not-editable head-not-yaml hidden-unicode import-missing "
        "index-over-budget index-over-limit instruction-shaped invalid-skill learnings-too-long learnings-unmentioned "
        "line-too-long load-instruction-missing lost-entry missing-archive-note missing-description missing-how "
        "missing-input-summary missing-object missing-type missing-what-failed missing-why near-duplicate "
        "never-closed not-a-regular-file not-utf8 nul-byte number-taken number-twice old-place orphan-lesson "
        "other-author out-of-step outside-link policy-authors policy-changed policy-codify policy-owners portability "
        "private-tracked record-too-long relapse rule-doubled rule-too-long secret stale-anchor symlink-escape "
        "too-large type-disagrees unknown-field unknown-lesson unknown-outcome unknown-state unknown-type unreadable "
        "value-cut-by-comment yaml-anchors yaml-duplicate-key yaml-merge-key yaml-syntax yaml-tag yaml-too-deep "
        "zone-doubled zone-missing"
    ).split()
)


_LABELS = {
    "seen": "seen again",
    "document": "document only",
    "formatting": "formatting only",
    "uncounted": "sightings lost",
    "broken": "unreadable",
    "mended": "readable again",
}


class Found(NamedTuple):
    """A finding with its place in the repository and the commit that brought it."""

    code: str
    severity: str
    path: str
    line: int
    message: str
    commit: str = ""


class Compared(NamedTuple):
    """One memory on both sides."""

    memory: str  # its folder in the repository, "." for the root
    kind: str
    changes: tuple[Change, ...]
    findings: tuple[Found, ...]
    budget: tuple[int, int]  # tokens that each session loads, before and after
    owners: tuple[tuple[str, int], ...] = ()  # who must approve, and how many of the changed files


class Comparison(NamedTuple):
    """Both sides, the memories that changed, and what belongs to no memory."""

    asked: str
    base: str  # a commit, or what the side is
    head: str
    memories: tuple[Compared, ...]
    findings: tuple[Found, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def changes(self) -> list[Change]:
        return [change for row in self.memories for change in row.changes]

    @property
    def all_findings(self) -> list[Found]:
        """Every finding, errors first."""
        found = [*self.findings, *(finding for row in self.memories for finding in row.findings)]
        return sorted(found, key=lambda f: (f.severity != ERROR, f.path, f.line, f.code))

    def count(self, severity: str) -> int:
        return sum(1 for finding in self.all_findings if finding.severity == severity)


def label(change: Change) -> str:
    """What people read a kind as."""
    if change.kind == "reworded" and change.is_loss:
        return "narrowed"
    return _LABELS.get(change.kind, change.kind)


def counted(changes: Iterable[Change]) -> list[tuple[str, int]]:
    """How many there are of each kind, losses first."""
    found = Counter((not c.is_loss, KINDS.index(c.kind), label(c)) for c in changes)
    return [(name, number) for (_, _, name), number in sorted(found.items())]


def headline(comparison: Comparison) -> str:
    """The whole in one line, without the findings."""
    return " · ".join(f"{number} {name}" for name, number in counted(comparison.changes)) or "no lesson changed"


def verdict(comparison: Comparison) -> str:
    """How many errors and warnings, "" for none."""
    numbers = [(comparison.count(ERROR), "error"), (comparison.count(WARNING), "warning")]
    return ", ".join(f"{n} {what}{'' if n == 1 else 's'}" for n, what in numbers if n)


def budget(memory: Memory) -> int:
    """The tokens that every session of Claude's loads: MEMORY.md as it is loaded, or a skill's current patterns."""
    if memory.place.kind == "project":
        return tokens(index.loaded_part(memory.document))
    rows = [known.lesson for known in documents.known(memory).values()]
    return sum(tokens(digest.line(lesson)) for lesson in rows if lesson.state == "current")


def fails(comparison: Comparison, wanted: Iterable[str]) -> bool:
    """Whether something is among what was asked to fail on: a severity, a kind, a finding's code or its first words."""
    names = set(wanted) - {"never"}
    kinds = {name for change in comparison.changes for name in (change.kind, label(change))}
    if "loss" in names and any(change.is_loss for change in comparison.changes):
        return True
    if names & kinds:
        return True
    for finding in comparison.all_findings:
        severe = finding.severity in names or (finding.severity == ERROR and WARNING in names)
        if severe or any(_is(finding.code, name) for name in names):
            return True
    return False


def is_known(name: str) -> bool:
    """Whether `fails` can ever find this word: a group, a kind as it is named or told, a code or its first words."""
    words = {*GROUPS, *KINDS, *_LABELS.values(), "narrowed", *CODES}
    return name.partition(":")[0] in words or any(_is(code, name) for code in CODES)


def _is(code: str, name: str) -> bool:
    return code == name or code.startswith((f"{name}-", f"{name}:"))


def data(comparison: Comparison) -> dict[str, Any]:
    """The comparison as programs read it; keys may be added, never renamed."""
    return {
        "asked": comparison.asked,
        "base": comparison.base,
        "head": comparison.head,
        "summary": {
            "changes": dict(sorted(Counter(change.kind for change in comparison.changes).items())),
            "losses": sum(1 for change in comparison.changes if change.is_loss),
            "errors": comparison.count(ERROR),
            "warnings": comparison.count(WARNING),
        },
        "memories": [
            {
                "memory": row.memory,
                "kind": row.kind,
                "changes": [_change(change) for change in row.changes],
                "findings": [finding._asdict() for finding in row.findings],
                "budget": {"before": row.budget[0], "after": row.budget[1]},
                "owners": dict(row.owners),
            }
            for row in comparison.memories
        ],
        "findings": [finding._asdict() for finding in comparison.findings],
    }


def _change(change: Change) -> dict[str, Any]:
    row = change._asdict()
    row["loss"] = row.pop("is_loss")
    return row
