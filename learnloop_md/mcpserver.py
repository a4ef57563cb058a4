"""`learnloop mcp`: the memory for clients of the Model Context Protocol, on standard input and output (design §11).

The official SDK speaks the protocol; it is an extra, and stands in this module alone.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnloop_md import __version__, digest, door, guard, mcptools, memory
from learnloop_md.answer import Answer, error_line, told_error
from learnloop_md.calls import Call
from learnloop_md.errors import BugError, LearnloopError, UnableError, UsageError
from learnloop_md.mcptools import INDEX, Tool
from learnloop_md.neutral import safe

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server.lowlevel import Server

_LISTED = 200  # lessons, the weakest are left out of the list of resources
_MARKDOWN = "text/markdown"
_INVALID, _INTERNAL = -32602, -32603  # JSON-RPC


def serve(call: Call) -> Answer:
    """Serve until the client closes standard input. Raises UnableError without the SDK."""
    try:
        import anyio
        from mcp.server.stdio import stdio_server

        server = made(call)
    except ImportError as error:
        hint = "run: pip install 'learnloop-md[mcp]'"
        raise UnableError("the MCP SDK 2 is not installed here", hint, code="missing-extra") from error
    if sys.stdin is not None and sys.stdin.isatty():
        print("learnloop: waiting for an MCP client on standard input; end with Ctrl-D", file=sys.stderr)

    async def run() -> None:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    anyio.run(run)
    return Answer()


def made(call: Call) -> Server[Any]:
    """The server for the memory that the call means.

    Commands run in the thread that reads the messages, one after the other: a lock's patience is a signal.
    """
    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.shared.exceptions import MCPError

    desk = Desk(call.cwd, call.text("memory"))

    async def list_tools(_: Any, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_shown(tool) for tool in mcptools.TOOLS])

    async def call_tool(_: Any, asked: types.CallToolRequestParams) -> types.CallToolResult:
        tool = mcptools.BY_NAME.get(asked.name)
        if tool is None:
            raise MCPError(_INVALID, "there is no such tool", {"tools": list(mcptools.BY_NAME)})
        data, text, failed = desk.call(tool, asked.arguments or {})
        content: list[types.ContentBlock] = [types.TextContent(text=text)]
        return types.CallToolResult(content=content, structured_content=data, is_error=failed)

    async def list_resources(_: Any, __: Any) -> types.ListResourcesResult:
        rows = [{**row, "mimeType": _MARKDOWN} for row in desk.resources()]
        return types.ListResourcesResult(resources=[types.Resource.model_validate(row) for row in rows])

    async def list_templates(_: Any, __: Any) -> types.ListResourceTemplatesResult:
        row = types.ResourceTemplate(
            uri_template=f"{mcptools.LESSON}{{slug}}",
            name="lesson",
            title="A lesson",
            description="One lesson whole, by its name or any unique beginning of it.",
            mime_type=_MARKDOWN,
        )
        return types.ListResourceTemplatesResult(resource_templates=[row])

    async def read(_: Any, asked: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        try:
            text = desk.read(asked.uri)
        except Exception as error:
            told = door.explained(error)
            code = _INVALID if isinstance(told, UsageError) else _INTERNAL
            raise MCPError(code, error_line(told), mcptools.harmless(told_error(told))) from None
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=asked.uri, mime_type=_MARKDOWN, text=text)]
        )

    return Server(
        "learnloop",
        version=__version__,
        title="learnloop",
        description="A markdown-native, git-tracked memory of lessons",
        instructions=mcptools.INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read,
    )


def _shown(tool: Tool) -> types.Tool:
    """A tool as clients list it; nothing is destroyed by any of them, and nothing reaches beyond this machine."""
    import mcp_types as types

    hints = types.ToolAnnotations(
        title=tool.title,
        read_only_hint=tool.reads,
        destructive_hint=False,
        idempotent_hint=tool.again,
        open_world_hint=False,
    )
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.help,
        input_schema=mcptools.takes_schema(tool),
        output_schema=tool.gives,
        annotations=hints,
    )


class Desk:
    """The commands behind the tools and resources, for one folder and one memory."""

    def __init__(self, cwd: Path, named: str) -> None:
        self.cwd, self.named = cwd, named

    def call(self, tool: Tool, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], str, bool]:
        """What a tool gives as values and as text, and whether it failed."""
        try:
            answer = door.answered(tool.command, {**mcptools.words(tool, arguments), "memory": self.named}, self.cwd)
        except Exception as error:
            told = door.explained(error)
            return mcptools.harmless(told_error(told)), mcptools.harmless(_failed(told)), True
        notices = [mcptools.harmless(notice) for notice in answer.notices]
        if tool.recalls:
            data = mcptools.recalled(answer.data)
            return data, "\n".join([data["text"], *notices]).strip(), False
        data, text = mcptools.harmless(dict(answer.data)), mcptools.harmless(answer.text)
        if "error" in data:  # a refusal that the command answers in words
            return {"error": data["error"]}, text, True
        return data if tool.reads else data | {"notices": notices}, "\n".join([text, *notices]).strip(), False

    def read(self, uri: str) -> str:
        """A resource's text. Raises UsageError for what is none."""
        if uri.rstrip("/") == INDEX:
            return mcptools.index_text(digest.order(self._loaded().lessons.values()))
        if slug := mcptools.slug_of(uri):
            guard.refuse_secrets({"uri": slug})
            loaded = self._loaded()
            return mcptools.lesson_text(loaded.lessons[memory.find_slug(loaded, slug)].text)
        raise UsageError("there is no such resource", f"read {INDEX} or {mcptools.LESSON}NAME", code="unknown-resource")

    def resources(self) -> list[dict[str, str]]:
        """The index, and the lessons in force; the index alone where there is no memory (yet)."""
        about = "The lessons in force, one line each."
        rows = [{"uri": INDEX, "name": "index", "title": "Index of the memory", "description": about}]
        try:
            lessons = digest.order(self._loaded().lessons.values())
        except (LearnloopError, OSError):
            return rows
        for lesson in lessons[:_LISTED]:
            title, about = safe(lesson.shown_title), safe(lesson.description or lesson.rule)
            rows.append(
                {"uri": mcptools.uri_of(lesson.slug), "name": lesson.slug, "title": title, "description": about}
            )
        return rows

    def _loaded(self) -> memory.Memory:
        return memory.load(Call({"memory": self.named}, self.cwd).place)


def _failed(error: LearnloopError) -> str:
    """An error on one line with its code; of a bug the trace stays in its file."""
    return f"{error.code}: {error_line(error)}" if not isinstance(error, BugError) else f"bug: {error.message}"
