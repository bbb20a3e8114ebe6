/**
 * Names and addresses that a client sends are bounded where its message is read: they are looked up, told, kept and
 * searched for secrets on the way, and some of them outlive the request.
 */
import { MAX_NAME } from 'turnbuckle';
import type { Incoming } from './incoming.js';
import { CODES, isRecord, metaOf, type Params, RpcError } from './protocol.js';

const MAX_METHOD = 256;
/** The params of all methods of the protocol that name something. */
const NAMES = ['name', 'uri', 'cursor', 'level', 'taskId', 'requestId', 'protocolVersion'] as const;

/** Throws an RpcError for one that is too long to be one. */
export function checkNameLengths(incoming: Incoming): void {
  if (incoming.kind === 'answer') return;
  const { method, params } = incoming.message;
  if (method.length > MAX_METHOD) throw tooLong('method', MAX_METHOD);
  for (const name of NAMES) check(`params.${name}`, params[name]);
  check('params._meta.progressToken', metaOf(params).progressToken);
  checkCompletion(params);
  checkSubscriptions(params);
}

function checkCompletion({ ref, argument }: Params): void {
  if (isRecord(ref)) {
    check('params.ref.name', ref.name);
    check('params.ref.uri', ref.uri);
  }
  if (!isRecord(argument)) return;
  check('params.argument.name', argument.name);
  check('params.argument.value', argument.value);
}

function checkSubscriptions({ notifications }: Params): void {
  const uris = isRecord(notifications) ? notifications.resourceSubscriptions : undefined;
  if (Array.isArray(uris)) for (const uri of uris) check('params.notifications.resourceSubscriptions', uri);
}

function check(where: string, value: unknown): void {
  if (typeof value === 'string' && value.length > MAX_NAME) throw tooLong(where, MAX_NAME);
}

const tooLong = (where: string, max: number): RpcError =>
  new RpcError(CODES.invalidParams, `${where} is longer than ${max} characters`, { http: 400 });
