"""MEMORY.md: one line per lesson, in zones; read any form people write, change only the lines that must change.

Archived lines, and lines of quarantined lessons, stand in a block comment, which Claude Code strips before it loads and
counts the file (design §4). Everything that is not a line of ours keeps its bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias
from urllib.parse import unquote

from learnloop_md.lesson import Lesson, fold, shorten, value_order
from learnloop_md.lines import Line, line_end, room_at_end, scan, split_lines, with_final_newline
from learnloop_md.neutral import safe

NEW = "# Memory\n\n## Current\n\n## Candidate\n"
ZONES = ("current", "candidate", "archived", "quarantined")
_HIDDEN = ("archived", "quarantined")  # what stands in the block comment
LINE_LIMIT = 150  # characters (R001-41)
HARD_LINES, HARD_CHARACTERS = 200, 25_000  # where Claude Code cuts MEMORY.md (measured; R001-42)
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
    hidden: bool = False  # whether it stands in our comment


_LINK = re.compile(r"\]\((?P<target><[^<>]*>|[^()\s<>]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"]*\")?\)")
_WIKI = re.compile(r"\[\[(?P<name>[^\[\]|#]+)(?:#[^\[\]|]*)?(?:\|(?P<alias>[^\[\]]*))?\]\]")
_CODE_ITEM = re.compile(r"\s*[-*+]\s+`(?P<name>[^`/\s]+\.md)`(?P<rest>.*)")
_SEPARATOR = re.compile(r"^[\s~*_]*(?:[—–\-·:;]+\s*)?(?::\s*)?")
_MARKS = "*_~ "  # may stand around a title
_BETWEEN = " \t·|,;*_~"  # what stands between two links of a line


def entries(text: str) -> list[Entry]:
    """Every line of the index that stands for a lesson, in order."""
    return [entry for _, found in _rows(text) for entry in found]


class _Row(NamedTuple):
    line: Line
    zone: str
    in_block: bool
    heading: str  # the zone that this line opens, or "-" for another heading of level 1 or 2


_Rows: TypeAlias = tuple[tuple[_Row, tuple[Entry, ...]], ...]


@lru_cache(maxsize=4)  # `diff` asks for the same two documents again and again (1,000 lessons: 2.2 to 1.8 s)
def _rows(text: str) -> _Rows:
    rows: list[tuple[_Row, tuple[Entry, ...]]] = []
    zone, in_block, block_zone = "", False, ""
    open_before, open_now = False, False  # whether a comment began in an earlier line, and goes on
    for line in scan(text):
        bare = line.text.strip()
        open_before, open_now = open_now, line.place == "comment" and "-->" not in bare
        if line.place == "comment":
            if bare.startswith("<!-- learnloop: not in force") and open_now and not open_before:
                in_block, block_zone = True, "archived"  # also without a heading nothing in it is in force
                rows.append((_Row(line, "", True, ""), ()))
                continue
            if not in_block:
                rows.append((_Row(line, zone, False, ""), ()))
                continue
            block_zone = _heading_zone(bare) or block_zone
            row = _Row(line, block_zone, True, _heading_zone(bare))
            in_block = "-->" not in bare
            zone = ""  # what is added behind the comment stands outside the zones
        elif line.place == "text":
            opens = _heading_zone(bare) or ("-" if re.match(r"#{1,2}\s", bare) else "")
            zone = "" if opens == "-" else opens or zone
            row = _Row(line, zone, False, opens)
        else:
            rows.append((_Row(line, zone, False, ""), ()))
            continue
        found = [] if row.heading else _links(line, row.zone)
        rows.append((row, tuple(entry._replace(hidden=row.in_block) for entry in found)))
    return tuple(rows)


class Place(NamedTuple):
    """A line of the index as a merge sees it: which zone's heading it is, or the one entry it stands for."""

    raw: str
    opens: str  # a zone, "block" or "after" for the ends of our comment, "-" for another heading of level 1 or 2
    entry: Entry | None


def places(text: str) -> list[Place]:
    """Every line of the index with what it is."""
    found: list[Place] = []
    for row, links in _rows(text):
        bare = row.line.text.strip()
        opens = row.heading
        if row.in_block and not row.heading and bare == _BLOCK_CLOSE:
            opens = "after"
        elif row.in_block and bare.startswith("<!--"):
            opens = "block"
        alone = links[0] if links and links[0].alone else None
        found.append(Place(row.line.raw, opens, alone))
    return found


def with_zone(text: str, zone: str) -> str:
    """text with the heading of a zone where it belongs."""
    return text if _heading_of(_rows(text), zone) >= 0 else _with_zone(text, zone, line_end(text))


Name = tuple[str, int]  # the file that a line of its own stands for, and which line of that file it is


def named(text: str) -> dict[Name, Entry]:
    """The lines that stand for one file."""
    return _named(_rows(text))


def _named(rows: _Rows) -> dict[Name, Entry]:
    found: dict[Name, Entry] = {}
    count = Counter[str]()
    for _, links in rows:
        if links and links[0].alone:
            target = links[0].target
            found[target, count[target]] = links[0]
            count[target] += 1
    return found


def with_lines(text: str, wanted: Mapping[Name, tuple[str, str] | None], order: Sequence[Name] = ()) -> str:
    """text in which these lines have these zones and words, None for no line; all else stays.

    A line outside the zones is put behind the one that stands before it in order.
    """
    draft = _Draft(text)
    there = _named(draft.rows)
    loose: dict[Name, str] = {}
    for name, want in wanted.items():
        mine = there.get(name)
        if want and mine and mine.zone == want[0]:
            if want[1] != _plain(mine.raw):
                draft.words[mine.line] = _safe(want[1], "archived" if mine.hidden else "")
            continue
        draft.gone |= {mine.line} if mine else set()
        if want and want[0]:
            draft.new.append((want[0], name[0], want[1]))
        elif want:
            loose[name] = want[1]
    result = draft.text()
    for name, words in sorted(loose.items(), key=lambda pair: order.index(pair[0]) if pair[0] in order else -1):
        result = _with_loose(result, name, words, order, draft.eol)
    return result


def _with_loose(text: str, name: Name, words: str, order: Sequence[Name], eol: str) -> str:
    """text with a line outside the zones: behind its neighbour, else in front of the zones, else at the end."""
    there = {other: entry.line for other, entry in named(text).items() if not entry.zone}
    at = order.index(name) if name in order else 0
    before = [there[other] for other in order[:at] if other in there]
    after = [there[other] for other in order[at + 1 :] if other in there]
    lines = split_lines(with_final_newline(text, eol))
    if before or after:
        spot = _behind(_rows(text), before[-1]) if before else after[0]
        return "".join([*lines[:spot], words + eol, *lines[spot:]])
    if there:
        spot = _behind(_rows(text), max(there.values()))
        return "".join([*lines[:spot], words + eol, *lines[spot:]])
    rows = _rows(text)
    spot = next((n for n, (row, _) in enumerate(rows) if row.heading in ZONES or row.in_block), room_at_end(text))
    return _added(text, spot, words + eol, eol)


def zones(text: str) -> set[str]:
    """The zones whose headings stand in text."""
    return {row.heading for row, _ in _rows(text) if row.heading in ZONES}


def _heading_zone(bare: str) -> str:
    match = re.fullmatch(r"##\s+(current|candidates?|archived|quarantined)\s*#*", bare, re.IGNORECASE)
    return match[1].lower().replace("candidates", "candidate") if match else ""


def _links(line: Line, zone: str) -> list[Entry]:
    """The lesson links of a line, each with its words: those up to the next link."""
    text, spans = line.text, list[tuple[str, int, int, int]]()  # target, start of title, its end, start of hook
    behind = 0
    for match in _LINK.finditer(text):
        opening = _opening(text, behind, match.start())
        target = _relative(match["target"].strip("<>"))
        behind = match.end()
        if target and opening >= 0:
            spans.append((target, opening + 1, match.start(), match.end()))
    if spans:
        ends = [start - 1 for _, start, _, _ in spans[1:]]
        rests = [text[span[3] : end].rstrip(_BETWEEN) for span, end in zip(spans, ends, strict=False)]
        found = [(t, text[a:b], rest) for (t, a, b, _), rest in zip(spans, [*rests, text[spans[-1][3] :]], strict=True)]
    else:
        found = _bare(text)
    alone = len({target for target, _, _ in found}) == 1 and bool(_ITEM.match(text))
    return [Entry(t, zone, title.strip(_MARKS), _hook(rest), line.number, text, alone) for t, title, rest in found]


def _opening(text: str, start: int, end: int) -> int:
    """Where the link's title opens: the bracket that pairs with the one at end, else the first; -1 without any."""
    depth = 0
    for n in range(end - 1, start - 1, -1):
        if text[n] == "[" and depth == 0:
            return n
        depth += {"]": 1, "[": -1}.get(text[n], 0)
    return text.find("[", start, end)


# What stands for a lesson and may be moved: a list item, or a line that begins with the link. Other prose stays.
_ITEM = re.compile(r"\s*(?:[-*+]\s|\d+[.)]\s|[*_~]*\[)")


def _bare(text: str) -> list[tuple[str, str, str]]:
    """A list item that names its file by a wiki link or in code."""
    wiki = _WIKI.search(text) if re.match(r"\s*[-*+]\s+\[\[", text) else None
    if wiki:
        target = _relative(wiki["name"].strip().removesuffix(".md") + ".md")
        return [(target, wiki["alias"] or wiki["name"], text[wiki.end() :])] if target else []
    code = _CODE_ITEM.fullmatch(text)
    return [(code["name"], code["name"], code["rest"])] if code else []


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


def _words(lesson: Lesson, told: Callable[[str], str] = safe) -> tuple[str, str]:
    """The title and the hook of the lesson's line, which stays under 150 characters (R001-41).

    Claude loads the line as it stands: its words are out of force (design §8).
    """
    title = told(lesson.shown_title).replace("[", "(").replace("]", ")")
    room = LINE_LIMIT - 1 - len(f"- []({_target(lesson.path)}) — ")
    title = shorten(title, max(room - 20, 30))
    hook = told(lesson.description or lesson.rule)
    if hook.casefold() == title.casefold():  # a title said twice tells nobody when the lesson matters
        hook = told(lesson.context or lesson.why or lesson.how)
    hook = hook.replace("](", "] (")  # a second link would make it the line of two lessons
    return title, shorten(hook, max(room - len(title), 20))


def render(lesson: Lesson) -> str:
    """The lesson's line: `- [Title](slug.md) — hook` (R001-40)."""
    return _line(lesson, *_words(lesson))


def is_ours(raw: str, lesson: Lesson) -> bool:
    """Whether a line is what the lesson's would be, or was before lines were made neutral: no words of its own."""
    words = _plain(raw)
    return words == render(lesson) or words == _line(lesson, *_words(lesson, fold))


def _is_of_either(raw: str, before: Lesson, lesson: Lesson) -> bool:
    """Whether a line is what a renamed lesson's is or was, under either of its names."""
    names = [(row.slug, row.path) for row in (before, lesson)]
    return any(is_ours(raw, row._replace(slug=slug, path=path)) for row in (before, lesson) for slug, path in names)


def _line(lesson: Lesson, title: str, hook: str) -> str:
    return f"- [{title}]({_target(lesson.path)})" + (f" — {hook}" if hook else "")


def claims_of(lesson: Lesson) -> dict[str, str]:
    """What the lesson's line is read as saying, without rendering and reading it."""
    title, hook = _words(lesson)
    return {"title": title.strip(_MARKS), "description": _hook(f" — {hook}")}


def _target(path: str) -> str:
    return re.sub(r"[ ()<>%#]", lambda m: f"%{ord(m[0]):02X}", path)


def without(text: str, paths: Collection[str]) -> str:
    """text without the lines of these files."""
    draft = _Draft(text)
    for path in paths:
        draft.remove(path)
    return draft.text()


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

    before holds the lessons as the index last knew them: a line that equals their rendering is ours and is written
    anew, any other keeps its words. hidden slugs (private ones) lose their lines; quarantined paths go into
    the comment; skipped slugs stay as they are; reachable ones (through a hub) need no line.
    """
    draft = _Draft(text)
    for slug in sorted({*lessons, *before} - set(skip)):
        lesson = lessons.get(slug)
        if lesson is None or slug in hidden:
            draft.remove(before[slug].path if lesson is None else lesson.path)
        elif draft.mine(lesson.path) or not (lesson.is_note or slug in reachable):
            draft.keep(lesson, before.get(slug))
    for path in sorted(quarantined):
        draft.move(path, "quarantined")
    listed = {s: x for s, x in lessons.items() if not x.is_note and s not in reachable}  # no other line would come back
    left_out = _too_many(draft.text(), listed, line_budget, character_budget)
    for slug in left_out:
        draft.leave_out(lessons[slug].path)
    return Stepped(draft.text(), left_out)


class _Draft:
    """An index being brought in step: what happens to its lines is noted first and done in one go."""

    def __init__(self, text: str) -> None:
        self.eol = line_end(text)
        self.rows = _rows(text)
        # Where our comment lost its first line, what stood in it is in force as it seems: the lines go back.
        self.torn = any(row.line.place == "text" and row.line.text.strip() == _BLOCK_CLOSE for row, _ in self.rows)
        self.by_target: dict[str, list[Entry]] = {}
        for entry in (e for _, found in self.rows for e in found):
            self.by_target.setdefault(entry.target, []).append(entry)
        self.words: dict[int, str] = {}  # lines that get other words
        self.gone: set[int] = set()
        self.new: list[tuple[str, str, str]] = []  # zone, path, line

    def mine(self, *paths: str) -> list[Entry]:
        """The entries that stand for one of these paths: lines of their own first, then in order."""
        names = {*paths, *(path.rpartition("/")[2] for path in paths)}
        return sorted({e for name in names for e in self.by_target.get(name, ())}, key=lambda e: (not e.alone, e.line))

    def keep(self, lesson: Lesson, before: Lesson | None) -> None:
        """Give the lesson its one line in its zone."""
        known = before or lesson
        mine = self.mine(known.path, lesson.path)
        if not mine:
            self.new.append((lesson.state, lesson.path, render(lesson)))
            return
        renamed = before is not None and before.path != lesson.path
        own = [e for e in mine if before and renamed and not _is_of_either(e.raw, before, lesson)]
        first = next((e for e in own if e.alone), mine[0])
        in_zone = first.zone == lesson.state and (first.hidden or not self.torn or lesson.state not in _HIDDEN)
        stays = not first.alone or in_zone or (first.zone == "" and lesson.state == "current")
        words = _plain(first.raw)
        if before is not None and (first not in own if renamed else is_ours(first.raw, before)):
            words = render(lesson)
        elif known.path != lesson.path:
            words = _retargeted(words, first.target, lesson.path) or render(lesson)
        if stays and words != _plain(first.raw):
            self.words[first.line] = _safe(words, first.zone)
        if not stays and first.alone:
            self.gone.add(first.line)
        if before != lesson or not stays:  # doubled lines are adopted as they are, and become one with the next change
            others = [e for e in mine if e.alone and e.line != first.line]
            # Another line of own words that has the old name stays, and is told as naming what is not there.
            self.gone |= {e.line for e in others if e not in own or e.target == lesson.path}
        if not stays:
            self.new.append((lesson.state, lesson.path, words))

    def move(self, path: str, zone: str) -> None:
        """Move a lesson's line to another zone as it is; no other line of it stays elsewhere."""
        mine = [entry for entry in self.mine(path) if entry.alone]
        strays = [entry for entry in mine if entry.zone != zone]
        self.gone |= {entry.line for entry in strays}
        if strays and len(strays) == len(mine):
            self.new.append((zone, path, _plain(strays[0].raw)))

    def remove(self, path: str) -> None:
        """Take the lesson's lines away."""
        self.gone |= {e.line for e in self.mine(path) if e.alone}

    def leave_out(self, path: str) -> None:
        """Neither keep nor write the lesson's line; one that was never written leaves no trace."""
        self.remove(path)
        self.new = [row for row in self.new if row[1] != path]

    def text(self) -> str:
        """The index with all that was noted."""
        lines = [self.words.get(row.line.number, row.line.text) + row.line.end for row, _ in self.rows]
        kept = _dropped(lines, self.gone)
        if 0 in self.gone and kept and kept[0].rstrip() == "---":
            kept.insert(0, self.eol)  # a rule that comes to stand first must not open a head
        return _with_new("".join(kept), self.new, self.eol)


def _dropped(lines: list[str], gone: Collection[int]) -> list[str]:
    """The lines without some; where nothing is left between two blank lines, one of them goes too."""
    kept: list[str] = []
    after_gap = False
    for n, line in enumerate(lines):
        if n in gone:
            after_gap = after_gap or (bool(kept) and not kept[-1].strip())
            continue
        if not (after_gap and not line.strip()):
            kept.append(line)
        after_gap = False
    if after_gap:
        kept.pop()
    return kept


def _with_new(text: str, new: list[tuple[str, str, str]], eol: str) -> str:
    """text with lines put into their zones, each before the first one there with a greater path."""
    for zone in ZONES:
        wanted = sorted((path.casefold(), _safe(words, zone)) for at, path, words in new if at == zone)
        if not wanted:
            continue
        if _heading_of(_rows(text), zone) < 0:
            text = _with_zone(text, zone, eol)
        rows = _rows(text)
        places, end = _places(rows, zone)
        lines = [row.line.raw for row, _ in rows]
        heading = _heading_of(rows, zone)
        blocks: dict[int, str] = {}
        for path, words in wanted:
            at = next((n for n, target in places if target > path), end)
            lead = eol if at == heading + 1 and at not in blocks else ""
            blocks[at] = blocks.get(at, "") + lead + words + eol
        if end in blocks and end < len(lines) and lines[end].strip() and "-->" not in lines[end]:
            blocks[end] += eol
        lines[end - 1] = with_final_newline(lines[end - 1], eol)
        text = "".join(blocks.get(n, "") + line for n, line in enumerate([*lines, ""]))
    return text


def _heading_of(rows: _Rows, zone: str) -> int:
    """The line of the zone's heading, inside the block comment for what is not in force; -1 without one."""
    hidden = zone in _HIDDEN
    return next((n for n, (row, _) in enumerate(rows) if row.heading == zone and row.in_block == hidden), -1)


def _places(rows: _Rows, zone: str) -> tuple[list[tuple[int, str]], int]:
    """Lines and targets of a zone's entries, and the line behind the last one."""
    heading = _heading_of(rows, zone)
    places: list[tuple[int, str]] = []
    end = heading + 1
    for n in range(heading + 1, len(rows)):
        row, found = rows[n]
        if row.zone != zone or row.heading:
            break
        if found:
            places.append((n, found[0].target.casefold()))
        if found or (n == heading + 1 and not row.line.text.strip()) or (end == n > heading + 1 and _goes_on(row)):
            end = n + 1
    return places, end


def _goes_on(row: _Row) -> bool:
    """Whether a line, right below an entry, is the rest of it: indented words outside of fences and other comments."""
    text, plain = row.line.text, row.line.place == "text" or row.in_block
    return plain and text[:1] in (" ", "\t") and bool(text.strip()) and "-->" not in text and not row.heading


def _behind(rows: _Rows, at: int) -> int:
    """The line behind an entry and its indented lines."""
    at += 1
    while at < len(rows) and not rows[at][1] and _goes_on(rows[at][0]):
        at += 1
    return at


def _with_zone(text: str, zone: str, eol: str) -> str:
    """text with the heading of a zone where it belongs: Current, Candidate, then the comment with Archived."""
    rows = _rows(text)
    title = f"## {zone.capitalize()}{eol}"
    block = [n for n, (row, _) in enumerate(rows) if row.in_block]
    if zone in _HIDDEN and not block:
        return _added(text, room_at_end(text), f"{_BLOCK_OPEN}{eol}{title}{_BLOCK_CLOSE}{eol}", eol)
    if zone in _HIDDEN:
        closed = _BLOCK_CLOSE in rows[block[-1]][0].line.text
        at = block[-1] + (not closed) if zone == "quarantined" else block[0] + 1
        return _added(text, at, title, eol, gap=zone == "quarantined")
    later = [n for n, (row, _) in enumerate(rows) if row.heading == "candidate" and zone == "current"]
    return _added(text, min([*later[:1], *block[:1], room_at_end(text)]), title, eol)


def _added(text: str, at: int, block: str, eol: str, *, gap: bool = True) -> str:
    """text with a block in front of a line, set off by blank lines."""
    lines = split_lines(with_final_newline(text, eol))
    lead = eol if gap and at and lines[at - 1].strip() else ""
    tail = eol if at < len(lines) and lines[at].strip() and _BLOCK_CLOSE not in lines[at] else ""
    return "".join([*lines[:at], lead, block, tail, *lines[at:]])


def _too_many(text: str, lessons: Mapping[str, Lesson], line_budget: int, character_budget: int) -> tuple[str, ...]:
    """The slugs whose lines are left out, least valuable first, until Claude's budget is kept (design §4)."""
    lines, characters = loaded_size(text)
    if lines <= line_budget and characters <= character_budget:
        return ()
    by_path = {lesson.path: lesson for lesson in lessons.values()}
    corrections = (lesson for lesson in lessons.values() if lesson.kind == "correction" and lesson.is_active)
    newest = max(corrections, key=lambda lesson: value_order(lesson)[3:], default=None)
    found = entries(text)
    mentions = Counter(entry.target for entry in found)  # one that is named elsewhere too would not come back
    zoned = [e for e in found if e.zone in ("current", "candidate") and mentions[e.target] == 1]
    shown = [(by_path[e.target], e.raw) for e in zoned if e.target in by_path]
    out: list[str] = []
    for lesson, raw in sorted(shown, key=lambda pair: value_order(pair[0])):
        if lines <= line_budget and characters <= character_budget:
            break
        if raw == render(lesson) and lesson != newest:
            lines, characters = lines - 1, characters - len(raw) - 1
            out.append(lesson.slug)
    return tuple(sorted(out))


def _retargeted(words: str, old: str, path: str) -> str:
    """A line whose link leads to another path, "" where the link has another form."""
    for match in _LINK.finditer(words):
        if _relative(match["target"].strip("<>")) == old:
            return words[: match.start("target")] + _target(path) + words[match.end("target") :]
    return ""


def _safe(words: str, zone: str) -> str:
    """A line as it may stand in a zone: inside the comment nothing may end it."""
    return words.replace("-->", "--&gt;") if zone in _HIDDEN else words


def _plain(raw: str) -> str:
    return raw.replace("--&gt;", "-->")


def loaded(text: str) -> str:
    """What Claude Code loads of an index: no head, no block comments, outer white space trimmed."""
    return (
        "".join(line.raw for line in scan(text) if line.place in ("text", "fence"))
        .replace("\r\n", "\n")
        .strip("\ufeff \t\r\n")
    )


def loaded_part(text: str) -> str:
    """What of that a session gets: Claude Code cuts at 200 lines and at 25,000 characters (R001-42)."""
    return "\n".join(loaded(text).split("\n")[:HARD_LINES])[:HARD_CHARACTERS]


def loaded_size(text: str) -> tuple[int, int]:
    """Lines and characters of what Claude Code loads (its limits: 200 and 25,000)."""
    body = loaded(text)
    return (body.count("\n") + 1 if body else 0), len(body)
