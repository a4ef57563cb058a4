"""A scripted stand-in for the Messages API: it answers on loopback what a test wrote down, and keeps each request.

A reply is a text; or a tool call made by `tool(name, **input)`; or a dict with `blocks` (several content blocks), and
beside them `usage` (what the client counts) or `status` (an HTTP error). `replies` are used one for each request that
offers tools (a turn of the session); requests without tools (titles, summaries) get `side`. A rule `(pattern, reply)`
comes before both, once, for the first request whose words since the last reply hold the pattern.
Headers are not kept: they carry a key.
"""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Reply = str | dict[str, Any]
Block = dict[str, Any]


def tool(name: str, **values: Any) -> Block:
    """A reply that calls a tool."""
    return {"tool": name, "input": values}


class Request(NamedTuple):
    """What the client asked: `main` is a turn with tools, the others are helpers."""

    main: bool
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """All words of the request: system, messages, tool results."""
        return "\n".join(_strings({key: value for key, value in self.body.items() if key != "tools"}))

    @property
    def last(self) -> str:
        """The words since the model spoke last: a prompt, a tool's result, and what hooks add to it."""
        messages = self.body.get("messages") or []
        said = [at for at, message in enumerate(messages) if message["role"] == "assistant"]
        return "\n".join(_strings(messages[said[-1] + 1 if said else 0 :]))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)


class FakeApi:
    """The server; used as a context manager, bound to loopback only."""

    def __init__(self, replies: Sequence[Reply], rules: Sequence[tuple[str, Reply]] = (), side: Reply = "side") -> None:
        self.replies, self.rules, self.side = list(replies), list(rules), side
        self.requests: list[Request] = []
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> FakeApi:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Keep the request and choose the reply to it."""
        with self._lock:
            request = Request(bool(body.get("tools")), body)
            self.requests.append(request)
            reply = self._choose(request)
        return {"text": reply} if isinstance(reply, str) else reply

    def _choose(self, request: Request) -> Reply:
        for at, (pattern, _) in enumerate(self.rules):
            if re.search(pattern, request.last):
                return self.rules.pop(at)[1]
        if not request.main:
            return self.side
        return self.replies.pop(0) if self.replies else "done"

    def message(self, body: dict[str, Any], reply: dict[str, Any]) -> dict[str, Any]:
        """The reply as the API's message."""
        blocks = [dict(block) for block in reply.get("blocks", [])]
        if "text" in reply:
            blocks.append({"type": "text", "text": reply["text"]})
        if "tool" in reply:
            blocks.append({"type": "tool_use", "name": reply["tool"], "input": reply["input"]})
        calls = [block for block in blocks if block["type"] == "tool_use"]
        for block in calls:
            block.setdefault("id", f"toolu_fake{next(self._ids):06d}")
        usage = {"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        return {
            "id": f"msg_fake{next(self._ids):06d}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "content": blocks,
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": {**usage, **reply.get("usage", {})},
        }


def events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The message as the stream's events."""
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        if block["type"] == "tool_use":
            start: Block = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        else:
            start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        yield {"type": "content_block_start", "index": index, "content_block": start}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": message["usage"]}
    yield {"type": "message_stop"}


def _handler(api: FakeApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Nothing: the test reads `requests`."""

        def send(self, code: int, value: object) -> None:
            data = json.dumps(value).encode()
            self.send_response(code)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def do_HEAD(self) -> None:
            self.send(200, {})

        def do_GET(self) -> None:
            self.send(200, {"data": [], "has_more": False})

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            path = self.path.partition("?")[0]
            if path.endswith("/count_tokens"):
                return self.send(200, {"input_tokens": max(1, len(raw) // 4)})
            if not path.endswith("/v1/messages"):
                return self.send(200, {})
            body = json.loads(raw)
            reply = api.answer(body)
            if "status" in reply:
                error = {"type": "invalid_request_error", "message": "scripted error"}
                return self.send(reply["status"], {"type": "error", "error": error})
            message = api.message(body, reply)
            return self.stream(message) if body.get("stream") else self.send(200, message)

        def stream(self, message: dict[str, Any]) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            self.close_connection = True
            try:
                for event in events(message):
                    self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
            except (BrokenPipeError, ConnectionResetError):
                pass  # the client was stopped

    return Handler
