/** What a token may grant: no more than it has, for no longer than it lives, and never approval of its own calls. */
import { TurnbuckleError } from 'turnbuckle';
import { possibleMeanings } from 'turnbuckle/host';
import type { Identity } from '../identity/identity.js';
import { OWNER } from '../identity/owner.js';
import type { TokenFacts, TokenRequest } from './token-store.js';

/** What words mean besides a server or a tool. */
export interface KnownWords {
  hasServer(name: string): boolean;
  /** Whether a server requires the word in addition, or a native tool is for its holders only. */
  isSeparate(word: string): boolean;
}

/**
 * The request as this identity may make it; ACCESS_DENIED if it asks for more than the identity has. The owner may
 * grant everything.
 */
export function limitGrant(identity: Identity, request: TokenRequest, known: KnownWords): TokenRequest {
  const { caller, access, expiresAt, root = caller.id } = identity;
  if (caller.id === OWNER) return request;
  const more = request.access.find((one) => !access.has(one));
  if (more !== undefined) throw denied(`Cannot grant "${more}" access because this token does not have it.`);
  const word = request.can.find((one) => !holds(caller.capabilities, one, known));
  if (word !== undefined)
    throw denied(`Cannot grant the capability "${word}" because this token does not have it.`);
  if (expiresAt === undefined) return { ...request, root };
  const wanted = request.expiresAt ?? new Date(expiresAt);
  if (wanted.getTime() > expiresAt)
    throw denied(
      `A new token cannot outlive the token that creates it (expires at ${new Date(expiresAt).toISOString()}).`,
    );
  return { ...request, expiresAt: wanted, root };
}

/** All capabilities include those for servers and tools, but not what is granted separately. */
function holds(held: readonly string[], word: string, known: KnownWords): boolean {
  if (held.includes(word)) return true;
  if (!held.includes('mcp_integration') || known.isSeparate(word)) return false;
  const [server = ''] = word.startsWith('mcp:') ? word.slice('mcp:'.length).split('/') : [];
  return known.hasServer(server) || (word.startsWith('mcp_') && possibleMeanings(word, known).length > 0);
}

/**
 * Whether an identity may approve a call of this caller; undefined: a call of the owner. None may approve its own calls,
 * nor those of tokens with the same root. Calls of a deleted token, whose root is unknown, are for the owner only.
 */
export function mayApprove(
  { caller, root = caller.id }: Identity,
  callerId: string | undefined,
  tokens: readonly TokenFacts[],
): boolean {
  if (callerId === undefined || caller.id === OWNER) return true;
  const asking = tokens.find(({ name }) => name === callerId);
  if (asking === undefined && !isOfIssuer(callerId)) return false;
  return root !== (asking?.root ?? callerId);
}

/** Names of the daemon's own tokens have no colon. */
const isOfIssuer = (callerId: string): boolean => callerId.includes(':');

const denied = (message: string): TurnbuckleError =>
  new TurnbuckleError('ACCESS_DENIED', message, {
    hint: "Request less access, fewer capabilities or an earlier expiry, or use the owner's token.",
  });
