/** Configuration lines with secrets redacted, for previews. */
import { createRedactor, redactConfig } from 'turnbuckle/host';

type Entry = Readonly<Record<string, unknown>>;

const REDACTED_MARK = '[redacted]';
const QUOTED = /"((?:[^"\\]|\\.)*)"/g;

/** `entries` are the servers that the change is about; what is hidden of them is hidden in every line. */
export function createLineRedactor(entries: readonly Entry[]): (line: string) => string {
  const redactor = createRedactor();
  for (const entry of entries)
    for (const secret of redactedParts(entry, redactConfig(entry))) redactor.learn(secret);
  return (line) => redactor.text(line.replace(QUOTED, (_all, text: string) => `"${redactText(text)}"`));
}

/** A single text: URLs, keys that look generated. */
function redactText(text: string): string {
  const { args } = redactConfig({ args: [text] });
  return Array.isArray(args) ? String(args[0]) : REDACTED_MARK;
}

const SECRET_NAME = /token|key|secret|passw|auth|credential|cookie/i;

/** Paths of literal credentials, such as `headers.Authorization`. Never a value. */
export function findPlaintextSecrets(entry: Entry): string[] {
  return secretPaths(entry, redactConfig(entry));
}

function secretPaths(entry: object, shown: object): string[] {
  return Object.entries(entry).flatMap(([key, value]: [string, unknown]) => {
    const other: unknown = Reflect.get(shown, key);
    const isGroup = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isGroup) return redactedParts(value, other).length > 0 ? [key] : [];
    const isMap = key === 'env' || key === 'headers';
    const found = isMap ? secretNames(value, Object(other)) : secretPaths(value, Object(other));
    return found.map((path) => `${key}.${path}`);
  });
}

/** Of variables and headers. All of these are hidden, also what is no secret. */
function secretNames(values: object, shown: object): string[] {
  return Object.entries(values).flatMap(([name, text]: [string, unknown]) => {
    const isHidden = redactedParts(text, Reflect.get(shown, name)).some((part) => part !== '');
    const isSecret = SECRET_NAME.test(name) || redactText(String(text)) !== text;
    return isHidden && isSecret ? [name] : [];
  });
}

/** What the one has and the other shows as hidden. */
function redactedParts(value: unknown, shown: unknown): string[] {
  if (typeof value === 'string') return typeof shown === 'string' ? partsBetweenMarks(value, shown) : [];
  if (typeof value !== 'object' || value === null || typeof shown !== 'object' || shown === null) return [];
  return Object.entries(value).flatMap(([key, part]: [string, unknown]) =>
    redactedParts(part, Reflect.get(shown, key)),
  );
}

function partsBetweenMarks(value: string, shown: string): string[] {
  const parts = shown.split(REDACTED_MARK).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  if (parts.length === 1) return [];
  return new RegExp(`^${parts.join('([^]*?)')}$`).exec(value)?.slice(1) ?? [value];
}
