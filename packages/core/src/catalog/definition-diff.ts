/**
 * The differences between two definitions of a tool as readable lines: `-` before, `+` after, each with its path. The
 * text is untrusted: bounded, and escaped for terminals.
 */
import { isRecord } from '../json/is-record.js';
import { showText } from '../text/hidden-text.js';

type Definition = Readonly<Record<string, unknown>>;

/** The fields that an agent reads and that shape what it sends. */
export const FINGERPRINTED_FIELDS = [
  'name',
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
  'icons',
] as const;

const MAX_LINES = 200;
const MAX_LEAVES = 20_000;
const MAX_DEPTH = 64;
const MAX_VALUE_LENGTH = 400;
/** Unchanged characters shown around a change in a long text. */
const CONTEXT_CHARACTERS = 40;

/** The lines; empty if nothing relevant differs. */
export function diffDefinitions(before: Definition, after: Definition): string[] {
  const old = leavesOf(before);
  const fresh = leavesOf(after);
  const lines: string[] = [];
  for (const [path, value] of old) {
    const now = fresh.get(path);
    if (now === value) continue;
    const [was, is] = now === undefined ? [truncate(value), undefined] : truncateBoth(value, now);
    lines.push(`- ${path}: ${was}`);
    if (is !== undefined) lines.push(`+ ${path}: ${is}`);
  }
  for (const [path, value] of fresh) if (!old.has(path)) lines.push(`+ ${path}: ${truncate(value)}`);
  if (lines.length <= MAX_LINES) return lines.map(showText);
  const more = lines.length - MAX_LINES;
  return [...lines.slice(0, MAX_LINES).map(showText), `… ${more} more changed lines`];
}

/** Every leaf value as JSON, by its path. */
function leavesOf(definition: Definition): Map<string, string> {
  const leaves = new Map<string, string>();
  const visit = (value: unknown, path: string, depth: number): void => {
    if (leaves.size >= MAX_LEAVES) return;
    const parts = isRecord(value) ? Object.keys(value).sort() : Array.isArray(value) ? [...value.keys()] : [];
    if (parts.length === 0 || depth >= MAX_DEPTH) {
      leaves.set(path, JSON.stringify(value) ?? 'undefined');
      return;
    }
    for (const part of parts)
      visit(Reflect.get(Object(value), part), path + pathSegment(part, path), depth + 1);
  };
  for (const field of FINGERPRINTED_FIELDS) if (field in definition) visit(definition[field], field, 0);
  return leaves;
}

function pathSegment(part: string | number, path: string): string {
  if (typeof part === 'number') return `[${part}]`;
  if (!/^[\w$-]{1,100}$/.test(part)) return `[${truncate(JSON.stringify(part))}]`;
  return path === '' ? part : `.${part}`;
}

function truncate(json: string): string {
  return json.length <= MAX_VALUE_LENGTH
    ? json
    : `${json.slice(0, MAX_VALUE_LENGTH)}… (${json.length - MAX_VALUE_LENGTH} more characters)`;
}

/** Two long texts, starting shortly before their first difference. */
function truncateBoth(before: string, after: string): [string, string] {
  if (Math.max(before.length, after.length) <= MAX_VALUE_LENGTH) return [before, after];
  const shorter = Math.min(before.length, after.length);
  let same = 0;
  while (same < shorter && before[same] === after[same]) same += 1;
  const start = Math.max(0, same - CONTEXT_CHARACTERS);
  const from = (text: string): string =>
    start === 0 ? truncate(text) : `…(${start} unchanged characters) ${truncate(text.slice(start))}`;
  return [from(before), from(after)];
}
