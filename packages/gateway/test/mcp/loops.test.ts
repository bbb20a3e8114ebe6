/** A daemon never becomes a server of itself, whatever route leads back to it. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fixture } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';

const ECHO = { echo: fixture('echo') };

async function open(config: object): Promise<OwnDaemon> {
  const own = await ownDaemon(config);
  onTestFinished(() => own.close());
  await own.daemon.configured.runtime.connectAll();
  return own;
}

const entry = ({ daemon }: OwnDaemon, more: object = {}, url = daemon.url) => ({
  url: `${url}/mcp`,
  headers: { Authorization: `Bearer ${daemon.token}` },
  ...more,
});

const statusOf = ({ daemon }: OwnDaemon, name: string) => {
  const { runtime } = daemon.configured;
  return runtime.serverNames().includes(name) ? runtime.serverStatus(name) : undefined;
};

const toolCount = ({ daemon }: OwnDaemon): number => daemon.configured.runtime.tools().length;

/** A proxy that forwards everything and adds nothing. */
async function openProxy(target: string): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, host: new URL(target).host };
    const { method, url } = incoming;
    const onward = request(new URL(url ?? '/', target), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it.each(['auto', 'legacy', 'modern'])('refuses its own address (%s)', async (era) => {
  const own = await open({ servers: ECHO });
  const before = toolCount(own);
  own.configure({ servers: { ...ECHO, self: entry(own, { era }) } });
  await expect.poll(() => statusOf(own, 'self')?.error?.code, { timeout: 20_000 }).toBe('GATEWAY_LOOP');
  expect(statusOf(own, 'self')).toMatchObject({ status: 'failed', tools: [] });
  expect(toolCount(own)).toBe(before);
});

it('refuses its own address behind a proxy, and that of a view of it', async () => {
  const own = await open({ servers: ECHO, daemon: { views: { some: { tools: ['add'] } } } });
  const proxy = await openProxy(own.daemon.url);
  own.configure({
    servers: {
      ...ECHO,
      behind: entry(own, {}, proxy),
      view: { ...entry(own), url: `${own.daemon.url}/mcp/some` },
    },
    daemon: { views: { some: { tools: ['add'] } } },
  });
  for (const name of ['behind', 'view'])
    await expect.poll(() => statusOf(own, name)?.error?.code, { timeout: 20_000 }).toBe('GATEWAY_LOOP');
});

it('refuses another gateway that leads back to it, and accepts one that does not', async () => {
  const first = await open({ servers: ECHO });
  const second = await open({ servers: { ...ECHO, first: entry(first) } });
  expect(statusOf(second, 'first')).toMatchObject({ status: 'connected' });
  const count = toolCount(second);
  first.configure({ servers: { ...ECHO, second: entry(second) } });
  await expect.poll(() => statusOf(first, 'second')?.error?.code, { timeout: 20_000 }).toBe('GATEWAY_LOOP');
  await second.daemon.configured.runtime.refresh();
  expect(toolCount(second)).toBe(count);
  expect(statusOf(second, 'first')).toMatchObject({ status: 'connected' });
});

it('limits the length of a chain of gateways', async () => {
  let last = await open({ servers: ECHO });
  for (let hops = 2; hops <= 4; hops += 1) {
    last = await open({ servers: { next: entry(last) } });
    expect(statusOf(last, 'next')).toMatchObject({ status: 'connected' });
  }
  const tooFar = await open({ servers: { next: entry(last) } });
  expect(statusOf(tooFar, 'next')?.error).toMatchObject({ code: 'GATEWAY_LOOP' });
});
