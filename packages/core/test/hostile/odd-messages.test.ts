import { fixture, waitUntil } from '@turnbuckle/testing';
import fc from 'fast-check';
import type { Runtime, RuntimeEvents } from 'turnbuckle';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOwnRuntime } from './own-runtime.js';
import { RAW_TRANSPORTS, type RawServer, rawServer, type SayArguments } from './raw-server.js';
import { say } from './with-runtime.js';

const DEEP = '['.repeat(5_000) + ']'.repeat(5_000);
const message = (parts: string): string => `{"jsonrpc":"2.0",${parts}}`;
const NAMES = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'];

/** No request waits for any of these. */
const NOISE: readonly string[] = [
  ...NAMES.flatMap((name) => [
    message(`"method":"${name}"`),
    message(`"method":"${name}","params":{}`),
    message(`"id":"${name}","result":{}`),
    message(`"id":"${name}","method":"${name}","params":{"${name}":1}`),
    message(`"method":"notifications/message","params":{"level":"${name}","${name}":{"${name}":1}}`),
  ]),
  message('"method":"x","params":null'),
  message('"method":"notifications/cancelled","params":null'),
  message('"method":"notifications/cancelled"'),
  message('"method":"notifications/resources/updated","params":{"uri":{}}'),
  message('"method":"notifications/resources/updated"'),
  message('"method":"notifications/subscriptions/acknowledged","params":{"_meta":null}'),
  message('"method":"notifications/message","params":null'),
  message(`"method":"notifications/message","params":{"level":"info","data":${DEEP}}`),
  message(`"method":"notifications/progress","params":{"progressToken":$ID,"progress":1,"message":${DEEP}}`),
  message(`"id":70,"method":"elicitation/create","params":{"message":"m","requestedSchema":${DEEP}}`),
  message(`"id":71,"method":"sampling/createMessage","params":{"messages":${DEEP}}`),
  message('"id":72,"method":"elicitation/create","params":null'),
  message('"id":73,"method":"sampling/createMessage","params":[]'),
  message('"id":74,"method":"roots/list","params":null'),
  message('"id":75,"method":{}'),
  message('"id":5,"error":null'),
  message('"id":5,"error":{}'),
  message('"id":null,"error":{"code":1,"message":"x"}'),
  message('"id":5,"result":null'),
  message(`"id":5,"error":{"code":1,"message":"x","data":${DEEP}}`),
  message('"error":null'),
  message('"result":{}'),
  message('"id":[],"result":{}'),
  message('"method":null'),
  '{"jsonrpc":"2.0"}',
  'null',
  '[]',
  '[null,1,"x",{}]',
  DEEP,
  '{"a":'.repeat(3_000),
  '\ufeff',
  '"text"',
];

/** Progress for the pending call, with arbitrary content. */
const PROGRESS = ['7', 'null', '{}', '[1]', 'true', '"fine"'].map((odd) =>
  message(
    `"method":"notifications/progress","params":{"progressToken":$ID,"progress":1,"total":${odd},"message":${odd}}`,
  ),
);

describe.each(RAW_TRANSPORTS)('odd messages over %s', (transport) => {
  let server: RawServer;
  let runtime: Runtime;
  const failed: unknown[] = [];
  const ignored: RuntimeEvents['server.ignored'][] = [];
  beforeAll(async () => {
    server = await rawServer(transport);
    runtime = await createOwnRuntime({
      servers: { odd: server.config, good: fixture('echo') },
      handlers: { elicitation: () => ({ action: 'decline' }), roots: () => ({ roots: [] }) },
    });
    runtime.on('server.state', ({ server: name, error }) => error && failed.push([name, error]));
    runtime.on('server.ignored', (event) => ignored.push(event));
    await runtime.connectAll();
  });
  afterAll(async () => {
    await runtime.close();
    server.stop();
  });
  const call = (args: SayArguments, options = {}) =>
    runtime.callTool('odd', 'say', { ...args }, { timeoutMs: 20_000, ...options });
  const textOf = async (args: SayArguments): Promise<unknown> => (await call(args)).content;

  it('are ignored, and the call gets its own result', async () => {
    for (const line of NOISE)
      expect(await textOf({ lines: [line] })).toEqual([{ type: 'text', text: 'said' }]);
    expect(await textOf({ lines: NOISE })).toEqual([{ type: 'text', text: 'said' }]);
    expect(await say(runtime, 'good', 'neighbour')).toBe('neighbour');
    expect(failed).toEqual([]);
    await waitUntil(() => ignored.length > 0);
    const { ignored: counts } = runtime.serverStatus('odd');
    expect(counts['too-deep']).toBeGreaterThan(0);
    expect(counts.malformed + counts.noise + counts.unasked).toBeGreaterThan(0);
  });

  it('may be in JSON-RPC 1.0 style: "error": null next to a result is not an error', async () => {
    const line = message('"id":$ID,"result":{"content":[{"type":"text","text":"old"}]},"error":null');
    expect(await textOf({ lines: [line], silent: true })).toEqual([{ type: 'text', text: 'old' }]);
  });

  it.each([
    ['"error":null', 'PROTOCOL_VIOLATION'],
    ['"error":"no"', 'PROTOCOL_VIOLATION'],
    ['"error":{"message":"no"}', 'PROTOCOL_VIOLATION'],
    ['"result":null', 'PROTOCOL_VIOLATION'],
    ['"result":[]', 'PROTOCOL_VIOLATION'],
    [`"result":{"content":[],"_meta":{"a":${DEEP}}}`, 'PROTOCOL_VIOLATION'],
    [`"error":{"code":7,"message":"sorry","data":${DEEP}}`, 'SERVER_ERROR'],
  ])('immediately fail the call that they respond to (%.30s)', async (parts, code) => {
    const lines = [message(`"id":$ID,${parts}`)];
    await expect(call({ lines, silent: true })).rejects.toMatchObject({ code });
    expect(await textOf({})).toEqual([{ type: 'text', text: 'said' }]);
    expect(failed).toEqual([]);
  });

  // A server object passes messages on one by one.
  if (transport !== 'in-process')
    it('are read in a batch too: the call gets its result', async () => {
      const answer = message('"id":$ID,"result":{"content":[{"type":"text","text":"in a batch"}]}');
      const lines = [`[{"jsonrpc":"2.0","method":"x"},null,${answer}]`];
      expect(await textOf({ lines, silent: true })).toEqual([{ type: 'text', text: 'in a batch' }]);
    });

  it('report progress with the right types only', async () => {
    const seen: object[] = [];
    await call({ lines: PROGRESS }, { onProgress: (progress: object) => void seen.push(progress) });
    expect(seen).toEqual([
      { progress: 1, total: 7 },
      ...Array.from({ length: 4 }, () => ({ progress: 1 })),
      { progress: 1, message: 'fine' },
    ]);
  });

  it('do not break anything if functions of the host throw', async () => {
    const told: unknown[] = [];
    const stops = [
      runtime.on('listener.failed', ({ event }) => void told.push(event)),
      runtime.on('call.progress', () => {
        throw new Error('a listener');
      }),
      runtime.on('call.settled', (async () => {
        throw new Error('a listener that waits');
      }) as () => void),
    ];
    const lines = [message('"method":"notifications/progress","params":{"progressToken":$ID,"progress":1}')];
    const onProgress = [
      () => {
        throw new Error('thrown');
      },
      async () => {
        throw new Error('rejected');
      },
    ];
    for (const one of onProgress)
      expect(await call({ lines }, { onProgress: one })).toMatchObject({ content: [{ text: 'said' }] });
    await waitUntil(() => told.filter((event) => event === 'onProgress').length === 2);
    await waitUntil(() => told.filter((event) => event === 'call.settled').length === 2);
    expect(told).toContain('call.progress');
    for (const stop of stops) stop();
  });

  it('do not affect anything else, even thousands of every kind', async () => {
    const odd = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(null, 0, -1, 1e300, '', [], {}, ...NAMES, '2.0', 'tools/call', 1_000_000_000),
    );
    const methods = [
      'notifications/progress',
      'notifications/message',
      'notifications/cancelled',
      'notifications/tools/list_changed',
      'notifications/resources/updated',
      'notifications/subscriptions/acknowledged',
      'elicitation/create',
      'sampling/createMessage',
      'roots/list',
      'ping',
      ...NAMES,
    ];
    const params = fc.dictionary(
      fc.constantFrom('progressToken', 'progress', 'uri', 'level', 'data', '_meta', 'requestId', ...NAMES),
      odd,
    );
    const randomMessage = fc.record(
      {
        jsonrpc: fc.oneof({ weight: 20, arbitrary: fc.constant('2.0') }, odd),
        id: fc.oneof(fc.integer({ min: -5, max: 50 }), odd),
        method: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...methods) }, odd),
        params: fc.oneof(params, odd),
        result: fc.oneof(params, odd),
        error: fc.oneof(fc.record({ code: odd, message: odd, data: odd }), odd),
      },
      { requiredKeys: [] },
    );
    const lines = fc
      .sample(randomMessage, { numRuns: 2_000, seed: 20_261_116 })
      .map((one) => JSON.stringify(one));
    for (let at = 0; at < lines.length; at += 100) {
      expect(await textOf({ lines: lines.slice(at, at + 100) })).toEqual([{ type: 'text', text: 'said' }]);
    }
    expect(await say(runtime, 'good', 'still there')).toBe('still there');
    expect(failed).toEqual([]);
  });
});
