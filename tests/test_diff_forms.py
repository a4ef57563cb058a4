"""The forms of a comparison: whatever a lesson says stays data in each, and each keeps within its limits."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from learnloop_md import diffci, diffmarkdown, difftext
from learnloop_md.answer import json_text
from learnloop_md.changes import KINDS, Change
from learnloop_md.comparison import Compared, Comparison, Found, data, fails
from learnloop_md.errors import UsageError

HOSTILE = (
    "@ada see #12 and o/r#3 GH-4 https://x.invalid www.x.invalid ![i](http://y.invalid/i.png) [l](http://z.invalid) "
    "<img src=x onerror=alert(1)> <!-- --> `c` **b** | cell | ~~s~~ $x$ </details>\n::error::x\n```\n"
    "\x1b[31mred\u202e%0A"
)


def change(kind: str = "added", slug: str = "tide", **more: Any) -> Change:
    given = Change(kind, slug, "", "Read it twice.", "candidate", "m/tide.md", 3)
    return given._replace(**more)


def compared(*changes: Change, findings: tuple[Found, ...] = (), memory: str = "m") -> Comparison:
    row = Compared(memory, "project", changes, findings, (10, 20), (("@o/all", 2),))
    return Comparison("main...HEAD", "a" * 40, "b" * 40, (row,))


def found(code: str = "missing-why", severity: str = "warning", **more: Any) -> Found:
    return Found(code, severity, "m/tide.md", 3, "no Why")._replace(**more)


# --- hostile words ----------------------------------------------------------------------------------------------------


def hostile() -> Comparison:
    texts = {"slug": HOSTILE, "before": HOSTILE, "after": HOSTILE, "why": HOSTILE, "path": HOSTILE}
    rows = [change(kind, is_loss=kind == "removed", **texts) for kind in KINDS]
    return compared(*rows, findings=(found(message=HOSTILE, path=HOSTILE),), memory=HOSTILE)._replace(asked=HOSTILE)


def outside_fences(markdown: str) -> str:
    """What GitHub renders as markdown: all but the fenced blocks."""
    return re.sub(r"(?ms)^ *(`{3,})diff\n.*?^ *\1$", "", markdown)


@pytest.mark.parametrize(
    "live",
    [
        r"@ada",
        r"(?<!&)#12",
        r"&#35;12",
        r"GH-4",
        r"https?://x",
        r"www\.x",
        r"!\[",
        r"\]\(",
        r"<img",
        r"onerror=",
        r"(?<!`)`c`",
        r"\*\*b",
        r"\| cell",
        r"~~",
        r"(?m)^::error",
    ],
)
def test_nothing_in_a_lesson_comes_alive_in_a_comment(live: str) -> None:
    text = outside_fences(diffmarkdown.rendered(hostile()))
    assert "onerror" in text
    assert not re.search(live, text)


def test_a_fence_is_longer_than_any_that_a_lesson_brings() -> None:
    words = "````\n@ada\n`````"
    text = diffmarkdown.rendered(compared(change("reworded", before="Read it.", after=words)))
    assert "@ada" in text
    assert "@ada" not in outside_fences(text)


def test_details_that_are_opened_are_closed() -> None:
    text = outside_fences(diffmarkdown.rendered(hostile()))
    assert text.count("<details>") == text.count("</details>") > 0


def test_a_terminal_is_steered_by_no_lesson() -> None:
    text = difftext.rendered(hostile())
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", text)
    assert "\\x1b[31mred\\u202e" in text


FORMS = (difftext.rendered, diffmarkdown.rendered, diffci.annotated, diffci.sarif, lambda told: json_text(data(told)))


@pytest.mark.parametrize("form", FORMS)
def test_no_form_has_a_workflow_command_of_a_lesson(form: Callable[[Comparison], str]) -> None:
    """GitHub's runner takes `::name` at a line's start and `##[name]` anywhere (pull-requests: none comes alive)."""
    said = "::error::x ##[error]x"
    texts = dict.fromkeys(("slug", "before", "after", "why", "path"), said)
    rows = [change(kind, is_loss=kind == "removed", **texts) for kind in KINDS]
    told = compared(*rows, findings=(found(message=said, path=f"nl\n{said}"),), memory=said)._replace(asked=said)
    text = re.sub(r"(?m)^::(?:notice|warning) [^:]*::", "", form(told))  # our own
    assert not re.search(r"(?m)^\s*::|##\[", text)


def test_an_annotation_is_one_line_and_its_fields_are_escaped() -> None:
    lines = diffci.annotated(hostile()).split("\n")
    assert all(re.match(r"::(?:notice|warning|error) [^:]*::", line) for line in lines)
    assert len(lines) == 2
    fields = lines[1].removeprefix("::warning ").partition("::")[0].split(",")
    assert [field.partition("=")[0] for field in fields] == ["file", "line", "title"]
    assert "%250A" in lines[1]


def test_an_error_is_an_annotation_too() -> None:
    error = UsageError("there is no\nrevision, 100%", "name: one", code="unknown-revision")
    assert diffci.told_error(error) == (
        "::error title=learnloop unknown-revision::there is no revision, 100%25 — name: one"
    )


# --- limits and proportion --------------------------------------------------------------------------------------------


def large() -> Comparison:
    texts = {"before": "old ü " * 40, "after": "new ü " * 40}
    rows = [change("removed", f"lost-{n}", is_loss=True, before="gone ü " * 40) for n in range(400)]
    rows += [change("reworded", f"said-{n}", **texts) for n in range(15)]
    return compared(*rows, *(change(slug=f"new-{n}") for n in range(9_000)), findings=(found(),) * 300)


@pytest.mark.parametrize("limit", [diffmarkdown.COMMENT_LIMIT, 20_000])
def test_a_comment_stays_under_its_limit_and_counts_what_it_leaves_out(limit: int) -> None:
    text = diffmarkdown.rendered(large(), limit)
    assert len(text.encode()) <= limit
    assert re.search(r"\d+ more parts did not find room", text)
    assert text.startswith(diffmarkdown.MARKER)
    assert "lost&#45;0" in text  # losses first


def test_a_job_summary_stays_under_its_limit() -> None:
    rows = [change("removed", f"lost-{n}", is_loss=True, before="gone ü " * 60) for n in range(4_000)]
    text = diffmarkdown.rendered(compared(*rows), diffmarkdown.SUMMARY_LIMIT)
    assert 800 << 10 < len(text.encode()) <= 900 << 10


def test_a_comment_hides_no_lesson_among_many() -> None:
    """pull-requests: it is cut between lessons, at its size; each stands with its words until then."""
    text = diffmarkdown.rendered(compared(*(change(slug=f"new-{n}", after=f"Rule {n}.") for n in range(40))))
    assert all(f"new&#45;{n}<br>" in text and f"+ Rule {n}.\n" in text for n in range(40))


@pytest.mark.parametrize(("is_loss", "sign"), [(True, "⚠️"), (False, "✅")])
def test_a_comment_with_a_loss_is_not_headed_as_good(is_loss: bool, sign: str) -> None:
    """pull-requests: losses come first."""
    assert f"### {sign} Lessons" in diffmarkdown.rendered(compared(change("archived", is_loss=is_loss)))


def test_losses_are_told_one_by_one_and_the_many_in_one_line() -> None:
    text = difftext.rendered(large())
    assert text.index("REMOVED") < text.index("ADDED")
    assert "and 8997 more added: new-3, new-4" in text
    assert len(text.splitlines()) < 1_000


def test_a_small_change_has_a_small_report() -> None:
    assert difftext.rendered(compared(change(commit="c" * 40))) == (
        "main...HEAD: 1 added\n\nm (project), about 10 → 20 tokens in every session\n"
        "  ADDED           tide  m/tide.md:3 (cccccccccc)\n"
        "                  candidate\n                  + Read it twice.\n  owners: @o/all (2)"
    )


def test_ten_annotations_of_a_kind_and_a_count_of_the_rest() -> None:
    rows = (*(found(line=n) for n in range(1, 31)), found("secret:x", "error"))
    lines = diffci.annotated(compared(findings=rows)).split("\n")
    assert [line.split(" ")[0] for line in lines] == ["::notice", "::error", *["::warning"] * 10, "::notice"]
    assert lines[-1].endswith("and 20 more warnings: learnloop diff")


# --- what programs read -----------------------------------------------------------------------------------------------


def test_the_keys_of_the_json_answer() -> None:
    told = json.loads(json.dumps(data(compared(change(is_loss=True), findings=(found(),)))))
    assert list(told) == ["asked", "base", "head", "summary", "memories", "findings"]
    (row,) = told["memories"]
    assert list(row) == ["memory", "kind", "changes", "findings", "budget", "owners"]
    assert set(row["changes"][0]) == {"kind", "slug", "before", "after", "why", "path", "line", "loss", "commit"}
    assert set(row["findings"][0]) == {"code", "severity", "path", "line", "message", "commit"}
    assert (row["budget"], row["owners"]) == ({"before": 10, "after": 20}, {"@o/all": 2})
    assert told["summary"] == {"changes": {"added": 1}, "losses": 1, "errors": 0, "warnings": 1}


def test_sarif_has_what_version_2_1_0_requires() -> None:
    """Required properties of the schema, and what code scanning asks for besides."""
    rows = (found(), found(line=9), found("secret:github-pat", "error", path="a b/ü%.md", message=HOSTILE))
    log = json.loads(diffci.sarif(compared(findings=rows)))
    assert (log["version"], log["$schema"][-16:]) == ("2.1.0", "sarif-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "learnloop"
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(set(ids)) == len(ids) == 2
    assert all(rule["shortDescription"]["text"] for rule in driver["rules"])
    for result in run["results"]:
        assert result["message"]["text"]
        assert result["level"] in {"none", "note", "warning", "error"}
        assert ids[result["ruleIndex"]] == result["ruleId"]
        (location,) = result["locations"]
        place = location["physicalLocation"]
        assert re.fullmatch(r"(?:[\w./~-]|%[0-9A-F]{2})+", place["artifactLocation"]["uri"], re.ASCII)
        assert place["artifactLocation"]["uriBaseId"] == "%SRCROOT%"
        assert place["region"]["startLine"] >= 1
    marks = [result["partialFingerprints"]["learnloopId/v1"] for result in run["results"]]
    assert len(set(marks)) == 3


def test_a_fingerprint_stays_when_lines_move() -> None:
    def marks(line: int) -> list[str]:
        log = json.loads(diffci.sarif(compared(findings=(found(line=line, message=f"as line {line} does"),))))
        return [result["partialFingerprints"]["learnloopId/v1"] for result in log["runs"][0]["results"]]

    assert marks(3) == marks(30)


def test_no_findings_are_a_valid_log_without_results() -> None:
    assert json.loads(diffci.sarif(compared()))["runs"][0]["results"] == []


@pytest.mark.parametrize(
    ("wanted", "answer"),
    [
        ([], False),
        (["never"], False),
        (["error"], True),
        (["warning"], True),
        (["loss"], False),
        (["secret"], True),
        (["secret:x"], True),
        (["sec"], False),
        (["added"], True),
        (["removed"], False),
    ],
)
def test_what_a_comparison_fails_on(wanted: list[str], answer: bool) -> None:
    assert fails(compared(change(), findings=(found("secret:x", "error"),)), wanted) is answer
