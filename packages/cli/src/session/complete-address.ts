/** Detects URLs without a scheme, which would otherwise fail as unknown commands. */

const SCHEME = /^(https?|wss?)(?::\/?|\/{1,2})(?=[^/])/i;
const HOST_AND_PORT =
  /^(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\]|[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63}){0,10}):\d{1,5}(?=[/?]|$)/i;
const LOCAL = /^(?:localhost|127\.|\[::1\]|0\.0\.0\.0)/i;
const HOST_AND_PATH = /^(?:localhost|(?:[a-z\d-]{1,63}\.){1,10}[a-z]{2,24})\/[^\\]*$/i;

/** How it is written in full; undefined when it does not look like an address. */
export function completeAddress(word: string): string | undefined {
  const [typed, scheme = ''] = SCHEME.exec(word) ?? [];
  if (typed !== undefined) return `${scheme.toLowerCase()}://${word.slice(typed.length)}`;
  if (!HOST_AND_PORT.test(word) && !HOST_AND_PATH.test(word)) return undefined;
  return `${LOCAL.test(word) ? 'http' : 'https'}://${word}`;
}
