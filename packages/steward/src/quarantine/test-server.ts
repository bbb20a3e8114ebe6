/**
 * Tests a server before anybody may use it: starts it in quarantine, reads its lists, checks its texts and schemas,
 * and calls some of its read-only tools.
 */
import { type CatalogTool, TurnbuckleError } from 'turnbuckle';
import { createRedactor, type MentionableTool, untilAborted } from 'turnbuckle/host';
import { type Examination, examineServer } from './examine-server.js';
import { openQuarantine, type Quarantine } from './open-quarantine.js';
import type { ConfigEntry } from './quarantine-entry.js';
import { type TestReport, toReport } from './report.js';
import { TEST_LIMITS, type TestLimits } from './test-limits.js';

export interface TestServerOptions {
  readonly name: string;
  /** Its entry in a config file. */
  readonly entry: ConfigEntry;
  /**
   * Values of the variables and placeholders that the entry names, secrets included: by the name of a variable, or as
   * `secret:name` and `input:id`. The server gets no others, and the report contains none of them.
   */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Where the directory for this test is created. It is removed afterwards. */
  readonly stateDir: string;
  readonly signal?: AbortSignal | undefined;
  /** `required`: without a sandbox nothing is started, and the test fails with SANDBOX_UNAVAILABLE. */
  readonly sandbox: 'required' | 'where-available';
  /** How many tools that claim to be read-only are called at most; 0: none. */
  readonly sampleCalls?: number | undefined;
  /** Lets the server use the network, and calls tools that do. */
  readonly allowNetwork?: boolean | undefined;
  /** Where it is installed: it can read this directory. Absent: that of its script, or `cwd`. */
  readonly directory?: string | undefined;
  /** Tools of other servers, whose names it must not take. */
  readonly existing?: readonly MentionableTool[] | undefined;
  readonly limits?: Partial<TestLimits> | undefined;
  /** The PATH in which programs are found; absent: that of this process. */
  readonly path?: string | undefined;
  /** For the arguments of sample calls. */
  readonly seed?: number | undefined;
  /** Receives the tools as the server listed them first: what the report is about. */
  readonly onTools?: ((tools: readonly CatalogTool[]) => void) | undefined;
}

const SAMPLE_CALLS = 8;

/**
 * The report. Rejects with CALL_CANCELLED when the signal aborts, or if the test cannot begin (SANDBOX_UNAVAILABLE,
 * VARIABLE_MISSING, CONFIG_INVALID). All processes of the server have ended when it settles.
 */
export async function testServer(options: TestServerOptions): Promise<TestReport> {
  const { name, signal, environment = {}, allowNetwork = false, path = process.env.PATH } = options;
  const limits = { ...TEST_LIMITS, ...options.limits };
  if (signal?.aborted === true) throw testCancelled(name);
  const redactor = createRedactor();
  const values = Object.values(environment);
  for (const value of values) redactor.learn(value);
  const quarantine = await openQuarantine({ ...options, environment, allowNetwork, path, limits });
  try {
    const draft = await examine(
      {
        quarantine,
        limits,
        redactor,
        allowNetwork,
        existing: options.existing ?? [],
        sampleCalls: options.sampleCalls ?? SAMPLE_CALLS,
        seed: options.seed ?? 1,
        onTools: options.onTools ?? (() => {}),
      },
      signal,
    );
    return toReport(draft, { redactor, values });
  } finally {
    await quarantine.close();
  }
}

/** Until it is done, or its time is over: then the draft says so. */
async function examine(
  parts: Omit<Examination, 'signal'>,
  signal: AbortSignal | undefined,
): Promise<ReturnType<ReturnType<typeof examineServer>['draft']>> {
  const { quarantine, limits } = parts;
  const deadline = AbortSignal.timeout(limits.totalMs);
  const either = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
  const { done, draft } = examineServer({ ...parts, signal: either });
  // After an abort nobody waits for it.
  done.catch(() => {});
  try {
    await untilAborted(() => done, either);
    return draft();
  } catch (error) {
    if (signal?.aborted === true) throw testCancelled(quarantine.name);
    if (!deadline.aborted) throw error;
    const text = `The test was stopped after ${limits.totalMs} ms.`;
    const found = draft();
    return { ...found, findings: [...found.findings, { level: timeoutLevel(found), where: 'test', text }] };
  }
}

/** A server that did not even start in this time fails. */
const timeoutLevel = ({ startMs }: { readonly startMs?: number }): 'fail' | 'warn' =>
  startMs === undefined ? 'fail' : 'warn';

const testCancelled = (server: Quarantine['name']): TurnbuckleError =>
  new TurnbuckleError('CALL_CANCELLED', `The test of server "${server}" was cancelled.`, {
    server,
    hint: 'The server was stopped. Run the test again if you still need it.',
  });
