import { writeFileSync } from 'node:fs';
import { fixture, temporaryDirectory } from '@turnbuckle/testing';
import { type Runtime, type RuntimeEvents, TurnbuckleError } from 'turnbuckle';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createOwnRuntime } from './own-runtime.js';
import { RAW_TRANSPORTS, type RawTransport, rawServer } from './raw-server.js';
import { say } from './with-runtime.js';

async function openRuntime(transport: RawTransport, expressLane = true): Promise<Runtime> {
  const server = await rawServer(transport);
  const runtime = await createOwnRuntime({ servers: { odd: server.config }, expressLane });
  onTestFinished(async () => {
    await runtime.close();
    server.stop();
  });
  await runtime.connectAll();
  return runtime;
}

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

const ring: Record<string, unknown> = {};
ring.self = { ring };

const NO_JSON: ReadonlyArray<readonly [string, unknown]> = [
  ['a BigInt', 5n],
  ['a BigInt in a list', [{ a: [1n] }]],
  ['a cycle', ring],
  ['5,000 levels', nested(5_000)],
  ['100,000 levels', nested(100_000)],
  ['600 levels', nested(600)],
  [
    'a toJSON that throws',
    {
      toJSON: () => {
        throw new Error('not me');
      },
    },
  ],
];

const LANES = RAW_TRANSPORTS.flatMap((transport) => [
  [transport, true] as const,
  [transport, false] as const,
]);

describe.each(LANES)(
  'arguments that JSON cannot represent, over %s (express lane: %s)',
  (transport, expressLane) => {
    it('are rejected before anything is sent, and affect no other call', async () => {
      const runtime = await openRuntime(transport, expressLane);
      for (let round = 0; round < 3; round += 1)
        for (const [what, value] of NO_JSON) {
          const error = await runtime
            .callTool('odd', 'echo', { value }, { timeoutMs: 5_000 })
            .catch((thrown: unknown) => thrown);
          expect(error, what).toBeInstanceOf(TurnbuckleError);
          expect(error, what).toMatchObject({ code: 'ARGUMENTS_INVALID', server: 'odd', tool: 'echo' });
        }
      // Twenty invalid calls in a row: the breaker does not count them, and no slot is lost.
      expect(runtime.serverStatus('odd')).toMatchObject({
        status: 'connected',
        breaker: 'closed',
        inFlight: 0,
      });
      expect(await runtime.callTool('odd', 'echo', { text: 'fine' })).toMatchObject({
        content: [{ text: 'fine' }],
      });
    });
  },
);

describe('definitions that are nested too deeply', () => {
  it('are left out and reported, and the rest is listed', async () => {
    const directory = await temporaryDirectory();
    onTestFinished(() => directory.remove());
    const deep = '['.repeat(5_000) + ']'.repeat(5_000);
    const tool = (name: string, more: string) => `{"name":"${name}","inputSchema":{"type":"object"}${more}}`;
    writeFileSync(
      directory.file('tools.json'),
      `[${[
        tool('say', ''),
        tool('meta', `,"_meta":{"a":${deep}}`),
        tool('annotations', `,"annotations":{"title":"t","more":${deep}}`),
        tool('unknown', `,"unknown":${deep}`),
        tool('echo', ',"_meta":{"a":[[1]]}'),
      ].join(',')}]`,
    );
    for (const transport of ['stdio', 'http', 'sse', 'websocket'] as const) {
      const server = await rawServer(transport, ['--tools', directory.file('tools.json')]);
      const runtime = await createOwnRuntime({ servers: { odd: server.config, good: fixture('echo') } });
      const dropped: RuntimeEvents['catalog.dropped'][] = [];
      runtime.on('catalog.dropped', (event) => dropped.push(event));
      await runtime.connectAll();
      const names = runtime.tools().flatMap(({ server: from, tool: name }) => (from === 'odd' ? [name] : []));
      expect(names.sort()).toEqual(['echo', 'say']);
      expect(dropped.map(({ item }) => item).sort()).toEqual(['annotations', 'meta', 'unknown']);
      expect(await say(runtime, 'odd', 'said')).toBe('said');
      JSON.stringify([runtime.tools(), runtime.status()]);
      await runtime.close();
      server.stop();
    }
  });

  it('of native tools are rejected immediately', async () => {
    const runtime = await createOwnRuntime();
    onTestFinished(() => runtime.close());
    for (const value of [ring, { a: nested(600) }, { a: 1n }])
      expect(() =>
        runtime.registerTool({ name: 'own', inputSchema: { type: 'object', value }, run: () => 'x' }),
      ).toThrow(expect.objectContaining({ code: 'SCHEMA_UNUSABLE' }));
  });
});
