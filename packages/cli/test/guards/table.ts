/** What the table is made of: ways in, guards, kinds, the code of every refusal, and why a cell cannot exist. */

export const KINDS = ['tool', 'resource', 'prompt'] as const;
export type Kind = (typeof KINDS)[number];

export const GUARDS = ['deny', 'ask', 'capability missing', 'pin changed', 'token revoked'] as const;
export type Guard = (typeof GUARDS)[number];

/** As whom the rules take the caller. */
export type Who = 'agent' | 'host';

export interface Cell {
  /** Absent: nothing stands in the way. */
  readonly guard?: Guard | undefined;
  readonly kind: Kind;
  /** What is asked for, by its name at the server: that of this cell alone. */
  readonly item: string;
}

/** One way in, for one caller. */
export interface Surface {
  readonly name: string;
  readonly who: Who;
  /** Whether somebody can be asked there. Who is asked says no. */
  readonly asks: 'somebody' | 'nobody';
  /** Under which name its calls are in the log; undefined: the host itself. */
  caller(guard: Guard): string | undefined;
  /** The code of the refusal, or OK. */
  attempt(cell: Cell): Promise<string>;
  /** Why there can be no such cell. */
  none?(guard: Guard, kind: Kind): string | undefined;
  /** Why such a refusal is in no log. */
  unlogged?(guard: Guard, kind: Kind): string | undefined;
  /** The calls that it made itself known of, where the daemon's log is not its log. */
  rows?(item: string): readonly Row[];
}

export interface Row {
  readonly kind: string;
  readonly caller?: string | undefined;
  readonly outcome: string;
  readonly code?: string | undefined;
}

const UNKNOWN = { tool: 'TOOL_UNKNOWN', resource: 'RESOURCE_UNKNOWN', prompt: 'PROMPT_UNKNOWN' } as const;

/** The same on every way in. */
export function expectedCode(guard: Guard, kind: Kind, { who, asks }: Pick<Surface, 'who' | 'asks'>): string {
  switch (guard) {
    case 'deny':
      return who === 'host' ? 'CALL_DENIED' : UNKNOWN[kind];
    case 'capability missing':
      return UNKNOWN[kind];
    case 'ask':
    case 'pin changed':
      return asks === 'somebody' ? 'CALL_DENIED' : 'APPROVAL_NEEDED';
    case 'token revoked':
      return 'TOKEN_REQUIRED';
  }
}

/** Undefined: the cell exists. */
export function whyNone(surface: Surface, guard: Guard, kind: Kind): string | undefined {
  const own = surface.none?.(guard, kind);
  if (own !== undefined) return own;
  if (guard === 'pin changed' && kind !== 'tool') return 'only tools are pinned';
  if (guard === 'capability missing' && surface.who === 'host') return 'the host needs no capability';
  return undefined;
}

const WORDS: Readonly<Record<Guard, string>> = {
  deny: 'rule-deny',
  ask: 'rule-ask',
  'capability missing': 'no-grant',
  'pin changed': 'pin-moved',
  'token revoked': 'no-token',
};

export const nameOf = (surface: string, kind: Kind, guard?: Guard): string =>
  `${guard === undefined ? 'open' : WORDS[guard]}-${kind}-${surface.replaceAll(/\W+/g, '-')}`;

export const itemOf = (kind: Kind, name: string): string => (kind === 'resource' ? `note://${name}` : name);

/** What views with rules of their own decide is allowed everywhere else. */
export const OWN_RULES = [
  { action: 'deny', tool: '*rule-deny-*' },
  { action: 'ask', tool: '*rule-ask-*' },
  { action: 'allow' },
] as const;
export const RULES = [{ action: 'allow', tool: '*-strict-view-*' }, ...OWN_RULES] as const;
export const MOVED = /^pin-moved-/;
/** Neither an agent without it nor a view without it has anything of the server that is called. */
export const OTHER_SERVER = 'mcp:neighbour';
