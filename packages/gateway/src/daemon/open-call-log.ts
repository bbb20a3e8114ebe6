/** Opens the log of a state directory with the settings of the daemon. */
import { CallLog, logDirectory } from '@turnbuckle/store';
import type { DaemonSettings } from 'turnbuckle/host';
import type { Report } from '../incidents/incident.js';
import { logOptions } from '../log/log-options.js';
import { logFailed } from './daemon-incidents.js';

export interface CallLogOptions {
  readonly stateDir: string;
  readonly settings: DaemonSettings['log'];
  readonly report: Report;
}

/** Undefined if logging is disabled. Other processes may write to the same directory at the same time. */
export function openCallLog({ stateDir, settings = {}, report }: CallLogOptions): CallLog | undefined {
  if (settings.enabled === false) return undefined;
  return new CallLog({
    ...logOptions(stateDir, settings),
    onFailure: ({ message }) =>
      report(logFailed(`Cannot write to the log in ${logDirectory(stateDir)}: ${message}`)),
  });
}
