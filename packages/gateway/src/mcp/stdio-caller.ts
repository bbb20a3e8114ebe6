/** Whom an agent over stdin and stdout is taken for. It is never the owner, who may have started it all the same. */
import { type Caller, TurnbuckleError } from 'turnbuckle';
import { OWNER, type TokenFacts } from '../tokens/token-store.js';
import { lesser } from './desk.js';

export interface StdioCallerOptions {
  /** The id that it is to have; absent: `stdio:` and what the client calls itself. */
  readonly name?: string | undefined;
  /** It has no more than these; absent: those of the token of that name, or all. */
  readonly capabilities?: readonly string[] | undefined;
}

const ALL: readonly string[] = ['mcp_integration'];
const NAME = /^[A-Za-z0-9][\w.@:-]{0,127}$/;
const CAPABILITY = /^mcp[_:]\S{1,250}$/;
/** Names that mean the user in person, here and in rules. */
const PERSONS: ReadonlySet<string> = new Set([OWNER, 'host']);
const MAX_CLIENT_NAME = 64;

/** Throws ARGUMENTS_INVALID. The client's name is a stranger's text. */
export function stdioCaller(
  { name, capabilities }: StdioCallerOptions,
  tokens: readonly TokenFacts[],
): (clientName: string) => Caller {
  if (name !== undefined && (!NAME.test(name) || PERSONS.has(name))) throw notAName(name);
  const odd = capabilities?.find((word) => !CAPABILITY.test(word));
  if (odd !== undefined) throw notACapability(odd);
  const held = tokens.find((token) => token.name === name)?.can ?? ALL;
  const all = capabilities === undefined ? held : lesser(held, capabilities);
  return (clientName) => {
    const id = name ?? `stdio:${plain(clientName)}`;
    // Somebody else than who brings a token of that name.
    return { id, identity: `stdio ${id}`, capabilities: all };
  };
}

const plain = (name: string): string =>
  name
    .slice(0, 4 * MAX_CLIENT_NAME)
    .replace(/[^\w.@-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, MAX_CLIENT_NAME) || 'client';

const notAName = (name: string): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', `An agent cannot be called "${name.slice(0, 140)}".`, {
    hint: 'A name has letters, digits and . _ @ : -, and is neither "owner" nor "host".',
  });

const notACapability = (word: string): TurnbuckleError =>
  new TurnbuckleError('ARGUMENTS_INVALID', `"${word.slice(0, 140)}" is not a capability.`, {
    hint: 'One is mcp_integration (everything), mcp:server or mcp:server/tool.',
  });
