/** Where the log of a state directory is, and how long it keeps records, by the settings of the configuration. */
import { type LogOptions, logDirectory } from '@turnbuckle/store';
import type { DaemonSettings } from 'turnbuckle/host';

const MEGABYTE = 1_024 * 1_024;
const DAY_MS = 24 * 3_600_000;

export function logOptions(
  stateDir: string,
  { durable, keepDays, maxMegabytes }: NonNullable<DaemonSettings['log']>,
): Required<Pick<LogOptions, 'directory' | 'durability' | 'retention'>> {
  return {
    directory: logDirectory(stateDir),
    durability: durable === true ? 'power' : 'process',
    retention: {
      ...(keepDays !== undefined && { maxAgeMs: keepDays * DAY_MS }),
      ...(maxMegabytes !== undefined && { maxBytes: maxMegabytes * MEGABYTE }),
    },
  };
}
