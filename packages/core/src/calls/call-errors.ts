/** Errors of a call that Turnbuckle raises itself. */

import type { BudgetFault } from '../energy/budgets.js';
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../json/is-record.js';
import { agentOf } from '../policy/capabilities.js';
import type { Decision } from '../policy/decide.js';
import { nearest } from '../text/nearest.js';
import { shellQuote } from '../text/shell-quote.js';
import type { GuardedCall } from './authorization/guarded-call.js';

interface ItemRequest {
  readonly kind: 'resource' | 'prompt' | 'tool';
  readonly server: string;
  readonly method: string;
  readonly item: string;
}

/** Error codes that servers use for unknown items: the older one for resources, and the one of newer revisions. */
const NOT_FOUND_CODES: Readonly<Record<string, ReadonlySet<unknown>>> = {
  'resources/read': new Set([-32002, -32602]),
  'resources/subscribe': new Set([-32002, -32602]),
  'prompts/get': new Set([-32602]),
};

/** Whether the server reports the item as unknown, judging by its code. */
export function isNotFound(thrown: unknown, { method }: Pick<ItemRequest, 'method'>): boolean {
  if (!(thrown instanceof TurnbuckleError) || thrown.code !== 'SERVER_ERROR') return false;
  const codes = Object.hasOwn(NOT_FOUND_CODES, method) ? NOT_FOUND_CODES[method] : undefined;
  return isRecord(thrown.data?.rpc) && codes?.has(thrown.data.rpc.code) === true;
}

/** The error code for an item that does not exist or that the caller cannot see. */
export const UNKNOWN_CODES = {
  resource: 'RESOURCE_UNKNOWN',
  prompt: 'PROMPT_UNKNOWN',
  tool: 'TOOL_UNKNOWN',
} as const;

/** The error for a resource or prompt that does not exist or that the caller cannot see. */
export function unknownItem({ kind, item, server }: ItemRequest, cause?: unknown): TurnbuckleError {
  const code = UNKNOWN_CODES[kind];
  return new TurnbuckleError(code, `There is no ${kind} "${item}" on server "${server}".`, {
    server,
    tool: item,
    cause,
    hint: `List what the server offers: turnbuckle ${kind}s ${shellQuote(server)}`,
  });
}

/** Nobody is asked about a subscription: it has no end at which the approval would be used up. */
export const subscriptionNeedsApproval = (
  { server, tool }: Pick<GuardedCall, 'server' | 'tool'>,
  reason: string,
): TurnbuckleError =>
  new TurnbuckleError('APPROVAL_NEEDED', `Subscribing to "${tool}" requires approval (${reason}).`, {
    server,
    tool,
    hint: 'Read the resource instead (a read can be approved), or add a rule that allows the subscription.',
  });

/** `names`: candidates for the suggestion. */
export function unknownTool(
  name: string,
  server: string | undefined,
  names: Iterable<string>,
): TurnbuckleError {
  const close = nearest(name, names);
  const at = server === undefined ? '' : ` on server "${server}"`;
  return new TurnbuckleError('TOOL_UNKNOWN', `There is no tool "${name}"${at}.`, {
    tool: name,
    server,
    hint:
      close === undefined
        ? 'List the available tools with tools(), GET /tools, or: turnbuckle tools'
        : `Did you mean "${close}"?`,
  });
}

/**
 * The host gets the rule and its location. An agent does not: it could probe the rules and learn paths of this
 * machine.
 */
export function callDenied(
  { toolName, server, tool, kind, caller }: DeniedCall,
  { reason, rule, budget }: Pick<Decision, 'reason' | 'rule' | 'budget'>,
): TurnbuckleError {
  const message = `Call to "${toolName}" denied: ${reason}.`;
  if (budget !== undefined) return budgetExceeded(message, budget);
  if (agentOf(caller) !== undefined) return new TurnbuckleError('CALL_DENIED', message);
  const words = [server, tool, ...(kind === 'tool' ? [] : ['--kind', kind])].map(shellQuote).join(' ');
  const { file, line, index } = rule ?? {};
  const place = file === undefined ? '' : `Rule: ${file}:${line ?? 1}. `;
  return new TurnbuckleError('CALL_DENIED', message, {
    hint: `${place}To see why: turnbuckle rules test ${words}`,
    ...(rule !== undefined && { data: { rule: index, file, line } }),
  });
}

function budgetExceeded(message: string, { retryAfterMs }: BudgetFault): TurnbuckleError {
  const seconds = retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1_000);
  return new TurnbuckleError('BUDGET_EXCEEDED', message, {
    hint:
      seconds === undefined
        ? 'The budget does not refill. Ask the user to raise it: "energy.budgets" in the configuration file.'
        : `Repeat the call in ${seconds} s, or ask the user to raise the budget: "energy.budgets" in the configuration file.`,
    ...(retryAfterMs !== undefined && { data: { retryAfterMs } }),
  });
}

type DeniedCall = Pick<GuardedCall, 'toolName' | 'server' | 'tool' | 'kind' | 'caller'>;

/** The approved definition is not the current one. */
export function toolChangedDuringApproval(name: string): TurnbuckleError {
  return new TurnbuckleError(
    'CALL_DENIED',
    `Call to "${name}" was not sent because the tool changed while the call was waiting for approval.`,
    { hint: 'Repeat the call to approve the new definition.' },
  );
}

/** The tool changed after every approval. */
export function toolKeepsChanging(name: string): TurnbuckleError {
  return new TurnbuckleError(
    'CALL_DENIED',
    `Call to "${name}" was not sent because the tool or its rules changed again after every approval.`,
    { hint: 'Before you repeat the call, find out what changes the tool or its rules.' },
  );
}
