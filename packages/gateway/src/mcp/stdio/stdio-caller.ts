/** Whom an agent over stdin and stdout is taken for. It is never the owner, who may have started it all the same. */
import { type Caller, TurnbuckleError } from 'turnbuckle';
import type { Visitor } from '../http/visitor.js';
import { OWNER } from '../tokens/token-store.js';
import { lesser } from './desk.js';

export interface StdioCallerOptions {
  /** The token that it is to act as, without having it; absent: `stdio:` and what the client calls itself. */
  readonly name?: string | undefined;
  /** It has no more than these; absent: those of the token of that name, or all without a name. */
  readonly capabilities?: readonly string[] | undefined;
}

export interface StdioCaller {
  /** By what the client calls itself, which is a stranger's text. */
  readonly callerOf: (clientName: string) => Caller;
  /** The token that it acts as, whose end is the end of the client too. */
  readonly visitor: Visitor | undefined;
}

const ALL: readonly string[] = ['mcp_integration'];
const NAME = /^[A-Za-z0-9][\w.@-]{0,63}$/;
const CAPABILITY = /^mcp[_:]\S{1,250}$/;
/** Names that mean the user in person, here and in rules. */
const PERSONS: ReadonlySet<string> = new Set([OWNER, 'host']);
const MAX_CLIENT_NAME = 64;

/** Throws ARGUMENTS_INVALID, or ACCESS_DENIED when there is no such token: else revoking one would give all rights. */
export function stdioCaller(
  { name, capabilities }: StdioCallerOptions,
  tokenNamed: (name: string) => Visitor | undefined,
): StdioCaller {
  if (name !== undefined && (!NAME.test(name) || PERSONS.has(name))) throw notAName(name);
  const odd = capabilities?.find((word) => !CAPABILITY.test(word));
  if (odd !== undefined) throw notACapability(odd);
  const bound = (held: readonly string[]): readonly string[] =>
    capabilities === undefined ? held : lesser(held, capabilities);
  if (name === undefined)
    return {
      visitor: undefined,
      callerOf: (clientName) => {
        const id = `stdio:${plain(clientName)}`;
        return { id, identity: `stdio ${id}`, capabilities: bound(ALL) };
      },
    };
  const visitor = tokenNamed(name);
  if (visitor === undefined) throw noToken(name);
  if (!visitor.access.has('call')) throw notForCalls(name);
  const caller = { ...visitor.caller, capabilities: bound(visitor.caller.capabilities) };
  return { visitor, callerOf: () => caller };
}

const plain = (name: string): string =>
  name
    .slice(0, 4 * MAX_CLIENT_NAME)
    .replace(/[^\w.@-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, MAX_CLIENT_NAME) || 'client';

const notAName = (name: string): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', `An agent cannot be called "${name.slice(0, 140)}".`, {
    hint: 'A name has letters, digits and . _ @ -, at most 64, and is neither "owner" nor "host".',
  });

const notACapability = (word: string): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', `"${word.slice(0, 140)}" is not a capability.`, {
    hint: 'One is mcp_integration (everything), mcp:server or mcp:server/tool.',
  });

const noToken = (name: string): TurnbuckleError =>
  new TurnbuckleError(
    'ACCESS_DENIED',
    `There is no token named "${name}": it was never made, or is revoked or expired.`,
    {
      hint: `A client acts as a token that says what it may do. Make it: turnbuckle token create ${name} --can mcp_integration. Or leave --as out: then the client has the name that it gives itself.`,
    },
  );

const notForCalls = (name: string): TurnbuckleError =>
  new TurnbuckleError('ACCESS_DENIED', `The token "${name}" is not for calls.`, {
    hint: `Name another one, or make it anew with --access call: turnbuckle token revoke ${name}, then turnbuckle token create ${name}`,
  });
