"""Every shape of real memories goes through its whole life and back, and every byte returns."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from learnloop_md import index
from tests.conftest import DATA, Run, git
from tests.homes import SKILL, Home

SHAPES = DATA / "shapes"
TOPICS = sorted(path.relative_to(SHAPES / "topic").as_posix() for path in (SHAPES / "topic").rglob("*.md"))
INDEXES = sorted((SHAPES / "index").rglob("MEMORY.md"))
ZONES = sorted((SHAPES / "zones").glob("*.md"))
NOTEBOOKS = {"memory-canonical.md": "memory.md", "review-patterns-origin-names.md": "review-patterns.md"}
THIRDS = [0, 1, 2]  # a third of the lessons at a time: an undo costs what there is of history


def adopted_project(repo: Path, learnloop: Run) -> Home:
    """The memory in the repository, adopted."""
    assert learnloop("init", cwd=repo).code == 0
    return Home("project", repo, repo / ".claude" / "memory", learnloop)


def lived(home: Home, slugs: Sequence[str]) -> int:
    """A note, then the lessons graduated and archived; how many commands committed something."""
    start = git(home.root, "rev-parse", "HEAD")
    home.note("Write a test for every bug that was found.", "r1")
    graduate = [("graduate", slug) for slug in slugs]
    archive = [("archive", slug, "--note", "It is done: see #41") for slug in slugs]
    codes = {home.run(*words).code for words in (*graduate, *archive)}
    assert codes <= {0, 2, 4}  # 2 and 4: archived ones are not graduated, quarantined files are left alone
    trailers = "%(trailers:key=Learnloop-Command,valueonly,separator=)"
    return len(set(git(home.root, "log", f"--format={trailers}", f"{start}..HEAD").split()))


def taken_back(home: Home, commands: int) -> None:
    for _ in range(commands):
        done = home.run("undo")
        assert done.code == 0, done.err


def states(home: Home, paths: Sequence[str]) -> set[str]:
    """What the files say of their state."""
    texts = [(home.folder / path).read_text("utf-8") for path in paths]
    return {next((row.split()[1] for row in text.splitlines() if row.startswith("  state: ")), "") for text in texts}


@pytest.mark.parametrize("third", THIRDS)
def test_every_topic_file_returns_to_its_bytes(third: int, repo: Path, learnloop: Run) -> None:
    """Adopt, note, graduate, archive, undo; quarantined files stay untouched throughout (R002-05)."""
    folder = repo / ".claude" / "memory"
    shutil.copytree(SHAPES / "topic", folder)
    listed = "".join(f"- [{Path(path).stem}]({path}) — as it was\n" for path in TOPICS if path != "29-empty.md")
    (folder / "MEMORY.md").write_text(f"What we know:\n{listed}\nMore prose.\n", "utf-8")
    original = {path: (SHAPES / "topic" / path).read_bytes() for path in TOPICS}
    home = adopted_project(repo, learnloop)
    adopted = home.bytes()
    assert {path: data for path, data in adopted.items() if path != "MEMORY.md"} == original
    hurt = {q["path"] for q in home.run("status", "--json").json["quarantined"]}
    mine = [path for path in TOPICS[third::3] if path not in hurt]
    commands = lived(home, [Path(path).stem for path in TOPICS[third::3]])
    assert states(home, mine) == {"archived"}
    assert {path: home.bytes()[path] for path in hurt} == {path: original[path] for path in hurt}
    taken_back(home, commands)
    assert home.bytes() == adopted
    assert git(repo, "status", "--short") == "?? .claude/memory/29-empty.md"  # quarantined: not committed


LONG = "C-separators"
PARTS = [(p, slice(n, None, 3)) for p in INDEXES for n in THIRDS if LONG in p.parts]
PARTS += [(p, slice(None)) for p in INDEXES if LONG not in p.parts]


@pytest.mark.parametrize(("source", "part"), PARTS)
def test_every_index_returns_to_its_bytes(source: Path, part: slice, repo: Path, learnloop: Run) -> None:
    folder = repo / ".claude" / "memory"
    folder.mkdir(parents=True)
    shutil.copy(source, folder)
    targets = sorted({entry.target for entry in index.entries(source.read_text("utf-8"))})
    for target in targets:
        file = folder / target
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"---\nname: {file.stem}\ndescription: About {file.stem}\n---\n\nThink of {file.stem}.\n")
    home = adopted_project(repo, learnloop)
    assert home.document.read_bytes() == source.read_bytes()
    home.sync()
    adopted = home.bytes()
    mine = targets[part]
    commands = lived(home, [Path(path).stem for path in mine])
    assert states(home, mine) == {"archived"}
    taken_back(home, commands)
    assert home.bytes() == adopted


@pytest.mark.parametrize("source", ZONES, ids=lambda path: path.stem)
def test_every_notebook_returns_to_its_bytes(source: Path, repo: Path, learnloop: Run) -> None:
    folder = repo / "skill" / "references"
    folder.mkdir(parents=True)
    (repo / "skill" / "SKILL.md").write_text(SKILL)
    document = folder / NOTEBOOKS[source.name]
    shutil.copy(source, document)
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "A skill")
    assert learnloop("init", "--skill", "skill", cwd=repo).code == 0
    home = Home("skill", repo, folder, learnloop)
    adopted = home.bytes()
    lines = document.read_text("utf-8").splitlines(keepends=True)
    assert "".join(line for line in lines if not line.startswith("- File: ")) == source.read_text("utf-8")
    taken_back(home, lived(home, sorted(path.stem for path in (folder / "lessons").glob("*.md"))))
    assert home.bytes() == adopted
