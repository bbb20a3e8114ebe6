/** The dimensions of the table: entry points, guards and kinds; the code of every refusal; why a cell cannot exist. */

export const KINDS = ['tool', 'resource', 'prompt'] as const;
export type Kind = (typeof KINDS)[number];

export const GUARDS = [
  'deny',
  'ask',
  'capability missing',
  'pin changed',
  'budget used up',
  'token revoked',
] as const;
export type Guard = (typeof GUARDS)[number];

/** How the rules classify the caller. */
export type Who = 'agent' | 'host';

export interface Cell {
  /** Absent: the request is allowed. */
  readonly guard?: Guard | undefined;
  readonly kind: Kind;
  /** The name of the tool, resource or prompt on the server; each cell has its own. */
  readonly item: string;
}

/** One entry point, for one caller. */
export interface Surface {
  readonly name: string;
  readonly who: Who;
  /** Whether approvals can be answered here. The answer is always deny. */
  readonly approver: 'available' | 'missing';
  /** The caller name of its calls in the log; undefined: the host itself. */
  caller(guard: Guard): string | undefined;
  /** The code of the refusal, or OK. */
  attempt(cell: Cell): Promise<string>;
  /** Why such a cell cannot exist. */
  notApplicable?(guard: Guard, kind: Kind): string | undefined;
  /** The calls it reported itself, if it does not use the daemon's log. */
  rows?(item: string): readonly Row[];
}

export interface Row {
  readonly kind: string;
  readonly caller?: string | undefined;
  readonly outcome: string;
  readonly code?: string | undefined;
}

const UNKNOWN = { tool: 'TOOL_UNKNOWN', resource: 'RESOURCE_UNKNOWN', prompt: 'PROMPT_UNKNOWN' } as const;

/** The error code, which is the same at every entry point. */
export function expectedCode(
  guard: Guard,
  kind: Kind,
  { who, approver }: Pick<Surface, 'who' | 'approver'>,
): string {
  switch (guard) {
    case 'deny':
      return who === 'host' ? 'CALL_DENIED' : UNKNOWN[kind];
    case 'capability missing':
      return UNKNOWN[kind];
    case 'ask':
    case 'pin changed':
      return approver === 'available' ? 'CALL_DENIED' : 'APPROVAL_NEEDED';
    case 'budget used up':
      return 'BUDGET_EXCEEDED';
    case 'token revoked':
      return 'TOKEN_REQUIRED';
  }
}

/** Undefined: the cell exists. */
export function whyNotApplicable(surface: Surface, guard: Guard, kind: Kind): string | undefined {
  const own = surface.notApplicable?.(guard, kind);
  if (own !== undefined) return own;
  if (guard === 'pin changed' && kind !== 'tool') return 'only tools are pinned';
  if (guard === 'capability missing' && surface.who === 'host') return 'the host needs no capability';
  if (guard === 'budget used up' && surface.name.endsWith('as host')) return 'the host has no budget';
  return undefined;
}

const WORDS: Readonly<Record<Guard, string>> = {
  deny: 'rule-deny',
  ask: 'rule-ask',
  'capability missing': 'no-grant',
  'pin changed': 'pin-moved',
  'budget used up': 'no-energy',
  'token revoked': 'no-token',
};

export const nameOf = (surface: string, kind: Kind, guard?: Guard): string =>
  `${guard === undefined ? 'open' : WORDS[guard]}-${kind}-${surface.replaceAll(/\W+/g, '-')}`;

export const itemOf = (kind: Kind, name: string): string => (kind === 'resource' ? `note://${name}` : name);

/** The rules of a view; outside that view the same calls are allowed. */
export const OWN_RULES = [
  { action: 'deny', tool: '*rule-deny-*' },
  { action: 'ask', tool: '*rule-ask-*' },
  { action: 'allow' },
] as const;
export const RULES = [{ action: 'allow', tool: '*-strict-view-*' }, ...OWN_RULES] as const;
export const MOVED = /^pin-moved-/;
/** The caller that may use no energy. */
export const SPENT = 'spent';
export const ENERGY = { budgets: [{ for: 'caller', caller: `*${SPENT}`, limit: 0 }] } as const;
/** A capability for the other server only: an agent or view with it sees nothing of the server that is called. */
export const OTHER_SERVER = 'mcp:neighbour';
