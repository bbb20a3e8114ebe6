/** What tools say about themselves, and how far it is believed. */

/** The hints of MCP; what is missing counts as the protocol's default, which is the careful one. */
export interface Hints {
  readonly readOnlyHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
  readonly openWorldHint?: boolean | undefined;
}

export interface WantedHints {
  readonly readOnly?: boolean | undefined;
  readonly destructive?: boolean | undefined;
  readonly idempotent?: boolean | undefined;
  readonly openWorld?: boolean | undefined;
}

type HintName = keyof WantedHints;

/** The protocol's defaults: nobody can say anything worse of a tool. */
const CAREFUL: Readonly<Record<HintName, boolean>> = {
  readOnly: false,
  destructive: true,
  idempotent: false,
  openWorld: true,
};

const NAMES = ['readOnly', 'destructive', 'idempotent', 'openWorld'] as const satisfies readonly HintName[];

/** Reading by the protocol's own words: no claim of the server. */
export const READING: Hints = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
};

export interface HintTest {
  readonly hints: Hints | undefined;
  /** The server's word counts. */
  readonly believed: boolean;
  /** The rule lowers the guard. */
  readonly allows: boolean;
}

/**
 * Whether a tool is what a rule wants. A stranger's claims open nothing: for an `allow` only the careful
 * defaults count. For the other rules either may fit, the claim or the default, so that no claim gets a tool
 * past a guard.
 */
export function fitsHints(wanted: WantedHints, { hints, believed, allows }: HintTest): boolean {
  return NAMES.every((name) => {
    const want = wanted[name];
    if (want === undefined) return true;
    if (believed) return want === claimOf(hints, name);
    return want === CAREFUL[name] || (!allows && want === claimOf(hints, name));
  });
}

function claimOf(hints: Hints | undefined, name: HintName): boolean {
  const said = hints?.[`${name}Hint`];
  if (said !== undefined) return said;
  // What only reads destroys nothing: the protocol gives the hint a meaning for tools that write only.
  if (name === 'destructive' && hints?.readOnlyHint === true) return false;
  return CAREFUL[name];
}
