/** Sample data for decisions: servers of each kind, tools with each hint, callers of each kind. */
import type { Rule } from 'turnbuckle';
import type { PlacedRule, RuleFlag } from '../../src/config/schema/rule-schema.js';
import type { Caller } from '../../src/policy/capabilities.js';
import { type Action, type Decision, decide, type PolicyOptions } from '../../src/policy/decide.js';
import type { Hints } from '../../src/policy/hints.js';
import { RuleSet, type SecretSearch } from '../../src/policy/rules.js';
import { createRedactor } from '../../src/redaction/redactor.js';

const SERVERS: Readonly<Record<string, ReturnType<PolicyOptions['serverPolicy']>>> = {
  files: { trusted: false, requires: [], scope: 'user' },
  sure: { trusted: true, requires: [], scope: 'user' },
  proj: { trusted: false, requires: [], scope: 'project' },
  corp: { trusted: true, requires: ['staff'], scope: 'managed' },
  'a/b': { trusted: false, requires: [], scope: 'local' },
  native: { trusted: true, requires: [], scope: 'native', isPublic: (tool) => tool === 'safe' },
};

export const HINTS: Readonly<Record<string, Hints | undefined>> = {
  plain: undefined,
  empty: {},
  read: { readOnlyHint: true },
  write: { readOnlyHint: false, destructiveHint: true },
  mild: { destructiveHint: false },
  again: { idempotentHint: true },
  local: { openWorldHint: false },
  safe: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  'x/y': undefined,
};

export const CALLERS: Readonly<Record<string, Caller | undefined>> = {
  host: undefined,
  a: { id: 'a', capabilities: ['mcp_integration'] },
  b: { id: 'b', capabilities: ['mcp_integration', 'staff'] },
  'team/one': { id: 'team/one', capabilities: ['mcp_integration'] },
  files: { id: 'files', capabilities: ['mcp:files'] },
  reader: { id: 'reader', capabilities: ['mcp:files/read', 'mcp:sure/read'] },
  nobody: { id: 'nobody', capabilities: [] },
  // Its id is the name of the host in rules.
  thief: { id: 'host', capabilities: ['mcp_integration'] },
};

export interface Extras {
  readonly kind?: 'tool' | 'resource' | 'prompt';
  readonly args?: Readonly<Record<string, unknown>>;
  readonly defaultDecision?: Action;
  readonly from?: PlacedRule['from'];
  readonly pin?: 'changed' | 'new' | 'unreadable';
  /** The flags of the tool. */
  readonly flags?: readonly RuleFlag[];
  /** The run of the caller has read private data and untrusted text. */
  readonly flow?: 'ask' | 'deny';
}

/** A token of a server: the only known secret. */
export const TOKEN = 'kq7-ZrT0-private-91x';

const redactor = createRedactor();
redactor.learn(TOKEN);
const SECRETS: SecretSearch = {
  knows: ({ arguments: args, otherValues }) => redactor.knows([args, otherValues]),
  finds: ({ arguments: args, otherValues }) => redactor.finds([args, otherValues]),
};

export const placed = (rules: readonly Rule[], from: PlacedRule['from'] = 'user'): PlacedRule[] =>
  rules.map((rule, position) => ({ rule, from, file: '/rules.json', line: position + 1, position }));

export function policyOf(
  rules: readonly PlacedRule[],
  { defaultDecision, pin, flow }: Extras = {},
): PolicyOptions {
  return {
    known: { hasServer: (name) => name in SERVERS },
    serverPolicy: (name) => SERVERS[name] ?? { trusted: false, requires: [] },
    defaultDecision,
    rules: rules.length === 0 ? undefined : new RuleSet(rules, SECRETS),
    secrets: SECRETS,
    ...(pin !== undefined && { pinFault: () => pin }),
    ...(flow !== undefined && { flow: () => ({ action: flow, reason: 'it crosses' }) }),
  };
}

/** `files:write` is a tool of a server; with a colon, because names may contain slashes. */
export function decideFor(
  rules: readonly Rule[],
  caller: string,
  call: string,
  extras: Extras = {},
): Decision {
  const [server = '', tool = ''] = call.split(/:(.*)/s);
  const { kind = 'tool', args = {}, flags = [] } = extras;
  return decide(
    CALLERS[caller],
    { server, tool, kind, hints: HINTS[tool], arguments: args, flags: () => flags },
    policyOf(placed(rules, extras.from), extras),
  );
}

/** `allow`, `ask 2` (by the rule at 2), `hidden 0`, `deny`. */
export function tell({ action, hidden, rule }: Decision): string {
  const word = hidden ? 'hidden' : action;
  return rule === undefined ? word : `${word} ${rule.index}`;
}
