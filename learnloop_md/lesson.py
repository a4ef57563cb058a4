"""The lesson, its events and the rules of its life. Pure: time comes in as an ISO day (UTC)."""

import re
import unicodedata
from collections.abc import Collection, Iterable
from datetime import date
from typing import NamedTuple

from learnloop_md.errors import RefusedError, UsageError

TYPES = ("user", "feedback", "project", "reference")
FACTS = ("user", "project", "reference")  # facts stand; they do not recur like habits (design §5)
STATES = ("candidate", "current", "archived")
OUTCOMES = ("success", "partial", "failure")  # R000-04
KINDS = ("correction", "failure", "success", "preference", "workaround", "note")
EVENTS = ("seen", "confirmed", "disputed")
# What made somebody note it gives the type (R001-10) and the kind.
TRIGGERS = {
    "correction": ("feedback", "correction"),
    "tool-failure": ("project", "failure"),
    "role": ("user", "preference"),
    "external-system": ("reference", "note"),
    "outdated": ("feedback", "correction"),
    "better-approach": ("feedback", "success"),
    "deadline": ("project", "note"),
}
RULE_LIMIT = 500  # characters, "one rule per note" (R004-04)
SLUG_LIMIT = 80

_SLUG_ROOM = 48  # a made slug stays short enough for an index line of 150 characters
_LOOSE_ENDS = set(
    ("a an and as at before after but by for from in into is it of on or so than that the to when with").split()
)
# Letters without ink (Hangul fillers) and variation selectors.
_INVISIBLE = re.compile("[\u115f\u1160\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_RESERVED = {
    "claude", "memory", "readme", "skill", "agents", "learnings", "index", "review-patterns",
    "con", "prn", "aux", "nul", *(f"{device}{n}" for device in ("com", "lpt") for n in range(1, 10)),
}  # fmt: skip


class Event(NamedTuple):
    """One sighting, confirmation or dispute: on which day, in which run, seen where."""

    on: str
    run: str
    evidence: str = ""


class Record(NamedTuple):
    """What one run was and how it went (R000): the facts beside the rule that it teaches; "" stands for null."""

    id: str = ""
    timestamp: str = ""
    task_type: str = ""
    input_summary: str = ""
    approach: str = ""
    outcome: str = ""  # success, partial or failure
    what_worked: str = ""
    what_failed: str = ""
    edge_cases: tuple[str, ...] = ()
    stack_tags: tuple[str, ...] = ()
    run_duration_ms: int | None = None


class Lesson(NamedTuple):
    """One memory, one file: what its head and body say, and the text they were read from."""

    slug: str
    path: str  # relative to the memory's folder, with "/"
    text: str
    name: str = ""
    description: str = ""
    type: str = ""
    state: str = "candidate"
    stated: bool = False  # whether the head itself names the state
    title: str = ""
    kind: str = ""
    created: str = ""
    tags: tuple[str, ...] = ()
    seen: tuple[Event, ...] = ()
    confirmed: tuple[Event, ...] = ()
    disputed: tuple[Event, ...] = ()
    pinned: bool = False
    reviewed: str = ""
    revived: str = ""
    archive_note: str = ""
    codified_in: str = ""
    supersedes: str = ""
    superseded_by: str = ""
    context: str = ""
    session: str = ""  # Claude's originSessionId
    confidence: float | None = None
    skill_version: str = ""
    # What the record of a run tells besides (R000-01 to R000-10).
    id: str = ""
    timestamp: str = ""
    task_type: str = ""
    input_summary: str = ""
    approach: str = ""
    outcome: str = ""  # success | partial | failure
    what_worked: str = ""
    what_failed: str = ""
    edge_cases: tuple[str, ...] = ()
    stack_tags: tuple[str, ...] = ()
    run_duration_ms: int | None = None
    anchors: tuple[str, ...] = ()  # what it speaks of, as last verified (design §9)
    human_confirmed: bool | None = None  # whether a person used the output as it was (R000-61); None: nobody said
    has_head: bool = True
    rule: str = ""
    why: str = ""
    how: str = ""

    @property
    def record(self) -> Record | None:
        """The record of the run that it comes from, None for a lesson of any other kind."""
        of_run = self.outcome or self.input_summary
        return Record(*(getattr(self, name) for name in Record._fields)) if of_run else None

    @property
    def shown_title(self) -> str:
        """The title, else the slug with spaces and a capital."""
        return self.title or title_of(self.slug)

    @property
    def is_active(self) -> bool:
        return self.state in ("candidate", "current")

    @property
    def is_note(self) -> bool:
        """Whether the file is a plain note: no head, so no life of its own until a change gives it one."""
        return not self.has_head


def title_of(slug: str) -> str:
    """The slug with spaces, first letter capital."""
    words = re.sub(r"[-_]+", " ", slug).strip() or slug
    return words[:1].upper() + words[1:]


# C0 and C1 but for white space: YAML can spell them, no file that we read may hold them.
_UNWRITABLE = "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]"


def written_out(text: str) -> str:
    """text with its control characters written out (`\\x1b`)."""
    return text if text.isprintable() else re.sub(_UNWRITABLE, lambda found: ascii(found[0])[1:-1], text)


def has_controls(text: str) -> bool:
    """Whether a text holds a control character other than tab and line ends; NEL and form feed count."""
    return not text.isprintable() and re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)", text) is not None


def fold(text: str) -> str:
    """text on one line: runs of white space become one space, control characters are written out."""
    return " ".join(written_out(text).split())


def shorten(text: str, limit: int) -> str:
    """text cut at a word to at most limit characters, with an ellipsis when cut."""
    if len(text) <= limit:
        return text
    cut = text[: max(limit - 1, 1)]
    head, space, _ = cut.rpartition(" ")
    return (head if space and len(head) > limit // 2 else cut).rstrip(" ,;:.–—-") + "…"


def first_sentence(text: str) -> str:
    """The first sentence of text, on one line and without its full stop."""
    line = fold(text)
    match = re.match(r"(.+?[.!?。！？])(?:\s|$)", line)
    return (match.group(1) if match else line).rstrip(".。")


def slugify(text: str) -> str:
    """A slug for text: lower-case letters and digits of any script joined by "-", at most 48 characters."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())
    found = re.findall(r"[^\W_]+", re.sub(rf"['’`]|{_INVISIBLE.pattern}", "", folded))
    words = [word for word in found if word == word.lower() and not _mixes_scripts(word)]
    kept: list[str] = []
    for word in words:
        if len("-".join([*kept, word])) > _SLUG_ROOM:
            while len(kept) > 2 and kept[-1] in _LOOSE_ENDS:
                kept.pop()
            break
        kept.append(word)
    slug = "-".join(kept) or "".join(words)[:_SLUG_ROOM] or "lesson"
    return f"{slug}-lesson" if slug in _RESERVED else slug


def free_slug(wanted: str, taken: Collection[str]) -> str:
    """wanted, or wanted-2, wanted-3 … whichever no lesson has yet (R001-04)."""
    used = {unicodedata.normalize("NFC", name).casefold() for name in taken}
    slug, n = wanted, 1
    while slug.casefold() in used:
        n += 1
        ending = f"-{n}"
        slug = wanted[: SLUG_LIMIT - len(ending)].rstrip("-") + ending
    return slug


def check_slug(name: str, taken: Collection[str] = ()) -> str:
    """name if it may name a new lesson file.

    Raises RefusedError with the reason code: path-traversal, bad-char, reserved-name, too-long,
    hidden-unicode, confusable-name, case-collision, exists.
    """
    for code, why, bad in _slug_faults(name):
        if bad:
            raise RefusedError(f"{name!r} cannot name a lesson: {why}", _SLUG_HINT, code=code)
    for other in taken:
        if other == name:
            raise RefusedError(f"a lesson named {name!r} exists already", "choose another --name", code="exists")
        if unicodedata.normalize("NFC", other).casefold() == unicodedata.normalize("NFC", name).casefold():
            raise RefusedError(f"{name!r} differs from {other!r} only by case", _SLUG_HINT, code="case-collision")
    if name != name.lower():
        raise RefusedError(f"{name!r} cannot name a lesson: it has capitals", _SLUG_HINT, code="bad-char")
    return name


_SLUG_HINT = "use lower-case letters and digits joined by '-', at most 80 characters"


def _slug_faults(name: str) -> Iterable[tuple[str, str, bool]]:
    stem = re.split(r"[.~]", name.casefold())[0]
    composed = unicodedata.normalize("NFC", name)
    styled = any(unicodedata.normalize("NFKC", c) != c for c in composed if c.isalnum())
    alike = styled or any(map(_mixes_scripts, re.split(r"[\W_]+", composed)))
    yield "path-traversal", "it leads out of the memory", name in {"", ".", ".."} or bool(re.search(r"[/\\]", name))
    hidden = bool(_INVISIBLE.search(name)) or any(unicodedata.category(c) in {"Cf", "Co", "Cs"} for c in name)
    yield "hidden-unicode", "it holds hidden characters", hidden
    yield "too-long", f"it is longer than {SLUG_LIMIT} characters", len(name) > SLUG_LIMIT or len(name.encode()) > 240
    dotgit = name.casefold().startswith((".git", "git~"))
    yield "reserved-name", "the name is reserved", dotgit or stem in _RESERVED or name.endswith((".", " "))
    yield "confusable-name", "it holds letters that look like others", alike
    yield "bad-char", "only letters, digits and '-' may stand in it", not re.fullmatch(r"[^\W_]+(?:-[^\W_]+)*", name)
    yield "bad-char", "it is not in composed form (NFC)", composed != name


def _mixes_scripts(word: str) -> bool:
    """Whether a word has Latin letters beside Cyrillic or Greek ones, which look the same."""
    scripts = {unicodedata.name(c, "?").split()[0] for c in word if c.isalpha()}
    return "LATIN" in scripts and bool(scripts & {"CYRILLIC", "GREEK"})


def check_day(day: str, option: str = "--today") -> str:
    """day if it is an ISO date, else UsageError."""
    if not is_day(day):
        raise UsageError(f"{option} {day!r} is not a day", "write it as YYYY-MM-DD, for example 2026-05-26")
    return day


def is_day(day: str) -> bool:
    """Whether a text is a day of the calendar, written YYYY-MM-DD."""
    try:
        return bool(re.fullmatch(r"\d{4}-\d\d-\d\d", day, re.ASCII)) and bool(date.fromisoformat(day))
    except ValueError:
        return False


def days_between(earlier: str, later: str) -> int:
    """Whole days from one ISO day to another; 0 where a day cannot be read."""
    try:
        return (date.fromisoformat(later[:10]) - date.fromisoformat(earlier[:10])).days
    except ValueError:
        return 0


def merged_events(*lists: Iterable[Event]) -> tuple[Event, ...]:
    """All events of the lists, equal ones once, sorted by run (so that branches add up)."""
    return tuple(sorted({event for events in lists for event in events}, key=lambda e: (e.run, e.on, e.evidence)))


def runs(lesson: Lesson) -> set[str]:
    """The different runs whose sightings count; after a revival only those of later days."""
    return {event.run for event in lesson.seen if not lesson.revived or event.on > lesson.revived}


def newest_sighting(lesson: Lesson) -> str:
    """The day on which the lesson was last seen, confirmed or written; "" where nothing tells."""
    return max([event.on for event in (*lesson.seen, *lesson.confirmed)] + [lesson.created], default="")


def is_repeated(lesson: Lesson, sightings_to_graduate: int) -> bool:
    """Whether a candidate was seen in enough different runs to graduate (R002-20)."""
    return lesson.state == "candidate" and len(runs(lesson)) >= sightings_to_graduate


def is_rejected(lesson: Lesson) -> bool:
    """Whether it was disputed more often than seen and confirmed together (R004-32)."""
    return len(lesson.disputed) > max(len(lesson.seen) + len(lesson.confirmed), 1)


def age_days(lesson: Lesson, today: str) -> int:
    """Days since the newest sighting; a look at it by a person (reviewed) restarts the clock."""
    day = max(newest_sighting(lesson), lesson.reviewed)
    return days_between(day, today) if day else 0


def awaits(lesson: Lesson, today: str, stale_days: int) -> bool:
    """Whether a candidate counts for cleanup: not one a person looked at in the last 14 days."""
    if lesson.state != "candidate" or lesson.is_note:
        return False
    return not lesson.reviewed or days_between(lesson.reviewed, today) > stale_days


def cleanup_reasons(lessons: Iterable[Lesson], today: str, *, due_at: int, stale_days: int) -> list[str]:
    """Why cleanup is due, empty when it is not (R002-30: five candidates; R002-31: the 15th day)."""
    waiting = [lesson for lesson in lessons if awaits(lesson, today, stale_days)]
    reasons = []
    if len(waiting) >= due_at:
        reasons.append(f"{len(waiting)} candidates (due at {due_at})")
    oldest = max(waiting, key=lambda lesson: (age_days(lesson, today), lesson.slug), default=None)
    if oldest and age_days(oldest, today) > stale_days:
        reasons.append(f"{oldest.slug} is {age_days(oldest, today)} days old (due after {stale_days})")
    return reasons


def is_reliable(lesson: Lesson, sightings_to_codify: int) -> bool:
    """Whether it is worth codifying: enough independent sightings or confirmations, no dispute (R002-40)."""
    good = {event.run for event in (*lesson.seen, *lesson.confirmed)}
    return lesson.state == "current" and not lesson.disputed and len(good) >= sightings_to_codify


def confidence(lesson: Lesson) -> float:
    """What is stored, else (1 + seen + confirmed) / (2 + seen + confirmed + disputed) (design §5)."""
    if lesson.confidence is not None:
        return lesson.confidence
    good = len(lesson.seen) + len(lesson.confirmed)
    return round((1 + good) / (2 + good + len(lesson.disputed)), 3)


def value_order(lesson: Lesson) -> tuple[bool, bool, int, str, str]:
    """Sort key, most valuable last: current, pinned, more events, newer; a function of the file alone (design §4)."""
    events = len(lesson.seen) + len(lesson.confirmed) - len(lesson.disputed)
    return lesson.state == "current", lesson.pinned, events, newest_sighting(lesson), lesson.slug
