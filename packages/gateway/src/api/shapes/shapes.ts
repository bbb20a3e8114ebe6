/** Parts that several answers have. They describe what is sent; nothing is cut out by them. */
import * as z from 'zod/mini';
import { anyObject } from '../../http/any-object.js';

export const FAULT = z.object({
  code: z.string(),
  message: z.string(),
  hint: z.optional(z.string()),
  server: z.optional(z.string()),
  tool: z.optional(z.string()),
  data: z.optional(z.unknown()),
  time: z.optional(z.string()),
});

export const ORIGIN = z.object({
  scope: z.string(),
  file: z.string(),
  line: z.number(),
  column: z.number(),
});

export const ANY_OBJECT = anyObject();

const ANNOTATIONS = z.object({
  title: z.optional(z.string()),
  readOnlyHint: z.optional(z.boolean()),
  destructiveHint: z.optional(z.boolean()),
  idempotentHint: z.optional(z.boolean()),
  openWorldHint: z.optional(z.boolean()),
});

export const TOOL = z.object({
  name: z.string(),
  server: z.string(),
  tool: z.string(),
  displayName: z.string(),
  title: z.optional(z.string()),
  description: z.optional(z.string()),
  annotations: z.optional(ANNOTATIONS),
  flags: z.array(z.string()),
  native: z.boolean(),
  /** The energy that a call probably costs. Absent for native tools. */
  estimatedEnergyCost: z.optional(z.number()),
});

const DECIDING_RULE = z.object({
  index: z.number(),
  action: z.enum(['allow', 'ask', 'deny']),
  from: z.string(),
  file: z.optional(z.string()),
  line: z.optional(z.number()),
  reason: z.optional(z.string()),
});

export const DECISION = z.object({
  action: z.enum(['allow', 'ask', 'deny']),
  reason: z.string(),
  hidden: z.boolean(),
  ambiguous: z.optional(z.object({ word: z.string(), meanings: z.array(z.string()) })),
  rule: z.optional(DECIDING_RULE),
  pin: z.optional(z.enum(['changed', 'new', 'unreadable'])),
  flow: z.optional(z.boolean()),
  budget: z.optional(ANY_OBJECT),
  otherwise: z.optional(z.string()),
});

export const PLACED_RULE = z.object({
  rule: ANY_OBJECT,
  from: z.string(),
  file: z.optional(z.string()),
  line: z.optional(z.number()),
  position: z.number(),
});

export const PIN = z.object({
  server: z.string(),
  tool: z.string(),
  agent: z.optional(z.string()),
  hash: z.string(),
  by: z.string(),
  pinnedAt: z.string(),
  state: z.enum(['same', 'changed', 'gone', 'unknown']),
  diff: z.optional(z.array(z.string())),
});

export const APPROVAL = z.object({
  id: z.string(),
  requestId: z.string(),
  kind: z.enum(['tool', 'resource', 'prompt']),
  server: z.string(),
  tool: z.string(),
  toolName: z.string(),
  callerId: z.optional(z.string()),
  arguments: ANY_OBJECT,
  alsoSent: z.optional(ANY_OBJECT),
  isCut: z.optional(z.boolean()),
  notShown: z.optional(z.object({ characters: z.number(), members: z.number() })),
  annotations: z.optional(ANY_OBJECT),
  trusted: z.boolean(),
  reason: z.string(),
  rule: z.optional(DECIDING_RULE),
  energy: z.optional(z.number()),
  change: z.optional(z.array(z.string())),
  answers: z.array(z.enum(['once', 'session', 'always', 'deny'])),
  createdAt: z.string(),
  expiresAt: z.string(),
});
