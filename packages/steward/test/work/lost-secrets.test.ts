/** A daemon that is killed between the answer to an approval and the storing of its secrets: the person is asked again. */
import { waitUntil } from '@turnbuckle/testing';
import { createVault, secretKey } from 'turnbuckle/host';
import { afterEach, describe, expect, it } from 'vitest';
import { InstallApprovals } from '../../src/queue/install-approvals.js';
import { openStewardDatabase } from '../../src/queue/steps.js';
import { openKilledDaemon } from '../daemon/killed-daemon.js';
import { filesRecord, type Json, openStewardStage, type StewardStage } from '../daemon/stage.js';

const FIELDS = [
  { name: 'FILES_KEY', isSecret: true, isRequired: true },
  { name: 'OTHER_KEY', isSecret: true },
];
const MINUTE_MS = 60_000;

let stage: StewardStage;
afterEach(() => stage.close());

const openVault = () =>
  createVault({ stateDir: stage.home.file('state'), environment: { HOME: stage.home.path } });

/** What the daemon has done when it is killed: the answer counts, and one of two secrets is stored. */
async function answerAndDie(approval: Json): Promise<void> {
  await stage.daemon.close(0);
  const database = await openStewardDatabase(stage.home.file('state/work.db'));
  const [answeredAt, secrets] = [Date.now() - MINUTE_MS, FIELDS.map(({ name }) => name)];
  const reply = { answer: 'yes', answeredBy: 'the owner', values: {}, secrets, now: answeredAt } as const;
  new InstallApprovals(database).answer(String(approval.id), reply);
  database.close();
  const fields = approval.fields as ReadonlyArray<{ name: string; secretName: string }>;
  const other = fields.find(({ name }) => name === 'OTHER_KEY');
  await openVault().set(secretKey(other?.secretName ?? ''), 'half of an answer');
}

const names = async (): Promise<string[]> => (await openVault().list()).map(({ name }) => name);

// requirement E3, K2
describe('secrets that were never stored', () => {
  it('are asked for again, and nothing of the lost answer stays', async () => {
    stage = await openStewardStage({
      open: openKilledDaemon,
      records: [filesRecord({ environmentVariables: FIELDS })],
    });
    const id = await stage.request('add_server', { registryName: 'io.github.acme/files' });
    const first = await stage.approval(id);
    await answerAndDie(first);
    expect(await names()).toHaveLength(1);
    await stage.restart();
    await waitUntil(async () => (await stage.status(id)).waitingFor === 'approval', 20_000);
    const again = await stage.approval(id);
    expect(again.id).not.toBe(first.id);
    expect(JSON.stringify(again.subject)).toContain('were lost when the daemon ended: give them again');
    expect(await names()).toEqual([]);
    expect((await stage.answer(String(first.id), 'yes')).status).toBe(404);
    const { status } = await stage.answer(String(again.id), 'yes', { FILES_KEY: 'canary-55ab01' });
    expect(status).toBe(200);
    expect(await stage.approveAll(id)).toMatchObject({ state: 'completed' });
    expect(await names()).toHaveLength(1);
    const { files } = stage.config().servers as Record<string, Json>;
    expect(Object.keys(files?.env as Json)).toEqual(['FILES_KEY']);
  });
});
