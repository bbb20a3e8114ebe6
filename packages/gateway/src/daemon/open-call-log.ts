/** The log of calls of a state directory, as the settings of the daemon want it, for every surface that keeps one. */
import { InvocationLog, logDirectory } from '@turnbuckle/store';
import type { DaemonSettings, Runtime } from 'turnbuckle';
import { recordCalls } from './log/call-log.js';
import { recordServers } from './log/server-log.js';

export interface CallLogOptions {
  readonly stateDir: string;
  readonly settings: DaemonSettings['log'];
  readonly onWarning?: ((message: string) => void) | undefined;
}

const MEGABYTE = 1_024 * 1_024;
const DAY_MS = 24 * 3_600_000;

/** Undefined where nothing is to be logged. Others may write to the same directory at the same time. */
export function openCallLog({
  stateDir,
  settings = {},
  onWarning,
}: CallLogOptions): InvocationLog | undefined {
  const { enabled, durable, keepDays, maxMegabytes } = settings;
  if (enabled === false) return undefined;
  return new InvocationLog({
    directory: logDirectory(stateDir),
    durability: durable === true ? 'power' : 'process',
    retention: {
      ...(keepDays !== undefined && { maxAgeMs: keepDays * DAY_MS }),
      ...(maxMegabytes !== undefined && { maxBytes: maxMegabytes * MEGABYTE }),
    },
    onFailure: (error) => onWarning?.(`The log of calls: ${error.message}`),
  });
}

/**
 * Records the calls and servers of a runtime from now on; returns the function that ends it, for after its last call.
 * Where no log can be kept, that is a warning: calls go on.
 */
export function logCalls(runtime: Runtime, options: CallLogOptions): () => Promise<void> {
  const log = openIfPossible(options);
  if (log === undefined) return async () => {};
  const stops = [recordCalls(runtime, log), recordServers(runtime, log)];
  return async () => {
    for (const stop of stops) stop();
    await log.close();
  };
}

function openIfPossible(options: CallLogOptions): InvocationLog | undefined {
  try {
    return openCallLog(options);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    options.onWarning?.(`No log of calls is kept: ${why}`);
    return undefined;
  }
}
