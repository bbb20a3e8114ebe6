/** Closing waits a while for a token that was requested, not for as long as an authorization server likes. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitUntil } from '@turnbuckle/testing';
import { createRuntime } from 'turnbuckle';
import { expect, it, onTestFinished } from 'vitest';

it('a runtime closes while an authorization server does not answer', async () => {
  const unanswered = new Set<ServerResponse>();
  const web = createServer((request, response) => {
    const base = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
    const json = (status: number, body: object, headers = {}): void => {
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(body));
    };
    if (request.url?.startsWith('/.well-known/oauth-protected-resource'))
      return json(200, { resource: `${base}/mcp`, authorization_servers: [base] });
    if (request.url?.startsWith('/.well-known/'))
      return json(200, {
        issuer: base,
        authorization_endpoint: `${base}/authorize`,
        token_endpoint: `${base}/token`,
        response_types_supported: ['code'],
        grant_types_supported: ['client_credentials'],
      });
    if (request.url === '/token') {
      unanswered.add(response);
      response.once('close', () => unanswered.delete(response));
      return;
    }
    const metadata = `${base}/.well-known/oauth-protected-resource/mcp`;
    json(401, {}, { 'www-authenticate': `Bearer resource_metadata="${metadata}"` });
  });
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    web.closeAllConnections();
    web.close();
  });
  const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}/mcp`;
  const auth = { type: 'client-credentials' as const, clientId: 'me', clientSecret: 'a-secret-of-mine' };
  const runtime = await createRuntime({ servers: { slow: { url, auth } } });
  void runtime.connectAll();
  await waitUntil(() => unanswered.size > 0);
  await runtime.close();
  expect(unanswered.size).toBe(1);
});
