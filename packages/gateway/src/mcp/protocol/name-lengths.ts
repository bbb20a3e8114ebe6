/**
 * Limits the length of names and URIs where a message is read: they are looked up, sent, stored and searched for
 * secrets, and some outlive the request. Limits the members of params and `_meta`, too, which are copied at once.
 */
import { isRecord, MAX_NAME_LENGTH, wideMemberCount } from 'turnbuckle/host';
import type { Incoming } from './incoming.js';
import { CODES, metaOf, type Params, RpcError } from './protocol.js';

const MAX_METHOD_CHARACTERS = 256;
/** The params of protocol methods that name something. */
const NAME_PARAMS = ['name', 'uri', 'cursor', 'level', 'taskId', 'requestId', 'protocolVersion'] as const;

/** Throws an RpcError for a name that is too long, and for too many members. */
export function checkNameLengths(incoming: Incoming): void {
  if (incoming.kind === 'answer') return;
  const { method, params } = incoming.message;
  if (method.length > MAX_METHOD_CHARACTERS) throw tooLong('method', MAX_METHOD_CHARACTERS);
  checkMembers('params', params);
  checkMembers('params._meta', metaOf(params));
  for (const name of NAME_PARAMS) check(`params.${name}`, params[name]);
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
  if (typeof value === 'string' && value.length > MAX_NAME_LENGTH) throw tooLong(where, MAX_NAME_LENGTH);
}

function checkMembers(where: string, value: object): void {
  const members = wideMemberCount(value);
  if (members !== undefined)
    throw new RpcError(CODES.invalidParams, `${where} has too many members (${members})`, { http: 400 });
}

const tooLong = (where: string, max: number): RpcError =>
  new RpcError(CODES.invalidParams, `${where} is longer than ${max} characters`, { http: 400 });
