/** The six tools of the agent itself: what the model can do besides calling MCP tools. */

import type { OfferedTool } from '@turnbuckle/model';
import * as z from 'zod/mini';

const text = (most: number) => z.string().check(z.minLength(1), z.maxLength(most));
const MAX_REPLY_CHARACTERS = 32_000;

const INPUTS = {
  respond: z.object({ text: text(MAX_REPLY_CHARACTERS) }),
  await_energy: z.object({ level: z.number().check(z.gte(-1_000_000), z.lte(1_000_000)) }),
  select_conversation: z.object({ conversation: text(100) }),
  think: z.object({ thought: text(MAX_REPLY_CHARACTERS) }),
  end_conversation: z.object({ reason: z.optional(z.string().check(z.maxLength(1_000))) }),
  snooze_conversation: z.object({ minutes: z.number().check(z.gte(1), z.lte(60 * 24 * 30)) }),
};

const DESCRIPTIONS: Readonly<Record<BuiltInName, string>> = {
  respond: 'Send a message to the user in the current conversation.',
  await_energy: 'Pause this conversation until the energy reaches a level.',
  select_conversation: 'Work on another conversation next. The current one is not changed.',
  think: 'Write a note to yourself. The user does not see it.',
  end_conversation: 'End the current conversation. Use it when nothing is left to do.',
  snooze_conversation: 'Return to the current conversation after a number of minutes.',
};

export type BuiltInName = keyof typeof INPUTS;
type InputOf<Name extends BuiltInName> = z.output<(typeof INPUTS)[Name]>;

export type BuiltInCall = {
  [Name in BuiltInName]: { readonly name: Name; readonly input: InputOf<Name> };
}[BuiltInName];

const NAMES = Object.keys(INPUTS) as BuiltInName[];

export const isBuiltIn = (name: string): name is BuiltInName => Object.hasOwn(INPUTS, name);

/** As the model sees them. */
export const builtInTools = (names: readonly BuiltInName[] = NAMES): readonly OfferedTool[] =>
  names.map((name) => ({
    name,
    description: DESCRIPTIONS[name],
    inputSchema: z.toJSONSchema(INPUTS[name]) as Readonly<Record<string, unknown>>,
  }));

/** The call with its checked input, or what is wrong with it. */
export function parseBuiltIn(name: BuiltInName, input: unknown): BuiltInCall | string {
  const checked = z.safeParse(INPUTS[name], input);
  // The schema of a name gives the input of that name, which TypeScript cannot follow.
  if (checked.success) return { name, input: checked.data } as BuiltInCall;
  const [issue] = checked.error.issues;
  return `Invalid input for ${name}${issue === undefined ? '' : ` at "${issue.path.join('.')}"`}.`;
}
