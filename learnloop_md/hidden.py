"""Characters that a reader does not see: zero-width, bidi, tags, fillers; and where they are rightly used."""

import re
from collections.abc import Iterator

# Patterns stay strings until a text needs them: `re` keeps what it compiled, and most texts are ASCII.
# Format characters and fillers that draw nothing. Arabic and Kaithi number signs are format characters too, but seen.
_UNSEEN = (
    "\U0001f3f4(?:\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074"
    "|\U000e0077\U000e006c\U000e0073)\U000e007f)"  # the flags of England, Scotland and Wales
    "|[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_MARKS = frozenset("\u061c\u200e\u200f")
_RIGHT_TO_LEFT = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"
_PICTOGRAPH = "[\u00a9\u00ae\u203c\u2049\u2100-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001fbff]"
_JOINING = "[\u0600-\u0dff\u0f00-\u109f\u1780-\u17b3\u17b6-\u180a\u1810-\u18af\ufb50-\ufdff\ufe70-\ufefc]"
_IDEOGRAPH = "[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"


def hidden(text: str) -> Iterator[tuple[int, str]]:
    """Each hidden character that does nothing rightful: its position and its reason code (design §10).

    Joiners inside emoji and joining scripts, variation selectors behind what has variants, direction marks in a
    right-to-left line, regional flags and byte order marks in front are rightful.
    """
    if text.isascii():
        return
    front = len(text) - len(text.lstrip("\ufeff"))
    kept = ""  # the nearest seen or rightful character in front
    done = line_end = 0
    leftwards = False  # whether the line that ends there holds letters that run so
    for match in re.finditer(_UNSEEN, text):
        at, found = match.start(), match[0]
        before = text[at - 1] if at > done else kept
        after = text[match.end() : match.end() + 1]
        done = match.end()
        if found in _MARKS and at >= line_end:
            start, line_end = text.rfind("\n", 0, at) + 1, text.find("\n", at) % (len(text) + 1)
            leftwards = bool(re.search(_RIGHT_TO_LEFT, text[start:line_end]))
        if len(found) > 1 or at < front or (leftwards and found in _MARKS) or _is_rightful(before, found, after):
            kept = found[-1]
            continue
        kept = before
        yield at, "bidi-control" if found in _BIDI else "hidden-unicode"


def without(text: str) -> str:
    """text without its hidden characters."""
    pieces, done = [], 0
    for at, _ in hidden(text):
        pieces.append(text[done:at])
        done = at + 1
    return "".join((*pieces, text[done:])) if pieces else text


def _is_rightful(before: str, found: str, after: str) -> bool:
    if found in "\u200c\u200d":
        if re.match(_JOINING, before) and (re.match(_JOINING, after) or found == "\u200c"):
            return True
        drawn = re.match(_PICTOGRAPH, before) or before == "\ufe0f"
        return found == "\u200d" and bool(drawn and re.match(_PICTOGRAPH, after))
    if found in "\ufe0e\ufe0f":
        return bool(re.match(_PICTOGRAPH, before)) or (before in set("#*0123456789") and after == "\u20e3")
    if "\U000e0100" <= found <= "\U000e01ef" or "\ufe00" <= found <= "\ufe02":
        return bool(re.match(_IDEOGRAPH, before))
    return "\u180b" <= found <= "\u180f" and "\u1820" <= before <= "\u18aa"
