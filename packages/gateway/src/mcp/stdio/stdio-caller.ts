/** The caller behind stdin and stdout. It is never the owner, even if the owner started it. */
import { type Caller, TurnbuckleError } from 'turnbuckle';
import { shellQuote } from 'turnbuckle/light';
import type { Identity } from '../../identity/identity.js';
import { OWNER } from '../../identity/owner.js';

export interface StdioCallerOptions {
  /** The name of the token that it acts as, without having it; absent: `stdio:` and the name that the client reports. */
  readonly name?: string | undefined;
  /** Without a name its capabilities (absent: all); with one, limits of those that the token has. */
  readonly capabilities?: readonly string[] | undefined;
}

export interface StdioCaller {
  /** From the name that the client reports, which is untrusted text. */
  readonly callerOf: (clientName: string) => Caller;
  /** The token that it acts as; when that ends, the client ends too. */
  readonly identity: Identity | undefined;
}

const ALL_CAPABILITIES: readonly string[] = ['mcp_integration'];
const NAME = /^[A-Za-z0-9][\w.@-]{0,63}$/;
const CAPABILITY = /^mcp[_:]\S{1,250}$/;
/** Names that mean the user, here and in rules. */
const RESERVED_NAMES: ReadonlySet<string> = new Set([OWNER, 'host']);
const MAX_CLIENT_NAME = 64;

/** Throws ARGUMENTS_INVALID, or ACCESS_DENIED if there is no such token: otherwise revoking it would grant all rights. */
export function createStdioCaller(
  { name, capabilities }: StdioCallerOptions,
  tokenNamed: (name: string) => Identity | undefined,
): StdioCaller {
  if (name !== undefined && (!NAME.test(name) || RESERVED_NAMES.has(name))) throw notAName(name);
  const odd = capabilities?.find((word) => !CAPABILITY.test(word));
  if (odd !== undefined) throw notACapability(odd);
  if (name === undefined)
    return {
      identity: undefined,
      callerOf: (clientName) => {
        const id = `stdio:${sanitizeName(clientName)}`;
        return { id, identity: `stdio ${id}`, capabilities: capabilities ?? ALL_CAPABILITIES };
      },
    };
  const identity = tokenNamed(name);
  if (identity === undefined) throw noToken(name);
  if (!identity.access.has('call')) throw notForCalls(name);
  const limits = capabilities && { capabilities: [capabilities] };
  const caller = { ...identity.caller, ...(limits !== undefined && { limits }) };
  return { identity, callerOf: () => caller };
}

const sanitizeName = (name: string): string =>
  name
    .slice(0, 4 * MAX_CLIENT_NAME)
    .replace(/[^\w.@-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, MAX_CLIENT_NAME) || 'client';

const notAName = (name: string): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', `Invalid agent name "${name.slice(0, 140)}".`, {
    hint: 'Use at most 64 characters (letters, digits, ".", "_", "@", "-"), starting with a letter or digit. The names "owner" and "host" are reserved.',
  });

const notACapability = (word: string): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', `Invalid capability "${word.slice(0, 140)}".`, {
    hint: 'Use mcp_integration (everything), mcp:<server> or mcp:<server>/<tool>.',
  });

const noToken = (name: string): TurnbuckleError =>
  new TurnbuckleError('ACCESS_DENIED', `There is no active token named "${name}".`, {
    hint: `Omit --as to use the name that the client reports, or create the token: turnbuckle token create ${shellQuote(name)} --capability mcp_integration`,
  });

const notForCalls = (name: string): TurnbuckleError =>
  new TurnbuckleError('ACCESS_DENIED', `Token "${name}" does not have "call" access.`, {
    hint: `Use another token, or revoke this one (turnbuckle token revoke ${shellQuote(name)}) and create it again: turnbuckle token create ${shellQuote(name)} --access call`,
  });
