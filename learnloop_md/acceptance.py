"""The command `accept`: a person lets in a lesson that waited in quarantine (design §10)."""

from __future__ import annotations

from learnloop_md import memory, store, trust
from learnloop_md.answer import Answer, visible, visible_lines
from learnloop_md.calls import Call
from learnloop_md.errors import UnableError
from learnloop_md.lessonfile import Quarantined, stem
from learnloop_md.life import Outcome
from learnloop_md.memory import Memory
from learnloop_md.plan import Draft
from learnloop_md.verbs import changed


def accept(call: Call) -> Answer:
    """Serve a quarantined lesson from now on, as long as its file stays as it is."""
    place = call.place
    loaded = memory.load(place, scan_all=True)
    row = _waiting(loaded, stem(call.text("slug")))
    if row is None and (entry := _entry(loaded, stem(call.text("slug")))):
        return _accept_entry(call, loaded, *entry)
    if row is None:
        slug = memory.find_slug(loaded, call.text("slug"))
        return changed(
            call, lambda draft: Outcome("unchanged", slug, draft.lesson(slug).state, ("it does not wait",)), place
        )
    if row.reason not in trust.ACCEPTABLE:
        raise UnableError(
            f"{row.path} cannot be accepted ({row.reason}): {row.message}", "mend the file", code=row.reason
        )
    text = (store.read_bytes(place.folder / row.path) or b"").decode("utf-8", "surrogateescape")
    if call.flag("dry_run"):
        data = {"action": "accepted", "slug": stem(row.path), "reason": row.reason, "dry_run": True, "commits": []}
        why = f"{row.path}:{row.line}: {row.reason}: {row.message}"
        return Answer(f"{why}\n\n{visible_lines(text)}", data)
    trust.accept(place, [trust.blob(text)])
    slug = stem(row.path)
    return changed(call, lambda draft: Outcome("accepted", slug, draft.lesson(slug).state), place)


def _accept_entry(call: Call, loaded: Memory, slug: str, entry: memory.Entry, author: str) -> Answer:
    """Let an entry of the document say what another author wrote into it."""
    where = f"{loaded.place.document}:{entry.line}"
    if why := trust.unfit(entry.raw):
        raise UnableError(f"{where} cannot be accepted: {why}", "mend the entry", code="unfit-entry")
    if call.flag("dry_run"):
        data = {"action": "accepted", "slug": slug, "reason": "other-author", "dry_run": True, "commits": []}
        why = f"{where}: other-author: {visible(author)} wrote the entry of {slug}"
        return Answer(f"{why}\n\n{visible_lines(entry.raw)}", data)
    trust.accept(loaded.place, [trust.blob(entry.raw)])

    def told(draft: Draft) -> Outcome:
        return Outcome("accepted", slug, draft.lessons[slug].state if slug in draft.lessons else "")

    return changed(call, told, loaded.place)


def _entry(loaded: Memory, name: str) -> tuple[str, memory.Entry, str] | None:
    """The entry of a name or a unique beginning of it, with the other author whose words wait in it."""
    if loaded.place.settings.trust != "own":
        return None
    place, agreed = loaded.place, loaded.ledger.agreed if loaded.ledger else {}
    rows = memory.entries(place, loaded.document, loaded.lessons)
    slug = memory.meant(name, rows)
    if not slug or (place.kind == "project" and slug not in loaded.lessons):
        return None
    before = agreed[slug].entry if slug in agreed else ""
    author = trust.Strangers(place, place.document).author(rows[slug].line, rows[slug].raw, before)
    return (slug, rows[slug], author) if author else None


def _waiting(loaded: Memory, name: str) -> Quarantined | None:
    """The quarantined file that a name or a unique beginning of it means; a lesson of that very name comes first."""
    if name in loaded.lessons:
        return None
    rows = {stem(q.path): q for q in loaded.quarantined if q.path != loaded.place.document}
    return rows.get(memory.meant(name, rows))
