/** An invalid port is reported before anything starts or stops, and a restart keeps the port that agents know. */
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { fixture } from '@turnbuckle/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHome, type Home, json, turnbuckle } from '../commands/turnbuckle.js';

let home: Home;
beforeEach(async () => {
  home = await createHome({ echo: fixture('echo') });
});
afterEach(async () => {
  await turnbuckle(['serve', 'stop'], { home });
});

// requirement F5
describe.each([['serve'], ['serve start'], ['serve restart'], ['bridge']])('turnbuckle %s', (line) => {
  it.each([
    [['--port', 'abc'], {}],
    [['--port', '99999'], {}],
    [['--port=-1'], {}],
    [['--port', '1.5'], {}],
    [[], { PORT: 'x' }],
    [[], { PORT: '70000' }],
  ] as ReadonlyArray<readonly [string[], Record<string, string>]>)(
    'refuses %j with %j before anything is started',
    async (words, env) => {
      const { code, stderr } = await turnbuckle([...line.split(' '), ...words], { home, env });
      expect([code, stderr]).toEqual([13, expect.stringMatching(/ARGUMENTS_INVALID .* expected a port\./)]);
      expect(existsSync(home.file('state/daemon.log'))).toBe(false);
    },
  );
});

it('an invalid option does not stop the running daemon', async () => {
  const { pid } = await json<{ pid: number }>(['serve', 'start', '--port', '0'], { home });
  for (const [words, exit] of [
    [['--port', 'abc'], 13],
    [['--mcp-server', 'nonsense'], 10],
  ] as const) {
    const { code, stderr } = await turnbuckle(['serve', 'restart', ...words], { home });
    expect([code, stderr]).toEqual([exit, expect.not.stringContaining('INTERNAL')]);
  }
  expect(await json(['serve', 'status'], { home })).toMatchObject({ running: true, pid });
});

it('restart keeps a port chosen with --port 0, and setup warns about it', async () => {
  const { url } = await json<{ url: string }>(['serve', 'start', '--port', '0'], { home });
  const { port } = new URL(url);
  const { code, stderr } = await turnbuckle(['setup', 'cursor', '--yes'], { home });
  expect(code).toBe(0);
  expect(stderr).toContain(`warning The daemon is running on port ${port}`);
  expect(stderr).toContain(`"daemon": { "port": ${port} }`);
  expect((await json<{ url: string }>(['serve', 'restart'], { home })).url).toBe(url);
  expect((await json<{ url: string }>(['serve', 'restart'], { home })).url).toBe(url);
  await home.write('.config/turnbuckle/mcp.json', { servers: {}, daemon: { port: Number(port) } });
  expect((await turnbuckle(['setup', 'zed', '--yes'], { home })).stderr).not.toContain('on port');
});

it('under npm, the hint about a used port is a command that works there', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address() as { port: number };
  const hintWith = async (env: Record<string, string>): Promise<string> => {
    const { code, stderr } = await turnbuckle(['serve', '--port', String(port)], { home, env });
    expect(code).toBe(29);
    return stderr;
  };
  expect(await hintWith({ npm_lifecycle_event: 'start' })).toContain('(npm start -- --port <n>, or --port 0');
  expect(await hintWith({ npm_lifecycle_event: 'dev:x' })).toContain(
    '(npm run dev:x -- --port <n>, or --port 0',
  );
  expect(await hintWith({ npm_lifecycle_event: 'a b;c' })).toContain('(--port <n>, or --port 0');
  expect(await hintWith({})).toContain('(--port <n>, or --port 0');
  taken.close();
});
