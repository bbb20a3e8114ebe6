/** Which scopes to request. */
import { computeScopeUnion } from '@modelcontextprotocol/client';
import type { Challenge } from '../auth-errors.js';
import type { AuthorizationServer } from '../sign-in-store.js';

export interface ScopeSources {
  readonly configured?: readonly string[] | undefined;
  readonly challenge?: Challenge | undefined;
  /** From an earlier sign-in: a new one must not lose what was granted. */
  readonly previous?: string | undefined;
  /** Whether refresh tokens are useful. */
  readonly renewable: boolean;
}

/**
 * The configured scopes, else those that the server requires, else all that it supports; undefined: none. If a
 * sign-in lacked scopes, the required ones are added.
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
