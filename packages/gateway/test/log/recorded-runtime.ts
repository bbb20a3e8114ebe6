/** A runtime with a real server and native tools, whose calls are recorded in a log of its own. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CallLog, type LogOptions } from '@turnbuckle/store';
import { fixture, temporaryDirectory } from '@turnbuckle/testing';
import { createRuntime, type Runtime, type RuntimeOptions } from 'turnbuckle';
import { onTestFinished } from 'vitest';
import { type RecordOptions, recordCalls } from '../../src/log/call-log.js';
import { recordServers } from '../../src/log/server-log.js';

export interface Recorded {
  readonly runtime: Runtime;
  readonly log: CallLog;
  readonly directory: string;
  /** The current content of all files in the log's directory. */
  files(): string;
}

export async function openRecorded(
  options: {
    readonly runtime?: RuntimeOptions;
    readonly log?: Partial<LogOptions>;
    readonly record?: RecordOptions;
  } = {},
): Promise<Recorded> {
  const home = await temporaryDirectory();
  const directory = home.file('log');
  const runtime = await createRuntime({
    stateDir: home.file('state'),
    servers: { demo: fixture('echo') },
    ...options.runtime,
  });
  const log = new CallLog({ directory, ...options.log });
  const stops = [recordCalls(runtime, log, options.record), recordServers(runtime, log)];
  onTestFinished(async () => {
    for (const stop of stops) stop();
    await runtime.close();
    await log.close();
    await home.remove();
  });
  return { runtime, log, directory, files: () => readAll(directory) };
}

/** The text of all files below a directory. */
export function readAll(directory: string): string {
  return readdirSync(directory, { withFileTypes: true })
    .map((entry) => {
      const path = join(directory, entry.name);
      return entry.isDirectory() ? readAll(path) : readFileSync(path, 'latin1');
    })
    .join('\n');
}
