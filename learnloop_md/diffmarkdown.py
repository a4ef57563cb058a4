"""A comparison as a comment on a pull request or a job summary: whatever a lesson says is data, and cut in time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from learnloop_md.answer import visible
from learnloop_md.changes import Change
from learnloop_md.checks import ERROR
from learnloop_md.comparison import Compared, Comparison, Found, headline, label, verdict
from learnloop_md.difftext import groups, named, words
from learnloop_md.lesson import fold, shorten

MARKER = "<!-- learnloop:diff -->"  # by it a bot finds its own comment again
COMMENT_LIMIT = 60_000  # bytes, so characters too; GitHub refuses a comment of 65,536 characters
SUMMARY_LIMIT = 900 << 10  # bytes; GitHub drops a summary of 1 MiB whole
_ROOM = 400  # for what is said at the end
_TEXT = 600  # characters of a lesson
_CELL = 300
_SPECIAL = re.compile(r"[\\`*_{}\[\]()#+!|~$^=<>&:-]")


def rendered(comparison: Comparison, limit: int = COMMENT_LIMIT) -> str:
    """The report, of at most limit bytes; what does not fit is counted at its end."""
    said = verdict(comparison)
    is_good = not said and not any(change.is_loss for change in comparison.changes)
    sign = "❌" if comparison.count(ERROR) else "✅" if is_good else "⚠️"
    title = headline(comparison) + (f" — {said}" if said else "")
    kept = [MARKER, f"### {sign} Lessons: {inline(title)}", ""]
    size = sum(len(line.encode()) + 1 for line in kept)
    left = 0
    for block in _blocks(comparison):
        cost = len(block.encode()) + 1
        if left or size + cost > limit - _ROOM:
            left += 1
            continue
        kept.append(block)
        size += cost
    if left:
        kept.append(f"\n_{left} more parts did not find room; `learnloop diff` shows all._")
    kept.append(f"\n<sub>learnloop · {inline(shorten(comparison.asked, 100))}</sub>")
    return "\n".join(kept)


def _blocks(comparison: Comparison) -> Iterator[str]:
    """Pieces that each stand alone in markdown, the most important first."""
    losses = [(row, change) for row in comparison.memories for change in row.changes if change.is_loss]
    if losses:
        yield "#### Lost or out of force\n"
        for _, change in losses:
            yield _item(change)
    found = comparison.all_findings
    if found:
        yield "\n#### Findings\n"
        for finding in found:
            yield _finding(finding)
    for row in comparison.memories:
        yield from _memory(row)


def _memory(row: Compared) -> Iterator[str]:
    before, after = row.budget
    cost = f"{before}" if before == after else f"{before} → {after}"
    owners = ", ".join(f"{inline(names)} ({number})" for names, number in row.owners)
    if row.memory:
        tail = f" Owners: {owners}." if owners else ""
        yield f"\n#### {inline(row.memory)}\n\nAbout {cost} tokens in every session.{tail}\n"
    gains = [change for change in row.changes if not change.is_loss]
    for group in groups(gains):
        if group[0].kind in ("formatting", "document"):
            yield _folded(group)
        else:
            for change in group:
                yield _item(change)


def _item(change: Change) -> str:
    commit = f" <sub>{change.commit[:10]}</sub>" if change.commit else ""
    where = f"{inline(change.path)} line {change.line}{commit}"
    name = inline(shorten(named(change), _CELL)) or "the memory"
    why = f"<br>{inline(shorten(fold(change.why), _CELL))}" if change.why else ""
    lines = [f"- **{label(change)}** {name}{why}<br><sub>{where}</sub>"]
    rows = [f"{sign} {visible(shorten(text, _TEXT))}" for sign, text in words(change)]
    if rows:
        fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", "\n".join(rows)) or [""]))
        lines += ["", f"  {fence}diff", *(f"  {line}" for line in rows), f"  {fence}", ""]
    return "\n".join(lines)


def _folded(group: list[Change]) -> str:
    """What changes no meaning: one line that opens."""
    names = [inline(shorten(change.why or named(change) or change.path, _CELL)) for change in group]
    shown = ", ".join(names[:200]) + (f" and {len(names) - 200} more" if len(names) > 200 else "")
    return f"<details><summary>{len(group)} {label(group[0])}</summary>\n\n{shown}\n\n</details>\n"


def _finding(found: Found) -> str:
    commit = f" <sub>{found.commit[:10]}</sub>" if found.commit else ""
    where = f"{inline(found.path)} line {found.line}{commit}"
    said = inline(shorten(fold(found.message), _CELL))
    return f"- **{found.severity}** {inline(found.code)}: {said}<br><sub>{where}</sub>"


def inline(text: str) -> str:
    """A text that stays text on one line of GitHub's markdown: no mention, link, image, tag, cell or emphasis."""
    bare = visible(fold(text))
    said = _SPECIAL.sub(lambda match: f"&#{ord(match[0])};", bare)
    # GitHub looks for mentions, issues and addresses once more in the finished text: an entity would not stop it.
    said = re.sub(r"@(?=\S)", "@\u200b", said)
    said = re.sub(r"&#35;(?=\d)", "&#35;\u200b", said)
    said = re.sub(r"(?i)\b(gh)&#45;(?=\d)", "\\1&#45;\u200b", said)
    said = re.sub(r"(?i)\b(www)\.", "\\1\u200b.", said)
    return re.sub(r"(?i)\b(https?|ftp|mailto)&#58;", "\\1\u200b&#58;", said)
