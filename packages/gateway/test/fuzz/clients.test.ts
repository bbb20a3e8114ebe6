/** Clients that send pseudo-random messages: to the MCP endpoint in both eras, to the bridge, and over stdio. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createRandom, FuzzMessages, fixture, temporaryDirectory } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { type FuzzDaemon, serveNeighbour, startFuzzDaemon } from './fuzz-daemon.js';
import { LINES, REQUESTS, SEED, SLOWEST_MS } from './settings.js';

const NAMES = ['good_echo', 'good', 'echo', 'good_add', 'good_greet', 'note://a', 'file:///a'];
const ACCEPT = { accept: 'application/json, text/event-stream' };
/** Streams end only when the client ends them. */
const STREAM_MS = 100;

/** Opens a legacy session; undefined if the daemon grants none. */
async function initialize(daemon: FuzzDaemon): Promise<string | undefined> {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'odd', version: '1' },
  };
  const response = await fetch(`${daemon.url}/mcp`, {
    method: 'POST',
    headers: { ...ACCEPT, authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
  await response.arrayBuffer();
  return response.headers.get('mcp-session-id') ?? undefined;
}

interface Sent {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function nextRequest(messages: FuzzMessages, session: string | undefined): Sent {
  const { json } = messages;
  const way = json.below(10);
  if (way < 2) {
    const body = json.object({
      server: '"good"',
      tool_name: '"echo"',
      arguments: json.pick(['{"text":"x"}', json.value()]),
      endpoint: json.chance(0.5)
        ? json.object({ url: '"http://127.0.0.1:1/"', transport: '"http"' })
        : 'null',
      timeout_ms: json.pick(['100', json.value()]),
    });
    const path = json.pick(['/mcp/call', '/mcp/calls', '/resources/read', '/prompts/get']);
    return { path, headers: {}, body: json.chance(0.1) ? json.damage(body) : body };
  }
  const modern = way < 6;
  const body = messages.clientMessage({ ids: [0, 1, 2, 'x', -1], names: NAMES, modern });
  const method = /"method":"([\w/]{1,60})"/.exec(body)?.[1];
  const headers = modern
    ? {
        'mcp-protocol-version': json.chance(0.9) ? '2026-07-28' : '2025-11-25',
        ...(method !== undefined && { 'mcp-method': method }),
        'mcp-name': /"(?:name|uri)":"([\w:/]{1,60})"/.exec(body)?.[1] ?? 'good_echo',
      }
    : { ...(session !== undefined && { 'mcp-session-id': session }), 'mcp-protocol-version': '2025-11-25' };
  return { path: '/mcp', headers: { ...ACCEPT, ...headers }, body };
}

/** A call may take longer than the limit that the client sets itself. */
const hasShortTimeout = ({ body }: Sent): boolean => /"timeout_ms":\d{1,3}\b/.test(body);

/** The status, or how the request ended; a stream is aborted after a moment. */
async function send(daemon: FuzzDaemon, { path, headers, body }: Sent): Promise<string> {
  const streamAbort = new AbortController();
  try {
    const response = await fetch(daemon.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json', ...headers },
      body,
      signal: AbortSignal.any([streamAbort.signal, AbortSignal.timeout(20_000)]),
    });
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const timer = isStream ? setTimeout(() => streamAbort.abort(), STREAM_MS) : undefined;
    await response.arrayBuffer().finally(() => clearTimeout(timer));
    return String(response.status);
  } catch (error) {
    if (streamAbort.signal.aborted) return 'stream';
    return error instanceof Error ? error.name : 'failed';
  }
}

it('no request of any client ends the daemon, and its neighbours are served', async () => {
  const daemon = await startFuzzDaemon({ spare: fixture('asking') });
  onTestFinished(async () => void (await daemon.stop()));
  const counted = new Map<string, number>();
  let sent = 0;
  const client = async (place: number): Promise<void> => {
    const messages = new FuzzMessages(createRandom(SEED + place));
    let session = await initialize(daemon);
    while (sent < REQUESTS && daemon.exit() === undefined) {
      sent += 1;
      // A session may have been ended by what was sent in it.
      if (messages.json.chance(0.02)) session = await initialize(daemon);
      const request = nextRequest(messages, session);
      const status = await send(daemon, request);
      const outcome = status === '504' && hasShortTimeout(request) ? 'own timeout' : status;
      counted.set(outcome, (counted.get(outcome) ?? 0) + 1);
    }
  };
  const { calls, slowestMs, faults } = await serveNeighbour(
    daemon,
    Promise.all([0, 1, 2, 3].map((place) => client(place))),
  );
  const summary = `${sent} requests, ${JSON.stringify([...counted])}; ${calls} calls of the neighbour, slowest ${slowestMs.toFixed()} ms`;

  expect(daemon.exit(), daemon.said()).toBeUndefined();
  expect(daemon.said()).not.toMatch(/^WARNING|at file:|Unhandled/m);
  expect(
    [...counted.keys()].filter((outcome) => outcome.startsWith('5')),
    summary,
  ).toEqual([]);
  expect(counted.has('TimeoutError'), summary).toBe(false);
  expect(faults, summary).toEqual([]);
  expect(slowestMs, summary).toBeLessThan(SLOWEST_MS);
  expect(counted.get('200') ?? 0, summary).toBeGreaterThan(sent / 10);
  process.stdout.write(`fuzzed by clients: ${summary}\n`);
  expect(await daemon.stop()).toBe(0);
}, 3_600_000);

const COMMAND = fileURLToPath(new URL('../../../cli/dist/bin.js', import.meta.url));

it('no line on stdin ends `serve --stdio`', async () => {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  writeFileSync(directory.file('mcp.json'), JSON.stringify({ servers: { good: fixture('echo') } }));
  const child = spawn(
    process.execPath,
    [COMMAND, 'serve', '--stdio', '--config', directory.file('mcp.json')],
    {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: {
        ...process.env,
        HOME: directory.path,
        XDG_STATE_HOME: directory.path,
        XDG_CONFIG_HOME: directory.path,
      },
    },
  );
  const ended = once(child, 'exit');
  let said = '';
  let last = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    last = (last + text).slice(-200_000);
  });
  const messages = new FuzzMessages(createRandom(SEED));
  const ask = async (id: string): Promise<void> => {
    const asked = { jsonrpc: '2.0', id, method: 'server/discover', params: { _meta: MODERN } };
    child.stdin.write(`${JSON.stringify(asked)}\n`);
    await expect.poll(() => last, { timeout: 30_000 }).toContain(`"${id}"`);
  };
  for (let count = 0; count < LINES; count += 500) {
    for (let line = 0; line < 500; line += 1)
      child.stdin.write(
        `${messages.clientMessage({ ids: [0, 1, 'x'], names: NAMES, modern: line % 2 === 0 }).replaceAll('\n', ' ')}\n`,
      );
    await ask(`still here ${count}`);
  }
  child.stdin.end();
  const [code] = await ended;
  expect(said).not.toMatch(/at file:|Unhandled|at .*\.js:\d+/);
  expect(code).toBe(0);
}, 3_600_000);

const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
