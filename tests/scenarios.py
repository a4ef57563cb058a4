"""Seventeen things that two branches do to one memory, and what must come of it, whichever way they are merged."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from learnloop_md import index, lessonfile
from learnloop_md.lesson import Lesson

Files = dict[str, str]
FILED = "---\nname: {slug}\ndescription: {rule}\nmetadata:\n  type: feedback\n  state: {state}\n  created: 2026-05-26\n"
HEADINGS = "# Memory\n\nRead me first.\n\n## Current\n{current}\n## Candidate\n{candidate}"
HIDDEN = "\n<!-- learnloop: not in force, kept for people\n## Archived\n\n{archived}-->\n"


def lesson(
    slug: str,
    *seen: str,
    rule: str = "Do it.",
    state: str = "candidate",
    note: str = "",
    confirmed: str = "",
    why: str = "It went wrong.",
) -> str:
    """A lesson file; each sighting is named by its run."""
    text = FILED.format(slug=slug, rule=rule.split("\n", maxsplit=1)[0].rstrip("."), state=state)
    text += f"  archive_note: {note}\n" if note else ""
    text += "  seen:\n" + "".join(f"    - on: 2026-05-26\n      run: {run}\n" for run in seen) if seen else ""
    text += f"  confirmed:\n    - on: 2026-06-01\n      run: {confirmed}\n" if confirmed else ""
    return f"{text}---\n\n{rule}\n\n**Why:** {why}\n"


def memory(current: str = "", candidate: str = "", archived: str = "", **titles: str) -> str:
    """MEMORY.md with a line for each letter in its zone."""

    def lines(slugs: str) -> str:
        return "".join(f"- [{titles.get(slug, slug.upper())}]({slug}.md) — hook\n" for slug in slugs)

    text = HEADINGS.format(
        current="\n" + lines(current) if current else "", candidate="\n" + lines(candidate) if candidate else ""
    )
    return text + (HIDDEN.format(archived=lines(archived)) if archived else "")


class Result(NamedTuple):
    """The memory after a merge: whether it was clean, and the files as they stand in the work tree."""

    clean: bool
    files: dict[str, bytes]

    def lesson(self, slug: str = "a") -> Lesson:
        reading = lessonfile.read(f"{slug}.md", self.files[f"{slug}.md"])
        assert isinstance(reading, lessonfile.Reading), reading
        return reading.lesson

    def runs(self, slug: str = "a") -> list[str]:
        return sorted(event.run for event in self.lesson(slug).seen)

    @property
    def zones(self) -> list[tuple[str, str]]:
        """Every line of the index: slug and zone."""
        text = self.files["MEMORY.md"].decode()
        return sorted((entry.target.removesuffix(".md"), entry.zone) for entry in index.entries(text))

    @property
    def slugs(self) -> list[str]:
        return [slug for slug, _ in self.zones]


class Scenario(NamedTuple):
    """What stood there, what each branch changed (None: deleted), and what must be true of the result."""

    name: str
    base: Files
    ours: dict[str, str | None]
    theirs: dict[str, str | None]
    holds: Callable[[Result], bool]


BASE = {"a.md": lesson("a", "r1"), "MEMORY.md": memory("", "a")}
TWO = {"a.md": lesson("a", "r1"), "b.md": lesson("b", "r1"), "MEMORY.md": memory("", "ab")}
ARCHIVED = {"a.md": lesson("a", "r1", state="archived", note="Old"), "MEMORY.md": memory("", "b", "a")}


def crlf(text: str) -> str:
    return text.replace("\n", "\r\n")


SCENARIOS = (
    Scenario(
        "01 both add a lesson",
        BASE,
        {"b.md": lesson("b", "r2"), "MEMORY.md": memory("", "ab")},
        {"c.md": lesson("c", "r3"), "MEMORY.md": memory("", "ac")},
        lambda r: r.clean and r.slugs == ["a", "b", "c"] and r.runs("b") + r.runs("c") == ["r2", "r3"],
    ),
    Scenario(
        "02 both add the same lesson",
        BASE,
        {"b.md": lesson("b", "r2"), "MEMORY.md": memory("", "ab")},
        {"b.md": lesson("b", "r3"), "MEMORY.md": memory("", "ab")},
        lambda r: r.clean and r.slugs == ["a", "b"] and r.runs("b") == ["r2", "r3"],
    ),
    Scenario(
        "03 both count a sighting",
        BASE,
        {"a.md": lesson("a", "r1", "r2")},
        {"a.md": lesson("a", "r1", "r3")},
        lambda r: r.clean and r.runs() == ["r1", "r2", "r3"],
    ),
    Scenario(
        "04 the same sighting on both sides",
        BASE,
        {"a.md": lesson("a", "r1", "r2", why="It is new.")},
        {"a.md": lesson("a", "r1", "r2")},
        lambda r: r.clean and r.runs() == ["r1", "r2"],
    ),
    Scenario(
        "05 two sightings and three",
        BASE,
        {"a.md": lesson("a", "r1", "r2", "r3")},
        {"a.md": lesson("a", "r1", "r4", "r5", "r6")},
        lambda r: r.clean and len(r.runs()) == 6,
    ),
    Scenario(
        "06 moved, and counted",
        BASE,
        {"a.md": lesson("a", "r1", state="current"), "MEMORY.md": memory("a", "")},
        {"a.md": lesson("a", "r1", "r2")},
        lambda r: r.clean and (r.zones, r.lesson().state, r.runs()) == ([("a", "current")], "current", ["r1", "r2"]),
    ),
    Scenario(
        "07 archived, and confirmed",
        TWO,
        dict(ARCHIVED),
        {"a.md": lesson("a", "r1", confirmed="r2")},
        lambda r: (
            r.clean and (r.lesson().state, r.lesson().archive_note, len(r.lesson().confirmed)) == ("candidate", "", 1)
        ),
    ),
    Scenario(
        "08 archived, and nothing",
        TWO,
        dict(ARCHIVED),
        {"b.md": lesson("b", "r1", "r2")},
        lambda r: r.clean and r.lesson().state == "archived" and ("a", "archived") in r.zones and len(r.zones) == 2,
    ),
    Scenario(
        "09 deleted, and nothing",
        TWO,
        {"a.md": None, "MEMORY.md": memory("", "b")},
        {"b.md": lesson("b", "r1", "r2")},
        lambda r: r.clean and "a.md" not in r.files and r.zones == [("b", "candidate")],
    ),
    Scenario(  # git asks no driver where a file is gone on one side: it keeps the edited one and says so
        "10 deleted, and edited",
        TWO,
        {"a.md": None},
        {"a.md": lesson("a", "r1", "r2")},
        lambda r: not r.clean and r.runs() == ["r1", "r2"],
    ),
    Scenario(
        "11 two rules",
        BASE,
        {"a.md": lesson("a", "r1", "r2", rule="Do it twice.")},
        {"a.md": lesson("a", "r1", "r3", rule="Do it never.")},
        lambda r: not r.clean and one_conflict(r.files["a.md"].decode()) == {"Do it twice.", "Do it never."},
    ),
    Scenario(
        "12 another rule, and counted",
        BASE,
        {"a.md": lesson("a", "r1", rule="Do it twice.")},
        {"a.md": lesson("a", "r1", "r2")},
        lambda r: r.clean and (r.lesson().rule, r.runs()) == ("Do it twice.", ["r1", "r2"]),
    ),
    Scenario(
        "13 both move it to the same zone",
        BASE,
        {"a.md": lesson("a", "r1", "r2", state="current"), "MEMORY.md": memory("a", "")},
        {"a.md": lesson("a", "r1", "r3", state="current"), "MEMORY.md": memory("a", "")},
        lambda r: r.clean and (r.zones, r.runs()) == ([("a", "current")], ["r1", "r2", "r3"]),
    ),
    Scenario(
        "14 index: both append",
        BASE,
        {"MEMORY.md": memory("", "abz")},
        {"MEMORY.md": memory("", "acz")},
        lambda r: r.clean and r.slugs == ["a", "b", "c", "z"],
    ),
    Scenario(
        "15 index: removed, and appended",
        TWO,
        {"MEMORY.md": memory("", "a")},
        {"MEMORY.md": memory("", "abc")},
        lambda r: r.clean and r.slugs == ["a", "c"],
    ),
    Scenario(
        "16 index: two titles",
        BASE,
        {"MEMORY.md": memory("", "a", a="One")},
        {"MEMORY.md": memory("", "a", a="Another")},
        lambda r: r.clean and r.zones == [("a", "candidate")] and b"[Another]" in r.files["MEMORY.md"],
    ),
    Scenario(
        "17 CRLF on one side",
        {"a.md": lesson("a", "r1"), "MEMORY.md": memory("", "a")},
        {"a.md": crlf(lesson("a", "r1", "r2")), "MEMORY.md": crlf(memory("", "ab"))},
        {"a.md": lesson("a", "r1", "r3"), "MEMORY.md": memory("", "ac")},
        lambda r: r.clean and len(r.runs()) == 3 and len(r.zones) == 3 and all(map(one_line_end, r.files.values())),
    ),
)


def one_conflict(text: str) -> set[str]:
    """The two texts of the file's only conflict; the events of both sides stand in its head."""
    lines = text.split("\n")
    marks = [n for n, line in enumerate(lines) if line.startswith(("<<<<<<<", "=======", ">>>>>>>"))]
    assert len(marks) == 3, text
    assert "run: r2" in text
    assert "run: r3" in text
    return {*lines[marks[0] + 1 : marks[1]], *lines[marks[1] + 1 : marks[2]]}


def one_line_end(data: bytes) -> bool:
    """Whether all lines of a file end alike."""
    return data.count(b"\r\n") in (0, data.count(b"\n"))
