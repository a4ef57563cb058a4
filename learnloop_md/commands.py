"""The table of commands: from it the quick parser and the typer door both take words and options."""

from __future__ import annotations

from keyword import iskeyword
from typing import NamedTuple

from learnloop_md.lesson import KINDS, TRIGGERS, TYPES


class Word(NamedTuple):
    """A positional word."""

    name: str
    help: str
    required: bool = True
    many: bool = False  # the last word alone: as many as are given


class Option(NamedTuple):
    """An option: text, a flag, a list (may be repeated), or a number."""

    flag: str
    help: str
    kind: str = "text"

    @property
    def name(self) -> str:
        name = self.flag.lstrip("-").replace("-", "_")
        return f"{name}_" if iskeyword(name) else name


class Command(NamedTuple):
    """A command: where its function is, what it takes, what it says of itself."""

    name: str
    function: str  # module:function
    help: str
    words: tuple[Word, ...] = ()
    options: tuple[Option, ...] = ()
    hidden: bool = False


MEMORY = Option("--memory", "The memory's folder, or a skill's; else it is found (learnloop status says how).")
TODAY = Option("--today", "The day to act on, YYYY-MM-DD; else today in UTC.")
JSON = Option("--json", "Answer as one JSON object.", "flag")
_LOOK = (MEMORY, TODAY, JSON)
_WRITE = (
    *_LOOK,
    Option("--run", "The run this belongs to; else Claude's session, else author and day."),
    Option("--dry-run", "Show the diff and the commit message; write nothing.", "flag"),
)
_SLUG = Word("slug", "The lesson: its name or any unique beginning of it.")
_EVIDENCE = Option("--evidence", "Where it was seen: a pull request, a session, a line.")
_SETTINGS = (
    Option("--scope", "project (.claude/settings.json; the default), local (settings.local.json) or user."),
    Option("--yes", "Write it without asking.", "flag"),
    JSON,
    Option("--dry-run", "Show the diff; write nothing.", "flag"),
)

TABLE = (
    Command(
        "init",
        "verbs:init",
        "Make or adopt a memory: in this repository, in Claude's own directory, or in a skill.",
        (),
        (
            *_WRITE[1:],
            Option(
                "--native",
                "Use Claude's default directory in place, with a git repository of its own.",
                "flag",
            ),
            Option(
                "--skill",
                "Give the skill in this folder a memory: references/memory.md and the contract in SKILL.md.",
            ),
            Option(
                "--auto-learn",
                "With --skill: the skill's own Stop hook, which asks Claude Code once per session what was learned.",
                "flag",
            ),
            Option("--dir", "Another folder for the memory, relative to the repository's root."),
            Option(
                "--yes",
                "Consent to what is offered: the edit of .gitignore, copying lessons Claude has already.",
                "flag",
            ),
        ),
    ),
    Command(
        "note",
        "verbs:note",
        "Capture a lesson; the same lesson again counts as one more sighting.",
        (Word("rule", 'The rule, at most 500 characters; "-" reads rule, Why and How from standard input.'),),
        (
            *_WRITE,
            Option("--title", "A title, when the rule's first sentence is none."),
            Option("--name", "The lesson's name (slug), when it should not be made from the title."),
            Option("--why", "What went wrong, and why the rule prevents it."),
            Option("--how", "How to apply the rule."),
            Option("--type", f"One of {', '.join(TYPES)}; else feedback."),
            Option("--kind", f"One of {', '.join(KINDS)}; else note."),
            Option("--trigger", f"What made you note it: {', '.join(TRIGGERS)}; it gives type and kind."),
            Option("--context", "When the rule applies."),
            _EVIDENCE,
            Option("--tag", "A tag; may be repeated.", "list"),
            Option("--same", "It is this lesson, whatever the words."),
            Option("--new", "It is a new lesson, whatever the words.", "flag"),
            Option("--manual", "A person says it: confidence 1.0, confirmed by them, never held.", "flag"),
            Option("--supersedes", "It takes the place of this lesson."),
        ),
    ),
    Command(
        "capture",
        "runverbs:capture_run",
        "Keep the record of a run, a JSON object, whatever its outcome.",
        (),
        (
            *_WRITE,
            Option("--from", 'The file with the JSON object; "-" reads standard input.'),
            Option("--prompt", "Print what to ask for the record instead.", "flag"),
            Option("--task", "With --prompt: the task, as it was given."),
            Option("--log", "With --prompt: where the run's log is, or the state it ended in."),
        ),
    ),
    Command(
        "run",
        "runverbs:run",
        "Begin and end a run (notes made in it wait until it is verified), or record how one ended.",
        (
            Word("what", "start, finish, abandon; ok, partial, failed alone; feedback."),
            Word("outcome", "After finish: ok, partial or failed. After feedback: yes or no.", required=False),
        ),
        (
            *_WRITE,
            Option("--skill", "With start: the skill that runs."),
            Option("--task", "With start: what the run is to do."),
            Option("--note", "How it ended, in a sentence."),
            Option("--verified", "The result was checked: held notes become lessons.", "flag"),
        ),
    ),
    Command(
        "import",
        "importverbs:bring_in",
        "Bring in learnings of other tools: JSON lines, .learnings, steer's lessons.db, learnings.md, a memory.md.",
        (Word("source", "The file, or the .learnings folder."),),
        (
            *_WRITE,
            Option("--format", "jsonl, learnings, steer, promoted (learnings.md) or notebook; else as it looks."),
            Option("--partial", "Bring in the good lines of a JSON lines file that has bad ones.", "flag"),
        ),
    ),
    Command(
        "remember",
        "remembering:remember",
        "Keep what a run taught, strictly: held until the run is verified, refused outside of one.",
        (Word("text", 'The rule, at most 500 characters; "-" reads rule, Why and How from standard input.'),),
        (
            *_WRITE,
            Option("--why", "What went wrong, and why the rule prevents it."),
            Option("--how", "How to apply the rule."),
            Option("--type", f"One of {', '.join(TYPES)}; else feedback."),
            Option("--kind", f"One of {', '.join(KINDS)}; else note."),
            _EVIDENCE,
            Option("--tag", "A tag; may be repeated.", "list"),
            Option("--of-run", "The run, where several are open, or one that ended verified."),
        ),
    ),
    Command("stats", "runverbs:show_stats", "What runs and lessons add up to; warns of many failures.", (), _LOOK),
    Command(
        "state",
        "stateverbs:keep_state",
        "A skill's small state in memory.json: counters, the last run's decisions, by key.",
        (
            Word("what", "get, set, incr, delete, list."),
            Word("key", "The key.", required=False),
            Word("value", "For set: JSON, else a text. For incr: by how much; else 1.", required=False),
        ),
        _WRITE,
    ),
    Command(
        "where",
        "stateverbs:where",
        "Say which tier a fact belongs to: nowhere, the state, or a lesson.",
        (Word("fact", "The fact."),),
        (JSON,),
    ),
    Command(
        "show",
        "views:show",
        "Print the digest of the memory, or one lesson.",
        (Word("slug", "A lesson to print whole.", required=False),),
        (
            *_LOOK,
            Option("--budget", "At most this many characters, footer included; else 2000.", "number"),
            Option("--all", "Print every active lesson.", "flag"),
        ),
    ),
    Command(
        "recall",
        "views:recall_lessons",
        "Find the lessons that fit a task, by its words and what they have to do with each other.",
        (Word("task", "What you are about to do, in a sentence; empty: the best lessons of all."),),
        (
            *_LOOK,
            Option("--task-type", "Only lessons of this task_type, and those without one."),
            Option("--type", f"Only lessons of this type: {', '.join(TYPES)}."),
            Option("--tag", "Only lessons with this tag, or another one given; may be repeated.", "list"),
            Option("--stack", "In use, as react-18; hides lessons of other versions; may be repeated.", "list"),
            Option("--limit", "At most this many lessons; else 5.", "number"),
            Option("--format", "block (to inject), digest, text or json; else block."),
            Option("--budget", "At most this many tokens (characters/4, CJK 1 each); else 500.", "number"),
            Option("--explain", "Say of each lesson which words made it fit.", "flag"),
            Option("--semantic", "Rank by meaning too, by the model of the extra learnloop-md[semantic].", "flag"),
            Option("--min-sim", "With a model: only lessons so alike, 0 to 1; docs/quality.md says why not."),
        ),
    ),
    Command(
        "review",
        "review:review",
        "Go through the candidates one by one: graduate, archive, merge, codify, skip.",
        (),
        (*_WRITE, Option("--list", "List every lesson with its state instead of asking.", "flag")),
    ),
    Command("confirm", "verbs:confirm", "It helped: count a confirmation.", (_SLUG,), (*_WRITE, _EVIDENCE)),
    Command("dispute", "verbs:dispute", "It misled: count a dispute.", (_SLUG,), (*_WRITE, _EVIDENCE)),
    Command("pin", "verbs:pin", "Show a lesson first and keep every rule from archiving it.", (_SLUG,), _WRITE),
    Command("unpin", "verbs:unpin", "Take a pin away.", (_SLUG,), _WRITE),
    Command(
        "accept",
        "acceptance:accept",
        "Serve a lesson that was quarantined, now that a person has read it; --dry-run shows it.",
        (Word("slug", "The quarantined lesson: its name or any unique beginning of it."),),
        _WRITE,
    ),
    Command("graduate", "verbs:graduate", "Make a candidate current by hand.", (_SLUG,), _WRITE),
    Command(
        "archive",
        "verbs:archive",
        "Take a lesson out of force, with a note why.",
        (_SLUG,),
        (*_WRITE, Option("--note", "Why it is archived (required).")),
    ),
    Command("forget", "verbs:forget", "Archive a lesson as forgotten.", (_SLUG,), _WRITE),
    Command("restore", "verbs:restore", "Bring an archived or removed lesson back as it was.", (_SLUG,), _WRITE),
    Command("rename", "verbs:rename", "Give a lesson another name.", (_SLUG, Word("new", "The new name.")), _WRITE),
    Command(
        "supersede",
        "verbs:supersede",
        "Let a lesson take the place of another, which is archived.",
        (Word("new", "The lesson that holds now."), Word("old", "The lesson that it replaces.")),
        _WRITE,
    ),
    Command(
        "merge",
        "verbs:merge",
        "Fold one lesson into another that says the same: merge NEW OLD keeps OLD with both sightings.",
        (Word("new", "The lesson that is folded in and archived."), Word("old", "The lesson that stays.")),
        _WRITE,
    ),
    Command(
        "cleanup",
        "cleanup:cleanup",
        "Show the cleanup plan; --check says whether it is due, --apply carries it out.",
        (),
        (
            *_WRITE,
            Option("--check", "Only say whether cleanup is due (exit 1 when it is).", "flag"),
            Option("--apply", "Carry the plan out, one commit per kind of change.", "flag"),
            Option(
                "--hook",
                "For pre-commit: when due, change files only; exit 1 if anything was written.",
                "flag",
            ),
        ),
    ),
    Command(
        "codify",
        "verbs:codify_lesson",
        "Fold a proven lesson into SKILL.md, a guide or CLAUDE.md and archive it, in one commit.",
        (_SLUG,),
        (
            *_WRITE,
            Option("--into", "The file; else the skill's SKILL.md, else CLAUDE.md."),
            Option("--section", 'The heading to put it under; else "Learned rules", made at the end if missing.'),
            Option("--branch", "Commit on a new branch of this name; here nothing changes."),
        ),
    ),
    Command(
        "promote",
        "verbs:promote",
        "Codify into learnings.md.",
        (_SLUG,),
        (
            *_WRITE,
            Option("--into", "Another file than learnings.md."),
            Option("--branch", "Commit on a new branch of this name; here nothing changes."),
        ),
    ),
    Command(
        "check",
        "checkup:check",
        "List findings as path:line: CODE; exit 1 on errors, 0 on warnings alone.",
        (),
        (
            *_LOOK,
            Option("--staged", "Read what is staged instead of the work tree.", "flag"),
            Option("--new", "Only findings that HEAD does not have.", "flag"),
            Option("--secrets", "Let betterleaks look for secrets too (extra: secrets).", "flag"),
            Option(
                "--hook",
                "For pre-commit: every memory of the repository, what is staged, new findings.",
                "flag",
            ),
            Option("--all", "With --hook: old findings too.", "flag"),
            Option("--only-secrets", "Look for secrets alone, in every file of the memory.", "flag"),
            Option("--fix", "First mend what needs no decision; with --hook change files only.", "flag"),
            Option("--dry-run", "With --fix: say what would be mended; write nothing.", "flag"),
        ),
    ),
    Command(
        "diff",
        "diffing:diff",
        "Tell what changed between two states of the memories: what was lost, what came, what is wrong.",
        (Word("range", "BASE...HEAD, BASE..HEAD or a revision (against HEAD); else HEAD and the work tree.", False),),
        (
            *_LOOK,
            Option("--staged", "Compare with what is staged.", "flag"),
            Option("--worktree", "Compare with the work tree.", "flag"),
            Option("--format", "text, markdown (a comment), summary (a job's), json, github (annotations) or sarif."),
            Option("--fail-on", "Exit 1 on error, warning, loss, policy, secret, kinds or codes, with commas between."),
        ),
    ),
    Command(
        "verify",
        "verifying:verify_memory",
        "List the lessons whose paths or symbols changed or went; exit 1 on findings.",
        (Word("slug", "A lesson; else all.", required=False),),
        (
            *_LOOK,
            Option(
                "--fix", "Record what the lessons speak of as it is now: you have read them, and they hold.", "flag"
            ),
            Option("--yes", "With --fix: write it without asking.", "flag"),
            Option("--run", "The run this belongs to; else Claude's session, else author and day."),
            Option("--dry-run", "With --fix: show the diff and the commit message; write nothing.", "flag"),
            Option(
                "--witness",
                "Report what was rolled back or edited behind the memory's history: the last commit seen, HEAD, files.",
                "flag",
            ),
            Option("--accept", "With --witness: take the present history as seen.", "flag"),
        ),
    ),
    Command("status", "views:status", "Say which memory this is, why, and how it stands.", (), _LOOK),
    Command(
        "sync",
        "sending:sync",
        "Absorb hand edits and Claude's own writes; commit what is queued.",
        (),
        (
            *_WRITE,
            Option(
                "--from-claude",
                "As Claude's hooks start it: HEAD of a code repository stays, and the cleanup plan is prepared.",
                "flag",
            ),
            Option("--after-commit", "As git's post-commit hook: commit what is queued, absorb nothing.", "flag"),
            Option("--resolve", "First rebuild what a merge left in conflict, from both of its sides.", "flag"),
            Option("--remote", "Then bring in what others pushed, and push (a memory in its own repository).", "flag"),
        ),
    ),
    Command(
        "propose",
        "sending:propose",
        "Put what the remote does not have yet on a branch of its own; here nothing changes.",
        (),
        (
            *_WRITE,
            Option("--branch", "The branch's name; else learnloop/DAY-LESSON."),
            Option("--push", "Push the branch.", "flag"),
            Option("--remote", "The remote to build on and push to; else origin."),
        ),
    ),
    Command(
        "share",
        "sending:share",
        "Put lessons, scrubbed, on a branch of a team's memory, one commit each; here nothing changes.",
        (Word("slugs", "The lessons.", many=True),),
        (
            *_WRITE,
            Option("--to", "The team's memory: its folder, or its skill's (required)."),
            Option("--branch", "The branch's name; else learnloop/share-DAY-LESSON."),
            Option("--hide", "A word that must not leave, such as a customer's name; may be repeated.", "list"),
        ),
    ),
    Command(
        "log",
        "views:log",
        "List the commits that changed the memory or one lesson.",
        (Word("slug", "A lesson.", required=False),),
        (*_LOOK, Option("--limit", "At most this many commits; else 20.", "number")),
    ),
    Command(
        "why",
        "why:why",
        "Say where each sighting, confirmation and dispute of a lesson comes from: day, run, author, commit, line.",
        (Word("slug", "The lesson; archived, renamed and removed ones too."),),
        _LOOK,
    ),
    Command(
        "replay",
        "replay:replay",
        "Show what an agent was given at a commit: the document as it was loaded, the digest, what a task recalled.",
        (Word("commit", "A commit (an id, HEAD~1, a tag); else HEAD.", required=False),),
        (*_LOOK, Option("--task", "Also what this task would have recalled.")),
    ),
    Command(
        "report",
        "report:report",
        "Say how the memory stands and came to be; with --html as one page: zones, timeline, each lesson's history.",
        (),
        (*_LOOK, Option("--html", "Write the page to this file; - for standard output.")),
    ),
    Command(
        "undo",
        "verbs:undo_last",
        "Take back the last change that a command made to the memory, a lesson's, or a commit, by a new commit.",
        (
            Word(
                "what",
                "A lesson, or a commit (an id, HEAD~1, a tag); else what a command last changed in the memory "
                "(export and run ok change nothing there).",
                required=False,
            ),
        ),
        _WRITE,
    ),
    Command(
        "export",
        "export:export",
        "agents, bundle: a block in AGENTS.md, in a skill's learnings.md. jsonl, mirror: a text, or a file (--to).",
        (Word("what", "agents, jsonl, mirror, bundle."),),
        (
            *_LOOK,
            Option("--to", "The file; else AGENTS.md at the repository's root, the skill's learnings.md, or none."),
            Option("--all", "jsonl: archived lessons too.", "flag"),
            Option("--remove", "Take the block out again.", "flag"),
            Option(
                "--replace", "Keep an edited block's text outside of it; overwrite a file that is not ours.", "flag"
            ),
            Option("--dry-run", "Show the diff; write nothing.", "flag"),
        ),
    ),
    Command(
        "install",
        "install:install",
        "Write the hooks into Claude Code's settings; the diff is shown first.",
        (),
        _SETTINGS,
    ),
    Command(
        "uninstall",
        "install:uninstall",
        "Take exactly what install wrote out of Claude Code's settings.",
        (),
        _SETTINGS,
    ),
    Command(
        "doctor",
        "doctor:doctor",
        "Look whether program, memory, hooks, settings and skills work together here; exit 1 on failures.",
        (),
        _LOOK,
    ),
    Command(
        "git-config",
        "mergedriver:git_config",
        "Register with git the drivers that merge a memory and show its lessons in diffs, or take them out.",
        (),
        (
            Option("--enable", "Register them.", "flag"),
            Option("--disable", "Take out exactly that.", "flag"),
            Option("--global", "In your own configuration, for every repository; else in this one's.", "flag"),
            JSON,
            Option("--dry-run", "Say what would be done; write nothing.", "flag"),
        ),
    ),
    Command(
        "merge-driver",
        "mergedriver:merge_driver",
        "Merge one file three ways; git calls it (%O %A %B %P).",
        (
            Word("kind", "lesson, index, notebook or state."),
            Word("base", "The file both sides began with; empty where there is none."),
            Word("ours", "Our file; the merge is written over it."),
            Word("theirs", "The other side's file."),
            Word("path", "The path of the file in the repository."),
        ),
        (JSON,),
        hidden=True,
    ),
    Command(
        "textconv",
        "textconv:textconv",
        "Show a lesson file one field a line; git calls it for git diff and git log -p.",
        (Word("file", "The file."),),
        (JSON,),
        hidden=True,
    ),
    Command(
        "hook",
        "hooks:main",
        "Answer an event of Claude Code's hooks: JSON on standard input; exit 0 whatever happens.",
    ),
    Command(
        "mcp",
        "mcpserver:serve",
        "Serve the memory to a client of the Model Context Protocol, on standard input and output.",
        (),
        (MEMORY,),
    ),
    Command(
        "reflect",
        "reflecting:reflect",
        "Find what a session's transcript has to teach; exit 1 when there is something and nothing was captured.",
        (),
        (
            Option("--transcript", "The transcript: Claude Code's file SESSION.jsonl (required)."),
            Option("--min-signals", "Say so from this many signals on; else 1.", "number"),
            Option("--scan-only", "List the signals alone, not the commands that would capture them.", "flag"),
            *_LOOK,
        ),
    ),
    Command("demo", "demo:demo", "Show a lesson's whole life in a temporary repository.", (), (JSON,)),
)
BY_NAME = {command.name: command for command in TABLE}
