"""The commands of the state tier: state, where."""

from __future__ import annotations

import json
import re
from typing import Any

from learnloop_md import account, state, tiers
from learnloop_md.answer import Answer, visible
from learnloop_md.calls import Call
from learnloop_md.errors import UsageError
from learnloop_md.life import Outcome
from learnloop_md.place import Place
from learnloop_md.state import Stored

_WORDS = "say: state get KEY, state set KEY VALUE, state incr KEY [BY], state delete KEY, state list"


def keep_state(call: Call) -> Answer:
    """get, set, incr, delete, list."""
    what, key, value = call.text("what"), call.text("key"), call.words.get("value")
    place = call.target
    if what == "list":
        _no_more(key, value)
        return _listed(place)
    if not key:
        raise UsageError("the key is missing", _WORDS)
    if what == "set":
        if value is None:
            raise UsageError("the value is missing", "say: learnloop state set KEY VALUE")
        return _told(call, place, state.put(place, call.asked, key, state.parse_value(str(value))))
    if what == "incr":
        return _told(call, place, state.incr(place, call.asked, key, _number(value)))
    _no_more(value)
    if what == "delete":
        return _told(call, place, state.delete(place, call.asked, key))
    if what == "get":
        found = state.get(place, key)
        return Answer(_shown(found), {"key": key, "value": found})
    raise UsageError(f"there is no state {what!r}", _WORDS)


def _no_more(*words: object) -> None:
    if any(words):
        raise UsageError("there are too many words", _WORDS)


def _number(value: object) -> int:
    if value is None:
        return 1
    if not re.fullmatch(r"[-+]?[0-9]{1,15}", str(value)):
        raise UsageError(f"{value!r} is no whole number", "say: learnloop state incr KEY 2")
    return int(str(value))


def _listed(place: Place) -> Answer:
    found = state.load(place)
    lines = [f"{visible(key)}: {_shown(value)}" for key, value in sorted(found.items())]
    return Answer("\n".join(lines) or f"no state in {visible(state.file_of(place))}", {"state": found})


def _shown(value: Any) -> str:
    return visible(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True))


def _told(call: Call, place: Place, stored: Stored) -> Answer:
    action = "stored" if stored.changed else "unchanged"
    said = () if stored.changed else (f"{stored.key} is that already",)
    headline = f"{stored.key} is gone" if call.text("what") == "delete" else f"{stored.key} is {_shown(stored.value)}"
    more = {"key": stored.key, "value": stored.value}
    outcome = Outcome(action, "", "", said, more, headline=headline)
    return account.told(place, stored.done, outcome, dry_run=call.flag("dry_run"))


def where(call: Call) -> Answer:
    """Which tier a fact belongs to."""
    fact = call.text("fact")
    if not fact.strip():
        raise UsageError("there is no fact", 'say: learnloop where "the fact"', code="empty")
    tier = tiers.where(fact)
    lines = [f"{tier.name}: {tier.why}", *([f"  → {tier.command}"] if tier.command else [])]
    return Answer("\n".join(lines), {"tier": tier.name, "why": tier.why, "command": tier.command})
