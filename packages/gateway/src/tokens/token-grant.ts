/** What a token may hand on: no more than it has, for no longer than it lives, and never an answer to its own calls. */
import { TurnbuckleError } from 'turnbuckle';
import type { Visitor } from '../http/visitor.js';
import { OWNER, type TokenFacts, type TokenRequest } from './token-store.js';

/**
 * The request as this visitor may make it; ACCESS_DENIED when it asks for more than the visitor has. The owner has
 * everything. Who makes tokens at all has all capabilities, so any of them are fewer.
 */
export function grantBy(visitor: Visitor, request: TokenRequest): TokenRequest {
  const { caller, access, expiresAt, root = caller.id } = visitor;
  if (caller.id === OWNER) return request;
  const more = request.access.find((one) => !access.has(one));
  if (more !== undefined)
    throw denied(`This token does not have the access "${more}", so it cannot give it to another one.`);
  if (expiresAt === undefined) return { ...request, root };
  const wanted = request.expiresAt ?? new Date(expiresAt);
  if (wanted.getTime() > expiresAt)
    throw denied(
      `This token ends at ${new Date(expiresAt).toISOString()}: those it makes end then at the latest.`,
    );
  return { ...request, expiresAt: wanted, root };
}

/**
 * Whether a visitor may say yes to a call of this caller; undefined: a call of the owner. Nobody does for itself, nor
 * for tokens that come from the same one. Whose token is gone may have come from anywhere: that is for the owner.
 */
export function mayApprove(
  { caller, root = caller.id }: Visitor,
  callerId: string | undefined,
  tokens: readonly TokenFacts[],
): boolean {
  if (callerId === undefined || caller.id === OWNER) return true;
  const asking = tokens.find(({ name }) => name === callerId);
  if (asking === undefined && !isOfIssuer(callerId)) return false;
  return root !== (asking?.root ?? callerId);
}

/** Names of this daemon's own tokens have no colon. */
const isOfIssuer = (callerId: string): boolean => callerId.includes(':');

const denied = (message: string): TurnbuckleError =>
  new TurnbuckleError('ACCESS_DENIED', message, { hint: "Ask for less, or use the owner's token." });
