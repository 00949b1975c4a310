// A server on the official TypeScript SDK, `@modelcontextprotocol/server` 2.4.0 or `@modelcontextprotocol/sdk` 1.32.2,
// for our client. Started in the folder in which one of them is installed.
//
// ts_server.mjs [--http PORT]    over stdio, or over HTTP
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const installed = createRequire(`${process.cwd()}/server.js`);
const load = name => import(pathToFileURL(installed.resolve(name)));

const text = text => ({ content: [{ type: 'text', text }] });
const schema = (properties = {}) => ({ type: 'object', properties, required: Object.keys(properties) });
const integer = { type: 'integer' };

const form = { message: 'What is your name?', requestedSchema: schema({ name: { type: 'string' } }) };
const question = {
  messages: [{ role: 'user', content: { type: 'text', text: 'What is the capital of France?' } }],
  maxTokens: 10,
};
const [, , way, port] = process.argv;
const http = way === '--http';
const sessions = new Map();
let givenUp = 0;

/** What each does. Its second argument is what the versions have in ways of their own. */
const tools = {
  add: {
    inputSchema: schema({ a: integer, b: integer }),
    outputSchema: schema({ sum: integer }),
    run: ({ a, b }) => ({ ...text(`${a + b}`), structuredContent: { sum: a + b } }),
  },
  fail: { inputSchema: schema(), run: () => ({ ...text('out of order'), isError: true }) },
  wait: {
    inputSchema: schema({ ms: integer }),
    run: async ({ ms }, { signal }) => {
      await sleep(ms, undefined, { signal }).catch(() => { givenUp += 1; });
      return text('waited');
    },
  },
  count_given_up: { inputSchema: schema(), run: () => text(`${givenUp}`) },
  forget_sessions: {
    inputSchema: schema(),
    run: () => {
      const count = sessions.size;
      sessions.clear();
      return text(`${count}`);
    },
  },
  cut: {
    inputSchema: schema(),
    run: async (_, { cut }) => {
      cut?.();
      await sleep(100);
      return text('whole');
    },
  },
  greet: {
    inputSchema: schema(),
    run: (_, { ask }) => ask('elicitation/create', form, answer => text(`Hello, ${answer.content.name}`)),
  },
  think: {
    inputSchema: schema(),
    run: (_, { ask }) => ask('sampling/createMessage', question, answer => text(`It is ${answer.content.text}`)),
  },
  count: {
    inputSchema: schema({ to: integer }),
    run: async ({ to }, { notify, token }) => {
      for (let step = 1; step <= to; step += 1) {
        await notify({ method: 'notifications/progress', params: { progressToken: token, progress: step, total: to } });
      }
      return text('counted');
    },
  },
};

class NoSuchThing extends Error {
  code = -32602;
}

/** Every request but those of the handshake. */
const handlers = {
  'tools/list': () => ({ tools: Object.entries(tools).map(([name, { run, ...tool }]) => ({ name, ...tool })) }),
  'tools/call': ({ params }, context) => tools[params.name].run(params.arguments ?? {}, context),
  'resources/list': () => ({ resources: [{ name: 'memo', uri: 'memo://here' }] }),
  'resources/read': ({ params }) => {
    if (params.uri !== 'memo://here') throw new NoSuchThing('no such resource');
    return { contents: [{ uri: params.uri, mimeType: 'text/plain', text: 'gr\u00fc\u00dfe \u{1f600}' }] };
  },
  'prompts/list': () => ({ prompts: [{ name: 'poem', arguments: [{ name: 'topic', required: true }] }] }),
  'prompts/get': ({ params }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Write a poem about ${params.arguments.topic}` } }],
  }),
};
const info = { name: 'typescript', version: '1' };
const options = { capabilities: { tools: {}, resources: {}, prompts: {} } };

/** What the streams of a session have carried, for who comes back to one. */
class Events {
  events = [];

  async storeEvent(stream, message) {
    return `${this.events.push({ stream, message })}`;
  }

  async replayEventsAfter(last, { send }) {
    const { stream } = this.events[last - 1];
    for (const [index, event] of this.events.entries()) {
      // Places to begin at are kept as messages that are empty.
      if (index >= last && event.stream === stream && event.message.jsonrpc) await send(`${index + 1}`, event.message);
    }
    return stream;
  }
}

/** A request of a session, or one that begins one. */
async function inSession(request, Transport, make) {
  const id = request.headers.get('mcp-session-id');
  if (sessions.has(id)) return sessions.get(id).handleRequest(request);
  if (id) return new Response('no such session', { status: 404 });
  const transport = new Transport({
    sessionIdGenerator: randomUUID,
    eventStore: new Events(),
    retryInterval: 50,
    onsessioninitialized: id => { sessions.set(id, transport); },
    onsessionclosed: id => { sessions.delete(id); },
  });
  await make().connect(transport);
  return transport.handleRequest(request);
}

async function listen(fetch) {
  const { serve } = await load('@hono/node-server');
  serve({ fetch, port: Number(port), hostname: '127.0.0.1' });
}

async function version2() {
  const sdk = await load('@modelcontextprotocol/server');
  const { Server, inputRequired } = sdk;
  const { serveStdio } = await load('@modelcontextprotocol/server/stdio');
  const asked = { 'elicitation/create': 'elicit', 'sampling/createMessage': 'createMessage' };
  const make = () => {
    const server = new Server(info, options);
    for (const [method, handler] of Object.entries(handlers)) {
      server.setRequestHandler(method, (request, { mcpReq, http }) => handler(request, {
        cut: http?.closeSSE,
        signal: mcpReq.signal,
        token: mcpReq._meta?.progressToken,
        notify: mcpReq.notify,
        ask: (method, params, then) => {
          const answer = mcpReq.inputResponses?.answer;
          if (answer) return then(answer);
          return inputRequired({ inputRequests: { answer: inputRequired[asked[method]](params) } });
        },
      }));
    }
    return server;
  };
  if (!http) return serveStdio(make);
  const modern = sdk.createMcpHandler(make, { legacy: 'reject' });
  const inLegacy = request => inSession(request, sdk.WebStandardStreamableHTTPServerTransport, make);
  await listen(async request => await sdk.isLegacyRequest(request) ? inLegacy(request) : modern.fetch(request));
}

async function version1() {
  const { Server } = await load('@modelcontextprotocol/sdk/server/index.js');
  const { StdioServerTransport } = await load('@modelcontextprotocol/sdk/server/stdio.js');
  const types = await load('@modelcontextprotocol/sdk/types.js');
  const schemas = Object.values(types).filter(type => type?.shape?.method?.value);
  const { ElicitResultSchema, CreateMessageResultSchema } = types;
  const results = { 'elicitation/create': ElicitResultSchema, 'sampling/createMessage': CreateMessageResultSchema };
  const make = () => {
    const server = new Server(info, options);
    for (const [method, handler] of Object.entries(handlers)) {
      const schema = schemas.find(schema => schema.shape.method.value === method);
      server.setRequestHandler(schema, (request, extra) => handler(request, {
        cut: extra.closeSSEStream,
        signal: extra.signal,
        token: extra._meta?.progressToken,
        notify: extra.sendNotification,
        ask: async (method, params, then) => then(await extra.sendRequest({ method, params }, results[method])),
      }));
    }
    return server;
  };
  if (!http) return make().connect(new StdioServerTransport());
  const { WebStandardStreamableHTTPServerTransport: Transport } =
    await load('@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js');
  await listen(request => inSession(request, Transport, make));
}

let isVersion2 = true;
try {
  installed.resolve('@modelcontextprotocol/server');
} catch {
  isVersion2 = false;
}
await (isVersion2 ? version2() : version1());
