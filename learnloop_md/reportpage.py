"""The report as one HTML page: no script, no address, every text of a lesson escaped; readable by eye and by ear."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from learnloop_md.answer import visible_lines
from learnloop_md.lesson import TYPES, Lesson, confidence, days_between, shorten
from learnloop_md.managed import UNSEALED, sealed
from learnloop_md.overview import Change, Overview, Row
from learnloop_md.reportstyle import css

MARK = f'<meta name="generator" content="learnloop report {UNSEALED}">'
_LIMIT = 1_000_000  # bytes; what would pass it is told shorter
_TIMELINE = 60  # rows
_ZONES = ("current", "candidate", "archived")
_FILTERS = ("current", "candidate", "archived", "pinned", "disputed", "relapsed")


class Detail(NamedTuple):
    """How much is told: characters of each text, changes of each lesson, and how many of these with their lines."""

    room: int
    changes: int
    lines: int
    old_lines: int  # the same of lessons that are not in force any more


_DETAILS = (
    Detail(2_000, 50, 50, 50),
    Detail(600, 12, 12, 12),
    Detail(600, 8, 8, 0),
    Detail(600, 6, 1, 0),
    Detail(400, 4, 0, 0),
    Detail(160, 0, 0, 0),
)


def page(found: Overview) -> str:
    """The page; a big memory's is told in less detail, so that it stays below 1 MB for 1,000 lessons."""
    made = ""
    for detail in _DETAILS:
        made = _page(found, detail)
        if len(made.encode("utf-8", "replace")) < _LIMIT:
            break
    return sealed(made.encode("utf-8", "replace").decode(), MARK)


def _page(found: Overview, detail: Detail) -> str:
    style = css(_FILTERS, TYPES)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    title = f"Lessons of {_text(found.name)}"
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n{MARK}\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="referrer" content="no-referrer">\n<title>{title}</title>\n<style>{style}</style>\n</head>\n'
        "<body>\n"
        f'<a class="skip" href="#lessons">Skip to the lessons</a>\n<header>\n<h1>{title}</h1>\n'
        f'<p class="dim">{_origin(found)}</p>\n<nav aria-label="Parts of this page"><ul>'
        '<li><a href="#figures">Figures</a></li><li><a href="#board">Zones</a></li>'
        '<li><a href="#timeline">Timeline</a></li><li><a href="#lessons">Lessons</a></li></ul></nav>\n</header>\n'
        f"<main>\n{_figures(found)}{_board(found)}{_timeline(found)}{_lessons(found, detail)}</main>\n"
        f'<footer class="dim"><p>{_left_out(found)}</p></footer>\n</body>\n</html>\n'
    )


def _section(name: str, title: str, inner: str) -> str:
    """A part of the page that its heading names."""
    return f'<section id="{name}" aria-labelledby="{name}-h"><h2 id="{name}-h">{title}</h2>\n{inner}</section>\n'


def _text(text: str, room: int = 0) -> str:
    """A text as text, whatever stands in it."""
    if room:
        text = shorten(text, room)
    if not (text.isascii() and text.isprintable()):
        text = visible_lines(text).encode("utf-8", "replace").decode()
    return escape(text)


def _origin(found: Overview) -> str:
    at = f", commit <code>{found.commit[:10]}</code>" if found.commit else ", without git"
    return f"A {found.kind} memory on {found.day}{at}."


def _left_out(found: Overview) -> str:
    said = ["Made by learnloop. Lesson files are the truth; this page is a view of them and of their git history."]
    if found.private:
        said.append(f"{_count(found.private, 'private lesson')} left out.")
    if found.quarantined:
        said.append(f"{_count(found.quarantined, 'file')} quarantined and not shown: learnloop check says why.")
    return " ".join(said)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


# --- figures ----------------------------------------------------------------------------------------------------------


def _figures(found: Overview) -> str:
    counts, (good, bad) = found.counts, found.outcomes
    share = f"{round(100 * good / (good + bad))} %" if good + bad else "–"
    days = "–" if found.median_days is None else f"{found.median_days:g}"
    tiles = [
        (
            "lessons in force or waiting",
            str(counts["current"] + counts["candidate"]),
            f"{counts['current']} current, {counts['candidate']} candidate, {counts['archived']} archived",
        ),
        ("median days to graduate", days, "from the first sighting"),
        ("outcomes that confirmed", share, f"{good} confirmed, {bad} disputed"),
        ("relapses", str(len(found.relapsed)), "codified and learned again, or edited away"),
        ("tokens loaded per session", f"{found.tokens[-1][1]:,}", f"estimated, on {found.tokens[-1][0]}"),
    ]
    rows = "".join(
        f"<div><dt>{name}</dt><dd>{value}</dd><dd class=more>{more}</dd></div>\n" for name, value, more in tiles
    )
    return _section("figures", "Figures", f'<dl class="tiles">\n{rows}</dl>\n{_curve(found)}{_fallen(found)}')


def _curve(found: Overview) -> str:
    """Tokens over time: a drawing, its words, and its numbers as a table."""
    points = found.tokens
    first, last = points[0][0], points[-1][0]
    days = max(days_between(first, last), 1)
    top = max(1, *(count for _, count in points))
    at = [(1000 * days_between(first, day) / days, 100 - 92 * count / top) for day, count in points]
    steps = [f"{x:.0f} {at[n - 1][1] if n else y:.1f} {x:.0f} {y:.1f}" for n, (x, y) in enumerate(at)]
    line = " ".join(steps) + f" 1000 {at[-1][1]:.1f}"
    words = (
        f"Tokens that a session loads, from {points[0][1]:,} on {first} to {points[-1][1]:,} on {last}, at most {top:,}"
    )
    rows = "".join(f"<tr><th scope=row>{day}</th><td>{count:,}</td></tr>" for day, count in points)
    return (
        f'<figure><svg role="img" aria-label="{words}" viewBox="0 0 1000 100" preserveAspectRatio="none">'
        f'<polygon class="area" points="0 100 {line} 1000 100"/><polyline class="curve" points="{line}"/></svg>\n'
        f"<figcaption>{words}.</figcaption></figure>\n<details><summary>The same as a table</summary>"
        f"<table><caption>Tokens loaded per session, by day</caption><thead><tr><th scope=col>Day</th>"
        f"<th scope=col>Tokens</th></tr></thead><tbody>{rows}</tbody></table></details>\n"
    )


def _fallen(found: Overview) -> str:
    if not found.relapsed:
        return ""
    rows = "".join(f"<li>{_link(row.lesson)}: {_text('; '.join(row.relapses))}</li>\n" for row in found.relapsed)
    return f"<h3>Relapses</h3>\n<ul>\n{rows}</ul>\n"


def _link(lesson: Lesson) -> str:
    return f"<a href=#{_anchor(lesson)}>{_text(lesson.shown_title, 80)}</a>"


def _anchor(lesson: Lesson) -> str:
    """A lesson's id on the page; a slug made by hand may hold anything."""
    return "l" + hashlib.sha256(lesson.slug.encode("utf-8", "surrogatepass")).hexdigest()[:8]


# --- zones and time ---------------------------------------------------------------------------------------------------


def _board(found: Overview) -> str:
    zones = []
    for zone in _ZONES:
        rows = [row for row in found.rows if row.state == zone]
        items = "".join(f"<li>{_link(row.lesson)}</li>\n" for row in rows) or "<li>none</li>"
        zones.append(
            f'<section aria-labelledby="z-{zone}" tabindex="0"><h3 id="z-{zone}">{_tag(zone)} '
            f"{len(rows)}</h3>\n<ul>{items}</ul></section>\n"
        )
    return _section("board", "Zones", f'<div class="board">\n{"".join(zones)}</div>')


def _timeline(found: Overview) -> str:
    rows = sorted(found.rows, key=lambda row: (row.last, row.lesson.slug), reverse=True)[:_TIMELINE]
    days = [stage.since for row in rows for stage in row.stages if stage.since]
    first, last = min(days, default=found.day), max([found.day, *days])
    span = max(days_between(first, last), 1)
    body = "".join(_line(row, first, span) for row in rows)
    more = f" The {_TIMELINE} that changed last of {len(found.rows)}." if len(found.rows) > _TIMELINE else ""
    key = "".join(f"<span><b class={zone}></b>{zone}</span>" for zone in ("candidate", "current", "archived"))
    head = (
        "<tr><th scope=col>Lesson</th><th scope=col>Zone</th><th scope=col class=day>Began</th>"
        f"<th scope=col class=day>Zone since</th><th scope=col>From {first} to {last}</th></tr>"
    )
    table = (
        f'<div class="wide" role="region" aria-labelledby="timeline-h" tabindex="0"><table>\n'
        f"<caption>When each lesson changed its zone, from {first} to {last}, as git tells.{more}</caption>\n"
        f"<thead>{head}</thead>\n<tbody>\n{body}</tbody></table></div>"
    )
    return _section("timeline", "Timeline", f'<p class="key">{key}</p>\n{table}')


def _line(row: Row, first: str, span: int) -> str:
    bars, words = [], []
    for stage in row.stages:
        begins = min(1000 * days_between(first, stage.since) / span, 994)
        ends = 1000 * days_between(first, stage.until) / span if stage.until else 1000
        bars.append(f'<rect class="b-{stage.state}" x="{begins:.0f}" width="{max(ends - begins, 6):.0f}" height="10"/>')
        words.append(f"{stage.state} from {stage.since}" + (f" to {stage.until}" if stage.until else ""))
    began, since = (row.stages[0].since, row.stages[-1].since) if row.stages else ("", "")
    return (
        f"<tr {_marks(row)}><th scope=row>{_link(row.lesson)}</th><td>{_tag(row.state)}</td>"
        f'<td class=day>{began}</td><td class=day>{since}</td><td class=bar><svg role="img" '
        f'aria-label="{", ".join(words)}" viewBox="0 0 1000 10" preserveAspectRatio="none">{"".join(bars)}</svg></td>'
        "</tr>\n"
    )


def _words(row: Row) -> list[str]:
    """What the buttons ask for: words of ours only."""
    marks = {"pinned": row.lesson.pinned, "disputed": bool(row.lesson.disputed), "relapsed": bool(row.relapses)}
    return [row.state, *(word for word, holds in marks.items() if holds)]


def _marks(row: Row) -> str:
    return f'data-s="{" ".join(_words(row))}" data-t={row.lesson.type if row.lesson.type in TYPES else "other"}'


def _tag(state: str) -> str:
    return f"<i class={state}>{state}</i>"


# --- lessons ----------------------------------------------------------------------------------------------------------


def _lessons(found: Overview, detail: Detail) -> str:
    body = "".join(_lesson(row, detail) for row in found.rows) or "<p>There are no lessons yet.</p>\n"
    counts = {
        name: sum(1 for row in found.rows if f'"{name}' in _marks(row) or f" {name}" in _marks(row))
        for name in _FILTERS
    }
    states = _choice("Show", "f", [("all", f"all ({len(found.rows)})"), *((n, f"{n} ({counts[n]})") for n in _FILTERS)])
    types = _choice("Type", "t", [("any", "all"), *((name, name) for name in TYPES)])
    return _section("lessons", "Lessons", f"{states}{types}{body}")


def _choice(legend: str, group: str, options: Sequence[tuple[str, str]]) -> str:
    buttons = "".join(
        f'<label><input type="radio" name="{group}" id="{group}-{name}"{" checked" if n == 0 else ""}>{label}</label>\n'
        for n, (name, label) in enumerate(options)
    )
    return f"<fieldset><legend>{legend}</legend>\n{buttons}</fieldset>\n"


def _lesson(row: Row, detail: Detail) -> str:
    lesson = row.lesson
    said = f"seen {len(lesson.seen)}×"
    said += f", confirmed {len(lesson.confirmed)}×" if lesson.confirmed else ""
    said += f", disputed {len(lesson.disputed)}×" if lesson.disputed else ""
    tags = [row.state, *(["pinned"] if lesson.pinned else []), *(["relapsed"] if row.relapses else [])]
    parts = [
        f'<details class="l" id={_anchor(lesson)} {_marks(row)}><summary>{" ".join(map(_tag, tags))} ',
        f"<strong>{_text(lesson.shown_title, 120)}</strong> <small>{said}</small></summary>\n",
        f"<p>{_text(lesson.rule, detail.room)}</p>\n",
        _facts(lesson, detail.room),
        f"<p>{_text('; '.join(row.relapses))}</p>\n" if row.relapses else "",
        _history(row, detail),
        "</details>\n",
    ]
    return "".join(parts)


def _facts(lesson: Lesson, room: int) -> str:
    rows = [
        ("Why", lesson.why), ("How to apply", lesson.how), ("When", lesson.context), ("Archived", lesson.archive_note)
    ]  # fmt: skip
    found = "".join(f"<dt>{name}</dt><dd>{_text(said, room)}</dd>" for name, said in rows if said)
    words = [lesson.slug, lesson.type, *lesson.tags, f"confidence {confidence(lesson):.2f}"]
    line = f"<small>{_text(' · '.join(word for word in words if word), room)}</small>\n"
    return (f"<dl>{found}</dl>\n" if found else "") + line


def _history(row: Row, detail: Detail) -> str:
    if not row.changes:
        return "<p>Not committed yet.</p>\n"
    shown = row.changes[: detail.changes]
    told = detail.lines if row.lesson.is_active else detail.old_lines
    items = "".join(_item(change, n < told) for n, change in enumerate(shown))
    left = len(row.changes) - len(shown)
    more = f"<li>{_count(left, 'earlier change' if shown else 'change')}: learnloop why says all</li>\n" if left else ""
    return f"<ul>\n{items}{more}</ul>\n"


def _item(change: Change, lines: bool) -> str:
    why = f": {_text(change.why, 200)}" if change.why else ""
    shown = _diff(change.lines) if lines and change.lines else ""
    verb, author = _text(change.change), _text(change.author, 60)
    return f"<li>{change.day} <b>{verb}</b> by {author} <code>{change.commit[:8]}</code>{why}{shown}</li>\n"


def _diff(lines: Iterable[str]) -> str:
    """Lines that came and went; a reader who cannot see the colours has their signs."""
    kinds = {"+": "ins", "-": "del"}
    rows = []
    for line in lines:
        kind, words = kinds.get(line[:1], "span"), _text(" ".join(line.split()))
        rows.append(f"<{kind}>{words}</{kind}>")
    return f"<pre>{''.join(rows)}</pre>"
