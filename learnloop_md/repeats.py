"""What a repeated note brings besides one more sighting: what the lesson lacks is taken in, the rest is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from learnloop_md import lesson as lessons
from learnloop_md.lesson import Lesson
from learnloop_md.plan import Draft


def take_in(draft: Draft, lesson: Lesson, given: Mapping[str, Any]) -> list[str]:
    """Give a lesson the Why, How to apply, context and tags that it lacks; the names of what it took.

    One that another rule has taken the place of takes nothing in.
    """
    if lesson.state == "archived" and (lesson.superseded_by or lesson.codified_in):
        return []
    taken = []
    for part in ("why", "how"):
        if (text := given[part].strip()) and not getattr(lesson, part).strip():
            draft.set_part(lesson.slug, part, text)
            taken.append(part)
    if (context := lessons.fold(given["context"])) and not lesson.context:
        draft.set(lesson.slug, context=context)
        taken.append("context")
    tags = tuple(dict.fromkeys([*lesson.tags, *(lessons.fold(tag) for tag in given["tags"] if tag.strip())]))
    if tags != lesson.tags:
        draft.set(lesson.slug, tags=tags)
        taken.append("tags")
    return taken


def left_out(lesson: Lesson, given: Mapping[str, Any], taken: Sequence[str]) -> dict[str, str]:
    """What a saying brings that a lesson does not keep, by name."""
    said = {part: lessons.fold(given[part]) for part in ("rule", "why", "how", "context", "title")}
    left = {
        part: text
        for part, text in said.items()
        if text and part not in taken and not _holds(lesson, part, _plain(text))
    }
    tags = [tag for tag in map(lessons.fold, given["tags"]) if tag and tag not in lesson.tags and "tags" not in taken]
    other = {"tags": ", ".join(tags), "name": given["name"], "type": given["type"], "kind": given["kind"]}
    known = {"name": (lesson.slug,), "type": ("feedback", lesson.type), "kind": ("note", lesson.kind)}
    return left | {key: text for key, text in other.items() if text and text not in known.get(key, ())}


def _holds(lesson: Lesson, part: str, text: str) -> bool:
    """Whether a lesson has a text: the rule as it is, the reasons among others."""
    mine = _plain(lesson.shown_title if part == "title" else getattr(lesson, part))
    return text == mine if part in ("rule", "title") else text in mine


def _plain(text: str) -> str:
    return lessons.fold(text).casefold().rstrip(".!。")


def told(taken: Sequence[str], left: Mapping[str, str], *, written: bool) -> list[str]:
    """What a person is told of a repeat that brought more than a sighting, and the way out if it was no repeat."""
    said = [f"taken in: {', '.join(taken)}"] if taken else []
    if "rule" in left:
        said.append(f'counted as the same; your words are not kept: "{lessons.shorten(left["rule"], 120)}"')
    if more := [part for part in left if part != "rule"]:
        said.append(f"not kept: {', '.join(more)}")
    if left:
        said.append(f"if it is another lesson: {'learnloop undo, then ' if written else ''}learnloop note --new")
    return said
