/** Completion reveals nothing that is denied: neither by the value that is sent, nor by the values that come back. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openUpstream, type Upstream } from '../threats/upstream.js';
import { initialize, modern, type RawAnswer, send } from './raw-client.js';
import { openStand, type Stand } from './stand.js';

let server: Upstream;
let stand: Stand;

beforeAll(async () => {
  server = await openUpstream({
    answers: {
      initialize: () => ({
        protocolVersion: '2025-11-25',
        capabilities: { resources: {}, prompts: {}, completions: {} },
        serverInfo: { name: 'up', version: '1' },
      }),
      'resources/templates/list': () => ({
        resourceTemplates: ['http://{+x}', 'by://{+x}', 'db://{table}/{row}', 'q://a{?x}'].map(
          (uriTemplate) => ({
            uriTemplate,
            name: uriTemplate,
          }),
        ),
      }),
      'prompts/list': () => ({ prompts: [{ name: 'p', arguments: [{ name: 'city' }, { name: 'row' }] }] }),
      'completion/complete': () => ({
        completion: { values: ['secret/a', 'open/b', 'secret/c'], total: 3, hasMore: false },
      }),
    },
  });
  const deny = (tool: string) => ({ action: 'deny' as const, kind: 'resource' as const, tool });
  const denyArguments = (kind: 'resource' | 'prompt', args: Record<string, string>) => ({
    action: 'deny' as const,
    kind,
    arguments: args,
  });
  stand = await openStand({
    servers: { up: { url: server.url } },
    options: {
      rules: [
        deny('http://secret/**'),
        deny('db://secret/**'),
        deny('q://a?x=secret*'),
        denyArguments('resource', { uri: 'by://secret/**' }),
        denyArguments('prompt', { 'arguments.city': 'secret*' }),
      ],
    },
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

const aboutTemplate = (uri: string, name: string, value: unknown) => ({
  ref: { type: 'ref/resource', uri },
  argument: { name, value },
});

const aboutPrompt = (name: string, value: unknown) => ({
  ref: { type: 'ref/prompt', name: 'up_p' },
  argument: { name, value },
});

describe.each(['modern', 'legacy'] as const)('a client of the %s era', (era) => {
  it.each([
    aboutTemplate('http://{+x}', 'x', 'secret/'),
    aboutTemplate('http://{+x}', 'x', 'open@secret:80/a'),
    aboutTemplate('http://{+x}', 'x', 'SECRET%2fa'),
    aboutTemplate('http://{+x}', 'nobody', 'secret/'),
    aboutTemplate('http://s{+x}', 'x', 'ecret/'),
    aboutTemplate('http://secret/{y}', 'y', ''),
    aboutTemplate('db://{table}/{row}', 'table', 'secret'),
    { ...aboutTemplate('db://{table}/{row}', 'row', ''), context: { arguments: { table: 'secret' } } },
    aboutTemplate('q://a{?x}', 'x', 'secret'),
    aboutTemplate('by://{+x}', 'x', 'secret/'),
    aboutTemplate('by://{+x}', 'x', 'SECRET/a/../b'),
    aboutTemplate('by://secret/{y}', 'y', ''),
    aboutPrompt('city', 'secret'),
    { ...aboutPrompt('row', ''), context: { arguments: { city: 'secretly' } } },
  ])('is refused where the value makes an address of the template that is denied: %j', async (params) => {
    const before = arrived().length;
    expect((await over[era](params)).body.error).toBeDefined();
    expect(arrived().slice(before)).toEqual([]);
  });

  it.each([
    aboutTemplate('http://{+x}', 'x', ['secret/']),
    { ...aboutTemplate('db://{table}/{row}', 'row', ''), context: { arguments: { table: ['secret'] } } },
    { ...aboutTemplate('db://{table}/{row}', 'row', ''), context: 'secret' },
  ])('is refused a value that is no string: %j', async (params) => {
    const before = arrived().length;
    expect((await over[era](params)).body.error).toMatchObject({ code: -32602 });
    expect(arrived().slice(before)).toEqual([]);
  });

  it.each(['http://{+x}', 'by://{+x}'])(
    'gets no value that leads to a denied resource, nor their number: %s',
    async (template) => {
      const { body } = await over[era](aboutTemplate(template, 'x', ''));
      expect(body.result?.completion).toEqual({ values: ['open/b'], hasMore: false });
    },
  );

  it('completes the arguments of a prompt that no rule denies', async () => {
    const { body } = await over[era](aboutPrompt('city', 'open'));
    expect(body.result?.completion).toMatchObject({ total: 3 });
  });

  it('forwards only the known params of a completion', async () => {
    const known = {
      ...aboutTemplate('db://{table}/{row}', 'row', '1'),
      context: { arguments: { table: 'open' } },
    };
    const ref = { ...known.ref, name: 'http://secret/a' };
    await over[era]({ ...known, ref, uri: 'http://secret/a', more: 1 });
    const { _meta, ...params } = arrived().at(-1)?.params ?? {};
    expect(params).toEqual(known);
  });
});
