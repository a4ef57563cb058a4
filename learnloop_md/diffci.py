"""A comparison for machines of continuous integration: GitHub's annotations, and SARIF 2.1.0."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from learnloop_md import __version__
from learnloop_md.answer import json_text, visible
from learnloop_md.checks import ERROR, WARNING
from learnloop_md.comparison import Comparison, Found, headline, verdict
from learnloop_md.errors import LearnloopError
from learnloop_md.lesson import fold, shorten

_SHOWN = 10  # of each kind: GitHub shows no more of one step
_LONG = 1_000
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def annotated(comparison: Comparison) -> str:
    """Workflow commands for GitHub Actions: a notice with the headline, errors first, the rest counted."""
    rows = comparison.all_findings
    said = " — ".join(filter(None, [headline(comparison), verdict(comparison)]))
    lines = [_command("notice", "Lessons", said)]
    for severity in (ERROR, WARNING):
        found = [row for row in rows if row.severity == severity]
        lines += [_command(severity, f"learnloop {f.code}", f.message, f.path, f.line) for f in found[:_SHOWN]]
        if len(found) > _SHOWN:
            lines.append(_command("notice", "Lessons", f"and {len(found) - _SHOWN} more {severity}s: learnloop diff"))
    return "\n".join(lines)


def told_error(error: LearnloopError) -> str:
    """An error that stopped the comparison, as an annotation."""
    said = f"{error.message} — {error.hint}" if error.hint else error.message
    return _command("error", f"learnloop {error.code}", said)


def _command(kind: str, title: str, message: str, path: str = "", line: int = 0) -> str:
    fields = [f"file={_field(path)}", f"line={line}"] if path else []
    fields.append(f"title={_field(title)}")
    return f"::{kind} {','.join(fields)}::{_data(shorten(visible(fold(message)), _LONG))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _field(text: str) -> str:
    return _data(visible(text)).replace(":", "%3A").replace(",", "%2C")


def sarif(comparison: Comparison) -> str:
    """The findings as SARIF; changes are no problems and stay out."""
    rows = comparison.all_findings
    codes = sorted({rule_id(row.code) for row in rows})
    severity = {rule_id(row.code): row.severity for row in reversed(rows)}
    rules = [
        {
            "id": code,
            "name": code,
            "shortDescription": {"text": code.replace("-", " ")},
            "defaultConfiguration": {"level": severity[code]},
        }
        for code in codes
    ]
    driver = {"name": "learnloop", "semanticVersion": __version__, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": "learnloop/diff/"},
        "columnKind": "unicodeCodePoints",
        "results": list(_results(rows, codes)),
    }
    return json_text({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1)


def rule_id(code: str) -> str:
    """A code as a rule's id: the same whichever lesson or field it is about."""
    return re.sub(r"[^a-z0-9]+", "-", code.lower()).strip("-")


def _results(rows: Iterable[Found], codes: list[str]) -> Iterable[dict[str, Any]]:
    seen: dict[str, int] = {}
    for row in rows:
        code, said = rule_id(row.code), visible(fold(row.message))
        mark = _fingerprint(code, row.path, said)
        seen[mark] = seen.get(mark, 0) + 1
        where = {
            "artifactLocation": {"uri": quote(row.path.encode("utf-8", "surrogateescape")), "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": max(row.line, 1)},
        }
        yield {
            "ruleId": code,
            "ruleIndex": codes.index(code),
            "level": row.severity,
            "message": {"text": said},
            "locations": [{"physicalLocation": where}],
            "partialFingerprints": {"learnloopId/v1": f"{mark}:{seen[mark]}"},
        }


def _fingerprint(code: str, path: str, said: str) -> str:
    """What stays the same of a finding when lines move."""
    text = f"{code}\0{path}\0{re.sub('[0-9]+', 'N', said)}"
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
