/** Bodies that are nested too deep, at every route with a body: rejected, and the daemon keeps running. */
import { fixture } from '@turnbuckle/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ChildDaemon, childDaemon } from './child-daemon.js';

let daemon: ChildDaemon;
beforeAll(async () => {
  daemon = await childDaemon({ servers: { up: fixture('echo') } });
});
afterAll(() => daemon.remove());

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

it('are rejected by every route', async () => {
  const { paths } = (await (await daemon.fetch('/openapi.json')).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const addresses = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => ['post', 'put', 'patch'].includes(method))
      .map((method) => ({ method: method.toUpperCase(), path: path.replaceAll(/\{[^}]*\}/g, 'up') })),
  );
  expect(addresses.length).toBeGreaterThan(8);
  for (const levels of [600, 5_000, 500_000])
    for (const { method, path } of addresses) {
      const body = `{"server":"up","tool_name":"echo","arguments":{"text":${nested(levels)}}}`;
      const { status } = await daemon.fetch(path, { method, body });
      // Some routes have a smaller limit, for which the body is already too large.
      const refusals = [400, 403, 404, 405, 409, ...(body.length > 262_144 ? [413] : [])];
      expect(refusals, `${method} ${path}`).toContain(status);
    }
  expect(await daemon.call('up', 'echo', { text: 'still there' })).toMatchObject({ success: true });
  expect(await Promise.race([daemon.ended, 'running'])).toBe('running');
});

it('within the depth limit pass to the server and back', async () => {
  const deep: { success?: unknown } = await daemon.call('up', 'echo', {
    text: 'x',
    deep: JSON.parse(nested(150)),
  });
  expect(deep.success).toBe(true);
});
