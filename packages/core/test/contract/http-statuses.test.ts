import { readFile } from 'node:fs/promises';
import { startFixture, temporaryDirectory } from '@turnbuckle/testing';
import { createRuntime, type Runtime } from 'turnbuckle';
import { describe, expect, it } from 'vitest';
import { textOf } from './text-of.js';

interface Visit {
  readonly at: string;
  readonly status: number;
  readonly authorization?: string;
}

interface Wall {
  readonly runtime: Runtime;
  visits(): Promise<Visit[]>;
}

const SECRET = 'Bearer secret';

/** Connects to an HTTP server that requires a credential, with or without it, and reports the requests that the server received. */
async function behindWall(
  { flags, expressLane, authorization }: { flags: string[]; expressLane: boolean; authorization?: string },
  check: (wall: Wall) => Promise<void>,
): Promise<void> {
  const home = await temporaryDirectory();
  const log = home.file('visits');
  const web = await startFixture('auth-wall', { transport: 'http', flags: [...flags, '--log-file', log] });
  const headers = authorization === undefined ? {} : { authorization };
  const reconnect = { initialMs: 100, tries: 3 };
  const runtime = await createRuntime({
    servers: { web: { type: 'http', url: web.url, headers, reconnect } },
    expressLane,
    stateDir: home.path,
  });
  try {
    await runtime.connectAll();
    const visits = async (): Promise<Visit[]> =>
      (await readFile(log, 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Visit);
    await check({ runtime, visits });
  } finally {
    await runtime.close();
    await web.stop();
    await home.remove();
  }
}

const echo = async (runtime: Runtime): Promise<string> =>
  textOf(await runtime.callTool('web', 'echo', { text: 'in' }, { timeoutMs: 8_000 }));

describe.each([true, false])('HTTP responses other than success (express lane: %s)', (expressLane) => {
  it.each(['401', '403'])('needs a sign-in after %s, and does not retry by itself', async (status) => {
    await behindWall({ flags: ['--status', status], expressLane }, async ({ runtime, visits }) => {
      const { status: word, error } = runtime.serverStatus('web');
      expect(word).toBe('needs-auth');
      expect(error).toMatchObject({ code: 'AUTH_REQUIRED', server: 'web', data: { status: Number(status) } });
      const before = (await visits()).length;
      await expect(echo(runtime)).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
      expect((await visits()).length).toBe(before);
    });
  });

  it.each(['401', '403'])('avoids %s with the credential, which only the server receives', async (status) => {
    const wall = { flags: ['--status', status], expressLane, authorization: SECRET };
    await behindWall(wall, async ({ runtime }) => {
      expect(await echo(runtime)).toBe('in');
      expect(JSON.stringify(runtime.status())).not.toContain(SECRET);
    });
  });

  it.each([
    ['429', '1'],
    ['429', new Date(Date.now() + 2_000).toUTCString()],
    ['503', '1'],
    ['429', 'soon, maybe'],
  ])('reconnects after %s with Retry-After: %s', async (status, retryAfter) => {
    const flags = ['--status', status, '--times', '1', '--retry-after', retryAfter];
    await behindWall({ flags, expressLane }, async ({ runtime, visits }) => {
      expect(await echo(runtime)).toBe('in');
      const refused = (await visits()).filter((visit) => visit.status === Number(status));
      expect(refused).toHaveLength(1);
    });
  });

  it('follows a redirect inside the origin, with its credential', async () => {
    const wall = { flags: ['--redirect', 'same'], expressLane, authorization: SECRET };
    await behindWall(wall, async ({ runtime, visits }) => {
      expect(await echo(runtime)).toBe('in');
      expect((await visits()).every(({ authorization }) => authorization === SECRET)).toBe(true);
    });
  });

  it('does not follow a redirect to another origin', async () => {
    const wall = { flags: ['--redirect', 'other'], expressLane, authorization: SECRET };
    await behindWall(wall, async ({ runtime, visits }) => {
      expect(runtime.serverStatus('web')).toMatchObject({
        status: 'failed',
        error: { code: 'CONNECT_FAILED' },
      });
      expect((await visits()).filter(({ at }) => at === 'other')).toEqual([]);
    });
  });
});
