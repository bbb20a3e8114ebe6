/** What is told of the data of an error: what programs can use, and nothing about the inside of this machine. */

import * as z from 'zod/mini';

/** Those that `docs/errors.md` names and that hold no path, no process and no output of one. */
export const ERROR_DATA = z.object({
  /** What is wrong with which argument, or which key of the body. */
  faults: z.optional(z.unknown()),
  /** The same for the configuration of a server. */
  problems: z.optional(z.unknown()),
  /** What the tool answered, where that does not fit its own schema. */
  result: z.optional(z.unknown()),
  /** The scopes that a sign-in has to ask for. */
  scope: z.optional(z.unknown()),
  /** False: the request certainly did not arrive. */
  sent: z.optional(z.unknown()),
  /** The HTTP status that the server answered with. */
  status: z.optional(z.unknown()),
  /** The JSON-RPC error of the server. */
  rpc: z.optional(z.unknown()),
  /** The question that a call waits for, and until when it can be answered. */
  approval: z.optional(z.string()),
  expiresAt: z.optional(z.string()),
  /** How long to wait, if that is known. */
  retryAfterMs: z.optional(z.number()),
});

export type SafeData = z.output<typeof ERROR_DATA>;

const KEYS = Object.keys(ERROR_DATA.shape);

/** Undefined when there is nothing to tell. */
export function toSafeData(data: Readonly<Record<string, unknown>> | undefined): SafeData | undefined {
  if (data === undefined) return undefined;
  const told = KEYS.filter((key) => data[key] !== undefined);
  return told.length === 0 ? undefined : Object.fromEntries(told.map((key) => [key, data[key]]));
}

/** For the header that says when to come again; undefined when nobody knows. */
export function retryAfterSeconds({ retryAfterMs }: SafeData = {}): number | undefined {
  return typeof retryAfterMs === 'number' ? Math.max(Math.ceil(retryAfterMs / 1_000), 1) : undefined;
}
