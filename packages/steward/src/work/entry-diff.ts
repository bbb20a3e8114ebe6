/**
 * The difference between two entries as lines, one for each value that differs. The real values are compared; what may
 * be a secret is not shown, but that it changes is.
 */
import { findSecretShape, isRecord, redactConfig, showText, writtenSecretsOf } from 'turnbuckle/host';

type Entry = Readonly<Record<string, unknown>>;

/** A value without members, as it is and as it may be shown, both as JSON. */
interface Leaf {
  readonly real: string;
  readonly shown: string;
}

/** Lines that start with `-` or `+`, or with `~` for a change that is not visible. None: the entries are the same. */
export function diffEntries(before: Entry, after: Entry): string[] {
  const [old, now] = [leavesOf(before), leavesOf(after)];
  const paths = [...new Set([...old.keys(), ...now.keys()])].sort();
  return paths.flatMap((path) => {
    const [left, right] = [old.get(path), now.get(path)];
    if (left?.real === right?.real) return [];
    const line = (sign: string, text: string): string => showText(`${sign} ${path}: ${text}`);
    const isVisible = left?.shown !== right?.shown;
    const hasHidden = [left, right].every((one) => one !== undefined && one.real !== one.shown);
    return [
      ...(isVisible && left !== undefined ? [line('-', left.shown)] : []),
      ...(isVisible && right !== undefined ? [line('+', right.shown)] : []),
      ...(isVisible ? [] : [line('~', 'changed (hidden)')]),
      ...(isVisible && hasHidden ? [line('~', 'the hidden part may have changed, too')] : []),
    ];
  });
}

/** Whether they have the same values, whatever the order of their keys. */
export const isSameEntry = (left: Entry | undefined, right: Entry | undefined): boolean =>
  left !== undefined && right !== undefined && entryText(left) === entryText(right);

/** The same text for the same values. */
export const entryText = (entry: Entry): string =>
  JSON.stringify([...leavesOf(entry)].map(([path, { real }]) => [path, real]).sort());

function leavesOf(entry: Entry): Map<string, Leaf> {
  const leaves = new Map<string, Leaf>();
  collect('', { real: entry, shown: showPlain(entry) }, leaves);
  return leaves;
}

function collect(
  path: string,
  { real, shown }: { readonly real: unknown; readonly shown: unknown },
  leaves: Map<string, Leaf>,
): void {
  if (!isRecord(real) || !isRecord(shown) || Object.keys(real).length === 0) {
    leaves.set(path, { real: toText(real), shown: toText(shown) });
    return;
  }
  for (const [key, value] of Object.entries(real)) {
    const name = /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
    const member = Object.hasOwn(shown, key) ? shown[key] : undefined;
    collect(path === '' ? name : `${path}.${name}`, { real: value, shown: member }, leaves);
  }
}

const toText = (value: unknown): string => JSON.stringify(value) ?? 'null';

/** Redacted, except for variables and headers whose names and values say that they are no secrets. */
function showPlain(entry: Entry): Entry {
  const shown = redactConfig(entry);
  for (const key of ['env', 'headers'])
    if (isRecord(entry[key]) && isRecord(shown[key])) shown[key] = showMembers(entry[key], shown[key]);
  if (isRecord(entry.credentials))
    shown.credentials = Object.fromEntries(
      Object.entries(entry.credentials).map(([caller, own]) => [
        caller,
        isRecord(own) ? showPlain(own) : Object(shown.credentials)[caller],
      ]),
    );
  return shown;
}

const showMembers = (members: Entry, redacted: Entry): Entry =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      name,
      typeof value !== 'string' || mayBeSecret(name, value) ? redacted[name] : value,
    ]),
  );

/** A text around a placeholder can be one as well. */
const mayBeSecret = (name: string, value: string): boolean =>
  findSecretShape(value) !== undefined ||
  writtenSecretsOf({ env: { [name]: value.replaceAll('${', '') } }).length > 0;
