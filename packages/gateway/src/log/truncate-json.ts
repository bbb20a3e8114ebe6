/** What is kept of arguments and results: JSON without secrets, cut off at a limit, whatever its size was. */
import { firstKeys, wideMemberCount, writeTransformed } from 'turnbuckle/host';

export interface TruncateOptions {
  /** Characters. 0: nothing is kept, only how much it was. */
  readonly limit: number;
  readonly redact: (value: unknown) => unknown;
}

export interface TruncatedJson {
  /** Ends in … where something was cut off, and is no JSON any more. */
  readonly text: string | undefined;
  /** How long all of it is, about; of very many parts, at least. */
  readonly bytes: number;
}

const ELLIPSIS = '…';
/** So much more is looked at than kept, so that a secret on the edge is seen whole. */
const REDACTION_MARGIN_CHARACTERS = 4_096;
const MAX_NODES = 50_000;
const MAX_DEPTH = 64;

/**
 * The time that it takes depends on the limit and on how many parts there are, not on how long the texts are. Never
 * throws: of what is no JSON, such as a ring, nothing is kept.
 */
export function truncateJson(value: unknown, options: TruncateOptions): TruncatedJson {
  if (value === undefined) return { text: undefined, bytes: 0 };
  try {
    return redactAndTruncate(value, options);
  } catch {
    return { text: undefined, bytes: 0 };
  }
}

function redactAndTruncate(value: unknown, { limit, redact }: TruncateOptions): TruncatedJson {
  const bytes = measure(value, { parts: 0 }, 0);
  if (limit === 0) return { text: undefined, bytes };
  const looked = limit + REDACTION_MARGIN_CHARACTERS;
  const isWhole = bytes <= looked;
  let seen: unknown;
  const show = (whole: unknown): unknown => {
    seen = isWhole ? whole : prune(whole, { left: looked }, 0);
    return redact(seen);
  };
  const { text = 'null', isTruncated } = writeTransformed(value, show, looked);
  if (isWhole && !isTruncated && text.length <= limit) return { text, bytes };
  const sure = isWhole && !isTruncated ? text : dropUncertainTail(JSON.stringify(seen), text);
  return { text: sure.slice(0, limit) + ELLIPSIS, bytes };
}

/**
 * The beginning of a text was redacted. Where that ends a secret may have been cut in two, which nobody can tell; and what
 * is redacted is shorter than it was, so that the end moves up. What it has left unchanged there goes.
 */
export function dropUncertainTail(before: string, redacted: string): string {
  let same = 0;
  while (
    same < REDACTION_MARGIN_CHARACTERS &&
    same < redacted.length &&
    before.at(-1 - same) === redacted.at(-1 - same)
  )
    same += 1;
  const edge = redacted.slice(redacted.length - same);
  // Only the brackets of the JSON are the same.
  return /[^"\]}]/.test(edge) ? redacted.slice(0, redacted.length - same) : redacted;
}

/** The length of its JSON, were there nothing to escape. */
function measure(value: unknown, seen: { parts: number }, depth: number): number {
  seen.parts += 1;
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return String(value).length;
  let bytes = 2;
  if (depth > MAX_DEPTH) return bytes;
  if (Array.isArray(value)) {
    for (const part of value) {
      if (seen.parts > MAX_NODES) break;
      bytes += measure(part, seen, depth + 1) + 1;
    }
    return bytes;
  }
  const keys = firstKeys(value);
  for (const key of keys) {
    if (seen.parts > MAX_NODES) break;
    bytes += key.length + 4 + measure(Reflect.get(value, key), seen, depth + 1);
  }
  const members = wideMemberCount(value);
  return members === undefined ? bytes : Math.round((bytes * members) / keys.length);
}

/** A copy of its beginning. */
function prune(value: unknown, budget: { left: number }, depth: number): unknown {
  budget.left -= 4;
  if (typeof value === 'string') {
    const text = value.slice(0, Math.max(budget.left, 0));
    budget.left -= text.length;
    return text;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return ELLIPSIS;
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    for (const part of value) {
      if (budget.left <= 0) break;
      list.push(prune(part, budget, depth + 1));
    }
    return list;
  }
  const entries: [string, unknown][] = [];
  for (const key of firstKeys(value)) {
    if (budget.left <= 0) break;
    // Only the last one is cut: what follows it would be shown behind a half of a secret.
    const name = key.slice(0, budget.left);
    budget.left -= key.length;
    entries.push([name, prune(Reflect.get(value, key), budget, depth + 1)]);
  }
  return Object.fromEntries(entries);
}
