/** What tools say about themselves (annotations), and how far it is trusted. */

/** The hints of MCP. A missing hint counts as the protocol's default, which is the cautious one. */
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

/** The protocol's defaults: the worst that a tool can be. */
const DEFAULT_HINTS: Readonly<Record<HintName, boolean>> = {
  readOnly: false,
  destructive: true,
  idempotent: false,
  openWorld: true,
};

const NAMES = ['readOnly', 'destructive', 'idempotent', 'openWorld'] as const satisfies readonly HintName[];

/** Reading is defined by the protocol: no claim of the server is involved. */
export const READ_ONLY_HINTS: Hints = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
};

export interface HintTest {
  readonly hints: Hints | undefined;
  /** The server's annotations are trusted. */
  readonly believed: boolean;
  /** The rule is an `allow`. */
  readonly allows: boolean;
}

/**
 * Whether a tool matches a rule's annotations. Untrusted claims never help an `allow`: only the cautious defaults
 * count. For the other rules, either the claim or the default may match, so that no claim gets a tool past a rule.
 */
export function fitsHints(wanted: WantedHints, { hints, believed, allows }: HintTest): boolean {
  return NAMES.every((name) => {
    const want = wanted[name];
    if (want === undefined) return true;
    if (believed) return want === claimOf(hints, name);
    return want === DEFAULT_HINTS[name] || (!allows && want === claimOf(hints, name));
  });
}

function claimOf(hints: Hints | undefined, name: HintName): boolean {
  const said = hints?.[`${name}Hint`];
  if (said !== undefined) return said;
  // Read-only tools destroy nothing: the protocol defines the hint only for tools that write.
  if (name === 'destructive' && hints?.readOnlyHint === true) return false;
  return DEFAULT_HINTS[name];
}
