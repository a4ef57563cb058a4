"""Which memory a command works on, and why: the order of design §2, with Claude Code's own rules for its directory."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from learnloop_md import claude, git, settings
from learnloop_md.errors import UnableError, UsageError
from learnloop_md.settings import Settings

INDEX = "MEMORY.md"
NOTEBOOKS = ("memory.md", "review-patterns.md")
RUNS = ".runs"  # how runs ended; a folder that begins with a dot holds no lessons
STATE = "memory.json"
IN_REPOSITORY = "the repository's .claude/memory"


@lru_cache(maxsize=64)  # asked for each lesson of a memory
def _inside(folder: Path, root: Path) -> str:
    relative = folder.relative_to(root).as_posix()
    return "" if relative == "." else relative


class Place(NamedTuple):
    """A memory's place: its folder, its kind, why it was chosen, and the repository around it."""

    folder: Path
    kind: str  # "project" or "skill"
    chosen_by: str
    repo: git.Repo | None
    settings: Settings
    document: str  # the document's name in the folder
    linked: bool = False  # reached from a linked worktree: changes are queued in the main checkout

    @property
    def lessons(self) -> str:
        """Where lesson files stand, relative to the folder."""
        return "lessons" if self.kind == "skill" else ""

    @property
    def own_repo(self) -> bool:
        """Whether the repository is the memory's own: the memory stands at its root."""
        return self.repo is not None and self.repo.root == self.folder

    @property
    def with_code(self) -> bool:
        """Whether the repository holds more than the memory."""
        return not self.own_repo or _has_other_files(self.folder)

    @property
    def inside(self) -> str:
        """The folder's path inside the repository, "" for the root."""
        return _inside(self.folder, self.repo.root) if self.repo else ""

    @property
    def state(self) -> Path:
        """Where the tool keeps its own notes on this memory: in the git directory, else below XDG_STATE_HOME."""
        key = hashlib.sha256(str(self.folder).encode(errors="surrogateescape")).hexdigest()[:12]
        return own_folder(self.repo) / key

    @property
    def values(self) -> str:
        """The path of the state file from the folder: beside SKILL.md, or beside MEMORY.md (R003-51)."""
        return f"../{STATE}" if self.kind == "skill" else STATE

    @property
    def values_in_repo(self) -> str:
        """The same as the repository names it, "" where it lies outside of it."""
        path = self.in_repo(self.values) if self.repo else ".."
        return "" if path.startswith("..") else path

    def owns(self, path: Path) -> bool:
        """Whether a file, by its absolute path, is a lesson's or the document of this memory."""
        real = Path(os.path.realpath(path))
        inner = real.relative_to(self.folder).as_posix() if real.is_relative_to(self.folder) else ""
        return inner == self.document or self.is_lesson(inner)

    def in_repo(self, path: str) -> str:
        """A path of the memory as the repository names it."""
        return os.path.normpath(f"{self.inside}/{path}" if self.inside else path)

    def from_repo(self, path: str) -> str:
        """A path of the repository as the memory names it."""
        return os.path.relpath(path, self.inside or ".")

    def followed(self, path: str) -> str:
        """The same, a link to a file of the same repository followed."""
        return self.in_git(path) or self.in_repo(path)

    def in_git(self, path: str) -> str:
        """The same, any link followed; "" where it leads out of the repository."""
        if self.repo is None:
            return ""
        full = self.repo.root / self.in_repo(path)
        real = full.resolve() if full.is_symlink() else full
        held = ".." not in real.parts and self.repo.holds(real.parent)
        return real.relative_to(self.repo.root).as_posix() if held else ""

    def inner(self, path: str) -> str:
        """A path of the repository as the memory names it, "" outside the memory's folder."""
        prefix = f"{self.inside}/" if self.inside else ""
        return path.removeprefix(prefix) if path.startswith(prefix) else ""

    def covers(self, path: str) -> bool:
        """Whether a path of the repository is in the memory's folder, or its state's."""
        return path == self.values_in_repo or bool(self.inner(path))

    def is_lesson(self, path: str) -> bool:
        """Whether a lesson file may stand at a path of the memory: below no folder that begins with a dot."""
        among = not self.lessons or path.startswith(f"{self.lessons}/")
        hidden = any(part.startswith(".") for part in path.split("/")[:-1])
        return among and not hidden and path.endswith(".md") and path != self.document

    def is_run(self, path: str) -> bool:
        """Whether a path of the memory is how a run ended."""
        return path.startswith(f"{RUNS}/") and path.endswith(".md")

    def path_of(self, slug: str) -> str:
        """Where a new lesson's file stands."""
        return f"{self.lessons}/{slug}.md" if self.lessons else f"{slug}.md"


Finder = Callable[[Path], git.Repo | None]


def find(cwd: Path, memory: str = "", finder: Finder = git.find) -> Place:
    """The memory that a command started in cwd works on; the finder gives the repository that holds a folder.

    Raises UnableError naming the places tried when there is none, UsageError for a bad setting.
    """
    if memory:
        return given(cwd, memory, "--memory", finder)
    if os.environ.get("LEARNLOOP_MEMORY"):
        return given(cwd, os.environ["LEARNLOOP_MEMORY"], "LEARNLOOP_MEMORY", finder)
    repo = finder(cwd)
    if repo:
        found = settings.load([repo.main_root])
        if found.memory:
            return _set(repo, found.memory, finder)
    skill = nearest_skill(cwd)
    if skill and is_notebook(skill / "references"):
        return _at(skill / "references", f"the skill {skill.name}, nearest above the working directory", repo, finder)
    folder, why = project_folder(cwd, repo)
    if (folder / INDEX).is_file() or (folder.is_dir() and any(folder.glob("*.md"))):
        return _at(folder, why, repo, finder)
    places = (folder, repo and repo.main_root / ".claude" / "memory", skill and skill / "references")
    hint = next(filter(None, (way_back(cwd, repo, one) for one in places if one)), "run: learnloop init")
    raise UnableError(f"no memory here, nor Claude's own in {folder}", hint, code="no-memory")


def way_back(cwd: Path, repo: git.Repo | None, folder: Path) -> str:
    """How to bring back a memory that HEAD has in a folder and of which nothing is there; "" where it is not so."""
    repo = git.find(repo.main_root) if repo and repo.is_linked_worktree else repo
    inside = os.path.relpath(folder, repo.root) if repo else ".."
    if repo is None or inside.split(os.sep)[0] == "..":
        return ""
    held = [path for path in git.entries(repo, "HEAD", [inside]) if path.endswith(".md")]
    is_memory = any(os.path.normpath(f"{inside}/{name}") in held for name in (INDEX, *NOTEBOOKS))
    if not is_memory or any(os.path.lexists(repo.root / path) for path in held):
        return ""
    told = "git has it, bring it back: "
    if git.is_sparse(repo) and git.asked(repo.root, "config", "--type=bool", "core.sparseCheckout").stdout == b"true\n":
        at_root = [] if cwd.resolve() == repo.root else ["-C", str(repo.root)]  # below it git may refuse to add
        return told + shlex.join(["git", *at_root, "sparse-checkout", "add", inside])
    is_below = cwd.resolve().is_relative_to(repo.root)
    git_at = ["git"] if is_below else ["git", "-C", str(repo.root)]
    path = os.path.relpath(folder, cwd.resolve()) if is_below else inside
    return told + shlex.join([*git_at, "checkout", "HEAD", "--", path])


def lost(place: Place) -> UnableError | None:
    """What to say where HEAD has two or more lessons and none of them is there any more; None where it is not so.

    Asked where no lesson is found: it takes a call of git.
    """
    repo = place.repo
    held = [path for path in git.entries(repo, "HEAD", [place.inside or "."]) if _is_in(place, path)] if repo else []
    is_lost = repo and len(held) > 1 and not any(os.path.lexists(repo.root / path) for path in held)
    return all_gone(place, len(held)) if is_lost else None


def _is_in(place: Place, path: str) -> bool:
    return place.is_lesson(place.inner(path))


def all_gone(place: Place, count: int) -> UnableError:
    """What to say where all lessons that HEAD has are gone from the disk."""
    document = place.in_repo(place.document)
    words = [f":/{place.inside}", *([f":!/{document}"] if (place.folder / place.document).exists() else [])]
    back = f"git checkout HEAD -- {shlex.join(words)}"  # a document that was begun anew stays, and follows
    hint = f"bring them back: {back}; if you meant it, commit the removal yourself"
    return UnableError(f"all {count} lessons that HEAD has are gone from {place.folder}", hint, code="memory-gone")


def is_notebook(folder: Path) -> bool:
    """Whether a references folder is a memory; one whose notebook was lost still has its lessons."""
    return bool(_document(folder, "skill")) or (
        (folder / "lessons").is_dir() and any((folder / "lessons").glob("*.md"))
    )


def _set(repo: git.Repo, memory: str, finder: Finder) -> Place:
    """The memory that the setting names."""
    root = repo.main_root
    folder = root / memory
    if not folder.resolve().is_relative_to(root):
        raise UsageError(f"the setting memory = {memory!r} leads out of {root}", "name a folder inside it")
    if not folder.is_dir():
        message = f"no memory here; the setting memory names {folder}"
        hint = (
            way_back(repo.main_root, repo, folder)
            or f"run: learnloop init, or mend the setting memory in {settings.FILE}"
        )
        raise UnableError(message, hint, code="no-memory")
    return _at(folder, f"the setting memory in {root}", repo, finder)


def given(cwd: Path, memory: str, option: str, finder: Finder = git.find) -> Place:
    """The memory of a named folder. Raises UnableError saying which option named it where it is none."""
    folder = (cwd / Path(memory).expanduser()).resolve() if not _is_link(cwd / memory) else cwd / memory
    if folder.is_file() and folder.suffix == ".md":
        folder = folder.parent
    if _is_link(folder):
        raise UnableError(
            f"{memory} is a symbolic link; name the folder itself",
            f"use {option} {folder.resolve()}",
            code="symlink-escape",
        )
    if (folder / "SKILL.md").is_file() and not (folder / INDEX).is_file():
        folder = folder / "references"
    if not folder.is_dir():
        raise UnableError(
            f"{option}: there is no folder {folder}",
            way_back(cwd, finder(cwd), folder) or "run: learnloop init, or name another folder",
            code="no-memory",
        )
    if not _document(folder, "") and not is_notebook(folder) and not any(map(_is_lesson, folder.glob("*.md"))):
        inside = folder / ".claude" / "memory"
        raise UnableError(
            f"{option}: {folder} is not a memory (no {INDEX}, no {NOTEBOOKS[0]})",
            way_back(cwd, finder(cwd), folder) or (f"name {inside}" if inside.is_dir() else "run: learnloop init"),
            code="no-memory",
        )
    return _at(folder, option, finder(cwd), finder)


def _is_lesson(path: Path) -> bool:
    """Whether a file has a lesson's head: a memory that lost its document is one, a folder with a README is none."""
    try:
        data = path.read_bytes() if path.is_file() else b""
    except OSError:
        return False
    head = data.removeprefix(b"\xef\xbb\xbf").partition(b"\n---")[0]
    return head.startswith(b"---") and re.search(rb"^(?:metadata|type):", head, re.MULTILINE) is not None


def _is_link(path: Path) -> bool:
    return path.is_symlink()


def _document(folder: Path, kind: str) -> str:
    """The name of the document in a folder, "" where there is none."""
    for name in NOTEBOOKS if kind != "project" else ():
        if not (folder / name).is_file() or name not in os.listdir(folder):
            continue
        if name == NOTEBOOKS[0]:
            return name
        from learnloop_md import notebook  # lazy: an older name, whose text must tell

        if notebook.has_zones((folder / name).read_text("utf-8", "replace")):
            return name
    return INDEX if kind != "skill" and (folder / INDEX).is_file() and INDEX in os.listdir(folder) else ""


def _at(folder: Path, chosen_by: str, near: git.Repo | None = None, finder: Finder = git.find) -> Place:
    """The place of the memory in folder; near is the repository of the working directory."""
    if folder.is_symlink():
        raise UnableError(
            f"{folder} is a symbolic link; Claude refuses to write through it",
            "name the real folder",
            code="symlink-escape",
        )
    folder = folder.resolve()
    repo = near if near and near.holds(folder) else finder(folder)
    linked = bool(near and repo != near and near.is_linked_worktree and folder.is_relative_to(near.main_root))
    kind = "project" if (folder / INDEX).is_file() else "skill" if is_skill(folder) else "project"
    document = _document(folder, kind) or (INDEX if kind == "project" else NOTEBOOKS[0])
    found = settings.load([folder, *([repo.root] if repo else [])])
    return Place(folder, kind, chosen_by, repo, found, document, linked)


def _has_other_files(folder: Path) -> bool:
    """Whether a folder holds files of another kind than a memory's: code, a build file."""
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
    return any(not name.endswith(".md") and not name.startswith(".") and name != "LICENSE" for name in names)


def own_folder(repo: git.Repo | None) -> Path:
    """Where the tool keeps its own files: in the git directory, one for all work trees, else below XDG_STATE_HOME."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return repo.folder if repo else Path(state) / "learnloop"


def at(folder: Path, kind: str, chosen_by: str) -> Place:
    """The place of a memory that is just being made."""
    repo = git.find(folder)
    document = _document(folder, kind) if folder.is_dir() else ""
    found = settings.load([folder, *([repo.root] if repo else [])])
    return Place(folder, kind, chosen_by, repo, found, document or (INDEX if kind == "project" else NOTEBOOKS[0]))


def is_skill(folder: Path) -> bool:
    """Whether folder is the references folder of a skill, or holds a notebook."""
    return (folder.parent / "SKILL.md").is_file() or bool(_document(folder, "skill"))


def nearest_skill(cwd: Path) -> Path | None:
    """The nearest folder at or above cwd with a SKILL.md."""
    return next((folder for folder in (cwd, *cwd.parents) if (folder / "SKILL.md").is_file()), None)


def skill_named(name: str, roots: Iterable[Path]) -> Path | None:
    """Where a skill of this name stands, as Claude looks for it: below a root's .claude, then its own folder."""
    if not re.fullmatch(r"[\w][\w.-]{0,99}", name):
        return None
    folders = [*(root / ".claude" for root in dict.fromkeys(roots)), claude.home()]
    found = (folder / "skills" / name for folder in folders)
    return next((folder for folder in found if (folder / "SKILL.md").is_file()), None)


def project_folder(cwd: Path, repo: git.Repo | None) -> tuple[Path, str]:
    """The project's memory as Claude Code resolves it, and why."""
    root = repo.main_root if repo else cwd.resolve()
    for path, scope in (
        (root / ".claude" / "settings.local.json", "local"),
        (root / ".claude" / "settings.json", "project"),
        (claude.home() / "settings.json", "user"),
    ):
        chosen = claude.memory_named_in(path)
        if chosen:
            return chosen, f"autoMemoryDirectory in the {scope} settings"
    if repo and (root / ".claude" / "memory" / INDEX).is_file():
        return root / ".claude" / "memory", IN_REPOSITORY
    return claude.default_memory(root, repo), "Claude Code's own directory for this project"


def in_repo(repo: git.Repo) -> list[Place]:
    """Every memory that the repository tracks or has staged: its project memory and its skills' (for pre-commit)."""
    found = []
    for path in git.tracked(repo):
        folder, _, name = path.rpartition("/")
        full = repo.root / folder
        is_lost = name == NOTEBOOKS[0] and not _document(full, "skill") and is_notebook(full)
        known = name in NOTEBOOKS and (name == _document(full, "skill") or is_lost)
        if known and (full.parent / "SKILL.md").is_file():
            found.append(_at(full, f"{path} is tracked"))
    chosen = settings.load([repo.root]).memory or ".claude/memory"
    if git.tracked(repo, f"{chosen}/{INDEX}") or (git.tracked(repo, chosen) and not found):
        found.append(_at(repo.root / chosen, f"{chosen} is tracked"))
    elif git.tracked(repo, INDEX):
        found.append(_at(repo.root, f"{INDEX} is tracked"))
    return found


def check_folder_name(name: str) -> str:
    """A folder for init, relative to the repository's root. Raises UsageError where it leads out of it."""
    if not name or name.startswith(("/", "~")) or ".." in Path(name).parts or ".git" in Path(name).parts:
        raise UsageError(
            f"--dir {name!r} does not lie in the repository",
            "name a folder inside it, for example docs/memory",
        )
    return name.strip("/")
