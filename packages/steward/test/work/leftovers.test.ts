/** What a daemon that was killed left behind is removed by the next one. */
import { readdirSync } from 'node:fs';
import { waitUntil } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { scriptedPackage, scriptedRecord } from '../daemon/hostile-servers.js';
import { openKilledDaemon } from '../daemon/killed-daemon.js';
import { openStewardStage } from '../daemon/stage.js';
import { workerPids } from '../daemon/worker-processes.js';

// requirement E3
it('the quarantine of a killed test is removed when the steward works again', async () => {
  const hanging = { start: 'setInterval(() => {}, 1_000);', onRequest: 'return;' };
  const stage = await openStewardStage({
    open: openKilledDaemon,
    packages: [scriptedPackage('hang', hanging)],
    records: [scriptedRecord('hang')],
  });
  try {
    const quarantines = (): string[] =>
      readdirSync(stage.home.file('state')).filter((name) => name.startsWith('quarantine-'));
    const id = await stage.request('add_server', { registryName: 'io.github.acme/hang' });
    await stage.answer(String((await stage.approval(id)).id), 'yes');
    await waitUntil(() => quarantines().length === 1, 20_000);
    const [left] = quarantines();
    const workers = workerPids(stage.home.path);
    for (const pid of workers) process.kill(pid, 'SIGKILL');
    await stage.daemon.close(0);
    await waitUntil(() => workerPids(stage.home.path).length === 0, 5_000);
    expect(quarantines()).toContain(left);
    await stage.restart();
    await waitUntil(() => !quarantines().includes(left ?? ''), 10_000);
    await stage.api('POST', `/api/steward/requests/${id}/cancel`, {});
    await stage.until(id, 'cancelled');
    expect(quarantines()).toEqual([]);
  } finally {
    await stage.close();
  }
});
