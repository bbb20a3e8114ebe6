import { existsSync } from 'node:fs';
import { fixture, startFixture, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DaemonOptions } from '../../src/daemon/daemon.js';
import { type OwnDaemon, ownDaemon } from './own-daemon.js';

interface Shown {
  readonly number: number;
  readonly kind: string;
  readonly level: string;
  readonly server?: string;
  readonly code?: string;
  readonly text: string;
  readonly next?: string;
}

async function start(config: object, options: Partial<DaemonOptions> = {}) {
  const lines: string[] = [];
  const operatorLog = { write: (line: string) => void lines.push(line) };
  const own = await ownDaemon(config, { operatorLog, ...options });
  onTestFinished(() => own.close());
  return { own, logged: () => lines.map((line) => JSON.parse(line) as Shown) };
}

async function incidents(own: OwnDaemon, query = '', token?: string): Promise<Shown[]> {
  const response = await own.fetch(`/api/incidents${query}`, { token });
  expect(response.status).toBe(200);
  return ((await response.json()) as { incidents: Shown[] }).incidents;
}

async function makeToken(own: OwnDaemon, options: object): Promise<string> {
  const { body } = await own.post('/api/tokens', { name: `t${Math.trunc(performance.now())}`, ...options });
  return String(body.token);
}

const dead = {
  command: process.execPath,
  args: ['-e', 'process.stderr.write("no license"); process.exit(3)'],
};

describe('the incidents of a daemon', () => {
  it('the next step of a problem has one command, and no two steps run together', async () => {
    const { logged } = await start({
      servers: { fine: { ...fixture('echo'), start: 'lazy' } },
      daemon: { keepdays: 3, views: { reading: { servers: ['fin'] } } },
    });
    const problems = (): Shown[] => logged().filter(({ kind }) => kind === 'config-problem');
    await waitUntil(() => problems().length === 2);
    const steps = problems().map(({ next = '' }) => next);
    expect(steps.map((step) => step.match(/turnbuckle [a-z]+/g)).sort()).toEqual([
      ['turnbuckle doctor'],
      ['turnbuckle list'],
    ]);
  });

  // requirement C5
  it('a failing, an invalid and a sign-in server are reported once each, and after a restart from the history', async () => {
    const wall = await startFixture('auth-wall', { transport: 'http', flags: ['--status', '401'] });
    onTestFinished(() => wall.stop());
    const config = {
      servers: { dead, wrong: { command: 7 }, web: { type: 'http', url: wall.url }, fine: fixture('echo') },
      daemon: { keepdays: 3 },
    };
    const { own, logged } = await start(config);
    const ofServers = (): Shown[] => logged().filter(({ server }) => server !== undefined);
    await waitUntil(() => ofServers().length >= 3 && statusOf(own, 'fine') === 'connected');
    // It fails again and again.
    const attempts = own.daemon.configured.runtime.serverStatus('dead').recentErrors.length;
    await waitUntil(
      () => own.daemon.configured.runtime.serverStatus('dead').recentErrors.length >= attempts + 2,
    );
    const seen = ofServers().sort((left, right) => ((left.server ?? '') < (right.server ?? '') ? -1 : 1));
    expect(seen).toMatchObject([
      {
        level: 'error',
        kind: 'server-failed',
        server: 'dead',
        code: 'SERVER_EXITED',
        text: expect.stringContaining('no license'),
        next: 'Check the server: turnbuckle doctor dead',
      },
      {
        level: 'warn',
        kind: 'sign-in-needed',
        server: 'web',
        code: 'AUTH_REQUIRED',
        next: expect.stringContaining('turnbuckle login web'),
      },
      {
        level: 'error',
        kind: 'entry-invalid',
        server: 'wrong',
        code: 'CONFIG_INVALID',
        next: expect.stringContaining('turnbuckle doctor wrong'),
      },
    ]);
    expect(logged().filter(({ kind }) => kind === 'config-problem')).toMatchObject([
      { level: 'warn', text: expect.stringContaining('keepdays') },
    ]);
    await own.daemon.close(1_000);
    expect(ofServers()).toHaveLength(3);
    const again = await start(config, { stateDir: own.stateDir });
    const before =
      (await incidents(again.own)).filter(({ kind }) => kind === 'daemon-stopped')[0]?.number ?? 0;
    const history = (await incidents(again.own, `?before=${before}&level=warn`))
      .map(({ kind }) => kind)
      .sort();
    expect(history).toEqual(['config-problem', 'entry-invalid', 'server-failed', 'sign-in-needed']);
    const response = await again.own.fetch(`/api/servers/web/incidents?before=${before}`);
    expect(await response.json()).toMatchObject({ incidents: [{ server: 'web', kind: 'sign-in-needed' }] });
  });

  it('a server that fails twice and then works is reported once as failed and once as recovered', async () => {
    const { own, logged } = await start({ servers: {} });
    const stateFile = `${own.stateDir}/failures`;
    own.configure({
      servers: {
        flaky: {
          ...fixture('flaky', '--times', '2', '--state-file', stateFile),
          reconnect: { initialMs: 50 },
        },
      },
    });
    await waitUntil(() => logged().some(({ kind }) => kind === 'server-recovered'));
    expect(existsSync(stateFile)).toBe(true);
    const kinds = logged().flatMap(({ kind, server }) => (server === 'flaky' ? [kind] : []));
    expect(kinds).toEqual(['server-failed', 'server-recovered']);
  });

  it('what an edit of the file corrects is reported once: a failure, an invalid entry, a problem', async () => {
    const servers = { dead, wrong: { command: 7 }, kept: fixture('echo') };
    const { own, logged } = await start({ servers });
    const kindsOf = (name: string): string[] =>
      logged().flatMap(({ kind, server }) => (server === name ? [kind] : []));
    await waitUntil(() => kindsOf('dead').length === 1);
    own.configure({ servers: { ...servers, kept: { command: 7 } }, daemon: { keepdays: 3 } });
    await waitUntil(() => kindsOf('kept').length === 1);
    // While the file cannot be read, nothing is solved.
    own.configure('{');
    await waitUntil(() => logged().filter(({ kind }) => kind === 'config-problem').length === 2);
    own.configure({
      servers: {
        dead: fixture('echo'),
        wrong: fixture('echo'),
        kept: { ...fixture('echo'), env: { EDITED: '1' } },
      },
    });
    await waitUntil(() => kindsOf('dead').length === 2 && statusOf(own, 'wrong') === 'connected');
    await waitUntil(() => logged().filter(({ kind }) => kind === 'config-reloaded').length === 3);
    expect(kindsOf('dead')).toEqual(['server-failed', 'server-recovered']);
    expect(kindsOf('wrong')).toEqual(['entry-invalid', 'entry-valid']);
    expect(kindsOf('kept')).toEqual(['entry-invalid', 'entry-valid']);
    const solved = logged().filter(({ kind }) => kind === 'config-solved');
    expect(solved.map(({ text }) => text.replace(/ \S+:\d+:\d+:.*$/, ' …')).sort()).toEqual([
      'Configuration problem resolved: …',
      'Configuration problem resolved: …',
    ]);
    expect(solved.some(({ text }) => text.includes('keepdays'))).toBe(true);
  });

  it('changed tools are reported with their names', async () => {
    const { own, logged } = await start({
      servers: { lists: fixture('list-changing') },
      toolApprovalRequired: false,
    });
    await waitUntil(() => statusOf(own, 'lists') === 'connected');
    const call = { server: 'lists', tool_name: 'mutate', arguments: { action: 'add', name: 'fresh' } };
    expect(await own.post('/mcp/call', call)).toMatchObject({ status: 200 });
    await waitUntil(() => logged().some(({ kind }) => kind === 'tools-changed'));
    expect(logged().filter(({ kind }) => kind === 'tools-changed')).toMatchObject([
      { level: 'info', server: 'lists', text: 'Server "lists" changed its tools: added "fresh".' },
    ]);
  });

  it('an approved tool that changes is reported as one that needs approval', async () => {
    const { own, logged } = await start({ servers: { shifty: fixture('schema-changing') } });
    await waitUntil(() => statusOf(own, 'shifty') === 'connected');
    await own.daemon.configured.runtime.pins.pin('shifty', 'shifty');
    await own.post('/mcp/call', { server: 'shifty', tool_name: 'mutate', arguments: {} });
    await waitUntil(() => logged().some(({ kind }) => kind === 'tools-changed'));
    expect(logged().find(({ kind }) => kind === 'tools-changed')).toMatchObject({
      level: 'warn',
      text: expect.stringMatching(/need your approval.*"shifty"/),
      next: expect.stringContaining('turnbuckle rules pin shifty'),
    });
  });

  it('edits of the config file are reported: new problems, and what was changed', async () => {
    const { own, logged } = await start({ servers: { echo: fixture('echo') } });
    own.configure({ servers: { echo: fixture('echo'), other: fixture('echo') }, daemon: { wrong: 1 } });
    await waitUntil(() => logged().some(({ kind }) => kind === 'config-reloaded'));
    own.configure({ servers: { echo: { command: 7 } }, daemon: { wrong: 1 } });
    await waitUntil(() => logged().filter(({ kind }) => kind === 'config-reloaded').length === 2);
    expect(logged().filter(({ kind }) => kind.includes('config') || kind.includes('entry'))).toMatchObject([
      { kind: 'config-problem', text: expect.stringContaining('wrong') },
      { kind: 'config-reloaded', text: 'Configuration reloaded. Servers: 1 added. Problems: 1.' },
      { kind: 'entry-invalid', server: 'echo', text: expect.stringContaining('keeps its previous') },
      { kind: 'config-reloaded', text: 'Configuration reloaded. Servers: 1 removed. Problems: 1.' },
    ]);
  });

  it('refused tokens are reported without the token: unknown, revoked and expired', async () => {
    const { own, logged } = await start({ servers: {} });
    const token = await makeToken(own, { name: 'ci', can: ['mcp_integration'], access: ['read'] });
    expect((await own.fetch('/api/servers', { token })).status).toBe(200);
    expect((await own.fetch('/api/tokens/ci', { method: 'DELETE' })).status).toBe(200);
    for (let index = 0; index < 3; index += 1)
      for (const bad of [token, 'tbk_unknown', 'not a token at all'])
        expect((await own.fetch('/api/servers', { token: bad })).status).toBe(401);
    const refused = logged().filter(({ kind }) => kind === 'token-refused');
    expect(refused.map(({ text }) => text).sort()).toEqual([
      'A request from 127.0.0.1 with an unknown token was refused.',
      'A request from 127.0.0.1 with the revoked token "ci" was refused.',
    ]);
    await own.daemon.close(1_000);
    expect(logged().filter(({ text }) => text.includes('more requests')).length).toBe(2);
    expect(JSON.stringify(logged())).not.toContain(token);
  });

  it('the level follows the configuration, and an unknown one is a problem of the file', async () => {
    const { own, logged } = await start({ servers: {}, daemon: { logLevel: 'error' } });
    expect(logged()).toEqual([]);
    own.configure({ servers: {}, daemon: { logLevel: 'info' } });
    await waitUntil(() => logged().some(({ kind }) => kind === 'config-reloaded'));
    own.configure({ servers: {}, daemon: { logLevel: 'loud' } });
    await waitUntil(() => logged().some(({ kind }) => kind === 'config-problem'));
    expect((await incidents(own)).some(({ kind }) => kind === 'daemon-started')).toBe(true);
  });
});

describe('who sees which incidents', () => {
  async function stage() {
    const { own, logged } = await start({
      servers: { dead, hidden: dead, lists: fixture('list-changing') },
      daemon: { wrong: 1 },
      toolApprovalRequired: false,
    });
    await waitUntil(() => logged().filter(({ kind }) => kind === 'server-failed').length === 2);
    await waitUntil(() => statusOf(own, 'lists') === 'connected');
    const call = { server: 'lists', tool_name: 'mutate', arguments: { action: 'add', name: 'fresh' } };
    await own.post('/mcp/call', call);
    await waitUntil(() => logged().some(({ kind }) => kind === 'tools-changed'));
    return own;
  }

  it('all: only an unrestricted token with admin access; others see their servers, without details', async () => {
    const own = await stage();
    const all = await incidents(own);
    expect(all.map(({ kind }) => kind)).toContain('config-problem');
    const seenBy = async (options: object): Promise<Shown[]> =>
      incidents(own, '', await makeToken(own, options));

    const reader = await seenBy({ name: 'a', can: ['mcp_integration'], access: ['read'] });
    expect(new Set(reader.map(({ server }) => server))).toEqual(new Set(['dead', 'hidden', 'lists']));
    expect(JSON.stringify(reader)).not.toMatch(/no license|fresh|turnbuckle/);

    const few = await seenBy({ name: 'b', can: ['mcp_dead'], access: ['read'] });
    expect(few).toMatchObject([
      {
        server: 'dead',
        kind: 'server-failed',
        code: 'SERVER_EXITED',
        text: 'A server cannot be reached, or has stopped.',
      },
    ]);

    const manager = await seenBy({ name: 'c', can: ['mcp_dead', 'mcp_lists'], access: ['read', 'admin'] });
    expect(new Set(manager.map(({ server }) => server))).toEqual(new Set(['dead', 'lists']));
    expect(JSON.stringify(manager)).toContain('no license');
    expect(JSON.stringify(manager)).not.toContain('fresh');
  });

  it('a hidden server looks like one that does not exist', async () => {
    const own = await stage();
    const token = await makeToken(own, { name: 'b', can: ['mcp_dead'], access: ['read'] });
    const ask = async (name: string): Promise<unknown> => {
      const response = await own.fetch(`/api/servers/${name}/incidents`, { token });
      return [response.status, (await response.text()).replaceAll(name, 'x')];
    };
    expect(await ask('hidden')).toEqual(await ask('nothing'));
    expect(await incidents(own, '?server=hidden', token)).toEqual([]);
  });

  it('pages backwards, and rejects what it does not know', async () => {
    const own = await stage();
    const all = await incidents(own);
    const first = (await (await own.fetch('/api/incidents?limit=2')).json()) as { next: number };
    expect(await incidents(own, `?before=${first.next}`)).toEqual(all.slice(2));
    for (const query of ['?level=loud', '?kind=x', '?since=x', '?limit=0', '?x=1', '?level=info&level=warn'])
      expect([query, (await own.fetch(`/api/incidents${query}`)).status]).toEqual([query, 422]);
    expect((await own.fetch('/api/incidents', { token: 'x' })).status).toBe(401);
  });

  it('none, if the log is disabled', async () => {
    const { own, logged } = await start({ servers: {}, daemon: { log: { enabled: false } } });
    expect((await own.fetch('/api/incidents')).status).toBe(404);
    expect(logged()).toMatchObject([{ kind: 'daemon-started' }]);
  });
});

const statusOf = (own: OwnDaemon, name: string): string | undefined =>
  own.daemon.configured.runtime.status().find((one) => one.name === name)?.status;
