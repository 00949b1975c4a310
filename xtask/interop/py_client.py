"""The official Python clients, `mcp` 2.3.0 and 1.30.0, against an example server.

py_client.py ERA SERVER COMMAND ARGUMENT...    ERA is legacy, modern or auto; SERVER is calculator or echo

Prints `PASS name` and `FAIL name: why`.
"""

import asyncio
import contextlib
import importlib.metadata
import sys
import time

ERA, SERVER, COMMAND, *ARGUMENTS = sys.argv[1:]
VERSION = "2025-11-25" if ERA == "legacy" else "2026-07-28"
UNICODE = "grüße 中文 \U0001f600 \u2028 \\ \" \x7f \t"


class Version2:
    """The client of `mcp` 2.x."""

    @contextlib.asynccontextmanager
    async def connect(self):
        from mcp import Client
        from mcp.client.stdio import StdioServerParameters

        mode = {"legacy": "legacy", "modern": VERSION, "auto": "auto"}[ERA]
        server = StdioServerParameters(command=COMMAND, args=ARGUMENTS)
        async with Client(server, mode=mode, read_timeout_seconds=20, cache=None) as self.session:
            yield

    def about(self):
        # A pinned connection has no handshake, so it is never told the server's name.
        info = self.session.server_info
        name = SERVER if info is None and ERA == "modern" else info and info.name
        return self.session.protocol_version, name

    def is_error(self, result):
        return result.is_error

    async def cancelled_call(self, name, arguments, after):
        import anyio

        with anyio.move_on_after(after) as scope:
            await self.session.call_tool(name, arguments)
        return scope.cancelled_caught


class Version1:
    """The session of `mcp` 1.x."""

    @contextlib.asynccontextmanager
    async def connect(self):
        from datetime import timedelta

        from mcp import ClientSession, StdioServerParameters
        from mcp.client.stdio import stdio_client

        async with stdio_client(StdioServerParameters(command=COMMAND, args=ARGUMENTS)) as streams:
            async with ClientSession(*streams, read_timeout_seconds=timedelta(seconds=20)) as self.session:
                self.greeting = await self.session.initialize()
                yield

    def about(self):
        return self.greeting.protocolVersion, self.greeting.serverInfo.name

    def is_error(self, result):
        return result.isError

    async def cancelled_call(self, name, arguments, after):
        from mcp import types

        # This client never cancels by itself.
        number = self.session._request_id
        call = asyncio.ensure_future(self.session.call_tool(name, arguments))
        await asyncio.sleep(after)
        still_open = not call.done()
        params = types.CancelledNotificationParams(requestId=number, reason="enough")
        note = types.CancelledNotification(method="notifications/cancelled", params=params)
        await self.session.send_notification(types.ClientNotification(note))
        call.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await call
        return still_open


def expect(got, wanted):
    if got != wanted:
        raise AssertionError(f"got {got!r:.200}, want {wanted!r:.200}")


async def check(name, steps):
    """Runs one check and prints how it went."""
    try:
        async with asyncio.timeout(30):
            await steps
        print(f"PASS {name}", flush=True)
    except Exception as error:
        print(f"FAIL {name}: {type(error).__name__}: {' '.join(str(error).split())[:300]}", flush=True)


async def connected(client):
    expect(client.about(), (VERSION, SERVER))


async def listed(client, *names):
    tools = (await client.session.list_tools()).tools
    expect(set(names) - {tool.name for tool in tools}, set())


async def text(client, name, arguments):
    result = await client.session.call_tool(name, arguments)
    expect((client.is_error(result) or False, len(result.content)), (False, 1))
    return result.content[0].text


async def adds(client):
    expect(await text(client, "add", {"a": 2, "b": 3}), "5")


async def refuses_zero(client):
    result = await client.session.call_tool("divide", {"a": 1, "b": 0})
    expect(client.is_error(result), True)


async def echoes(client, sent):
    expect(await text(client, "echo", {"text": sent}), sent)


async def echoes_many(client):
    sent = [f"call {number}" for number in range(40)]
    expect(await asyncio.gather(*(text(client, "echo", {"text": one}) for one in sent)), sent)


async def cancels(client):
    expect(await client.cancelled_call("sleep", {"ms": 1000}, 0.15), True)
    # A late reply would come in this time, and is looked for on the wire.
    await asyncio.sleep(1.2)
    await echoes(client, "still here")


CHECKS = {
    "calculator": [
        ("lists its tools", lambda client: listed(client, "add", "subtract", "multiply", "divide")),
        ("adds", adds),
        ("division by zero is an error result", refuses_zero),
    ],
    "echo": [
        ("lists its tools", lambda client: listed(client, "echo", "sleep")),
        ("echoes unicode", lambda client: echoes(client, UNICODE)),
        ("echoes a megabyte", lambda client: echoes(client, "0123456789abcdef" * 65536)),
        ("answers 40 calls at once", echoes_many),
        ("stays usable after a cancel", cancels),
    ],
}


async def main():
    client = Version2() if importlib.metadata.version("mcp").startswith("2.") else Version1()
    async with client.connect():
        await check("connects", connected(client))
        for name, steps in CHECKS[SERVER]:
            await check(name, steps(client))
        closing = time.monotonic()
    await check("closes within 2 s", closed(time.monotonic() - closing))


async def closed(took):
    if took >= 2:
        raise AssertionError(f"{took:.1f} s")


try:
    asyncio.run(main())
except BaseException as error:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    print(f"FAIL session: {type(error).__name__}: {error}")
