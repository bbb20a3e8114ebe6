/** What is told of an event: without secrets, and never long. Of arguments and results only how they begin. */
import type { Runtime, RuntimeEvents } from 'turnbuckle';
import { toKeptJson } from '../../log/kept-json.js';
import { isRecord } from '../../mcp/protocol.js';
import { UNTOLD } from '../clean.js';
import type { EventName } from './event-names.js';
import { shorten } from './shorten.js';

const PREVIEW = 500;
const LIMITS = { text: 2_000, all: 8_000 };
/** So much more is looked at than told, so that a secret on the edge is seen whole. */
const MARGIN = 2_048;

type Redact = Pick<Runtime, 'redact'>['redact'];

export function toEventData<Name extends EventName>(
  name: Name,
  event: RuntimeEvents[Name],
  redact: Redact,
): unknown {
  return safe(isSettled(name, event) ? summarise(event, redact) : event, redact);
}

/** What is wrong with a server, and what its process says, is for who may manage it; undefined: nothing is left. */
export function forLooking(name: EventName, data: unknown): unknown {
  if (name === 'server.stderr') return undefined;
  if (!name.startsWith('server.') || !isRecord(data)) return data;
  const wrong = Object.entries(data).filter(([key, value]) => FAULTS.has(key) && isRecord(value));
  if (wrong.length === 0) return data;
  return { ...data, ...Object.fromEntries(wrong.map(([key, value]) => [key, bareFault(value)])) };
}

const FAULTS: ReadonlySet<string> = new Set(['error', 'problem']);

const bareFault = (fault: unknown): unknown =>
  isRecord(fault) ? { code: fault.code, server: fault.server, message: UNTOLD } : undefined;

function safe(value: unknown, redact: Redact): unknown {
  const wide = { text: LIMITS.text + MARGIN, all: LIMITS.all + MARGIN };
  return shorten(redact(shorten(value, wide)), LIMITS);
}

/** The one event that carries what was sent and what came back. */
function isSettled(name: EventName, _event: object): _event is RuntimeEvents['call.settled'] {
  return name === 'call.settled';
}

function summarise(
  { arguments: args, alsoSent, result, ...facts }: RuntimeEvents['call.settled'],
  redact: Redact,
): Record<string, unknown> {
  const sent = toKeptJson(args, { limit: PREVIEW, redact });
  const came = toKeptJson(result, { limit: PREVIEW, redact });
  return {
    ...facts,
    arguments: sent.text,
    argumentsBytes: sent.bytes,
    ...(alsoSent !== undefined && { alsoSent: toKeptJson(alsoSent, { limit: PREVIEW, redact }).text }),
    result: came.text,
    resultBytes: came.bytes,
  };
}
