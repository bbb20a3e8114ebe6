/** What steps and callers hand over, as text for the database: bounded, so that one request cannot fill the disk. */
import { TurnbuckleError } from 'turnbuckle';
import { toTurnbuckleError } from 'turnbuckle/host';

/** Of the JSON text, in characters. */
const MAX_LENGTH = 1_024 * 1_024;
const MAX_MESSAGE_LENGTH = 64 * 1_024;
const MAX_TEXT_LENGTH = 2_000;

/** The value as JSON; RESPONSE_TOO_LARGE if it is too long, INTERNAL if JSON does not have it. */
export function boundedJson(value: unknown, what: string, maxLength = MAX_LENGTH): string {
  const text = toJson(value);
  if (text.length <= maxLength) return text;
  throw new TurnbuckleError('RESPONSE_TOO_LARGE', `${what} is larger than ${maxLength} characters of JSON.`, {
    hint: 'Ask for less, such as fewer search results or smaller changes.',
  });
}

/** The data of a message as JSON. What is too long is left out: the status of the request has it. */
export function messageJson(data: unknown): string {
  const text = toJson(data);
  return text.length <= MAX_MESSAGE_LENGTH ? text : JSON.stringify({ truncated: true });
}

export const boundedLine = (text: string): string =>
  text.length <= MAX_TEXT_LENGTH ? text : `${text.slice(0, MAX_TEXT_LENGTH - 1)}…`;

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    throw toTurnbuckleError(error);
  }
}
