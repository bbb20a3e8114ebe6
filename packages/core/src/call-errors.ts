/** The errors of a call that come from us, not from a server. */
import { nearest } from './config/nearest.js';
import { TurnbuckleError } from './errors.js';
import { isRecord } from './is-record.js';

interface ItemRequest {
  readonly kind: 'resource' | 'prompt' | 'tool';
  readonly server: string;
  readonly method: string;
  readonly item: string;
}

/** The codes by which servers say that a resource is not there: the old one, and the one of the newer revision. */
const MISSING_RESOURCE = new Set<unknown>([-32002, -32602]);

export function isMissing(thrown: unknown, { method }: ItemRequest): boolean {
  if (method !== 'resources/read' || !(thrown instanceof TurnbuckleError) || thrown.code !== 'SERVER_ERROR')
    return false;
  return isRecord(thrown.data?.rpc) && MISSING_RESOURCE.has(thrown.data.rpc.code);
}

const UNKNOWN = { resource: 'RESOURCE_UNKNOWN', prompt: 'PROMPT_UNKNOWN', tool: 'TOOL_UNKNOWN' } as const;

/** What is told about a resource or prompt that is not there, or not for this caller. */
export function unknownItem({ kind, item, server }: ItemRequest, cause?: unknown): TurnbuckleError {
  const code = UNKNOWN[kind];
  return new TurnbuckleError(code, `There is no ${kind} "${item}" at server "${server}".`, {
    server,
    tool: item,
    cause,
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

export function denied(name: string, reason: string): TurnbuckleError {
  return new TurnbuckleError('CALL_DENIED', `The call of "${name}" is not allowed: ${reason}.`);
}

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
