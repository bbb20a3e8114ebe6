/**
 * The single path of a call to a server: resolve, authorize, validate, connect, send, settle. The order of the steps
 * is a security property; there is no other way to a server.
 */

import type { CallToolResult } from '@modelcontextprotocol/client';
import { toAbortSignal } from '../async/cancel-signal.js';
import type { Catalog } from '../catalog/catalog.js';
import type { NamingPreset } from '../catalog/names.js';
import type { SchemaChecks } from '../catalog/schemas/schema-checks.js';
import type { CatalogTool } from '../catalog/tool.js';
import type { LaneResult } from '../connection/lanes/lane.js';
import { type HeaderParameter, scanHeaderParameters } from '../connection/transports/http/mcp-headers.js';
import type { Energy } from '../energy/energy.js';
import type { TurnbuckleError } from '../errors.js';
import type { CallKind, Events } from '../events.js';
import { withReservationOf } from '../json/memory-budget.js';
import { CallClock } from '../resilience/call-clock.js';
import type { Server } from '../servers/server.js';
import { unknownServer } from '../servers/server-errors.js';
import type { CallAuthorizer } from './authorization/authorize.js';
import { AuthorizedCall } from './authorization/authorized-call.js';
import { withGuardedAnswers } from './authorization/guarded-answers.js';
import { guardedCall } from './authorization/guarded-call.js';
import type { Visibility } from './authorization/visibility.js';
import { isNotFound, unknownItem } from './call-errors.js';
import {
  type CallRequest,
  callerMethod,
  checkName,
  checkOptions,
  extrasOf,
  nestedOptions,
  type ReadRequest,
  type RefusedCall,
  withMeta,
} from './call-request.js';
import { type Invocation, Invocations } from './invocation.js';
import { runNative } from './native-call.js';
import { CallResolver } from './resolve.js';
import type { Sender } from './sending/send.js';
import { checkArguments, checkResult, yieldIfLarge } from './validate.js';

export interface CallParts {
  readonly catalog: Catalog;
  readonly checks: SchemaChecks;
  readonly events: Events;
  readonly naming: NamingPreset;
  readonly authorizer: CallAuthorizer;
  readonly visibility: Visibility;
  readonly sender: Sender;
  /** The same error, redacted. */
  readonly redact: (error: TurnbuckleError) => TurnbuckleError;
  /** Redacts the result for the caller; the server is undefined for native tools. */
  readonly redactResult: <Result extends object>(
    server: Server | undefined,
    result: Result,
  ) => Promise<Result> | Result;
  readonly findServer: (name: string) => Server | undefined;
  readonly serverNames: () => Iterable<string>;
  /** Whether a server lists this prompt. */
  readonly hasPrompt: (server: string, name: string) => Promise<boolean>;
  /** Why a configured server is unusable. */
  readonly problemOf: (name: string) => TurnbuckleError | undefined;
  readonly now: () => number;
  /** Meters calls; undefined: they have no cost. */
  readonly energy: Energy | undefined;
}

type Arguments = Readonly<Record<string, unknown>>;

export class Calls {
  readonly #parts: CallParts;
  readonly #resolver: CallResolver;
  readonly #invocations: Invocations;
  readonly #headerParameters = new WeakMap<CatalogTool, readonly HeaderParameter[]>();

  constructor(parts: CallParts) {
    this.#parts = parts;
    this.#resolver = new CallResolver(parts);
    this.#invocations = new Invocations(parts);
  }

  /** Generates a request id. */
  nextRequestId(): string {
    return this.#invocations.nextRequestId();
  }

  /**
   * The MCP result exactly as the server sent it, including `isError` results; throws a TurnbuckleError if there is
   * none.
   */
  async tool(request: CallRequest): Promise<CallToolResult> {
    const call = this.#invocations.begin(
      { kind: 'tool', server: request.server ?? '', tool: request.tool, arguments: request.arguments },
      request,
    );
    try {
      checkOptions(request);
      checkName('The tool name', request.tool);
      checkName('The server name', request.server);
      const tool = this.#resolver.find(request) ?? (await this.#resolver.findByConnecting(call, request));
      if (!matchesExpectedTool(tool, request)) throw this.#resolver.unknownTool(request);
      call.server = tool.server;
      call.tool = tool.tool;
      call.toolName = tool.name;
      const { onResolved } = request;
      if (onResolved !== undefined) this.#parts.events.runSafely('onResolved', () => onResolved(tool));
      this.#invocations.announce(call);
      const args = request.arguments ?? {};
      // Native tools get plain JavaScript numbers.
      const extras = extrasOf(request);
      call.extras = extras;
      const sent = { arguments: args, extras };
      const exactly = tool.native
        ? args
        : this.#parts.authorizer.prepareArguments(sent, call, request.caller);
      const guarded = guardedCall(call, request, {
        method: undefined,
        definition: tool,
        arguments: args,
        extras,
        exactArguments: exactly instanceof Promise ? await exactly : exactly,
      });
      const unknownError = (): TurnbuckleError => this.#resolver.unknownTool(request);
      const authorized = new AuthorizedCall({
        authorizer: this.#parts.authorizer,
        call,
        guarded,
        unknownError,
      });
      const asked = authorized.ensureGranted();
      if (asked !== undefined) await asked;
      if (!this.#parts.checks.loaded) await this.#parts.checks.load();
      checkArguments(this.#parts.checks, authorized.definition ?? tool, args);
      const received = tool.native
        ? await this.#runNative(call, authorized, request)
        : await this.#sendTool(call, authorized, request);
      if (call.answerError !== undefined) throw call.answerError;
      checkResult(this.#parts.checks, authorized.definition ?? tool, received);
      const cleaned = this.#redactResult(call.target, received);
      const result = cleaned instanceof Promise ? await cleaned : cleaned;
      const settling = this.#invocations.settle(call, result);
      if (settling !== undefined) await settling;
      return result;
    } catch (thrown) {
      const failure = call.answerError ?? thrown;
      throw await this.#invocations.fail(call, await this.#resolver.maskExistence(call, failure, request));
    }
  }

  /** Records a call that is refused before it can be resolved. */
  async refuse(
    { kind, server = '', item, arguments: args, caller }: RefusedCall,
    thrown: unknown,
  ): Promise<void> {
    const call = this.#invocations.begin({ kind, server, tool: item, arguments: args }, { caller });
    await this.#invocations.fail(call, thrown);
  }

  /** Reads a resource or gets a prompt, with the same decision, limits, recovery and record as a tool call. */
  async read(request: ReadRequest): Promise<LaneResult> {
    const call = this.#invocations.begin(
      { kind: request.kind, server: request.server, tool: request.item, arguments: request.params },
      request,
    );
    try {
      checkReadRequest(request);
      const unknownError = (): TurnbuckleError => unknownItem(request);
      const server = this.#resolver.requireVisibleServer(call, {
        caller: request.caller,
        unknown: unknownError,
      });
      this.#invocations.announce(call);
      const extras = extrasOf(request, callerMethod(request));
      call.extras = extras;
      const args = request.implied === undefined ? request.params : { ...request.implied, ...request.params };
      const sent = { arguments: args, extras };
      const exactly = this.#parts.authorizer.prepareArguments(sent, call, request.caller);
      const guarded = guardedCall(call, request, {
        method: request.method,
        definition: request.task && this.#parts.catalog.find(request.server, request.item),
        permit: request.task?.permit,
        arguments: args,
        extras,
        exactArguments: exactly instanceof Promise ? await exactly : exactly,
      });
      const authorized = new AuthorizedCall({
        authorizer: this.#parts.authorizer,
        call,
        guarded,
        unknownError,
        isSubscription: request.follow !== undefined,
      });
      const asked = authorized.ensureGranted();
      if (asked !== undefined) await asked;
      call.target = server;
      call.outgoing = {
        follow: request.follow,
        method: request.method,
        params: withMeta(request.params, request),
        isRetrySafe: request.task?.isSafe ?? request.kind !== 'tool',
        options: withGuardedAnswers(request, authorized),
        clock: call.clock,
        confirm: () => authorized.reauthorize(),
        onProgress: this.#invocations.progressListener(call, request),
        attempts: 0,
      };
      const received = await this.#parts.sender.send(server, call.outgoing);
      if (call.answerError !== undefined) throw call.answerError;
      const result = await this.#redactResult(server, received);
      await this.#invocations.settle(call, result);
      return result;
    } catch (thrown) {
      throw await this.#failRead(call, thrown, request);
    }
  }

  async #failRead(call: Invocation, thrown: unknown, request: ReadRequest): Promise<TurnbuckleError> {
    const isAbsent = call.answerError === undefined && (await this.#isNotFound(call, thrown, request));
    const failure = call.answerError ?? (isAbsent ? unknownItem(request, thrown) : thrown);
    // A refused subscription opens no connection.
    const shown = request.follow
      ? failure
      : await this.#resolver.maskExistence(call, failure, { ...request, tool: request.item });
    return this.#invocations.fail(call, shown);
  }

  /** Servers have no specific error code for an unknown prompt, only for invalid params. */
  async #isNotFound(call: Invocation, thrown: unknown, request: ReadRequest): Promise<boolean> {
    if (!isNotFound(thrown, request)) return false;
    const { method, server, item, signal } = request;
    if (method !== 'prompts/get') return true;
    const looking = this.#parts.hasPrompt(server, item);
    const waiting = { what: 'its prompt list', server, signal };
    return !(await call.clock.until(looking, waiting).catch(() => true));
  }

  // --- connect and send ------------------------------------------------------------------------------

  #sendTool(call: Invocation, authorized: AuthorizedCall, request: CallRequest): Promise<CallToolResult> {
    const { definition: tool } = authorized;
    const { arguments: args = {} } = request;
    const server = this.#parts.findServer(call.server);
    if (tool === undefined || server === undefined)
      throw unknownServer(call.server, this.#parts.serverNames());
    call.target = server;
    call.outgoing = {
      method: 'tools/call',
      params: withMeta({ name: tool.tool, arguments: args }, request),
      isRetrySafe: isRetrySafe(server, tool),
      options: withGuardedAnswers(request, authorized),
      clock: call.clock,
      headerParameters: this.#headersOf(tool),
      headerArguments: args,
      confirm: () => this.#reauthorize(call, authorized, args),
      onProgress: this.#invocations.progressListener(call, request),
      attempts: 0,
    };
    // validate.ts checks the structure that we rely on; the rest passes unchanged.
    return this.#parts.sender.send(server, call.outgoing) as Promise<CallToolResult>;
  }

  /**
   * The last check before sending: the decision must hold for the current state. The tool or the rules may have
   * changed since, for example after a reconnect or a new list.
   */
  #reauthorize(call: Invocation, authorized: AuthorizedCall, args: Arguments): Promise<void> | undefined {
    const { definition: before } = authorized;
    const adopt = (): undefined => {
      if (authorized.definition !== before) this.#useDefinition(call, authorized.definition, args);
    };
    const asked = authorized.reauthorize();
    return asked === undefined ? adopt() : asked.then(adopt);
  }

  /** Uses the current definition of the tool. */
  #useDefinition(call: Invocation, tool: CatalogTool | undefined, args: Arguments): void {
    if (tool === undefined) return;
    checkArguments(this.#parts.checks, tool, args);
    const server = this.#parts.findServer(tool.server);
    if (call.outgoing === undefined || server === undefined) return;
    call.outgoing.isRetrySafe = isRetrySafe(server, tool);
    call.outgoing.headerParameters = this.#headersOf(tool);
  }

  #headersOf(tool: CatalogTool): readonly HeaderParameter[] {
    const known = this.#headerParameters.get(tool);
    if (known !== undefined) return known;
    const scan = scanHeaderParameters(tool.inputSchema);
    const parameters = 'parameters' in scan ? scan.parameters : [];
    this.#headerParameters.set(tool, parameters);
    return parameters;
  }

  async #runNative(
    call: Invocation,
    authorized: AuthorizedCall,
    request: CallRequest,
  ): Promise<CallToolResult> {
    const { arguments: args = {} } = request;
    await this.#reauthorize(call, authorized, args);
    const native = this.#parts.catalog.nativeTool(call.tool);
    if (native === undefined) throw this.#resolver.unknownTool(request);
    const { signal, caller } = request;
    const { leftMs } = call.clock;
    const isUnlimited = leftMs === Number.POSITIVE_INFINITY || native.resourceTool !== undefined;
    const over = isUnlimited ? undefined : new AbortController();
    const signals = [signal && toAbortSignal(signal), over?.signal].filter((one) => one !== undefined);
    const running = runNative(native, args, {
      signal: signals.length > 1 ? AbortSignal.any(signals) : signals[0],
      callerId: caller?.id,
      caller,
      nested: nestedOptions(request, leftMs),
    });
    if (over === undefined) return running;
    // No silence limit applies, only the total limit.
    const clock = new CallClock({ maxTotalMs: Math.max(leftMs, 0) });
    const waiting = { what: `the tool "${call.tool}"`, begun: true };
    return clock.until(running, waiting).finally(() => over.abort());
  }

  #redactResult<Result extends object>(
    server: Server | undefined,
    received: Result,
  ): Promise<Result> | Result {
    return withReservationOf(received, () => {
      const turn = yieldIfLarge(received);
      const { redactResult } = this.#parts;
      return turn === undefined
        ? redactResult(server, received)
        : turn.then(() => redactResult(server, received));
    });
  }
}

function checkReadRequest(request: ReadRequest): void {
  checkOptions(request);
  checkName('The server name', request.server);
  checkName(ITEM_LABELS[request.kind], request.item);
  checkName('The method', request.method);
}

const ITEM_LABELS: Readonly<Record<CallKind, string>> = {
  tool: 'The tool name',
  resource: 'The resource URI',
  prompt: 'The prompt name',
};

/** Safe to repeat, according to trusted annotations. */
const isRetrySafe = ({ config }: Server, { annotations }: CatalogTool): boolean =>
  config.trusted && (annotations?.idempotentHint === true || annotations?.readOnlyHint === true);

const matchesExpectedTool = ({ server, tool }: CatalogTool, { onlyFor }: CallRequest): boolean =>
  onlyFor === undefined || (onlyFor.server === server && onlyFor.tool === tool);
