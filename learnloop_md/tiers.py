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
_RESULT = re.compile(  # how a tool ended, and nothing besides
    r"(?:(?:all|the|our|my)\s+)*(?:tests?|build|lint(?:er)?|checks?|ci|pipeline|suite|job|run)\s+"
    r"(?:(?:has|have|is|are|was|were|all|now)\s+)*"
    r"(?:pass(?:ed|es|ing)?|fail(?:ed|s|ing)?|succeed(?:ed|s)|green|red|done|finished)(?:\s+(?:now|again|today))?\W*"
    r"|(?:ran|collected|found)?\s*\d+\s+(?:tests?|passed|failed|errors?|warnings?|failures?)(?:\W+(?:in\s+|and\s+)?\d+(?:\.\d+)?"
    r"[a-z]*(?:\s+[a-z]+)?)*\W*",
    re.IGNORECASE,
)
_DID = re.compile(  # what was done, without what it teaches
    r"(?:i|we|the agent)\s+(?:(?:have|has|just|then|now|also)\s+)*"
    r"(?:read|opened|looked|ran|edited|changed|wrote|checked|fixed|listed|searched|committed|pushed)\b"
    r"(?!.*\b(?:because|since|so|otherwise|but|only|learned|turned out|unless|instead)\b).*",
    re.IGNORECASE,
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
_PAIR = re.compile(r"[\w .-]{1,60}\s*[:=]\s*(?P<value>\S[^\n]{0,60})")
_COUNTER = re.compile(
    r"\b(?:count(?:er)?|number of|how many|times|retries|attempts|total|"
    r"last (?:run|id|date|version|processed|seen|sync)|next (?:id|number|page)|"
    r"cursor|offset|page \d+|version \d|\d+ of \d+)\b",
    re.IGNORECASE,
)
_ORDER = re.compile(r"(?:always|never|do not|don't|avoid|must|should|make sure|ensure)\s+\S", re.IGNORECASE)
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
    if _RESULT.fullmatch(text) or _DID.fullmatch(text):
        return Tier("ephemeral", "it tells what happened in this run: write down what it teaches")
    small = not is_prose(text)
    if small and (_is_value(text) or (_COUNTER.search(text) and re.search(r"\d", text)) or _is_pair(text)):
        return Tier("state", "it is small and looked up by its key", "learnloop state set KEY VALUE")
    if small and _COUNTER.search(text) and not _RULE.search(text):
        return Tier("state", "it is a counter, looked up by its key", "learnloop state incr KEY")
    return Tier("lesson", "it is a rule, a decision or a costly fact, found by what it is about", "learnloop note")


def _is_value(text: str) -> bool:
    return bool(re.fullmatch(r"[-+]?\d+(?:\.\d+)?|true|false|null|\{.*\}|\[.*\]", text, re.DOTALL))


def _is_pair(text: str) -> bool:
    """Whether a text is a key with a value; what ends like a sentence, or has words enough for one, is none."""
    pair = _PAIR.fullmatch(text)
    if pair is None or _RULE.search(text) or text[-1] in ".!?":
        return False
    return len(pair["value"].split()) <= 2 or re.search(r"[\d,]", pair["value"]) is not None


def is_prose(text: str) -> bool:
    """Whether a text tells something in words: that is a lesson, no state."""
    flat = fold(text)
    sentence = re.search(r"[.!?]\s+\S", flat) is not None
    rule = _RULE.search(flat) is not None and len(flat.split()) > 4
    rule |= _ORDER.match(flat) is not None
    return "\n" in text.strip() or sentence or rule or len(flat.split()) > PROSE_WORDS or len(flat) > PROSE_CHARACTERS
