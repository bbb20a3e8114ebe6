import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  fixture,
  startFixture,
  type TemporaryDirectory,
  temporaryDirectory,
  waitUntil,
} from '@turnbuckle/testing';
import { createRuntime, type RuntimeOptions, type ServerInput } from 'turnbuckle';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { QUICK, textOf } from './open-runtime.js';
import { recordedServer } from './recorded-server.js';

let directory: TemporaryDirectory;
beforeEach(async () => {
  directory = await temporaryDirectory();
});
afterEach(() => directory.remove());

/** Opens a runtime, calls the server once and closes it again. Returns the era. */
async function useOnce(server: ServerInput, options: RuntimeOptions = {}): Promise<string | undefined> {
  const runtime = await createRuntime({ servers: { server }, stateDir: directory.file('state'), ...options });
  try {
    expect(textOf(await runtime.callTool('server', 'echo', { text: 'hello' }))).toBe('hello');
    return runtime.serverStatus('server').era;
  } finally {
    await runtime.close();
  }
}

describe('the era verdict of a server', () => {
  it('avoids the era probe at the next start, for a week', async () => {
    const { config, takeNotes } = recordedServer(directory, 'echo', '--era', 'legacy');
    expect(await useOnce(config)).toBe('legacy');
    expect(takeNotes()).toEqual({ starts: 1, probed: true });
    expect(await useOnce(config)).toBe('legacy');
    expect(takeNotes()).toEqual({ starts: 1, probed: false });
    const inAWeek = Date.now() + 7 * 24 * 3_600_000 + 60_000;
    expect(await useOnce(config, { now: () => inAWeek })).toBe('legacy');
    expect(takeNotes()).toEqual({ starts: 1, probed: true });
  });

  it('avoids the second start of a server that exits at the era probe', async () => {
    const { bare, takeNotes } = recordedServer(directory, 'probe-hostile', '--how', 'exit');
    expect(await useOnce(bare)).toBe('legacy');
    expect(takeNotes().starts).toBe(2);
    expect(await useOnce(bare)).toBe('legacy');
    expect(takeNotes().starts).toBe(1);
  });

  it('is found for a server that does not answer the era probe', async () => {
    const { config, takeNotes } = recordedServer(directory, 'probe-hostile', '--how', 'silent');
    const server = { ...config, connectTimeoutMs: 3_000 };
    expect(await useOnce(server)).toBe('legacy');
    expect(takeNotes()).toEqual({ starts: 1, probed: true });
    expect(await useOnce(server)).toBe('legacy');
    expect(takeNotes()).toEqual({ starts: 1, probed: false });
  });

  it.each(['deaf', 'exit'])(
    'is found for a server that is unusable after the era probe (%s)',
    async (how) => {
      const { config, takeNotes } = recordedServer(directory, 'probe-hostile', '--how', how);
      const server = { ...config, connectTimeoutMs: 1_500, reconnect: QUICK };
      const runtime = await createRuntime({ servers: { server }, stateDir: directory.file('state') });
      await runtime.connectAll();
      await waitUntil(() => runtime.serverStatus('server').status === 'connected', 15_000).finally(() =>
        runtime.close(),
      );
      takeNotes();
      expect(await useOnce(server)).toBe('legacy');
      expect(takeNotes()).toEqual({ starts: 1, probed: false });
    },
  );

  it('is corrected when the server changes its era, both ways', async () => {
    const old = { ...fixture('echo'), env: { FIXTURE_ERA: 'legacy' } };
    const modern = { ...fixture('echo'), env: { FIXTURE_ERA: 'modern' } };
    expect(await useOnce(old)).toBe('legacy');
    expect(await useOnce(modern)).toBe('modern');
    expect(await useOnce(modern)).toBe('modern');
    expect(await useOnce(old)).toBe('legacy');
  });

  it('is corrected when another server responds at the same address, both ways', async () => {
    let port = '0';
    const useFixture = async (era: string): Promise<string | undefined> => {
      const flags = ['--era', era, '--port', port];
      const server = await startFixture('echo', { transport: 'http', flags });
      port = new URL(server.url).port;
      return useOnce({ url: server.url }).finally(() => server.stop());
    };
    expect(await useFixture('legacy')).toBe('legacy');
    expect(await useFixture('modern')).toBe('modern');
    expect(await useFixture('legacy')).toBe('legacy');
  });

  it('is optional: a broken file counts as a missing one', async () => {
    const state = directory.file('state');
    const server = fixture('echo', '--era', 'legacy');
    await useOnce(server);
    const [name = ''] = readdirSync(state);
    const key = Object.keys(JSON.parse(readFileSync(join(state, name), 'utf8')))[0] ?? '';
    const broken = ['', '{', 'null', '[1]', '"x"', '\0\xff', JSON.stringify({ [key]: null, x: 5 })];
    for (const text of [...broken, JSON.stringify({ [key]: { era: 'stone', foundAt: 'long ago' } })]) {
      writeFileSync(join(state, name), text);
      expect(await useOnce(server)).toBe('legacy');
    }
    expect(JSON.parse(readFileSync(join(state, name), 'utf8'))).toHaveProperty(key);
  });

  it('is optional: an unwritable state directory does not matter', async () => {
    const file = directory.file('a-file');
    writeFileSync(file, '');
    mkdirSync(directory.file('verdicts/era-verdicts.json'), { recursive: true });
    for (const stateDir of [join(file, 'below'), directory.file('verdicts')])
      expect(await useOnce(fixture('echo', '--era', 'legacy'), { stateDir })).toBe('legacy');
  });

  it('stores no secret on disk', async () => {
    const secret = 'sk-very-secret';
    await useOnce({ ...fixture('echo', '--era', 'legacy', '--token', secret), env: { TOKEN: secret } });
    const state = directory.file('state');
    for (const name of readdirSync(state))
      expect(readFileSync(join(state, name), 'utf8')).not.toContain(secret);
  });
});
