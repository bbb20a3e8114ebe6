/** The data of an event as it is sent: redacted and short. Of arguments and results only the beginning. */
import type { Runtime, RuntimeEvents } from 'turnbuckle';
import { isRecord } from 'turnbuckle/host';
import { HIDDEN_ERROR_MESSAGE } from '../../http/redact.js';
import { truncateJson } from '../../log/truncate-json.js';
import type { EventName } from './event-names.js';
import { truncateData } from './truncate-data.js';

const MAX_PREVIEW_CHARACTERS = 500;
const LIMITS = { text: 2_000, all: 8_000 };
/** How much more is redacted than sent, so that a secret at the cut is seen whole. */
const REDACTION_MARGIN_CHARACTERS = 2_048;

type Redact = Pick<Runtime, 'redact'>['redact'];

export function toEventData<Name extends EventName>(
  name: Name,
  event: RuntimeEvents[Name],
  redact: Redact,
): unknown {
  return redactAndTruncate(
    isSettled(name, event) ? summarise(event, redact) : withoutIdentity(event),
    redact,
  );
}

/** Whose connection it is, by name: an identity is made from the token. */
function withoutIdentity(event: object): object {
  if (!('connectionOf' in event) || !isRecord(event.connectionOf)) return event;
  const { identity: _identity, ...named } = event.connectionOf;
  return { ...event, connectionOf: named };
}

/** Errors and output of a server are for tokens that may manage it; undefined: nothing is left to send. */
export function forReadAccess(name: EventName, data: unknown): unknown {
  if (name === 'server.stderr') return undefined;
  if (!name.startsWith('server.') || !isRecord(data)) return data;
  const wrong = Object.entries(data).filter(([key, value]) => ERROR_KEYS.has(key) && isRecord(value));
  if (wrong.length === 0) return data;
  return { ...data, ...Object.fromEntries(wrong.map(([key, value]) => [key, withoutDetails(value)])) };
}

const ERROR_KEYS: ReadonlySet<string> = new Set(['error', 'problem']);

const withoutDetails = (fault: unknown): unknown =>
  isRecord(fault) ? { code: fault.code, server: fault.server, message: HIDDEN_ERROR_MESSAGE } : undefined;

export function redactAndTruncate(value: unknown, redact: Redact): unknown {
  const wide = {
    text: LIMITS.text + REDACTION_MARGIN_CHARACTERS,
    all: LIMITS.all + REDACTION_MARGIN_CHARACTERS,
  };
  return truncateData(redact(truncateData(value, wide)), LIMITS);
}

/** The only event that carries arguments and result. */
function isSettled(name: EventName, _event: object): _event is RuntimeEvents['call.settled'] {
  return name === 'call.settled';
}

function summarise(
  { arguments: args, alsoSent, result, ...facts }: RuntimeEvents['call.settled'],
  redact: Redact,
): Record<string, unknown> {
  const sent = truncateJson(args, { limit: MAX_PREVIEW_CHARACTERS, redact });
  const came = truncateJson(result, { limit: MAX_PREVIEW_CHARACTERS, redact });
  return {
    ...facts,
    arguments: sent.text,
    argumentsBytes: sent.bytes,
    ...(alsoSent !== undefined && {
      alsoSent: truncateJson(alsoSent, { limit: MAX_PREVIEW_CHARACTERS, redact }).text,
    }),
    result: came.text,
    resultBytes: came.bytes,
  };
}
