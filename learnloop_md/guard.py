"""Keeps secrets out of a memory (R004-20): finds them in any text, refuses without repeating them."""

import re
import unicodedata
from binascii import a2b_base64, a2b_hex
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from learnloop_md.errors import RefusedError
from learnloop_md.examples import passed_off
from learnloop_md.hints import Hints
from learnloop_md.readings import LOOKS, STYLED
from learnloop_md.secret_shapes import CONTEXTS, TOKENS, UUID, WHOLE, Shape
from learnloop_md.speakable import unspeakable

_DOCUMENTED = ("EXAMPLE", "EXAMPLEKEY")  # how the keys of AWS's manuals end
_CALLED_LIVE = " of a manual, called a live one: if it is an example, say so"
SECRETS_HINT = "keep secrets in a password manager or an environment variable; name the variable in the lesson instead"


class Secret(NamedTuple):
    """Where a secret stands and what it looks like; never the secret itself."""

    kind: str
    label: str
    line: int
    column: int
    hiding: str = ""  # what hid it from a plain search, "" where nothing did

    @property
    def code(self) -> str:
        """The reason code: how it was hidden, else its kind."""
        return f"secret:secret-{self.hiding}" if self.hiding else f"secret:{self.kind}"


class _Folded(NamedTuple):
    """A text made plain, and for each place where it moved: the position in it and in the text before."""

    text: str
    starts: list[int]
    origins: list[int]

    def origin(self, position: int) -> int:
        piece = bisect_right(self.starts, position) - 1
        return self.origins[piece] + position - self.starts[piece]


# Patterns stay strings until a text needs them: compiling them all at import takes 7 ms.
# What hides a token from a pattern but not from its reader: anything outside printable ASCII, a line continued with a
# backslash, an escaped underscore, slash or dash, a letter as a code of YAML and JSON, entities, letters in percent
# signs, emphasis and code spans inside a word. What any of that begins with stands first: a search skips all else fast.
_NOISE = (
    r"[^\t\n\r -$'-)+-;=-\[\]-_a-}](?:(?<![%&*<\\`~])"
    r"|(?<=\\)(?:\r?\n[ \t]*|(?=[_/-])|\\{0,7}(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U000[0-9a-fA-F]{5}|[01][0-7]{2}))"
    r"|(?<=&)(?:#\d{2,6}|#[xX][0-9a-fA-F]{1,5}|[A-Za-z]{2,30});|(?<=<)(?:wbr ?/?>|!--[ \t]*-->|/?(?:[bius]|em|strong"
    r"|code|span|tt|kbd|su[bp]|mark|small|del|ins|font)(?: [^<>\n]{0,100})?>)"
    r"|(?<=%)(?:2[dD]|3\d|[46][1-9a-fA-F]|[57][\daA]|5[fF])|(?<=\w[*`])[*`]{0,5}(?=\w)|(?<=\w~)~(?=\w))"
)
# A line break, or the seam of two string literals.
_BREAK_IN_WORD = r"[\r\n\"'](?:(?<=\n)[ \t>]*|(?<=\r)\n[ \t>]*|(?<=([\"']))[ \t]{0,8}[+.]?\s{0,40}\1)(?=[\w+/=.-])"
_BASE64 = r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{24,}={0,2}"
# Letters that stand apart, with the same sign between them; patterns that begin with one sign are quick.
_APART = (r" [\w-],? [\w-],? ", r"-[\w-]-[\w-]-", r"\.[\w-]\.[\w-]\.")
# It takes all it can: a search that gave letters back at each letter of a long run would take seconds.
_SPELLED = r"(?<!\w)[\w-]([ .,-]{1,3})[\w-](?:\1[\w-]){16,}+"


def find_secrets(text: str) -> list[Secret]:
    """The secrets in text in order, one per place, with lines and columns of text as given (both from 1).

    Invisible characters, look-alikes of ASCII and line breaks inside a token do not hide it.
    """
    folded = _fold(text, _NOISE, _plain)
    taken = bytearray(len(folded.text))
    joined = _fold(folded.text, _BREAK_IN_WORD, lambda _: "")
    # What is joined begins with a line's end or a quote, as no word does: whatever stood in the text stands in it.
    tokens, contexts = _fitting(joined.text)
    hits = [
        *_matches(folded.text, taken, tokens, contexts),
        *_broken_tokens(joined, taken, tokens),
        *_encoded(folded.text, taken),
    ]
    found = [(folded.origin(start), folded.origin(end - 1) + 1, shape) for start, end, shape in hits]
    return list(_located(text, sorted(found, key=lambda hit: hit[0]))) if found else []


# Words and short numbers: what most names are made of, and no secret.
_ORDINARY = r"[a-z]{1,19}\d{0,5}(?:\.md)?|\.?(?:[a-z]{1,19}|\d{1,4})(?:[./_-](?:[a-z]{1,19}|\d{1,4}))*"


def in_name(path: str) -> list[Secret]:
    """The secrets in a path; an ordinary one costs next to nothing."""
    return [] if _compiled(_ORDINARY).fullmatch(path) else find_secrets(path)


@lru_cache(maxsize=1024)  # a few authors stand in all commits
def unsecret(text: str) -> str:
    """A text that may be shown: one with a secret in it is not."""
    return "(holds what looks like a secret)" if in_name(text) else text


def unsecret_path(path: str) -> str:
    """A path that may be shown: without the names in it that hold a secret."""
    return unsecret("/".join(map(unsecret, path.split("/"))))


def places(text: str) -> Counter[tuple[str, str]]:
    """The secrets of a text by kind and by the line they stand in, so that a changed one is told from an old one."""
    lines = text.split("\n")
    return Counter((secret.kind, lines[secret.line - 1].strip()) for secret in find_secrets(text))


def refuse_secrets(fields: Mapping[str, str]) -> None:
    """Nothing, when no field holds a secret.

    Raises RefusedError(code="secret:<kind>", or how it was hidden) saying where the first is and what it looks like.
    """
    for name, text in fields.items():
        for found in find_secrets(text):
            raise _refused(name, found)


def refuse_new(path: str, before: str, after: str) -> None:
    """Nothing, when a text holds no secret that its older one did not have. Raises RefusedError for the first."""
    if not (found := find_secrets(after)):
        return
    known, lines = places(before), after.split("\n")
    for secret in found:
        place = (secret.kind, lines[secret.line - 1].strip())
        if not known[place]:
            raise _refused(path, secret)
        known[place] -= 1


def _refused(name: str, found: Secret) -> RefusedError:
    message = f"{name} holds a secret at line {found.line}, column {found.column} ({found.label})"
    return RefusedError(message, SECRETS_HINT, code=found.code)


def _located(text: str, found: Iterable[tuple[int, int, Shape]]) -> Iterator[Secret]:
    breaks = [-1, *(match.start() for match in re.finditer("\n", text))]
    fences = [match.end() for match in _compiled(r"(?m)^[ \t]*(?:```|~~~)").finditer(text)]
    for start, end, shape in found:
        line = bisect_left(breaks, start)
        hiding = ""
        if shape in _tokens():
            hiding = _hiding(text[start:end], fenced=bisect_right(fences, start) % 2 == 1)
        is_documented = shape.kind.startswith("aws-") and text[start:end].endswith(_DOCUMENTED)
        label = shape.label + (_CALLED_LIVE if is_documented else "")
        yield Secret(shape.kind, label, line, start - breaks[line - 1], hiding)


def _hiding(token: str, *, fenced: bool) -> str:
    """What keeps a plain search, or a reader who skips code, from finding a token."""
    if "\n" in token:
        return "split-by-newline"
    if not token.isascii():
        return "split-by-zero-width"
    return "in-code-fence" if fenced else ""


# --- Making a text plain ---------------------------------------------------------------------------


def _fold(text: str, noise: str, plain: Callable[[str], str]) -> _Folded:
    pieces: list[str] = []
    starts, origins = [0], [0]
    done = size = 0
    for match in _compiled(noise).finditer(text):
        new = plain(match[0])
        pieces += (text[done : match.start()], new)
        size += match.start() - done + len(new)
        done = match.end()
        if size - starts[-1] != done - origins[-1]:
            starts.append(size)
            origins.append(done)
    pieces.append(text[done:])
    return _Folded("".join(pieces), starts, origins)


@lru_cache(maxsize=1024)
def _plain(noise: str) -> str:
    if noise.startswith("&"):
        import html  # lazy: its table of entities

        said = html.unescape(noise)
        return noise if said == noise else "".join(c if c.isascii() else _plain(c) for c in said)
    if noise.startswith("%"):
        return chr(int(noise[1:], 16))
    if code := re.fullmatch(r"\\+(?:[xuU](\w+)|(\d+))", noise):
        said = chr(int(code[1], 16) if code[1] else int(code[2], 8))
        return said if " " <= said <= "~" or said in "\t\n\r" else _plain(said)
    if noise.isascii() or noise.startswith("<"):
        return ""
    # Format characters and marks draw nothing of their own; the four fillers are blank letters.
    if unicodedata.category(noise) in {"Cf", "Mn", "Me"} or noise in "\u115f\u1160\u3164\uffa0":
        return ""
    if unicodedata.category(noise) == "Pd":
        return "-"
    if noise in "‘’‚‛":
        return "'"
    if noise in "“”„«»":
        return '"'
    plain = unicodedata.normalize("NFKC", noise.translate(STYLED)).translate(LOOKS)
    # One sign that stands for a sentence is no part of a token, and would make the text many times longer.
    return plain if len(plain) <= 4 else " "


# --- Matching --------------------------------------------------------------------------------------


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


@cache
def _shapes() -> Hints[Shape]:
    return Hints((*TOKENS, *CONTEXTS))


@cache
def _tokens() -> frozenset[Shape]:
    return frozenset(TOKENS)


def _fitting(text: str) -> tuple[list[Shape], list[Shape]]:
    """The tokens and the contexts that may stand in a text; its words are looked up for both at once."""
    shapes = _shapes().fitting(text.lower())
    return [shape for shape in shapes if shape in _tokens()], [shape for shape in shapes if shape not in _tokens()]


def _matches(
    text: str, taken: bytearray, tokens: Sequence[Shape], contexts: Sequence[Shape]
) -> Iterator[tuple[int, int, Shape]]:
    for shape in tokens:
        for match in _compiled(shape.pattern).finditer(text):
            if _is_token(shape, match) and _take(taken, *match.span()):
                yield *match.span(), shape
    for shape in contexts:
        pattern, position, judged = _compiled(shape.pattern), 0, 0
        while found := pattern.search(text, position):
            secret = _secret_group(found)
            start, end = found.span(secret)
            told = _tells(shape, found, secret)
            if told and _take(taken, start, end):
                yield start, end, shape
            # A value that tells nothing may hold the name before one (`token: the_token=…`): look once more.
            position = end if told or start < judged else max(start, found.start() + 1)
            judged = max(judged, end)


def _broken_tokens(joined: _Folded, taken: bytearray, tokens: Sequence[Shape]) -> Iterator[tuple[int, int, Shape]]:
    for shape in tokens:
        pattern = _compiled(shape.pattern)
        for match in pattern.finditer(joined.text):
            start, end = match.span()
            seam = bisect_right(joined.starts, start)
            if seam == len(joined.starts) or end <= joined.starts[seam] or not _is_token(shape, match, joined):
                continue
            # A token that ends with its line is whole: the next word is not a part of it.
            whole = pattern.match(joined.text, start, joined.starts[seam])
            has_digit = any(character.isdigit() for character in match[0])
            if not whole and has_digit and _take(taken, joined.origin(start), joined.origin(end - 1) + 1):
                yield joined.origin(start), joined.origin(end - 1) + 1, shape


def _encoded(text: str, taken: bytearray) -> Iterator[tuple[int, int, Shape]]:
    for match in _compiled(_BASE64).finditer(text):
        for inner in _decoded(match[0]):
            for shape in _shapes_in(inner):
                if _take(taken, *match.span()):
                    yield *match.span(), shape
    if not any(_compiled(apart).search(text) for apart in _APART):
        return
    for match in _compiled(_SPELLED).finditer(text):
        letters = match[0][:: len(match[1]) + 1]
        is_in_word = re.match(r"[\w-]", text[match.end() : match.end() + 1])  # the last one begins a word
        for shape in _shapes_in(letters[:-1] if is_in_word else letters):
            if _take(taken, *match.span()):
                yield *match.span(), shape


def _shapes_in(inner: str) -> list[Shape]:
    return [shape for _, _, shape in _matches(inner, bytearray(len(inner)), *_fitting(inner))]


def _decoded(run: str, *, rounds: int = 2) -> Iterator[str]:
    """What a run says as base64 and as hex; what was encoded once more is decoded once more."""
    bare = run.rstrip("=")
    for decode, code in ((a2b_base64, bare + "=" * (-len(bare) % 4)), (a2b_hex, bare)):
        try:
            inner = decode(code).decode()
        except ValueError:
            continue
        yield inner
        if rounds > 1 and (inside := _compiled(_BASE64).search(inner)):
            yield from _decoded(inside[0], rounds=rounds - 1)


def _take(taken: bytearray, start: int, end: int) -> bool:
    if taken.find(1, start, end) >= 0:
        return False
    taken[start:end] = b"\1" * (end - start)
    return True


def _secret_group(match: re.Match[str]) -> str | int:
    return next((name for name in ("v", "qv", "rv", "pair") if match.groupdict().get(name) is not None), 0)


# --- Judging ---------------------------------------------------------------------------------------

_SAMPLE = (
    r"([xX*.#0_-])\1{5,}|(?i:abcdefghij)|\.\.\.|"
    r"(?<![A-Za-z0-9])(?:your|my|example|sample|placeholder|dummy|fake|redacted|insert|replace|here|changeme)"
    r"(?![A-Za-z0-9])"
)
_DUMMY = (
    r"(?i)^$|^[<{\[$%]|^@\w+@$|^(.)\1*$|^([a-z]{2,6})\2+$|xxxx|\*\*\*|\.\.\.|example|placeholder|change[_-]?(?:me|it|this)|^your"
    r"|^my(?:pass(?:word)?|secret|token|key)|^test[_-]?(?:pass(?:word)?|token|secret|key|user)?\d{0,4}$"
    r"|(?<![a-z])(?:your|my|some|sample|replace|redacted|dummy|fake|insert|todo|fixme|masked|here|foo|bar"
    r"|demo)(?![a-z])"
)
# What stands where a value is spoken of, not given; and the defaults every manual prints.
_SPOKEN_WORDS = (
    "none null nil undefined empty blank true false yes no on off required optional mandatory missing "
    "invalid valid wrong correct expired revoked unset set disabled enabled default string str text bytes "
    "int integer number bool boolean object any value values variable var input prompt env environment "
    "stdin stdout file secret secrets password passwords passwd passphrase pass pwd pw token tokens key "
    "keys apikey api_key credential credentials user username admin root guest test tester postgres "
    "postgresql mysql mariadb mongo mongodb redis rabbitmq minio local localhost dev example placeholder "
    "dummy hidden redacted encrypted hashed plaintext basic bearer digest 1password bitwarden keychain "
    "keyring vault oauth oauth2 sha256 sha512 generated random rotate never always secretstr "
    "optional[str] self.password"
)
_REFERENCE = (
    r"(?:~|\.{1,2})/|/(?:etc|home|usr|var|run|tmp|opt|mnt|root|srv|app|data|dev|Users)/|[A-Za-z]:\\"
    r"|[a-z][a-z0-9+.-]*://"
    r"|(?:arn|sha\d+|md5|op|ref\+\w+|vault|ssm|env|file|ENC|secret|secrets|projects)[:/\[]|sha(?:1|256|384|512)-"
    r"|(?:process|os|import|settings|config|self|this|args|ctx|req|request|params|var|local|data|secrets|vars|env)\."
    r"|[^\s@]+@[^\s@]+\.[a-z]{2,}$|\d{4}-\d\d-\d\d"
)
_CALL = r"[A-Za-z_][\w.:]*[(\[{]|[#(]"
_NAME = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$"
_SPEAKING_NAME = r"(?i)[a-z_]*(?:pass|pwd|secret|token|key|cred)[a-z_]*"
_ALGORITHM = (
    r"(?i)(?:sha|md|argon|bcrypt|pbkdf|scrypt|oauth|base|utf|aes|rsa|tls|ssl|http|ipv|python)-?\d"
    r"|v-?\d{1,3}(?![A-Za-z\d])"
)
_NUMBER_AND_WORDS = r"\d+[+-]?[A-Za-z]+(?:-[A-Za-z]+)*"
_HARMLESS_BEFORE = (
    r"(?i)(?<![a-z])(?:csrf|xsrf|page|next|continuation|cursor|sync|[beu]os|pad|unk|sep|mask|stop|cancel(?:lation)?"
    r"|max|min|"
    r"num|total|public|pub|publishable|primary|foreign|cache|sort|partition|hash|object|dict|map|row|index|idempotency|"
    r"lookup|host|bucket|routing|unique|shortcut|s3|config|json|yaml|metric|label)[ _.-]?$"
)
_HARMLESS_TAIL = (
    r"(?i)(?:names?|ids?|files?|path|ur[li]|types?|len|length|size|counts?|limit|budget|ttl|expir\w*|field|policy|hash|"
    r"hashed|digest|header|prefix|suffix|params?|env|var|variable|ref|arn|version|manager|store|provider|endpoint"
    r"|format|"
    r"class|selector|hint|label|lifetime|usage|rate|index|position|offset|kind|scopes?|status|source|mode|rotation|"
    r"fingerprint|alg|algorithm|column|required|enabled|regex|pattern|validator|age|min|max)$"
)
_HEX = r"[0-9a-fA-F]+"
_WORD_PARTS = r"[^A-Za-z0-9!$^&*?%]+"
_WORD = r"[A-Za-z]*\d{0,4}|\d+[A-Za-z]{0,3}|(?:[Ee]d|[Xx]|[Cc]urve)\d{3,5}[A-Za-z]*"


def _is_token(shape: Shape, match: re.Match[str], joined: _Folded | None = None) -> bool:
    text, start = match.string, match.start()
    # A word may end in a prefix by chance, but an escaped line break (`\n`) is no word.
    in_word = start > 0 and text[start - 1].isalnum() and text[start - 2 : start] not in {r"\n", r"\r", r"\t"}
    if joined and joined.starts[bisect_right(joined.starts, start) - 1] == start:
        in_word = False
    documented = (
        shape.kind.startswith("aws-") and match[0].endswith(_DOCUMENTED) and not passed_off(text, *match.span())
    )
    if in_word and not _is_whole(text, start):
        return False
    return not documented and not _compiled(_SAMPLE).search(match[0])


def _is_whole(text: str, start: int) -> bool:
    """Whether what begins inside a word can be nothing but a token: of full length, and random."""
    whole = _compiled(WHOLE).match(text, start)
    return bool(whole and any(map(str.isdigit, whole[0][-16:])) and _looks_random(whole[0][-16:]))


def _tells(shape: Shape, match: re.Match[str], group: str | int) -> bool:
    value = match[group]
    groups = match.re.groupindex
    if not groups or group == 0:
        return True
    if "sep" in groups:
        return _is_assigned(shape.kind, match, value, quoted=group == "qv")
    if group == "pair":
        user, _, password = value.replace('"', "").replace("'", "").partition(":")
        value = password or user
        return ":" in match[group] and len(value) > 2 and not any(map(_is_spoken, (value, match[group])))
    if group == "rv" and (not _is_no_word(value) or (shape.kind == "spoken-secret" and _is_id(value))):
        return False
    if shape.kind == "aws-secret-key" and value.endswith(_DOCUMENTED):
        return passed_off(match.string, *match.span(group))
    return not _is_spoken(value) and not ("user" in groups and match["user"] == value)


def _is_assigned(kind: str, match: re.Match[str], value: str, *, quoted: bool) -> bool:
    before = match.string[max(0, match.start() - 20) : match.start()]
    if _compiled(_HARMLESS_BEFORE).search(before) or _compiled(_HARMLESS_TAIL).search(match["tail"]):
        return False
    if not quoted:
        value = value.rstrip(".:!?*_)]}|\\")
    if _is_spoken(value) or not value.isascii() or _is_code(value, quoted=quoted):
        return False
    tight = "=" in match["sep"]
    if "," in match["sep"] and not _looks_random(value):
        return False
    if kind == "password-assign":
        return _is_password(value, tight=tight, quoted=quoted, spaced=match["sep"].endswith((" ", "\t")))
    if " " in value:
        return False
    if kind == "generic-key":
        return len(value) >= (10 if tight else 16) and _is_mixed(value) and not _is_id(value)
    if value.isdigit():
        return len(value) >= 12 and (tight or quoted) and kind != "generic-token"
    return len(value) >= 8 and _is_no_word(value)


def _is_password(value: str, *, tight: bool, quoted: bool, spaced: bool) -> bool:
    if len(value) < 6 or " " in value:
        return False
    letters_only = value.replace("_", "").isalpha()
    if letters_only and unspeakable(value):
        return True
    if tight:
        return quoted or not (letters_only and (spaced or _compiled(_SPEAKING_NAME).fullmatch(value)))
    has_letter = any(character.isalpha() for character in value)
    has_digit = any(character.isdigit() for character in value)
    if quoted and not letters_only:
        return has_letter
    if not has_letter or _compiled(_ALGORITHM).match(value):
        return False
    if _compiled(_NUMBER_AND_WORDS).fullmatch(value) and not unspeakable(value.lstrip("0123456789+-")):
        return False
    # In prose only what no sentence holds: a mixed word, or one with a sign inside.
    return (has_digit and value.isalnum()) or _looks_random(value) or bool(re.search(r"\w[!#$%^&*+=~@]", value))


@cache
def _spoken_words() -> frozenset[str]:
    return frozenset(_SPOKEN_WORDS.split())


def _is_spoken(value: str) -> bool:
    return value.lower() in _spoken_words() or bool(
        _compiled(_DUMMY).search(value) or _compiled(_REFERENCE).match(value)
    )


def _is_code(value: str, *, quoted: bool) -> bool:
    if quoted:
        return False
    return bool(_compiled(_CALL).match(value) or (_compiled(_NAME).match(value) and not _looks_random(value)))


def _is_id(value: str) -> bool:
    return bool(_compiled(UUID).fullmatch(value) or _compiled(_HEX).fullmatch(value))


def _is_mixed(value: str) -> bool:
    digits = sum(character.isdigit() for character in value)
    return digits >= 3 and sum(character.isalpha() for character in value) >= 3 and _looks_random(value)


def _looks_random(value: str) -> bool:
    """Whether value holds a part that is neither a word, a number nor a word with a number after it."""
    parts = [
        part
        for part in _compiled(_WORD_PARTS).split(value)
        if not _compiled(_WORD).fullmatch(part) or _has_wild_case(part)
    ]
    return any(len(part) > 5 for part in parts) or len(parts) > 2


def _is_no_word(value: str) -> bool:
    return _looks_random(value) or (value.isalpha() and unspeakable(value))


def _has_wild_case(part: str) -> bool:
    rises = sum(left.islower() and right.isupper() for left, right in pairwise(part))
    return len(part) >= 12 and rises * 5 > len(part)
