/** A fixed credential: a bearer token, or a key in any header. */
import type { AuthConfig } from '../config/schema/auth-schema.js';
import type { Credentials } from './authorizer.js';

/** The headers of a fixed credential; undefined for other types. */
export function staticCredential(auth: AuthConfig): Credentials | undefined {
  switch (auth.type) {
    case 'none':
      return {};
    case 'bearer':
      return { authorization: `Bearer ${auth.token}` };
    case 'api-key':
      return { [auth.headerName.toLowerCase()]: auth.apiKey };
    default:
      return undefined;
  }
}
