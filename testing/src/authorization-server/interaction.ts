import type { KoaContextWithOIDC, Provider } from 'oidc-provider';

/** The simulated user of the browser. */
export interface Person {
  name: string;
  /** Whether the user grants access. */
  consents: boolean;
}

export const INTERACTION_PATH = '/interaction/';

/** Signs the user in, or gives consent, without showing a page. */
export async function interact(
  provider: Provider,
  context: KoaContextWithOIDC,
  { name, consents }: Person,
): Promise<void> {
  const { prompt, params, grantId, session } = await provider.interactionDetails(context.req, context.res);
  const finish = async (result: Parameters<Provider['interactionResult']>[2]): Promise<void> => {
    context.redirect(await provider.interactionResult(context.req, context.res, result));
  };
  if (prompt.name === 'login') return finish({ login: { accountId: name } });
  if (!consents) return finish({ error: 'access_denied', error_description: 'The person said no' });
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const grant =
    known ??
    new provider.Grant({ accountId: session?.accountId ?? name, clientId: String(params.client_id) });
  const { missingOIDCScope, missingResourceScopes } = prompt.details;
  if (Array.isArray(missingOIDCScope)) grant.addOIDCScope(missingOIDCScope.join(' '));
  for (const [resource, scopes] of Object.entries(missingResourceScopes ?? {})) {
    if (Array.isArray(scopes)) grant.addResourceScope(resource, scopes.join(' '));
  }
  await finish({ consent: { grantId: await grant.save() } });
}
