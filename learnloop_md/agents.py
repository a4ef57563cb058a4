"""What AGENTS.md tells agents without hooks: how to use the memory, and the lessons that hold now (design §11)."""

from __future__ import annotations

from typing import NamedTuple

from learnloop_md import digest
from learnloop_md.lesson import Lesson
from learnloop_md.memory import Memory

_HOW = """## Memory of earlier runs

{where} Nothing loads them for you:

1. Before you begin, {read}.
2. When a person corrects you, or what failed worked another way, note it at once, one rule a note:
   `learnloop note "rule" --why "…" --how "…"`; `learnloop note -` reads longer text from standard input.
3. It helped: `learnloop confirm NAME`. It misled: `learnloop dispute NAME`.

`learnloop` must be on `PATH`; where it is not, tell the person the lesson instead. `learnloop export agents`
renews this block: write beside it, not into it.
"""


class Told(NamedTuple):
    """The block's text, and the lessons in it."""

    text: str
    lessons: tuple[Lesson, ...]


def tell(memory: Memory, title: str, path: str, version: str = "") -> Told:
    """The block's text; path leads from AGENTS.md to the memory's document, "" where it lies outside.

    Lessons of the private types are never told, with a remote or without: AGENTS.md is there to be shared.
    """
    settings = memory.place.settings
    shared = [lesson for lesson in memory.lessons.values() if lesson.type.lower() not in settings.private_types]
    current = [lesson for lesson in digest.order(shared) if lesson.state == "current"]
    budget = settings.show_characters
    made = digest.make(current, title, budget=budget, program="learnloop", skill_version=version, fenced=False)
    whose = f"The skill {title} keeps lessons" if memory.place.kind == "skill" else "This repository keeps lessons"
    where = f"{whose}: one markdown file each, `{path}` lists them." if path else f"{whose} outside of it."
    zone = "its Current Patterns" if memory.place.kind == "skill" else "the entries below Current"
    read = f"run `learnloop show`, or read {zone} there" if path else "run `learnloop show`"
    below = "##" if made.text.startswith("#") else ""  # in a small budget the header is left away
    lessons = f"\n{below}{made.text}" if made.shown else ""
    return Told(_HOW.format(where=where, read=read) + lessons, made.shown)
