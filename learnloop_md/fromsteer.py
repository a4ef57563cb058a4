"""What `steer learn` has gathered: its lessons.db, read without touching it, and a skill's learnings.md."""

from __future__ import annotations

import re
import shutil
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from learnloop_md import incoming, runlog
from learnloop_md.errors import RefusedError, UnableError
from learnloop_md.incoming import Fault, Item
from learnloop_md.lesson import KINDS, Event, fold, has_controls, is_day
from learnloop_md.lines import scan
from learnloop_md.runlog import Run

_MOST = 50  # events made out of one counter
Row = dict[str, Any]


def read(path: Path, name: str, skill: str, today: str) -> tuple[list[Item], list[Fault], list[Run]]:
    """The lessons and the runs of a lessons.db, the skill's, told of as name. Raises UnableError where it is none."""
    lessons, runs = _rows(path)
    items: list[Item] = []
    faults: list[Fault] = []
    for row in lessons:
        where = f"{name} [{row['id']}]"
        try:
            items.append(Item(where, _lesson(row, skill, today)))
        except RefusedError as error:
            faults.append(Fault(where, error.message))
    return items, faults, [_run(row, skill, today) for row in runs]


def _rows(path: Path) -> tuple[list[Row], list[Row]]:
    """Both tables, read from a copy: a database that logs ahead would make files beside the original."""
    import sqlite3  # lazy: only this import needs it

    with tempfile.TemporaryDirectory(prefix="learnloop-") as folder:
        copy = Path(folder) / "lessons.db"
        try:
            for ending in ("", "-wal"):
                if Path(f"{path}{ending}").is_file():
                    shutil.copyfile(f"{path}{ending}", f"{copy}{ending}")
            with closing(sqlite3.connect(copy)) as base:
                base.row_factory = sqlite3.Row
                found = [
                    [dict(row) for row in base.execute(f"SELECT * FROM {table} ORDER BY id")]  # noqa: S608 - two names
                    for table in ("lessons", "runs")
                ]
        except (sqlite3.Error, OSError) as error:
            hint = "name the lessons.db that steer keeps below ~/.steer/skills"
            raise UnableError(f"{path.name} cannot be read: {error}", hint, code="not-a-database") from error
    return found[0], found[1]


def _text(row: Row, key: str) -> str:
    return str(row.get(key) or "").strip(" \t\r\n")  # a control character is told, not dropped as white space


def _plain(row: Row, key: str) -> str:
    """A text of a run, "" where it holds a control character: how the run ended counts without it."""
    text = _text(row, key)
    return "" if has_controls(text) else text


def _count(row: Row, key: str) -> int:
    value = row.get(key)
    return min(max(value, 0), _MOST) if isinstance(value, int) else 0


def _lesson(row: Row, name: str, today: str) -> Any:
    """A row as a lesson: noted or confirmed again is one more sighting, what comes beyond it confirmations.

    Raises RefusedError where it says nothing, or holds a control character.
    """
    if not _text(row, "text").strip():
        raise RefusedError("it has no text")
    key = f"steer-{name}-{row['id']}"
    day, last = (incoming.day_of(_text(row, field), today) for field in ("created_at", "last_seen_at"))
    good, bad, status = _count(row, "confirmations"), _count(row, "contradictions"), _text(row, "status")
    notes = {"archived": "archived in steer", "promoted": "promoted by steer into learnings.md"}
    return incoming.lesson(
        key,
        day,
        _text(row, "text"),
        evidence=_text(row, "evidence"),
        again=max(day, last) if good > 1 else "",
        kind=_text(row, "kind") if _text(row, "kind") in KINDS else "note",
        context=_text(row, "context"),
        skill_version=_text(row, "skill_version"),
        confirmed=tuple(Event(last, f"{key}-good-{n}") for n in range(1, good - 1)),
        disputed=tuple(Event(last, f"{key}-bad-{n}") for n in range(1, bad + 1)),
        pinned=status == "pinned",
        state="archived" if status in notes else "candidate",
        archive_note=notes.get(status, ""),
    )


def _run(row: Row, name: str, today: str) -> Run:
    time = _text(row, "created_at")
    time = time if is_day(time[:10]) else f"{today}T00:00:00Z"
    digits = re.sub(r"\D", "", time)[:14]
    return Run(
        id=f"run_{digits[:8]}_{digits[8:14] or '000000'}_steer-{name}-" + re.sub(r"\W", "-", str(row["id"])),
        status=runlog.STATUS_OF.get(_text(row, "status"), "failed"),
        created_at=time.replace("+00:00", "Z"),
        note=_plain(row, "note"),
        skill=name,
        skill_version=_plain(row, "skill_version"),
        workspace=Path(_plain(row, "workspace")).name,
    )


_BULLET = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(?P<said>\S.*)")
_STEER = re.compile(r"\s*<!--\s*steer:lesson\s+(?P<id>\d+)\s+(?P<day>\d{4}-\d\d-\d\d)\s*-->")
_WHEN = re.compile(r"(?P<rule>.*?)\s*\(when:\s*(?P<when>[^()]*)\)$")
_BREAK = re.compile(r"[ ]{0,3}(?:#{1,6}(?:\s|$)|[-*_=]{3,}\s*$)")  # what no bullet goes on behind


class _Bullet(NamedTuple):
    line: int  # from 1
    paragraphs: list[str]  # the first one is the rule
    raw: list[str]


def promoted(text: str, name: str, skill: str, today: str) -> tuple[list[Item], list[Fault]]:
    """The rules of a learnings.md: steer's with their day, those written by hand, not those that we codified."""
    items: list[Item] = []
    faults: list[Fault] = []
    for bullet in _bullets(text):
        first, *more = bullet.paragraphs
        if "<!-- learnloop:" in " ".join(bullet.paragraphs):
            continue
        steer = _STEER.search(first)
        said = fold(_STEER.sub("", first))
        when = _WHEN.match(said)
        rule, context = (when["rule"], when["when"]) if when else (said, "")
        if not rule:
            continue
        key = f"steer-{skill}-{steer['id']}" if steer else incoming.key_of(rule)
        day = steer["day"] if steer else today
        why = " ".join(more)
        where = f"{name}:{bullet.line}"
        try:
            incoming.refuse_controls(*bullet.raw)
            lesson = incoming.lesson(key, day, rule, why=why, evidence=name, context=context, state="current")
        except RefusedError as error:
            faults.append(Fault(where, error.message))
        else:
            items.append(Item(where, lesson))
    return items, faults


def _bullets(text: str) -> list[_Bullet]:
    """The items of the lists, each with all that stands in it: wrapped lines, paragraphs, lists and code below it."""
    found: list[_Bullet] = []
    depth, gap = -1, False  # how far the open item is indented, and whether a blank line stands behind it
    for line in scan(text):
        is_text = line.place == "text" and not _BREAK.match(line.text)
        bullet = _BULLET.match(line.text) if is_text else None
        wide = line.text.expandtabs(4)
        indent = len(wide) - len(wide.lstrip())
        inside = depth >= 0 and indent > depth + 1
        if not line.text.strip():
            gap = True
            continue
        if bullet and not inside and indent < 4:
            found.append(_Bullet(line.number + 1, [bullet["said"]], [line.text]))
            depth = indent
        elif inside and (gap or bullet or not is_text):
            found[-1].paragraphs.append(bullet["said"] if bullet else line.text.strip())
            found[-1].raw.append(line.text)
        elif is_text and depth >= 0 and (inside or not gap):
            found[-1].paragraphs[-1] += f" {line.text.strip()}"
            found[-1].raw.append(line.text)
        else:
            depth = -1
        gap = False
    return found
