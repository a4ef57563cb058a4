"""MEMORY.md: one line per lesson, in zones; read any form people write, change only the lines that must change.

Archived lines, and lines of quarantined lessons, stand in a block comment, which Claude Code strips before it loads and
counts the file (design §4). Everything that is not a line of ours keeps its bytes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple
from urllib.parse import unquote

from learnloop_md.lesson import Lesson, fold, shorten, value_order
from learnloop_md.lines import Line, line_end, scan

NEW = "# Memory\n\n## Current\n\n## Candidate\n"
ZONES = ("current", "candidate", "archived", "quarantined")
LINE_LIMIT = 150  # characters (R001-41)
_BLOCK_OPEN = "<!-- learnloop: not in force, kept for people"
_BLOCK_CLOSE = "-->"


class Entry(NamedTuple):
    """One link to a lesson file: which file, in which zone, with what words."""

    target: str  # path relative to the memory's folder
    zone: str  # "" outside the zones
    title: str
    hook: str
    line: int  # from 0
    raw: str  # the line without its end
    alone: bool = True  # whether the line names no other lesson


_LINK = re.compile(r"\]\((?P<target><[^<>]*>|[^()\s<>]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?\)")
_WIKI = re.compile(r"\[\[(?P<name>[^\[\]|#]+)(?:#[^\[\]|]*)?(?:\|(?P<alias>[^\[\]]*))?\]\]")
_CODE_ITEM = re.compile(r"\s*[-*+]\s+`(?P<name>[^`/\s]+\.md)`(?P<rest>.*)")
_SEPARATOR = re.compile(r"^[\s~*_]*(?:[—–\-·:;]+\s*)?(?::\s*)?")


def entries(text: str) -> list[Entry]:
    """Every line of the index that stands for a lesson, in order."""
    return [entry for _, found in _rows(text) for entry in found]


def entry_of(text: str, lesson: Lesson) -> Entry | None:
    """The lesson's own line, the first where there are several."""
    return next((e for e in entries(text) if _is_for(e, lesson.path)), None)


def _is_for(entry: Entry, path: str) -> bool:
    return entry.target == path or ("/" not in entry.target and entry.target == path.rpartition("/")[2])


class _Row(NamedTuple):
    line: Line
    zone: str
    in_block: bool
    heading: str  # the zone that this line opens, or "-" for another heading of level 1 or 2


def _rows(text: str) -> list[tuple[_Row, list[Entry]]]:
    rows: list[tuple[_Row, list[Entry]]] = []
    zone, in_block, block_zone = "", False, ""
    for line in scan(text):
        bare = line.text.strip()
        if line.place == "comment":
            if bare.startswith("<!-- learnloop: not in force") and "-->" not in bare:
                in_block, block_zone = True, ""
                rows.append((_Row(line, "", True, ""), []))
                continue
            if not in_block:
                rows.append((_Row(line, "", False, ""), []))
                continue
            block_zone = _heading_zone(bare) or block_zone
            row = _Row(line, block_zone, True, _heading_zone(bare))
            in_block = "-->" not in bare
        elif line.place == "text":
            opens = _heading_zone(bare) or ("-" if re.match(r"#{1,2}\s", bare) else "")
            zone = "" if opens == "-" else opens or zone
            row = _Row(line, zone, False, opens)
        else:
            rows.append((_Row(line, zone, False, ""), []))
            continue
        rows.append((row, [] if row.heading else _links(line, row.zone)))
    return rows


def _heading_zone(bare: str) -> str:
    match = re.fullmatch(r"##\s+(current|candidates?|archived|quarantined)\s*#*", bare, re.IGNORECASE)
    return match[1].lower().replace("candidates", "candidate") if match else ""


def _links(line: Line, zone: str) -> list[Entry]:
    found: list[tuple[str, str, str]] = []
    text = line.text
    for match in _LINK.finditer(text):
        target = _relative(match["target"].strip("<>"))
        opening = text.rfind("[", 0, match.start())
        depth_start = text.find("[") if not found else opening
        start = depth_start if 0 <= depth_start <= opening else opening
        if target and start >= 0:
            found.append((target, text[start + 1 : match.start()], text[match.end() :]))
    if not found and re.match(r"\s*[-*+]\s+\[\[", text):
        wiki = _WIKI.search(text)
        if wiki:
            target = _relative(wiki["name"].strip().removesuffix(".md") + ".md")
            found = [(target, wiki["alias"] or wiki["name"], text[wiki.end() :])] if target else []
    code = _CODE_ITEM.fullmatch(text) if not found else None
    if code:
        found = [(code["name"], code["name"], code["rest"])]
    alone = len({target for target, _, _ in found}) == 1
    return [Entry(t, zone, title.strip("*_~ "), _hook(rest), line.number, text, alone) for t, title, rest in found]


def _hook(rest: str) -> str:
    return _SEPARATOR.sub("", rest, count=1).strip()


def _relative(target: str) -> str:
    """The path of a link into the memory, "" for one that leads elsewhere."""
    path = unquote(target.partition("#")[0])
    while path.startswith("./"):
        path = path[2:]
    outside = not path.endswith(".md") or re.match(r"[a-z][a-z0-9+.-]*:|[/~\\]", path, re.IGNORECASE)
    return "" if outside or ".." in path.split("/") or "\\" in path else path


def outside_links(text: str) -> list[tuple[int, str]]:
    """Line (from 1) and target of every link to a .md file that leads out of the memory's folder."""
    found = []
    for line in scan(text):
        for match in _LINK.finditer(line.text) if line.place == "text" else ():
            target = unquote(match["target"].strip("<>").partition("#")[0])
            escapes = ".." in target.split("/") or target.startswith(("/", "~"))
            if target.endswith(".md") and escapes:
                found.append((line.number + 1, match["target"]))
    return found


def render(lesson: Lesson) -> str:
    """The lesson's line: `- [Title](slug.md) — hook`, under 150 characters (R001-40, R001-41)."""
    title = fold(lesson.shown_title).replace("[", "(").replace("]", ")")
    target = re.sub(r"[ ()<>%]", lambda m: f"%{ord(m[0]):02X}", lesson.path)
    room = LINE_LIMIT - 1 - len(f"- []({target}) — ")
    title = shorten(title, max(room - 20, 30))
    hook = fold(lesson.description or lesson.rule)
    if hook.casefold() == title.casefold():  # a title said twice tells nobody when the lesson matters
        hook = fold(lesson.context or lesson.why or lesson.how)
    line = f"- [{title}]({target})"
    return f"{line} — {shorten(hook, max(room - len(title), 20))}" if hook else line


def without(text: str, paths: Collection[str]) -> str:
    """text without the lines of these files."""
    draft = _Draft(text)
    for path in paths:
        draft.remove(path)
    return draft.text


class Stepped(NamedTuple):
    """An index in step with its lessons, and the slugs whose lines were left out to stay within the budget."""

    text: str
    left_out: tuple[str, ...]


def in_step(
    text: str,
    lessons: Mapping[str, Lesson],
    before: Mapping[str, Lesson],
    *,
    hidden: Collection[str] = (),
    quarantined: Collection[str] = (),
    skip: Collection[str] = (),
    reachable: Collection[str] = (),
    line_budget: int = 140,
    character_budget: int = 24_000,
) -> Stepped:
    """text with one line per lesson, each in the zone of its state.

    before holds the lessons as the index last knew them: a line that equals their rendering is ours and is written anew,
    any other keeps its words. hidden slugs (private lessons, removed ones) lose their lines; quarantined paths go into
    the comment; skipped slugs stay as they are; reachable ones (through a hub) need no line.
    """
    draft = _Draft(text)
    for slug in sorted({*lessons, *before} - set(skip)):
        lesson = lessons.get(slug)
        if lesson is None or slug in hidden:
            draft.remove(before[slug].path if lesson is None else lesson.path)
        elif _has_line(draft, lesson) or not (lesson.is_note or slug in reachable):
            draft.keep(lesson, before.get(slug))
    for path in sorted(quarantined):
        draft.move(path, "quarantined")
    left_out = draft.fit(lessons, line_budget, character_budget)
    return Stepped(draft.text, left_out)


def _has_line(draft: _Draft, lesson: Lesson) -> bool:
    return bool(draft.mine(lesson.path))


class _Draft:
    """An index being brought in step, line by line; it is parsed again only after a change."""

    def __init__(self, text: str) -> None:
        self.eol = line_end(text)
        self.text = text

    @property
    def text(self) -> str:
        return self._text

    @text.setter
    def text(self, text: str) -> None:
        self._text = text
        self.rows = _rows(text)
        self.by_target: dict[str, list[Entry]] = {}
        for entry in (e for _, found in self.rows for e in found):
            self.by_target.setdefault(entry.target, []).append(entry)

    def mine(self, *paths: str) -> list[Entry]:
        """The entries that stand for one of these paths, in order."""
        names = {*paths, *(path.rpartition("/")[2] for path in paths)}
        return sorted({e for name in names for e in self.by_target.get(name, ())}, key=lambda e: e.line)

    def keep(self, lesson: Lesson, before: Lesson | None) -> None:
        """Give the lesson its one line in its zone."""
        mine = self.mine((before or lesson).path, lesson.path)
        wanted = render(lesson)
        if not mine:
            self._insert(lesson.state, lesson.path, wanted)
            return
        first = mine[0]
        stays = not first.alone or first.zone == lesson.state or (first.zone == "" and lesson.state == "current")
        ours = before is not None and _plain(first.raw) == render(before)
        moved_file = before is not None and before.path != lesson.path
        words = wanted if ours or (moved_file and first.alone) else _plain(first.raw)
        if stays and _plain(first.raw) == words and len(mine) == 1:
            return
        if stays:
            self._replace(first.line, words if first.alone else first.raw)
        self._drop([e.line for e in mine[1 if stays else 0 :] if e.alone and e.line != first.line or not stays])
        if not stays:
            self._insert(lesson.state, lesson.path, words)

    def move(self, path: str, zone: str) -> None:
        """Move a line to another zone as it is."""
        entry = next(iter(self.mine(path)), None)
        if entry and entry.alone and entry.zone != zone:
            self._drop([entry.line])
            self._insert(zone, path, _plain(entry.raw))

    def remove(self, path: str) -> None:
        """Take the lesson's lines away."""
        self._drop([e.line for e in self.mine(path) if e.alone])

    def fit(self, lessons: Mapping[str, Lesson], line_budget: int, character_budget: int) -> tuple[str, ...]:
        """Leave out lines of ours, least valuable first, until what Claude loads is within the budget (design §4)."""
        by_path = {lesson.path: lesson for lesson in lessons.values()}
        newest = max((x for x in lessons.values() if x.kind == "correction"), key=lambda x: value_order(x)[3:], default=None)
        lines, characters = loaded_size(self.text)
        if lines <= line_budget and characters <= character_budget:
            return ()
        shown = [e for _, found in self.rows for e in found if e.zone in ("current", "candidate") and e.target in by_path]
        ours = [by_path[e.target] for e in shown if e.raw == render(by_path[e.target])]
        ours = [lesson for lesson in ours if lesson != newest]
        out: list[str] = []
        for lesson in sorted(ours, key=value_order):
            if lines <= line_budget and characters <= character_budget:
                break
            lines, characters = lines - 1, characters - len(render(lesson)) - 1
            out.append(lesson.slug)
        gone = {lessons[slug].path for slug in out}
        self._drop([e.line for path in gone for e in self.mine(path) if e.alone])
        return tuple(sorted(out))

    def _lines(self) -> list[str]:
        return [row.line.raw for row, _ in self.rows]

    def _replace(self, number: int, words: str) -> None:
        lines = self._lines()
        body = lines[number].rstrip("\r\n")
        lines[number] = words + lines[number][len(body) :]
        self.text = "".join(lines)

    def _drop(self, numbers: list[int]) -> None:
        if not numbers:
            return
        lines, kept = self._lines(), list[str]()
        for n, line in enumerate(lines):
            if n in numbers:
                continue
            after_gap = n - 1 in numbers and kept and not kept[-1].strip()
            if not (after_gap and not line.strip()):  # an emptied zone keeps one blank line, not two
                kept.append(line)
        self.text = "".join(kept)

    def _insert(self, zone: str, path: str, words: str) -> None:
        words = re.sub("-->", "--&gt;", words) if zone in ("archived", "quarantined") else words
        if not any(row.heading == zone for row, _ in self.rows):
            self._open_zone(zone)
        rows = self.rows
        heading = next(n for n, (row, _) in enumerate(rows) if row.heading == zone)
        at, last = -1, heading
        for n in range(heading + 1, len(rows)):
            row, found = rows[n]
            if row.zone != zone or row.heading:
                break
            if found and found[0].target.casefold() > path.casefold():
                at = n
                break
            last = n if found or last == heading and not row.line.text.strip() else last
        lines = self._lines()
        if at < 0:
            at = last + 1
            if last == heading:
                words = self.eol + words
        if at and lines and not lines[at - 1].endswith("\n"):
            lines[at - 1] += self.eol
        tail = self.eol if at < len(lines) and lines[at].strip() and not rows[at][1] and "-->" not in lines[at] else ""
        lines[at:at] = [words + self.eol + tail]
        self.text = "".join(lines)

    def _open_zone(self, zone: str) -> None:
        """Write the heading of a zone where it belongs: Current, Candidate, then the comment with Archived."""
        rows, eol = self.rows, self.eol
        title = f"## {zone.capitalize()}{eol}"
        block = next((n for n, (row, _) in enumerate(rows) if row.in_block), None)
        if zone in ("archived", "quarantined"):
            if block is None:
                self._append(f"{_BLOCK_OPEN}{eol}{title}{_BLOCK_CLOSE}{eol}")
                return
            end = next(n for n in range(block, len(rows)) if _BLOCK_CLOSE in rows[n][0].line.text)
            at = end if zone == "quarantined" else block + 1
            lead = eol if at == end and lines_before(self._lines(), at).strip() else ""
            self._splice(at, lead + title + (eol if at != end else ""))
            return
        after = [n for n, (row, _) in enumerate(rows) if row.heading == "candidate"] if zone == "current" else []
        at_line = min([*after, *([block] if block is not None else [])], default=None)
        if at_line is None:
            self._append(title)
        else:
            lead = eol if lines_before(self._lines(), at_line).strip() else ""
            self._splice(at_line, f"{lead}{title}{eol}")

    def _splice(self, at: int, text: str) -> None:
        lines = self._lines()
        lines[at:at] = [text]
        self.text = "".join(lines)

    def _append(self, text: str) -> None:
        if self.text and not self.text.endswith("\n"):
            self.text += self.eol
        gap = self.eol if self.text.strip() and not self.text.endswith(("\n\n", "\n\r\n")) else ""
        self.text += gap + text


def lines_before(lines: list[str], at: int) -> str:
    """The line in front of a place, "" at the start."""
    return lines[at - 1] if at else ""


def _plain(raw: str) -> str:
    return raw.replace("--&gt;", "-->")


def loaded(text: str) -> str:
    """What Claude Code loads of an index: no head, no block comments, outer white space trimmed."""
    return "".join(line.raw for line in scan(text) if line.place in ("text", "fence")).replace("\r\n", "\n").strip("\ufeff \t\r\n")


def loaded_size(text: str) -> tuple[int, int]:
    """Lines and characters of what Claude Code loads (its limits: 200 and 25,000)."""
    body = loaded(text)
    return (body.count("\n") + 1 if body else 0), len(body)
