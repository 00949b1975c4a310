// The official TypeScript clients, `@modelcontextprotocol/client` 2.4.0 and `@modelcontextprotocol/sdk` 1.32.2,
// against an example server. Started in the folder in which one of them is installed.
//
// ts_client.mjs ERA SERVER COMMAND ARGUMENT...    ERA is legacy, modern, auto or an old revision; SERVER is
//                                               calculator, echo or everything
// ts_client.mjs ERA SERVER URL                    a server that listens there
//
// Prints `PASS name` and `FAIL name: why`.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const [era, server, command, ...args] = process.argv.slice(2);
const legacy = era !== 'modern' && era !== 'auto';
const version = { legacy: '2025-11-25', modern: '2026-07-28', auto: '2026-07-28' }[era] ?? era;
const http = command.startsWith('http:');
const echo = server === 'everything' ? 'interop_echo' : 'echo';
const watched = 'test://watched-resource';
const unicode = 'grüße 中文 \u{1f600} \u2028 \\ " \x7f \t';

const installed = createRequire(`${process.cwd()}/client.js`);
const load = name => import(pathToFileURL(installed.resolve(name)));

/** Version 2, or where that is not installed version 1. Handlers are set by method, or by schema. */
async function classes() {
  try {
    const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');
    const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');
    const transports = { StdioClientTransport, StreamableHTTPClientTransport };
    return { Client, ...transports, call: (client, params, options) => client.callTool(params, options), handled: method => method };
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');
    const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const transports = { StdioClientTransport, StreamableHTTPClientTransport };
    const types = await load('@modelcontextprotocol/sdk/types.js');
    const schemas = Object.values(types).filter(type => type?.shape?.method?.value);
    const handled = method => schemas.find(schema => schema.shape.method.value === method);
    return { Client, ...transports, call: (client, params, options) => client.callTool(params, undefined, options), handled };
  }
}

async function check(name, steps) {
  try {
    await steps();
    console.log(`PASS ${name}`);
  } catch (error) {
    console.log(`FAIL ${name}: ${`${error?.name}: ${error?.message}`.replace(/\s+/g, ' ').slice(0, 300)}`);
  }
}

const { Client, StdioClientTransport, StreamableHTTPClientTransport, call, handled } = await classes();
const mode = { modern: { pin: version }, auto: 'auto' }[era] ?? 'legacy';
const supportedProtocolVersions = era === version ? [version] : undefined;
const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
const options = { capabilities, versionNegotiation: { mode }, supportedProtocolVersions };
const client = new Client({ name: 'interop', version: '1' }, options);

/** What the user, the model and the client answer. */
const answers = { name: 'Ada', color: 'red', response: 'yes' };
const handlers = {
  'elicitation/create': ({ params }) => {
    const fields = Object.keys(params.requestedSchema.properties).map(name => [name, answers[name]]);
    return { action: 'accept', content: Object.fromEntries(fields) };
  },
  'sampling/createMessage': () => ({ role: 'assistant', model: 'none', content: { type: 'text', text: 'Paris' } }),
  'roots/list': () => ({ roots: [{ uri: 'file:///home' }] }),
};
for (const [method, handler] of Object.entries(handlers)) client.setRequestHandler(handled(method), handler);

const notices = [];
for (const what of ['tools/list_changed', 'prompts/list_changed', 'resources/updated']) {
  client.setNotificationHandler(handled(`notifications/${what}`), () => { notices.push(what); });
}
const errors = [];
client.onerror = error => errors.push(String(error?.message ?? error));

/** The requests that are made over HTTP. */
const exchanges = [];
async function noted(url, options) {
  const response = await fetch(url, options);
  const again = new Headers(options?.headers).has('last-event-id');
  exchanges.push({ method: options?.method ?? 'GET', again, ok: response.ok });
  return response;
}
const transport = http
  ? new StreamableHTTPClientTransport(new URL(command), { fetch: noted })
  : new StdioClientTransport({ command, args, stderr: 'inherit' });
const known = transport.setProtocolVersion?.bind(transport);
// Version 1 tells the negotiated version to its transport only, and only where this exists.
transport.setProtocolVersion = negotiated => {
  transport.negotiated = negotiated;
  known?.(negotiated);
};

const tool = (name, args, options) => call(client, { name, arguments: args }, { timeout: 20_000, ...options });

async function text(name, args) {
  const result = await tool(name, args);
  assert.deepEqual([result.isError ?? false, result.content.length], [false, 1]);
  return result.content[0].text;
}

async function listed(...names) {
  const tools = (await client.listTools()).tools.map(tool => tool.name);
  assert.deepEqual(names.filter(name => !tools.includes(name)), []);
}

async function echoes(sent) {
  const got = await text(echo, { text: sent });
  assert.ok(got === sent, `${got.length} characters that differ`);
}

/** Waits until a check holds, as what the server tells comes when it comes. */
async function until(holds) {
  for (const limit = performance.now() + 5000; !await holds(); await sleep(10)) {
    assert.ok(performance.now() < limit, 'it never comes');
  }
}

async function hears() {
  const filter = { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: [watched] };
  const stream = legacy ? await client.subscribeResource({ uri: watched }) : await client.listen(filter);
  for (const [name, args, what] of [
    ['test_trigger_tool_change', {}, 'tools/list_changed'],
    ['test_trigger_prompt_change', {}, 'prompts/list_changed'],
    ['interop_touch_resource', { uri: watched }, 'resources/updated'],
  ]) {
    await text(name, args);
    await until(() => notices.includes(what));
  }
  await stream.close?.();
}

const echoing = {
  'echoes unicode': () => echoes(unicode),
  'echoes a megabyte': () => echoes('0123456789abcdef'.repeat(65536)),
  'answers 40 calls at once': async () => {
    const sent = [...Array(40).keys()].map(number => `call ${number}`);
    assert.deepEqual(await Promise.all(sent.map(one => text(echo, { text: one }))), sent);
  },
};
const checks = {
  everything: {
    'lists its tools': () => listed('test_simple_text', 'interop_cancel_count'),
    ...echoing,
    'hears of progress': async () => {
      const reports = [];
      await tool('test_tool_with_progress', {}, { onprogress: ({ progress, total }) => { reports.push([progress, total]); } });
      assert.deepEqual(reports, [[0, 100], [50, 100], [100, 100]]);
    },
    'gives a structured result': async () => {
      const result = await tool('interop_structured', { city: 'Rome' });
      assert.equal(result.structuredContent.city, 'Rome');
    },
    'reads resources': async () => {
      const { resources } = await client.listResources();
      assert.ok(resources.some(({ uri }) => uri === watched));
      const { contents } = await client.readResource({ uri: 'test://template/12/data' });
      assert.match(contents[0].text, /"id":"12"/);
      await assert.rejects(client.readResource({ uri: 'test://none' }), /not found/);
    },
    'gets and completes a prompt': async () => {
      const name = 'test_prompt_with_arguments';
      const prompt = await client.getPrompt({ name, arguments: { arg1: 'a', arg2: 'b' } });
      assert.equal(prompt.messages[0].content.text, "Prompt with arguments: arg1='a', arg2='b'");
      const argument = { name: 'arg1', value: 'par' };
      const { completion } = await client.complete({ ref: { type: 'ref/prompt', name }, argument });
      assert.deepEqual(completion.values, ['paris', 'park', 'party']);
    },
    'asks the user, the model and the client': async () => {
      const rounds = await text('test_input_required_result_multi_round', {});
      assert.equal(rounds, 'Multi-round complete for Ada who likes red');
      const atOnce = await text('test_input_required_result_multiple_inputs', {});
      assert.equal(atOnce, 'Name: Ada; Greeting: Paris; Roots: 1');
    },
    'tells of changes': hears,
    'gives up a cancelled call': async () => {
      const abort = new AbortController();
      const sleeping = tool('interop_sleep', { ms: 5000 }, { signal: abort.signal });
      await sleep(150);
      abort.abort('enough');
      await assert.rejects(sleeping);
      await until(async () => await text('interop_cancel_count', {}) === '1');
    },
  },
  calculator: {
    'lists its tools': () => listed('add', 'subtract', 'multiply', 'divide'),
    adds: async () => assert.equal(await text('add', { a: 2, b: 3 }), '5'),
    'division by zero is an error result': async () => assert.equal((await tool('divide', { a: 1, b: 0 })).isError, true),
  },
  echo: {
    'lists its tools': () => listed('echo', 'sleep'),
    ...echoing,
    'stays usable after a cancel': async () => {
      const abort = new AbortController();
      const sleeping = tool('sleep', { ms: 1000 }, { signal: abort.signal });
      await sleep(150);
      abort.abort('enough');
      await assert.rejects(sleeping);
      // A late reply would come in this time, and is looked for on the wire.
      await sleep(1200);
      await echoes('still here');
    },
  },
};

try {
  await client.connect(transport, { timeout: 20_000 });
  await check('connects', () => {
    const negotiated = client.getNegotiatedProtocolVersion?.() ?? transport.negotiated;
    // A pinned connection has no handshake, so it is never told the server's name.
    const name = client.getServerVersion()?.name ?? (era === 'modern' ? server : undefined);
    assert.deepEqual([negotiated, name], [version, server]);
  });
  for (const [name, steps] of Object.entries(checks[server])) await check(name, steps);
  if (http) {
    await check('reads on where a stream was cut off', async () => {
      // The answer takes longer than a stream of the server lasts, which older revisions do not come back to.
      assert.equal(await text('interop_sleep', { ms: 1700, label: 'long' }), 'slept long');
      assert.equal(exchanges.some(({ again }) => again), version === '2025-11-25');
    });
  }
  const closing = performance.now();
  if (http && legacy) await transport.terminateSession();
  await client.close();
  const took = performance.now() - closing;
  await check('closes within 2 s', () => assert.ok(took < 2000, `${took.toFixed()} ms`));
  if (http) {
    await check('ends its session', () => {
      const ends = exchanges.filter(({ method }) => method === 'DELETE');
      assert.deepEqual(ends.map(({ ok }) => ok), legacy ? [true] : []);
    });
  }
  // A legacy session that has cancelled a call asks for what its stream had left, and so for nothing that there is.
  const asked = /Failed to open SSE stream: Bad Request|Maximum reconnection attempts/;
  const met = http && legacy ? errors.filter(error => !asked.test(error)) : errors;
  await check('the client met no error', () => assert.deepEqual(met, []));
} catch (error) {
  console.log(`FAIL session: ${error?.name}: ${error?.message}`);
}
