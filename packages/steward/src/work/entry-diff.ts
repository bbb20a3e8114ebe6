/** The difference between two entries as lines, without secrets. */
import { redactConfig, showLine } from 'turnbuckle/host';

type Entry = Readonly<Record<string, unknown>>;

const MAX_LINE = 400;

/** Lines that start with `-` or `+`. */
export function diffEntries(before: Entry, after: Entry): string[] {
  const [old, now] = [redactConfig(before), redactConfig(after)] as [Entry, Entry];
  const keys = [...new Set([...Object.keys(old), ...Object.keys(now)])].sort();
  return keys.flatMap((key) => {
    const [left, right] = [toLine(key, old), toLine(key, now)];
    if (left === right) return [];
    return [...(left === undefined ? [] : [`- ${left}`]), ...(right === undefined ? [] : [`+ ${right}`])];
  });
}

const toLine = (key: string, entry: Entry): string | undefined =>
  Object.hasOwn(entry, key) ? showLine(`${key}: ${JSON.stringify(entry[key])}`, MAX_LINE) : undefined;
