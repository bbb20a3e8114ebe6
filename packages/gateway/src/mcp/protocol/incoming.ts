/** What a client sent, told apart by exact keys: a request, a notice, or the answer to a question of ours. */
import { exactInteger, parseInSlices, TurnbuckleError } from 'turnbuckle';
import {
  CODES,
  isRecord,
  type RequestId,
  type RpcAnswer,
  RpcError,
  type RpcNotice,
  type RpcRequest,
} from './protocol.js';

export type Incoming =
  | { readonly kind: 'request'; readonly message: RpcRequest }
  | { readonly kind: 'notice'; readonly message: RpcNotice }
  | { readonly kind: 'answer'; readonly message: RpcAnswer };

/** More requests of one batch are not answered one by one. */
const MAX_REFUSED = 1_000;

const isId = (value: unknown): value is RequestId =>
  typeof value === 'string' || typeof value === 'bigint' || Number.isFinite(value);

/** The message in a text. Throws an RpcError when there is none, or when two readers could see two of them. */
export async function parseMessage(text: string): Promise<Incoming> {
  return readMessage(await parse(text));
}

async function parse(text: string): Promise<unknown> {
  try {
    return await parseInSlices(text);
  } catch (thrown) {
    if (thrown instanceof TurnbuckleError) throw invalid(thrown.message);
    throw new RpcError(CODES.parse, 'This is not JSON', { http: 400 });
  }
}

/** Batches were taken out of the protocol and are not taken in. */
export class BatchRefused extends RpcError {
  /** Whom to tell: a client waits for the answer to each request in it. */
  readonly ids: readonly RequestId[];

  constructor(batch: readonly unknown[]) {
    super(CODES.invalidRequest, 'Batches are not supported: send each message by itself', { http: 400 });
    this.ids = batch.slice(0, MAX_REFUSED).flatMap(requestIdOf);
  }
}

function requestIdOf(value: unknown): RequestId[] {
  if (!isRecord(value) || value.method === undefined) return [];
  const id = exactInteger(value, 'id') ?? value.id;
  return isId(id) ? [id] : [];
}

/** Throws an RpcError for everything else. */
export function readMessage(value: unknown): Incoming {
  if (Array.isArray(value)) throw new BatchRefused(value);
  if (!isRecord(value) || value.jsonrpc !== '2.0') throw invalid('This is not a JSON-RPC 2.0 message');
  const { method, result, error } = value;
  // Libraries of JSON-RPC 1.0 write null for params that are not there.
  const params = value.params ?? {};
  const id = exactInteger(value, 'id') ?? value.id;
  if (method !== undefined) {
    if (typeof method !== 'string') throw invalid('The method is not a string');
    if (!isRecord(params)) throw invalid('The params are not an object');
    if (id === undefined) return { kind: 'notice', message: { method, params } };
    if (!isId(id)) throw invalid('The id is neither a string nor a number');
    return { kind: 'request', message: { id, method, params } };
  }
  if (!isId(id)) throw invalid('There is neither a method nor an id');
  if (isRecord(error) && typeof error.code === 'number' && typeof error.message === 'string') {
    const { code, message, data } = error;
    return { kind: 'answer', message: { id, error: { code, message, data } } };
  }
  if (isRecord(result)) return { kind: 'answer', message: { id, result } };
  throw invalid('There is neither a method nor a result');
}

const invalid = (message: string): RpcError => new RpcError(CODES.invalidRequest, message, { http: 400 });
