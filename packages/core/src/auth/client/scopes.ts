/** Which scopes to ask for. */
import { computeScopeUnion } from '@modelcontextprotocol/client';
import type { Challenge } from './auth-errors.js';
import type { AuthorizationServer } from './sign-in-store.js';

export interface ScopeSources {
  readonly configured?: readonly string[] | undefined;
  readonly challenge?: Challenge | undefined;
  /** Of an earlier sign-in: a wider one must not lose what was granted. */
  readonly previous?: string | undefined;
  /** Refresh tokens are of use. */
  readonly renewable: boolean;
}

/**
 * What the configuration says, else what the server asked for, else all it knows; undefined: say nothing. Where
 * a sign-in was too narrow, what the server asks for comes on top.
 */
export function scopeFor(
  { metadata, scopesSupported }: AuthorizationServer,
  sources: ScopeSources,
): string | undefined {
  const { configured, challenge, previous, renewable } = sources;
  const wanted = configured?.join(' ') || challenge?.scope || scopesSupported?.join(' ') || undefined;
  const missing = challenge?.error === 'insufficient_scope' ? challenge.scope : undefined;
  const scope = computeScopeUnion(previous, wanted, missing);
  const offered = metadata?.scopes_supported?.includes('offline_access') === true;
  return scope !== undefined && renewable && offered ? computeScopeUnion(scope, 'offline_access') : scope;
}
