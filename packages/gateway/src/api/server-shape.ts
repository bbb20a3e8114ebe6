/** A server as the API tells it. */
import { basename } from 'node:path';
import { type ConfiguredRuntime, redactConfig, type ServerStatus } from 'turnbuckle';
import * as z from 'zod/mini';
import { cleanTexts, toFault } from './clean.js';
import { ANYTHING, FAULT, ORIGIN, TOOL } from './shapes.js';

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

/** Where it is written; the file is told to who may manage it. */
const PLACE = z.object({ ...ORIGIN.shape, file: z.optional(z.string()) });

export const SERVER_SUMMARY = z.object(SUMMARY);

export const SERVER = z.object({
  ...SUMMARY,
  era: z.optional(z.enum(['legacy', 'modern'])),
  protocolVersion: z.optional(z.string()),
  serverInfo: z.optional(z.object({ name: z.string(), version: z.string() })),
  capabilities: z.optional(ANYTHING),
  instructions: z.optional(z.string()),
  /** What is in effect, and where it is written. Values that can be secrets are hidden. */
  config: z.optional(ANYTHING),
  entry: z.optional(ANYTHING),
  origin: z.optional(PLACE),
  shadowed: z.optional(z.array(PLACE)),
  tools: z.array(
    z.object({ name: z.string(), description: z.optional(z.string()), annotations: TOOL.shape.annotations }),
  ),
  pid: z.optional(z.number()),
  sandbox: z.optional(z.unknown()),
  stderr: z.optional(z.string()),
  lastPing: z.optional(z.object({ at: z.number(), ok: z.boolean(), ms: z.number() })),
  lastAnswerAt: z.optional(z.number()),
  recentErrors: z.array(z.object({ at: z.number(), code: z.string(), message: z.string() })),
});

/** What the reader may be told: whether also where the files of the configuration lie. */
interface Told {
  readonly hasFiles: boolean;
}

/** One line of a list. */
export function toSummary(status: ServerStatus, configured: ConfiguredRuntime, told: Told): unknown {
  return cleanTexts(summaryOf(status), cleanerFor(status.name, configured, told));
}

/** Texts without secrets and, to who may not manage, with no more of the configuration's files than their names. */
function cleanerFor(name: string, { runtime, config }: ConfiguredRuntime, { hasFiles }: Told) {
  const written = hasFiles ? undefined : config().servers.get(name);
  const files = written === undefined ? [] : [written.origin, ...written.shadowed].map(({ file }) => file);
  return (value: unknown): unknown =>
    files.reduce((text, file) => text.replaceAll(file, basename(file)), String(runtime.redact(value)));
}

/** All there is to tell of one. */
export function toServer(status: ServerStatus, configured: ConfiguredRuntime, told: Told): unknown {
  const { era, protocolVersion, serverInfo, capabilities, instructions, tools, pid, sandbox } = status;
  const { stderr, lastPing, lastAnswerAt, recentErrors } = status;
  const written = configured.config().servers.get(status.name);
  const whole = {
    ...summaryOf(status),
    ...{ era, protocolVersion, serverInfo, capabilities, instructions, tools, pid, sandbox },
    ...{ stderr, lastPing, lastAnswerAt, recentErrors },
    config: status.config,
    entry: written && redactConfig(written.entry),
    origin: written && placeOf(written.origin, told),
    shadowed: written?.shadowed.map((origin) => placeOf(origin, told)),
  };
  return cleanTexts(whole, cleanerFor(status.name, configured, told));
}

function placeOf<Origin extends { readonly file: string }>(origin: Origin, { hasFiles }: Told): object {
  const { file, ...rest } = origin;
  return hasFiles ? origin : rest;
}

function summaryOf(status: ServerStatus): Record<string, unknown> {
  const { name, state, scope, transport, flags, calls, breaker } = status;
  const description = status.config?.description;
  return {
    ...{ name, status: status.status, state, scope, transport },
    description: typeof description === 'string' ? description : undefined,
    toolCount: status.tools.length,
    flags,
    error: toFault(status.error),
    problem: toFault(status.problem),
    ...{ calls, breaker },
  };
}
