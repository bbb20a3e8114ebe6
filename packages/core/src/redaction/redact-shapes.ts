/**
 * Removes secrets from a text by their shape or by what precedes them. Placeholders such as `${TOKEN}` stay: they are
 * not secrets, and readers need to know which one is meant.
 */
import { isSecretName, looksGenerated } from './secret-names.js';
import { SECRET_SHAPES } from './secret-shapes.js';

export const REDACTED = '[redacted]';

/** A possessive run: a match that remembers each of millions of characters would run out of memory. */
const run = (characters: string): string => `${characters}+(?!${characters})`;
/** An unquoted value, including one that was already redacted. */
const BARE = String.raw`(?!\$\{)(?:\[redacted\]|${run(String.raw`[^\s&;,"'<>(){}\[\]\\]`)})+`;
const TOKEN68 = String.raw`(?:\[redacted\]|${run(String.raw`[\w.~+/-]`)})+=*(?![\w.~+/="-])`;
const SCHEMES = 'Bearer|Basic|DPoP|Digest|Token|ApiKey|Negotiate|NTLM|AWS4-HMAC-SHA256';

/** Cheap, and rejects nearly every text without secrets. */
const QUICK_HINT =
  /pass|pwd|secret|token|key|auth|cookie|cred|jwt|bearer|basic|dpop|assert|sig|pw=|:\/\/|-----BEGIN|[A-Za-z\d_-]{20}/i;

const PRIVATE_KEY =
  /-----BEGIN [A-Z \d]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z \d]{0,40}PRIVATE KEY-----|$)/g;
const ISSUED = new RegExp(
  SECRET_SHAPES.map(([, { source }]) => source)
    .filter((source) => !source.includes('-----BEGIN'))
    .join('|'),
  'g',
);
const AUTHORIZATION = new RegExp(
  String.raw`((?:proxy-)?authorization\s*[:=]\s*)(?:(?:${SCHEMES})\s+)?(${BARE})`,
  'gi',
);
const CREDENTIAL = new RegExp(String.raw`\b(Bearer|Basic|DPoP)(\s+)(${TOKEN68})`, 'gi');
const COOKIE = new RegExp(
  String.raw`(cookie\s*:\s*)(?:(?!cookie\s*:)[^\s=;"']){1,4096}=${BARE}(?:;\s*[^\s=;"']+(?:=${BARE})?)*`,
  'gi',
);
const USER_INFO = /(:\/\/)([^\s/?#@:"'<>]{0,512})(:[^\s/?#@"'<>]{0,2048})?@/g;
/** A member of JSON, also of JSON inside a JSON string, where its quotes have backslashes. */
const MEMBER = /((\\{0,7})"([\w.$ -]{1,64})\2"\s*:\s*\2")((?:\\.|[^"\\]+(?![^"\\]))*?)(?=\2")/gs;
const PAIR = new RegExp(String.raw`(?<![\w.-])([\w.-]{1,64})(=|%3D)("[^"]*"|'[^']*'|${BARE})`, 'gi');

/** The replacement of a match; the match itself if it is not a secret. */
type Replace = (all: string, ...groups: string[]) => string;

/** In this order: what one removes, the next ones need not check. */
const STEPS: ReadonlyArray<readonly [pattern: RegExp, replace: Replace]> = [
  [PRIVATE_KEY, () => REDACTED],
  [
    MEMBER,
    (all, ...[before = '', , name = '', value = '']) =>
      isSecretName(name) && !isOnlyPlaceholders(value) ? `${before}${REDACTED}` : all,
  ],
  [
    AUTHORIZATION,
    (all, before = '', value = '') =>
      isCredential(all.slice(before.length), value) ? `${before}${REDACTED}` : all,
  ],
  [COOKIE, (_all, before = '') => `${before}${REDACTED}`],
  [
    CREDENTIAL,
    (all, ...[scheme = '', space = '', value = '']) =>
      looksIssued(value) ? `${scheme}${space}${REDACTED}` : all,
  ],
  [
    USER_INFO,
    (all, ...[slashes = '', user = '', password]) => {
      if (password !== undefined && !isOnlyPlaceholders(password.slice(1)))
        return `${slashes}${user}:${REDACTED}@`;
      return looksGenerated(user) ? `${slashes}${REDACTED}${password ?? ''}@` : all;
    },
  ],
  [
    PAIR,
    (all, ...[name = '', equals = '', value = '']) =>
      isSecretName(name) && !isOnlyPlaceholders(value) ? `${name}${equals}${REDACTED}` : all,
  ],
  [ISSUED, () => REDACTED],
];

/** The text without what looks like a secret; the same text if nothing does. */
export function redactShapes(text: string): string {
  if (!QUICK_HINT.test(text)) return text;
  return orIfTooLong(
    () => STEPS.reduce((rest, [pattern, replace]) => rest.replace(pattern, replace), text),
    REDACTED,
  );
}

/** Whether anything would be redacted: stops at the first match. */
export function hasSecretShape(text: string): boolean {
  if (!QUICK_HINT.test(text)) return false;
  const hasOne = ([pattern, replace]: (typeof STEPS)[number]): boolean => {
    for (const match of text.matchAll(pattern))
      if (replace(match[0], ...match.slice(1)) !== match[0]) return true;
    return false;
  };
  return orIfTooLong(() => STEPS.some(hasOne), true);
}

/** A text that is too long to match against a pattern counts as a secret. */
function orIfTooLong<Result>(look: () => Result, otherwise: Result): Result {
  try {
    return look();
  } catch (thrown) {
    if (thrown instanceof RangeError) return otherwise;
    throw thrown;
  }
}

/**
 * Only placeholders, which are filled in elsewhere, and perhaps the word before them; a default is not a placeholder.
 */
export const isOnlyPlaceholders = (value: string): boolean =>
  /^["']?(?:(?:Bearer|Basic|Token|ApiKey) (?=\$))?(?:\$\{(?![^}]*:-)[^}]*\})*["']?$/i.test(value);

/** A scheme announces a credential; without one, the text has to look like a credential, or it is prose. */
const isCredential = (all: string, value: string): boolean => all.length > value.length || looksIssued(value);

/** Not a word of a sentence such as "Bearer authentication". */
const looksIssued = (value: string): boolean =>
  value.length >= 8 && /[\d=+/_.]|\[redacted\]|[a-z][A-Z].*[a-z][A-Z]|.{24}/.test(value);
