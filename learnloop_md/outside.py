"""A second look for secrets by a scanner that others keep up: betterleaks, the extra `secrets`."""

from __future__ import annotations

from learnloop_md.errors import UsageError


def secrets(text: str) -> list[tuple[int, str]]:
    """What betterleaks finds in a text: the line (from 1) and its rule; never the value.

    Raises UsageError where it is not installed.
    """
    try:
        import betterleaks  # lazy: an extra, and a library of 50 MB
    except ImportError as error:
        hint = "pip install 'learnloop-md[secrets]'; without --secrets our own rules look"
        raise UsageError("check --secrets needs betterleaks", hint, code="no-scanner") from error
    return sorted((row.location.start_line, row.rule_id) for row in betterleaks.scan_string(text))
