// Turns the context that the referee gives the client into a server's `auth`.

/**
 * @typedef {import('turnbuckle').ServerInput extends infer Server ? Server extends { auth?: infer Auth } ? 'auth' extends keyof Server ? NonNullable<Auth> : never : never : never} Auth
 * @typedef {{
 *   client_id?: string, client_secret?: string, private_key_pem?: string, signing_algorithm?: string,
 *   idp_id_token?: string, idp_token_endpoint?: string, idp_client_id?: string, valid_jwt?: string,
 * }} Context
 */

/**
 * @param {Context} context
 * @param {string} scenario decides what the context leaves open: a client secret fits a user's sign-in and client credentials
 * @returns {Auth}
 */
export function authFrom(context, scenario) {
  const { client_id: clientId, client_secret: clientSecret, private_key_pem: privateKey } = context;
  const secret = clientSecret === undefined ? {} : { clientSecret };
  if (clientId === undefined)
    return { type: 'oauth', clientMetadataUrl: 'https://conformance-test.local/client-metadata.json' };
  if (privateKey !== undefined)
    return {
      type: 'client-credentials',
      clientId,
      privateKey,
      ...(context.signing_algorithm !== undefined && { algorithm: context.signing_algorithm }),
    };
  if (context.idp_id_token !== undefined)
    return {
      type: 'enterprise',
      clientId,
      ...secret,
      idp: {
        tokenUrl: context.idp_token_endpoint ?? '',
        clientId: context.idp_client_id ?? '',
        idToken: context.idp_id_token,
      },
    };
  if (context.valid_jwt !== undefined)
    return { type: 'workload-identity', clientId, assertion: context.valid_jwt };
  return scenario.includes('client-credentials')
    ? { type: 'client-credentials', clientId, ...secret }
    : { type: 'oauth', clientId, ...secret };
}
