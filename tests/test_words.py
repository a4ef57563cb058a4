"""Stems, roots and search terms of a text."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnloop_md.reading import SMALL
from learnloop_md.vocabulary import ANTONYMS, KIN, SYNONYMS
from learnloop_md.words import STOP, cut, root, stem, terms


@pytest.mark.parametrize(
    "group",
    [
        "test tests tested testing",
        "rebase rebasing rebased",
        "policy policies",
        "automatic automatically",
        "lazy lazily",
        "normalise normalize normalised normalizing",
        "repo repository repositories",
        "delete remove removing erase",
    ],
)
def test_forms_of_one_word_have_one_stem(group: str) -> None:
    assert len({stem(word) for word in group.split()}) == 1, {word: stem(word) for word in group.split()}


def test_no_group_of_the_vocabulary_is_idle() -> None:
    """It joins words that are apart without it, and no pair of contraries stands there twice or is never looked at."""
    idle = [group for group in SYNONYMS.split() if len({cut(word) for word in group.split("/")}) < 2]
    idle += [group for group in KIN.split() if len({root(word) for word in group.split("/")}) < 2]
    pairs = Counter(frozenset(map(stem, pair.split("/"))) for pair in ANTONYMS.split())
    assert idle + [sorted(pair) for pair, times in pairs.items() if times > 1 or pair & STOP - SMALL] == []


@pytest.mark.parametrize("pair", ["class clash", "need knee", "apply app", "status state", "commit comment"])
def test_other_words_have_other_stems(pair: str) -> None:
    one, other = pair.split()
    assert stem(one) != stem(other)


@pytest.mark.parametrize("group", ["deploy deploys deployed deployment", "serialize serializer serialization"])
def test_a_root_is_bolder_than_a_stem(group: str) -> None:
    assert len({root(word) for word in group.split()}) == 1


def test_a_name_is_found_whole_and_by_its_parts() -> None:
    """One looks for a name by any part of it (R003-31)."""
    found = {word.lower() for _, word in terms("`loadRows` and `dump_rows`")}
    assert {"loadrows", "load", "rows", "dump_rows", "dump"} <= found


def test_cjk_is_cut_into_pairs_of_characters() -> None:
    assert [term for term, _ in terms("提交前运行 test")] == ["提交", "交前", "前运", "运行", "test"]


@given(st.text(max_size=200))
def test_any_text_has_terms_and_never_an_empty_one(text: str) -> None:
    assert all(term and word for term, word in terms(text))
