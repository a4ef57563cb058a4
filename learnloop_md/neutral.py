"""Makes a text safe to stand inside a fenced, labelled block of a model's context, and still readable (design §8)."""

from __future__ import annotations

import re

from learnloop_md.hidden import without
from learnloop_md.lesson import fold

# Patterns stay strings until a text needs them: `re` keeps what it compiled.
# What other programs than a line feed take for a line's end.
_BREAKS = "\r\n|[\x0b\x0c\x85\u2028\u2029]"
_CONTROL = "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]"

# Every closing tag, as it may close the block; opening ones that mean something to a model, a harness, a renderer.
_STRONG = r"system|learnloop|human|assistant|instruction|antml|function_call|tool_|im_start|start_of_turn|SYS"
_WEAK = (
    r"user|developer|tool|function|prompt|context|memory|memories|lesson|guidance|thinking|think|invoke|parameter|admin"
    r"|important|s|eos|bos|img|meta|style|script|iframe|object|embed|svg|video|audio|(?:a|base|form|input|link|source)\s"
)
_TAG = (
    rf"(?i)[<\uff1c\ufe64](?=\s*/\s*[A-Za-z]|!--|!\[|[|\uff5c]|<\s*/?SYS|(?:{_STRONG})|\s{{1,3}}(?:{_STRONG})[\w:-]*\s*>)"
    # Behind a word it is a generic type: `List<User>`.
    rf"|(?<!\w)[<\uff1c\ufe64](?=(?:{_WEAK})s?(?![A-Za-z0-9]))"
)
_LINK = r"<(?=[A-Za-z][A-Za-z0-9+.-]{1,30}:[^\s<>]{1,2000}>)"
_TURN = r"(?i)\[(?=\s*/?\s*(?:INST|SYS|SYSTEM|USER|ASSISTANT|HUMAN)\s*\])"
# A turn of a conversation at a line's start, behind whatever markdown may stand there.
_ROLE = (
    r"(?im)^([^\S\n]*(?:(?:[>*_#~`|+\[({\"'-]|\d{1,3}[.)])[^\S\n]*)*"
    r"(?:human|assistant|user|system|developer|tool|model|claude|ai|h|a)(?:[^\S\n]+(?:message|prompt|turn|note))?"
    r"[*_~`\])}\"'\t ]{0,8})([:\uff1a])"
)
_REFERENCE = r"(?m)^([^\S\n]{0,8}\[[^\]\n]{1,200}\])(?=:)"
_IMPORT = r"(?<![\w@.+-])@(?=[\w~./\\$-])"
# In a code span an import is text: `@types/node` stays what one types.
_SPAN = r"`[^`\n]+`"
_PACKAGE = r"@[a-z0-9][\w.-]*(?:/[\w.-]+)?(?![\w./\\-])"
_COMMAND = r"(?<=!)(?=`)|(?<=```)(?=!)"
_ANY = r"[^ -~\n]|[<@!:\[\]]"  # what all of these need; most texts hold none
_SCHEME = r"(?i)\b(file|javascript|vbscript|data|blob|smb|vscode[\w-]*|cursor|claude|ms-[\w-]{1,30})(?=:[^\s:])"


def neutral(text: str) -> str:
    """text for a model's context: nothing hidden, no control, tag, turn, import, command or link left live.

    What is taken out of force stays readable; line feeds stay. Idempotent.
    """
    if not re.search(_ANY, text):
        return text
    if not (text.isascii() and text.isprintable()):
        text = without(re.sub(_BREAKS, _line_break, text)).lstrip("\ufeff")
        text = re.sub(_CONTROL, _escape, text)
    if "<" in text or "\uff1c" in text or "\ufe64" in text:
        text = re.sub(_TAG, "&lt;", re.sub(_LINK, "&lt;", text))
    text = re.sub(_ROLE, r"\1\\\2", text)
    if "@" in text:
        text = re.sub(_IMPORT, "@ ", text) if "`" not in text else _imports(text)
    text = re.sub(_COMMAND, " ", text)
    if "[" in text:
        text = re.sub(_REFERENCE, r"\1\\", re.sub(_TURN, r"[\\", text))
        text = text.replace("![", "! [").replace("](", "] (")
    return re.sub(_SCHEME, r"\1\\", text)


def safe(text: str) -> str:
    """A text of a lesson on one line, made harmless."""
    return fold(neutral(fold(text)))


def _line_break(match: re.Match[str]) -> str:
    return "\n" if match[0] == "\r\n" else " "


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def _imports(text: str) -> str:
    spans = [match.span() for match in re.finditer(_SPAN, text)]
    pieces, done, at = [], 0, 0
    for match in re.finditer(_IMPORT, text):
        while at < len(spans) and spans[at][1] <= match.start():
            at += 1
        coded = at < len(spans) and spans[at][0] < match.start()
        if not (coded and re.match(_PACKAGE, text[match.start() : match.start() + 220])):
            pieces.append(text[done : match.start()] + "@ ")
            done = match.end()
    return "".join((*pieces, text[done:]))
