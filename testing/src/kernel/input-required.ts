import { createHmac, randomBytes } from 'node:crypto';
import { isObject, type JsonObject } from './json.js';
import { INVALID_PARAMS, RpcError } from './rpc-error.js';

const key = randomBytes(32);

/** Characters that a careless client would escape, trim or normalise; the state must be returned byte for byte. */
const AWKWARD = ' "\\\u00e9e\u0301\u2028=?+/% ';

/** Thrown to answer a modern request with `input_required`. */
export class InputRequired extends Error {
  readonly result: JsonObject;

  constructor(inputRequests: JsonObject, requestState: string) {
    super('input required');
    this.result = { resultType: 'input_required', inputRequests, requestState };
  }
}

/** Signs the answers so far, bound to the request they belong to. */
export function sealState(answers: JsonObject, binding: string): string {
  const payload = Buffer.from(JSON.stringify({ answers, binding })).toString('base64url');
  return `${AWKWARD}${payload}.${sign(payload)}${AWKWARD}`;
}

/** The answers in a state; throws if it was changed or belongs to another request. */
export function openState(state: unknown, binding: string): JsonObject {
  const [payload = '', signature] =
    typeof state === 'string' && state.startsWith(AWKWARD) && state.endsWith(AWKWARD)
      ? state.slice(AWKWARD.length, -AWKWARD.length).split('.')
      : [];
  if (signature !== sign(payload)) throw new RpcError(INVALID_PARAMS, 'requestState was altered');
  const sealed: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
  if (!isObject(sealed) || sealed.binding !== binding || !isObject(sealed.answers)) {
    throw new RpcError(INVALID_PARAMS, 'requestState belongs to another request');
  }
  return sealed.answers;
}

function sign(payload: string): string {
  return createHmac('sha256', key).update(payload).digest('base64url');
}
