/**
 * Removes secrets from everything that is shown or stored: those known by their value, in every notation, and those
 * recognizable by their shape. Pure: it knows only the secrets it was given, and does not change its input.
 */
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../json/is-record.js';
import { inSlices, type Steps } from '../json/slices.js';
import { type TruncatedValue, truncateValue } from '../json/truncate-value.js';
import { hasMorePartsThan } from '../json/write-large.js';
import { createCleanCheck } from './clean-check.js';
import { KnownSecrets, type SecretSource } from './known-secrets.js';
import { isCleanDeep, RedactingCopier, type RedactionRules, redactDeep, redactStack } from './redact-deep.js';
import { hasSecretShape, REDACTED, redactShapes } from './redact-shapes.js';
import { SlicedRedaction, someTextSteps } from './redact-slices.js';
import { isSecretName } from './secret-names.js';
import { someText } from './some-text.js';

export interface Redactor {
  /**
   * A redactor that knows the same secrets, and those that it learns itself: no other redactor learns them, and its
   * `knows` ignores them. For secrets that come with a request.
   */
  createChild(): Redactor;
  /**
   * Redacts this value from now on. Values shorter than 6 characters are ignored: they could be any word. `bringer` is
   * the identity whose request it came with.
   */
  learn(secret: string, source?: SecretSource, bringer?: string): void;
  /** True if it contains a learned secret, in any text or name. Possible words do not count. */
  knows(value: unknown): boolean;
  /** True if anything in it would be redacted. Much faster than redacting. */
  finds(value: unknown): boolean;
  /** The text without secrets. Synchronous, for text that a person reads: a long text is truncated. */
  text(text: string): string;
  /**
   * A copy in which every text, and every value under a secret's name, is safe. Synchronous: a large value is
   * truncated, as shown to a person. `large.value` returns all of it.
   */
  value(value: unknown): unknown;
  /** The same for large values, complete, for `inSlices`. */
  steps(value: unknown): Steps<unknown>;
  /**
   * The same for a person to read, with about this many characters at most; a secret cut by the limit is redacted
   * too.
   */
  truncated(value: unknown, maxLength: number): TruncatedValue;
  /** The same for large values: a promise if it would block the event loop. */
  readonly large: {
    knows(value: unknown): Promise<boolean> | boolean;
    finds(value: unknown): Promise<boolean> | boolean;
    value(value: unknown): Promise<unknown> | unknown;
  };
  /** The same error if it contains nothing to redact, otherwise one without secrets, including its causes. */
  error(error: TurnbuckleError): TurnbuckleError;
}

const MIN_SECRET_LENGTH = 6;
/** A longer secret is redacted in pieces: a pattern must have a size that can be compiled. */
const MAX_PIECE_LENGTH = 1_024;
/** The maximum for secrets that come with a request. */
const MAX_CALLER_SECRET_LENGTH = 4 * MAX_PIECE_LENGTH;
const MAX_PASSES = 8;
/** Shorter ones are faster to check again than to look up. */
const MIN_CACHED_LENGTH = 256;
/** Or this many times sixteen characters: larger values are checked in slices. */
export const MAX_SYNC_PARTS = 2_000;
/** Characters: searching this many takes about ten milliseconds. */
const MAX_SYNC_CHARACTERS = 64 * 1_024;
const MAX_SECRET_LINES = 200;
const SCHEME = /^(?:Bearer|Basic|DPoP|Token|ApiKey)\s+(?=\S)/i;

/** Redaction of one text, and the test whether anything in it would be redacted. */
function createTextRedaction(all: readonly KnownSecrets[]): {
  readonly redact: (text: string) => string;
  readonly hasAny: (text: string) => boolean;
} {
  /** Redacted parts are boundaries: no match spans them. */
  const takeOut = (text: string, secrets: KnownSecrets): string =>
    text.includes(REDACTED)
      ? text
          .split(REDACTED)
          .map((part) => secrets.redact(part))
          .join(REDACTED)
      : secrets.redact(text);
  const once = (text: string): string => redactShapes(all.reduce(takeOut, text));

  const hasAny = (text: string): boolean =>
    hasSecretShape(text) ||
    text.split(REDACTED).some((part) => all.some((secrets) => secrets.containsAny(part)));

  const redact = (text: string): string => {
    let current = text;
    // The rest can look like a secret now that its surroundings are gone.
    for (let pass = 0; pass < MAX_PASSES; pass += 1) {
      const next = once(current);
      if (next === current) break;
      current = next;
    }
    return current;
  };

  return { redact, hasAny };
}

/** Rules for what is redacted synchronously: long texts and values are truncated. */
function createTruncation(redact: (text: string) => string): {
  readonly truncated: Redactor['truncated'];
  readonly rules: RedactionRules;
} {
  const whole = { text: redact, isSecretName, mark: REDACTED };
  const truncated = (value: unknown, maxLength: number): TruncatedValue => {
    const copier = new RedactingCopier(whole);
    return truncateValue(value, maxLength, {
      hides: (name, hidden) => copier.hides(name, hidden),
      leaf: (part, hidden) => copier.redactLeaf(part, hidden),
      other: (part, { depth, hidden }) => new RedactingCopier(rules).copy(part, depth, hidden),
    });
  };
  const atOnce = (text: string): string =>
    text.length <= MAX_SYNC_CHARACTERS ? redact(text) : String(truncated(text, MAX_SYNC_CHARACTERS).value);

  const rules = { ...whole, text: atOnce };
  return { truncated, rules };
}

function* redactSteps(value: unknown, search: RedactionRules, rules: RedactionRules): Steps<unknown> {
  const isClean = yield* new SlicedRedaction(search).isClean(value);
  return isClean ? value : yield* new SlicedRedaction(rules).copy(value);
}

/** Of a secret that came with a request, only the beginning. */
function learnBrought(known: KnownSecrets, secret: string, bringer: string | undefined): void {
  for (const piece of piecesOf(secret.slice(0, MAX_CALLER_SECRET_LENGTH)))
    known.learn(piece, 'brought', bringer);
}

/** A redactor that knows no secrets yet, only their shapes; or those of another. */
export function createRedactor(shared?: KnownSecrets): Redactor {
  const known = new KnownSecrets();
  const all = shared === undefined ? [known] : [shared, known];
  /** What counts as known: a secret that came with a request could be any word. */
  const own = shared ?? known;

  const { redact, hasAny } = createTextRedaction(all);
  const { truncated, rules } = createTruncation(redact);
  // A value is checked up to three times: results for its long texts are cached.
  const made = new Map<string, string>();
  const redactOnce = (text: string): string => {
    if (text.length < MIN_CACHED_LENGTH) return redact(text);
    const found = made.get(text) ?? rules.text(text);
    made.set(text, found);
    return found;
  };
  const ofValue = { ...rules, text: redactOnce };
  const clean = createCleanCheck(ofValue);
  /** Any other text signals a match; which one does not matter. */
  const search = { ...rules, text: (text: string) => (hasAny(text) ? `${text}${REDACTED}` : text) };
  const cleanSearch = createCleanCheck(search);
  const redactor: Redactor = {
    createChild: () => createRedactor(known),
    learn: (secret, source = 'configured', bringer) => {
      clean.clearNameCache();
      cleanSearch.clearNameCache();
      if (shared !== undefined || source === 'brought') return learnBrought(known, secret, bringer);
      for (const piece of piecesOf(secret)) known.learn(piece, source);
    },
    knows: (value) => !own.isEmpty && someText(value, (text) => own.containsDistinctive(text)),
    finds: (value) => !cleanSearch.check(value) && !isCleanDeep(value, search),
    text: rules.text,
    value: (value) => {
      if (isLarge(value)) return truncated(value, 2 * MAX_SYNC_CHARACTERS).value;
      try {
        return clean.check(value) ? value : redactDeep(value, ofValue);
      } finally {
        made.clear();
      }
    },
    steps: (value) => redactSteps(value, search, rules),
    truncated,
    large: {
      knows: (value) => {
        if (own.isEmpty || !hasMorePartsThan(value, MAX_SYNC_PARTS)) return redactor.knows(value);
        return inSlices(someTextSteps(value, (text) => own.containsDistinctive(text)));
      },
      finds: (value) => {
        if (!hasMorePartsThan(value, MAX_SYNC_PARTS)) return redactor.finds(value);
        return inSlices(new SlicedRedaction(search).isClean(value)).then((isClean) => !isClean);
      },
      // All of it is wanted: synchronous only if it is not truncated there.
      value: (value) =>
        hasMorePartsThan(value, MAX_SYNC_PARTS) ? inSlices(redactor.steps(value)) : redactor.value(value),
    },
    error: (error) => redactError(error, redactor),
  };
  return redactor;
}

/** Whether checking it takes long. */
function isLarge(value: unknown): boolean {
  try {
    return hasMorePartsThan(value, MAX_SYNC_PARTS) && isLargeGraph(value);
  } catch {
    // An object of the host that throws when it is read.
    return false;
  }
}

/** The same, visiting cycles once. */
function isLargeGraph(value: unknown): boolean {
  const open = [value];
  const seen = new Set<object>();
  let parts = 0;
  while (open.length > 0 && parts <= MAX_SYNC_PARTS) {
    const item = open.pop();
    parts += typeof item === 'string' ? 1 + item.length / 16 : 1;
    if (typeof item !== 'object' || item === null || seen.has(item)) continue;
    seen.add(item);
    const parted: readonly unknown[] = Array.isArray(item) ? item : Object.values(item);
    if (parts + open.length + parted.length > MAX_SYNC_PARTS) return true;
    open.push(...parted);
  }
  return parts > MAX_SYNC_PARTS;
}

/** The secret and the parts of it that may appear on their own, except those that contain the mark itself. */
function piecesOf(secret: string): string[] {
  const bare = secret.trim().replace(SCHEME, '');
  const lines = bare.includes('\n') ? bare.split(/\r?\n/, MAX_SECRET_LINES).map((line) => line.trim()) : [];
  const texts = [bare, ...lines.filter((line) => line.length >= 16)];
  return [...new Set(texts)]
    .flatMap((text) => text.split(REDACTED))
    .flatMap(inChunks)
    .filter((piece) => piece.length >= MIN_SECRET_LENGTH && !REDACTED.includes(piece));
}

function inChunks(text: string): string[] {
  const count = Math.ceil(text.length / MAX_PIECE_LENGTH);
  return [...Array(count).keys()].map((index) =>
    text.slice(index * MAX_PIECE_LENGTH, (index + 1) * MAX_PIECE_LENGTH),
  );
}

function redactError(error: TurnbuckleError, { text, value }: Redactor): TurnbuckleError {
  const { code, message, hint, server, tool, data, cause } = error;
  const clean = {
    message: text(message),
    hint: hint && text(hint),
    // The address of a resource contains what its caller put there.
    tool: tool && text(tool),
    data: value(data),
    cause: value(cause),
  };
  const same =
    clean.message === message &&
    clean.hint === hint &&
    clean.tool === tool &&
    clean.data === data &&
    clean.cause === cause;
  if (same) return error;
  const copy = new TurnbuckleError(code, clean.message, {
    hint: clean.hint,
    server,
    tool: clean.tool,
    cause: clean.cause,
    data: isRecord(clean.data) ? clean.data : undefined,
  });
  copy.stack = redactStack(error, text) ?? '';
  return copy;
}
