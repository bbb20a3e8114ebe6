/**
 * The one path of a call, from every surface to a server, straight down: resolve, decide, check, connect,
 * send, settle. The order of the steps is a security property; there is no other way to a server.
 */
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { Catalog } from './catalog/catalog.js';
import type { SchemaChecks } from './catalog/check.js';
import { type NamingPreset, parseToolName, type ToolIdentity } from './catalog/names.js';
import type { CatalogTool } from './catalog/tool.js';
import { nearest } from './config/nearest.js';
import type { LaneResult, Progress } from './connection/lane.js';
import { type HeaderParameter, scanHeaderParameters } from './connection/mcp-headers.js';
import { TurnbuckleError, toTurnbuckleError } from './errors.js';
import type { CallKind, CallSettled, Events } from './events.js';
import { isRecord } from './is-record.js';
import { runNative } from './native-call.js';
import { type Approve, approve } from './policy/approve.js';
import type { Caller } from './policy/capabilities.js';
import { decide, mayKnow, type PolicyOptions } from './policy/decide.js';
import type { Sender } from './send.js';
import type { Server } from './server.js';

export interface CallOptions {
  /** Names the call in events and records; made up when absent. */
  readonly requestId?: string | undefined;
  /** Who asks. Absent: the host itself. */
  readonly caller?: Caller | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Longest silence of the server; progress starts it anew. */
  readonly timeoutMs?: number | undefined;
  /** Longest duration in all. */
  readonly maxTotalMs?: number | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Extra `_meta` for the server. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** A server that asks back is answered by the runtime's handlers, or the question is the result. */
  readonly inputRequired?: 'answer' | 'return' | undefined;
  /** Answers to an earlier question, with the state that came with it. */
  readonly inputResponses?: Readonly<Record<string, unknown>> | undefined;
  readonly requestState?: unknown;
}

export interface CallRequest extends CallOptions {
  /** The name an agent sees; or, with `server`, the tool's name there. */
  readonly tool: string;
  readonly server?: string | undefined;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
}

/** A resource to read or a prompt to get: the same path without a schema. */
export interface ReadRequest extends CallOptions {
  readonly kind: 'resource' | 'prompt';
  readonly server: string;
  readonly method: 'resources/read' | 'prompts/get' | 'completion/complete';
  readonly item: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export interface CallParts {
  readonly catalog: Catalog;
  readonly checks: SchemaChecks;
  readonly events: Events;
  readonly naming: NamingPreset;
  readonly policy: PolicyOptions;
  readonly approve: Approve | undefined;
  readonly approvalTimeoutMs: number;
  readonly sender: Sender;
  readonly findServer: (name: string) => Server | undefined;
  readonly serverNames: () => Iterable<string>;
  readonly now: () => number;
}

/** A call in flight; what its events are made of. */
interface Invocation {
  readonly requestId: string;
  readonly kind: CallKind;
  server: string;
  tool: string;
  toolName: string;
  readonly callerId: string | undefined;
  readonly startedAt: number;
  readonly started: number;
  attempts: number;
  readonly arguments: unknown;
}

export class Calls {
  readonly #parts: CallParts;
  readonly #headerParameters = new WeakMap<CatalogTool, readonly HeaderParameter[]>();
  readonly #prefix = Math.floor(Math.random() * 36 ** 6).toString(36);
  #count = 0;

  constructor(parts: CallParts) {
    this.#parts = parts;
  }

  /** The MCP result as the server wrote it, `isError` ones included; throws a TurnbuckleError when there is none. */
  async tool(request: CallRequest): Promise<CallToolResult> {
    const call = this.#begin(
      { kind: 'tool', server: request.server ?? '', tool: request.tool, arguments: request.arguments },
      request,
    );
    try {
      const tool = this.#find(request) ?? (await this.#findByConnecting(request));
      call.server = tool.server;
      call.tool = tool.tool;
      call.toolName = tool.name;
      this.#announce(call);
      const args = request.arguments ?? {};
      const asked = this.#decide(call, tool, args, request);
      if (asked !== undefined) await asked;
      if (!this.#parts.checks.loaded) await this.#parts.checks.load();
      this.#checkArguments(tool, args);
      const result = tool.native
        ? await this.#runNative(tool, args, request)
        : await this.#sendTool(call, tool, args, request);
      this.#checkResult(tool, result);
      this.#settle(call, result, undefined);
      return result;
    } catch (thrown) {
      throw this.#settleFailed(call, thrown);
    }
  }

  /** Reads a resource or gets a prompt, with the same decision, limits, healing and record as a tool call. */
  async read(request: ReadRequest): Promise<LaneResult> {
    const call = this.#begin(
      { kind: request.kind, server: request.server, tool: request.item, arguments: request.params },
      request,
    );
    try {
      const server = this.#knownServer({ server: request.server, tool: request.item }, request.caller);
      this.#announce(call);
      this.#decideRead(call, request);
      const result = await this.#parts.sender.send(server, {
        method: request.method,
        params: withMeta(request.params, request),
        safe: true,
        options: request,
        onAttempt: (attempt) => {
          call.attempts = attempt;
        },
      });
      this.#settle(call, result, undefined);
      return result;
    } catch (thrown) {
      throw this.#settleFailed(call, thrown);
    }
  }

  // --- resolve ---------------------------------------------------------------------------------------

  #find({ server, tool }: CallRequest): CatalogTool | undefined {
    return server === undefined ? this.#parts.catalog.get(tool) : this.#parts.catalog.find(server, tool);
  }

  /** A tool of a server that is not up yet, or a name that does not exist. */
  async #findByConnecting(request: CallRequest): Promise<CatalogTool> {
    const { catalog, naming } = this.#parts;
    const { server: named, tool, caller } = request;
    const identity = named === undefined ? parseToolName(naming, tool) : { server: named, tool };
    if (identity === undefined) throw this.#unknownTool(tool, caller);
    const server = this.#knownServer(identity, caller);
    if (server.connection.link === undefined) await this.#parts.sender.connect(server, request.signal);
    const found = catalog.find(identity.server, identity.tool);
    if (found === undefined) throw this.#unknownTool(tool, caller, named);
    return found;
  }

  /** The server, if it exists, the caller may know it, and it is switched on. */
  #knownServer(identity: ToolIdentity, caller: Caller | undefined): Server {
    const server = this.#parts.findServer(identity.server);
    const hidden = caller !== undefined && mayKnow(caller, identity, this.#parts.policy).action === 'deny';
    if (server === undefined || hidden) {
      if (caller !== undefined) throw this.#unknownTool(identity.tool, caller);
      throw unknownServer(identity.server, this.#parts.serverNames());
    }
    if (!server.enabled) {
      throw new TurnbuckleError('SERVER_DISABLED', `Server "${server.name}" is switched off.`, {
        server: server.name,
        hint: `Switch it on: toggle("${server.name}", true).`,
      });
    }
    return server;
  }

  #unknownTool(name: string, caller: Caller | undefined, server?: string): TurnbuckleError {
    const { catalog, policy } = this.#parts;
    const visible =
      caller === undefined
        ? catalog.list()
        : catalog.list().filter((tool) => mayKnow(caller, tool, policy).action !== 'deny');
    const candidates =
      server === undefined
        ? visible.map((tool) => tool.name)
        : visible.flatMap((tool) => (tool.server === server ? [tool.tool] : []));
    const close = nearest(name, candidates);
    return new TurnbuckleError(
      'TOOL_UNKNOWN',
      `There is no tool "${name}"${server === undefined ? '' : ` at server "${server}"`}.`,
      {
        tool: name,
        server,
        hint: close === undefined ? 'tools() lists what there is.' : `Did you mean "${close}"?`,
      },
    );
  }

  // --- decide ----------------------------------------------------------------------------------------

  /** Throws when denied; a promise when somebody has to be asked; nothing when allowed. */
  #decide(
    call: Invocation,
    tool: CatalogTool,
    args: Readonly<Record<string, unknown>>,
    request: CallRequest,
  ): Promise<void> | undefined {
    const { policy, approve: ask, approvalTimeoutMs } = this.#parts;
    const readOnlyHint = tool.annotations?.readOnlyHint === true;
    const decision = decide(
      request.caller,
      { server: tool.server, tool: tool.tool, kind: 'tool', readOnlyHint },
      policy,
    );
    this.#tellDecision(call, decision);
    if (decision.action === 'allow') return undefined;
    if (decision.hidden) throw this.#unknownTool(request.tool, request.caller);
    if (decision.action === 'deny') throw denied(tool.name, decision.reason);
    return approve(
      {
        server: tool.server,
        tool: tool.tool,
        toolName: tool.name,
        callerId: request.caller?.id,
        arguments: args,
        annotations: tool.annotations === undefined ? undefined : { ...tool.annotations },
        reason: decision.reason,
      },
      { approve: ask, timeoutMs: approvalTimeoutMs, signal: request.signal },
    );
  }

  #decideRead(call: Invocation, request: ReadRequest): void {
    const { server, item, kind, caller } = request;
    const decision = decide(caller, { server, tool: item, kind, readOnlyHint: true }, this.#parts.policy);
    this.#tellDecision(call, decision);
    if (decision.action !== 'allow') throw denied(item, decision.reason);
  }

  #tellDecision(
    call: Invocation,
    { action, reason }: { action: 'allow' | 'ask' | 'deny'; reason: string },
  ): void {
    const { events } = this.#parts;
    if (!events.has('call.decided')) return;
    events.emit('call.decided', {
      server: call.server,
      tool: call.tool,
      callerId: call.callerId,
      decision: action,
      reason,
    });
  }

  // --- check -----------------------------------------------------------------------------------------

  #checkArguments(tool: CatalogTool, args: unknown): void {
    const faults = this.#parts.checks.checkInput(tool, args);
    if ('fault' in faults) {
      throw new TurnbuckleError(
        'SCHEMA_UNUSABLE',
        `The input schema of "${tool.name}" cannot be used: ${faults.fault}.`,
        {
          server: tool.server,
          tool: tool.tool,
          hint: 'This is a defect of the server; its arguments cannot be checked.',
        },
      );
    }
    if (faults.length === 0) return;
    const text = faults
      .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
      .join('; ');
    throw new TurnbuckleError(
      'ARGUMENTS_INVALID',
      `The arguments of "${tool.name}" do not fit its schema: ${text}.`,
      {
        server: tool.server,
        tool: tool.tool,
        hint: 'Nothing was sent. Correct the named arguments.',
        data: { faults },
      },
    );
  }

  #checkResult(tool: CatalogTool, result: CallToolResult): void {
    const about = { server: tool.server, tool: tool.tool };
    if (result.content !== undefined && !Array.isArray(result.content)) {
      throw new TurnbuckleError(
        'PROTOCOL_VIOLATION',
        `The result of "${tool.name}" has content that is not a list.`,
        about,
      );
    }
    if (tool.outputSchema === undefined || result.isError === true || result.resultType === 'input_required')
      return;
    const faults =
      result.structuredContent === undefined
        ? [{ path: '', message: 'there is no structured content' }]
        : this.#parts.checks.checkOutput(tool, result.structuredContent);
    // A schema that cannot be applied says nothing about the result; the call itself did happen.
    if ('fault' in faults || faults.length === 0) return;
    const text = faults
      .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
      .join('; ');
    throw new TurnbuckleError(
      'RESULT_INVALID',
      `The result of "${tool.name}" does not fit its output schema: ${text}.`,
      {
        ...about,
        hint: 'The tool did run; its whole result is in data.result.',
        data: { faults, result },
      },
    );
  }

  // --- connect and send ------------------------------------------------------------------------------

  async #sendTool(
    call: Invocation,
    tool: CatalogTool,
    args: Readonly<Record<string, unknown>>,
    request: CallRequest,
  ): Promise<CallToolResult> {
    const server = this.#parts.findServer(tool.server);
    if (server === undefined) throw unknownServer(tool.server, this.#parts.serverNames());
    const { trusted } = server.config;
    const result = await this.#parts.sender.send(server, {
      method: 'tools/call',
      params: withMeta({ name: tool.tool, arguments: args }, request),
      safe: trusted && (tool.annotations?.idempotentHint === true || tool.annotations?.readOnlyHint === true),
      options: request,
      headerParameters: this.#headersOf(tool),
      headerArguments: args,
      onAttempt: (attempt) => {
        call.attempts = attempt;
      },
    });
    // The structure we rely on is checked in #checkResult; the rest is the server's and passes as it is.
    return result as CallToolResult;
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
    tool: CatalogTool,
    args: Readonly<Record<string, unknown>>,
    request: CallRequest,
  ): Promise<CallToolResult> {
    const native = this.#parts.catalog.nativeTool(tool.name);
    if (native === undefined) throw this.#unknownTool(tool.name, request.caller);
    return runNative(native, args, { signal: request.signal, callerId: request.caller?.id });
  }

  // --- settle ----------------------------------------------------------------------------------------

  /** A name for a call that has none. */
  nextRequestId(): string {
    this.#count += 1;
    return `${this.#prefix}-${this.#count}`;
  }

  #begin(
    what: Pick<Invocation, 'kind' | 'server' | 'tool' | 'arguments'>,
    { requestId, caller }: CallOptions,
  ): Invocation {
    return {
      requestId: requestId ?? this.nextRequestId(),
      kind: what.kind,
      server: what.server,
      tool: what.tool,
      toolName: what.tool,
      callerId: caller?.id,
      startedAt: this.#parts.now(),
      started: performance.now(),
      attempts: 0,
      arguments: what.arguments,
    };
  }

  #announce(call: Invocation): void {
    if (!this.#parts.events.has('call.started')) return;
    const { requestId, server, tool, toolName, callerId, kind, startedAt } = call;
    this.#parts.events.emit('call.started', { requestId, server, tool, toolName, callerId, kind, startedAt });
  }

  #settle(call: Invocation, result: unknown, error: TurnbuckleError | undefined): void {
    const durationMs = performance.now() - call.started;
    const toolFailed = isRecord(result) && result.isError === true;
    const { events, findServer, now } = this.#parts;
    findServer(call.server)?.stats.record(error === undefined && !toolFailed, durationMs, now());
    if (!events.has('call.settled')) return;
    const { requestId, server, tool, toolName, callerId, kind, startedAt, attempts } = call;
    const outcome: CallSettled['outcome'] = error !== undefined ? 'failed' : toolFailed ? 'tool-error' : 'ok';
    events.emit('call.settled', {
      requestId,
      server,
      tool,
      toolName,
      callerId,
      kind,
      startedAt,
      attempts,
      durationMs,
      outcome,
      error,
      arguments: call.arguments,
      result,
    });
  }

  #settleFailed(call: Invocation, thrown: unknown): TurnbuckleError {
    const error = toTurnbuckleError(thrown).during(call);
    this.#settle(call, undefined, error);
    return error;
  }
}

function withMeta(
  params: Readonly<Record<string, unknown>>,
  { meta, inputResponses, requestState }: CallOptions,
): Readonly<Record<string, unknown>> {
  if (meta === undefined && inputResponses === undefined) return params;
  return {
    ...params,
    ...(meta !== undefined && { _meta: meta }),
    ...(inputResponses !== undefined && { inputResponses }),
    ...(requestState !== undefined && { requestState }),
  };
}

export function unknownServer(name: string, known: Iterable<string>): TurnbuckleError {
  const close = nearest(name, known);
  return new TurnbuckleError('SERVER_UNKNOWN', `There is no server named "${name}".`, {
    server: name,
    hint: close === undefined ? 'status() lists the servers there are.' : `Did you mean "${close}"?`,
  });
}

function denied(name: string, reason: string): TurnbuckleError {
  return new TurnbuckleError('CALL_DENIED', `The call of "${name}" is not allowed: ${reason}.`);
}
