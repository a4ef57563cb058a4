"""Random triples of each file form, and the seven things that every merge of them must hold.

`python -m tests.stress.merges 4000` tries that many triples of each kind and prints how many hold all seven.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

from learnloop_md import index, lessonfile, mergestate, notebook
from learnloop_md.carry import tree_of
from learnloop_md.lesson import fold
from learnloop_md.merging import Merged, merge
from learnloop_md.tree import event_of, field_of

KINDS = ("lesson", "index", "notebook", "state")
PATHS = {"lesson": "a.md", "index": "MEMORY.md", "notebook": "memory.md", "state": "memory.json"}
DAYS = ("2026-05-26", "2026-06-01", "2026-06-20")
RULES = (
    "Stage files by name.",
    "Read the lines above.\nThen write.",
    "Ask first.\n\n```sh\nuv run x\n```\n\nThen run it.",
)
WHYS = ("", "It went wrong.", "It was doubled: twice.", "A check\nwas lost.")
HOWS = ("", "Scroll up.", "Ask in the channel.")
PROSE = ("Read me first.", "See also the wiki.", "> A quote", "* * *", "Kept by the team.", "A line more.")
SLUGS = tuple("abcdefgh")
WORDS = ("Alpha", "Beta one", "Gamma two", "Delta")
ZONES = ("current", "candidate", "archived")


class Triple(NamedTuple):
    """A base and what two sides made of it."""

    base: bytes | None
    ours: bytes | None
    theirs: bytes | None


Model = dict[str, Any]


def triple(kind: str, random: Random) -> Triple:
    """A base and two edits of it; now and then a side is gone, or there is no base."""
    make, edit, render = _FORMS[kind]
    model = make(random)
    sides = []
    for _ in range(2):
        side = _copied(model)
        for _ in range(random.choice((0, 1, 1, 2, 3, 5))):
            edit(random, side)
        text = render(side)
        crlf = random.random() < 0.1
        gone = kind == "lesson" and random.random() < 0.06
        sides.append(None if gone else (text.replace("\n", "\r\n") if crlf else text).encode())
    base = None if random.random() < 0.08 else render(model).encode()
    if base is None:
        sides = [side if side is not None else render(model).encode() for side in sides]
    return Triple(base, *sides)


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


# --- lessons ----------------------------------------------------------------------------------------------------------


def _event(random: Random) -> tuple[str, str, str, str]:
    evidence = random.choice(("", "", "PR 1", "PR #2"))
    return random.choice(DAYS), f"r{random.randrange(6)}", evidence, random.choice(("", "", "", "ada"))


def _lesson(random: Random) -> Model:
    return {
        "top": {"name": "a", "description": random.choice(WORDS)} | ({"allowed": "x"} if random.random() < 0.2 else {}),
        "meta": {"type": "feedback", "state": random.choice((*ZONES, "")), "created": random.choice(DAYS)},
        "events": {"seen": [_event(random) for _ in range(random.randrange(3))], "confirmed": [], "disputed": []},
        "tags": random.sample("pqrs", random.randrange(3)),
        "body": {"rule": random.choice(RULES), "why": random.choice(WHYS), "how": random.choice(HOWS)},
        "comment": random.random() < 0.2,
        "head": random.random() < 0.95,
    }


def _edit_lesson(random: Random, side: Model) -> None:
    events = side["events"][random.choice(("seen", "seen", "confirmed", "disputed"))]
    act = random.randrange(13)
    if act < 4:
        events.append(_event(random))
    elif act == 4 and events:
        events.pop(random.randrange(len(events)))
    elif act == 5:
        side["meta"] |= {"state": "archived", "archive_note": random.choice(("Old", "Disputed: 2 times"))}
        if random.random() < 0.3:
            side["meta"][random.choice(("superseded_by", "codified_in"))] = "b"
    elif act == 6:
        side["meta"]["state"] = random.choice(("current", "candidate"))
        side["meta"].pop("archive_note", None)
    elif act == 7:
        side["tags"] = random.sample("pqrstu", random.randrange(4))
    elif act in (8, 9):
        part, values = random.choice((("rule", RULES), ("why", WHYS), ("how", HOWS)))
        side["body"][part] = random.choice((*values, random.choice(WORDS) + "."))
    elif act == 10:
        side["top"][random.choice(("description", "license", "model"))] = random.choice(("x # y", *WORDS))
    elif act == 11:
        key = random.choice(("title", "context", "modified", "pinned", "reviewed", "created", "type", "odd_key"))
        known = {"pinned": ("true",), "reviewed": DAYS, "created": DAYS, "type": ("user", "project")}
        side["meta"][key] = random.choice(known.get(key, WORDS))
    else:
        side["comment"] = True


def _render_lesson(side: Model) -> str:
    head = [f"{key}: {_quoted(value)}" for key, value in side["top"].items()]
    head += ["# kept by hand"] if side["comment"] else []
    head += ["metadata:", *(f"  {key}: {_quoted(value)}" for key, value in side["meta"].items() if value)]
    if side["tags"]:
        head += ["  tags:", *(f"    - {tag}" for tag in side["tags"])]
    for key, events in side["events"].items():
        rows: list[str] = []
        for on, run, evidence, by in dict.fromkeys(events):
            rows += [f"    - on: {on}", f"      run: {run}"]
            rows += [f"      evidence: {_quoted(evidence)}"] if evidence else []
            rows += [f"      by: {by}"] if by else []
        head += [f"  {key}:", *rows] if rows else []
    body = [side["body"]["rule"]]
    body += [f"**Why:** {side['body']['why']}"] if side["body"]["why"] else []
    body += [f"**How to apply:** {side['body']['how']}"] if side["body"]["how"] else []
    text = "\n\n".join(body) + "\n"
    return "---\n" + "\n".join(head) + "\n---\n\n" + text if side["head"] else text


def _quoted(value: str) -> str:
    return f'"{value}"' if re.search(r"[#:]", value) else value


# --- documents --------------------------------------------------------------------------------------------------------


def _document(random: Random, entry: Callable[[Random, str], Any]) -> Model:
    model: Model = {"prefix": ["# Memory", *random.sample(PROSE, random.randrange(3))], "zones": {}, "more": []}
    for zone in ZONES:
        if random.random() < 0.8:
            model["zones"][zone] = {"prose": random.sample(PROSE, random.choice((0, 0, 1))), "entries": {}}
    for slug in random.sample(SLUGS, random.randrange(6)):
        if model["zones"]:
            model["zones"][random.choice(list(model["zones"]))]["entries"][slug] = entry(random, slug)
    return model


def _edit_document(random: Random, side: Model, entry: Callable[[Random, str], Any]) -> None:
    here = {slug: zone for zone, part in side["zones"].items() for slug in part["entries"]}
    slug = random.choice(SLUGS)
    act = random.randrange(10)
    if act < 3 and slug not in here:
        _zone(side, random.choice(ZONES))["entries"][slug] = entry(random, slug)
    elif act in (3, 4) and here:
        slug = random.choice(list(here))
        moved = side["zones"][here[slug]]["entries"].pop(slug)
        if act == 3:
            _zone(side, random.choice(ZONES))["entries"][slug] = moved
    elif act in (5, 6, 7) and here:
        slug = random.choice(list(here))
        side["zones"][here[slug]]["entries"][slug] = entry(random, slug)
    elif act == 8:
        where = random.choice([side["prefix"], *(part["prose"] for part in side["zones"].values())])
        if where and random.random() < 0.4:
            where.pop(random.randrange(len(where)))
        elif (line := random.choice(PROSE)) not in where:  # one of two equal lines is any of them, for git as for us
            where.insert(random.randrange(len(where) + 1), line)
    elif act == 9:
        side["more"].append([f"## {random.choice(WORDS)}", random.choice(PROSE)])


def _zone(side: Model, zone: str) -> Any:
    return side["zones"].setdefault(zone, {"prose": [], "entries": {}})


def _line(random: Random, slug: str) -> str:
    return f"- [{random.choice(WORDS)}]({slug}.md) — {random.choice(WORDS).lower()}"


def _render_index(side: Model) -> str:
    out = "\n\n".join(side["prefix"]) + "\n"
    for zone in ZONES:
        if zone in side["zones"]:
            part = side["zones"][zone]
            lines = [part["entries"][slug] for slug in sorted(part["entries"])]
            text = "".join(f"{row}\n\n" for row in part["prose"]) + "".join(f"{row}\n" for row in lines)
            heading = f"## {zone.capitalize()}\n" + (f"\n{text}" if text else "")
            out += (
                f"\n<!-- learnloop: not in force, kept for people\n{heading}-->\n"
                if zone == "archived"
                else f"\n{heading}"
            )
    return out + "".join("\n" + "\n\n".join(rows) + "\n" for rows in side["more"])


def _entry(random: Random, slug: str) -> dict[str, str]:
    return {
        "created": random.choice(DAYS),
        "title": random.choice(WORDS),
        "why": random.choice(WHYS).replace("\n", "\n  "),
        "rule": random.choice(WORDS),
        "how": random.choice(HOWS),
        "tags": ", ".join(random.sample("pqrs", random.randrange(3))),
        "word": random.choice(("", "", "> said by Ada", "- Odd: x")),
    }


def _render_notebook(side: Model) -> str:
    out = "\n\n".join(side["prefix"]) + "\n"
    for zone in ZONES:
        if zone in side["zones"]:
            part = side["zones"][zone]
            out += f"\n## {zone.capitalize()} Patterns\n" + "".join(f"\n{row}\n" for row in part["prose"])
            for slug in sorted(part["entries"]):
                says = part["entries"][slug] | {"state": zone.upper(), "file": f"lessons/{slug}.md"}
                rows = [f"- {label}: {says[name]}" for name, label in notebook.FIELDS.items() if says.get(name)]
                rows += [says["word"]] if says["word"] else []
                out += f"\n### {says['created']} | {says['title']}\n" + "\n".join(rows) + "\n"
    return out + "".join("\n" + "\n\n".join(rows) + "\n" for rows in side["more"])


# --- the state --------------------------------------------------------------------------------------------------------

VALUES: tuple[Any, ...] = (0, 1, 7, -3, 1.0, 0.5, True, None, "fast", "1", "ü", [1, "a"], [], {"b": 1, "a": [2]}, {})


def _state(random: Random) -> Model:
    return {
        "keys": {slug: random.choice(VALUES) for slug in random.sample(SLUGS, random.randrange(6))},
        "indent": random.choice((2, 2, 2, None, 4)),
    }


def _edit_state(random: Random, side: Model) -> None:
    keys, slug = side["keys"], random.choice(SLUGS)
    act = random.randrange(8)
    if act < 3:
        keys[slug] = random.choice(VALUES)
    elif act < 6:
        old = keys.get(slug, 0)
        keys[slug] = old + random.randrange(1, 4) if type(old) is int else old
    elif act == 6:
        keys.pop(slug, None)
    else:
        side["indent"] = random.choice((2, None))


def _render_state(side: Model) -> str:
    return json.dumps(side["keys"], indent=side["indent"], ensure_ascii=False) + "\n"


_FORMS: dict[str, tuple[Callable[..., Model], Callable[..., None], Callable[[Model], str]]] = {
    "lesson": (_lesson, _edit_lesson, _render_lesson),
    "index": (lambda r: _document(r, _line), lambda r, s: _edit_document(r, s, _line), _render_index),
    "notebook": (lambda r: _document(r, _entry), lambda r, s: _edit_document(r, s, _entry), _render_notebook),
    "state": (_state, _edit_state, _render_state),
}


# --- what a file means ------------------------------------------------------------------------------------------------

_CONFLICT = re.compile(r"<<<<<<< ours\r?\n(.*?)=======\r?\n(.*?)>>>>>>> theirs\r?\n", re.DOTALL)


def settled(merged: Merged, side: int) -> bytes | None:
    """The merged file as a person leaves it who takes one side of every conflict: 1 ours, 2 theirs."""
    if merged.content is None:
        return None
    return _CONFLICT.sub(lambda m: m[side], merged.content.decode()).encode()


def meaning(kind: str, data: bytes | None) -> Any:
    """What a file says, whatever its order, line ends and blank lines; None for no file."""
    if data is None:
        return None
    text = data.decode().replace("\r\n", "\n")
    return {"lesson": _lesson_says, "index": _index_says, "notebook": _notebook_says, "state": _state_says}[kind](text)


def _lesson_says(text: str) -> Any:
    reading = lessonfile.read("a.md", text.encode())
    assert isinstance(reading, lessonfile.Reading), reading
    tree = tree_of(text)
    keys = {*tree, *(tree["metadata"] if isinstance(tree.get("metadata"), dict) else ())} - {"metadata"}
    fields = {key: field_of(tree, key) for key in keys}
    says = {key: sorted(map(str, value)) if isinstance(value, list) else value for key, value in fields.items()}
    parts = lessonfile.body_parts(text.split("\n---\n", 1)[-1])
    return says, {part: _lines(said) for part, said in parts.items() if _lines(said)}


def _lines(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


def _index_says(text: str) -> Any:
    entries = {entry.target: (entry.zone, entry.raw) for entry in index.entries(text)}
    return entries, Counter(line for line in _lines(text) if "](" not in line and not line.startswith(("-->", "<!--")))


def _notebook_says(text: str) -> Any:
    entries = notebook.entries(text)
    says = {row.slug: (row.zone, {name: _said(name, value) for name, value in row.claims.items()}) for row in entries}
    inside = {
        n for row in entries for a, b in [(0, 1), *row.spans.values()] for n in range(row.start + a, row.start + b)
    }
    return says, Counter(line for n, line in enumerate(text.split("\n")) if n not in inside and line.strip())


def _state_says(text: str) -> Any:
    """The value of each key as JSON: to Python 1, 1.0 and true are equal."""
    return {key: json.dumps(value, sort_keys=True) for key, value in mergestate.parse(text).items()}


def _said(name: str, value: str) -> Any:
    return {tag.strip() for tag in value.split(",")} if name == "tags" else fold(value)


def named(kind: str, data: bytes | None) -> set[Any]:
    """What must not be lost: a lesson's events and tags, a document's entries, a state's keys."""
    if data is None:
        return set()
    text = data.decode()
    if kind == "lesson":
        tree = tree_of(text)
        lists = {key: field_of(tree, key) for key in ("seen", "confirmed", "disputed", "tags")}
        return {(key, event_of(item) or item) for key, value in lists.items() for item in (value or ())}
    if kind == "state":
        return set(mergestate.parse(text))
    return (
        {entry.target for entry in index.entries(text)} if kind == "index" else {e.slug for e in notebook.entries(text)}
    )


# --- the seven --------------------------------------------------------------------------------------------------------


def broken(kind: str, sides: Triple) -> Iterator[str]:
    """Which of the seven properties a triple breaks."""
    path = PATHS[kind]
    base, ours, theirs = sides

    def merged(a: bytes | None, b: bytes | None, c: bytes | None) -> Merged:
        return merge(kind, path, a, b, c)

    def says(data: bytes | None) -> Any:
        return meaning(kind, data)

    one, two = merged(base, ours, theirs), merged(base, theirs, ours)
    if one.clean != two.clean or any(says(settled(one, n)) != says(settled(two, 3 - n)) for n in (1, 2)):
        yield "commutes"
    if any(merged(base, side, base) != (side, True) for side in (ours, theirs)):
        yield "what the other side left alone is ours"
    if any(merged(base, base, side) != (side, True) for side in (ours, theirs)):
        yield "what we left alone is the other side's"
    if any(merged(base, side, side) != (side, True) for side in (ours, theirs)):
        yield "the same on both sides is the same"
    mine, other = settled(one, 1), settled(one, 2)
    again = [(mine, ours), (other, theirs)] + ([(mine, theirs)] if one.clean else [])
    for result, side in again:
        if merged(side, result, side) != (result, True):
            yield "merged again it stays"
        for twice in (merged(base, result, side), merged(base, side, result)):
            if not twice.clean or says(twice.content) != says(result):
                yield "merged again it stays"
    there = named(kind, mine) & named(kind, other)
    if not (named(kind, ours) | named(kind, theirs)) - named(kind, base) <= there:
        yield "nothing that a side added is lost"
    for data in (mine, other):
        if data is not None and isinstance(lessonfile.decode(path, data), lessonfile.Quarantined):
            yield "the result is read"
    if one.content and not one.clean and isinstance(lessonfile.decode(path, one.content), str):
        yield "the result is read"


def main(count: int) -> int:
    """Try count triples of each kind; 1 where one breaks a property."""
    failed = 0
    for kind in KINDS:
        bad: Counter[str] = Counter()
        good = clean = 0
        for seed in range(count):
            sides = triple(kind, Random(seed))
            try:
                faults = set(broken(kind, sides))
                clean += merge(kind, PATHS[kind], *sides).clean
            except Exception as error:  # what a merge never does: counted, with the seed that shows it
                faults = {f"{type(error).__name__}: {error}"}
            good += not faults
            bad.update(faults)
            if faults and sum(bad.values()) <= 5:
                print(f"{kind} seed {seed}: {', '.join(sorted(faults))}")
        print(f"{kind}: {good} of {count} hold all seven; {clean} merged without a conflict {dict(bad) or ''}")
        failed += count - good
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 4000))
