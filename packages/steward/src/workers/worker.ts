/** A worker process: claims requests and runs their steps until its pool ends it, or is gone. */
import { ProcessTable, toTurnbuckleError } from 'turnbuckle/host';
import { InstallApprovals } from '../queue/install-approvals.js';
import { RequestQueue } from '../queue/queue.js';
import type { ClaimedRequest } from '../queue/request-row.js';
import { openStewardDatabase } from '../queue/steps.js';
import { ClaimWatch } from './claim-watch.js';
import { killGroup } from './kill-group.js';
import { type RunEnd, runRequest } from './run-request.js';
import type { StepModule, StewardServices } from './step.js';
import { ALIVE_MS, type WorkerMessage, type WorkerSettings } from './worker-messages.js';

/** How often an idle worker looks for requests of other processes. */
const IDLE_MS = 500;

const end = new AbortController();
let wake = (): void => {};

process.on('message', (message: WorkerMessage) => {
  if (message.type === 'settings') void main(message.settings).catch(fail);
  else if (message.type === 'wake') wake();
  else stop();
});
// The daemon is gone: the steward works only while it runs.
process.on('disconnect', stop);
// A terminal sends these to the daemon, which ends its workers.
process.on('SIGINT', () => {});
process.on('SIGTERM', stop);

setInterval(() => {
  if (process.connected) process.send?.('alive', undefined, undefined, () => {});
}, ALIVE_MS).unref();

function stop(): void {
  end.abort();
  wake();
}

async function main(settings: WorkerSettings): Promise<void> {
  const database = await openStewardDatabase(settings.database);
  const queue = new RequestQueue(database);
  const approvals = new InstallApprovals(database);
  const loaded = (await import(settings.steps)) as Partial<StepModule> & { readonly default?: StepModule };
  // A bundle of CommonJS has all its names in one.
  const module = (loaded.steps === undefined ? loaded.default : loaded) as StepModule;
  const base = { now: Date.now, settings: settings.settings };
  const added = await module.createServices?.(base);
  const servicesFor = (requestId: string): StewardServices => ({
    ...base,
    ...added,
    dataOfOthers: (kind) => queue.dataOfOthers(requestId, kind),
    approvals: {
      ask: (question) => approvals.ask({ ...question, requestId, now: Date.now() }),
      askAgain: (question) => approvals.askAgain({ ...question, requestId, now: Date.now() }),
    },
  });
  // A daemon that was killed with its workers could not: what still runs would write into the files of repeated steps.
  await new ProcessTable().endOrphans();
  while (!end.signal.aborted) {
    const claimed = tryClaim(queue, settings);
    if (claimed === undefined) {
      await idle();
      continue;
    }
    const ended = await run(claimed, { queue, settings, module, servicesFor });
    if (ended === 'stuck') {
      process.stderr.write(
        `A step of the request "${claimed.claim.id}" did not stop when it was interrupted.\n`,
      );
      break;
    }
  }
  database.close();
  exit(0);
}

/** A database that is busy for long is no reason to end. */
function tryClaim(queue: RequestQueue, { id, kinds, leaseMs }: WorkerSettings): ClaimedRequest | undefined {
  try {
    return queue.claim({ worker: id, kinds, leaseMs, now: Date.now() });
  } catch (error) {
    report(error);
    return undefined;
  }
}

interface Parts {
  readonly queue: RequestQueue;
  readonly settings: WorkerSettings;
  readonly module: StepModule;
  servicesFor(requestId: string): StewardServices;
}

async function run(claimed: ClaimedRequest, parts: Parts): Promise<RunEnd> {
  const { queue, settings, module, servicesFor } = parts;
  const { claim, request } = claimed;
  const watch = new ClaimWatch({
    queue,
    claim,
    leaseMs: settings.leaseMs,
    now: Date.now,
    end: end.signal,
  });
  wake = () => watch.look();
  try {
    const steps = module.steps[request.type];
    return await runRequest(claimed, { queue, watch, steps, services: servicesFor(claim.id) });
  } catch (error) {
    // Its end could not be stored: the claim expires, and the step is repeated.
    report(error);
    return 'released';
  } finally {
    wake = () => {};
    watch.close();
  }
}

function idle(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, IDLE_MS);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
    if (end.signal.aborted) wake();
  });
}

function report(error: unknown): void {
  process.stderr.write(`${toTurnbuckleError(error).message}\n`);
}

function fail(error: unknown): void {
  report(error);
  exit(1);
}

/** With all its child processes: as the last listener, after those of the runtimes that steps opened. */
function exit(code: number): void {
  process.on('exit', () => killGroup(process.pid));
  process.exit(code);
}
