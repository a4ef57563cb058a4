"""Whether letters make a word that somebody could say, in one of the languages written with Latin ones."""

from __future__ import annotations

# What often follows a letter inside words of English, German, French, Spanish, Italian, Portuguese and of programs.
_FOLLOWS = (
    "a:bcdgiklmnprstuvy b:aeilorsu c:acehiklortu d:aeilorsu e:abcdefgilmnprstvwxy f:aefiloru g:aehinorsu h:aeiou"
    " i:abcdefglmnoprstvz j:ao k:aeios l:adeilostuy m:abeimopu n:acdefgiknostu o:bcdglmnoprstuvw p:aehiloprtu q:u"
    " r:acdegikmnorstuy s:acehiklopstuy t:acehilorstuy u:abcdeilmnprst v:aei w:aeio y:p z:e"
)
_PAIRS = frozenset(f"{first}{then}" for first, _, rest in (x.partition(":") for x in _FOLLOWS.split()) for then in rest)
_LEAST = 8  # letters; of fewer nobody can tell


def unspeakable(letters: str) -> bool:
    """Whether too few pairs of the letters are those of words.

    1 in 150 words is taken for none, 1 in 15 of twelve random small letters for one.
    """
    said = letters.lower() if letters.isupper() else letters[:1].lower() + letters[1:]
    usual = sum(said[at : at + 2] in _PAIRS for at in range(len(said) - 1))
    return len(said) >= _LEAST and usual * 20 <= 11 * (len(said) - 1)
