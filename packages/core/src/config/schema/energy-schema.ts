/** The `energy` of a file: what calls cost, and budgets. Meaning and defaults: energy/. */
import * as z from 'zod/mini';
import { BUDGET_KINDS } from '../../energy/budgets.js';
import { list } from './max-entries.js';

const MAX_ENERGY = 1_000_000;
const MAX_PERIOD_SECONDS = 366 * 24 * 3_600;

const cost = z.number().check(z.gte(0), z.lte(1_000));
const pattern = z.string().check(z.minLength(1), z.maxLength(256));

const budget = z.strictObject({
  /** What has a budget of its own: each run, each caller or each server. */
  for: z.enum(BUDGET_KINDS),
  /** Only calls of these callers count. */
  caller: z.optional(pattern),
  /** Only calls to these servers count. */
  server: z.optional(pattern),
  /** 0: no call at all. */
  limit: z.number().check(z.gte(0), z.lte(MAX_ENERGY)),
  /** The time in which a used-up budget is full again; absent: it does not refill while the daemon runs. */
  perSeconds: z.optional(z.number().check(z.int(), z.gte(1), z.lte(MAX_PERIOD_SECONDS))),
});

export const ENERGY_SCHEMA = z.strictObject({
  /** For each call, whatever its duration (0.1). */
  costPerCall: z.optional(cost),
  /** For each second of a call (2). */
  costPerSecond: z.optional(cost),
  budgets: z.optional(list(budget, 200)),
});
