/** Opens the call log of a state directory with the settings of the daemon. */
import { CallLog, logDirectory } from '@turnbuckle/store';
import type { Runtime } from 'turnbuckle';
import type { DaemonSettings } from 'turnbuckle/host';
import { recordCalls } from '../log/call-log.js';
import { recordServers } from '../log/server-log.js';

export interface CallLogOptions {
  readonly stateDir: string;
  readonly settings: DaemonSettings['log'];
  readonly onWarning?: ((message: string) => void) | undefined;
}

const MEGABYTE = 1_024 * 1_024;
const DAY_MS = 24 * 3_600_000;

/** Undefined if logging is disabled. Other processes may write to the same directory at the same time. */
export function openCallLog({ stateDir, settings = {}, onWarning }: CallLogOptions): CallLog | undefined {
  const { enabled, durable, keepDays, maxMegabytes } = settings;
  if (enabled === false) return undefined;
  return new CallLog({
    directory: logDirectory(stateDir),
    durability: durable === true ? 'power' : 'process',
    retention: {
      ...(keepDays !== undefined && { maxAgeMs: keepDays * DAY_MS }),
      ...(maxMegabytes !== undefined && { maxBytes: maxMegabytes * MEGABYTE }),
    },
    onFailure: (error) => onWarning?.(`Call log: ${error.message}`),
  });
}

/**
 * Records the calls and servers of a runtime from now on; returns a function that ends it, to be called after the last
 * call. If the log cannot be opened, it warns and calls continue.
 */
export function logCalls(runtime: Runtime, options: CallLogOptions): () => Promise<void> {
  const log = tryOpenCallLog(options);
  if (log === undefined) return async () => {};
  const stops = [recordCalls(runtime, log), recordServers(runtime, log)];
  return async () => {
    for (const stop of stops) stop();
    await log.close();
  };
}

function tryOpenCallLog(options: CallLogOptions): CallLog | undefined {
  try {
    return openCallLog(options);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    options.onWarning?.(`Calls are not logged: ${why}`);
    return undefined;
  }
}
