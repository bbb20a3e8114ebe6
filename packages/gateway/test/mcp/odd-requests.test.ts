/** What no well-behaved client sends, over both transports and in both eras. */
import { PassThrough } from 'node:stream';
import { fixture, timeBound, waitUntil } from '@turnbuckle/testing';
import type { ServerInput } from 'turnbuckle';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { initialize } from './raw-client.js';
import { EVERYTHING, openStand, type Stand } from './stand.js';

/** Reports progress for every call; sends a request with an id of many digits, and returns the response to it verbatim. */
const ASKER = `
const say = (text) => process.stdout.write(text + '\\n');
let waiting;
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize')
    return say(JSON.stringify({ jsonrpc: '2.0', id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } } }));
  if (method === 'tools/list')
    return say(JSON.stringify({ jsonrpc: '2.0', id, result: { tools: ['ask', 'wait'].map((name) => ({ name, inputSchema: { type: 'object' } })) } }));
  if (method === 'tools/call') {
    say(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: params._meta.progressToken, progress: 1 } }));
    if (params.name === 'wait') return;
    waiting = id;
    return say('{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}');
  }
  if (method === 'notifications/cancelled') return;
  if (method === undefined && waiting !== undefined) {
    say(JSON.stringify({ jsonrpc: '2.0', id: waiting, result: { content: [{ type: 'text', text: line }] } }));
    waiting = undefined;
  } else if (id !== undefined) say(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }));
});`;

const META =
  '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}';
const IDS = ['9007199254740993', '-9007199254740995', '18446744073709551616', '7', '"9007199254740993"'];
const DEEP = '['.repeat(5_000) + ']'.repeat(5_000);

let stand: Stand;
beforeAll(async () => {
  const asker: ServerInput = { command: process.execPath, args: ['-e', ASKER], era: 'legacy' };
  stand = await openStand({ servers: { asker, echo: fixture('echo') } });
});
afterAll(() => stand.close());

type Era = 'legacy' | 'modern';

function requestText(era: Era, id: string, method: string, params: string): string {
  const meta = `"progressToken":${id}${era === 'modern' ? `,${META}` : ''}`;
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{${params}"_meta":{${meta}}}}`;
}

/** The texts that come back over HTTP. */
async function post(era: Era, body: string, name = ''): Promise<{ status: number; text: string }> {
  const method = /"method":"([^"]*)"/.exec(body)?.[1] ?? '';
  const more: Record<string, string> =
    era === 'modern'
      ? {
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': method,
          ...(name !== '' && { 'mcp-name': name }),
        }
      : { 'mcp-session-id': await initialize(stand) };
  const response = await fetch(`${stand.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer token',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...more,
    },
    body,
  });
  return { status: response.status, text: await response.text() };
}

/** A client over streams: what it receives, line by line. */
function openStreams(maxBytes = 1_000_000) {
  const input = new PassThrough();
  const output = new PassThrough();
  let text = '';
  output.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  const serving = stand.endpoint.serveStdio({ input, output, caller: EVERYTHING, maxBytes });
  return {
    say: (line: string) => void input.write(`${line}\n`),
    text: () => text,
    close: async () => {
      input.end();
      await serving;
    },
  };
}

describe.each(['legacy', 'modern'] as const)('ids of a %s client', (era) => {
  it.each(IDS)('%s comes back as it was sent, over HTTP', async (id) => {
    const listed = await post(era, requestText(era, id, 'tools/list', ''));
    expect(listed.text).toContain(`"id":${id},"result"`);
    const refused = await post(era, requestText(era, id, 'prompts/get', '"name":"none",'), 'none');
    expect(refused.text).toContain(`"id":${id},"error"`);
    const called = await post(era, requestText(era, id, 'tools/call', '"name":"asker_ask",'), 'asker_ask');
    expect(called.text).toContain(`"id":${id},"result"`);
    expect(called.text).toContain(`"progressToken":${id},"progress":1`);
    // The request of the server in between had its own id.
    expect(called.text).toContain(String.raw`\"id\":9007199254740993`);
  });

  it('come back over streams, and cancel the one request that they name', async () => {
    const client = openStreams();
    const first = IDS[0] ?? '';
    const twin = '9007199254740992';
    for (const id of [first, twin])
      client.say(requestText(era, id, 'tools/call', '"name":"asker_wait","arguments":{},'));
    await waitUntil(() => client.text().includes(`"progressToken":${first},`));
    await waitUntil(() => client.text().includes(`"progressToken":${twin},`));
    const started = stand.runtime.serverStatus('asker').inFlight;
    client.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${first}}}`);
    await waitUntil(() => stand.runtime.serverStatus('asker').inFlight === started - 1);
    client.say(requestText(era, '18446744073709551617', 'tools/list', ''));
    await waitUntil(() => client.text().includes('"id":18446744073709551617,"result"'));
    expect(stand.runtime.serverStatus('asker').inFlight).toBe(started - 1);
    await client.close();
  });
});

describe('batches', () => {
  it('are refused at once over streams, each request in them by its id', async () => {
    const client = openStreams();
    client.say(
      '[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":"b","method":"tools/list"}]',
    );
    client.say('[]');
    client.say('[{"jsonrpc":"2.0","method":"x"}]');
    await waitUntil(() => client.text().split('\n').length > 4);
    const answers = client
      .text()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers.map(({ id, error }) => [id, error.code])).toEqual([
      [1, -32600],
      ['b', -32600],
      [null, -32600],
      [null, -32600],
    ]);
    await client.close();
  });

  it('are parsed once, however large, and block no other request', async () => {
    const client = openStreams(5_000_000);
    const request = '{"jsonrpc":"2.0","id":"b","method":"ping"}';
    for (const part of [`{"a":"${'x'.repeat(90)}"}`, '[]']) {
      const many = Array(Math.floor(4_000_000 / (part.length + 1))).fill(part);
      const before = client.text().split('\n').length;
      client.say(`[${request},${many.join(',')}]`);
      let worst = 0;
      let last = performance.now();
      await waitUntil(() => {
        worst = Math.max(worst, performance.now() - last);
        last = performance.now();
        return client.text().split('\n').length > before;
      }, 20_000);
      expect(worst).toBeLessThan(timeBound(100));
    }
    // One has fewer values than allowed, the other more: then its id cannot be found.
    const ids = client
      .text()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id);
    expect(ids).toEqual(['b', null]);
    await client.close();
  });

  it('are refused over HTTP', async () => {
    const { status, text } = await post('legacy', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]');
    expect([status, JSON.parse(text)]).toMatchObject([400, { error: { code: -32600 } }]);
  });
});

describe('malformed requests', () => {
  it.each(['legacy', 'modern'] as const)('are refused when they are nested too deep (%s)', async (era) => {
    for (const params of [`"name":"echo_echo","arguments":{"text":${DEEP}},`, `"x":${DEEP},`]) {
      const { status, text } = await post(era, requestText(era, '1', 'tools/call', params), 'echo_echo');
      expect(status).toBe(400);
      expect(JSON.parse(text)).toMatchObject({
        error: { code: -32600, message: expect.stringContaining('nested more than 512 levels deep') },
      });
    }
    const client = openStreams();
    client.say(requestText(era, '1', 'tools/call', `"name":"echo_echo","arguments":{"text":${DEEP}},`));
    await waitUntil(() => client.text().includes('nested more than 512 levels deep'));
    await client.close();
  });

  it('may have null params, as in JSON-RPC 1.0', async () => {
    const { text } = await post('legacy', '{"jsonrpc":"2.0","id":1,"method":"ping","params":null}');
    expect(JSON.parse(text)).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  });

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    'are refused if they name the method %s',
    async (method) => {
      for (const era of ['legacy', 'modern'] as const) {
        const { text } = await post(
          era,
          requestText(era, '1', method, `"${method}":{},"taskId":"${method}",`),
        );
        expect(JSON.parse(text)).toMatchObject({ id: 1, error: { code: -32601 } });
      }
    },
  );
});
