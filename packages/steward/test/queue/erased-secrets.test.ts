/** What may be a secret is in the database only while its request needs it. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryDirectory } from '@turnbuckle/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InstallApprovals } from '../../src/queue/install-approvals.js';
import { RequestQueue } from '../../src/queue/queue.js';
import { createQueueOperations } from '../../src/queue/queue-operations.js';
import type { Claim } from '../../src/queue/request-row.js';
import { openStewardDatabase } from '../../src/queue/steps.js';
import type { RequestKind, StewardRequest } from '../../src/requests/request.js';
import { makeRequest } from '../request-maker.js';
import { LEASE_MS } from './open-queue.js';

const CANARY = 'canary-7731ee09';
const TOKEN = `ghp_${'c4n4ry7731'.repeat(4)}`;
const holds = (text: string): boolean => text.includes(CANARY) || text.includes(TOKEN);

/** With other values in the entry, so that it needs more than a page. */
const ENTRY = {
  command: 'x',
  description: `uses ${TOKEN}`,
  env: { API_KEY: CANARY, MODE: 'x'.repeat(9_000) },
};
const ERROR = { code: 'CONNECT_FAILED', message: `The server said: ${TOKEN}` } as const;

let home: Awaited<ReturnType<typeof temporaryDirectory>>;
/** That of the daemon, which maintains it, and that of a worker. */
let databases: Array<Awaited<ReturnType<typeof openStewardDatabase>>>;
beforeEach(async () => {
  home = await temporaryDirectory();
  const file = home.file('work.db');
  databases = [await openStewardDatabase(file), await openStewardDatabase(file)];
});
afterEach(async () => {
  for (const database of databases) database.close();
  await home.remove();
});

const stored = (): string => {
  const directory = dirname(home.file('work.db'));
  const files = readdirSync(directory).filter((name) => name.startsWith('work.db'));
  return files.map((name) => readFileSync(join(directory, name), 'latin1')).join('\n');
};

const queueOf = (index: number): RequestQueue => {
  const database = databases[index];
  if (database === undefined) throw new Error('It is not open.');
  return new RequestQueue(database);
};

/** A request that a worker has worked on: with the parameters, what its steps found, and an answer with values. */
function started(request: StewardRequest): Claim {
  queueOf(0).enqueue(request, 0);
  const worker = queueOf(1);
  const claimed = worker.claim({ worker: 'w', kinds: [request.type], leaseMs: LEASE_MS, now: 0 });
  if (claimed === undefined) throw new Error('There is nothing to claim.');
  const approvals = new InstallApprovals(databases[1] as never);
  const subject = { details: [`header: ${TOKEN}`] };
  const { id } = approvals.ask({
    ...{ requestId: request.id, step: 'approve', fields: [] },
    subject,
    now: 0,
    expiresAt: 9,
  });
  approvals.answer(id, { answer: 'yes', answeredBy: 'the owner', values: { ROOT: CANARY }, now: 0 });
  worker.report(claimed.claim, { progress: 5, message: `Reading ${TOKEN}.`, now: 0 });
  const data = { before: ENTRY, after: { ...ENTRY, enabled: false } };
  worker.recordStep(claimed.claim, {
    next: 'apply',
    data,
    progress: 50,
    message: 'Finished: approve.',
    now: 0,
  });
  return claimed.claim;
}

const maintain = (): void => {
  const { refresh } = createQueueOperations(databases[0] as never);
  refresh({ after: 0, limit: 100, readTo: undefined, now: 1 });
};

const REQUESTS: ReadonlyArray<readonly [RequestKind, Readonly<Record<string, unknown>>]> = [
  ['modify_server', { serverName: 'demo', changes: ENTRY }],
  ['add_server', { purpose: `with ${TOKEN} of https://example.com`, values: { ROOT: CANARY } }],
];

// requirement E1, K2
describe('what may be a secret', () => {
  it.each(REQUESTS)('of %s is erased when it ends, however it ends', (type, params) => {
    const request = (): StewardRequest => makeRequest({}, { type, params });
    const worker = queueOf(1);
    worker.complete(started(request()), { now: 0, result: { diff: [`- description: ${TOKEN}`] } });
    worker.fail(started(request()), { now: 0, error: ERROR });
    const cancelled = started(request());
    worker.requestCancel(cancelled.id, `it has ${TOKEN}`, 0);
    expect(stored()).toContain(CANARY);
    worker.finishCancel(cancelled, { now: 0 });
    const neverStarted = request();
    worker.enqueue(neverStarted, 0);
    worker.requestCancel(neverStarted.id, '', 0);
    const lost = request();
    worker.enqueue(lost, 0);
    for (let now = 0; worker.status(lost.id)?.state !== 'failed'; now += LEASE_MS) {
      worker.claim({ worker: 'w', kinds: [type], leaseMs: LEASE_MS, now });
      worker.releaseOwner('w', now);
    }
    maintain();
    expect(holds(stored())).toBe(false);
    expect(
      worker
        .list()
        .map(({ state }) => state)
        .sort(),
    ).toEqual(['cancelled', 'cancelled', 'completed', 'failed', 'failed']);
  });

  it('is erased when nobody has the database open any more', () => {
    const request = makeRequest(ENTRY);
    queueOf(1).enqueue(request, 0);
    queueOf(1).requestCancel(request.id, '', 0);
    for (const database of databases.splice(0)) database.close();
    expect(holds(stored())).toBe(false);
  });

  it('is not told while the request goes on, either', () => {
    started(makeRequest(ENTRY));
    const told = JSON.stringify([queueOf(0).messagesAfter(0, 100), queueOf(0).list()]);
    expect(told).toContain('[redacted]');
    expect(holds(told)).toBe(false);
  });

  it('does not make a request that is sent again another one', () => {
    const request = makeRequest(ENTRY);
    queueOf(1).complete(started(request), { now: 0 });
    expect(queueOf(0).enqueue(request, 1).state).toBe('completed');
    const other = { ...request, params: { serverName: 'demo', changes: { ...ENTRY, command: 'y' } } };
    expect(() => queueOf(0).enqueue(other, 1)).toThrow(expect.objectContaining({ code: 'NAME_TAKEN' }));
  });

  it('of requests that ended before this was so is erased when the file is opened', async () => {
    const { id } = makeRequest();
    queueOf(0).enqueue(makeRequest({}, { id }), 0);
    queueOf(0).requestCancel(id, '', 0);
    const update = databases[0]?.prepare('UPDATE steward_requests SET params = ?, data = ?');
    update?.run(JSON.stringify({ changes: ENTRY }), JSON.stringify({ before: ENTRY }));
    databases[0]?.exec(`UPDATE parts SET version = 3 WHERE name = 'steward'`);
    for (const database of databases.splice(0)) database.close();
    expect(stored()).toContain(CANARY);
    const database = await openStewardDatabase(home.file('work.db'));
    expect(new RequestQueue(database).status(id)?.state).toBe('cancelled');
    database.close();
    expect(holds(stored())).toBe(false);
  });
});
