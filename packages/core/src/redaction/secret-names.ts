/** Whether a name indicates that its value is a secret: keys, variables, headers, flags, query parameters. */

const SECRET =
  /(?:passwords?|passwd|passphrase|passcode|pwd|secrets?|token|credentials?|creds|authorization|cookies?|jwt|bearer|assertion)$/;
const KEY =
  /(?:api|access|account|auth|deploy|encryption|license|master|private|secret|service|session|shared|signing|ssh|storage|subscription)keys?$/;
/** Too short to be found inside other words. */
const WHOLE_WORDS = new Set(['auth', 'pass', 'pw', 'sig']);
/** Tokens that only count, or hold a position. */
const COUNTED = /(?:cancellation|continuation|next|page|pagination|progress|skip|stop|sync)token$/;
/** A last word that describes a secret instead of being one. */
const ABOUT =
  /^(?:algorithm|at|audience|budget|command|count|endpoint|env|expire[sd]|expiry|expiration|file|format|ids?|in|issuer|length|limit|lifetime|methods?|mode|name|path|policy|prefix|provider|required|scheme|size|source|store|supported|ttl|type|ur[il]|usage|user|username)$/;

/** The same few names occur again and again. */
const cache = new Map<string, boolean>();
const MAX_CACHED_NAMES = 1_000;
const MAX_CACHED_NAME_LENGTH = 64;

/** In doubt true for a name before a value; knows `tokenUrl`, `progressToken` and the like. */
export function isSecretName(name: string): boolean {
  const before = cache.get(name);
  if (before !== undefined) return before;
  const found = matchesSecretName(name);
  if (name.length > MAX_CACHED_NAME_LENGTH) return found;
  if (cache.size >= MAX_CACHED_NAMES) cache.clear();
  cache.set(name, found);
  return found;
}

function matchesSecretName(name: string): boolean {
  const words = toWords(name);
  const last = words.at(-1);
  if (last === undefined || (words.length > 1 && ABOUT.test(last))) return false;
  if (WHOLE_WORDS.has(last)) return true;
  let joined = '';
  return words.some((word) => {
    joined += word;
    return (SECRET.test(joined) || KEY.test(joined)) && !COUNTED.test(joined);
  });
}

/** `apiKey`, `API_KEY`, `x-api-key` and `APIKey` are the same words. */
const toWords = (name: string): string[] =>
  name
    .slice(0, 256)
    .replace(/([a-z\d])([A-Z])|([A-Z])([A-Z][a-z])/g, '$1$3 $2$4')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');

const GENERATED_RUN = /[A-Za-z\d]{16,}/;
/** Directories often have generated names, and a name that is a hash is not a secret. */
const NAMED = /^(?:[~.]{0,2}|[A-Za-z]:)[\\/]|sha\d{3}[:-]/;

/** Whether a text looks like a generated key: a long run of letters and digits that is not a word. */
export function looksGenerated(text: string): boolean {
  const run = GENERATED_RUN.exec(text)?.[0];
  if (run === undefined || NAMED.test(text)) return false;
  const digits = run.replace(/\D/g, '').length;
  return digits >= 3 && digits < run.length;
}
