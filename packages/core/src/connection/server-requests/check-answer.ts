/** Validates an answer of the host before it is sent: only what was requested, and nothing that looks like a secret. */
import type { PrimitiveSchemaDefinition } from '@modelcontextprotocol/client';
import { isRecord } from '../../json/is-record.js';
import { findSecretShape } from '../../redaction/secret-shapes.js';
import type { ElicitationRequest, FormRequest } from './host-requests.js';

type Result = Record<string, unknown>;

/** The answer to send, or why none is sent. `own`: the host's answer is wrong, not the request. */
export type CheckedAnswer =
  | { readonly result: Result; readonly declined?: boolean }
  | { readonly reason: string; readonly own: boolean };

const invalidAnswer = (reason: string): CheckedAnswer => ({ reason, own: true });

export function checkElicited(
  request:
    | Pick<FormRequest, 'mode' | 'requestedSchema'>
    | Omit<Extract<ElicitationRequest, { mode: 'url' }>, 'server' | 'signal'>,
  answer: unknown,
): CheckedAnswer {
  const action = isRecord(answer) ? answer.action : undefined;
  if (action === 'decline' || action === 'cancel') return { result: { action }, declined: true };
  if (!isRecord(answer) || action !== 'accept')
    return invalidAnswer(`the host returned no valid action ("accept", "decline" or "cancel")`);
  if (request.mode === 'url') return { result: { action } };
  return checkContent(request.requestedSchema.properties, isRecord(answer.content) ? answer.content : {});
}

/** Fields that the host left empty get the default from the form. */
function checkContent(
  fields: Readonly<Record<string, PrimitiveSchemaDefinition>>,
  given: Readonly<Record<string, unknown>>,
): CheckedAnswer {
  const entries: [string, unknown][] = [];
  for (const [name, field] of Object.entries(fields)) {
    const own = Object.hasOwn(given, name) ? given[name] : undefined;
    const value = own ?? field.default;
    if (value === undefined) continue;
    if (!fits(value, field))
      return invalidAnswer(`the host returned a value for "${name}" that does not match the form`);
    const shape = typeof value === 'string' ? findSecretShape(value) : undefined;
    if (shape !== undefined) return { reason: `a value in the form looks like ${shape}`, own: false };
    entries.push([name, value]);
  }
  return { result: { action: 'accept', content: Object.fromEntries(entries) } };
}

function fits(value: unknown, field: PrimitiveSchemaDefinition): boolean {
  switch (field.type) {
    case 'boolean':
      return typeof value === 'boolean';
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    case 'integer':
      return Number.isInteger(value);
    case 'array': {
      const { items } = field;
      const options = 'anyOf' in items ? items.anyOf.map((one) => one.const) : items.enum;
      return Array.isArray(value) && value.every((one) => options.includes(one));
    }
    default: {
      if (typeof value !== 'string') return false;
      if ('enum' in field) return field.enum.includes(value);
      return !('oneOf' in field) || field.oneOf.some((one) => one.const === value);
    }
  }
}

export function checkSampled(answer: unknown): CheckedAnswer {
  const fine =
    isRecord(answer) &&
    answer.role === 'assistant' &&
    typeof answer.model === 'string' &&
    typeof answer.content === 'object' &&
    answer.content !== null;
  return fine
    ? { result: answer }
    : invalidAnswer('the host returned a message whose role, model or content is missing or invalid');
}

const MAX_ROOTS = 100;

/** Directories of this machine, in a normal form that can be compared. */
export function checkRoots(answer: unknown): CheckedAnswer {
  const roots = isRecord(answer) && Array.isArray(answer.roots) ? answer.roots : undefined;
  if (roots === undefined || roots.length > MAX_ROOTS)
    return invalidAnswer(`the host returned no list of roots, or more than ${MAX_ROOTS} roots`);
  const checked = roots.map(readRoot);
  if (checked.some((root) => root === undefined))
    return invalidAnswer('the host returned a root that is not a plain file:// URI');
  return { result: { roots: checked } };
}

function readRoot(root: unknown): Result | undefined {
  if (!isRecord(root) || typeof root.uri !== 'string' || !URL.canParse(root.uri)) return undefined;
  const url = new URL(root.uri);
  const plain = url.protocol === 'file:' && url.host === '' && url.search === '' && url.hash === '';
  if (!plain || /%(?:2f|5c|00)/i.test(url.pathname)) return undefined;
  return { uri: url.href, ...(typeof root.name === 'string' && { name: root.name }) };
}
