/** A server as the API tells it. */
import type { ConfiguredRuntime, ServerStatus } from 'turnbuckle';
import { redactConfig } from 'turnbuckle/host';
import * as z from 'zod/mini';
import { errorDataFor, HIDDEN_ERROR_MESSAGE, redactTexts } from '../../http/redact.js';
import type { RequestContext } from '../../http/request-context.js';
import { ANY_OBJECT, FAULT, ORIGIN, TOOL } from './shapes.js';

const SUMMARY = {
  name: z.string(),
  status: z.enum(['connected', 'failed', 'needs-auth', 'pending', 'disabled']),
  state: z.enum(['disconnected', 'connecting', 'connected', 'reconnecting', 'error']),
  scope: z.optional(z.string()),
  transport: z.optional(z.string()),
  description: z.optional(z.string()),
  toolCount: z.number(),
  flags: z.array(z.string()),
  error: z.optional(FAULT),
  problem: z.optional(FAULT),
  calls: z.object({
    total: z.number(),
    succeeded: z.number(),
    failed: z.number(),
    averageMs: z.optional(z.number()),
    lastUsedAt: z.optional(z.number()),
  }),
  breaker: z.string(),
};

export const SERVER_SUMMARY = z.object(SUMMARY);

export const SERVER = z.object({
  ...SUMMARY,
  era: z.optional(z.enum(['legacy', 'modern'])),
  protocolVersion: z.optional(z.string()),
  serverInfo: z.optional(z.object({ name: z.string(), version: z.string() })),
  capabilities: z.optional(ANY_OBJECT),
  instructions: z.optional(z.string()),
  /** For who may manage it: what is in effect, and where it is written. Values that can be secrets are hidden. */
  config: z.optional(ANY_OBJECT),
  entry: z.optional(ANY_OBJECT),
  origin: z.optional(ORIGIN),
  shadowed: z.optional(z.array(ORIGIN)),
  tools: z.array(
    z.object({ name: z.string(), description: z.optional(z.string()), annotations: TOOL.shape.annotations }),
  ),
  /** What of its lists cannot be used, or was too much. */
  leftOut: z.array(z.string()),
  /** The process, for who may manage it. */
  pid: z.optional(z.number()),
  sandbox: z.optional(z.unknown()),
  stderr: z.optional(z.string()),
  lastPing: z.optional(z.object({ at: z.number(), ok: z.boolean(), ms: z.number() })),
  lastAnswerAt: z.optional(z.number()),
  recentErrors: z.array(z.object({ at: z.number(), code: z.string(), message: z.string() })),
});

/** Who looks: what a server is started with, and what its process says, is for who manages it. */
export interface ReaderAccess {
  readonly isManager: boolean;
}

export const readerAccessOf = ({ identity }: RequestContext): ReaderAccess => ({
  isManager: identity.access.has('admin'),
});

/** One line of a list. */
export function toSummary(
  status: ServerStatus,
  { runtime }: ConfiguredRuntime,
  reader: ReaderAccess,
): Promise<unknown> {
  return redactTexts(summaryOf(status, reader), runtime);
}

/** All there is to tell of one. */
export function toServer(
  status: ServerStatus,
  configured: ConfiguredRuntime,
  reader: ReaderAccess,
): Promise<unknown> {
  const { era, protocolVersion, serverInfo, capabilities, instructions, tools } = status;
  const { lastPing, lastAnswerAt, recentErrors, leftOut } = status;
  const whole = {
    ...summaryOf(status, reader),
    ...{
      era,
      protocolVersion,
      serverInfo,
      capabilities,
      instructions,
      tools,
      leftOut,
      lastPing,
      lastAnswerAt,
    },
    recentErrors: recentErrors.map((error) =>
      reader.isManager ? error : { ...error, message: HIDDEN_ERROR_MESSAGE },
    ),
    ...(reader.isManager && managerDetails(status, configured)),
  };
  return redactTexts(whole, configured.runtime);
}

function managerDetails({ name, config, pid, sandbox, stderr }: ServerStatus, configured: ConfiguredRuntime) {
  const written = configured.config().servers.get(name);
  return {
    ...{ config, pid, sandbox, stderr },
    entry: written && redactConfig(written.entry),
    origin: written?.origin,
    shadowed: written?.shadowed,
  };
}

function summaryOf(status: ServerStatus, reader: ReaderAccess): Record<string, unknown> {
  const { name, state, scope, transport, flags, calls, breaker } = status;
  const description = status.config?.description;
  return {
    ...{ name, status: status.status, state, scope, transport },
    description: typeof description === 'string' ? description : undefined,
    toolCount: status.tools.length,
    flags,
    error: errorDataFor(status.error, reader),
    problem: errorDataFor(status.problem, reader),
    ...{ calls, breaker },
  };
}
