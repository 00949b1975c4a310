"""A server on the official Python SDK, `mcp` 2.3.0 or 1.30.0, for our client.

py_server.py [--http PORT]    over stdio, or over HTTP

Both serve every tool in all of the eras that they know.
"""

import importlib.metadata
import sys
import warnings
from typing import Annotated

import anyio
from mcp.server.streamable_http import EventMessage, EventStore
from pydantic import BaseModel

warnings.simplefilter("ignore")
VERSION = importlib.metadata.version("mcp")
PORT = int(sys.argv[2]) if sys.argv[1:2] == ["--http"] else None
given_up = 0


class Events(EventStore):
    """What streams have carried, for who comes back to one. Requests of later sessions may have the same stream."""

    def __init__(self):
        self.events = []

    async def store_event(self, stream_id, message):
        self.events.append((stream_id, message))
        return str(len(self.events))

    async def replay_events_after(self, last_event_id, send_callback):
        last = int(last_event_id)
        stream = self.events[last - 1][0]
        for number, (of, message) in enumerate(self.events[last:], last + 1):
            if of == stream and message:
                await send_callback(EventMessage(message, str(number)))
        return stream


OVER_HTTP = {"port": PORT, "event_store": Events(), "retry_interval": 50}


class Sum(BaseModel):
    sum: int


class Name(BaseModel):
    name: str


def add(a: int, b: int) -> Sum:
    """Adds."""
    return Sum(sum=a + b)


def fail() -> str:
    """Fails."""
    raise ToolError("out of order")


async def wait(ms: int) -> str:
    """Waits, unless it is cancelled."""
    global given_up
    try:
        await anyio.sleep(ms / 1000)
    except anyio.get_cancelled_exc_class():
        given_up += 1
        raise
    return "waited"


def count_given_up() -> str:
    """Counts the waits that were cancelled."""
    return str(given_up)


def forget_sessions() -> str:
    """Forgets all sessions, and says how many there were."""
    sessions = server.session_manager._server_instances if PORT else {}
    count = len(sessions)
    sessions.clear()
    return str(count)


if VERSION.startswith("2."):
    from mcp.server import MCPServer
    from mcp.server.mcpserver import Context
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.server.mcpserver.resolve import Elicit, Resolve, Sample
    from mcp_types import CreateMessageResult, SamplingMessage, TextContent

    server = MCPServer("python", version=VERSION, log_level="ERROR")

    async def ask_name() -> Elicit[Name]:
        return Elicit("What is your name?", Name)

    async def ask_model() -> Sample:
        question = TextContent(type="text", text="What is the capital of France?")
        return Sample([SamplingMessage(role="user", content=question)], max_tokens=10)

    async def greet(name: Annotated[Name, Resolve(ask_name)]) -> str:
        """Greets the user."""
        return f"Hello, {name.name}"

    async def think(thought: Annotated[CreateMessageResult, Resolve(ask_model)]) -> str:
        """Asks the model."""
        return f"It is {thought.content.text}"
else:
    from mcp.server.fastmcp import Context, FastMCP
    from mcp.server.fastmcp.exceptions import ToolError
    from mcp.types import SamplingMessage, TextContent

    server = FastMCP("python", log_level="ERROR", **(OVER_HTTP if PORT else {}))

    async def greet(ctx: Context) -> str:
        """Greets the user."""
        name = await ctx.elicit("What is your name?", Name)
        return f"Hello, {name.data.name}"

    async def think(ctx: Context) -> str:
        """Asks the model."""
        question = TextContent(type="text", text="What is the capital of France?")
        messages = [SamplingMessage(role="user", content=question)]
        thought = await ctx.session.create_message(messages, max_tokens=10)
        return f"It is {thought.content.text}"


async def count(to: int, ctx: Context) -> str:
    """Counts, and says how far it has got."""
    for step in range(1, to + 1):
        await ctx.report_progress(step, to)
    return "counted"


async def cut(ctx: Context) -> str:
    """Has its stream cut off before it answers."""
    await ctx.close_sse_stream()
    await anyio.sleep(0.1)
    return "whole"


for tool in [add, fail, wait, count_given_up, forget_sessions, greet, think, count, cut]:
    server.tool()(tool)


@server.resource("memo://here", mime_type="text/plain")
def memo() -> str:
    """A memo."""
    return "gr\u00fc\u00dfe \U0001f600"


@server.prompt()
def poem(topic: str) -> str:
    """A poem."""
    return f"Write a poem about {topic}"


if PORT is None:
    server.run("stdio")
elif VERSION.startswith("2."):
    server.run("streamable-http", **OVER_HTTP)
else:
    server.run("streamable-http")
