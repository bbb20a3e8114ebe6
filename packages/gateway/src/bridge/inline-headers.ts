/** The headers that a request may send to its endpoint. */
import { TurnbuckleError } from 'turnbuckle';

/**
 * `Host` would reach another site behind an address that is allowed. The others frame the message: the HTTP client
 * sets them.
 */
const RESERVED = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
/** Their values count as secrets, which are searched for in texts. */
const MAX_CHARACTERS = 32 * 1_024;

/** Throws ARGUMENTS_INVALID. */
export function checkInlineHeaders(headers: Readonly<Record<string, string>>): void {
  const reserved = Object.keys(headers).find((name) => RESERVED.has(name.trim().toLowerCase()));
  if (reserved !== undefined)
    throw new TurnbuckleError(
      'ARGUMENTS_INVALID',
      `A request is not allowed to set the header "${reserved}".`,
      {
        hint: 'Remove it from endpoint.headers. To send it, configure a server and use its name.',
      },
    );
  const characters = Object.entries(headers).reduce(
    (sum, [name, value]) => sum + name.length + value.length,
    0,
  );
  if (characters > MAX_CHARACTERS)
    throw new TurnbuckleError(
      'ARGUMENTS_INVALID',
      `The headers in endpoint.headers have ${characters} characters; the maximum is ${MAX_CHARACTERS}.`,
      { hint: 'Send fewer or shorter headers.' },
    );
}
