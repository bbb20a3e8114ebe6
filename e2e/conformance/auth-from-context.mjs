// What the referee says that the client knows beforehand, as a server's `auth`.

/**
 * @param {Record<string, string>} context
 * @param {string} scenario names what the context leaves open: a secret alone can be a person's or a program's
 */
export function authFrom(context, scenario) {
  const { client_id: clientId, client_secret: clientSecret } = context;
  const secret = clientSecret === undefined ? {} : { clientSecret };
  if (clientId === undefined)
    return { type: 'oauth', clientMetadataUrl: 'https://conformance-test.local/client-metadata.json' };
  if (context.private_key_pem !== undefined)
    return {
      type: 'client-credentials',
      clientId,
      privateKey: context.private_key_pem,
      ...(context.signing_algorithm !== undefined && { algorithm: context.signing_algorithm }),
    };
  if (context.idp_id_token !== undefined)
    return {
      type: 'enterprise',
      clientId,
      ...secret,
      idp: {
        tokenUrl: context.idp_token_endpoint,
        clientId: context.idp_client_id,
        idToken: context.idp_id_token,
      },
    };
  if (context.valid_jwt !== undefined)
    return { type: 'workload-identity', clientId, assertion: context.valid_jwt };
  return {
    type: scenario.includes('client-credentials') ? 'client-credentials' : 'oauth',
    clientId,
    ...secret,
  };
}
