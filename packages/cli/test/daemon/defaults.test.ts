import { fixture } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { createHome, json } from '../commands/turnbuckle.js';
import { daemonForTest } from './running-daemon.js';

// requirement F1, C10
it('the defaults and limits of the file apply to the commands, and to the daemon', async () => {
  const home = await createHome();
  onTestFinished(() => home.remove());
  await home.write('.config/turnbuckle/mcp.json', {
    defaults: { callTimeoutMs: 1_234, listTtlMs: 60_000 },
    limits: { maxServers: 1 },
    servers: { a: fixture('echo'), b: fixture('echo') },
  });
  const expectBoth = async (): Promise<void> => {
    const list = await json<unknown[]>(['list'], { home });
    expect(list).toContainEqual(
      expect.objectContaining({
        name: 'a',
        status: 'connected',
        config: expect.objectContaining({ callTimeoutMs: 1_234, listTtlMs: 60_000 }),
      }),
    );
    expect(list).toContainEqual(
      expect.objectContaining({ name: 'b', error: expect.objectContaining({ code: 'SERVER_LIMIT' }) }),
    );
  };
  await expectBoth();
  await daemonForTest([], { home });
  await expectBoth();
});
