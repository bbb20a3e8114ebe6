/** Tools that require their arguments repeated in HTTP headers (`x-mcp-header`). */
import { fixture } from '@turnbuckle/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ChildDaemon, childDaemon } from './child-daemon.js';
import { openUpstream, type Upstream } from './upstream.js';

const mirrored = (name: string, argument: string, header: unknown, type = 'string') => ({
  name,
  inputSchema: { type: 'object', properties: { [argument]: { type, 'x-mcp-header': header } } },
});
const IMPOSSIBLE = [
  mirrored('line_break', 'value', 'A\r\nEvil: yes'),
  mirrored('colon', 'value', 'Evil: yes'),
  mirrored('nothing', 'value', ''),
  mirrored('no_text', 'value', 7),
  mirrored('an_object', 'value', 'Value', 'object'),
];
const TOOLS = [
  { name: 'good', inputSchema: { type: 'object' } },
  mirrored('place', 'region', 'Region'),
  mirrored('keyed', 'api_key', 'Api-Key'),
  ...IMPOSSIBLE,
];

let up: Upstream;
let daemon: ChildDaemon;
let agent: string;
beforeAll(async () => {
  up = await openUpstream({ era: 'modern', tools: TOOLS });
  daemon = await childDaemon({
    servers: { up: { url: up.url }, local: fixture('bad-tools', '--only', 'invalid-header') },
    toolApprovalRequired: false,
    rules: [{ action: 'deny', flags: 'secret-in-header' }],
  });
  const made = await daemon.post('/api/tokens', {
    name: 'agent',
    can: ['mcp_integration'],
    access: ['call'],
  });
  agent = String(made.body.token);
  for (const [server, tool_name] of [
    ['up', 'good'],
    ['local', 'good_first'],
  ])
    expect(await daemon.post('/mcp/call', { server, tool_name })).toMatchObject({ status: 200 });
});
afterAll(async () => {
  await daemon.remove();
  await up.close();
});

let before = 0;
beforeEach(() => {
  before = up.calls().length;
});
const callsSince = () => up.calls().slice(before);

/** A modern request to the daemon. */
async function ask(method: string, params: object, headers: Record<string, string> = {}) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const response = await daemon.fetch('/mcp', {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } }),
  });
  const body = (await response.json()) as {
    result?: { tools?: ReadonlyArray<{ name: string }> };
    error?: { code: number };
  };
  return { status: response.status, body };
}

const namesOf = (list: ReadonlyArray<{ name: string }> = [], server = 'up'): string[] =>
  list.flatMap(({ name }) => (name.startsWith(`${server}_`) ? [name.slice(server.length + 1)] : []));

const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`;

describe('a tool that requires a header', () => {
  it('that cannot be one is left out, and its server stays', async () => {
    const { tools } = (await (await daemon.fetch('/tools')).json()) as { tools: Array<{ name: string }> };
    const kept = ['good', 'place'];
    expect(namesOf(tools).sort()).toEqual(kept);
    expect(namesOf((await ask('tools/list', {})).body.result?.tools).sort()).toEqual(kept);
    for (const { name } of IMPOSSIBLE) {
      const call = { server: 'up', tool_name: name, arguments: { value: 'x' } };
      expect(await daemon.post('/mcp/call', call)).toMatchObject({
        status: 404,
        body: { code: 'TOOL_UNKNOWN' },
      });
    }
    expect(callsSince()).toEqual([]);
  });

  // Over stdio a header means nothing to its server, but the daemon offers the tool over HTTP.
  it('that is invalid is not listed for clients over HTTP either', async () => {
    const listed = (await ask('tools/list', {})).body.result?.tools;
    expect(namesOf(listed, 'local')).toContain('good_first');
    expect(namesOf(listed, 'local').filter((name) => name.startsWith('bad_header'))).toEqual([]);
  });

  it.each(['a\r\nEvil: yes', 'żółć', ' around ', base64('x'), 'nul\0', ''])(
    'gets %j in it, and no other header',
    async (region) => {
      const call = { server: 'up', tool_name: 'place', arguments: { region } };
      expect(await daemon.post('/mcp/call', call)).toMatchObject({ body: { success: true } });
      const [sent] = callsSince();
      expect(sent?.params.arguments).toEqual({ region });
      expect(sent?.headers['mcp-param-region']).toBe(base64(region));
      expect(sent?.headers).not.toHaveProperty('evil');
    },
  );

  it('gets the value of the body: a client with another value in its header is refused', async () => {
    const params = { name: 'up_place', arguments: { region: 'north' } };
    const call = (headers: Record<string, string>) =>
      ask('tools/call', params, { 'mcp-name': 'up_place', ...headers });
    for (const received of [undefined, 'south', base64('south'), '=?base64?*?=']) {
      const refused = await call(received === undefined ? {} : { 'mcp-param-region': received });
      expect(refused).toMatchObject({ status: 400, body: { error: { code: -32020 } } });
    }
    expect(callsSince()).toEqual([]);
    expect((await call({ 'mcp-param-region': base64('north') })).status).toBe(200);
    expect(callsSince().map(({ headers }) => headers['mcp-param-region'])).toEqual(['north']);
  });

  it('for an argument named like a secret is flagged, and a rule hides it from agents', async () => {
    const { tools } = (await (await daemon.fetch('/api/tools?server=up')).json()) as {
      tools: Array<{ tool: string; flags: string[] }>;
    };
    expect(tools.flatMap(({ tool, flags }) => flags.map((flag) => `${tool}: ${flag}`))).toEqual([
      'keyed: secret-in-header',
    ]);
    const call = (tool_name: string) =>
      daemon.post('/mcp/call', { server: 'up', tool_name, arguments: { api_key: 'sk-canary' } }, agent);
    expect(await call('good')).toMatchObject({ body: { success: true } });
    expect(await call('keyed')).toMatchObject({ status: 404, body: { code: 'TOOL_UNKNOWN' } });
    expect(callsSince().map(({ params }) => params.name)).toEqual(['good']);
  });
});
