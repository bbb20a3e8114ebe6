/** The logs of a runtime without a daemon: its calls, its servers, and its incidents. */
import type { CallLog } from '@turnbuckle/store';
import type { ConfiguredRuntime } from 'turnbuckle';
import type { Reload } from 'turnbuckle/host';
import type { Report } from '../incidents/incident.js';
import { type LogOutput, OperatorLog } from '../incidents/operator-log.js';
import { watchConfigured } from '../incidents/watch-configured.js';
import { recordCalls } from '../log/call-log.js';
import { recordServers } from '../log/server-log.js';
import { logFailed } from './daemon-incidents.js';
import { type CallLogOptions, openCallLog } from './open-call-log.js';

export interface RuntimeLogsOptions {
  readonly stateDir: string;
  /** Absent: incidents are only kept in the store. */
  readonly output: LogOutput | undefined;
}

export interface RuntimeLogs {
  /** Undefined if logging is disabled, or the log cannot be opened. */
  readonly callLog: CallLog | undefined;
  /** The files were read again, and are in effect. */
  readonly reloaded: (reload: Reload) => void;
  readonly report: Report;
  /** To be called after the last call. */
  close(): Promise<void>;
}

/** Records the calls, servers and incidents of a runtime from now on. If the log cannot be opened, calls continue. */
export async function logRuntime(
  configured: ConfiguredRuntime,
  { stateDir, output }: RuntimeLogsOptions,
): Promise<RuntimeLogs> {
  const { runtime, config } = configured;
  const { logLevel, log: settings } = config().settings.daemon ?? {};
  const redact = (value: unknown): unknown => runtime.redact(value);
  const operatorLog = await OperatorLog.open({ output, level: logLevel, redact });
  const log = tryOpenCallLog({ stateDir, settings, report: operatorLog.report });
  operatorLog.keepIn(log);
  const { reloaded, stop } = watchConfigured(configured, operatorLog);
  const stops = log === undefined ? [stop] : [stop, recordCalls(runtime, log), recordServers(runtime, log)];
  return {
    callLog: log,
    reloaded,
    report: operatorLog.report,
    close: async () => {
      for (const end of stops) end();
      operatorLog.close();
      await log?.close();
    },
  };
}

function tryOpenCallLog(options: CallLogOptions): CallLog | undefined {
  try {
    return openCallLog(options);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    options.report(logFailed(`Calls are not logged: ${why}`));
    return undefined;
  }
}
