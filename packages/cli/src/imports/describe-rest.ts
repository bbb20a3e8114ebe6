/** Says in words which keys of an entry have no place in our shape. Names only: values can be secrets. */
import { textsIn } from './plain-value.js';

const MEANING: ReadonlyMap<string, string> = new Map([
  ['alwaysLoad', 'loads its tools at once'],
  ['auth', 'sign-in'],
  ['dev', 'development mode'],
  ['envFile', 'a file with variables'],
  ['headersHelper', 'a program that gives headers'],
  ['http_headers_helper', 'a program that gives headers'],
  ['oauth', 'sign-in'],
  ['sandbox', 'limits on files and network'],
  ['sandboxEnabled', 'limits on files and network'],
  ['scopes', 'sign-in'],
  ['timeout', 'a duration whose unit is not known'],
  ['trust', 'calls without asking'],
]);

const APPROVED_TOOLS = ['autoApprove', 'alwaysAllow', 'auto_approve', 'autoApproveTools'];

/** One sentence for approvals and one for all other keys; none when nothing is left. */
export function describeRest(rest: Readonly<Record<string, unknown>>): string[] {
  const notes: string[] = [];
  for (const key of APPROVED_TOOLS) {
    const tools = textsIn(Object.hasOwn(rest, key) ? rest[key] : undefined);
    if (tools.length > 0) notes.push(`called without asking there, not here: ${tools.join(', ')} (${key})`);
  }
  const others = Object.keys(rest).filter(
    (key) => !APPROVED_TOOLS.includes(key) || !Array.isArray(rest[key]),
  );
  if (others.length > 0) notes.push(`not carried over: ${others.map(explained).join(', ')}`);
  return notes;
}

function explained(key: string): string {
  const meaning = MEANING.get(key);
  return meaning === undefined ? key : `${key} (${meaning})`;
}
