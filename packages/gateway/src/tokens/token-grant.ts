/** What a token may grant: no more than it has, for no longer than it lives, and never approval of its own calls. */
import { TurnbuckleError } from 'turnbuckle';
import type { Identity } from '../identity/identity.js';
import { OWNER } from '../identity/owner.js';
import type { TokenFacts, TokenRequest } from './token-store.js';

/**
 * The request as this identity may make it; ACCESS_DENIED if it asks for more than the identity has. The owner may
 * grant everything. An identity that may create tokens has all capabilities, so only access and expiry are limited.
 */
export function limitGrant(identity: Identity, request: TokenRequest): TokenRequest {
  const { caller, access, expiresAt, root = caller.id } = identity;
  if (caller.id === OWNER) return request;
  const more = request.access.find((one) => !access.has(one));
  if (more !== undefined) throw denied(`Cannot grant "${more}" access because this token does not have it.`);
  if (expiresAt === undefined) return { ...request, root };
  const wanted = request.expiresAt ?? new Date(expiresAt);
  if (wanted.getTime() > expiresAt)
    throw denied(
      `A new token cannot outlive the token that creates it (expires at ${new Date(expiresAt).toISOString()}).`,
    );
  return { ...request, expiresAt: wanted, root };
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
    hint: "Request less access or an earlier expiry, or use the owner's token.",
  });
