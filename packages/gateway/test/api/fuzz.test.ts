import { fixture } from '@turnbuckle/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openStage } from './api-stage.js';

const RUNS = 30;

const word = fc.constantFrom(
  'demo',
  'spare',
  'echo',
  '',
  '__proto__',
  'constructor',
  ' ',
  '../x',
  'a/b',
  '💥',
);
const value = fc.oneof(word, fc.jsonValue({ maxDepth: 2 }), fc.constant(null), fc.boolean());
const key = fc.constantFrom(
  ...['name', 'config', 'command', 'args', 'url', 'type', 'env', 'enabled', 'server', 'tool', 'arguments'],
  ...[
    'caller',
    'id',
    'capabilities',
    'answer',
    'method',
    'scopes',
    'address',
    'force',
    'can',
    'access',
    'expires',
  ],
  ...['__proto__', 'toString', 'disabled', 'description', 'headers'],
);
const entry = fc.dictionary(key, value, { maxKeys: 5 });
/** Nearly valid bodies find more faults than random ones. */
const body = fc.oneof(
  fc.json(),
  entry.map((one) => JSON.stringify(one)),
  fc
    .tuple(word, entry)
    .map(([name, config]) => JSON.stringify({ name, config: { ...config, enabled: false } })),
  fc
    .tuple(word, word, entry)
    .map(([server, tool, args]) => JSON.stringify({ server, tool, arguments: args })),
  fc
    .record({ name: word, can: fc.array(word), access: fc.constant(['read']) })
    .map((one) => JSON.stringify(one)),
  fc.string(),
);

it('no body makes a route answer with a server error', async () => {
  const { routes, ask, defects } = await openStage({
    file: JSON.stringify({
      servers: { demo: fixture('echo'), spare: { ...fixture('echo'), enabled: false } },
    }),
  });
  const withBody = routes.filter(({ method }) => method === 'POST' || method === 'PATCH');
  expect(withBody.length).toBeGreaterThan(14);
  for (const { method, path } of withBody) {
    // A PATCH can leave a server unable to start, so it gets the spare one.
    const server = method === 'PATCH' ? 'spare' : 'demo';
    const filled = path.replace(':name', server).replace(':server', 'demo').replace(':tool', 'echo');
    await fc.assert(
      fc.asyncProperty(body, async (text) => {
        const { status } = await ask(method, filled.replace(':id', 'x'), { body: text });
        expect(status).toBeLessThan(500);
      }),
      { numRuns: RUNS },
    );
  }
  expect(defects).toEqual([]);
}, 120_000);

it('no path and no query makes a route answer with a server error', async () => {
  const { routes, ask, defects } = await openStage();
  const getRoutes = routes.filter(({ method, path }) => method === 'GET' && path !== '/api/events');
  const query = fc.dictionary(
    fc.constantFrom(
      'search',
      'server',
      'tool',
      'since',
      'before',
      'limit',
      'order',
      'spanMs',
      'outcome',
      'x',
    ),
    fc.oneof(fc.string(), fc.integer().map(String), fc.double().map(String), word),
    { maxKeys: 3 },
  );
  for (const { path } of getRoutes) {
    await fc.assert(
      fc.asyncProperty(fc.oneof(word, fc.string({ unit: 'binary' })), query, async (name, asked) => {
        const filled = path.replaceAll(/:\w+/g, encodeURIComponent(name));
        const { status } = await ask('GET', `${filled}?${new URLSearchParams(asked)}`);
        expect(status).toBeLessThan(500);
      }),
      { numRuns: RUNS },
    );
  }
  expect(defects).toEqual([]);
}, 120_000);
