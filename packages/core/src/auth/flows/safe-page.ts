/**
 * Checks the page that an authorization server wants to show to the user: public, or local next to a local server.
 */
import { TurnbuckleError } from '../../errors.js';
import type { PageGuard } from '../../fetching/page-guard.js';
import { authFailed } from '../auth-errors.js';
import { isSafeAddress } from '../client/authorization-server.js';

/** AUTH_FAILED for an unsafe page; checked before the page is shown in any way. */
export async function requireSafePage(
  url: string,
  { server, checkPage }: { readonly server: string; readonly checkPage: PageGuard },
): Promise<void> {
  if (!isSafeAddress(url)) throw unsafePage(server, 'is not an https URL');
  try {
    await checkPage(url);
  } catch (error) {
    if (!(error instanceof TurnbuckleError))
      throw authFailed(server, 'checking the authorization page', error);
    throw unsafePage(server, 'points to this machine or to a private network', {
      cause: error,
      hint: 'Nothing was opened. If you trust the page, set auth.issuer to its authorization server.',
    });
  }
}

function unsafePage(
  server: string,
  why: string,
  {
    hint = "Nothing was opened. Report this to the server's operator.",
    cause,
  }: { readonly hint?: string; readonly cause?: unknown } = {},
): TurnbuckleError {
  return new TurnbuckleError(
    'AUTH_FAILED',
    `Sign-in to server "${server}" was stopped because its authorization page ${why}.`,
    { server, hint, cause },
  );
}
