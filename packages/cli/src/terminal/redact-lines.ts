/** Lines of a configuration as they may be shown: whoever agrees to a change needs no secret to see what it is. */
import { createRedactor, redactConfig } from 'turnbuckle';

type Entry = Readonly<Record<string, unknown>>;

const MARK = '[redacted]';
const QUOTED = /"((?:[^"\\]|\\.)*)"/g;

/** `entries` are the servers that the change is about; what is hidden of them is hidden in every line. */
export function createLineRedactor(entries: readonly Entry[]): (line: string) => string {
  const redactor = createRedactor();
  for (const entry of entries)
    for (const secret of hiddenIn(entry, redactConfig(entry))) redactor.learn(secret);
  return (line) => redactor.text(line.replace(QUOTED, (_all, text: string) => `"${asArgument(text)}"`));
}

/** A text that stands alone: addresses, keys that look generated. */
function asArgument(text: string): string {
  const { args } = redactConfig({ args: [text] });
  return Array.isArray(args) ? String(args[0]) : MARK;
}

const SECRET_NAME = /token|key|secret|passw|auth|credential|cookie/i;

/** Where credentials stand that are written out, as paths: `headers.Authorization`. Never a value. */
export function writtenSecrets(entry: Entry): string[] {
  const shown = redactConfig(entry);
  return Object.entries(entry).flatMap(([key, value]: [string, unknown]) => {
    const other = shown[key];
    if ((key !== 'env' && key !== 'headers') || typeof value !== 'object' || value === null)
      return hiddenIn(value, other).length > 0 ? [key] : [];
    // All of these are hidden, also what is no secret.
    return Object.entries(value).flatMap(([name, text]: [string, unknown]) => {
      const isHidden = hiddenIn(text, Reflect.get(Object(other), name)).some((part) => part !== '');
      const isSecret = SECRET_NAME.test(name) || asArgument(String(text)) !== text;
      return isHidden && isSecret ? [`${key}.${name}`] : [];
    });
  });
}

/** What the one has and the other shows as hidden. */
function hiddenIn(value: unknown, shown: unknown): string[] {
  if (typeof value === 'string') return typeof shown === 'string' ? betweenMarks(value, shown) : [];
  if (typeof value !== 'object' || value === null || typeof shown !== 'object' || shown === null) return [];
  return Object.entries(value).flatMap(([key, part]: [string, unknown]) =>
    hiddenIn(part, Reflect.get(shown, key)),
  );
}

function betweenMarks(value: string, shown: string): string[] {
  const parts = shown.split(MARK).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  if (parts.length === 1) return [];
  return new RegExp(`^${parts.join('([^]*?)')}$`).exec(value)?.slice(1) ?? [value];
}
