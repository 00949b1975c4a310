"""The official Python clients, `mcp` 2.3.0 and 1.30.0, against an example server.

py_client.py ERA SERVER COMMAND ARGUMENT...    ERA is legacy, modern or auto; SERVER is calculator, echo or everything
py_client.py ERA SERVER URL                    a server that listens there

Prints `PASS name` and `FAIL name: why`.
"""

import asyncio
import contextlib
import importlib.metadata
import sys
import time
import warnings

warnings.simplefilter("ignore")
ERA, SERVER, COMMAND, *ARGUMENTS = sys.argv[1:]
VERSION = "2025-11-25" if ERA == "legacy" else "2026-07-28"
HTTP = COMMAND.startswith("http:")
ECHO = "interop_echo" if SERVER == "everything" else "echo"
WATCHED = "test://watched-resource"
UNICODE = "grüße 中文 \U0001f600 \u2028 \\ \" \x7f \t"


def wire(message):
    return message.model_dump(by_alias=True, mode="json", exclude_none=True)


def elicited(types, params):
    """What the user answers."""
    answers = {"name": "Ada", "color": "red", "response": "yes"}
    fields = wire(params)["requestedSchema"]["properties"]
    return types.ElicitResult(action="accept", content={name: answers[name] for name in fields})


def sampled(types):
    """What the model says."""
    content = types.TextContent(type="text", text="Paris")
    return types.CreateMessageResult(role="assistant", model="none", content=content)


def roots(types):
    return types.ListRootsResult(roots=[types.Root(uri="file:///home")])


@contextlib.asynccontextmanager
async def over_http(exchanges):
    """The way to the server, which notes the requests that are made."""
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client

    async def note(response):
        exchanges.append((response.request.method, "last-event-id" in response.request.headers, response.status_code))

    async with create_mcp_http_client() as http:
        http.event_hooks = {"response": [note]}
        async with streamable_http_client(COMMAND, http_client=http) as streams:
            yield streams


class Version2:
    """The client of `mcp` 2.x."""

    def __init__(self):
        self.notices = []
        self.exchanges = []

    def callbacks(self):
        import mcp_types as types

        async def elicit(_, params):
            return elicited(types, params)

        async def sample(_, params):
            return sampled(types)

        async def list_roots(_):
            return roots(types)

        async def notice(message):
            if isinstance(message, types.ServerNotification):
                self.notices.append(wire(message)["method"])

        return {
            "elicitation_callback": elicit,
            "sampling_callback": sample,
            "list_roots_callback": list_roots,
            "message_handler": notice,
        }

    @contextlib.asynccontextmanager
    async def connect(self):
        from mcp import Client
        from mcp.client.stdio import StdioServerParameters

        mode = {"legacy": "legacy", "modern": VERSION, "auto": "auto"}[ERA]
        server = StdioServerParameters(command=COMMAND, args=ARGUMENTS)
        if HTTP:
            server = over_http(self.exchanges)
        async with Client(server, mode=mode, read_timeout_seconds=20, cache=None, **self.callbacks()) as self.session:
            yield

    def reference(self, **of):
        import mcp_types as types

        return types.PromptReference(type="ref/prompt", **of)

    @contextlib.asynccontextmanager
    async def told(self):
        """Gathers in `notices` what the server tells of changes."""
        if ERA == "legacy":
            await self.session.subscribe_resource(WATCHED)
            yield
            return
        everything = {"tools_list_changed": True, "prompts_list_changed": True, "resource_subscriptions": [WATCHED]}
        async with self.session.listen(**everything) as events:
            reader = asyncio.ensure_future(self.read(events))
            yield
            reader.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await reader

    async def read(self, events):
        methods = {
            "ToolsListChanged": "notifications/tools/list_changed",
            "PromptsListChanged": "notifications/prompts/list_changed",
            "ResourceUpdated": "notifications/resources/updated",
        }
        async for event in events:
            self.notices.append(methods[type(event).__name__])

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

    def __init__(self):
        self.notices = []
        self.exchanges = []

    def callbacks(self):
        from mcp import types

        async def elicit(_, params):
            return elicited(types, params)

        async def sample(_, params):
            return sampled(types)

        async def list_roots(_):
            return roots(types)

        async def notice(message):
            if isinstance(message, types.ServerNotification):
                self.notices.append(message.root.method)

        return {
            "elicitation_callback": elicit,
            "sampling_callback": sample,
            "list_roots_callback": list_roots,
            "message_handler": notice,
        }

    @contextlib.asynccontextmanager
    async def connect(self):
        from datetime import timedelta

        from mcp import ClientSession, StdioServerParameters
        from mcp.client.stdio import stdio_client

        server = stdio_client(StdioServerParameters(command=COMMAND, args=ARGUMENTS))
        if HTTP:
            server = over_http(self.exchanges)
        async with server as streams:
            timeout = timedelta(seconds=20)
            async with ClientSession(*streams[:2], read_timeout_seconds=timeout, **self.callbacks()) as self.session:
                self.greeting = await self.session.initialize()
                yield

    def reference(self, **of):
        from mcp import types

        return types.PromptReference(type="ref/prompt", **of)

    @contextlib.asynccontextmanager
    async def told(self):
        await self.session.subscribe_resource(WATCHED)
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
    expect(await text(client, ECHO, {"text": sent}), sent)


async def echoes_many(client):
    sent = [f"call {number}" for number in range(40)]
    expect(await asyncio.gather(*(text(client, ECHO, {"text": one}) for one in sent)), sent)


async def cancels(client):
    expect(await client.cancelled_call("sleep", {"ms": 1000}, 0.15), True)
    # A late reply would come in this time, and is looked for on the wire.
    await asyncio.sleep(1.2)
    await echoes(client, "still here")


async def hears_of_progress(client):
    reports = []

    async def report(progress, total, message):
        reports.append((progress, total))

    await client.session.call_tool("test_tool_with_progress", {}, progress_callback=report)
    expect(reports, [(0, 100), (50, 100), (100, 100)])


async def is_structured(client):
    result = wire(await client.session.call_tool("interop_structured", {"city": "Rome"}))
    expect(result["structuredContent"]["city"], "Rome")


async def reads(client):
    listed = wire(await client.session.list_resources())["resources"]
    expect(WATCHED in [resource["uri"] for resource in listed], True)
    contents = wire(await client.session.read_resource("test://template/12/data"))["contents"]
    expect('"id":"12"' in contents[0]["text"], True)
    try:
        await client.session.read_resource("test://none")
    except Exception as error:
        expect("not found" in str(error), True)
    else:
        raise AssertionError("a resource that is not there can be read")


async def prompts(client):
    arguments = {"arg1": "a", "arg2": "b"}
    prompt = wire(await client.session.get_prompt("test_prompt_with_arguments", arguments))
    expect(prompt["messages"][0]["content"]["text"], "Prompt with arguments: arg1='a', arg2='b'")
    argument = {"name": "arg1", "value": "par"}
    completed = wire(await client.session.complete(client.reference(name="test_prompt_with_arguments"), argument))
    expect(completed["completion"]["values"], ["paris", "park", "party"])


async def asks(client):
    rounds = await text(client, "test_input_required_result_multi_round", {})
    expect(rounds, "Multi-round complete for Ada who likes red")
    at_once = await text(client, "test_input_required_result_multiple_inputs", {})
    expect(at_once, "Name: Ada; Greeting: Paris; Roots: 1")


async def hears(client):
    async with client.told():
        for tool, arguments, method in [
            ("test_trigger_tool_change", {}, "notifications/tools/list_changed"),
            ("test_trigger_prompt_change", {}, "notifications/prompts/list_changed"),
            ("interop_touch_resource", {"uri": WATCHED}, "notifications/resources/updated"),
        ]:
            await text(client, tool, arguments)
            while method not in client.notices:
                await asyncio.sleep(0.01)


async def gives_up(client):
    expect(await client.cancelled_call("interop_sleep", {"ms": 5000}, 0.15), True)
    while await text(client, "interop_cancel_count", {}) != "1":
        await asyncio.sleep(0.01)


async def reads_on(client):
    """The answer takes longer than a stream of the server lasts."""
    expect(await text(client, "interop_sleep", {"ms": 1700, "label": "long"}), "slept long")
    expect(any(again for _, again, _ in client.exchanges), ERA == "legacy")


async def left(client):
    """Only what has a session ends one."""
    deletes = [status // 100 for method, _, status in client.exchanges if method == "DELETE"]
    expect(deletes, [2] if ERA == "legacy" else [])


ECHOES = [
    ("echoes unicode", lambda client: echoes(client, UNICODE)),
    ("echoes a megabyte", lambda client: echoes(client, "0123456789abcdef" * 65536)),
    ("answers 40 calls at once", echoes_many),
]
CHECKS = {
    "everything": [
        ("lists its tools", lambda client: listed(client, "test_simple_text", "interop_cancel_count")),
        *ECHOES,
        ("hears of progress", hears_of_progress),
        ("gives a structured result", is_structured),
        ("reads resources", reads),
        ("gets and completes a prompt", prompts),
        ("asks the user, the model and the client", asks),
        ("tells of changes", hears),
        ("gives up a cancelled call", gives_up),
    ],
    "calculator": [
        ("lists its tools", lambda client: listed(client, "add", "subtract", "multiply", "divide")),
        ("adds", adds),
        ("division by zero is an error result", refuses_zero),
    ],
    "echo": [
        ("lists its tools", lambda client: listed(client, "echo", "sleep")),
        *ECHOES,
        ("stays usable after a cancel", cancels),
    ],
}


async def main():
    client = Version2() if importlib.metadata.version("mcp").startswith("2.") else Version1()
    async with client.connect():
        await check("connects", connected(client))
        for name, steps in CHECKS[SERVER]:
            await check(name, steps(client))
        if HTTP:
            await check("reads on where a stream was cut off", reads_on(client))
        closing = time.monotonic()
    await check("closes within 2 s", closed(time.monotonic() - closing))
    if HTTP:
        await check("ends its session", left(client))


async def closed(took):
    if took >= 2:
        raise AssertionError(f"{took:.1f} s")


try:
    asyncio.run(main())
except BaseException as error:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    print(f"FAIL session: {type(error).__name__}: {error}")
