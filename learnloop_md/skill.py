"""What stands around a memory and is loaded anyway: a skill's SKILL.md, a project's CLAUDE.md and AGENTS.md."""

from __future__ import annotations

from learnloop_md import head, store
from learnloop_md.place import Place
from learnloop_md.tree import HeadError, field_of


def _text(place: Place, path: str) -> str:
    data = store.read_bytes(place.folder / path)
    return data.decode("utf-8", "replace") if data else ""


def version(place: Place) -> str:
    """The version in the skill's SKILL.md, "" without one (R004-61)."""
    return version_in(_text(place, "../SKILL.md")) if place.kind == "skill" else ""


def version_in(text: str) -> str:
    """The version in the text of a SKILL.md, "" without one."""
    try:
        parts = head.split(text)
        tree = head.read(parts).tree if parts else {}
    except HeadError:
        return ""
    found = field_of(tree, "version")
    return found if isinstance(found, str) else ""


def instructions(place: Place) -> dict[str, str]:
    """The texts that an agent loads besides the memory, by name."""
    if place.kind == "skill":
        found = {"SKILL.md": _text(place, "../SKILL.md")}
    else:
        root = "../" * len(place.inside.split("/")) if place.inside else "./"
        found = {name: _text(place, root + name) for name in ("CLAUDE.md", "AGENTS.md", ".claude/CLAUDE.md")}
    return {name: text for name, text in found.items() if text}
