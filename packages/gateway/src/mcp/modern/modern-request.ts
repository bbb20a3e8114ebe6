/** A request of the newer revision on its way through us. */
import type { Caller, CancelSignal } from 'turnbuckle';
import type { RpcRequest } from './protocol.js';
import type { Reply } from './reply.js';

export interface ModernRequest {
  readonly message: RpcRequest;
  readonly caller: Caller;
  readonly signal: CancelSignal | undefined;
  /** Aborts when the identity of the caller is over: what outlives this request ends too. */
  readonly ended?: CancelSignal | undefined;
  /** Places are kept for the owner. */
  readonly isOwner?: boolean | undefined;
  readonly reply: Reply;
}
