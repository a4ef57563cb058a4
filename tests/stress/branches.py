"""Random histories on two branches, joined by real git with and without the merge drivers: what is lost in silence.

Every step leaves a mark: a lesson's own in its rule, that of a confirmation, an addition or a line's words where it was
made. What a branch's last commit holds is in the memory afterwards, in its lesson, or the other branch took it out, or
a message names the lesson, or `sync --resolve` leaves it to a person.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.stress import ground
from tests.stress.report import Failure, Result, end

WAYS = {"merge": ("merge", "--no-edit"), "squash": ("merge", "--squash"), "pick": ("cherry-pick", "-n"), "rebase": ()}
NOUNS = "anchor bellows cobalt dapple ember harbour lantern marble nettle orchard pebble quarry raven saddle".split()
LEFT = "left to a person"


class Broken(Exception):
    """A command ended as it must not."""


class Tree(NamedTuple):
    """What a memory holds: the lessons of each mark, the file of each lesson, and the document."""

    marks: dict[str, set[str]]
    lessons: dict[str, str]  # by the mark in its rule
    document: str
    words: set[str]  # the marks of reworded lines: in their lesson, or in a line of one that is there


class Scene:
    """A repository with a memory, and what was done in it."""

    def __init__(self, root: Path, dice: random.Random) -> None:
        self.root, self.folder, self.dice = root, root / ground.INSIDE, dice
        self.said: list[str] = []
        self.told = ""
        self.count = 0

    def mark(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count:03d}x{self.dice.randrange(10**6):06d}"

    def git(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "GIT_EDITOR": "true"}
        done = subprocess.run(["git", *words], cwd=self.root, capture_output=True, text=True, check=False, env=env)
        self.said.append(f"git {' '.join(words)}: {done.returncode}")
        if check and done.returncode:
            raise Broken(f"git {' '.join(words)}: {done.stdout}{done.stderr}")
        return done

    def run(self, *words: str, codes: tuple[int, ...] = (0,)) -> ground.Ran:
        ran = ground.call(self.root, *words)
        self.said.append(f"learnloop {' '.join(words)}: {ran.code} {ran.out.strip()} {ran.err.strip()}")
        self.told += ran.err
        if ran.code not in codes or "Traceback" in ran.err:
            raise Broken(f"learnloop {' '.join(words)} ended with {ran.code}: {ran.err}{ran.out}")
        return ran

    def files(self) -> dict[str, Path]:
        return {path.stem: path for path in sorted(self.folder.glob("*.md")) if path.name != "MEMORY.md"}

    def tree(self, revision: str = "") -> Tree:
        """The memory at a revision, or on disk."""
        if not revision:
            return tree_of({path.name: path.read_text() for path in self.folder.glob("*.md")})
        names = self.git("ls-tree", "--name-only", f"{revision}:{ground.INSIDE}", check=False).stdout.split()
        shown = {name: self.git("show", f"{revision}:{ground.INSIDE}/{name}").stdout for name in names}
        return tree_of(shown)


def tree_of(files: dict[str, str]) -> Tree:
    """Files of a memory by their marks."""
    marks: dict[str, set[str]] = {}
    lessons: dict[str, str] = {}
    for name, text in files.items():
        if name != "MEMORY.md" and (own := re.search(r"\bL\d{3}x\d{6}", text)):
            lessons[own[0]] = name
            for mark in re.findall(r"\b[CA]\d{3}x\d{6}", text):
                marks.setdefault(mark, set()).add(own[0])
    document = files.get("MEMORY.md", "")
    lines = [line for line in document.splitlines() if any(f"({name})" in line for name in lessons.values())]
    bodies = [text for name, text in files.items() if name != "MEMORY.md"]
    return Tree(marks, lessons, document, set(re.findall(r"W\d{3}x\d{6}", "\n".join([*lines, *bodies]))))


# --- the steps -------------------------------------------------------------------------------------------------------


def note(scene: Scene, slug: str) -> None:
    mark = scene.mark("L")
    one, two, three = scene.dice.sample(NOUNS, 3)
    rule = f"{mark} the {one} needs a {two} before the {three}."
    scene.run("note", rule, "--name", mark.lower(), "--why", "It went wrong.", "--new", "--run", f"r{scene.count}")


def confirm(scene: Scene, slug: str) -> None:
    scene.run("confirm", slug, "--run", f"r{scene.count}", "--evidence", scene.mark("C"))


def add(scene: Scene, slug: str) -> None:
    """A paragraph more, committed by the tool or by hand."""
    path = scene.files()[slug]
    path.write_text(f"{path.read_text()}\nMore {scene.mark('A')}.\n")
    keep(scene)


def keep(scene: Scene) -> None:
    if scene.dice.random() < 0.5:
        scene.run("sync", codes=(0, 1))
    else:
        scene.git("commit", "-q", "-a", "-m", "By hand")


def reword_line(scene: Scene, slug: str) -> None:
    document = scene.folder / "MEMORY.md"
    text = document.read_text()
    found = re.sub(rf"(?m)^- \[.*\]\({slug}\.md\).*", f"- [Own]({slug}.md) — {scene.mark('W')} words", text)
    if found != text:
        document.write_text(found)
        keep(scene)


def remove(scene: Scene, slug: str) -> None:
    """A lesson gone, and another noted that git may take for it."""
    scene.files()[slug].unlink()
    note(scene, "")


def rename(scene: Scene, slug: str) -> None:
    scene.run("rename", slug, scene.mark("M").lower())


def move(scene: Scene, slug: str) -> None:
    """Renamed and committed by hand, the document left as it is."""
    path, name = scene.files()[slug], scene.mark("V").lower()
    scene.git("mv", str(path), str(path.with_name(f"{name}.md")))
    moved = scene.files()[name]
    moved.write_text(moved.read_text().replace(f"name: {slug}\n", f"name: {name}\n"))
    scene.git("commit", "-q", "-a", "-m", "By hand")


def archive(scene: Scene, slug: str) -> None:
    scene.run("archive", slug, "--note", "No more of it")


STEPS: tuple[Callable[[Scene, str], None], ...] = (
    *(note, confirm, confirm, add, add, reword_line, reword_line, remove, remove, rename, move, archive),
)


# --- one history -----------------------------------------------------------------------------------------------------


def history(scene: Scene) -> str:
    """Two branches, each with a few steps; gives how they are to be joined."""
    if scene.dice.random() < 0.4:
        scene.run("git-config", "--enable")
    for _ in range(scene.dice.randint(2, 4)):
        note(scene, "")
    for branch in ("ours", "theirs"):
        scene.git("branch", branch)
    for branch in ("ours", "theirs"):
        scene.git("checkout", "-q", branch)
        scene.run("sync", codes=(0, 1))  # words of a line whose lesson is removed wait for a person
        for _ in range(scene.dice.randint(1, 4)):
            scene.dice.choice(STEPS)(scene, scene.dice.choice(sorted(scene.files())))
        scene.run("sync", codes=(0, 1))
    return scene.dice.choice(sorted(WAYS))


def joined(scene: Scene, way: str) -> bool:
    """Whether both branches are one now; what `sync --resolve` leaves is a person's."""
    scene.git("checkout", "-q", "theirs" if way == "rebase" else "ours")
    scene.run("sync", codes=(0, 1))
    scene.told = ""
    words = (*WAYS[way], "main..theirs" if way == "pick" else "theirs") if WAYS[way] else ("rebase", "-q", "ours")
    scene.git(*words, check=False)
    for _ in range(12):
        in_conflict = bool(scene.git("ls-files", "-u").stdout)
        if in_conflict and scene.run("sync", "--resolve", codes=(0, 1)).code:
            return False
        at = {name for name in ("rebase-merge", "MERGE_HEAD", "sequencer") if (scene.root / ".git" / name).exists()}
        if "rebase-merge" in at:
            scene.git("rebase", "--continue", check=False)
        elif at or scene.git("status", "--porcelain").stdout:
            scene.git("commit", "-q", "-a", "--allow-empty", "-m", "Join")
            if "sequencer" in at:
                scene.git("cherry-pick", "--continue", check=False)
        else:
            break
    return not (scene.run("sync", codes=(0, 1)).code or scene.run("sync", "--resolve", codes=(0, 1)).code)


def lost(base: Tree, ours: Tree, theirs: Tree, after: Tree, told: str) -> list[str]:
    """What a branch had and the memory has not, nor any message names."""
    wrong = []
    for side, other in ((ours, theirs), (theirs, ours)):
        for own, name in side.lessons.items():
            marks = {mark for mark, lessons in side.marks.items() if own in lessons}
            removed = own in base.lessons and own not in other.lessons
            if own not in after.lessons:
                names = {row.lessons[own].removesuffix(".md") for row in (side, base) if own in row.lessons}
                if not (removed and (marks <= base.marks.keys() or any(row in told for row in names))):
                    wrong.append(f"{name} is gone")
                continue
            kept = {mark for mark in marks if own in after.marks.get(mark, ())}
            taken = {mark for mark in marks if mark in base.marks and mark not in other.marks}
            wrong += [f"{mark} of {name} is lost" for mark in sorted(marks - kept - taken)]
        if not other.words and side.lessons.keys() <= after.lessons.keys():
            wrong += [f"the words {mark} of a line are lost" for mark in sorted(side.words - after.words)]
    lines = Counter(re.findall(r"\(([\w-]+\.md)\)", after.document))
    return wrong + [f"{name} has {lines[name]} lines" for name in after.lessons.values() if lines[name] != 1]


def trial(template: Path, root: Path, seed: int) -> tuple[list[str], list[str]]:
    """What is wrong with one history, [LEFT] where a person must settle it; and all that was done."""
    ground.copy(template, root)
    scene = Scene(root, random.Random(seed))
    try:
        way = history(scene)
        base, ours, theirs = (scene.tree(revision) for revision in ("main", "ours", "theirs"))
        if not joined(scene, way):
            return [LEFT], scene.said
        stays = scene.run("sync").out
        wrong = [] if "in step" in stays else [f"not in step: {stays}"]
        wrong += lost(base, ours, theirs, scene.tree(), scene.told)
        if not wrong and scene.run("check", codes=(0, 1)).code:  # told, as a head that git merged by lines
            return [LEFT], scene.said
        wrong += [f"not committed: {line}" for line in scene.git("status", "--porcelain").stdout.splitlines()]
    except (Broken, OSError) as error:
        wrong = [str(error)]
    return list(dict.fromkeys(wrong)), scene.said


def run(options: argparse.Namespace) -> Result:
    """So many histories, each from a seed of its own."""
    failures, left = [], 0
    with ground.sandbox() as world:
        ground.preload()
        root, template = world / "repo", world / "template"
        ground.new_memory(root)
        ground.copy(root, template)
        for seed in range(options.seed, options.seed + options.histories):
            wrong, said = trial(template, root, seed)
            left += wrong == [LEFT]
            if wrong not in ([], [LEFT]):
                repeat = f"python -m tests.stress.branches --histories 1 --seed {seed} --show"
                failures.append(Failure(f"history {seed}", tuple(wrong), repeat))
            if options.show:
                print("\n".join(said))
    kept = options.histories - left - len(failures)
    figure = f"{kept} of {options.histories} histories lost nothing, {left} more were left to a person"
    return Result(figure, tuple(failures))


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m tests.stress.branches", description=__doc__.partition("\n")[0])
    made.add_argument("--histories", type=int, default=150, help="how many (150)")
    made.add_argument("--seed", type=int, default=0, help="the first history's dice")
    made.add_argument("--show", action="store_true", help="print all that is done")
    return made


def main(words: list[str] | None = None) -> int:
    """The figure and every failure; 0 where nothing was lost."""
    return end("branches", run(parser().parse_args(words)))


if __name__ == "__main__":
    sys.exit(main())
