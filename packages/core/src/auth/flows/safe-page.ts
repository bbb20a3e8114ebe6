/** What an authorization server wants a person to see: an address of the web, and of this machine only beside it. */
import { TurnbuckleError } from '../errors.js';
import type { PageGuard } from '../fetching/page-guard.js';
import { authFailed } from './auth-errors.js';
import { isSafeAddress } from './authorization-server.js';

/** AUTH_FAILED for a page that nobody should be sent to; checked before it is shown in whatever way. */
export async function requireSafePage(
  url: string,
  { server, checkPage }: { readonly server: string; readonly checkPage: PageGuard },
): Promise<void> {
  if (!isSafeAddress(url)) throw stopped(server, 'is not an https address');
  try {
    await checkPage(url);
  } catch (error) {
    if (!(error instanceof TurnbuckleError)) throw authFailed(server, 'looking for its page', error);
    throw stopped(server, 'leads to this machine or into its network', {
      cause: error,
      hint: 'Nothing was opened. If you trust the page, name its authorization server in auth.issuer.',
    });
  }
}

function stopped(
  server: string,
  why: string,
  {
    hint = 'Nothing was opened. Tell those who run the server, or do not use it.',
    cause,
  }: { readonly hint?: string; readonly cause?: unknown } = {},
): TurnbuckleError {
  return new TurnbuckleError(
    'AUTH_FAILED',
    `Signing in at server "${server}" was stopped: its authorization page ${why}.`,
    { server, hint, cause },
  );
}
