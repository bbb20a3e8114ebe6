import type { Credentials } from '../identity/identity.js';
import { isOwnToken } from './token-record.js';

/** Tokens of the daemon itself and of an issuer: their form tells them apart, so neither sees those of the other. */
export function joinCredentials(own: Credentials, issued: Required<Credentials>): Required<Credentials> {
  return {
    find: (token) => (isOwnToken(token) ? own : issued).find(token),
    isPlausible: (token) => !isOwnToken(token) && issued.isPlausible(token),
    verify: (token) => (isOwnToken(token) ? Promise.resolve(undefined) : issued.verify(token)),
  };
}
