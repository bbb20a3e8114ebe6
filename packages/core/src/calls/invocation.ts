/** A call in flight, and its events. */
import type { Energy, EnergyUse } from '../energy/energy.js';
import type { TurnbuckleError } from '../errors.js';
import { toTurnbuckleError } from '../errors.js';
import type { CallKind, CallSettled, Events, GivenApproval } from '../events.js';
import { isRecord } from '../json/is-record.js';
import { agentOf } from '../policy/capabilities.js';
import type { Decision } from '../policy/decide.js';
import { CallClock } from '../resilience/call-clock.js';
import type { Server } from '../servers/server.js';
import type { GuardedCall } from './authorization/guarded-call.js';
import { type CallOptions, truncateName } from './call-request.js';
import { describeExtras } from './request-content.js';
import type { OutgoingCall } from './sending/outgoing-call.js';
import { runInSlicesIfLarge } from './validate.js';

export interface Invocation {
  readonly requestId: string;
  readonly kind: CallKind;
  server: string;
  tool: string;
  toolName: string;
  readonly callerId: string | undefined;
  readonly run: string | undefined;
  readonly startedAt: number;
  readonly started: number;
  /** The time limits. */
  readonly clock: CallClock;
  /** How long it waited for approval. */
  waitedMs: number;
  /** Set once it is being sent. */
  outgoing: OutgoingCall | undefined;
  /** Why an answer in the middle of the call was not sent. */
  answerError: TurnbuckleError | undefined;
  /** The server it is sent to: another server may have its name by the time the call ends. */
  target: Server | undefined;
  readonly arguments: unknown;
  /** What is sent besides the arguments; usually undefined. */
  extras: GuardedCall['extras'];
  /** The final decision. */
  decision: Decision | undefined;
  /** An `ask` that a session approval answered. */
  remembered: boolean;
  /** What it may cost; set once it is granted. */
  energy: EnergyUse | undefined;
  /** The last answer to an approval request of this call. */
  approval: GivenApproval | undefined;
}

export interface InvocationsParts {
  readonly events: Events;
  readonly findServer: (name: string) => Server | undefined;
  /** The same error, redacted. */
  readonly redact: (error: TurnbuckleError) => TurnbuckleError;
  readonly now: () => number;
  readonly energy: Energy | undefined;
}

export class Invocations {
  readonly #parts: InvocationsParts;
  readonly #prefix = Math.floor(Math.random() * 36 ** 6)
    .toString(36)
    .padStart(6, '0');
  #count = 0;

  constructor(parts: InvocationsParts) {
    this.#parts = parts;
  }

  /** Generates a request id. */
  nextRequestId(): string {
    this.#count += 1;
    return `${this.#prefix}-${this.#count}`;
  }

  begin(
    what: Pick<Invocation, 'kind' | 'server' | 'tool' | 'arguments'>,
    { requestId, caller, timeoutMs, maxTotalMs }: CallOptions,
  ): Invocation {
    return {
      requestId: requestId ?? this.nextRequestId(),
      kind: what.kind,
      server: truncateName(what.server),
      tool: truncateName(what.tool),
      toolName: truncateName(what.tool),
      callerId: agentOf(caller)?.id,
      run: caller?.run,
      startedAt: this.#parts.now(),
      started: performance.now(),
      clock: new CallClock({ timeoutMs, maxTotalMs }),
      waitedMs: 0,
      outgoing: undefined,
      answerError: undefined,
      target: undefined,
      arguments: what.arguments,
      extras: undefined,
      decision: undefined,
      remembered: false,
      energy: undefined,
      approval: undefined,
    };
  }

  announce(call: Invocation): void {
    if (!this.#parts.events.has('call.started')) return;
    const { requestId, server, tool, toolName, callerId, kind, startedAt } = call;
    this.#parts.events.emit('call.started', { requestId, server, tool, toolName, callerId, kind, startedAt });
  }

  /** Progress goes to the caller and to event listeners. */
  progressListener(call: Invocation, { onProgress }: CallOptions): OutgoingCall['onProgress'] {
    return (progress) => {
      if (onProgress !== undefined) this.#parts.events.runSafely('onProgress', () => onProgress(progress));
      const { requestId, server, tool } = call;
      this.#parts.events.emit('call.progress', { requestId, server, tool, ...progress });
    };
  }

  /** Redaction for the log takes time: yield when many calls settle at the same time. */
  settle(call: Invocation, result: unknown, error?: TurnbuckleError): Promise<void> | void {
    const settle = (): void => this.#settle(call, result, error);
    return this.#parts.events.has('call.settled')
      ? runInSlicesIfLarge([call.arguments, result], settle)
      : settle();
  }

  /** Settles a failed call; returns the error for the caller. */
  async fail(call: Invocation, thrown: unknown): Promise<TurnbuckleError> {
    const own = toTurnbuckleError(thrown);
    // The caller must not learn which server has the hidden tool.
    const error = this.#parts.redact(own.code === 'TOOL_UNKNOWN' ? own : own.during(call));
    await this.settle(call, undefined, error);
    return error;
  }

  #settle(call: Invocation, result: unknown, error: TurnbuckleError | undefined): void {
    const { waitedMs } = call;
    const durationMs = performance.now() - call.started - waitedMs;
    const toolFailed = isRecord(result) && result.isError === true;
    const { events, findServer, now } = this.#parts;
    const found = call.target ?? findServer(call.server);
    found?.stats.record(error === undefined && !toolFailed, durationMs, now());
    const outcome: CallSettled['outcome'] = error !== undefined ? 'failed' : toolFailed ? 'tool-error' : 'ok';
    const energy = this.#endEnergy(call, { durationMs, outcome });
    if (!events.has('call.settled')) return;
    const { requestId, server, tool, toolName, callerId, kind, startedAt, run } = call;
    events.emit('call.settled', {
      requestId,
      server,
      tool,
      toolName,
      callerId,
      kind,
      startedAt,
      attempts: call.outgoing?.attempts ?? 0,
      durationMs,
      waitedMs,
      outcome,
      error,
      run,
      era: found?.connection.link?.era,
      arguments: call.arguments,
      alsoSent: call.extras && describeExtras(call.extras),
      result,
      decision: call.decision?.action,
      reason: call.decision?.reason,
      remembered: call.remembered,
      energy,
      estimatedEnergy: energy === undefined ? undefined : call.energy?.estimate,
      approval: call.approval,
    });
  }

  /** A call that failed costs too, once there was a server to send it to. */
  #endEnergy(
    { energy: use, outgoing }: Invocation,
    ended: { readonly durationMs: number; readonly outcome: CallSettled['outcome'] },
  ): number | undefined {
    const { energy } = this.#parts;
    if (energy === undefined || use === undefined) return undefined;
    if (outgoing !== undefined) return energy.end(use, ended);
    energy.abandon(use);
    return undefined;
  }
}
