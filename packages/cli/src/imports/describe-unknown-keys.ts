/** Describes the unsupported keys of an entry. Names only: values can be secrets. */
import { stringsIn } from './formats/plain-value.js';

const KEY_MEANINGS: ReadonlyMap<string, string> = new Map([
  ['alwaysLoad', 'loads tools immediately'],
  ['auth', 'sign-in'],
  ['dev', 'development mode'],
  ['envFile', 'a file with environment variables'],
  ['headersHelper', 'a command that prints headers'],
  ['http_headers_helper', 'a command that prints headers'],
  ['isolation', 'limits on file and network access'],
  ['oauth', 'sign-in'],
  ['sandbox', 'limits on file and network access'],
  ['sandboxEnabled', 'limits on file and network access'],
  ['scopes', 'sign-in'],
  ['timeout', 'a duration whose unit is not known'],
  ['trust', 'calls without approval'],
]);

const AUTO_APPROVE_KEYS = ['autoApprove', 'alwaysAllow', 'auto_approve', 'autoApproveTools'];

/** One sentence for approvals and one for all other keys; none when nothing is left. */
export function describeUnknownKeys(rest: Readonly<Record<string, unknown>>): string[] {
  const notes: string[] = [];
  for (const key of AUTO_APPROVE_KEYS) {
    const tools = stringsIn(Object.hasOwn(rest, key) ? rest[key] : undefined);
    if (tools.length > 0)
      notes.push(
        `auto-approved in the other application, but not in Turnbuckle: ${tools.join(', ')} (${key})`,
      );
  }
  const others = Object.keys(rest).filter(
    (key) => !AUTO_APPROVE_KEYS.includes(key) || !Array.isArray(rest[key]),
  );
  if (others.length > 0) notes.push(`not imported: ${others.map(explainKey).join(', ')}`);
  return notes;
}

function explainKey(key: string): string {
  const meaning = KEY_MEANINGS.get(key) ?? KEY_MEANINGS.get(key.split('.')[0] ?? '');
  return meaning === undefined ? key : `${key} (${meaning})`;
}
