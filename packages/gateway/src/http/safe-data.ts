/** The part of an error's data that is sent: what programs can use, without internals of this machine. */

import * as z from 'zod/mini';

/** Keys that `docs/errors.md` documents, and that hold no paths, process ids or process output. */
export const ERROR_DATA = z.object({
  /** Which argument, or which key of the body, is invalid and why. */
  faults: z.optional(z.unknown()),
  /** The same for the configuration of a server. */
  problems: z.optional(z.unknown()),
  /** The result of the tool, if it does not match the tool's output schema. */
  result: z.optional(z.unknown()),
  /** The scopes to sign in with. */
  scope: z.optional(z.unknown()),
  /** False: the request certainly did not arrive. */
  sent: z.optional(z.unknown()),
  /** The HTTP status that the server returned. */
  status: z.optional(z.unknown()),
  /** The JSON-RPC error of the server. */
  rpc: z.optional(z.unknown()),
  /** The approval that a call waits for, and when it expires. */
  approval: z.optional(z.string()),
  expiresAt: z.optional(z.string()),
  /** How long to wait, if known. */
  retryAfterMs: z.optional(z.number()),
});

export type SafeData = z.output<typeof ERROR_DATA>;

const KEYS = Object.keys(ERROR_DATA.shape);

/** Undefined if there is nothing to send. */
export function toSafeData(data: Readonly<Record<string, unknown>> | undefined): SafeData | undefined {
  if (data === undefined) return undefined;
  const keys = KEYS.filter((key) => data[key] !== undefined);
  return keys.length === 0 ? undefined : Object.fromEntries(keys.map((key) => [key, data[key]]));
}

/** For the Retry-After header; undefined if unknown. */
export function retryAfterSeconds({ retryAfterMs }: SafeData = {}): number | undefined {
  return typeof retryAfterMs === 'number' ? Math.max(Math.ceil(retryAfterMs / 1_000), 1) : undefined;
}
