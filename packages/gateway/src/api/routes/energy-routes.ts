/** What calls cost, and what is left of budgets. */
import type { Row } from '@turnbuckle/store';
import * as z from 'zod/mini';
import type { ApiRoute } from '../../http/api-route.js';
import type { FairQueue } from '../../http/limits/fair-queue.js';
import { readQuery } from '../../http/validate.js';
import { requireLog } from '../log-access.js';
import { TIME } from '../shapes/time-query.js';
import type { ApiDependencies } from './api-dependencies.js';

const QUERY = z.strictObject({ since: z.optional(TIME) });
const BUDGET = z.object({
  for: z.enum(['run', 'caller', 'server']),
  name: z.string(),
  limit: z.number(),
  left: z.number(),
  /** Reserved by calls in progress. */
  reserved: z.number(),
  perSeconds: z.optional(z.number()),
});
const SPENT = z.object({
  /** Absent: the host. */
  caller: z.optional(z.string()),
  server: z.string(),
  tool: z.string(),
  calls: z.number(),
  energy: z.number(),
});
const RESPONSE = z.object({ spent: z.array(SPENT), total: z.number(), budgets: z.array(BUDGET) });

export function createEnergyRoutes(
  { configured: { runtime }, log }: ApiDependencies,
  queue: FairQueue,
): readonly ApiRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/energy',
      access: 'admin',
      summary:
        'Show the energy used by calls since a given time, by caller and tool, and the energy left in budgets',
      query: QUERY,
      response: RESPONSE,
      handle: async (context) => {
        const { since = 0 } = readQuery(context, QUERY);
        const known = requireLog(log);
        const rows = await queue.run(context.identity, () => known.energyTotals(since));
        const spent = rows.map(toSpent);
        return {
          spent,
          total: round(spent.reduce((sum, { energy }) => sum + energy, 0)),
          budgets: (runtime.energy?.budgets() ?? []).map(({ budget, name, left, reserved }) => ({
            ...{ for: budget.for, name, limit: budget.limit, left, reserved },
            ...(budget.perSeconds !== undefined && { perSeconds: budget.perSeconds }),
          })),
        };
      },
    },
  ];
}

const toSpent = ({ caller, server, tool, calls, energy }: Row): z.output<typeof SPENT> => ({
  ...(caller !== null && { caller: String(caller) }),
  server: String(server),
  tool: String(tool),
  calls: Number(calls),
  energy: round(Number(energy)),
});

/** Sums of thousandths. */
const round = (energy: number): number => Math.round(energy * 1_000) / 1_000;
