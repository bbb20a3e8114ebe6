import { CallLog } from '@turnbuckle/store';
import { temporaryDirectory } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { record, TIME } from '../../../store/test/record.js';
import { openAgentStore, runDirectly } from '../../src/conversations/agent-store.js';

const REGULATOR = { full: 100, floor: -50, replenishPerSecond: 1 };
const WEEK_MS = 7 * 24 * 3_600_000;

// requirement E7
it('a call whose energy was added up long ago is not found in the log and deducted again', async () => {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  const logDirectory = home.file('log');
  const run = 'conversation';
  const log = new CallLog({ directory: logDirectory });
  log.append(record(1, { caller: 'agent', run, energy: 3 }));
  await log.flush();
  await log.close();
  const open = async (now: number) => {
    const served = await openAgentStore({ file: home.file('work.db'), caller: 'agent', logDirectory, now });
    return { store: runDirectly(served), close: served.close };
  };
  const first = await open(TIME);
  const message = { newId: run, text: 'hello', budget: 100_000, maxConversations: 1 };
  await first.store.run('addMessage', { ...message, at: TIME });
  const row = { ref: 'call:call-1', source: 'call', thousandths: 3_000, conversation: run } as const;
  await first.store.run('recordEnergy', [{ ...row, at: TIME + 10 }]);
  await first.store.run('deduct', TIME + 20, REGULATOR);
  first.close();
  // Adds it up, and ends before anything is deducted.
  (await open(TIME + WEEK_MS + 1_000)).close();
  const last = await open(TIME + WEEK_MS + 2_000);
  onTestFinished(() => void last.close());
  await last.store.run('deduct', TIME + WEEK_MS + 3_000, REGULATOR);
  const { bySource, deducted } = await last.store.run('energyTotals');
  expect({ call: bySource.call, deducted }).toEqual({ call: 3_000, deducted: 3_000 });
});
