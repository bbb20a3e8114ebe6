/** The errors of a call that come from us, not from a server. */
import { nearest } from './config/nearest.js';
import { TurnbuckleError } from './errors.js';
import type { GuardedCall } from './guarded-call.js';
import { isRecord } from './is-record.js';
import { agentOf } from './policy/capabilities.js';
import type { Decision } from './policy/decide.js';

interface ItemRequest {
  readonly kind: 'resource' | 'prompt' | 'tool';
  readonly server: string;
  readonly method: string;
  readonly item: string;
}

/** The codes by which servers say that it is not there: the old one for resources, and the one of the newer revision. */
const MISSING: Readonly<Record<string, ReadonlySet<unknown>>> = {
  'resources/read': new Set([-32002, -32602]),
  'prompts/get': new Set([-32602]),
};

/** Whether a server says so, as far as its code tells. */
export function isMissing(thrown: unknown, { method }: ItemRequest): boolean {
  if (!(thrown instanceof TurnbuckleError) || thrown.code !== 'SERVER_ERROR') return false;
  const codes = Object.hasOwn(MISSING, method) ? MISSING[method] : undefined;
  return isRecord(thrown.data?.rpc) && codes?.has(thrown.data.rpc.code) === true;
}

/** The code for what is not there, or not for this caller. */
export const UNKNOWN = {
  resource: 'RESOURCE_UNKNOWN',
  prompt: 'PROMPT_UNKNOWN',
  tool: 'TOOL_UNKNOWN',
} as const;

/** What is told about a resource or prompt that is not there, or not for this caller. */
export function unknownItem({ kind, item, server }: ItemRequest, cause?: unknown): TurnbuckleError {
  const code = UNKNOWN[kind];
  return new TurnbuckleError(code, `There is no ${kind} "${item}" at server "${server}".`, {
    server,
    tool: item,
    cause,
  });
}

/** `names` are those that are suggested where one is near. */
export function unknownTool(
  name: string,
  server: string | undefined,
  names: Iterable<string>,
): TurnbuckleError {
  const close = nearest(name, names);
  const at = server === undefined ? '' : ` at server "${server}"`;
  return new TurnbuckleError('TOOL_UNKNOWN', `There is no tool "${name}"${at}.`, {
    tool: name,
    server,
    hint:
      close === undefined
        ? 'List the tools there are: turnbuckle tools, tools() or GET /tools.'
        : `Did you mean "${close}"?`,
  });
}

export function unknownServer(name: string, known: Iterable<string>): TurnbuckleError {
  const close = nearest(name, known);
  return new TurnbuckleError('SERVER_UNKNOWN', `There is no server named "${name}".`, {
    server: name,
    hint:
      close === undefined
        ? 'List the servers there are: turnbuckle list, status() or GET /servers.'
        : `Did you mean "${close}"?`,
  });
}

export function disabled(server: string): TurnbuckleError {
  return new TurnbuckleError('SERVER_DISABLED', `Server "${server}" is switched off.`, {
    server,
    hint: `Switch it on: toggle("${server}", true), or turnbuckle enable ${server}.`,
  });
}

export function tooManyConnections({
  name,
  connectionsApart,
}: {
  readonly name: string;
  readonly connectionsApart: number;
}): TurnbuckleError {
  return new TurnbuckleError(
    'OVERLOADED',
    `Server "${name}" has ${connectionsApart} connections of agents and sessions: no more are made.`,
    { server: name, hint: 'Let it be shared (share), end some sessions, or raise limits.maxConnections.' },
  );
}

/**
 * The host is told which rule it was and how to look at it. An agent is not: it could find out by trying what the rules
 * are, and where the files of this machine lie.
 */
export function denied(
  { toolName, server, tool, kind, caller }: Denied,
  { reason, rule }: Pick<Decision, 'reason' | 'rule'>,
): TurnbuckleError {
  const message = `The call of "${toolName}" is not allowed: ${reason}.`;
  if (agentOf(caller) !== undefined) return new TurnbuckleError('CALL_DENIED', message);
  const words = [server, tool, ...(kind === 'tool' ? [] : ['--kind', kind])].map(shellWord).join(' ');
  const { file, line, index } = rule ?? {};
  const place = file === undefined ? '' : `The rule stands at ${file}:${line ?? 1}. `;
  return new TurnbuckleError('CALL_DENIED', message, {
    hint: `${place}Why: turnbuckle rules test ${words}`,
    ...(rule !== undefined && { data: { rule: index, file, line } }),
  });
}

type Denied = Pick<GuardedCall, 'toolName' | 'server' | 'tool' | 'kind' | 'caller'>;

const shellWord = (word: string): string =>
  /^[\w.:@%+,/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** What was approved is not what would be called now. */
export function changedMeanwhile(name: string): TurnbuckleError {
  return new TurnbuckleError(
    'CALL_DENIED',
    `The call of "${name}" was not made: its tool changed while the approval was waited for.`,
    { hint: 'Call it again: what it has become is asked for anew.' },
  );
}

/** Every answer of a person was about something that it was not any more. */
export function keepsChanging(name: string): TurnbuckleError {
  return new TurnbuckleError(
    'CALL_DENIED',
    `The call of "${name}" was not made: its tool or the rules for it changed after each approval.`,
    { hint: 'Find out why its server offers another tool again and again before you call it.' },
  );
}
