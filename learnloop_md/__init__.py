"""A markdown-native, git-tracked memory for Claude Code and agent skills; for programs see docs/python.md.

What is public is loaded when it is first asked for: importing the package itself costs next to nothing.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from learnloop_md.api import Change as Change
    from learnloop_md.api import Found as Found
    from learnloop_md.api import Learnings as Learnings
    from learnloop_md.api import LearnloopError as LearnloopError
    from learnloop_md.api import Lesson as Lesson
    from learnloop_md.api import Memory as Memory
    from learnloop_md.api import Recalled as Recalled
    from learnloop_md.api import RefusedError as RefusedError
    from learnloop_md.api import UnableError as UnableError
    from learnloop_md.api import UsageError as UsageError
    from learnloop_md.api import add_learning as add_learning
    from learnloop_md.api import fetch_learnings as fetch_learnings
    from learnloop_md.api import memory_recall as memory_recall
    from learnloop_md.api import memory_remember as memory_remember
    from learnloop_md.api import save_learning as save_learning

__version__ = "0.1.0"

# The names of modules (memory, lesson, recall …) are not among them: they are the tool's own and may change.
__all__ = [
    "Change",
    "Found",
    "Learnings",
    "LearnloopError",
    "Lesson",
    "Memory",
    "Recalled",
    "RefusedError",
    "UnableError",
    "UsageError",
    "__version__",
    "add_learning",
    "fetch_learnings",
    "memory_recall",
    "memory_remember",
    "save_learning",
]

if not TYPE_CHECKING:  # a type checker must not take every name for one of ours

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module 'learnloop_md' has no attribute {name!r}")
        from learnloop_md import api  # lazy: the commands need none of it

        return getattr(api, name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
