/** Who may call what: the rules in effect, and what they would say. */
import type { ConfiguredRuntime } from 'turnbuckle';
import * as z from 'zod/mini';
import { readJson } from '../http/body.js';
import type { ApiRoute } from './api-route.js';
import { cleanTexts } from './clean.js';
import { ANYTHING, DECISION, PLACED_RULE } from './shapes.js';
import { requireWhole } from './sight.js';

const TEST_BODY = z.strictObject({
  server: z.string().check(z.minLength(1)),
  tool: z.string().check(z.minLength(1)),
  kind: z.optional(z.enum(['tool', 'resource', 'prompt'])),
  arguments: z.optional(ANYTHING),
  /** Absent: the host itself. */
  caller: z.optional(
    z.strictObject({ id: z.string(), capabilities: z.array(z.string()), run: z.optional(z.string()) }),
  ),
});
const TESTED = z.object({
  decision: DECISION,
  /** Rules for it that were asked before, and the key by which each did not fit. */
  passed: z.array(z.object({ index: z.number(), placed: PLACED_RULE, because: z.string() })),
  /** What the tool is now is not known, and might change the answer. */
  unsure: z.boolean(),
  labels: z.array(z.string()),
});

export function createRuleRoutes({ runtime, config }: ConfiguredRuntime): readonly ApiRoute[] {
  const clean = (value: unknown): Promise<unknown> => cleanTexts(value, runtime);
  return [
    {
      method: 'GET',
      path: '/api/rules',
      access: 'look',
      summary: 'The rules in effect, in the order in which they are asked',
      answer: z.object({
        rules: z.array(PLACED_RULE),
        toolApprovalRequired: z.boolean(),
        pins: z.string(),
        flows: z.string(),
      }),
      handle: (visit) => {
        requireWhole(runtime, visit);
        const { toolApprovalRequired = true, pins = 'approved', flows = 'ask' } = config().settings;
        return clean({ rules: runtime.rules, toolApprovalRequired, pins, flows });
      },
    },
    {
      method: 'POST',
      path: '/api/rules/test',
      access: 'look',
      summary: 'What would be decided about a call, and why; nothing is called',
      // All of it is decided about at once.
      maxBodyBytes: 256 * 1_024,
      body: TEST_BODY,
      answer: TESTED,
      handle: async (visit) => {
        requireWhole(runtime, visit);
        return clean(runtime.explain(await readJson(visit, TEST_BODY)));
      },
    },
  ];
}
