/**
 * Calls tools that claim to be read-only, one after the other, with arguments made from their schemas. No other tool
 * is ever called. A tool's own error is recorded; what breaks the protocol or the server is a finding.
 */
import type { CatalogTool, ErrorCode } from 'turnbuckle';
import { monotonicNow, type SchemaChecks, toTurnbuckleError } from 'turnbuckle/host';
import { failureText } from './failure-text.js';
import type { FindingList } from './findings.js';
import type { Quarantine } from './open-quarantine.js';
import type { Finding, SampledCall } from './report.js';
import { sampleArguments } from './sample-arguments.js';

export interface SampleCallOptions {
  readonly quarantine: Quarantine;
  readonly tools: readonly CatalogTool[];
  readonly checks: SchemaChecks;
  readonly findings: FindingList;
  readonly signal: AbortSignal;
  readonly seed: number;
  /** How many tools are called at most. */
  readonly count: number;
  readonly callMs: number;
  readonly allowNetwork: boolean;
}

/** Failures that say something about the server and not about one tool. The rest is a warning. */
const SERVER_FAILURES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'SERVER_EXITED',
  'CONNECTION_LOST',
  'CALL_OUTCOME_UNKNOWN',
  'SERVER_FLOODED',
  'PROTOCOL_VIOLATION',
  'CONNECT_FAILED',
  'CONNECT_TIMEOUT',
  'BREAKER_OPEN',
]);

/** Whether a tool claims that calling it changes nothing, and nothing outside unless that is allowed. */
export function mayBeSampled(
  { annotations }: Pick<CatalogTool, 'annotations'>,
  allowNetwork: boolean,
): boolean {
  const { readOnlyHint, destructiveHint, openWorldHint } = annotations ?? {};
  return readOnlyHint === true && destructiveHint !== true && (allowNetwork || openWorldHint !== true);
}

/** The calls by the names of the tools. Stops when the server breaks; rejects only if the signal aborts. */
export async function callSamples(options: SampleCallOptions): Promise<ReadonlyMap<string, SampledCall>> {
  const { tools, findings, allowNetwork, count } = options;
  const calls = new Map<string, SampledCall>();
  const candidates = tools.filter((tool) => mayBeSampled(tool, allowNetwork));
  for (const tool of candidates.slice(0, count)) {
    const outcome = await callOne(tool, options);
    if (outcome === undefined) continue;
    const { call, level } = outcome;
    calls.set(tool.tool, call);
    if (call.error !== undefined && level !== undefined)
      findings.add(level, `call of ${tool.tool}`, call.error);
    if (level === 'fail') break;
  }
  const left = candidates.length - count;
  if (left > 0) findings.add('note', 'calls', `${left} more read-only tools were not called.`);
  return calls;
}

interface CallOutcome {
  readonly call: SampledCall;
  /** Absent: it succeeded. */
  readonly level?: Finding['level'] | undefined;
}

async function callOne(
  tool: CatalogTool,
  { quarantine, checks, findings, signal, seed, callMs, allowNetwork }: SampleCallOptions,
): Promise<CallOutcome | undefined> {
  const { runtime, name } = quarantine;
  // What it claimed may have changed since it was listed.
  const current = runtime.catalog.find(name, tool.tool);
  if (current === undefined || !mayBeSampled(current, allowNetwork)) return undefined;
  const args = sampleArguments(current.inputSchema, { seed, checks });
  if (args === undefined) {
    findings.add(
      'note',
      `call of ${tool.tool}`,
      'Not called: no valid arguments could be generated from its schema.',
    );
    return undefined;
  }
  const started = monotonicNow();
  const call = (): Pick<SampledCall, 'arguments' | 'ms'> => ({
    arguments: args,
    ms: monotonicNow() - started,
  });
  try {
    const result = await runtime.callTool(name, tool.tool, args, { signal, maxTotalMs: callMs });
    if (result.isError !== true) return { call: { ...call(), ok: true } };
    const error = `The tool reported an error: ${textOf(result.content)}`;
    return { call: { ...call(), ok: false, error }, level: 'note' };
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const { code } = toTurnbuckleError(thrown);
    const level = SERVER_FAILURES.has(code) ? 'fail' : 'warn';
    return { call: { ...call(), ok: false, error: failureText(thrown) }, level };
  }
}

function textOf(content: readonly { readonly type: string }[]): string {
  const [first] = content;
  return first !== undefined && 'text' in first && typeof first.text === 'string' ? first.text : '(no text)';
}
