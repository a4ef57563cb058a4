"""Put what earlier runs learned into a system prompt, for any agent framework (R000-54, R000-72).

    python examples/system_prompt.py "the task at hand" < base-prompt.txt

The memory is the one that `learnloop` would use in this folder; --memory names another. An agent that gets the prompt
needs nothing of learnloop: the lessons stand in it as text.
"""

from __future__ import annotations

import argparse
import sys

from learnloop_md import LearnloopError, Memory


def system_prompt(base: str, task: str, memory: Memory | None, *, budget: int = 500) -> str:
    """The base prompt, a blank line, and the lessons that fit the task (at most budget tokens of them).

    The base prompt alone where there is no memory or nothing in it fits: an agent never waits for its memory.
    """
    lessons = memory.recall(task, budget=budget).text if memory else ""
    return f"{base.rstrip()}\n\n{lessons}\n" if lessons else base


def main() -> int:
    parser = argparse.ArgumentParser(description="Print a system prompt with the lessons that fit a task.")
    parser.add_argument("task")
    parser.add_argument("--memory", help="a folder or a skill's folder; else it is found from here")
    given = parser.parse_args()
    try:
        memory = Memory(given.memory)
    except LearnloopError as error:
        print(f"no lessons: {error.message} ({error.hint})", file=sys.stderr)
        memory = None
    sys.stdout.write(system_prompt(sys.stdin.read(), given.task, memory))
    return 0


if __name__ == "__main__":
    sys.exit(main())
