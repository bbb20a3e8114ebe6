/** A request of the newer revision. */
import type { Caller } from 'turnbuckle';
import type { CancelSignal } from 'turnbuckle/host';
import type { ServerSpan } from '../../telemetry/server-span.js';
import type { RpcRequest } from '../protocol/protocol.js';
import type { Reply } from '../protocol/reply.js';

export interface ModernRequest {
  readonly message: RpcRequest;
  readonly caller: Caller;
  readonly signal: CancelSignal | undefined;
  /** Aborts when the identity of the caller ends: work that outlives this request ends too. */
  readonly ended?: CancelSignal | undefined;
  /** Some capacity is reserved for the owner. */
  readonly isOwner?: boolean | undefined;
  readonly reply: Reply;
  /** Its span, if telemetry is on. */
  readonly span?: ServerSpan | undefined;
}
