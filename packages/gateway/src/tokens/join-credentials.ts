import type { Credentials } from '../identity/identity.js';
import { isOwnToken } from './token-record.js';

/** Their tokens are verified, and not remembered. */
type IssuedCredentials = Required<Omit<Credentials, 'whyRefused'>>;

/** Tokens of the daemon itself and of an issuer: their form tells them apart, so neither sees those of the other. */
export function joinCredentials(own: Credentials, issued: IssuedCredentials): Required<Credentials> {
  return {
    find: (token) => (isOwnToken(token) ? own : issued).find(token),
    whyRefused: (token) => (isOwnToken(token) && own.whyRefused?.(token)) || { reason: 'unknown' },
    isPlausible: (token) => !isOwnToken(token) && issued.isPlausible(token),
    verify: (token) => (isOwnToken(token) ? Promise.resolve(undefined) : issued.verify(token)),
  };
}
