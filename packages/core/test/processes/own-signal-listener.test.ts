import { randomUUID } from 'node:crypto';
import { fixture, processesWithEnvironment, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { startHost } from './host.js';

it.skipIf(process.platform !== 'linux')(
  'a host with its own SIGTERM handler decides when to end, and its servers live until then',
  async () => {
    const directory = await temporaryDirectory();
    const mark = randomUUID();
    const servers = { echo: { ...fixture('echo'), env: { CYCLE: mark } } };
    const host = startHost({ servers, stateDir: directory.path, ending: 'own-handler', mark });
    try {
      await host.said('READY');
      for (let round = 0; round < 2; round += 1) {
        host.process.kill('SIGTERM');
        expect(await host.said('TERM')).toMatchObject({ left: 1 });
      }
      expect(host.process.exitCode).toBeNull();
      host.process.stdin?.end();
      expect(await host.ended).toBe(0);
      await waitUntil(() => processesWithEnvironment('CYCLE', mark).length === 0, 2_000);
    } finally {
      host.process.kill('SIGKILL');
      await directory.remove();
    }
  },
);
