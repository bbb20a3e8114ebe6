import { startFixture } from '@turnbuckle/testing';
import { altered, visit } from '@turnbuckle/testing/authorization-server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createHome, QUIET, turnbuckle } from './commands/turnbuckle.js';
import { daemonForTest } from './daemon/running-daemon.js';
import { type LoginStage, setLoginStage } from './login-stage.js';

const AUTH_EXIT = 16;

const call = (stage: LoginStage, ...more: string[]) => stage.run('call', 'web', 'echo', 'text=hi', ...more);

describe('turnbuckle login', () => {
  it('opens the page in a browser, waits for the redirect, and calls work from then on', async () => {
    const stage = await setLoginStage();
    const before = await call(stage);
    expect(before).toMatchObject({ code: AUTH_EXIT, stdout: '' });
    expect(before.stderr).toContain('turnbuckle login web');
    const { code, stdout, stderr } = await stage.run('login', 'web');
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Signed in to web (tools:read)\n' });
    const opened = await stage.opened();
    expect(opened).toEqual([[expect.stringContaining(`${stage.authorization.issuer}/authorize?`)]]);
    expect(stderr).toContain('Opening this page to sign in to web');
    expect(await call(stage)).toMatchObject({ code: 0, stdout: 'hi\n' });
    expect(await stage.run('login', 'web')).toMatchObject({
      code: 0,
      stdout: 'Already signed in to web; use --force to sign in again\n',
    });
    expect((await stage.opened()).length).toBe(1);
    expect((await stage.run('login', 'web', '--force')).stdout).toBe('Signed in to web (tools:read)\n');
    expect((await stage.opened()).length).toBe(2);
  });

  it('prints the status with --json, without a token', async () => {
    const stage = await setLoginStage();
    const { code, stdout } = await stage.run('login', 'web', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      server: 'web',
      type: 'oauth',
      signedIn: true,
      issuer: stage.authorization.issuer,
      scope: 'tools:read',
      renewable: true,
    });
    await call(stage);
    for (const token of stage.server.guard.admitted) expect(stdout).not.toContain(token);
  });

  it('only prints the page with --no-browser, and waits for it to be visited', async () => {
    const stage = await setLoginStage();
    const login = stage.begin('login', 'web', '--no-browser');
    await visit(await login.page());
    expect(await login.ended).toMatchObject({ code: 0, stdout: 'Signed in to web (tools:read)\n' });
    expect(await stage.opened()).toEqual([]);
  });

  it('also waits when no browser can be started', async () => {
    const stage = await setLoginStage({ browser: false });
    const login = stage.begin('login', 'web');
    await visit(await login.page());
    const { code, stderr } = await login.ended;
    expect(code).toBe(0);
    expect(stderr).toContain('Could not open a browser');
  });

  it('--paste reads the final URL of a browser on another machine from stdin', async () => {
    const stage = await setLoginStage();
    const login = stage.begin('login', 'web', '--paste');
    const page = await login.page();
    const back = new URL(page).searchParams.get('redirect_uri') ?? '';
    login.process.stdin?.write(`${(await visit(page, { until: back })).url}\n`);
    expect(await login.ended).toMatchObject({ code: 0, stdout: 'Signed in to web (tools:read)\n' });
    expect(await stage.opened()).toEqual([]);
  });

  it('--paste refuses a URL of another sign-in', async () => {
    const stage = await setLoginStage();
    const login = stage.begin('login', 'web', '--paste');
    await login.page();
    login.process.stdin?.end('http://127.0.0.1:33418/callback?code=x&state=y\n');
    const { code, stderr } = await login.ended;
    expect(code).toBe(AUTH_EXIT);
    expect(stderr).toContain('does not belong to this sign-in');
  });

  it('shows a code with --device', async () => {
    const stage = await setLoginStage();
    stage.authorization.faults.set(
      'device',
      altered((answer) => ({ ...answer, interval: 0.05 })),
    );
    const login = stage.begin('login', 'web', '--device');
    await visit(await login.page());
    const { code, stdout, stderr } = await login.ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Signed in to web (tools:read)\n' });
    expect(stderr).toMatch(/enter the code {2}[A-Z]{4}-[A-Z]{4}/);
    expect(await stage.opened()).toEqual([]);
  });

  it('asks for the scopes of --scope', async () => {
    const stage = await setLoginStage({ toolScopes: { add: 'tools:write' } });
    await stage.run('login', 'web');
    const refused = await stage.run('call', 'web', 'add', 'a=2', 'b=3');
    expect(refused.code).toBe(AUTH_EXIT);
    const [, hint = ''] = /turnbuckle (login web --scope ".*")/.exec(refused.stderr) ?? [];
    expect(hint).toBe('login web --scope "tools:read tools:write"');
    expect((await stage.run('login', 'web', '--scope', 'tools:read tools:write')).code).toBe(0);
    expect((await stage.run('call', 'web', 'add', 'a=2', 'b=3')).stdout).toContain('5');
  });

  it('exits with 16 when the user denies access', async () => {
    const stage = await setLoginStage();
    stage.authorization.person.consents = false;
    const { code, stdout, stderr } = await stage.run('login', 'web');
    expect({ code, stdout }).toEqual({ code: AUTH_EXIT, stdout: '' });
    expect(stderr).toContain('AUTH_FAILED');
  });

  it('stops immediately when it is interrupted', async () => {
    const stage = await setLoginStage();
    const login = stage.begin('login', 'web', '--no-browser');
    await login.page();
    login.process.kill('SIGINT');
    expect((await login.ended).code).toBe(130);
  });

  it('refuses conflicting options, an unknown server and a missing name', async () => {
    const stage = await setLoginStage();
    expect((await stage.run('login', 'web', '--device', '--paste')).code).toBe(13);
    expect((await stage.run('login', 'other')).code).toBe(11);
    expect((await stage.run('login')).code).toBe(13);
  });
});

describe('a server that requires a token and offers no sign-in', () => {
  it.each([[[]], [['--device']], [['--paste']]])(
    'login %j says so, and how to configure a token',
    async (flags) => {
      const wall = await startFixture('auth-wall', { transport: 'http', flags: ['--status', '401'] });
      onTestFinished(() => wall.stop());
      const home = await createHome({ h: { url: wall.url } });
      const { code, stderr } = await turnbuckle(['login', 'h', ...flags], { home });
      expect(code).toBe(AUTH_EXIT);
      expect(stderr).toContain(
        'Server "h" does not support sign-in because it does not name an authorization server.',
      );
      expect(stderr).toContain('"auth": { "type": "bearer", "token": "${secret:h}" }');
      expect(stderr).toContain('turnbuckle secrets set h');
      expect(stderr).not.toContain('Try again');
    },
  );
});

describe('turnbuckle logout', () => {
  it('ends the sign-in here and at the authorization server', async () => {
    const stage = await setLoginStage();
    await stage.run('login', 'web');
    await call(stage);
    const [token = ''] = stage.server.guard.admitted;
    expect(await stage.run('logout', 'web')).toMatchObject({ code: 0, stdout: 'Signed out of web\n' });
    expect(await stage.authorization.inspect(token)).toBeUndefined();
    expect((await call(stage)).code).toBe(AUTH_EXIT);
    expect((await stage.run('logout', 'web')).stdout).toBe('Not signed in to web\n');
    const again = await stage.run('logout', 'web', '--json');
    expect(JSON.parse(again.stdout)).toEqual([{ server: 'web', found: false, revoked: false }]);
  });

  it('ends the connections of the daemon, which list --no-connect does not show', async () => {
    const stage = await setLoginStage();
    await stage.run('login', 'web');
    const daemon = await daemonForTest([], { home: stage.home });
    const stateOfWeb = async (): Promise<unknown> => {
      const headers = { authorization: `Bearer ${daemon.token}` };
      const { servers } = (await (await fetch(`${daemon.url}/servers`, { headers })).json()) as {
        servers: readonly { readonly status: string }[];
      };
      return servers[0]?.status;
    };
    expect((await stage.run('list')).stdout).toContain('connected');
    expect((await stage.run('list', '--no-connect')).stdout).toContain('pending');
    expect(await stateOfWeb()).toBe('connected');
    expect(await stage.run('logout', 'web')).toMatchObject({ code: 0, stderr: QUIET });
    expect(await stateOfWeb()).not.toBe('connected');
    expect((await stage.run('list')).stdout).toContain('needs-auth');
  });

  it('prints nothing about a daemon that does not have the server', async () => {
    const stage = await setLoginStage();
    await stage.run('login', 'web');
    await daemonForTest([], { home: stage.home });
    const file = await stage.home.write('more.json', {
      servers: { other: { type: 'http', url: stage.server.url } },
    });
    const out = await stage.run('logout', 'other', '--config', file);
    expect([out.code, out.stderr]).toEqual([0, '']);
  });
});

describe('turnbuckle whoami', () => {
  it('prints the sign-in of each server, without any request', async () => {
    const stage = await setLoginStage();
    const before = await stage.run('whoami');
    expect(before.stdout).toMatch(/^web {2}not signed in\s*$/);
    expect(before.stderr).toContain('Not every server requires sign-in.');
    await stage.run('login', 'web');
    const serverRequests = stage.server.guard.requests.length;
    const authorizationRequests = stage.authorization.requestLog.requests.length;
    const { stdout } = await stage.run('whoami', 'web');
    expect(stdout).toContain('signed in, token renewed automatically');
    expect(stdout).toContain(stage.authorization.issuer);
    const [status] = JSON.parse((await stage.run('whoami', '--json')).stdout) as unknown[];
    expect(status).toMatchObject({ server: 'web', signedIn: true, account: 'default' });
    expect(stage.server.guard.requests.length).toBe(serverRequests);
    expect(stage.authorization.requestLog.requests.length).toBe(authorizationRequests);
  });
});

describe('other commands', () => {
  it('report that a server requires sign-in', async () => {
    const stage = await setLoginStage();
    const listed = await stage.run('list');
    expect(listed.stdout).toContain('needs-auth');
    expect((await stage.run('doctor')).code).toBe(12);
    const { error } = JSON.parse((await call(stage, '--json')).stdout) as {
      error: { code: string; hint: string };
    };
    expect(error).toMatchObject({ code: 'AUTH_REQUIRED', hint: 'Sign in: turnbuckle login web' });
  });
});
