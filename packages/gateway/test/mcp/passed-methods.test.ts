/** An unknown method is forwarded to the only server, unless a server may take it for a method of the protocol. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openUpstream, type Upstream } from '../threats/upstream.js';
import { initialize, modern, type RawAnswer, send } from './raw-client.js';
import { openStand, type Stand } from './stand.js';

let server: Upstream;
let stand: Stand;

beforeAll(async () => {
  const tools = [{ name: 'danger', inputSchema: { type: 'object' } }];
  server = await openUpstream({
    answers: { 'tools/list': () => ({ tools }), 'vendor/$do.it-now_2': () => ({ ok: true }) },
  });
  stand = await openStand({
    servers: { up: { url: server.url } },
    options: { rules: [{ action: 'deny', tool: 'danger' }, { action: 'allow' }] },
  });
});
afterAll(async () => {
  await stand.close();
  await server.close();
});

const PARAMS = { name: 'danger', arguments: {}, uri: 'db://secret/1', requestId: 1 };

const over = {
  modern: (method: string): Promise<RawAnswer> => modern(stand, { method, params: { ...PARAMS } }),
  legacy: async (method: string): Promise<RawAnswer> => {
    const headers = { 'mcp-session-id': await initialize(stand) };
    return send(stand, { jsonrpc: '2.0', id: 1, method, params: PARAMS }, { headers });
  },
};

const METHODS = [
  'tools/call',
  'resources/read',
  'prompts/get',
  'completion/complete',
  'tasks/get',
  'resources/subscribe',
];
/** Names that a server may read as the method if it trims, folds case or splits. */
const NEARLY: readonly ((method: string) => string)[] = [
  (method) => `${method} `,
  (method) => ` ${method}`,
  (method) => `${method}\t`,
  (method) => `${method}\0`,
  (method) => `\ufeff${method}`,
  (method) => `${method}\u200b`,
  (method) => method.toUpperCase(),
  (method) => `${method.slice(0, 1).toUpperCase()}${method.slice(1)}`,
  (method) => method.replace('/', '//'),
  (method) => method.replace('/', '.'),
  (method) => method.replace('/', '_'),
  (method) => method.replace('/', '\\'),
  (method) => method.replace('/', '%2f'),
  (method) => `/${method}`,
  (method) => `${method}/`,
  (method) => `./${method}`,
  (method) => `x/../${method}`,
  (method) => `${method}?x`,
];
const NOTICES = [
  'notifications/cancelled',
  'notifications/initialized',
  'Notifications/x',
  'notifications/made-up',
];
const SENT = [...METHODS.flatMap((method) => NEARLY.map((make) => make(method))), ...NOTICES];
/** In the modern era the method is also a header, which allows only these characters. */
const CAN_BE_SENT = { modern: /^[!-~](?:[ -~]*[!-~])?$/, legacy: /^/ };

describe.each(['modern', 'legacy'] as const)('a client of the %s era', (era) => {
  it.each(SENT.filter((method) => CAN_BE_SENT[era].test(method)))(
    'does not get %j to the server',
    async (method) => {
      const before = server.noted.length;
      const { body } = await over[era](method);
      expect(body.error).toBeDefined();
      expect(server.noted.slice(before).filter(({ params }) => params.name === 'danger')).toEqual([]);
    },
  );

  it('gets a vendor method to the server', async () => {
    expect((await over[era]('vendor/$do.it-now_2')).body.result).toMatchObject({ ok: true });
  });
});
