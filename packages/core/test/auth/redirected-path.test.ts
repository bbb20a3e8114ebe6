import { expect, it, onTestFinished } from 'vitest';
import { HttpLane } from '../../src/connection/lanes/http-lane.js';
import { FloodMeter } from '../../src/connection/protocol/flood-meter.js';
import { IgnoredMessages } from '../../src/connection/protocol/ignored-messages.js';
import { HttpEndpoint } from '../../src/connection/transports/http/http-endpoint.js';
import { ownHttpServer, sendJson } from '../lifecycle/own-http-server.js';

it.each([
  '//victim.example/mcp',
  '//',
  '//@victim.example',
  '/\\victim.example/mcp',
  '/other?x=//victim.example',
])('credentials after a redirect to %j are those for the own server', async (path) => {
  const url = await ownHttpServer(({ id }, response, request) => {
    if (request.url !== '/mcp') return sendJson(response, { id, result: {} });
    response.writeHead(307, { location: `http://${request.headers.host}${path}` }).end();
  });
  const asked: URL[] = [];
  const endpoint = await HttpEndpoint.open({
    server: 'far',
    url,
    headers: {},
    connectTimeoutMs: 5_000,
    maxBytes: 1_000_000,
    authorizer: {
      headers: ({ url: target }) => {
        asked.push(target);
        return {};
      },
      handleRefusal: async () => false,
    },
    flood: new FloodMeter({ unaskedBytesPerSecond: 4_000_000, maxFloodMs: 30_000 }),
    unsent: { maxUnsentBytes: 1_000_000, maxUnreadMs: 10_000 },
  });
  onTestFinished(() => endpoint.close());
  const lane = new HttpLane({
    server: 'far',
    endpoint,
    maxBytes: 1_000_000,
    rules: { server: 'far', maxDepth: 100 },
    ignored: new IgnoredMessages(() => {}),
    session: { sessionId: undefined, protocolVersion: undefined, deliver: () => {}, answer: () => undefined },
    onBroken: () => {},
  });
  await lane.request({ method: 'tools/call', params: { name: 'a' }, timeoutMs: 5_000, maxTotalMs: 5_000 });
  expect(asked.map(({ origin }) => origin)).toEqual([new URL(url).origin, new URL(url).origin]);
});
