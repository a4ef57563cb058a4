"""The command `report`: a memory and its past as one HTML page, a short text, or JSON."""

from __future__ import annotations

from pathlib import Path

from learnloop_md import history, managed, memory, store
from learnloop_md.answer import Answer, visible
from learnloop_md.calls import Call
from learnloop_md.errors import RefusedError, UnableError
from learnloop_md.overview import Overview, as_data, overview
from learnloop_md.reportpage import MARK, page


def report(call: Call) -> Answer:
    """The page is written with --html; without it a few lines say how the memory stands."""
    place = call.place

    def read_other(path: str) -> str | None:
        data = store.read_bytes(place.folder / path)
        return None if data is None else data.decode("utf-8", "replace")

    found = overview(memory.load(place), call.today, read_other)
    wanted = call.named("html")
    data = as_data(found)
    told = (history.CUT,) if found.is_cut else ()
    if not wanted:
        return Answer(_short(found), data, told)
    made = page(found).encode("utf-8", "replace")
    if wanted == "-":
        return Answer(made.decode(), data, told)
    path = call.cwd / wanted
    _write(path, made)
    return Answer(
        f"wrote {visible(wanted)}: {len(found.rows)} lessons, {len(made):,} bytes", {**data, "html": str(path)}, told
    )


def _write(path: Path, made: bytes) -> None:
    """The file with the page in it. Raises RefusedError where it holds something else."""
    store.refuse_lost(path, str(path))
    if path.exists() and not path.is_file():
        raise UnableError(f"{path} is no file", "name another one", code="not-a-regular-file")
    old = (store.read_bytes(path) or b"").decode("utf-8", "surrogateescape")
    ours = managed.is_sealed(old, MARK)
    if old and ours is None:
        raise RefusedError(f"{path} holds something else than a report", "name another file", code="exists")
    if old and not ours:
        raise RefusedError(f"{path} was edited by hand", "name another file, or remove this one", code="hand-edited")
    store.write_all(path.parent, {str(path): made})


def _short(found: Overview) -> str:
    counts, (good, bad) = found.counts, found.outcomes
    lines = [
        f"lessons     {', '.join(f'{number} {state}' for state, number in counts.items() if number) or 'none yet'}",
        f"graduate    {_days(found)}",
        f"outcomes    {good} confirmed, {bad} disputed",
        f"loaded      about {found.tokens[-1][1]:,} tokens in a session",
        f"relapses    {len(found.relapsed) or 'none'}",
    ]
    lines += [f"  {row.lesson.slug}: {why}" for row in found.relapsed for why in row.relapses]
    lines.append("the page with all of it: learnloop report --html FILE")
    return "\n".join(map(visible, lines))


def _days(found: Overview) -> str:
    days = found.median_days
    return (
        "no lesson has graduated yet" if days is None else f"after {days:g} {'day' if days == 1 else 'days'} (median)"
    )
