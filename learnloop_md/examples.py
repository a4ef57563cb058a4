"""Whether a documentation key is passed off as a live one: what its sentence says of it (R004-20, docs/security.md)."""

from __future__ import annotations

import re

# Patterns stay strings until a text needs them.
# A key that a manual prints (`AKIA…EXAMPLE`, `…EXAMPLEKEY`); other ones beside it say nothing of it.
_KEYS = r"[A-Za-z0-9/+]{8,40}EXAMPLE(?:KEY)?(?![A-Za-z0-9])"
_THE_KEY = "\0"
_REACH = 300  # characters on each side that may speak of it
_FAR = 4_000

_PARAGRAPH_END = r"\n[ \t\r]*\n"
_SENTENCE_END = rf"{_PARAGRAPH_END}|[.!?;][\"')\]*_]*\s|\n[ \t]*(?:[-*+>|]|\d{{1,3}}[.)]|#{{1,6}}|[a-z_]{{2,20}}:)[ \t]"
_ASSIGNED = r"[=:][ \t]*[\"'`(]?$"


def passed_off(text: str, start: int, end: int) -> bool:
    """Whether the documentation key at start is called a live one, or one to keep or to sign in with.

    It is none where its paragraph says that it is an example, or speaks of keys that are looked for, or forbids it.
    """
    before, after = text[max(0, start - _REACH) : start], text[end : end + _REACH]
    line_before, line_after = before.rpartition("\n")[2], after.partition("\n")[0]
    if re.search(_ASSIGNED, line_before) and line_before.strip("\"'` \t="):  # a line of code: it stands for itself
        sentence = _said(line_before, line_after)
    else:
        sentence = _said(_tail(_SENTENCE_END, before), _head(_SENTENCE_END, after))
    if not _is_claimed(sentence):
        return False
    if sentence.endswith(("…", "..")):  # cut short, as a description is: the whole stands below
        return not _is_excused(sentence, text[max(0, start - _FAR) : end + _FAR].lower())
    return not _is_excused(sentence, _said(_tail(_PARAGRAPH_END, before), _head(_PARAGRAPH_END, after)))


def _said(before: str, after: str) -> str:
    return " ".join(re.sub(_KEYS, "", f"{before}{_THE_KEY}{after}").lower().replace("’", "'").split())


def _tail(ends: str, text: str) -> str:
    last = max((match.end() for match in re.finditer(ends, text)), default=0)
    return text[last:]


def _head(ends: str, text: str) -> str:
    match = re.search(ends, text)
    return text[: match.start()] if match else text


# --- called a live one ------------------------------------------------------------------------------------------------

_NOUN = r"(?<![a-z])(?:keys?|credentials?|creds|secrets?|tokens?|log-?ins?|access|accounts?|passwords?)(?![a-z])"
_LIVE = (
    r"(?<![a-z])(?:prod(?:uction)?|staging|real|actual|genuine|root|admin|billing|company(?:'s)?|corporate"
    r"|customer(?:'s|s')?|client(?:'s|s')?|team(?:'s)?|our|my|personal|private|deploy user(?:'s)?|service account"
    r"|live(?= (?:[\w'-]{1,20} ){0,2}(?:keys?|cred\w*|secrets?|tokens?|accounts?|bucket|site|system|server))"
    r"|(?:is|are|'s) (?:a )?live)(?![a-z])"
)
_KEEP = (
    rf"\b(?:remember|memori[sz]e|(?:do not|don't|dont|never) forget|write down|(?:to|must) keep|note down)\b.*"
    rf"{_THE_KEY}|{_THE_KEY}.{{0,80}}?\b(?:(?:keep|bear) (?:it|this) in mind|remember (?:it|this)\b)"
    rf"|\b(?:store|keep|save)\b.{{0,80}}{_THE_KEY}.{{0,20}}?\b(?:in (?:the |your |our )?memory|at hand"
    r"|for (?:later|next|future|the next))"
)
_ACT = (
    r"(?:log(?:ging|s)? ?in|sign(?:ing|s)? ?in|authenticat\w+|connect\w*|push\w*|deploy\w*|upload\w*|publish\w*"
    r"|release\w*)"
)
_USE = (
    rf"\b{_ACT}\b.{{0,60}}?\b(?:with|using|as|by|through) .{{0,40}}?{_THE_KEY}"
    rf"|\b(?:use|using|with|export) .{{0,40}}?{_THE_KEY}.{{0,40}}? (?:to|for|when|and) .{{0,40}}?\b{_ACT}"
    rf"|{_THE_KEY}.{{0,40}}?\buse it\b.{{0,40}}?\b{_ACT}"
)
_OWNED = rf"{_THE_KEY}[\"'`)]? (?:belongs to|is owned by|comes from|opens|unlocks)\b.{{0,40}}?{_LIVE}"
_GIVEN = rf"\b(?:gave|gives|handed|sent|lent|issued) (?:us|me)\b.{{0,40}}?{_THE_KEY}.{{0,20}}?\bfor\b.{{0,40}}?{_NOUN}"


def _is_claimed(sentence: str) -> bool:
    live = re.search(_LIVE, sentence) and re.search(_NOUN, sentence)
    return bool(live or any(re.search(form, sentence) for form in (_KEEP, _USE, _OWNED, _GIVEN)))


# --- spoken of as an example ------------------------------------------------------------------------------------------

_EXAMPLE = (
    r"(?<![a-z0-9])(?:examples?|samples?|document(?:ed|ation)|docs?|manuals?|tutorials?|how-?tos?|readme|snippets?|guides?"
    r"|placeholders?|dumm(?:y|ies)|fakes?|mock\w*|stub\w*|fixtures?|moto|minio|localstack|localhost|illustrat\w+|screenshots?"
    r"|templates?|(?:unit |integration |snapshot )?tests|test (?:suite|data|case|vector|file|key|run|account)s?"
    r"|invalid|instead|replace[sd]?|left (?:in|over)|your own|form|format|characters|prefix|pattern|regex\w*|such as"
    r"|looks? like|named? like|e\.g|for instance|beispiel\w*|exemple|ejemplo|esempio)(?![a-z])"
)
_LOOKED_FOR = (
    r"\b(?:scan(?:s|ner|ners|ning)?|lint\w*|detect\w*|flag(?:s|ged)|redact\w*|mask\w*|scrub\w*|filter\w*|ignor\w+"
    r"|allow-?list\w*|exempt\w*|match(?:es|ed)|parse[sd]?|gitleaks|trufflehog|betterleaks)\b"
)
_FORBIDDEN = (
    r"(?:\bnever|\bnot|n't|\bno|\bavoid|\bwithout|\brefus\w+|\breject\w*|\brather than)"
    rf"(?! (?:forget|lose|share|rotate)) (?:[\w'-]{{1,20}} ){{0,6}}?[\"'`(]?(?:{_THE_KEY}|{_LIVE})"
)


def _is_excused(sentence: str, paragraph: str) -> bool:
    return any(re.search(*pair) for pair in ((_EXAMPLE, paragraph), (_LOOKED_FOR, sentence), (_FORBIDDEN, sentence)))
