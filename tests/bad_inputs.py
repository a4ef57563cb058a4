"""Hostile and broken input, item by item, against the real commands: `python -m tests.bad_inputs` prints the table.

Each item of data/bad_inputs.json says how it gets in (read: a file that is there; add: noted; slug: a name; fs: a thing
in the folder), what has to come of it (refused, quarantined, escaped, parsed) and with which reason code.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

DATA = Path(__file__).parent / "data"
ROOT = Path(__file__).parent.parent
SLUG = "run-tests-first"
GOOD = "Read the whole function first."
SECONDS, MEGABYTES = 2.0, 200  # of the processor, so that a busy machine does not count
HUNG = 30.0
# Without sample hooks, tidying after each commit, and waits for the disk: each item has a repository of its own.
GIT_CONFIG = (
    "[user]\n\tname = Ada Test\n\temail = ada@example.invalid\n[init]\n\tdefaultBranch = main\n\ttemplateDir =\n"
    "[maintenance]\n\tauto = false\n[core]\n\tfsync = none\n"
)
# Runs a command and tells its own time and peak of memory: what a parent reads of a child holds its own pages too.
_RUNNER = (
    "import sys, time; sys.argv[0] = 'learnloop'; from learnloop_md.__main__ import main; code = main(sys.argv[2:]); "
    "peak = [row.split()[1] for row in open('/proc/self/status') if row.startswith('VmHWM')]; "
    "open(sys.argv[1], 'w').write(f'{time.process_time()} {peak[0]}'); sys.exit(code)"
)


class Item(NamedTuple):
    """One input and what has to come of it."""

    id: str
    group: str
    channel: str
    arg: str
    expected: str
    reason: str
    content: bytes
    must_not: tuple[str, ...]


class Verdict(NamedTuple):
    """What came of it: what was wrong, the values echoed, the cost of the dearest command."""

    wrong: tuple[str, ...]
    echoed: int
    seconds: float
    megabytes: float


def items() -> list[Item]:
    """The items of the corpus, unpacked."""
    rows = json.loads((DATA / "bad_inputs.json").read_text("utf-8"))
    return [
        Item(
            row["id"], row["group"], row["channel"], row.get("arg", ""), row["expected"], row["reason"],
            zlib.decompress(base64.b64decode(row.get("content_zlib_base64") or "eJwDAAAAAAE=")),
            tuple(base64.b64decode(x).decode("utf-8", "surrogatepass") for x in row.get("must_not_base64", ())),
        )
        for row in rows
    ]  # fmt: skip


class Ran(NamedTuple):
    """A command's end, in a process of its own."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out) if self.out.strip() else {}


class Bench:
    """A memory in a repository, with one good lesson, made anew for each item from a template."""

    def __init__(self, base: Path) -> None:
        self.base, self.root = base, base / "repo"
        self.memory = self.root / ".claude" / "memory"
        self.seconds = self.megabytes = 0.0
        self.outputs: list[str] = []
        (base / "home").mkdir(parents=True)
        (base / "tmp").mkdir()
        (base / "home" / ".gitconfig").write_text(GIT_CONFIG)
        keep = ("PATH", "PYTHONPATH", "VIRTUAL_ENV", "LANG")
        self.env = {name: os.environ[name] for name in keep if name in os.environ} | {
            "HOME": str(base / "home"), "TMPDIR": str(base / "tmp"), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8",
            "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "TZ": "UTC",
        }  # fmt: skip
        self.git("init", "-q", str(self.root), cwd=base)
        self.git("commit", "-q", "--allow-empty", "-m", "Start")
        assert self.run("init").code == 0
        assert self.run("note", GOOD, "--name", "good", "--run", "r1").code == 0
        shutil.copytree(self.root, base / "template", symlinks=True)

    def fresh(self) -> None:
        """Begin again: the template's files, an empty temporary folder, nothing measured."""
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(self.base / "template", self.root, symlinks=True)
        self.seconds = self.megabytes = 0.0
        self.outputs = []

    def git(self, *words: str, cwd: Path | None = None) -> bytes:
        return subprocess.run(
            ["git", *words], cwd=cwd or self.root, env=self.env, capture_output=True, check=True
        ).stdout

    def run(self, *words: str, given: bytes = b"") -> Ran:
        peak = self.base / "peak"
        peak.write_text("0 0")
        try:
            done = subprocess.run(
                [sys.executable, "-c", _RUNNER, str(peak), *words],
                cwd=self.root, env=self.env, input=given, capture_output=True, check=False, timeout=HUNG,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            self.seconds = HUNG
            return Ran(124, "", "it hung")
        spent, kilobytes = map(float, peak.read_text().split())
        self.seconds, self.megabytes = max(self.seconds, spent), max(self.megabytes, kilobytes / 1024)
        out, err = (stream.decode("utf-8", "replace") for stream in (done.stdout, done.stderr))
        self.outputs += [out, err]
        return Ran(done.returncode, out, err)

    def state(self) -> dict[str, bytes]:
        """Every file of the work tree, and what git has."""
        found = {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in self.root.rglob("*")
            if path.is_file() and not path.is_symlink() and ".git" not in path.relative_to(self.root).parts
        }
        return {**found, "HEAD": self.git("rev-parse", "HEAD")}

    def everywhere(self) -> Iterator[tuple[str, bytes]]:
        """Whatever a command printed, wrote or gave to git, by where it is."""
        for text in self.outputs:
            yield "output", text.encode("utf-8", "surrogatepass")
        for top in (self.root, self.base / "home", self.base / "tmp"):
            for path in top.rglob("*"):
                if path.is_file() and not path.is_symlink():
                    yield str(path), path.read_bytes() + str(path).encode("utf-8", "surrogateescape")
        yield "git objects", self.git("cat-file", "--batch-all-objects", "--batch", "--unordered")


class QuickBench(Bench):
    """The same, with commands in this process: what hangs is broken off, what grows has no memory left."""

    def run(self, *words: str, given: bytes = b"") -> Ran:
        from learnloop_md.__main__ import main as learnloop

        out, err, before = io.StringIO(), io.StringIO(), os.getcwd()
        start = time.process_time()
        with (
            mock.patch.dict(os.environ, self.env, clear=True),
            mock.patch("sys.argv", ["learnloop"]),
            mock.patch("sys.stdin", io.TextIOWrapper(io.BytesIO(given), "utf-8")),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            _bounded(),
        ):
            os.chdir(self.root)
            try:
                code = learnloop(list(words))
            finally:
                os.chdir(before)
        self.seconds = max(self.seconds, time.process_time() - start)
        self.outputs += [out.getvalue(), err.getvalue()]
        return Ran(code, out.getvalue(), err.getvalue())


class Hung(BaseException):
    """A command took too long; no command takes this for an error of its own."""


@contextlib.contextmanager
def _bounded() -> Iterator[None]:
    """HUNG seconds at most, and MEGABYTES more of addresses than there are."""

    def stop(*_: object) -> None:
        raise Hung

    limits = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, HUNG)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (MEGABYTES << 20), limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# --- judging ----------------------------------------------------------------------------------------------------------


def judge(bench: Bench, item: Item) -> Verdict:
    """Let the item in as it comes, and say what is wrong with what came of it; what is dear alone has a second try."""
    first = _judged(bench, item)
    return _judged(bench, item) if SECONDS < first.seconds < 2 * SECONDS else first


def _judged(bench: Bench, item: Item) -> Verdict:
    bench.fresh()
    how = {"read": _read, "add": _add, "slug": _slug, "fs": _fs}[item.channel]
    wrong = list(how(bench, item))
    if any("Traceback" in text for text in bench.outputs):
        wrong.append("a traceback")
    echoed = 0
    if item.group == "secret":
        needles = [value.encode() for value in item.must_not]
        echoed = sum(needle in data for _, data in bench.everywhere() for needle in needles)
        wrong += [f"a value echoed {echoed} times"] if echoed else []
    if bench.seconds > SECONDS or bench.megabytes > MEGABYTES:
        wrong.append(f"{bench.seconds:.1f} s, {bench.megabytes:.0f} MB")
    return Verdict(tuple(wrong), echoed, bench.seconds, bench.megabytes)


def _refusal(done: Ran, reason: str) -> Iterator[str]:
    code = done.json.get("error", {}).get("code", "") if done.out.startswith("{") else ""
    if done.code not in (2, 3, 4) or code != reason:
        yield f"exit {done.code}, {code or 'no code'} instead of {reason}"


def _reasons(bench: Bench) -> dict[str, str]:
    done = bench.run("status", "--json")
    return {row["path"]: row["reason"] for row in done.json.get("quarantined", ())}


def _read(bench: Bench, item: Item) -> Iterator[str]:
    """A file that came by a merge, with its line in the index."""
    is_index = item.content.startswith(b"# Memory")
    path = bench.memory / ("MEMORY.md" if is_index else f"{SLUG}.md")
    document = bench.memory / "MEMORY.md"
    if is_index:
        (bench.memory / "a.md").write_text("---\nname: a\ndescription: d\n---\n\nKeep a changelog.\n")
        path.write_bytes(path.read_bytes() + item.content.partition(b"\n")[2])
    else:
        path.write_bytes(item.content)
        document.write_text(document.read_text() + f"- [Run tests first]({SLUG}.md) — before a review\n")
    bench.git("add", "-A")
    bench.git("commit", "-q", "-m", "By somebody else")
    found = _reasons(bench).get(path.name, "")
    shown = bench.run("show", "--all").out
    if "good" not in shown:
        yield "the good lesson is not served"
    if any(text in shown for text in item.must_not):
        yield "served raw"
    if bench.run("sync").code != 0:
        yield "sync failed"
    if item.expected == "quarantined":
        yield from _quarantined(bench, path, item, shown, found)
    elif found:
        yield f"quarantined ({found})"
    elif is_index:
        lines = [line for line in document.read_text().splitlines() if "(a.md)" in line]
        yield from () if len(lines) == 1 else (f"{len(lines)} lines for one lesson",)
    else:
        yield from () if SLUG in shown else ("it is not served",)
        yield from _kept(bench, path, item)
    bench.run("check")


def _quarantined(bench: Bench, path: Path, item: Item, shown: str, found: str) -> Iterator[str]:
    """Left byte for byte, with the right reason, neither served nor loaded by Claude."""
    if found != item.reason:
        yield f"{found or 'nothing'} instead of {item.reason}"
    if SLUG in shown:
        yield "it is served"
    if path.read_bytes() != item.content:
        yield "its bytes changed"
    if f"({SLUG}.md)" in (bench.memory / "MEMORY.md").read_text().partition("<!--")[0]:
        yield "its line is still loaded"


def _kept(bench: Bench, path: Path, item: Item) -> Iterator[str]:
    """After a change of one field every line that was there is there still, byte for byte."""
    done = bench.run("pin", SLUG)
    if done.code != 0:
        yield f"pin failed: {done.err.strip()}"
    rest = iter(path.read_bytes().split(b"\n"))
    if not all(any(line == now for now in rest) for line in item.content.split(b"\n")):
        yield "a line changed"
    if path.read_bytes().count(b"\xef\xbb\xbf") != item.content.count(b"\xef\xbb\xbf"):
        yield "a byte order mark came or went"


def _add(bench: Bench, item: Item) -> Iterator[str]:
    before = bench.state()
    body = item.content.partition(b"\n---\n")[2] or item.content
    for given in (item.content, body):
        done = bench.run("note", "-", "--json", "--new", given=given)
        if item.expected == "refused":
            yield from _refusal(done, item.reason)
        elif done.code != 0:
            yield f"exit {done.code}: {done.out.strip() or done.err.strip()}"
    if item.expected == "refused" and bench.state() != before:
        yield "something was written"
    if item.expected == "refused":
        yield from _pulled(bench, item)


def _pulled(bench: Bench, item: Item) -> Iterator[str]:
    """The same in a file that is there already: found, not served, not committed, not repeated."""
    path = bench.memory / f"{SLUG}.md"
    path.write_bytes(item.content)
    if _reasons(bench).get(path.name) != item.reason:
        yield "not found in a file"
    told = bench.run("show", "--all").out + bench.run("check").out + bench.run("sync").out
    if any(value in told for value in item.must_not):
        yield "repeated from a file"
    path.unlink()


def _slug(bench: Bench, item: Item) -> Iterator[str]:
    bench.run("note", "Run the tests first.", "--name", SLUG, "--run", "r1")
    before = bench.state()
    name = item.arg if item.expected == "refused" or item.arg != SLUG else "run-tests-again"
    done = bench.run("note", "Count the rows before a backfill.", "--json", "--run", "r2", f"--name={name}")
    if item.expected == "refused":
        yield from _refusal(done, item.reason)
        if bench.state() != before:
            yield "something was written"
    elif done.code != 0 or done.json["slug"] != name:
        yield f"refused: {done.out.strip()}"


def _fs(bench: Bench, item: Item) -> Iterator[str]:
    kind = item.id.split("-", 2)[2]
    outside = bench.base / "outside"
    shutil.rmtree(outside, ignore_errors=True)
    outside.mkdir()
    secret = outside / "secret.md"
    secret.write_text("---\nname: outside\ndescription: d\n---\n\nOutside canary.\n")
    thing = bench.memory / "thing.md"
    if kind.startswith("memory-dir-symlink"):
        shutil.rmtree(bench.memory)
        (outside / "MEMORY.md").write_text("# Memory\n")
        bench.memory.symlink_to(outside)
        yield from _refusal(bench.run("note", GOOD, "--json"), item.reason)
        yield from _refusal(bench.run("note", GOOD, "--json", "--memory", str(bench.memory)), item.reason)
        return
    if kind.startswith("10k"):
        for n in range(10_000):
            (bench.memory / f"n{n:05}.md").write_text(f"---\nname: n{n}\ndescription: d\n---\n\nBody of {n}.\n")
        if "good" not in bench.run("show").out + bench.run("show", "good").out:
            yield "the good lesson is not served"
        return
    if kind.startswith("world-writable"):
        bench.memory.chmod(0o777)
        if item.reason not in bench.run("check").out:
            yield f"no {item.reason}"
        bench.memory.chmod(0o755)
        return
    next(build for name, build in BUILDERS.items() if kind.startswith(name))(thing, secret)
    served = bench.run("show", "--all")
    found = _reasons(bench)
    if "good" not in served.out or "canary" in served.out:
        yield "not what is to be served"
    if item.expected == "quarantined" and found.get(thing.name) != item.reason:
        yield f"{found.get(thing.name, 'nothing')} instead of {item.reason}"
    if item.expected != "quarantined" and found:
        yield f"quarantined {found}"


LESSON = "---\nname: thing\ndescription: d\n---\n\nCount the rows.\n"


def _loop(thing: Path, _: Path) -> None:
    (thing.parent / "loop.md").symlink_to(thing.name)
    thing.symlink_to("loop.md")


def _socket(thing: Path, _: Path) -> None:
    here = os.getcwd()
    os.chdir(thing.parent)  # a socket's path may have 107 bytes
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(thing.name)
    finally:
        os.chdir(here)


def _sparse(thing: Path, _: Path) -> None:
    thing.touch()
    os.truncate(thing, 2 << 30)


def _with_mode(mode: int) -> Callable[[Path, Path], None]:
    def build(thing: Path, _: Path) -> None:
        thing.write_text(LESSON)
        thing.chmod(mode)

    return build


# What an item of the group fs is about: the beginning of its name, and what makes the thing.
BUILDERS: dict[str, Callable[[Path, Path], None]] = {
    "fifo": lambda thing, _: os.mkfifo(thing),
    "dir": lambda thing, _: thing.mkdir(),
    "symlink-outside": lambda thing, secret: thing.symlink_to(secret),
    "symlink-inside": lambda thing, _: thing.symlink_to("good.md"),
    "symlink-loop": _loop,
    "symlink-dangling": lambda thing, _: thing.symlink_to("nowhere.md"),
    "hardlink": lambda thing, secret: os.link(secret, thing),
    "dev": lambda thing, _: thing.symlink_to("/dev/zero"),
    "socket": _socket,
    "sparse": _sparse,
    "mode": _with_mode(0),
    "exec": _with_mode(0o755),
}


# --- the table --------------------------------------------------------------------------------------------------------


def genuine() -> list[str]:
    """The invented lessons that give a directive and mean well."""
    rows = (DATA / "genuine.jsonl").read_text("utf-8").splitlines()
    return [json.loads(row)["rule"] for row in rows]


def quarantined_genuine() -> list[str]:
    """Those of them that a guard keeps out."""
    from learnloop_md import guard, poison

    return [rule for rule in genuine() if poison.find(rule) or guard.find_secrets(rule)]


def main() -> int:
    """Print the table; exit 1 where a goal is missed."""
    bad = Counter[str]()
    total = Counter[str]()
    echoed, megabytes = 0, 0.0
    costs: list[tuple[float, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder) / "bench")
        for item in items():
            goal = {"secret": "secrets refused", "near": "near-secrets accepted"}.get(
                item.group, "other items as expected"
            )
            verdict = judge(bench, item)
            total[goal] += 1
            bad[goal] += bool(verdict.wrong)
            echoed += verdict.echoed
            megabytes = max(megabytes, verdict.megabytes)
            costs.append((verdict.seconds, item.id))
            for why in dict.fromkeys(verdict.wrong):
                print(f"{item.id}: {why}", file=sys.stderr)
    kept_out = quarantined_genuine()
    for rule in kept_out:
        print(f"genuine, kept out: {rule}", file=sys.stderr)
    for goal, count in total.items():
        print(f"{goal:32} {count - bad[goal]} of {count}")
    print(f"{'values echoed':32} {echoed}")
    print(f"{'genuine directives quarantined':32} {len(kept_out)} of {len(genuine())}")
    dearest = ", ".join(f"{seconds:.2f} s {name}" for seconds, name in sorted(costs)[:-4:-1])
    print(f"{'most memory':32} {megabytes:.0f} MB")
    print(f"{'dearest items':32} {dearest}")
    return int(bool(sum(bad.values()) or echoed or len(kept_out) * 100 > len(genuine())))


if __name__ == "__main__":
    sys.exit(main())
