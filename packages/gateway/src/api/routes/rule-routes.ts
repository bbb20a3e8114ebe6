/** The rules in effect, and testing what they decide. */

import type { ConfiguredRuntime, Runtime } from 'turnbuckle';
import * as z from 'zod/mini';
import type { ApiRoute } from '../../http/api-route.js';
import { redactTexts } from '../../http/redact.js';
import type { RequestContext } from '../../http/request-context.js';
import { readJson } from '../../http/validate.js';
import { withoutFiles, withoutPlace } from '../../identity/without-file.js';
import { ANY_OBJECT, DECISION, PLACED_RULE } from '../shapes/shapes.js';
import { requireUnrestricted } from '../visibility.js';

const TEST_BODY = z.strictObject({
  server: z.string().check(z.minLength(1)),
  tool: z.string().check(z.minLength(1)),
  kind: z.optional(z.enum(['tool', 'resource', 'prompt'])),
  arguments: z.optional(ANY_OBJECT),
  /** Absent: the host itself. */
  caller: z.optional(
    z.strictObject({ id: z.string(), capabilities: z.array(z.string()), run: z.optional(z.string()) }),
  ),
});
const TESTED = z.object({
  decision: DECISION,
  /** Rules that were evaluated before without a match, and the key that did not match. */
  passed: z.array(z.object({ index: z.number(), placed: PLACED_RULE, because: z.string() })),
  /** The current definition of the tool is unknown, and might change the decision. */
  unsure: z.boolean(),
  labels: z.array(z.string()),
});

export function createRuleRoutes({ runtime, config }: ConfiguredRuntime): readonly ApiRoute[] {
  const clean = (value: unknown): Promise<unknown> => redactTexts(value, runtime);
  return [
    {
      method: 'GET',
      path: '/api/rules',
      access: 'read',
      summary: 'List the rules in effect, in order of evaluation',
      response: z.object({
        rules: z.array(PLACED_RULE),
        toolApprovalRequired: z.boolean(),
        pins: z.string(),
        flows: z.string(),
      }),
      handle: (context) => {
        requireUnrestricted(runtime, context);
        const { toolApprovalRequired = true, pins = 'approved', flows = 'ask' } = config().settings;
        const rules = isManager(context) ? runtime.rules : runtime.rules.map(withoutPlace);
        return clean({ rules, toolApprovalRequired, pins, flows });
      },
    },
    {
      method: 'POST',
      path: '/api/rules/test',
      access: 'read',
      summary: 'Test which decision a call would get, and why, without making the call',
      // The decision is computed in one step.
      maxBodyBytes: 256 * 1_024,
      body: TEST_BODY,
      response: TESTED,
      handle: async (context) => {
        requireUnrestricted(runtime, context);
        const explained = runtime.explain(await readJson(context, TEST_BODY));
        return clean(isManager(context) ? explained : withoutPlaces(explained));
      },
    },
  ];
}

const isManager = ({ identity }: RequestContext): boolean => identity.access.has('admin');

/** The files of the rules are for those who may manage them. */
const withoutPlaces = ({ decision, passed, ...rest }: ReturnType<Runtime['explain']>): object => ({
  ...rest,
  decision: withoutFiles(decision),
  passed: passed.map((skipped) => ({ ...skipped, placed: withoutPlace(skipped.placed) })),
});
