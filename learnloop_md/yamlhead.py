"""The strict YAML reader for heads outside the plain block style; python-frontmatter and PyYAML live here alone."""

from typing import Any, cast

import frontmatter
import yaml
from frontmatter.default_handlers import YAMLHandler

from learnloop_md.tree import HeadError, Tree

_LIMIT_DEPTH = 20
_TOO_DEEP = "the head is nested too deeply"


class StrictHandler(YAMLHandler):
    """Loads a head as strings, lists and mappings; no anchors, tags, merge keys or duplicates (design §3)."""

    def __init__(self, text: str, first_line: int) -> None:
        super().__init__()
        self.text, self.first_line = text, first_line

    def split(self, text: str) -> tuple[str, str]:
        """The head as it was cut: the library's own cut drops blank lines and stops at any line of dashes."""
        del text
        return self.text, ""

    def load(self, fm: str, **kwargs: Any) -> Any:
        del kwargs
        try:
            return _build(fm, self.first_line)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = self.first_line + (mark.line if mark else 0)
            if "nesting" in (error.problem or ""):  # libyaml gives up before the first event
                raise HeadError("yaml-too-deep", line, _TOO_DEEP) from error
            raise HeadError("yaml-syntax", line, error.problem or "not YAML") from error
        except RecursionError as error:
            raise HeadError("yaml-too-deep", self.first_line, _TOO_DEEP) from error
        except (yaml.YAMLError, ValueError) as error:
            raise HeadError("yaml-syntax", self.first_line, "not YAML") from error


def load(text: str, first_line: int) -> dict[str, Tree]:
    """The head's tree. Raises HeadError with the reason code and the line in the file."""
    metadata, _ = frontmatter.parse(text, handler=StrictHandler(text, first_line))
    return cast("dict[str, Tree]", metadata)


def _build(text: str, first: int) -> dict[str, Tree]:
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    stack: list[tuple[Any, list[str]]] = []
    root: Any = None
    for event in yaml.parse(text, Loader=loader):
        line = first + (event.start_mark.line if event.start_mark else 0)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise HeadError("yaml-anchors", line, "anchors and aliases are not read")
        if getattr(event, "tag", None):
            raise HeadError("yaml-tag", line, "tags are not read")
        if isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            root = stack.pop()[0]
            continue
        value: Any
        if isinstance(event, yaml.ScalarEvent):
            empty = not event.style and event.value in {"~", "null", "Null", "NULL"}
            value = "" if empty else event.value
        elif isinstance(event, yaml.MappingStartEvent):
            value = {}
        elif isinstance(event, yaml.SequenceStartEvent):
            value = []
        else:
            continue
        root = value if not stack else root
        _attach(stack, value, line)
        if isinstance(value, (dict, list)):
            if len(stack) >= _LIMIT_DEPTH:
                raise HeadError("yaml-too-deep", line, _TOO_DEEP)
            stack.append((value, []))
    if root in ("", None):
        return {}
    if not isinstance(root, dict):
        raise HeadError("frontmatter-not-mapping", first, "the head is not a list of fields")
    return root


def _attach(stack: list[tuple[Any, list[str]]], value: Any, line: int) -> None:
    if not stack:
        return
    box, keys = stack[-1]
    if isinstance(box, list):
        box.append(value)
    elif not keys:
        if not isinstance(value, str):
            raise HeadError("yaml-syntax", line, "a key is not a word")
        if value == "<<":
            raise HeadError("yaml-merge-key", line, "merge keys are not read")
        if value in box:
            raise HeadError("yaml-duplicate-key", line, f"the key {value!r} stands twice")
        keys.append(value)
    else:
        box[keys.pop()] = value
