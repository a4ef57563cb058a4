"""Where a rule is codified: a file of the skill, of the repository or of the working directory."""

from __future__ import annotations

from pathlib import Path

from learnloop_md import apply, git, store
from learnloop_md.codify import Standing, Target, codified_slugs
from learnloop_md.errors import UsageError
from learnloop_md.place import Place

_HINT = "name SKILL.md, CLAUDE.md, AGENTS.md or a guide"


def find(place: Place, cwd: Path, into: str = "") -> Target:
    """The file that a rule goes into; the default is the skill's SKILL.md, else CLAUDE.md.

    Raises UsageError for what is no markdown file, leads out, belongs to the memory itself or is not UTF-8.
    """
    root = _root(place, cwd)
    name = into or ("SKILL.md" if place.kind == "skill" else "CLAUDE.md")
    path = next((p for p in (root / name, cwd / name) if p.exists()), root / name).absolute()
    real = path.resolve()
    if real.is_dir() or path.suffix != ".md":
        raise UsageError(f"--into {name}: not a markdown file", _HINT)
    if not real.is_relative_to(root.resolve()) and not real.is_relative_to(cwd.resolve()):
        raise UsageError(f"--into {name} leads out of {root}", "name a file inside it", code="path-traversal")
    if place.owns(real):
        raise UsageError(f"--into {name} lies in the memory itself", _HINT)
    shown = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
    text = store.read_text(path, shown)
    return Target(apply.folder_in(place, path), shown, text or "", text is not None)


def _root(place: Place, cwd: Path) -> Path:
    if place.kind == "skill":
        return place.folder.parent
    return place.repo.root if place.repo and not place.own_repo else cwd


def standing(place: Place) -> list[Standing]:
    """The marked rules in the markdown that git knows around a memory; those of other skills are not ours."""
    if place.repo is None or place.own_repo:
        return []
    root = _root(place, place.folder)
    words = ("grep", "--untracked", "-lzF", "-e", "<!-- learnloop: ", "--", "*.md")
    done = git.asked(root, *words, extra={"GIT_LITERAL_PATHSPECS": "0"})
    rows = []
    for name in sorted(filter(None, done.stdout.decode(errors="surrogateescape").split("\0"))):
        path = root / name
        if path.is_symlink() or place.owns(path.resolve()) or _of_another(place, path, root):
            continue
        text = (store.read_bytes(path) or b"").decode("utf-8", "replace")
        rows += [Standing(slug, apply.folder_in(place, path), name, line) for slug, line in codified_slugs(text)]
    return rows


def _of_another(place: Place, path: Path, root: Path) -> bool:
    """Whether a file belongs to a skill below the root that is not the memory's own."""
    folders = [folder for folder in path.parents if folder != root and folder.is_relative_to(root)]
    return any((folder / "SKILL.md").is_file() for folder in folders)
