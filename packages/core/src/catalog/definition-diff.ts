/**
 * What changed between two definitions of a tool, as lines that a person can read: `-` what was, `+` what
 * is, each with its place. All of it is a stranger's text: nothing in it is obeyed by a terminal, and it is
 * bounded.
 */
import { isRecord } from '../is-record.js';
import { showText } from '../text/hidden.js';

type Definition = Readonly<Record<string, unknown>>;

/** What an agent reads of a tool and sends to it. */
export const COUNTED_FIELDS = [
  'name',
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
  'icons',
] as const;

const MOST_LINES = 200;
const MOST_LEAVES = 20_000;
const MOST_DEPTH = 64;
const MOST_VALUE = 400;
/** So much of what did not change is shown around a change in a long text. */
const CONTEXT = 40;

/** The lines; none when nothing that counts differs. */
export function diffDefinitions(before: Definition, after: Definition): string[] {
  const old = leavesOf(before);
  const fresh = leavesOf(after);
  const lines: string[] = [];
  for (const [path, value] of old) {
    const now = fresh.get(path);
    if (now === value) continue;
    const [was, is] = now === undefined ? [shorten(value), undefined] : shortenBoth(value, now);
    lines.push(`- ${path}: ${was}`);
    if (is !== undefined) lines.push(`+ ${path}: ${is}`);
  }
  for (const [path, value] of fresh) if (!old.has(path)) lines.push(`+ ${path}: ${shorten(value)}`);
  if (lines.length <= MOST_LINES) return lines.map(showText);
  const more = lines.length - MOST_LINES;
  return [...lines.slice(0, MOST_LINES).map(showText), `… ${more} more lines of differences`];
}

/** Every value that has no parts, as JSON, by the path that leads to it. */
function leavesOf(definition: Definition): Map<string, string> {
  const leaves = new Map<string, string>();
  const visit = (value: unknown, path: string, depth: number): void => {
    if (leaves.size >= MOST_LEAVES) return;
    const parts = isRecord(value) ? Object.keys(value).sort() : Array.isArray(value) ? [...value.keys()] : [];
    if (parts.length === 0 || depth >= MOST_DEPTH) {
      leaves.set(path, JSON.stringify(value) ?? 'undefined');
      return;
    }
    for (const part of parts) visit(Reflect.get(Object(value), part), path + stepText(part, path), depth + 1);
  };
  for (const field of COUNTED_FIELDS) if (field in definition) visit(definition[field], field, 0);
  return leaves;
}

function stepText(part: string | number, path: string): string {
  if (typeof part === 'number') return `[${part}]`;
  if (!/^[\w$-]{1,100}$/.test(part)) return `[${shorten(JSON.stringify(part))}]`;
  return path === '' ? part : `.${part}`;
}

function shorten(json: string): string {
  return json.length <= MOST_VALUE
    ? json
    : `${json.slice(0, MOST_VALUE)}… (${json.length - MOST_VALUE} more characters)`;
}

/** Two long texts from where they part. */
function shortenBoth(before: string, after: string): [string, string] {
  if (Math.max(before.length, after.length) <= MOST_VALUE) return [before, after];
  const shorter = Math.min(before.length, after.length);
  let same = 0;
  while (same < shorter && before[same] === after[same]) same += 1;
  const start = Math.max(0, same - CONTEXT);
  const from = (text: string): string =>
    start === 0 ? shorten(text) : `…(${start} same characters) ${shorten(text.slice(start))}`;
  return [from(before), from(after)];
}
