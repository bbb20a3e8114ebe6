/** Doctor reports what the daemon sees: the other commands go through the daemon and see only that. */
import { fixture, waitUntil } from '@turnbuckle/testing';
import { beforeEach, expect, it } from 'vitest';
import { createHome, type Home, json, turnbuckle } from '../commands/turnbuckle.js';
import { daemonForTest } from './running-daemon.js';

interface Line {
  readonly name: string;
  readonly ok: boolean;
  readonly what: string;
  readonly next?: string;
}

let home: Home;
beforeEach(async () => {
  home = await createHome({ echo: fixture('echo') });
});

const checksOf = async (name: string, env: Record<string, string> = {}): Promise<Line[]> => {
  const { checks } = await json<{ checks: Line[] }>(['doctor'], { home, env });
  return checks.filter((check) => check.name === name);
};

it('reports the URL, working directory and version of the daemon, and that it reads the same files', async () => {
  expect(await checksOf('daemon')).toEqual([]);
  const { url } = await daemonForTest([], { home, cwd: home.path });
  const [line] = await checksOf('daemon');
  expect(line).toMatchObject({ ok: true });
  expect(line?.what).toMatch(
    /^\S+, version \d\S*; started in \S+; reads the same configuration files as this command$/,
  );
  expect(line?.what).toContain(url);
  expect(line?.what).toContain(`started in ${home.path};`);
  expect((await turnbuckle(['doctor'], { home })).code).toBe(0);
});

it('reports files that the daemon does not read', async () => {
  await daemonForTest([], { home, cwd: home.path });
  const file = await home.write('project/.turnbuckle/mcp.json', { servers: {} });
  expect((await checksOf('daemon'))[0]?.what).toContain(`does not read ${file}`);
});

it('shows both results when a server fails in the daemon but not in doctor', async () => {
  const echo = { ...fixture('echo'), env: { KEY: '${DEMO_KEY}' } };
  await home.write('.config/turnbuckle/mcp.json', { servers: { echo } });
  await daemonForTest([], { home, cwd: home.path });
  const env = { DEMO_KEY: 'x' };
  // Through the daemon: the variable is set here but not for the daemon, and the error must say so.
  const { code, stderr } = await turnbuckle(['ping', 'echo'], { home, env });
  expect(code).toBe(10);
  expect(stderr).toContain('requires environment variable DEMO_KEY, which is not set for the daemon');
  expect(stderr).toContain('Set DEMO_KEY and restart the daemon (turnbuckle serve restart)');
  expect(stderr).toContain('--no-daemon');
  expect((await turnbuckle(['ping', 'echo', '--no-daemon'], { home, env })).code).toBe(0);
  const [here, there] = await checksOf('echo', env);
  expect(here).toMatchObject({ ok: true, what: expect.stringContaining('connected over stdio') });
  expect(there).toMatchObject({
    ok: false,
    what: expect.stringContaining('the daemon reports VARIABLE_MISSING'),
  });
  expect((await turnbuckle(['doctor'], { home, env })).code).toBe(10);
});

it('an input that the daemon lacks is not asked for in a terminal', async () => {
  const echo = { ...fixture('echo'), env: { A: '${input:some-id}', B: '${secret:other}' } };
  const inputs = [{ id: 'some-id' }];
  await home.write('.config/turnbuckle/mcp.json', { servers: { echo }, inputs });
  await daemonForTest([], { home });
  const { stderr } = await turnbuckle(['ping', 'echo'], { home });
  expect(stderr).toContain('which is not set for the daemon');
  expect(stderr).toMatch(
    /Set TURNBUCKLE_INPUT_SOME_ID and restart the daemon \(turnbuckle serve restart\)|secrets set other/,
  );
  expect(stderr).not.toContain('in a terminal');
});

it('an empty file: the previous content stays in effect, every command says so, config and doctor fail', async () => {
  await daemonForTest([], { home });
  await home.write('.config/turnbuckle/mcp.json', '');
  const problems = async (): Promise<number> =>
    (await json<{ problems: string[] }>(['serve', 'status'], { home })).problems.length;
  await waitUntil(async () => (await problems()) > 0, 20_000);
  const { code, stdout, stderr } = await turnbuckle(['list'], { home });
  expect([code, stdout]).toEqual([0, expect.stringContaining('echo')]);
  expect(stderr).toContain(`Cannot use configuration file ${home.config}: it is empty.`);
  expect(stderr).toContain('The previous content of the file is still in effect.');
  for (const words of [['doctor'], ['config']]) {
    const finished = await turnbuckle(words, { home });
    const said = finished.stdout.replace(/\s+/g, ' ');
    expect([words, finished.code, said]).toEqual([words, 10, expect.stringContaining('it is empty.')]);
    expect(said).toContain('The previous content of the file is still in effect.');
  }
});

it('reports a daemon that does not respond', async () => {
  const daemon = await daemonForTest([], { home });
  daemon.child.kill('SIGSTOP');
  const { code, stdout } = await turnbuckle(['doctor'], { home });
  expect(code).toBe(11);
  expect(stdout).toMatch(/^✕ {2}daemon +http/m);
});
