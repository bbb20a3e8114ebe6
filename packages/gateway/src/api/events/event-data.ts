/** What is told of an event: without secrets, and never long. Of arguments and results only how they begin. */
import type { Runtime, RuntimeEvents } from 'turnbuckle';
import { toKeptJson } from '../../log/kept-json.js';
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

function safe(value: unknown, redact: Redact): unknown {
  const wide = { text: LIMITS.text + MARGIN, all: LIMITS.all + MARGIN };
  return shorten(redact(shorten(value, wide)), LIMITS);
}

/** The one event that carries what was sent and what came back. */
function isSettled(name: EventName, _event: object): _event is RuntimeEvents['call.settled'] {
  return name === 'call.settled';
}

function summarise(
  { arguments: args, result, ...facts }: RuntimeEvents['call.settled'],
  redact: Redact,
): Record<string, unknown> {
  const sent = toKeptJson(args, { limit: PREVIEW, redact });
  const came = toKeptJson(result, { limit: PREVIEW, redact });
  return {
    ...facts,
    arguments: sent.text,
    argumentsBytes: sent.bytes,
    result: came.text,
    resultBytes: came.bytes,
  };
}
