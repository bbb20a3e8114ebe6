/** Doctor tells what the daemon sees: the other commands go through it, and only see that. */
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

it('says where it is, where it was started, its release, and that it reads the same files', async () => {
  expect(await checksOf('daemon')).toEqual([]);
  const { url } = await daemonForTest([], { home, cwd: home.path });
  const [line] = await checksOf('daemon');
  expect(line).toMatchObject({ ok: true });
  expect(line?.what).toMatch(/^\S+, version \d\S*; started in \S+; reads the same files$/);
  expect(line?.what).toContain(url);
  expect(line?.what).toContain(`started in ${home.path};`);
  expect((await turnbuckle(['doctor'], { home })).code).toBe(0);
});

it('says which files it does not read', async () => {
  await daemonForTest([], { home, cwd: home.path });
  const file = await home.write('project/.turnbuckle/mcp.json', { servers: {} });
  expect((await checksOf('daemon'))[0]?.what).toContain(`does not read ${file}`);
});

it('shows both where the daemon says that a server failed and doctor reaches it', async () => {
  const echo = { ...fixture('echo'), env: { KEY: '${DEMO_KEY}' } };
  await home.write('.config/turnbuckle/mcp.json', { servers: { echo } });
  await daemonForTest([], { home, cwd: home.path });
  const env = { DEMO_KEY: 'x' };
  // Through the daemon: what is set here is not set there, and that is what has to be said.
  const { code, stderr } = await turnbuckle(['ping', 'echo'], { home, env });
  expect(code).toBe(10);
  expect(stderr).toContain('needs the environment variable DEMO_KEY, which the daemon does not have');
  expect(stderr).toContain('Set DEMO_KEY, then: turnbuckle serve restart.');
  expect(stderr).toContain('--no-daemon');
  expect((await turnbuckle(['ping', 'echo', '--no-daemon'], { home, env })).code).toBe(0);
  const [here, there] = await checksOf('echo', env);
  expect(here).toMatchObject({ ok: true, what: expect.stringContaining('reached by stdio') });
  expect(there).toMatchObject({
    ok: false,
    what: expect.stringContaining('with the daemon VARIABLE_MISSING'),
  });
  expect((await turnbuckle(['doctor'], { home, env })).code).toBe(10);
});

it('an input that the daemon was not given is not to be typed into a terminal', async () => {
  const echo = { ...fixture('echo'), env: { A: '${input:some-id}', B: '${secret:other}' } };
  const inputs = [{ id: 'some-id' }];
  await home.write('.config/turnbuckle/mcp.json', { servers: { echo }, inputs });
  await daemonForTest([], { home });
  const { stderr } = await turnbuckle(['ping', 'echo'], { home });
  expect(stderr).toContain('which nobody gave the daemon');
  expect(stderr).toMatch(/Set TURNBUCKLE_INPUT_SOME_ID, then: turnbuckle serve restart\.|secrets set other/);
  expect(stderr).not.toContain('Run it in a terminal');
});

it('an empty file: what it said stays in effect, every command says so, config and doctor fail', async () => {
  await daemonForTest([], { home });
  await home.write('.config/turnbuckle/mcp.json', '');
  const problems = async (): Promise<number> =>
    (await json<{ problems: string[] }>(['serve', 'status'], { home })).problems.length;
  await waitUntil(async () => (await problems()) > 0, 20_000);
  const { code, stdout, stderr } = await turnbuckle(['list'], { home });
  expect([code, stdout]).toEqual([0, expect.stringContaining('echo')]);
  expect(stderr).toContain(`${home.config} cannot be used: it is empty.`);
  expect(stderr).toContain('All that it said before is still in effect.');
  for (const words of [['doctor'], ['config']]) {
    const finished = await turnbuckle(words, { home });
    const said = finished.stdout.replace(/\s+/g, ' ');
    expect([words, finished.code, said]).toEqual([words, 10, expect.stringContaining('it is empty.')]);
    expect(said).toContain('All that it said before is still in effect.');
  }
});

it('a daemon that does not answer is a finding', async () => {
  const daemon = await daemonForTest([], { home });
  daemon.child.kill('SIGSTOP');
  const { code, stdout } = await turnbuckle(['doctor'], { home });
  expect(code).toBe(11);
  expect(stdout).toMatch(/^✕ {2}daemon +http/m);
});
