/** Completion does not look into what is denied: neither by the value that is sent, nor by those that come back. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openUpstream, type Upstream } from '../threats/upstream.js';
import { initialize, modern, type RawAnswer, send } from './raw-client.js';
import { openStand, type Stand } from './stand.js';

let server: Upstream;
let stand: Stand;

beforeAll(async () => {
  server = await openUpstream({
    answers: {
      'resources/templates/list': () => ({
        resourceTemplates: ['http://{+x}', 'db://{table}/{row}', 'q://a{?x}'].map((uriTemplate) => ({
          uriTemplate,
          name: uriTemplate,
        })),
      }),
      'completion/complete': () => ({
        completion: { values: ['secret/a', 'open/b', 'secret/c'], total: 3, hasMore: false },
      }),
    },
  });
  const deny = (tool: string) => ({ action: 'deny' as const, kind: 'resource' as const, tool });
  stand = await openStand({
    servers: { up: { url: server.url } },
    options: { rules: [deny('http://secret/**'), deny('db://secret/**'), deny('q://a?x=secret*')] },
  });
});
afterAll(async () => {
  await stand.close();
  await server.close();
});

const arrived = () => server.noted.filter(({ method }) => method === 'completion/complete');

const over = {
  modern: (params: object): Promise<RawAnswer> =>
    modern(stand, { method: 'completion/complete', params: { ...params } }),
  legacy: async (params: object): Promise<RawAnswer> => {
    const headers = { 'mcp-session-id': await initialize(stand) };
    return send(stand, { jsonrpc: '2.0', id: 1, method: 'completion/complete', params }, { headers });
  },
};

const asking = (uri: string, name: string, value: unknown) => ({
  ref: { type: 'ref/resource', uri },
  argument: { name, value },
});

describe.each(['modern', 'legacy'] as const)('a client of the %s era', (era) => {
  it.each([
    asking('http://{+x}', 'x', 'secret/'),
    asking('http://{+x}', 'x', 'open@secret:80/a'),
    asking('http://{+x}', 'x', 'SECRET%2fa'),
    asking('http://{+x}', 'nobody', 'secret/'),
    asking('http://s{+x}', 'x', 'ecret/'),
    asking('http://secret/{y}', 'y', ''),
    asking('db://{table}/{row}', 'table', 'secret'),
    { ...asking('db://{table}/{row}', 'row', ''), context: { arguments: { table: 'secret' } } },
    asking('q://a{?x}', 'x', 'secret'),
  ])('is refused where the value makes an address of the template that is denied: %j', async (params) => {
    const before = arrived().length;
    expect((await over[era](params)).body.error).toBeDefined();
    expect(arrived().slice(before)).toEqual([]);
  });

  it.each([
    asking('http://{+x}', 'x', ['secret/']),
    { ...asking('db://{table}/{row}', 'row', ''), context: { arguments: { table: ['secret'] } } },
    { ...asking('db://{table}/{row}', 'row', ''), context: 'secret' },
  ])('is refused what is no text: %j', async (params) => {
    const before = arrived().length;
    expect((await over[era](params)).body.error).toMatchObject({ code: -32602 });
    expect(arrived().slice(before)).toEqual([]);
  });

  it('is told of no value that leads to what is denied, nor how many there are', async () => {
    const { body } = await over[era](asking('http://{+x}', 'x', ''));
    expect(body.result?.completion).toEqual({ values: ['open/b'], hasMore: false });
  });

  it('sends what is known of a completion, and nothing else', async () => {
    const known = {
      ...asking('db://{table}/{row}', 'row', '1'),
      context: { arguments: { table: 'open' } },
    };
    const ref = { ...known.ref, name: 'http://secret/a' };
    await over[era]({ ...known, ref, uri: 'http://secret/a', more: 1 });
    const { _meta, ...params } = arrived().at(-1)?.params ?? {};
    expect(params).toEqual(known);
  });
});
