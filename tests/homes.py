"""Memories to test on: of either kind, in a repository or without git, on disk or as values."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from learnloop_md import memory as memories
from learnloop_md import place as places
from learnloop_md import witness
from learnloop_md.absorb import Absorber, Report
from learnloop_md.lesson import Lesson
from learnloop_md.place import Place
from learnloop_md.plan import Draft, Edit
from learnloop_md.settings import Settings
from learnloop_md.store import Files, Ledger, write
from tests.conftest import CopyOf, Ran, Run, git

SKILL = "---\nname: review\ndescription: Review pull requests\n---\n\n# Review\n\nLook at every change.\n"
DAY = "2026-06-01"


class Home(NamedTuple):
    """A memory of one kind, and the commands on it."""

    kind: str
    root: Path  # the repository, or the folder around a memory without git
    folder: Path
    learnloop: Run

    @property
    def document(self) -> Path:
        return self.folder / ("MEMORY.md" if self.kind == "project" else "memory.md")

    @property
    def text(self) -> str:
        return self.document.read_text("utf-8")

    def file(self, slug: str) -> Path:
        return self.folder / ("" if self.kind == "project" else "lessons") / f"{slug}.md"

    def run(self, *words: str) -> Ran:
        return self.learnloop(*words, "--memory", str(self.folder), "--today", DAY, cwd=self.root)

    def sync(self) -> Ran:
        done = self.run("sync")
        assert done.code == 0, done.err
        return done

    def note(self, rule: str, run: str = "r1", *more: str) -> None:
        done = self.run("note", rule, "--run", run, *more)
        assert done.code == 0, done.err

    def edit(self, path: Path, old: str, new: str) -> None:
        """Replace a text that stands exactly once in a file."""
        text = path.read_text("utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {path.name}: {text}"
        path.write_text(text.replace(old, new), "utf-8")

    def entry(self, slug: str) -> str:
        """The lesson's entry in the document: its line, or its block in the notebook."""
        if self.kind == "project":
            return next(line for line in self.text.splitlines(keepends=True) if f"({slug}.md)" in line)
        found = [block for block in re.split(r"(?m)^(?=##)", self.text) if f"File: lessons/{slug}.md" in block]
        assert len(found) == 1, f"{slug} has {len(found)} entries"
        return found[0]

    def zone(self, slug: str) -> str:
        """The zone that the lesson's entry stands in."""
        before = self.text[: self.text.index(self.entry(slug))]
        headings = re.findall(r"(?m)^## (\w+)", before)
        return headings[-1].lower() if headings else ""

    def move(self, slug: str, zone: str) -> None:
        """Move an entry to another zone as a person does: cut it, paste it below the heading."""
        entry = self.entry(slug)
        heading = f"## {zone.capitalize()}" + (" Patterns" if self.kind == "skill" else "")
        text = self.text.replace(entry, "")
        if heading not in text:
            text = f"{text.rstrip()}\n\n{heading}\n"
        self.document.write_text(text.replace(f"{heading}\n", f"{heading}\n\n{entry}", 1), "utf-8")

    def commit_all(self, message: str = "By hand") -> str:
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "-m", message)
        return git(self.root, "rev-parse", "HEAD")

    def commits(self) -> list[str]:
        return git(self.root, "log", "--format=%s").splitlines()

    def bytes(self) -> dict[str, bytes]:
        """Every markdown file of the memory."""
        paths = sorted(self.folder.rglob("*.md"))
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in paths}


def work_tree(root: Path) -> dict[Path, bytes]:
    """Every file of a repository's work tree."""
    return {p: p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file() and ".git" not in p.parts}


def cloned(bare: Path, name: str) -> Path:
    """A clone beside a bare repository."""
    git(bare.parent, "clone", "-q", str(bare), name)
    return bare.parent / name


def new_repository(root: Path) -> Path:
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    for name in ("hooks", "info"):  # as git's own template has them
        (root / ".git" / name).mkdir()
    (root / "app.py").write_text("x = 1\n")
    git(root, "add", "app.py")
    git(root, "commit", "-q", "-m", "Start")
    return root


def make_home(kind: str, root: Path, learnloop: Run, *, with_git: bool = True) -> Home:
    """A fresh memory of a kind, in a repository of its own or without git."""
    if with_git:
        new_repository(root)
    folder = root / ".claude" / "memory" if kind == "project" else root / "skill" / "references"
    home = Home(kind, root, folder, learnloop)
    if kind == "skill":
        (root / "skill").mkdir(parents=True)
        (root / "skill" / "SKILL.md").write_text(SKILL)
        if with_git:
            home.commit_all("Add a skill")
        made = learnloop("init", "--skill", str(root / "skill"), cwd=root)
        assert made.code == 0, made.err
    elif with_git:
        assert learnloop("init", cwd=root).code == 0
    else:
        folder.mkdir(parents=True)
        home.document.write_text("# Memory\n")
    return home


def filled(home: Home) -> Home:
    """The memory with two candidates, a current lesson and an archived one."""
    more = ("--why", "A check was doubled.", "--how", "Scroll up.", "--tag", "guards")
    home.note("Read the lines above first.", "r1", *more)
    home.note("Stage files by name.", "r1")
    home.note("Ask before renaming names.", "r1")
    home.note("Ask before renaming names.", "r2")
    home.note("Use the old formatter.", "r1")
    assert home.run("archive", "use-the-old-formatter", "--note", "Replaced by the new one").code == 0
    return home


def fresh_copy(kind: str, root: Path, copy_of: CopyOf, learnloop: Run) -> Home:
    """A fresh memory in git: a copy of one that was made before."""
    return copy_of(kind, lambda made: make_home(kind, made, learnloop), root)


def filled_copy(kind: str, copy_of: CopyOf, learnloop: Run) -> Home:
    """A filled memory in git."""
    return copy_of(f"filled {kind}", lambda root: filled(make_home(kind, root, learnloop)))


class Template(NamedTuple):
    """A memory in a repository that is never changed, and the witness that was taken of it."""

    home: Home
    seen: bytes
    state: Path  # where its ledger is, below its root


_TEMPLATES: dict[str, Template] = {}


def packed(root: Path) -> Path:
    """The repository with its objects in one file: copies cost what their files do."""
    if (root / ".git").is_dir():
        git(root, "repack", "-a", "-d", "-q")
        for folder in (root / ".git" / "objects").iterdir():
            if not any(folder.iterdir()):
                folder.rmdir()
    return root


def template(name: str, build: Callable[[Path], Home], folders: pytest.TempPathFactory) -> Template:
    """What build makes in an empty folder, made once in a process."""
    if name not in _TEMPLATES:
        home = build(folders.mktemp("template") / "repo")
        packed(home.root)
        state = places.find(home.folder, str(home.folder)).state.relative_to(home.root)
        _TEMPLATES[name] = Template(home, witness.file_of(home.folder).read_bytes(), state)
    return _TEMPLATES[name]


def copied(made: Template, root: Path, learnloop: Run) -> Home:
    """A copy of a memory that knows itself as what it is there: by its ledger, its witness and Claude's settings."""
    old = made.home
    shutil.copytree(old.root, root, symlinks=True)
    home = old._replace(root=root, folder=root / old.folder.relative_to(old.root), learnloop=learnloop)
    place = places.find(home.folder, str(home.folder))
    (root / made.state).rename(place.state)
    write(witness.file_of(home.folder), made.seen)
    settings = root / ".claude" / "settings.local.json"
    if settings.exists():
        settings.write_text(settings.read_text().replace(str(old.root), str(root)))
    return home


READ, STAGE, ASK, OLD = (
    "read-the-lines-above-first",
    "stage-files-by-name",
    "ask-before-renaming-names",
    "use-the-old-formatter",
)


class Model:
    """A memory without disk and git; sync does to its values what the command does to files."""

    def __init__(
        self, kind: str, files: dict[str, str], document: str | None = None, *, adopted: tuple[str, ...] = ()
    ) -> None:
        self.kind, self.files = kind, dict(files)
        name = "MEMORY.md" if kind == "project" else "memory.md"
        self.place = Place(Path("/nowhere"), kind, "test", None, Settings(adopted=adopted), name)
        self.document = document
        self.ledger: Ledger | None = None

    @property
    def memory(self) -> memories.Memory:
        data = {path: text.encode() for path, text in self.files.items()}
        document = None if self.document is None else self.document.encode()
        return memories.assemble(self.place, Files(data), document, self.ledger, scan_all=False)

    def copy(self) -> Model:
        """The same memory, to be changed by itself."""
        new = Model(self.kind, self.files, self.document, adopted=self.place.settings.adopted)
        new.ledger = self.ledger
        return new

    def path(self, slug: str) -> str:
        return f"lessons/{slug}.md" if self.kind == "skill" else f"{slug}.md"

    def sync(self, run: str = "", removed: tuple[str, ...] = ()) -> Report:
        """Absorb, bring the document in step, remember what was agreed."""
        loaded = self.memory
        draft = Draft(loaded, today=DAY, run=run, command="c0ffee")
        rows = loaded.ledger.agreed if loaded.ledger else {}
        report = Absorber(draft, author="Ada", base_of=rows.get, removed=removed).run()
        draft.cut("absorb", report.slugs, "\n".join(report.what))
        self.plans = draft.plans
        for edit in (edit for plan in draft.plans for edit in plan.edits):
            old = self.document if edit.path == self.place.document else self.files.get(edit.path)
            assert old == edit.before, f"{edit.path} is not what the plan starts from"
            self._write(edit)
        agreed = memories.agreed_now(self.memory, skip={clash.slug for clash in report.conflicts})
        gone = {slug: row._replace(zone="removed") for slug, row in rows.items() if slug not in agreed}
        self.ledger = Ledger({**gone, **agreed})
        return report

    def _write(self, edit: Edit) -> None:
        if edit.path == self.place.document:
            self.document = edit.after
        elif edit.after is None:
            del self.files[edit.path]
        else:
            self.files[edit.path] = edit.after

    def lesson(self, slug: str) -> Lesson:
        return self.memory.lessons[slug]

    @property
    def entries(self) -> dict[str, memories.Entry]:
        return memories.entries(self.place, self.document or "", self.memory.lessons)


def lesson_text(slug: str, rule: str, *, state: str = "candidate", more: str = "", why: str = "It went wrong.") -> str:
    """A lesson file as the tool writes it."""
    return (
        f"---\nname: {slug}\ndescription: {rule.rstrip('.')}\nmetadata:\n  type: feedback\n  state: {state}\n"
        f"  created: 2026-05-26\n{more}  seen:\n    - on: 2026-05-26\n      run: r1\n---\n"
        f"\n{rule}\n\n**Why:** {why}\n"
    )
