"""Which tier a fact belongs to: nowhere, the state file, a lesson (R003-22, R003-23, R003-50). Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from learnloop_md import guard
from learnloop_md.lesson import fold

PROSE_WORDS, PROSE_CHARACTERS = 12, 120  # a value with more than that is told in words, it is no state


class Tier(NamedTuple):
    """Where a fact belongs, why, and the command that puts it there ("" for what is kept nowhere)."""

    name: str  # secret, ephemeral, state, lesson
    why: str
    command: str = ""


_TRANSCRIPT = re.compile(
    r"(?m)^\s*(?:\*\*)?(?:user|human|assistant|system|claude)(?:\*\*)?\s*:\s|^<(?:user|assistant)>", re.IGNORECASE
)
_OUTPUT = re.compile(
    r"(?m)^Traceback \(most recent call last\)|^\s*\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*\s+"
    r"(?:DEBUG|INFO|WARN\w*|ERROR)\b|^(?:[+-]{3} |@@ )|^\$ \S"
)
_STARTED = re.compile(
    r"^(?:(?:i|we|the agent)\s+)?(?:have\s+|has\s+)?(?:just\s+)?"
    r"(?:started|starting|began|beginning|kicked off|running)\s+(?:the|a|this|my|our|run|task|work|session|job|now)\b"
    r"|^(?:run|task|session|job)\s+\S*\s*(?:started|begun|in progress)\b",
    re.IGNORECASE,
)
_DERIVABLE = re.compile(
    r"\b(?:current branch|working directory|git (?:status|log|history)|file (?:tree|list|listing)|directory structure|"
    r"(?:is|are) (?:defined|located|implemented) in|contains? \d+ (?:files?|lines?|tests?)|latest commit)\b",
    re.IGNORECASE,
)
_PAIR = re.compile(r"[\w .-]{1,60}\s*[:=]\s*\S[^\n]{0,60}")
_COUNTER = re.compile(
    r"\b(?:count(?:er)?|number of|how many|times|retries|attempts|total|"
    r"last (?:run|id|date|version|processed|seen|sync)|next (?:id|number|page)|"
    r"cursor|offset|page \d+|version \d|\d+ of \d+)\b",
    re.IGNORECASE,
)
_RULE = re.compile(
    r"\b(?:always|never|must|should|do not|don't|avoid|prefer|use|check|before|after|because|since|instead|when|unless|"
    r"if|decided|chose|ask|run|make sure|wins?|needs?)\b",
    re.IGNORECASE,
)


def where(fact: str) -> Tier:
    """The tier of a fact, by how it will be looked up again."""
    text = fact.strip()
    if guard.find_secrets(text):
        return Tier("secret", f"it holds what looks like a secret: {guard.SECRETS_HINT}")
    for found, why in (
        (_TRANSCRIPT, "it is conversation: what was said is not kept, what it teaches is"),
        (_OUTPUT, "it is tool output: it can be had again by running the tool"),
        (_STARTED, "it says that something began: that is true for this run alone"),
        (_DERIVABLE, "it can be read from the repository whenever it is needed, and goes stale here"),
    ):
        if found.search(text):
            return Tier("ephemeral", why)
    small = not is_prose(text)
    if small and (_is_value(text) or (_COUNTER.search(text) and re.search(r"\d", text)) or _is_pair(text)):
        return Tier("state", "it is small and looked up by its key", "learnloop state set KEY VALUE")
    if small and _COUNTER.search(text) and not _RULE.search(text):
        return Tier("state", "it is a counter, looked up by its key", "learnloop state incr KEY")
    return Tier("lesson", "it is a rule, a decision or a costly fact, found by what it is about", "learnloop note")


def _is_value(text: str) -> bool:
    return bool(re.fullmatch(r"[-+]?\d+(?:\.\d+)?|true|false|null|\{.*\}|\[.*\]", text, re.DOTALL))


def _is_pair(text: str) -> bool:
    return bool(_PAIR.fullmatch(text)) and not _RULE.search(text)


def is_prose(text: str) -> bool:
    """Whether a text tells something in words: that is a lesson, no state."""
    flat = fold(text)
    sentence = re.search(r"[.!?]\s+\S", flat) is not None
    rule = _RULE.search(flat) is not None and len(flat.split()) > 4
    return "\n" in text.strip() or sentence or rule or len(flat.split()) > PROSE_WORDS or len(flat) > PROSE_CHARACTERS
