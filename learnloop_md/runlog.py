"""How runs ended: one small markdown file a run, in the folder .runs of the memory (R004-90, R004-99, docs/runs.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from learnloop_md import head, headedit, store
from learnloop_md.lesson import is_day
from learnloop_md.place import RUNS, Place
from learnloop_md.tree import Field, HeadError, Tree, field_of

_RULE, _IGNORE = f"{RUNS}/.gitignore", b"*\n"
STATUSES = ("ok", "partial", "failed")
OUTCOME_OF = {"ok": "success", "partial": "partial", "failed": "failure"}  # ruling C19
STATUS_OF = {**dict(zip(OUTCOME_OF.values(), OUTCOME_OF, strict=True)), **{status: status for status in STATUSES}}


class Run(NamedTuple):
    """One finished run and how it ended."""

    id: str
    status: str
    created_at: str  # when it ended, an ISO time
    note: str = ""
    skill: str = ""
    skill_version: str = ""
    workspace: str = ""  # a name, not a path: the file may be shared (R004-01)
    task: str = ""
    began_at: str = ""
    verified: bool = False
    human_confirmed: bool | None = None
    lessons: tuple[str, ...] = ()  # what was kept in it


def path_of(run_id: str) -> str:
    """Where a run's file stands, from the memory's folder: one for each run, so that branches never conflict."""
    month = re.search(r"(\d{4})(\d\d)\d\d", run_id)
    return f"{RUNS}/{month[1]}-{month[2]}/{run_id}.md" if month else f"{RUNS}/{run_id}.md"


def is_kept_in_git(place: Place) -> bool:
    """Whether runs are committed: in a memory's own repository, elsewhere by the setting commit_runs."""
    return place.repo is not None and (place.own_repo or place.settings.commit_runs)


def render(run: Run) -> str:
    """A run's file."""
    fields: list[tuple[str, Field]] = [(key, value) for key, value in run._asdict().items() if key != "note"]
    given = [(key, value) for key, value in fields if value is not None and value not in ("", ()) and value != []]
    lines = [line for key, value in given for line in headedit.render_field(key, value, 0)]
    return "".join(["---\n", *lines, "---\n"]) + (f"\n{run.note.strip()}\n" if run.note.strip() else "")


def parse(text: str) -> Run | None:
    """The run in a file, None where it is none."""
    try:
        parts = head.split(text)
        tree = head.read(parts).tree if parts else {}
    except HeadError:
        return None
    run_id = _text(tree, "id")  # names a file: one that would lead elsewhere is no run's
    if parts is None or not run_id or "/" in run_id or not run_id.isprintable():
        return None
    if _text(tree, "status") not in STATUS_OF or not is_day(_text(tree, "created_at")[:10]):
        return None
    texts = ("created_at", "skill", "skill_version", "workspace", "task", "began_at")
    answer = _text(tree, "human_confirmed")
    slugs = field_of(tree, "lessons")
    return Run(
        id=run_id,
        status=STATUS_OF[_text(tree, "status")],
        note=parts.body.strip(),
        verified=_text(tree, "verified") == "true",
        human_confirmed={"true": True, "false": False}.get(answer),
        lessons=tuple(slug for slug in slugs if isinstance(slug, str)) if isinstance(slugs, list) else (),
        **{key: _text(tree, key) for key in texts},
    )


def _text(tree: dict[str, Tree], key: str) -> str:
    value = field_of(tree, key)
    return value if isinstance(value, str) else ""


def load(place: Place) -> list[Run]:
    """The runs that are remembered, oldest first; what is no run is passed over."""
    return sorted(filter(None, _files(place).values()), key=lambda run: (run.created_at, run.id))


def find(place: Place, run_id: str) -> Run | None:
    """What is remembered of one run."""
    data = store.read_bytes(place.folder / path_of(run_id))
    return None if data is None else parse(data.decode("utf-8", "replace"))


def unreadable(place: Place) -> list[str]:
    """The files among the runs that are none, by their paths in the memory."""
    return [path for path, run in _files(place).items() if run is None]


def _files(place: Place) -> dict[str, Run | None]:
    found = {}
    for path in sorted((place.folder / RUNS).rglob("*.md")):
        data = store.read_bytes(path) if path.is_file() and not path.is_symlink() else None
        run = parse(data.decode("utf-8", "replace")) if data is not None else None
        found[path.relative_to(place.folder).as_posix()] = run
    return found


def show_to_git(place: Place) -> None:
    """Take back that the folder ignores itself: from now on its files are committed."""
    if store.read_bytes(place.folder / _RULE) == _IGNORE:
        store.write_all(place.folder, {_RULE: None})


def write_untracked(place: Place, runs: Iterable[Run]) -> None:
    """Write the files of runs where git does not look: the folder ignores itself."""
    files = {path_of(run.id): render(run).encode("utf-8", "surrogateescape") for run in runs}
    if place.repo and not (place.folder / _RULE).exists():
        files[_RULE] = _IGNORE
    store.write_all(place.folder, files)
