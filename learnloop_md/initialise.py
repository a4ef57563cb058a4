"""`init`: make or adopt a memory, in a repository, in Claude's own directory, or in a skill; one commit at the end."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

from learnloop_md import (
    absorb,
    apply,
    claude,
    drivers,
    git,
    guard,
    index,
    jsonedit,
    lessonfile,
    memory,
    notebook,
    place,
    settings,
    store,
    trust,
)
from learnloop_md.apply import Done
from learnloop_md.codify import check_skill, skill_faults
from learnloop_md.commits import Asked
from learnloop_md.errors import LearnloopError, UnableError, UsageError
from learnloop_md.foreign import with_attributes, with_auto_learn, with_contract, with_settings
from learnloop_md.lesson import free_slug
from learnloop_md.lines import line_end_at, split_lines
from learnloop_md.memory import Memory
from learnloop_md.place import Place
from learnloop_md.plan import Draft


class Options(NamedTuple):
    """How `init` was asked for."""

    cwd: Path
    asked: Asked
    native: bool = False
    skill: str = ""
    folder: str = ""
    yes: bool = False
    auto_learn: bool = False


class Consent(NamedTuple):
    """Something `init` would do only when asked: what it is, and the command that says yes."""

    what: str
    how: str


class Initialised(NamedTuple):
    """What `init` did."""

    place: Place
    done: Done
    said: tuple[str, ...]
    adopted: int
    open: tuple[Consent, ...]


def initialise(options: Options) -> Initialised:
    """Make or adopt a memory. Raises LearnloopError before anything is written where it cannot be done."""
    if sum(map(bool, (options.native, options.skill, options.folder))) > 1:
        raise UsageError("--native, --skill and --dir exclude each other", "give one of them")
    if options.auto_learn and not options.skill:
        hint = "name the skill too: --skill PATH; for a whole project: learnloop install"
        raise UsageError("--auto-learn writes the hook of a skill", hint)
    if options.skill:
        return _init_skill(options)
    if options.native:
        return _init_native(options)
    return _init_repository(options)


# --- a project's memory ---------------------------------------------------------------------------------------------


def _init_repository(options: Options) -> Initialised:
    repo = git.find(options.cwd)
    if repo is None:
        raise UnableError(
            "this is not a git repository", "run: git init, or use: learnloop init --native", code="no-git"
        )
    root = repo.main_root
    name = place.check_folder_name(options.folder or ".claude/memory")
    folder = root / name
    if _has_link(root, name):
        raise UnableError(
            f"{name} leads through a symbolic link; Claude refuses to write through it",
            "use another folder: --dir",
            code="symlink-escape",
        )
    if repo.is_linked_worktree:
        raise UnableError("this is a linked worktree", f"run init in the main checkout: {root}", code="linked-worktree")
    _refuse_gone(options, repo, folder)
    if any((folder / other).is_file() for other in place.NOTEBOOKS):
        raise UnableError(
            f"{name} holds a notebook already; MEMORY.md and memory.md never share a folder",
            "use another folder: --dir",
        )
    said: list[str] = []
    files: dict[Path, str] = {}
    rule = git.ignored(repo, [f"{name}/{place.INDEX}"]).get(f"{name}/{place.INDEX}")
    if rule:
        files[root / ".gitignore"] = _lifted(repo, name, rule, options.yes)
        said.append(f"git ignored {name} ({rule}): .gitignore now lets it through")
    local = root / ".claude" / "settings.local.json"
    files[local] = _with_memory(local, folder)
    where = Place(folder, "project", "init", repo, settings.load([folder, root]), place.INDEX)
    files[root / ".gitattributes"] = _with_attributes(root / ".gitattributes", where)
    config = root / settings.FILE
    values: dict[str, object] = {"memory": name} if options.folder and options.folder != ".claude/memory" else {}
    claude_own = claude.default_memory(root, repo)
    copies, open_ = _copies(claude_own, folder, options.yes)
    return _finish(where, options, files, config, values, copies, said, open_, keep_out=[local])


def _refuse_gone(options: Options, repo: git.Repo | None, folder: Path) -> None:
    """Raises UnableError where a memory was removed and HEAD still has it: an empty one over it would seal the loss."""
    if back := place.way_back(options.cwd, repo, folder):
        hint = f"{back}; to begin anew, commit the removal first"
        raise UnableError(f"the memory in {folder} is gone from the disk, not from HEAD", hint, code="memory-gone")


def _with_memory(file: Path, folder: Path) -> str:
    """Claude's settings file with the memory's folder named in it."""
    try:
        return jsonedit.set_key(_text(file), ["autoMemoryDirectory"], str(folder))
    except jsonedit.JsonError as error:
        raise error.of(file, UsageError) from error


def _has_link(root: Path, name: str) -> bool:
    here = root
    for part in Path(name).parts:
        here = here / part
        if here.is_symlink():
            return True
    return False


def _lifted(repo: git.Repo, name: str, rule: git.Rule, yes: bool) -> str:
    """The .gitignore that no longer hides the memory, tried out on the side.

    Raises UnableError where consent or effect is missing.
    """
    advice = f"git ignores {name} ({rule.file}:{rule.line}: {rule.pattern})"
    if rule.file != ".gitignore":
        hint = f"{rule.file} is not ours to edit: change that rule, or use another folder: --dir docs/memory"
        raise UnableError(advice, hint, code="ignored")
    lines = split_lines(_patterns(repo.root / ".gitignore"))
    instead = [line + line_end_at(lines, rule.line) for line in _instead(name, rule.pattern)]
    lines[rule.line - 1 : rule.line] = instead
    new = "".join(lines)
    still = _still_ignored(repo, name, new)
    if still:
        message = f"git would still ignore {name} ({still})"
        raise UnableError(message, "use another folder: --dir docs/memory", code="ignored")
    if not yes:
        hint = "say --yes to write it, or use another folder: --dir docs/memory"
        shown = " ".join("".join(instead).split())
        raise UnableError(f"{advice}; this would let it through: {shown}", hint, code="ignored")
    return new


def _instead(name: str, pattern: str) -> list[str]:
    """The lines that take a rule's place: under an ignored folder a negation has no effect, so open it step by step."""
    folders = ["/".join(name.split("/")[: n + 1]) for n in range(name.count("/") + 1)]
    hides_top = pattern.removeprefix("**").strip("/") in (folders[0], f"{folders[0]}/*", f"{folders[0]}/**")
    rows = [f"/{folders[0]}/*" if hides_top and len(folders) > 1 else pattern]
    for folder in folders[1:-1]:
        rows += [f"!/{folder}/", f"/{folder}/*"]
    return [*rows, f"!/{name}/"]


def _still_ignored(repo: git.Repo, name: str, text: str) -> str:
    """The rule that would hide the memory if .gitignore held text, "" for none; tried in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="learnloop-") as folder:
        tried = Path(folder)
        (tried / name).mkdir(parents=True)
        (tried / ".gitignore").write_bytes(text.encode("utf-8", "surrogateescape"))
        folders = [Path(name), *Path(name).parents]
        for part in folders[:-1]:
            below = store.read_bytes(repo.root / part / ".gitignore")
            if below is not None:
                (tried / part / ".gitignore").write_bytes(below)
        paths = [f"{name}/{place.INDEX}", f"{name}/a-lesson.md"]
        return next((str(rule) for rule in git.ignored(repo, paths, at=tried).values()), "")


def _copies(source: Path, target: Path, yes: bool) -> tuple[dict[str, bytes], list[Consent]]:
    """Lessons in Claude's own directory that the new memory lacks; copied on consent, the originals stay."""
    if not source.is_dir() or source.is_symlink() or source == target:
        return {}, []
    found = {path: data for path, data in store.read(source).data.items() if not (target / path).exists()}
    if not found:
        return {}, []
    if yes:
        return found, []
    names = ", ".join(map(guard.unsecret_path, sorted(found)[:5])) + (" …" if len(found) > 5 else "")
    return {}, [Consent(f"{len(found)} files in {source} could be copied: {names}", "learnloop init --yes")]


def _init_native(options: Options) -> Initialised:
    repo = git.find(options.cwd)
    root = repo.main_root if repo else options.cwd
    folder = claude.default_memory(root, repo)
    if folder.is_symlink():
        raise UnableError(
            f"{folder} is a symbolic link; Claude refuses to write through it",
            "use: learnloop init",
            code="symlink-escape",
        )
    if not options.asked.dry_run:
        folder.mkdir(parents=True, exist_ok=True)
    around = git.find(folder)
    _refuse_gone(options, around, folder)
    hidden = around and around.root != folder.resolve() and git.ignored_by(around, _index_in(around, folder))
    if (around is None or hidden) and not options.asked.dry_run:
        git.call(folder, "init", "-q", "-b", "main")
    folder = folder.resolve()
    where = place.at(folder, "project", "init --native")
    attributes = where.repo.root / ".gitattributes" if where.repo else folder / ".gitattributes"
    files = {attributes: _with_attributes(attributes, where)} if where.own_repo else {}
    return _finish(where, options, files, folder / settings.FILE, {}, {}, [], [])


def _index_in(repo: git.Repo, folder: Path) -> str:
    return (folder.resolve() / place.INDEX).relative_to(repo.root).as_posix()


def _finish(
    where: Place, options: Options, files: dict[Path, str], config: Path, values: dict[str, object],
    copies: dict[str, bytes], said: list[str], open_: list[Consent], keep_out: list[Path] | None = None,
) -> Initialised:  # fmt: skip
    """Write what init decided, adopt what stands there, and end in one commit."""
    there = store.read(where.folder).data if where.folder.is_dir() else {}
    together = {**copies, **there}
    found = memory.assemble(where, store.Files(together), together.get(place.INDEX), None)
    copies = {path: data for path, data in copies.items() if path not in {q.path for q in found.quarantined}}
    if where.repo and not git.tracked(where.repo, where.in_repo(place.INDEX)):
        guard.refuse_secrets({place.INDEX: found.document})
    if error := None if found.lessons else place.lost(where):
        raise error
    # What came after the first init is new: a candidate, not something that was in force all along.
    adopted = [] if _is_initialised(where) else _stateless(found)
    known = set(where.settings.adopted)
    if set(adopted) - known:
        values = {**values, "adopted": sorted(known | set(adopted))}
    if values:
        files[config] = with_settings(_text(config), values, config)
    everything = {path: content.encode("utf-8", "surrogateescape") for path, content in files.items()}
    everything |= {where.folder / path: data for path, data in copies.items()}
    changed = {path: data for path, data in everything.items() if store.read_bytes(path) != data}
    if options.asked.dry_run:
        said += [f"would write {path}" for path in changed]
        return Initialised(where, _nothing(where), tuple(said), len(adopted), tuple(open_))
    committed = [path for path in files if path not in (keep_out or [])]
    if where.repo:
        # One that is new to git is adopted, whoever wrote it: an init that was interrupted, or a person.
        committed = [path for path in committed if path in changed or _is_new(where.repo, path)]
        _refuse_edited(where.repo, committed)
        _keep_out(where.repo, keep_out or [])
    before = {str(path): store.read_bytes(path) for path in changed}
    head = git.head(where.repo) if where.repo else ""
    store.write_all(where.folder, {str(path): data for path, data in changed.items()})
    where.folder.mkdir(parents=True, exist_ok=True)
    try:
        fresh = place.at(where.folder, where.kind, where.chosen_by)
        done = apply.first(fresh, options.asked, [apply.folder_in(fresh, path) for path in committed], adopted)
    except LearnloopError:
        if not where.repo or git.head(where.repo) == head:  # else the commit is made: what failed came after it
            store.write_all(where.folder, before)
        raise
    said += [f"wrote {path}" for path in changed if path in files]
    return Initialised(fresh, done, tuple(said), len(adopted), tuple(open_))


def _is_initialised(where: Place) -> bool:
    if store.load_ledger(where) is not None:
        return True
    if where.repo is None:
        return False
    rows = _patterns(where.repo.root / ".gitattributes").splitlines()
    return drivers.old_line(where) in rows or drivers.lines_of(where)[-1] in rows


def _with_attributes(path: Path, where: Place) -> str:
    """.gitattributes with our lines: forges fold the document, and git merges it and the lessons by our drivers."""
    return with_attributes(_patterns(path), drivers.upgrades(where), drivers.lines_of(where))


def _is_new(repo: git.Repo, path: Path) -> bool:
    inside = path.relative_to(repo.root).as_posix()
    return git.changed(repo, inside).get(inside) == "??"


def _refuse_edited(repo: git.Repo, paths: list[Path]) -> None:
    """A person's own edits of a tracked file that we are about to commit must not get into our commit."""
    for path in paths:
        inside = path.relative_to(repo.root).as_posix()
        flags = git.changed(repo, inside).get(inside, "")
        if flags.strip("?"):
            hint = "commit or stash it first, so that your edit and ours stay apart"
            raise UnableError(f"{inside} has changes that are not committed", hint, code="dirty-target")


def _keep_out(repo: git.Repo, paths: list[Path]) -> None:
    for path in paths:
        inside = path.relative_to(repo.root).as_posix()
        if not git.tracked(repo, inside):
            git.exclude(repo, inside)


def _nothing(where: Place) -> Done:
    empty = memory.assemble(where, store.Files({}), None, None)
    return Done((), (), False, (), absorb.Report((), (), (), ()), empty)


def _stateless(found: Memory) -> list[str]:
    """The slugs that are adopted as current: no state of their own, unless they lie in an archive without a line.

    None of a private lesson: settings are committed.
    """
    listed = {entry.target for entry in index.entries(found.document)}
    rows = [lesson for slug, lesson in found.lessons.items() if not lesson.stated and slug not in found.private]
    return sorted(row.slug for row in rows if row.path in listed or memory.counting_state(row, ()) != "archived")


# --- a skill's memory -----------------------------------------------------------------------------------------------


def _init_skill(options: Options) -> Initialised:
    skill = (options.cwd / Path(options.skill).expanduser()).resolve()
    skill = skill.parent if skill.name == "SKILL.md" else skill
    if not (skill / "SKILL.md").is_file():
        raise UnableError(
            f"there is no SKILL.md in {skill}",
            "name the skill's folder: learnloop init --skill PATH",
            code="no-skill",
        )
    folder = skill / "references"
    if folder.is_symlink() or any(path.name == place.INDEX for path in folder.glob("*.md")):
        raise UnableError(f"{folder} cannot hold a notebook (a link, or a MEMORY.md stands there)", "move it first")
    where = place.at(folder, "skill", "init --skill")
    _refuse_gone(options, where.repo, folder)
    before = _text(skill / "SKILL.md")
    after = with_contract(before, where.document)
    # Unknown keys or too many lines are its owner's affair; without a head nothing loads the skill, or its memory.
    if faults := [fault for fault in skill_faults(before) if fault.startswith("its head")]:
        message = f"{skill / 'SKILL.md'} is no valid skill: {faults[0]}"
        raise UnableError(message, "give it a head with name and description", code="invalid-skill")
    if options.auto_learn:
        after = with_auto_learn(after)
    check_skill(before, after)
    files = {skill / "SKILL.md": after}
    if where.repo:
        attributes = where.repo.root / ".gitattributes"
        files[attributes] = _with_attributes(attributes, where)
        rule = git.ignored_by(where.repo, where.in_repo(where.document))
        if rule:
            raise UnableError(
                f"git ignores {where.in_repo(where.document)} ({rule})",
                "change that rule first",
                code="ignored",
            )
    text = _text(folder / where.document)
    said = [f"wrote {path}" for path, content in files.items() if content != _text(path)]
    found = len(notebook.entries(text))

    def build(draft: Draft) -> None:
        for path, content in files.items():
            old = _text(path)
            if content != old:
                draft.edit(apply.folder_in(where, path), old if path.exists() else None, content)
        if not draft.document:
            draft.set_document(None, notebook.NEW)
        _adopt_entries(draft)
        draft.cut(
            "init",
            sorted(draft.lessons),
            f"{found} entries adopted" if found else "",
            subject=f"learnloop: init {skill.name}",
        )

    if not options.asked.dry_run:
        folder.mkdir(exist_ok=True)
    done = apply.change(where, options.asked, build, absorbing=False)
    return Initialised(where, done, tuple(said), found, ())


def _adopt_entries(draft: Draft) -> None:
    """Every entry that has no file becomes a lesson file; the notebook keeps its order and gains File lines."""
    taken = set(draft.lessons) | {lessonfile.stem(q.path) for q in draft.memory.quarantined}
    known = {}
    for row in notebook.entries(draft.document):
        if row.slug in draft.lessons:
            continue
        slug = free_slug(trust.slug_for(row.slug), taken)
        taken.add(slug)
        adopted = absorb.adopted_entry(
            row, slug, draft.memory.place.path_of(slug), draft.today, draft.run.removesuffix(f"-{draft.today}")
        )
        draft.put(slug, lessonfile.render(adopted), adopted.path)
        known[slug] = draft.lesson(slug)
    draft.knew(known)


def _text(path: Path) -> str:
    """A file's text, "" where there is none. Raises UsageError for one that is not UTF-8."""
    return store.read_text(path, str(path)) or ""


def _patterns(path: Path) -> str:
    """A file of patterns, bytes to git whatever they spell. Raises UsageError for UTF-16, which no git can read."""
    data = store.read_bytes(path) or b""
    return (store.read_text(path, str(path)) or "") if b"\0" in data else data.decode("utf-8", "surrogateescape")
