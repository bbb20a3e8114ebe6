import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fixture, ISSUED_SECRETS, waitUntil } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { ownDaemon } from '../daemon/own-daemon.js';
import { readAll } from '../log/recorded-runtime.js';

const OTHERS = Object.entries(ISSUED_SECRETS)
  .filter(([kind]) => kind !== 'a private key')
  .flatMap(([, secrets]) => secrets.slice(0, 1));

/** A collector of traces, and all that it received. */
async function collect(): Promise<{ readonly endpoint: string; text(): string }> {
  let received = '';
  const server = createServer((request, response) => {
    request.setEncoding('utf8').on('data', (part: string) => {
      received += part;
    });
    request.on('end', () => response.end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { endpoint: `http://127.0.0.1:${port}/v1/traces`, text: () => received };
}

it('tokens, ours too, are in nothing that is kept or shown, whatever they came in', async () => {
  const traces = await collect();
  const own = await ownDaemon({
    servers: { demo: fixture('echo') },
    rules: [{ action: 'ask', tool: 'add' }],
    daemon: { traces: { endpoint: traces.endpoint } },
  });
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (isOpen) await own.close();
    isOpen = false;
  };
  onTestFinished(close);
  const { runtime } = own.daemon.configured;
  await runtime.connectAll();
  const made = await own.post('/api/tokens', { name: 'agent', access: ['call'], can: ['mcp_integration'] });
  const agent = String((made.body as { token?: unknown }).token);
  const owner = own.daemon.token ?? '';
  const strange = `tbk_${randomBytes(32).toString('base64url')}`;
  for (const token of [owner, agent]) expect(token).toMatch(/^tbk_/);

  let events = '';
  const leave = new AbortController();
  onTestFinished(() => leave.abort());
  const feed = await own.fetch('/api/events', { signal: leave.signal });
  void (async () => {
    for await (const part of feed.body ?? []) events += Buffer.from(part).toString('utf8');
  })().catch(() => undefined);

  const secrets = [owner, agent, strange, ...OTHERS];
  const waiting: Promise<unknown>[] = [];
  for (const secret of secrets) {
    const call = (tool_name: string, args: object) =>
      own.post('/mcp/call', { server: 'demo', tool_name, arguments: args });
    // The result belongs to the caller, and is returned unchanged.
    expect(JSON.stringify((await call('echo', { text: `say ${secret}` })).body)).toContain(secret);
    await call('echo', { text: 'x', [secret]: { deep: [secret] } });
    await call(secret, {});
    await call(`demo_${secret}`, { text: secret });
    await call('sleep', { ms: secret });
    await own.post('/resources/read', { server: 'demo', uri: `demo://${secret}/?x=${secret}` });
    await own.post('/mcp/call', { server: secret, tool_name: 'echo', arguments: { text: secret } });
    await own.fetch(`/api/calls?q=${secret}`, { headers: { 'x-other': secret } });
    waiting.push(
      own.post(
        '/mcp/call',
        { server: 'demo', tool_name: 'add', arguments: { a: 1, b: 2, c: secret } },
        agent,
      ),
    );
  }
  await waitUntil(() => runtime.approvals.pending().length >= 1);
  const received: string[] = [];
  for (const path of [
    '/api/approvals',
    '/api/calls?limit=500',
    '/api/servers',
    '/api/servers/demo',
    '/api/tokens',
    '/metrics',
  ])
    received.push(await (await own.fetch(path)).text());
  const calls = (JSON.parse(received[1] ?? '') as { calls: Array<{ id: string }> }).calls;
  for (const { id } of calls.slice(0, 40)) received.push(await (await own.fetch(`/api/calls/${id}`)).text());
  for (const { id } of runtime.approvals.pending()) runtime.approvals.answer(id, 'deny');
  await Promise.all(waiting);
  await waitUntil(() => events.split('call.settled').length > secrets.length);
  await runtime.close();
  const files = readAll(join(own.stateDir, 'log'));
  await close();

  const places = { files, api: received.join('\n'), events, traces: traces.text() };
  for (const [place, text] of Object.entries(places)) {
    expect([place, text.includes('[redacted]')]).toEqual([place, true]);
    for (const secret of secrets) {
      const at = text.indexOf(secret);
      expect([place, at === -1 ? '' : text.slice(at - 120, at + 60)]).toEqual([place, '']);
    }
  }
});
