/**
 * Takes secrets out of what is shown or kept: those known by their value, in every way they can be written, and
 * those that look like one. Pure: it knows what it was told, and changes nothing that it is given.
 */
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';
import { type Shown, shortened } from '../json/shortened.js';
import { inSlices, type Steps } from '../json/slices.js';
import { hasMoreParts } from '../json/write-large.js';
import { hasSecretShape, REDACTED, redactShapes } from '../text/redact-shapes.js';
import { isSecretName } from '../text/secret-names.js';
import { createCleanData } from './clean-data.js';
import { Copier, isCleanDeep, redactDeep, redactStack } from './redact-deep.js';
import { KnownSecrets, type SecretSource } from './redact-known.js';
import { SlicedLook, someTextSteps } from './redact-slices.js';
import { someText } from './some-text.js';

export interface Redactor {
  /**
   * One that knows the same secrets, and those that it learns itself: no other learns of them, and its `knows` does not
   * count them. For what somebody else brings along.
   */
  beside(): Redactor;
  /** From now on this value is taken out. What is shorter than 6 characters is not: it could be any word. */
  learn(secret: string, source?: SecretSource): void;
  /** True when one that was learned is in it, in any text or name. What could be a word does not count. */
  knows(value: unknown): boolean;
  /** True when anything in it would be taken out: found, and nothing made, in a fraction of the time. */
  finds(value: unknown): boolean;
  /** Without them. At once, so that it is for what a person reads: of a long one only the beginning is left. */
  text(text: string): string;
  /**
   * A copy in which every text, and every value under a name that says secret, is safe. At once: of what is large, a part
   * of everything is left, as a person is shown it. `large.value` gives all of it.
   */
  value(value: unknown): unknown;
  /** The same of what may be large, whole, for `inSlices`. */
  steps(value: unknown): Steps<unknown>;
  /** The same for a person to read, of at most about so many characters; what is cut in two by that is no secret. */
  shown(value: unknown, maxLength: number): Shown;
  /** The same of what may be large: a promise where it would hold up others. */
  readonly large: {
    knows(value: unknown): Promise<boolean> | boolean;
    finds(value: unknown): Promise<boolean> | boolean;
    value(value: unknown): Promise<unknown> | unknown;
  };
  /** The same error when there is nothing in it, else one without: its causes too. */
  error(error: TurnbuckleError): TurnbuckleError;
}

const SHORTEST = 6;
/** A longer one is taken out in pieces: a pattern has to be of a size that can be compiled. */
const LONGEST = 1_024;
/** So much of what somebody brings along. */
const LONGEST_BROUGHT = 4 * LONGEST;
const MOST_PASSES = 8;
/** Shorter ones are quicker looked at again than found again. */
const LONG_TEXT = 256;
/** Or so many times sixteen characters: what is larger is looked at in slices. */
export const FEW_PARTS = 2_000;
/** Characters: looking through so many for secrets takes some ten milliseconds. */
const MAX_AT_ONCE = 64 * 1_024;
const LONGEST_LINE_COUNT = 200;
const SCHEME = /^(?:Bearer|Basic|DPoP|Token|ApiKey)\s+(?=\S)/i;

/** A redactor that knows no secret yet, only how they look; or those of another. */
export function createRedactor(shared?: KnownSecrets): Redactor {
  const known = new KnownSecrets();
  const all = shared === undefined ? [known] : [shared, known];
  /** What counts as known: what anybody can bring along could be any word. */
  const own = shared ?? known;

  /** What is redacted already is a wall: nothing is found across it. */
  const takeOut = (text: string, secrets: KnownSecrets): string =>
    text.includes(REDACTED)
      ? text
          .split(REDACTED)
          .map((part) => secrets.takeOut(part))
          .join(REDACTED)
      : secrets.takeOut(text);
  const once = (text: string): string => redactShapes(all.reduce(takeOut, text));

  const hasAny = (text: string): boolean =>
    hasSecretShape(text) || text.split(REDACTED).some((part) => all.some((secrets) => secrets.isAnyIn(part)));

  const redact = (text: string): string => {
    let current = text;
    // What is left can look like a secret now that its surroundings are gone.
    for (let pass = 0; pass < MOST_PASSES; pass += 1) {
      const next = once(current);
      if (next === current) break;
      current = next;
    }
    return current;
  };

  const whole = { text: redact, isSecretName, mark: REDACTED };
  const shown = (value: unknown, maxLength: number): Shown => {
    const copier = new Copier(whole);
    return shortened(value, maxLength, {
      hides: (name, hidden) => copier.hides(name, hidden),
      leaf: (part, hidden) => copier.leaf(part, hidden),
      other: (part, { depth, hidden }) => new Copier(rules).copy(part, depth, hidden),
    });
  };
  const atOnce = (text: string): string =>
    text.length <= MAX_AT_ONCE ? redact(text) : String(shown(text, MAX_AT_ONCE).value);

  const rules = { ...whole, text: atOnce };
  // A value is looked at up to three times: what was made of its long texts is known by then.
  const made = new Map<string, string>();
  const redactOnce = (text: string): string => {
    if (text.length < LONG_TEXT) return redact(text);
    const found = made.get(text) ?? atOnce(text);
    made.set(text, found);
    return found;
  };
  const ofValue = { ...rules, text: redactOnce };
  const clean = createCleanData(ofValue);
  /** Any other text says that there is something; which one does not matter. */
  const search = { ...rules, text: (text: string) => (hasAny(text) ? `${text}${REDACTED}` : text) };
  const cleanSearch = createCleanData(search);
  function* takeOutOf(value: unknown): Steps<unknown> {
    const isClean = yield* new SlicedLook(search).isClean(value);
    return isClean ? value : yield* new SlicedLook(rules).copy(value);
  }

  const redactor: Redactor = {
    beside: () => createRedactor(known),
    learn: (secret, source = 'configured') => {
      clean.forgetNames();
      cleanSearch.forgetNames();
      if (shared === undefined) for (const piece of piecesOf(secret)) known.learn(piece, source);
      else for (const piece of piecesOf(secret.slice(0, LONGEST_BROUGHT))) known.learn(piece, 'brought');
    },
    knows: (value) => !own.isEmpty && someText(value, (text) => own.isIn(text)),
    finds: (value) => !cleanSearch.check(value) && !isCleanDeep(value, search),
    text: atOnce,
    value: (value) => {
      if (isMuch(value)) return shown(value, 2 * MAX_AT_ONCE).value;
      try {
        return clean.check(value) ? value : redactDeep(value, ofValue);
      } finally {
        made.clear();
      }
    },
    steps: takeOutOf,
    shown,
    large: {
      knows: (value) => {
        if (own.isEmpty || !hasMoreParts(value, FEW_PARTS)) return redactor.knows(value);
        return inSlices(someTextSteps(value, (text) => own.isIn(text)));
      },
      finds: (value) => {
        if (!hasMoreParts(value, FEW_PARTS)) return redactor.finds(value);
        return inSlices(new SlicedLook(search).isClean(value)).then((isClean) => !isClean);
      },
      // All of it is wanted: at once only what is not cut there.
      value: (value) => (hasMoreParts(value, FEW_PARTS) ? inSlices(takeOutOf(value)) : redactor.value(value)),
    },
    error: (error) => redactError(error, redactor),
  };
  return redactor;
}

/** Whether it takes long to look through. */
function isMuch(value: unknown): boolean {
  try {
    return hasMoreParts(value, FEW_PARTS) && isMuchOnce(value);
  } catch {
    // An object of the host that throws when it is read.
    return false;
  }
}

/** The same, going round rings once. */
function isMuchOnce(value: unknown): boolean {
  const open = [value];
  const seen = new Set<object>();
  let parts = 0;
  while (open.length > 0 && parts <= FEW_PARTS) {
    const item = open.pop();
    parts += typeof item === 'string' ? 1 + item.length / 16 : 1;
    if (typeof item !== 'object' || item === null || seen.has(item)) continue;
    seen.add(item);
    const parted: readonly unknown[] = Array.isArray(item) ? item : Object.values(item);
    if (parts + open.length + parted.length > FEW_PARTS) return true;
    open.push(...parted);
  }
  return parts > FEW_PARTS;
}

/** The secret, what of it may appear on its own, and nothing that holds the mark itself. */
function piecesOf(secret: string): string[] {
  const bare = secret.trim().replace(SCHEME, '');
  const lines = bare.includes('\n') ? bare.split(/\r?\n/, LONGEST_LINE_COUNT).map((line) => line.trim()) : [];
  const texts = [bare, ...lines.filter((line) => line.length >= 16)];
  return [...new Set(texts)]
    .flatMap((text) => text.split(REDACTED))
    .flatMap(inChunks)
    .filter((piece) => piece.length >= SHORTEST && !REDACTED.includes(piece));
}

function inChunks(text: string): string[] {
  const count = Math.ceil(text.length / LONGEST);
  return [...Array(count).keys()].map((index) => text.slice(index * LONGEST, (index + 1) * LONGEST));
}

function redactError(error: TurnbuckleError, { text, value }: Redactor): TurnbuckleError {
  const { code, message, hint, server, tool, data, cause } = error;
  const clean = {
    message: text(message),
    hint: hint && text(hint),
    // The address of a resource has in it what its caller put there.
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
