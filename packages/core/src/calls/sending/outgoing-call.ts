/** A call on its way to a server. */
import type { CancelSignal } from '../../async/cancel-signal.js';
import type { Progress } from '../../connection/lanes/lane.js';
import type { ClientResponder } from '../../connection/server-requests/client-responders.js';
import type { HeaderParameter } from '../../connection/transports/http/mcp-headers.js';
import type { TurnbuckleError } from '../../errors.js';
import type { Caller } from '../../policy/capabilities.js';
import type { CallClock } from '../../resilience/call-clock.js';
import type { Server } from '../../servers/server.js';

export interface OutgoingCall {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Safe to repeat, according to trusted annotations. */
  isRetrySafe: boolean;
  readonly options: {
    readonly signal?: CancelSignal | undefined;
    readonly timeoutMs?: number | undefined;
    readonly inputRequired?: 'answer' | 'return' | undefined;
    readonly caller?: Caller | undefined;
    readonly responder?: ClientResponder | undefined;
  };
  /** In place of the request, on the connection where its caller follows resources. */
  readonly follow?: ((server: Server) => Promise<unknown>) | undefined;
  /** Runs since the start of the call. */
  readonly clock: CallClock;
  headerParameters?: readonly HeaderParameter[];
  readonly headerArguments?: unknown;
  /**
   * Called right before every send: throws if the call is no longer allowed, and returns a promise if a change
   * requires approval.
   */
  readonly confirm: () => Promise<void> | undefined;
  /** Always set: progress also resets the timeout of the call. */
  readonly onProgress: (progress: Progress) => void;
  /** Counted here. */
  attempts: number;
  signedInFor?: Set<TurnbuckleError['code']>;
  /** The response timeout of the last request. */
  responseTimeoutMs?: number;
}
