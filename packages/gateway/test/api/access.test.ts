import { describe, expect, it } from 'vitest';
import type { Route } from '../../src/http/route.js';
import type { TokenAccess } from '../../src/identity/access.js';
import { openStage, type Stage } from './api-stage.js';

const ALL: readonly TokenAccess[] = ['call', 'read', 'admin'];

/** The path of a route, with `demo` for each parameter. */
const pathOf = ({ path }: Route): string => path.replaceAll(/\/:[^/]+/g, '/demo');

async function statusOf(stage: Stage, route: Route, token: string): Promise<number> {
  const body = route.method === 'GET' || route.method === 'DELETE' ? {} : { body: {} };
  const { status } = await stage.ask(route.method, pathOf(route), { token, ...body });
  return status;
}

describe('every route of the table', () => {
  it('is there, and only health and readiness are open', async () => {
    const { routes } = await openStage();
    expect(routes.length).toBeGreaterThan(35);
    expect(routes.filter(({ access }) => access === 'open').map(({ path }) => path)).toEqual([
      '/health',
      '/ready',
    ]);
    const changing = routes.filter(({ method, path }) => method !== 'GET' && path !== '/api/rules/test');
    expect(changing.filter(({ access }) => access !== 'admin')).toEqual([]);
  });

  it('rejects a request with no token, a wrong token, or a token in the query', async () => {
    const stage = await openStage();
    const guarded = stage.routes.filter(({ access }) => access !== 'open');
    for (const route of guarded) {
      expect([route.method, route.path, await statusOf(stage, route, '')]).toEqual([
        route.method,
        route.path,
        401,
      ]);
    }
    for (const route of guarded.filter(({ method }) => method === 'GET')) {
      const { status } = await stage.ask('GET', `${pathOf(route)}?token=${stage.owner}`, { token: '' });
      expect([route.path, status]).toEqual([route.path, 401]);
    }
    expect(await statusOf(stage, guarded[0] as Route, 'tbk_wrong')).toBe(401);
    expect(stage.runtime.serverNames()).toEqual(['demo']);
  });

  it('rejects a token that lacks only the access it requires', async () => {
    const stage = await openStage();
    const before = stage.written();
    const tokens = new Map<string, string>();
    for (const access of ALL) tokens.set(access, await stage.token(ALL.filter((other) => other !== access)));
    for (const route of stage.routes.filter(({ access }) => access !== 'open')) {
      const status = await statusOf(stage, route, tokens.get(route.access) ?? '');
      expect([route.method, route.path, status]).toEqual([route.method, route.path, 403]);
    }
    expect(stage.written()).toBe(before);
  });
});

describe('a token for some servers', () => {
  const file = (config: object): string =>
    JSON.stringify({ servers: { demo: config, other: { ...config, description: 'hidden-thing' } } });

  it('sees only those servers and tools', async () => {
    const { fixture } = await import('@turnbuckle/testing');
    const stage = await openStage({ file: file(fixture('echo')) });
    const { runtime, log } = stage;
    await runtime.connectAll();
    await runtime.callTool('demo', 'echo', { text: 'seen' });
    await runtime.callTool('demo', 'add', { a: 1, b: 2 });
    await runtime.callTool('other', 'echo', { text: 'hidden-thing' });
    await runtime.pins.pin('other', 'echo');
    await runtime.pins.pin('demo', 'echo');
    await log.flush();
    const token = await stage.token(ALL, ['mcp:demo/echo']);
    const read = async (path: string) => stage.ask('GET', path, { token });
    expect((await read('/api/servers')).body.servers).toMatchObject([{ name: 'demo' }]);
    expect((await read('/api/tools')).body.tools).toMatchObject([{ tool: 'echo', server: 'demo' }]);
    expect((await read('/api/calls')).body.calls).toMatchObject([{ tool: 'echo', server: 'demo' }]);
    expect((await read('/api/stats')).body).toMatchObject({
      tools: [{ tool: 'echo', server: 'demo' }],
      servers: [{ server: 'demo' }],
    });
    expect((await read('/api/pins')).body.pins).toMatchObject([{ server: 'demo' }]);
    expect((await read('/api/resources')).body).toEqual({ resources: [], templates: [] });
    for (const path of ['/api/servers/other', '/api/tools/mcp__other__echo', '/api/servers/other/sign-in'])
      expect([path, (await read(path)).status]).toEqual([path, 404]);
    const hidden = (await stage.ask('GET', '/api/calls?server=other')).body.calls as { id: string }[];
    expect(hidden).toHaveLength(1);
    expect((await read(`/api/calls/${hidden[0]?.id}`)).status).toBe(404);
    for (const path of ['/api/config', '/api/rules', '/api/tokens', '/metrics'])
      expect([path, (await read(path)).body.code]).toEqual([path, 'ACCESS_DENIED']);
    const act = (path: string, body?: unknown) => stage.ask('POST', path, { token, body });
    expect((await act('/api/servers/other/disconnect')).status).toBe(404);
    expect((await act('/api/config/reload')).status).toBe(403);
    expect(
      (await act('/api/tokens', { name: 'up', can: ['mcp_integration'], access: ['call'] })).status,
    ).toBe(403);
    expect((await stage.ask('DELETE', '/api/pins/other/echo', { token })).body).toEqual({ unpinned: [] });
    expect(runtime.pins.list()).toHaveLength(2);
  });
});
