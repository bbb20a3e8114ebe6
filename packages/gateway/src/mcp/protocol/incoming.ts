/** Classifies messages of a client by their exact keys: a request, a notification, or a response to our request. */
import { TurnbuckleError } from 'turnbuckle';
import { exactInteger, isRecord, parseLosslessInSlices } from 'turnbuckle/host';
import {
  CODES,
  type RequestId,
  RpcError,
  type RpcNotice,
  type RpcRequest,
  type RpcResponse,
} from './protocol.js';

export type Incoming =
  | { readonly kind: 'request'; readonly message: RpcRequest }
  | { readonly kind: 'notice'; readonly message: RpcNotice }
  | { readonly kind: 'answer'; readonly message: RpcResponse };

/** Requests of a larger batch do not each get a response. */
const MAX_REJECTED_IDS = 1_000;

const isId = (value: unknown): value is RequestId =>
  typeof value === 'string' || typeof value === 'bigint' || Number.isFinite(value);

/** Parses a message. Throws an RpcError if it is invalid, or if two parsers could read it differently. */
export async function parseMessage(text: string): Promise<Incoming> {
  return readMessage(await parse(text));
}

async function parse(text: string): Promise<unknown> {
  try {
    return await parseLosslessInSlices(text);
  } catch (thrown) {
    if (thrown instanceof TurnbuckleError) throw invalid(thrown.message);
    throw new RpcError(CODES.parse, 'Invalid JSON', { http: 400 });
  }
}

/** The protocol no longer has batches, so they are rejected. */
export class BatchRejected extends RpcError {
  /** The ids to respond to: a client waits for a response to each request in the batch. */
  readonly ids: readonly RequestId[];

  constructor(batch: readonly unknown[]) {
    super(CODES.invalidRequest, 'Batch requests are not supported. Send one message at a time', {
      http: 400,
    });
    this.ids = batch.slice(0, MAX_REJECTED_IDS).flatMap(requestIdOf);
  }
}

function requestIdOf(value: unknown): RequestId[] {
  if (!isRecord(value) || value.method === undefined) return [];
  const id = exactInteger(value, 'id') ?? value.id;
  return isId(id) ? [id] : [];
}

/** Throws an RpcError for everything else. */
export function readMessage(value: unknown): Incoming {
  if (Array.isArray(value)) throw new BatchRejected(value);
  if (!isRecord(value) || value.jsonrpc !== '2.0') throw invalid('Not a JSON-RPC 2.0 message');
  const { method, result, error } = value;
  // JSON-RPC 1.0 libraries send null for missing params.
  const params = value.params ?? {};
  const id = exactInteger(value, 'id') ?? value.id;
  if (method !== undefined) {
    if (typeof method !== 'string') throw invalid('method must be a string');
    if (!isRecord(params)) throw invalid('params must be an object');
    if (id === undefined) return { kind: 'notice', message: { method, params } };
    if (!isId(id)) throw invalid('id must be a string or a number');
    return { kind: 'request', message: { id, method, params } };
  }
  if (!isId(id)) throw invalid('The message has neither method nor id');
  if (isRecord(error) && typeof error.code === 'number' && typeof error.message === 'string') {
    const { code, message, data } = error;
    return { kind: 'answer', message: { id, error: { code, message, data } } };
  }
  if (isRecord(result)) return { kind: 'answer', message: { id, result } };
  throw invalid('The message has neither method nor result');
}

const invalid = (message: string): RpcError => new RpcError(CODES.invalidRequest, message, { http: 400 });
