"""A comparison as a terminal shows it: losses first, each with its words, the many in one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from learnloop_md.answer import visible
from learnloop_md.changes import Change
from learnloop_md.comparison import Compared, Comparison, Found, headline, label, verdict
from learnloop_md.lesson import fold, shorten

_EACH = 12  # of one kind; losses are always told one by one, up to _LOSSES
_LOSSES = 200
_QUIET = ("formatting", "document")
_WIDTH = 300  # characters of a lesson's text


def rendered(comparison: Comparison) -> str:
    """The whole report."""
    lines = [f"{visible(comparison.asked)}: {headline(comparison)}"]
    for row in comparison.memories:
        lines += ["", *_memory(row)]
    if comparison.findings:
        lines += ["", *(_finding(found) for found in comparison.findings)]
    if told := verdict(comparison):
        lines += ["", told]
    return "\n".join(lines)


def _memory(row: Compared) -> Iterator[str]:
    if row.memory:
        before, after = row.budget
        cost = f"{before} tokens in every session" if before == after else f"{before} → {after} tokens in every session"
        yield f"{visible(row.memory)} ({row.kind}), about {cost}"
    for group in groups(row.changes):
        most = _LOSSES if group[0].is_loss else _EACH
        shown = group if len(group) <= most else group[:3]
        for change in shown:
            yield from _change(change)
        if len(shown) < len(group):
            yield f"  {'':<15} and {len(group) - len(shown)} more {label(group[0])}: {_slugs(group[len(shown) :])}"
    for found in row.findings:
        yield _finding(found)
    if row.owners:
        yield "  owners: " + ", ".join(f"{visible(names)} ({number})" for names, number in row.owners)


def groups(changes: Sequence[Change]) -> list[list[Change]]:
    """Changes by kind, in their order."""
    found: dict[str, list[Change]] = {}
    for change in changes:
        found.setdefault(label(change), []).append(change)
    return list(found.values())


def _slugs(changes: Sequence[Change]) -> str:
    names = [visible(change.slug) for change in changes]
    return ", ".join(names[:8]) + (" …" if len(names) > 8 else "")


def _change(change: Change) -> Iterator[str]:
    commit = f" ({change.commit[:10]})" if change.commit else ""
    if change.kind in _QUIET:
        yield f"  {label(change):<15} {visible(change.why or change.slug or change.path)}"
        return
    where = f"{visible(change.path)}:{change.line}{commit}"
    yield f"  {label(change).upper():<15} {visible(named(change))}  {where}"
    if change.why:
        yield f"  {'':<15} {visible(fold(change.why))}"
    for sign, text in words(change):
        yield f"  {'':<15} {sign} {visible(shorten(text, _WIDTH))}"


def named(change: Change) -> str:
    """The lesson's name, with both states or both names where these changed."""
    if change.kind in ("renamed", "moved"):
        return f"{change.before} → {change.after}"
    if change.kind in ("seen", "confirmed", "disputed", "uncounted", "relapsed"):
        return f"{change.slug} {change.before} → {change.after}"
    states = change.before and change.after and change.kind not in ("reworded", "codified")
    return f"{change.slug} {change.before} → {change.after}" if states else change.slug


def words(change: Change) -> list[tuple[str, str]]:
    """The lines of a lesson that came and went, each with its sign."""
    if change.kind not in ("added", "removed", "reworded", "codified"):
        return []
    old = [] if change.kind == "codified" else change.before.split("\n")
    return [(sign, fold(text)) for sign, rows in (("-", old), ("+", change.after.split("\n"))) for text in rows if text]


def _finding(found: Found) -> str:
    commit = f" ({found.commit[:10]})" if found.commit else ""
    where = f"{visible(found.path)}:{found.line}{commit}"
    return f"  {found.severity:<7} {found.code} {where}  {visible(found.message)}"
