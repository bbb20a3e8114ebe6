/**
 * The one path of a call, from every surface to a server, straight down: resolve, decide, check, connect,
 * send, settle. The order of the steps is a security property; there is no other way to a server.
 */

import type { CallToolResult } from '@modelcontextprotocol/client';
import { withConfirmed } from './call-answers.js';
import { checkArguments, checkResult, giveWay, inTurn } from './call-checks.js';
import { isMissing, unknownItem, unknownServer } from './call-errors.js';
import type { CallGuard } from './call-guard.js';
import { CallNames } from './call-names.js';
import {
  besideOf,
  type CallOptions,
  type CallRequest,
  checkName,
  checkOptions,
  methodSaid,
  type ReadRequest,
  toldName,
  withMeta,
} from './call-request.js';
import { sentBeside } from './call-sent.js';
import { toAbortSignal } from './cancel-signal.js';
import type { Catalog } from './catalog/catalog.js';
import type { SchemaChecks } from './catalog/check.js';
import type { NamingPreset } from './catalog/names.js';
import type { CatalogTool } from './catalog/tool.js';
import type { LaneResult } from './connection/lane.js';
import { type HeaderParameter, scanHeaderParameters } from './connection/mcp-headers.js';
import { type TurnbuckleError, toTurnbuckleError } from './errors.js';
import type { CallKind, CallSettled, Events } from './events.js';
import { type GuardedCall, guardedCall, type Verdict } from './guarded-call.js';
import { isRecord } from './is-record.js';
import { inRoomOf } from './json/rooms.js';
import { runNative } from './native-call.js';
import { agentOf } from './policy/capabilities.js';
import { CallClock } from './resilience/call-clock.js';
import type { Sender, Sending } from './send.js';
import type { Server } from './server.js';

export interface CallParts {
  readonly catalog: Catalog;
  readonly checks: SchemaChecks;
  readonly events: Events;
  readonly naming: NamingPreset;
  readonly guard: CallGuard;
  readonly sender: Sender;
  /** The same error without secrets. */
  readonly redact: (error: TurnbuckleError) => TurnbuckleError;
  /** The result as the caller may have it; undefined: of a function of the host. */
  readonly clean: <Result extends object>(
    server: Server | undefined,
    result: Result,
  ) => Promise<Result> | Result;
  readonly findServer: (name: string) => Server | undefined;
  readonly serverNames: () => Iterable<string>;
  /** Whether a server lists a prompt of this name. */
  readonly hasPrompt: (server: string, name: string) => Promise<boolean>;
  /** Why a configured server could not be taken on. */
  readonly problemOf: (name: string) => TurnbuckleError | undefined;
  readonly now: () => number;
}

/** A call in flight; what its events are made of. */
interface Invocation extends Verdict {
  readonly requestId: string;
  readonly kind: CallKind;
  server: string;
  tool: string;
  toolName: string;
  readonly callerId: string | undefined;
  readonly run: string | undefined;
  readonly startedAt: number;
  readonly started: number;
  /** How long it may take. */
  readonly clock: CallClock;
  /** How long somebody was asked. */
  waitedMs: number;
  /** The way to the server, once it is on it. */
  sending: Sending | undefined;
  /** Why an answer in the middle of it was not sent. */
  refused: TurnbuckleError | undefined;
  /** The server that it is sent to: by the time it answers, another one may have its name. */
  target: Server | undefined;
  readonly arguments: unknown;
  /** What goes along with them; undefined, nearly always, when nothing does. */
  beside: GuardedCall['beside'];
}

export class Calls {
  readonly #parts: CallParts;
  readonly #names: CallNames;
  readonly #headerParameters = new WeakMap<CatalogTool, readonly HeaderParameter[]>();
  readonly #prefix = Math.floor(Math.random() * 36 ** 6).toString(36);
  #count = 0;

  constructor(parts: CallParts) {
    this.#parts = parts;
    this.#names = new CallNames(parts);
  }

  /** The MCP result as the server wrote it, `isError` ones included; throws a TurnbuckleError when there is none. */
  async tool(request: CallRequest): Promise<CallToolResult> {
    const call = this.#begin(
      { kind: 'tool', server: request.server ?? '', tool: request.tool, arguments: request.arguments },
      request,
    );
    try {
      checkOptions(request);
      checkName('The name of the tool', request.tool);
      checkName('The name of the server', request.server);
      const tool = this.#names.find(request) ?? (await this.#names.findByConnecting(call, request));
      if (!isMeant(tool, request)) throw this.#names.unknownTool(request);
      call.server = tool.server;
      call.tool = tool.tool;
      call.toolName = tool.name;
      const { onFound } = request;
      if (onFound !== undefined) this.#parts.events.contain('onFound', () => onFound(tool));
      this.#announce(call);
      const args = request.arguments ?? {};
      // A function of the host gets what JavaScript makes of them.
      const beside = besideOf(request);
      call.beside = beside;
      const sent = { arguments: args, beside };
      const exactly = tool.native ? args : this.#parts.guard.exactly(sent, call, request.caller);
      const guarded = guardedCall(call, request, {
        method: undefined,
        definition: tool,
        arguments: args,
        beside,
        exactly: exactly instanceof Promise ? await exactly : exactly,
        unknown: () => this.#names.unknownTool(request),
      });
      const asked = this.#parts.guard.check(guarded);
      if (asked !== undefined) await untilAnswered(call, asked);
      if (!this.#parts.checks.loaded) await this.#parts.checks.load();
      checkArguments(this.#parts.checks, guarded.definition ?? tool, args);
      const received = tool.native
        ? await this.#runNative(call, guarded, request)
        : await this.#sendTool(call, guarded, request);
      if (call.refused !== undefined) throw call.refused;
      checkResult(this.#parts.checks, guarded.definition ?? tool, received);
      const cleaned = this.#clean(call.target, received);
      const result = cleaned instanceof Promise ? await cleaned : cleaned;
      const settling = this.#settleInTurn(call, result);
      if (settling !== undefined) await settling;
      return result;
    } catch (thrown) {
      const failure = call.refused ?? thrown;
      throw await this.#settleFailed(call, await this.#names.asIfAbsent(call, failure, request));
    }
  }

  /** Reads a resource or gets a prompt, with the same decision, limits, healing and record as a tool call. */
  async read(request: ReadRequest): Promise<LaneResult> {
    const call = this.#begin(
      { kind: request.kind, server: request.server, tool: request.item, arguments: request.params },
      request,
    );
    try {
      checkOptions(request);
      checkName('The name of the server', request.server);
      checkName(NAMES[request.kind], request.item);
      checkName('The method', request.method);
      const unknown = (): TurnbuckleError => unknownItem(request);
      const server = this.#names.knownServer(call, { caller: request.caller, unknown });
      this.#announce(call);
      const beside = besideOf(request, methodSaid(request));
      call.beside = beside;
      const args = request.implied === undefined ? request.params : { ...request.implied, ...request.params };
      const sent = { arguments: args, beside };
      const exactly = this.#parts.guard.exactly(sent, call, request.caller);
      const guarded = guardedCall(call, request, {
        method: request.method,
        definition: request.task && this.#parts.catalog.find(request.server, request.item),
        permit: request.task?.permit,
        arguments: args,
        beside,
        exactly: exactly instanceof Promise ? await exactly : exactly,
        unknown,
      });
      const asked = this.#parts.guard.check(guarded);
      if (asked !== undefined) await untilAnswered(call, asked);
      call.target = server;
      call.sending = {
        method: request.method,
        params: withMeta(request.params, request),
        safe: request.task?.isSafe ?? request.kind !== 'tool',
        options: this.#withConfirmed(call, guarded, request),
        clock: call.clock,
        confirm: () => {
          const again = this.#parts.guard.checkAgain(guarded);
          return again && untilAnswered(call, again);
        },
        onProgress: this.#listen(call, request),
        attempts: 0,
      };
      const received = await this.#parts.sender.send(server, call.sending);
      if (call.refused !== undefined) throw call.refused;
      const result = await this.#clean(server, received);
      await this.#settleInTurn(call, result);
      return result;
    } catch (thrown) {
      const isMissing = call.refused === undefined && (await this.#isMissing(call, thrown, request));
      const failure = call.refused ?? (isMissing ? unknownItem(request, thrown) : thrown);
      throw await this.#settleFailed(
        call,
        await this.#names.asIfAbsent(call, failure, { ...request, tool: request.item }),
      );
    }
  }

  /** Servers have no word of their own for a prompt that they do not have, only for params that are wrong. */
  async #isMissing(call: Invocation, thrown: unknown, request: ReadRequest): Promise<boolean> {
    if (!isMissing(thrown, request)) return false;
    const { method, server, item, signal } = request;
    if (method !== 'prompts/get') return true;
    const looking = this.#parts.hasPrompt(server, item);
    const waiting = { what: 'the list of its prompts', server, signal };
    return !(await call.clock.until(looking, waiting).catch(() => true));
  }

  // --- connect and send ------------------------------------------------------------------------------

  #sendTool(call: Invocation, guarded: GuardedCall, request: CallRequest): Promise<CallToolResult> {
    const { definition: tool, arguments: args } = guarded;
    const server = this.#parts.findServer(guarded.server);
    if (tool === undefined || server === undefined)
      throw unknownServer(guarded.server, this.#parts.serverNames());
    call.target = server;
    call.sending = {
      method: 'tools/call',
      params: withMeta({ name: tool.tool, arguments: args }, request),
      safe: isSafe(server, tool),
      options: this.#withConfirmed(call, guarded, request),
      clock: call.clock,
      headerParameters: this.#headersOf(tool),
      headerArguments: args,
      confirm: () => this.#confirm(call, guarded),
      onProgress: this.#listen(call, request),
      attempts: 0,
    };
    // The structure we rely on is checked in call-checks.ts; the rest is the server's and passes as it is.
    return this.#parts.sender.send(server, call.sending) as Promise<CallToolResult>;
  }

  /** What its agent answers in the middle of it is held to the same rules. */
  #withConfirmed(call: Invocation, guarded: GuardedCall, request: CallOptions): CallOptions {
    const { respondent, caller } = request;
    if (respondent === undefined || agentOf(caller) === undefined) return request;
    return withConfirmed(request, respondent, (answer) =>
      this.#parts.guard.checkAnswer(guarded, answer).catch((thrown: unknown) => {
        call.refused ??= toTurnbuckleError(thrown);
        throw thrown;
      }),
    );
  }

  /**
   * The last word before anything leaves: what was decided holds for what is there now. The tool may have become
   * another since, by a reconnect or a new list, and the rules too.
   */
  #confirm(call: Invocation, guarded: GuardedCall): Promise<void> | undefined {
    const { definition: before } = guarded;
    const asked = this.#parts.guard.checkAgain(guarded);
    if (asked !== undefined) return untilAnswered(call, asked).then(() => this.#adopt(call, guarded, before));
    return this.#adopt(call, guarded, before);
  }

  /** Takes the tool for what it has become. */
  #adopt(call: Invocation, guarded: GuardedCall, before: CatalogTool | undefined): undefined {
    const { definition: tool, arguments: args } = guarded;
    if (tool === undefined || tool === before) return;
    checkArguments(this.#parts.checks, tool, args);
    const server = this.#parts.findServer(tool.server);
    if (call.sending === undefined || server === undefined) return;
    call.sending.safe = isSafe(server, tool);
    call.sending.headerParameters = this.#headersOf(tool);
  }

  #headersOf(tool: CatalogTool): readonly HeaderParameter[] {
    const known = this.#headerParameters.get(tool);
    if (known !== undefined) return known;
    const scan = scanHeaderParameters(tool.inputSchema);
    const parameters = 'parameters' in scan ? scan.parameters : [];
    this.#headerParameters.set(tool, parameters);
    return parameters;
  }

  async #runNative(call: Invocation, guarded: GuardedCall, request: CallRequest): Promise<CallToolResult> {
    await this.#confirm(call, guarded);
    const native = this.#parts.catalog.nativeTool(guarded.tool);
    if (native === undefined) throw this.#names.unknownTool(request);
    const { signal, caller } = request;
    const { leftMs } = call.clock;
    const over = leftMs === Number.POSITIVE_INFINITY ? undefined : new AbortController();
    const signals = [signal && toAbortSignal(signal), over?.signal].filter((one) => one !== undefined);
    const running = runNative(native, guarded.arguments, {
      signal: signals.length > 1 ? AbortSignal.any(signals) : signals[0],
      callerId: caller?.id,
      caller,
    });
    if (over === undefined) return running;
    // There is no silence to it, only an end.
    const clock = new CallClock({ maxTotalMs: Math.max(leftMs, 0) });
    const waiting = { what: `the tool "${guarded.tool}"`, begun: true };
    return clock.until(running, waiting).finally(() => over.abort());
  }

  #clean<Result extends object>(server: Server | undefined, received: Result): Promise<Result> | Result {
    return inRoomOf(received, () => {
      const turn = giveWay(received);
      const { clean } = this.#parts;
      return turn === undefined ? clean(server, received) : turn.then(() => clean(server, received));
    });
  }

  // --- settle ----------------------------------------------------------------------------------------

  /** A name for a call that has none. */
  nextRequestId(): string {
    this.#count += 1;
    return `${this.#prefix}-${this.#count}`;
  }

  #begin(
    what: Pick<Invocation, 'kind' | 'server' | 'tool' | 'arguments'>,
    { requestId, caller, timeoutMs, maxTotalMs }: CallOptions,
  ): Invocation {
    return {
      requestId: requestId ?? this.nextRequestId(),
      kind: what.kind,
      server: toldName(what.server),
      tool: toldName(what.tool),
      toolName: toldName(what.tool),
      callerId: agentOf(caller)?.id,
      run: caller?.run,
      startedAt: this.#parts.now(),
      started: performance.now(),
      clock: new CallClock({ timeoutMs, maxTotalMs }),
      waitedMs: 0,
      sending: undefined,
      refused: undefined,
      target: undefined,
      arguments: what.arguments,
      beside: undefined,
      decision: undefined,
      reason: undefined,
      remembered: false,
    };
  }

  #announce(call: Invocation): void {
    if (!this.#parts.events.has('call.started')) return;
    const { requestId, server, tool, toolName, callerId, kind, startedAt } = call;
    this.#parts.events.emit('call.started', { requestId, server, tool, toolName, callerId, kind, startedAt });
  }

  /** Progress is for the caller and for whoever listens to the runtime. */
  #listen(call: Invocation, { onProgress }: CallOptions): Sending['onProgress'] {
    return (progress) => {
      if (onProgress !== undefined) this.#parts.events.contain('onProgress', () => onProgress(progress));
      const { requestId, server, tool } = call;
      this.#parts.events.emit('call.progress', { requestId, server, tool, ...progress });
    };
  }

  /** The log takes secrets out of what it keeps: when much is settled at once, others get a turn in between. */
  #settleInTurn(call: Invocation, result: unknown, error?: TurnbuckleError): Promise<void> | void {
    const settle = (): void => this.#settle(call, result, error);
    return this.#parts.events.has('call.settled') ? inTurn([call.arguments, result], settle) : settle();
  }

  #settle(call: Invocation, result: unknown, error: TurnbuckleError | undefined): void {
    const { waitedMs } = call;
    const durationMs = performance.now() - call.started - waitedMs;
    const toolFailed = isRecord(result) && result.isError === true;
    const { events, findServer, now } = this.#parts;
    const found = call.target ?? findServer(call.server);
    found?.stats.record(error === undefined && !toolFailed, durationMs, now());
    if (!events.has('call.settled')) return;
    const { requestId, server, tool, toolName, callerId, kind, startedAt, run } = call;
    const outcome: CallSettled['outcome'] = error !== undefined ? 'failed' : toolFailed ? 'tool-error' : 'ok';
    events.emit('call.settled', {
      requestId,
      server,
      tool,
      toolName,
      callerId,
      kind,
      startedAt,
      attempts: call.sending?.attempts ?? 0,
      durationMs,
      waitedMs,
      outcome,
      error,
      run,
      era: found?.connection.link?.era,
      arguments: call.arguments,
      alsoSent: call.beside && sentBeside(call.beside),
      result,
      decision: call.decision,
      reason: call.reason,
      remembered: call.remembered,
    });
  }

  async #settleFailed(call: Invocation, thrown: unknown): Promise<TurnbuckleError> {
    const own = toTurnbuckleError(thrown);
    // Where a tool that is unknown to its caller would have been is not for the caller to learn.
    const error = this.#parts.redact(own.code === 'TOOL_UNKNOWN' ? own : own.during(call));
    await this.#settleInTurn(call, undefined, error);
    return error;
  }
}

const NAMES: Readonly<Record<CallKind, string>> = {
  tool: 'The name of the tool',
  resource: 'The address of the resource',
  prompt: 'The name of the prompt',
};

/** Doing it twice does no harm, by a word that is trusted. */
const isSafe = ({ config }: Server, { annotations }: CatalogTool): boolean =>
  config.trusted && (annotations?.idempotentHint === true || annotations?.readOnlyHint === true);

const isMeant = ({ server, tool }: CatalogTool, { onlyFor }: CallRequest): boolean =>
  onlyFor === undefined || (onlyFor.server === server && onlyFor.tool === tool);

/** A person's time is none of the call's. */
async function untilAnswered(call: Invocation, asked: Promise<void>): Promise<void> {
  const from = performance.now();
  try {
    await asked;
  } finally {
    const waitedMs = performance.now() - from;
    call.waitedMs += waitedMs;
    call.clock.leaveOut(waitedMs);
  }
}
