"""Characters that nobody sees: found, unless they do what they are for (design §10)."""

from __future__ import annotations

import time

import pytest

from learnloop_md.hidden import hidden, without

RIGHTFUL = {
    "an emoji of several": "\U0001f469\u200d\U0001f4bb and \U0001f3f3\ufe0f\u200d\U0001f308",
    "a Devanagari joiner": "\u0915\u094d\u200d\u0937",
    "a Persian non-joiner": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "an emoji variant": "\u2764\ufe0f \u2714\ufe0e 1\ufe0f\u20e3 #\ufe0f\u20e3",
    "a variant of an ideograph": "\u8fbb\U000e0100 \u795e\ufe00",
    "a mark in a right-to-left line": "\u05d0\u05d1\u200f (C\u200e)",
    "a regional flag": "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "a byte order mark in front": "\ufeffText",
    "an Arabic number sign": "\u0600\u0661",
    "a visible accent": "cafe\u0301",
}
HIDDEN = {
    "a zero-width space": ("in\u200bside", "hidden-unicode"),
    "a joiner between letters": ("in\u200dside", "hidden-unicode"),
    "a byte order mark inside": ("in\ufeffside", "hidden-unicode"),
    "tags": ("a\U000e0068", "hidden-unicode"),
    "tags behind a flag": ("\U0001f3f4\U000e0068\U000e007f", "hidden-unicode"),
    "a variation selector behind a letter": ("a\ufe0f", "hidden-unicode"),
    "two variation selectors": ("\u2764\ufe0f\ufe0f", "hidden-unicode"),
    "supplementary selectors": ("\U0001f600\U000e0152", "hidden-unicode"),
    "a filler": ("a\u3164b", "hidden-unicode"),
    "an invisible operator": ("a\u2063b", "hidden-unicode"),
    "an override": ("a\u202egpj", "bidi-control"),
    "an isolate": ("\u05d0\u2066b\u2069", "bidi-control"),
    "a mark in a left-to-right line": ("\u05d0\nab\u200fc", "bidi-control"),
}


@pytest.mark.parametrize("text", RIGHTFUL.values(), ids=list(RIGHTFUL))
def test_what_is_rightly_unseen_stays(text: str) -> None:
    assert (list(hidden(text)), without(text)) == ([], text)


@pytest.mark.parametrize(("text", "code"), HIDDEN.values(), ids=list(HIDDEN))
def test_what_hides_is_found_and_taken_out(text: str, code: str) -> None:
    found = list(hidden(text))
    assert {name for _, name in found} == {code}
    assert without(text) == "".join(c for n, c in enumerate(text) if n not in {at for at, _ in found})
    assert not list(hidden(without(text)))


@pytest.mark.parametrize("bomb", ["a" + "\ufeff" * 30_000, "a\u200f" * 30_000, "\u05d0\u200f" * 30_000])
def test_no_text_makes_it_slow(bomb: str) -> None:
    """A file of 64 KiB, where each character asks what stands before it or in its line."""
    start = time.process_time()
    without(bomb)
    assert time.process_time() - start < 0.5
