"""A markdown-native, git-tracked memory for Claude Code and agent skills; for programs see docs/python.md.

What is public is loaded when it is first asked for: importing the package itself costs next to nothing.
"""

# ruff: noqa: F403, F405 - a test holds the names to those of api
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from learnloop_md.api import *

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
