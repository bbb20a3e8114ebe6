/** The accounts of agents on the command line: signed in, looked up, used and signed out one by one. */
import { fixture } from '@turnbuckle/testing';
import { altered } from '@turnbuckle/testing/authorization-server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createHome, type Home, turnbuckle } from './commands/turnbuckle.js';
import { startClientForTest } from './daemon/conversation.js';
import { daemonForTest } from './daemon/running-daemon.js';
import { type LoginStage, setLoginStage } from './login-stage.js';

const AUTH_EXIT = 16;
const RULES = [{ action: 'allow', caller: ['ada', 'bob', 'cyd', 'eve'] }];

async function openStage(): Promise<LoginStage> {
  const stage = await setLoginStage({ tellsSubject: true });
  const oauth = { auth: { type: 'oauth' } };
  const credentials = { ada: oauth, bob: oauth, cyd: { headers: { 'X-Team': 'c' } } };
  const web = { url: stage.server.url, credentials };
  await stage.home.write('.config/turnbuckle/mcp.json', { servers: { web }, rules: RULES });
  return stage;
}

async function login(stage: LoginStage, who: string, ...words: string[]): Promise<string> {
  stage.authorization.person.name = who;
  return (await stage.run('login', 'web', ...words)).stdout;
}

const subjectOf = async (stage: LoginStage, ...words: string[]): Promise<unknown> => {
  const { code, stdout, stderr } = await stage.run('call', 'web', 'meta', ...words);
  return code === 0 ? JSON.parse(stdout).subject : stderr;
};

describe('--agent', () => {
  // requirement K2
  it('signs in the account of one agent, which its calls use', async () => {
    const stage = await openStage();
    const before = await stage.run('call', 'web', 'meta', '--as', 'ada');
    expect(before.code).toBe(AUTH_EXIT);
    expect(before.stderr).toContain('turnbuckle login web --agent ada');
    expect(await login(stage, 'Ada', '--agent', 'ada')).toBe('Signed in to web for "ada" (tools:read)\n');
    expect(await login(stage, 'Bob', '--agent', 'bob')).toContain('for "bob"');
    expect(await subjectOf(stage, '--as', 'ada')).toBe('Ada');
    expect(await subjectOf(stage, '--as', 'bob')).toBe('Bob');
    expect(await subjectOf(stage)).toContain('Sign in: turnbuckle login web\n');
    const { stdout } = await stage.run('whoami', '--agent', 'ada', '--json');
    expect(JSON.parse(stdout)).toMatchObject([{ server: 'web', signedIn: true, account: 'agent:ada' }]);
    expect((await stage.run('whoami')).stdout).toMatch(/^web {2}not signed in/);
  });

  it('signs out one agent, also in the daemon', async () => {
    const stage = await openStage();
    await login(stage, 'Ada', '--agent', 'ada');
    await login(stage, 'Bob', '--agent', 'bob');
    const daemon = await daemonForTest([], { home: stage.home });
    const post = async (
      path: string,
      body: object,
      token = daemon.token,
    ): Promise<Record<string, unknown>> => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const response = await fetch(daemon.url + path, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      return (await response.json()) as Record<string, unknown>;
    };
    const tokens = new Map<string, string>();
    for (const name of ['ada', 'bob']) {
      const made = await post('/api/tokens', { name, can: ['mcp_integration'], access: ['call'] });
      tokens.set(name, String(made.token));
    }
    const call = (name: string) =>
      post('/mcp/call', { server: 'web', tool_name: 'meta' }, tokens.get(name) ?? '');
    expect(await call('ada')).toMatchObject({ success: true });
    const out = await stage.run('logout', 'web', '--agent', 'ada');
    expect(out).toMatchObject({ code: 0, stdout: 'Signed out of web for "ada"\n' });
    expect(await call('ada')).toMatchObject({ code: 'AUTH_REQUIRED' });
    expect(await call('bob')).toMatchObject({ success: true });
    expect((await stage.run('logout', 'web', '--agent', 'ada')).stdout).toBe(
      'Not signed in to web for "ada"\n',
    );
  });

  it('is refused for an agent without credentials of its own', async () => {
    const stage = await openStage();
    for (const command of ['login', 'logout', 'whoami']) {
      const { code, stderr } = await stage.run(command, 'web', '--agent', 'eve');
      expect(code).not.toBe(0);
      expect(stderr).toContain('Agent "eve" has no credentials of its own on server "web".');
      expect((await stage.run(command, 'web', '--agent', ' ')).stderr).toContain('--agent requires the name');
    }
    expect((await stage.run('whoami', '--agent', 'eve')).stderr).toContain('No remote servers for "eve".');
  });

  it('is refused for an agent that uses the account configured for the server', async () => {
    const stage = await openStage();
    const before = await stage.run('call', 'web', 'meta', '--as', 'cyd');
    expect(before.stderr).toContain('Sign in: turnbuckle login web\n');
    await login(stage, 'Root');
    for (const command of ['login', 'logout', 'whoami']) {
      const { code, stderr } = await stage.run(command, 'web', '--agent', 'cyd');
      expect(code, command).not.toBe(0);
      expect(stderr).toContain('error ARGUMENTS_INVALID Agent "cyd" has no account of its own');
      expect(stderr).toContain('It uses the account configured for the server.');
    }
    expect((await stage.run('whoami', '--agent', 'cyd')).stderr).toContain('No remote servers for "cyd".');
    expect(await subjectOf(stage, '--as', 'cyd')).toBe('Root');
    expect(await subjectOf(stage)).toBe('Root');
  });

  it('stays in the command that a failed sign-in suggests', async () => {
    const stage = await openStage();
    stage.authorization.faults.set(
      'token',
      altered(() => 'no JSON'),
    );
    const { code, stderr } = await stage.run('login', 'web', '--agent', 'ada');
    expect(code).toBe(AUTH_EXIT);
    expect(stderr).toContain('turnbuckle login web --agent ada');
  });
});

describe('a local server', () => {
  async function openHome(): Promise<Home> {
    const home = await createHome();
    onTestFinished(() => home.remove());
    const credentials = { ada: { env: { API_KEY: 'key-of-ada' } }, '*': false };
    const servers = { local: { ...fixture('echo'), credentials } };
    const rules = [...RULES, { action: 'allow', caller: 'stdio:*' }];
    await home.write('.config/turnbuckle/mcp.json', { servers, rules });
    return home;
  }

  it('gets the variables of the agent with call --as', async () => {
    const home = await openHome();
    const keyOf = async (...words: string[]): Promise<unknown> => {
      const { code, stdout, stderr } = await turnbuckle(['call', 'local', 'env', ...words], { home });
      return code === 0 ? JSON.parse(stdout).API_KEY : stderr;
    };
    expect(await keyOf('--as', 'ada')).toBe('key-of-ada');
    expect(await keyOf()).toBeUndefined();
    expect(await keyOf('--as', 'eve')).toContain('"local" has no credentials for "eve"');
    const shown = await turnbuckle(['config', 'local'], { home });
    expect(shown.stdout).toContain('credentials');
    expect(shown.stdout + shown.stderr).not.toContain('key-of-ada');
  });

  it.each([false, true])(
    'gets those of the token with serve --stdio --as (daemon: %s)',
    async (hasDaemon) => {
      const home = await openHome();
      if (hasDaemon) await daemonForTest([], { home });
      await turnbuckle(['token', 'create', 'ada', '--capability', 'mcp_integration'], { home });
      const call = async (clientName: string, ...words: string[]): Promise<string> => {
        const client = startClientForTest(['serve', '--stdio', ...words], { home });
        const clientInfo = { name: clientName, version: '1' };
        client.send(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
        await client.response(1);
        client.send(2, 'tools/call', { name: 'local_env', arguments: {} });
        const answer = JSON.stringify(await client.response(2));
        await client.close();
        return answer;
      };
      expect(await call('x', '--as', 'ada')).toContain('key-of-ada');
      // A client that calls itself by that name is not that agent.
      const refused = await call('ada');
      expect(refused).toContain('no credentials for \\"stdio:ada\\"');
      // An entry for that name would be invalid.
      expect(refused).toContain('turnbuckle serve --stdio --as <name>');
      expect(refused).not.toContain('\\"credentials\\": {');
    },
  );
});
