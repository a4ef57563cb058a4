"""Finds texts that would steer a model against its people: hidden characters, orders, leave to act (design §10)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from learnloop_md import readings
from learnloop_md.hidden import hidden, without
from learnloop_md.hints import Hints
from learnloop_md.poison_shapes import AUTONOMY, FORMS, INSTRUCTION, WHY, Form
from learnloop_md.poison_words import ACTING, BROAD, DANGEROUS, HARMLESS, TEXTS, UNATTENDED


class Poison(NamedTuple):
    """What is wrong with a text: a reason code, the line (from 1) and words that do not repeat it."""

    code: str
    line: int
    message: str


def find(text: str) -> Poison | None:
    """The first thing in text that a person has to look at before a model may, None where there is none."""
    return next(_all(text), None)


def every(text: str) -> list[Poison]:
    """All that a person has to look at in a text, by line."""
    return sorted(_all(text), key=lambda row: row.line)


def _all(text: str) -> Iterator[Poison]:
    if first := next(hidden(text), None):
        at, code = first
        what = "a direction control" if code == "bidi-control" else "hidden characters"
        yield Poison(code, text.count("\n", 0, at) + 1, f"holds {what}")
    text = without(text)
    rows = [(line, tuple(readings.readings(said))) for line, said in _paragraphs(text)]
    # Most texts hold few of the words that the forms need, and patterns are dear.
    words = _hints().held("\n".join(said for _, some in rows for said in some))
    for line, some in rows if words else ():
        if code := _judged(some, words):
            yield Poison(code, line, WHY[code])
    backwards = not words.isdisjoint(readings.BACKWARDS)
    for line, said in readings.respelled(text, backwards=backwards) if words else ():
        if code := _judged(readings.readings(said)):
            yield Poison(code, line, WHY[code])
    for line, said in readings.unseen(text):
        if code := _judged(readings.readings(said)) or (INSTRUCTION if re.search(_ORDER, said) else ""):
            yield Poison(code, line, "gives an order where no reader sees it")
    for line, inner in readings.encoded(text):
        for _, said in _paragraphs(inner):
            if code := _judged(readings.readings(said)):
                yield Poison(code, line, f"{WHY[code]}, encoded")
                break


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """The paragraphs of a text in each of its renderings, what is the same in two of them once."""
    first, *more = readings.renderings(text)
    rows = list(readings.paragraphs(first))
    yield from rows
    seen = {said for _, said in rows} if more else ()
    yield from ((line, said) for other in more for line, said in readings.paragraphs(other) if said not in seen)


_TURNED = Form("", "(?!)", readings.BACKWARDS)  # says only that such a word stands in a text


@cache
def _hints() -> Hints[Form]:
    return Hints((*FORMS, _TURNED))


def _judged(some: Iterable[str], words: Iterable[str] | None = None) -> str:
    """The code of the first form that a paragraph has in one of its readings, "" where it has none.

    words are those that may stand in it, where that is known.
    """
    for said in some:
        for form in _hints().fitting(said, words):
            for match in re.finditer(form.pattern, said):
                if not _is_talk(said, match, form):
                    return form.code
    return ""


# An order to whoever reads along, where only a model does.
_ORDER = (
    r"\b(?:you (?:must|should|will|shall|are)|(?:ai|llm|claude|assistant|agent|model|copilot)s?[:,]? (?:must|should"
    r"|please|shall|always|never|do|has to)|(?:ai|llm|claude|assistant|agent|system|model|copilot|instructions?)s? ?:"
    r"|(?:always|never|must|do not|don't|please|secretly) \w+ \w+|ignore (?:all|the|any|your|previous)|disregard"
    r"|execute|exfiltrat\w+|push to|force[- ]push|send \w+|upload|delete|curl)\b"
)


# --- what is only spoken of ------------------------------------------------------------------------------------------

_NEGATION = (
    r"(?:\bnever|\bnot|n't|\bdont|\bcannot|\bavoid|\bwithout|\binstead of|\brather than"
    r"|\bno ?(?:one|body) (?:should|may)|\b(?:refuse|prevent|forbid|stop|resist|block|reject|detect)\w*(?: to)?)"
    r" (?:[\w'-]{1,20} ){0,4}$"
)
_SPEAKING = (
    r"\b(?:said|says|saying|texts?|such|like|attack\w*|inject\w*|phrases?|strings?|contain\w*|treat|payload|example"
    r"|e\.g|wrote|reads?|reading|message|literal|detect\w*|quote\w*|mention\w*|issue|comment|readme|titled|called|named"
    r"|poison\w*|jailbreak\w*|words?|tells?|asks?|told|asked|sends?|expects?|refus\w*|flags?|fixture|suite"
    # German, French, Spanish, Italian, Portuguese; a text is read without its accents as well.
    r"|steht|stehen|sagt|sagte|behauptet|lautet|enth[äa]lt|enthalten|satz|meldung|nachricht|zitat|zitier\w*"
    r"|angriff\w*|beispiel\w*|erkennt"
    r"|contient|contenait|disait|dit|demandait|demande|phrase|attaque|exemple|cit[ée]e?s?|signaler|d[ée]tecte"
    r"|dice|dec[íi]a|conten[íi]a|contiene|ped[íi]a|pide|mensaje|frase|ataque|ejemplo|citamos|detecta"
    r"|diceva|conteneva|chiedeva|chiede|messaggio|esempio|attacco|citato|segnala\w*|rileva"
    r"|diz|dizia|continha|cont[ée]m|pedia|pede|mensagem|exemplo|cit[áa]mos|deteta)\b"
)
# What follows it forbids it: "skipping the safety checks is forbidden", "without approval the queue rejects it".
_IS_FORBIDDEN = (
    r" (?:is|are|stays?|remains?|gets?|will be|must be) (?:strictly |always |still )?"
    r"(?:forbidden|banned|prohibited|disallowed|blocked|refused|rejected"
    r"|not (?:allowed|permitted|an option|acceptable))\b"
)
# What nobody does without asking: "never push without asking", where only the deed may follow the negation.
_ONLY_ASKED = (
    rf"\b(?:never|do not|don't|dont|must not|may not|cannot|can't|no ?(?:one|body) (?:may|should)) "
    rf"(?={DANGEROUS}|(?:run|execute|commit|change|edit|remove|install|write|migrate|use)\b)"
    r"(?:(?!and |but |then |just |or )[\w'./-]{1,30} ){1,8}$"
)
_REFUSES = (
    r"(?: (?:from|of|by)(?: [\w'-]{1,20}){1,3}?)?,?(?: (?:the|an?|our|this|that|any|every|each) "
    r"(?!user|human|person|owner)(?:[\w'-]{1,20} )?| )[\w'-]{1,20} (?:rejects?|refuses?|blocks?|denies|fails|stops"
    r"|(?:is|are|gets?) (?:rejected|refused|blocked|denied|stopped|not)|cannot|can't|may not|must not)\b"
)
_QUOTES = (("'", "'"), ('"', '"'), ("`", "`"), ("“", "”"), ("‘", "’"), ("«", "»"), ("»", "«"), ("„", "“"), ("„", "”"))
_SENTENCE_ENDS = (". ", "; ", "! ", "? ")


def _is_talk(said: str, match: re.Match[str], form: Form) -> bool:
    """Whether what looks like poison forbids it, speaks of it, or allows what anyone may do."""
    if not form.negates and re.search(_NEGATION, said[_sentence(said, match.start())[0] : match.start()]):
        return True
    if _is_mention(said, match) or _is_forbidden(said, match, form) or _is_harmless(said, match, form):
        return True
    return _is_sample(said, match) or _is_narrow(said, match, form)


def _is_forbidden(said: str, match: re.Match[str], form: Form) -> bool:
    """Whether the words behind a match forbid it, or say what is refused where it is so."""
    if not form.negates:
        return bool(re.match(_IS_FORBIDDEN, said[match.end() : match.end() + 100]))
    begins = not said[_sentence(said, match.start())[0] : match.start()].strip()
    return begins and match[0].startswith("without") and bool(re.match(_REFUSES, said[match.end() : match.end() + 200]))


def _is_mention(said: str, match: re.Match[str]) -> bool:
    """Whether a match stands in quotes in a sentence that speaks of it: talk about attacks is no attack."""
    start, end = match.span()
    for opening, closing in _QUOTES:
        at = said.rfind(opening, max(0, start - 120), start)
        while at > 0 and opening == "'" and said[at - 1].isalnum():
            at = said.rfind(opening, max(0, start - 120), at)
        until = said.find(closing, end, end + 160) if at >= 0 else -1
        if until >= 0 and closing not in said[at + 1 : start]:
            around = said[max(0, at - 120) : at] + " " + said[until + 1 : until + 120]
            return bool(re.search(_SPEAKING, around))
    return False


# "tests use the string … as input", "the phrase … is in the corpus": whose text it is, and what becomes of it.
_SAMPLE = rf"\b(?:the|an?|our|its|this|like|such as) (?:\w+ )?{TEXTS} (?:like |such as )?$"
_SAMPLED = (
    r"(?:[\w' -]{0,40}? | |, )(?:as (?:an? |the |its |their |one of (?:the |its |our )?)?(?:\w+ )?(?:input|example"
    r"|sample|seed"
    r"|placeholder|fixture|payload|test|query|value|argument|name|title)s?\b"
    r"|(?:is|are|was|stands|comes|came) (?:(?:in|from|among|part of) )?(?:the |an? |our |one )?(?:[\w-]{1,20}"
    r" ){0,2}?(?:examples?"
    r"|samples?|seeds?|canary|payloads?|attacks?|input|entry|row|case|fixtures?|placeholder|tests?|suite|corpus|set"
    r"|tables?"
    r"|lists?|scanner|filter|dataset|logs?|refused|blocked|caught|flagged|rejected|quarantined)\b"
    r"|(?:and|which|that) (?:expects?|asserts?|compares?|checks?|gets?|must be (?:refused|flagged|blocked))\b"
    r"|in (?:any|each|every|upper|lower|mixed) case\b|(?:through|to) (?:the |our )?(?:\w+ )?(?:filter|scanner|sanitizer"
    r"|classifier|bot|parser|clean\(\))|(?:to|for) test|(?:the|our) canary\b|(?:written|filed|posted|sent) by\b)"
)
_HEEDED = (
    r"\b(?:obey\w*|follow\w*|heed\w*|comply\w*|honou?r\w*|do (?:it|so|what)|act(?:ing)? on|orders?|commands?|you"
    r"|(?:must|should)(?! (?:match|be|catch|flag|refuse|reject|fail|pass)\b)|shall|have to|says?|demands?|curl|wget"
    r"|run|execute)\b"
)


def _is_sample(said: str, match: re.Match[str]) -> bool:
    """Whether a match is named as a text that something is done with, and no one is told to heed it."""
    begin, end = _sentence(said, match.start())
    before, after = said[begin : match.start()], said[match.end() : end]
    named = re.search(_SAMPLE, before) and re.match(_SAMPLED, after)
    return bool(named) and not re.search(_HEEDED, f"{before} {after}")


_ONE_RULE = (
    r"(?!.*\b(?:all|any|every|each|other|system|safety|hidden|built-in)\b)\w+(?: \w+)? (?:the|that|those|our|your|my"
    r"|an?) "
)
_ITS_TOPIC = r" (?:about|on|for|in|of|(?:(?<=instruction )|(?<=guideline )|(?<=rule ))to) "


def _is_narrow(said: str, match: re.Match[str], form: Form) -> bool:
    """Whether one rule about one matter of the work is dropped, not what the model is bound to."""
    if not form.narrows or not re.match(_ONE_RULE, match[0]):
        return False
    _, end = _sentence(said, match.start())
    topic = re.compile(_ITS_TOPIC).match(said, match.end(), end)
    rest = re.sub(" if you (?:are|use) ", " ", said[match.end() : end])
    return bool(topic) and not re.search(rf"\b{BROAD}\b|{DANGEROUS}|{ACTING}", rest)


def _is_harmless(said: str, match: re.Match[str], form: Form) -> bool:
    """Whether leave to act alone is given for what anyone may do: reading, tests, the formatter."""
    if form.code != AUTONOMY or not form.negates:
        return False
    if re.match(HARMLESS, said[match.end() : match.end() + 100]):
        return True
    if _is_unattended(said, match, form):
        return True
    if not form.risky:
        return False
    begin, end = _clause(said, match.start(), match.end())
    if match[0].startswith("without") and re.search(_ONLY_ASKED, said[begin : match.start()]):
        return True
    return not re.search(f"{DANGEROUS}|{ACTING}", f"{said[begin : match.start()]} {said[match.end() : end]}")


_THERE = rf" (?:in|inside|within|from) (?:the |an? |our |your |any |all )?(?:[\w-]{{1,20}} ){{0,2}}?{UNATTENDED}\b"
_IT_DOES = (
    rf"(?:the |our |an? |all |this |these )?(?:[\w-]{{1,20}} ){{0,2}}?{UNATTENDED} (?!may|must|should|can|shall|to\b"
    rf"|is\b|are\b)"
    r"(?:[\w-]{1,20} ){0,5}?(?:runs?|works?|exits?|finish(?:es)?|starts?|continues?|returns?) $"
)


def _is_unattended(said: str, match: re.Match[str], form: Form) -> bool:
    """Whether it is said of a program where nobody sits, not of whoever reads this."""
    begin, end = _sentence(said, match.start())
    before, after = said[begin : match.start()], said[match.end() : end]
    if form.risky:
        return bool(re.fullmatch(_IT_DOES, before.lstrip())) and not re.search(_ANYWHERE, after)
    if not re.match(_THERE, after) or re.search(_ANYWHERE, match[0]):
        return False
    return not re.search(rf"{_ANYWHERE}|{DANGEROUS}|{ACTING}", f"{before} {after}")


_ANYWHERE = r"\b(?:you|your|me|users?|human|person|owner|agents?|assistant|claude|anywhere|everywhere|else|or|and)\b"


def _clause(said: str, start: int, end: int) -> tuple[int, int]:
    """Where the clause of a match begins and ends: at a full stop, else at a comma that has words on its other side."""
    begin, close = _sentence(said, start)
    comma = said.rfind(", ", begin, start)
    begin = comma + 1 if comma > 0 and said[comma + 1 : start].strip() else begin
    comma = said.find(", ", end, close)
    return begin, comma if comma > 0 and said[begin:start].strip() else close


def _sentence(said: str, at: int) -> tuple[int, int]:
    begin = max(said.rfind(mark, 0, at) for mark in _SENTENCE_ENDS) + 1
    end = min((found for mark in _SENTENCE_ENDS if (found := said.find(mark, at)) >= 0), default=len(said))
    return begin, end
