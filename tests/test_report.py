"""The report: its figures, its page as text, and the page in a real browser (R002-42, design §11)."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from learnloop_md import reportpage
from tests.browser import Browser, started
from tests.clock import within
from tests.conftest import CopyOf, Run, git
from tests.homes import Home, make_home, new_repository

HOSTILE = "<script>document.title='owned'</script><img src=x onerror=alert(1)> & \"quoted\" 'too' --> ]]>"
BREAKOUT = "</p></details></main><h1>Owned</h1><style>*{display:none}</style>"


@pytest.fixture
def home(tmp_path: Path, copy_of: CopyOf, learnloop: Run) -> Home:
    """A memory with a past: graduated, archived, codified, disputed, hostile, removed."""
    return copy_of("reported", lambda root: filled(make_home("project", root, learnloop)), tmp_path / "repo")


def filled(home: Home) -> Home:
    home.note("Read the failing log first.", "r1", "--why", "A guess cost a day.", "--evidence", "PR 41")
    home.note("Read the failing log first.", "r2")
    home.note("Stage files by name.", "r1")
    home.note("Count rows before a backfill.", "r1")
    home.note("Mock the clock in timer tests.", "r1", "--type", "project")
    home.note(HOSTILE, "r1", "--new", "--name", "hostile", "--title", BREAKOUT, "--why", BREAKOUT, "--tag", "<b>")
    for words in (
        ("confirm", "read", "--run", "r3"),
        ("dispute", "mock", "--run", "r3", "--evidence", BREAKOUT),
        ("archive", "count", "--note", "too narrow"),
        ("pin", "read"),
        ("codify", "stage"),
    ):
        done = home.run(*words)
        assert done.code == 0, done.err
    return home


def model(home: Home) -> Any:
    return home.run("report", "--json").json


def row(home: Home, slug: str) -> Any:
    return next(row for row in model(home)["rows"] if row["slug"] == slug)


# --- the figures ------------------------------------------------------------------------------------------------------


def test_it_counts_lessons_outcomes_and_what_a_session_loads(home: Home) -> None:
    data = model(home)
    assert data["lessons"] == {"candidate": 2, "current": 1, "archived": 2, "removed": 0}
    assert data["outcomes"] == {"confirmed": 1, "disputed": 1}
    assert data["commit"] == git(home.root, "rev-parse", "HEAD")
    assert data["tokens"][-1]["tokens"] == pytest.approx(len(home.text.partition("<!--")[0]) / 4, abs=2)


def test_the_median_of_days_is_taken_from_first_sighting_to_the_one_that_graduated(home: Home) -> None:
    assert model(home)["median_days_to_graduate"] == 0
    for n, days in enumerate((3, 9)):
        rule, name = f"Rule number {n} about {'ab'[n] * 9}.", f"n{n}"
        for run, day in (("a", "2026-06-01"), ("b", f"2026-06-{1 + days:02}")):
            words = ("--same", name) if run == "b" else ("--new", "--name", name)
            done = home.learnloop("note", rule, *words, "--run", run, "--today", day, cwd=home.root)
            assert done.code == 0, done.err
    assert model(home)["median_days_to_graduate"] == 3
    assert row(home, "n1")["graduated_after"] == 9


def test_a_lesson_tells_its_stages_and_what_each_commit_changed(home: Home) -> None:
    data = row(home, "read-the-failing-log-first")
    assert [stage["state"] for stage in data["stages"]] == ["candidate", "current"]
    assert [change["change"] for change in data["changes"]] == ["pin", "confirm", "graduate", "see", "note"]
    assert data["changes"][2]["lines"] == ["- state:        candidate", "+ state:        current"]
    assert data["changes"][3]["lines"] == ["+ seen:         2026-06-01 r2"]


def test_relapses_are_told(home: Home) -> None:
    """Design §5."""
    assert model(home)["relapses"] == []
    (home.root / "CLAUDE.md").write_text("# Nothing\n")
    (found,) = model(home)["relapses"]
    assert found["slug"] == "stage-files-by-name"
    assert "relapses    1" in home.run("report").out


def test_a_removed_lesson_is_counted_and_its_past_is_kept(home: Home) -> None:
    home.file("mock-the-clock-in-timer-tests").unlink()
    assert model(home)["lessons"]["removed"] == 1
    assert row(home, "mock-the-clock-in-timer-tests")["state"] == "removed"


def test_what_a_session_loads_is_told_over_time(home: Home) -> None:
    days = [row["day"] for row in model(home)["tokens"]]
    assert days == sorted(days)
    assert len(days) >= 2


def test_a_skill_s_notebook_is_reported_too(tmp_path: Path, learnloop: Run) -> None:
    data = model(filled(make_home("skill", tmp_path / "repo", learnloop)))
    assert (data["kind"], data["memory"], data["lessons"]["current"]) == ("skill", "skill", 1)


def test_a_memory_without_git_is_reported_as_it_stands(tmp_path: Path, learnloop: Run) -> None:
    home = make_home("project", tmp_path / "plain", learnloop, with_git=False)
    home.note("Read it.", "r1")
    data = model(home)
    assert (data["commit"], data["lessons"]["candidate"], data["rows"][0]["changes"]) == ("", 1, [])


def test_a_new_memory_has_a_report(memory: Path, repo: Path, learnloop: Run) -> None:
    assert learnloop("report", "--html", "r.html", cwd=repo).code == 0
    assert "There are no lessons yet." in (repo / "r.html").read_text()


def test_private_lessons_and_quarantined_files_are_counted_and_not_told(home: Home) -> None:
    """Design §2, §10: the page may be passed on."""
    git(home.root, "remote", "add", "origin", "https://example.invalid/x.git")
    home.note("Ada likes short answers.", "r1", "--type", "user")
    (home.folder / "bad.md").write_text("---\nname: bad\nnever closed, with words of its own\n")
    home.run("report", "--html", "r.html")
    page = (home.root / "r.html").read_text()
    assert ("short answers" in page, "words of its own" in page) == (False, False)
    assert "1 private lesson left out. 1 file quarantined" in page


def test_a_secret_of_the_past_is_withheld(home: Home) -> None:
    """R004-20: never shown, also where git still has it."""
    token = "".join(("gh", "p_", "A1b2C3d4E5f6", "G7h8I9j0K1l2", "M3n4O5p6Q7r8"))
    path = home.file("mock-the-clock-in-timer-tests")
    clean = path.read_text()
    for text in (clean + f"\nUse {token}.\n", clean):
        path.write_text(text)
        git(home.root, "commit", "-qam", "By hand")
    done = home.run("report", "--json")
    assert token not in done.out
    assert "withheld" in done.out


# --- the file ---------------------------------------------------------------------------------------------------------


def test_another_file_is_never_written_over(home: Home) -> None:
    (home.root / "mine.html").write_text("<p>Mine</p>")
    done = home.run("report", "--html", "mine.html")
    assert (done.code, (home.root / "mine.html").read_text()) == (3, "<p>Mine</p>")
    assert home.run("report", "--html", "new.html").code == 0
    assert home.run("report", "--html", "new.html").code == 0, "a report gives way to a newer one"
    assert home.run("report", "--html", "nowhere/new.html").code == 4
    edited = (home.root / "new.html").read_text().replace("</main>", "<p>Mine</p></main>")
    (home.root / "new.html").write_text(edited)
    assert home.run("report", "--html", "new.html").code == 3, "it is a person's now"
    assert (home.root / "new.html").read_text() == edited


def test_what_is_no_regular_file_stays_what_it_is(home: Home) -> None:
    """A device of the machine, say: a file in its place would be everybody's trouble."""
    os.mkfifo(home.root / "pipe")
    done = home.run("report", "--html", "pipe")
    assert (done.code, done.err.count("\n"), (home.root / "pipe").is_fifo()) == (4, 1, True)


def test_a_big_memory_is_told_shorter_lessons_in_force_last(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    text = home.run("report", "--html", "-").out
    monkeypatch.setattr(reportpage, "_LIMIT", len(text.encode()) - 100)
    shorter = home.run("report", "--html", "-").out
    assert len(shorter.encode()) < len(text.encode()) - 100
    assert "+ state: current" in shorter
    assert "+ state: archived" in text
    assert "+ state: archived" not in shorter


def test_the_page_goes_to_standard_output_too(home: Home) -> None:
    assert home.run("report", "--html", "-").out.startswith("<!doctype html>")


# --- the page as text -------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """The tags of a page with their attributes, and the words outside of style."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words = self.style = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "input", "rect", "polygon", "polyline"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes another tag"

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["style"]:
            self.style += data
        else:
            self.words += data

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]


@pytest.fixture
def page(home: Home) -> Page:
    return Page(home.run("report", "--html", "-").out)


def test_every_tag_is_closed_and_every_id_is_one(page: Page) -> None:
    assert page.open == []
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    targets = {str(attrs["href"])[1:] for attrs in page.all("a")}
    assert targets <= set(ids)


def test_the_policy_allows_its_own_style_and_nothing_else(page: Page) -> None:
    policy = next(a["content"] for a in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    digest = base64.b64encode(hashlib.sha256(page.style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def test_it_holds_no_script_no_address_and_no_style_of_an_element(page: Page) -> None:
    assert page.all("script") == page.all("img") == page.all("link") == page.all("iframe") == []
    names = {name for _, attrs in page.tags for name in attrs}
    assert not {name for name in names if name.startswith("on") or name in ("src", "style", "action")}
    assert all(str(attrs["href"]).startswith("#") for attrs in page.all("a"))


def test_hostile_lessons_stay_text(page: Page) -> None:
    assert page.words.count("<script>document.title='owned'</script>") >= 1
    assert page.words.count(BREAKOUT) >= 2
    assert len(page.all("h1")) == len(page.all("style")) == len(page.all("main")) == 1


def test_every_part_has_a_name_for_those_who_hear_it(page: Page) -> None:
    ids = {attrs.get("id") for _, attrs in page.tags}
    for attrs in (*page.all("section"), *page.all("nav")):
        assert attrs.get("aria-label") or attrs.get("aria-labelledby") in ids
    assert all(attrs.get("aria-label") and attrs["role"] == "img" for attrs in page.all("svg"))
    assert len(page.all("table")) == len(page.all("caption"))
    assert len(page.all("fieldset")) == len(page.all("legend"))
    assert all(attrs.get("scope") in ("col", "row") for attrs in page.all("th"))
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h[1-6]", tag)]
    assert all(b - a <= 1 for a, b in zip([0, *levels], levels, strict=False))
    assert page.all("html")[0]["lang"] == "en"


@pytest.mark.parametrize("text", ["\x1b[31m", "\u202e", "\ud800", "a\u200bb"])
def test_control_hidden_and_broken_characters_are_written_out(home: Home, text: str) -> None:
    path = home.file("mock-the-clock-in-timer-tests")
    escaped = text.encode("unicode_escape").decode()
    path.write_text(path.read_text().replace("description: ", f'description: "{escaped}"\nx: '))
    path.write_text(path.read_text().replace("  type: project", f'  type: project\n  title: "x{escaped}x"'))
    out = home.run("report", "--html", "-").out
    assert text not in out
    Page(out)


# --- in a browser -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with started(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def file(home: Home) -> Path:
    (home.root / "CLAUDE.md").write_text("# Nothing\n")
    assert home.run("report", "--html", "r.html").code == 0
    return home.root / "r.html"


SHOWN = "return [...document.querySelectorAll('details.l')].filter(e => e.checkVisibility()).length"
# The contrast of each text with what stands behind it, after WCAG 2.
CONTRAST = """
const lum = c => c.map(v => v/255).map(v => v <= .03928 ? v/12.92 : ((v+.055)/1.055)**2.4)
    .reduce((s, v, i) => s + v*[.2126,.7152,.0722][i], 0);
const rgb = s => s.match(/[0-9.]+/g).map(Number);
const back = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c.slice(0, 3); } return [255,255,255]; };
document.querySelectorAll('details').forEach(e => e.open = true);
let worst = [99, ''];
for (const e of document.querySelectorAll('body *')) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || !e.checkVisibility()) continue;
    const a = lum(rgb(getComputedStyle(e).color).slice(0, 3)), b = lum(back(e));
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < worst[0]) worst = [ratio, e.outerHTML.slice(0, 80)];
}
return worst"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_it_is_readable_light_and_dark_narrow_and_wide(
    browser: Browser, file: Path, tmp_path: Path, dark: bool, width: int
) -> None:
    browser.open(file, dark=dark, width=width)
    ratio, where = browser.run(CONTRAST)
    assert ratio >= 4.5, where
    background = browser.run("return getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(13, 17, 23)" if dark else "rgb(255, 255, 255)")
    assert browser.run("return document.documentElement.scrollWidth <= window.innerWidth"), "nothing sticks out"
    browser.screenshot(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 10_000


def test_no_lesson_reaches_the_page_as_more_than_text(browser: Browser, file: Path) -> None:
    browser.open(file)
    assert browser.run("return document.title") == "Lessons of repo"
    assert browser.run("return document.querySelectorAll('script, img, h1 ~ h1, iframe, main h1').length") == 0
    assert browser.run("return document.body.innerText.includes('Owned</h1>')")
    assert browser.log() == [], "the policy had nothing to forbid"


def test_the_filters_work_without_a_script(browser: Browser, file: Path) -> None:
    browser.open(file)
    found = {}
    for name in ("all", "current", "candidate", "archived", "pinned", "disputed", "relapsed"):
        browser.run(f"document.getElementById('f-{name}').click()")
        found[name] = browser.run(SHOWN)
    assert found == {
        "all": 5, "current": 1, "candidate": 2, "archived": 2, "pinned": 1, "disputed": 1, "relapsed": 1,
    }  # fmt: skip
    browser.run("document.getElementById('f-all').click(); document.getElementById('t-project').click()")
    assert browser.run(SHOWN) == 1
    lines = "return [...document.querySelectorAll('#timeline tbody tr')].filter(e => e.checkVisibility()).length"
    assert browser.run(lines) == 1, "the timeline follows"


def test_the_keyboard_reaches_everything(browser: Browser, file: Path) -> None:
    browser.open(file)
    active = "const e = document.activeElement; return e.tagName + '.' + (e.id || e.className || e.textContent)"
    tab, down, space = "\ue004", "\ue015", " "
    browser.press(tab)
    assert browser.run(active) == "A.skip"
    assert browser.run("return document.activeElement.getBoundingClientRect().left") >= 0, "it shows when it is reached"
    browser.run("document.getElementById('f-all').focus()")
    browser.press(down)
    assert browser.run(active) == "INPUT.f-current"
    assert browser.run(SHOWN) == 1, "an arrow key chooses the next button"
    browser.press(tab + tab)
    assert browser.run("return document.activeElement.tagName") == "SUMMARY"
    browser.press(space)
    assert browser.run("return document.querySelectorAll('details.l[open]').length") == 1


# --- size -------------------------------------------------------------------------------------------------------------


def big(root: Path, lessons: int) -> None:
    """A repository with so many lessons and three commits of each, by git's fast import."""
    folder = root / ".claude" / "memory"
    text = (
        "---\nname: {slug}\ndescription: Lesson {n} says what to do before a change of that kind\nmetadata:\n"
        "  type: feedback\n  state: {state}\n  created: 2026-01-01\n  kind: note\n  tags:\n    - guards\n  seen:\n"
        "    - on: 2026-01-01\n      run: a{n}\n      evidence: review of PR {n}\n{more}---\n\n"
        "Lesson {n} says what to do before a change of that kind, and in which order.\n\n"
        "**Why:** It went wrong in build {n}, and took a day to find.\n\n**How to apply:** Look at file {n} first.\n"
    )
    second = "    - on: 2026-01-09\n      run: b{n}\n"
    stages = [("note", "candidate", ""), ("graduate", "current", second), ("archive", "archived", second)]
    out, moment = [], 1_767_225_600
    for verb, state, more in stages:
        for n in range(lessons):
            slug = f"lesson-number-{n:04}"
            body = text.format(slug=slug, n=n, state=state, more=more.format(n=n))
            said = f"learnloop: {verb} {slug}\n\nseen in two runs\n\nLesson: {slug}\nLearnloop-Change: {verb}\n"
            moment += 600
            out.append(
                f"commit refs/heads/main\ncommitter Ada <a@example.invalid> {moment} +0000\ndata {len(said)}\n{said}\n"
                f"M 100644 inline .claude/memory/{slug}.md\ndata {len(body)}\n{body}\n"
            )
    new_repository(root)
    stream = "".join(out).replace("commit refs/heads/main\n", "commit refs/heads/big\n")
    subprocess.run(["git", "fast-import", "--quiet"], cwd=root, input=stream.encode(), check=True)
    git(root, "checkout", "-q", "big")
    (folder / "MEMORY.md").write_text("# Memory\n")


def test_a_thousand_lessons_take_less_than_a_megabyte_and_three_seconds(tmp_path: Path) -> None:
    """Measured as the time of the processors, of git's as well, which other work on the machine does not prolong."""
    root = tmp_path / "big"
    big(root, 1_000)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("COV_")}
    words = [sys.executable, "-m", "learnloop_md", "report", "--html", "r.html"]
    within(3, lambda: subprocess.run(words, cwd=root, env=environment, check=True, capture_output=True))
    page = (root / "r.html").read_text()
    assert len(page.encode()) < 1_000_000
    assert (page.count('<details class="l"'), page.count("<li>2026-01-")) == (1_000, 3_000)
