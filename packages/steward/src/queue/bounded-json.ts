/** What steps and callers hand over, as text for the database: bounded, so that one request cannot fill the disk. */
import { TurnbuckleError } from 'turnbuckle';
import { redactShapes, toTurnbuckleError } from 'turnbuckle/host';
import { jsonWithoutSecrets } from './erase-secrets.js';

/** Of the JSON text, in characters. */
const MAX_LENGTH = 1_024 * 1_024;
const MAX_MESSAGE_LENGTH = 64 * 1_024;
const MAX_TEXT_LENGTH = 2_000;

/** The value as JSON; RESPONSE_TOO_LARGE if it is too long, INTERNAL if JSON does not have it. */
export const boundedJson = (value: unknown, what: string, maxLength = MAX_LENGTH): string =>
  bounded(toJson(JSON.stringify, value), what, maxLength);

/** The same for what is told of the request. */
export const resultJson = (result: unknown): string =>
  bounded(toJson(jsonWithoutSecrets, result), 'The result of the request', MAX_LENGTH);

function bounded(text: string, what: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  throw new TurnbuckleError('RESPONSE_TOO_LARGE', `${what} is longer than ${maxLength} characters of JSON.`, {
    hint: 'Request less, such as fewer search results or smaller changes.',
  });
}

/** The data of a message as JSON. What is too long is left out: the status of the request has it. */
export function messageJson(data: unknown): string {
  const text = toJson(jsonWithoutSecrets, data);
  return text.length <= MAX_MESSAGE_LENGTH ? text : JSON.stringify({ truncated: true });
}

export function boundedLine(line: string): string {
  const text = redactShapes(line);
  return text.length <= MAX_TEXT_LENGTH ? text : `${text.slice(0, MAX_TEXT_LENGTH - 1)}…`;
}

function toJson(write: (value: unknown) => string | undefined, value: unknown): string {
  try {
    return write(value) ?? 'null';
  } catch (error) {
    throw toTurnbuckleError(error);
  }
}
