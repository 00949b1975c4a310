// The official TypeScript clients, `@modelcontextprotocol/client` 2.4.0 and `@modelcontextprotocol/sdk` 1.32.2,
// against an example server. Started in the folder in which one of them is installed.
//
// ts_client.mjs ERA SERVER COMMAND ARGUMENT...    ERA is legacy, modern or auto; SERVER is calculator or echo
//
// Prints `PASS name` and `FAIL name: why`.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const [era, server, command, ...args] = process.argv.slice(2);
const version = era === 'legacy' ? '2025-11-25' : '2026-07-28';
const unicode = 'grüße 中文 \u{1f600} \u2028 \\ " \x7f \t';

const installed = createRequire(`${process.cwd()}/client.js`);
const load = name => import(pathToFileURL(installed.resolve(name)));

/** Version 2, or where that is not installed version 1. */
async function classes() {
  try {
    const { Client } = await load('@modelcontextprotocol/client');
    const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');
    return { Client, StdioClientTransport, call: (client, params, options) => client.callTool(params, options) };
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error;
    const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');
    return { Client, StdioClientTransport, call: (client, params, options) => client.callTool(params, undefined, options) };
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

const { Client, StdioClientTransport, call } = await classes();
const mode = { legacy: 'legacy', modern: { pin: version }, auto: 'auto' }[era];
const client = new Client({ name: 'interop', version: '1' }, { capabilities: {}, versionNegotiation: { mode } });
const errors = [];
client.onerror = error => errors.push(String(error?.message ?? error));
const transport = new StdioClientTransport({ command, args, stderr: 'inherit' });
// Version 1 tells the negotiated version to its transport only, and only where this exists.
transport.setProtocolVersion = negotiated => { transport.negotiated = negotiated; };

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
  const got = await text('echo', { text: sent });
  assert.ok(got === sent, `${got.length} characters that differ`);
}

const checks = {
  calculator: {
    'lists its tools': () => listed('add', 'subtract', 'multiply', 'divide'),
    adds: async () => assert.equal(await text('add', { a: 2, b: 3 }), '5'),
    'division by zero is an error result': async () => assert.equal((await tool('divide', { a: 1, b: 0 })).isError, true),
  },
  echo: {
    'lists its tools': () => listed('echo', 'sleep'),
    'echoes unicode': () => echoes(unicode),
    'echoes a megabyte': () => echoes('0123456789abcdef'.repeat(65536)),
    'answers 40 calls at once': async () => {
      const sent = [...Array(40).keys()].map(number => `call ${number}`);
      assert.deepEqual(await Promise.all(sent.map(one => text('echo', { text: one }))), sent);
    },
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
  const closing = performance.now();
  await client.close();
  const took = performance.now() - closing;
  await check('closes within 2 s', () => assert.ok(took < 2000, `${took.toFixed()} ms`));
  await check('the client met no error', () => assert.deepEqual(errors, []));
} catch (error) {
  console.log(`FAIL session: ${error?.name}: ${error?.message}`);
}
