/** A call that waits while its server is disabled, removed or replaced is not sent, and starts nothing. */
import { fixture, waitUntil } from '@turnbuckle/testing';
import { type Caller, createRuntime, type Runtime, type RuntimeOptions } from 'turnbuckle';
import { describe, expect, it, onTestFinished } from 'vitest';
import { gate } from '../catalog/link-server.js';
import { TinyServer, toolNamed } from '../policy/tiny-server.js';

const TOOLS = [toolNamed('first'), toolNamed('second')];
const caller = (id: string): Caller => ({ id, capabilities: ['mcp_integration'], run: 'r' });

/** It counts its connections. */
class CountedServer extends TinyServer {
  connections = 0;

  override async connect(wire: never): Promise<void> {
    this.connections += 1;
    await super.connect(wire);
  }
}

interface Stage {
  readonly runtime: Runtime;
  readonly server: CountedServer;
  /** What a call waits for. */
  release(): void;
}

async function open(share: string, options: RuntimeOptions, more: object = {}): Promise<Stage> {
  const server = new CountedServer(TOOLS);
  const { opened, open: release } = gate();
  const other = new TinyServer(TOOLS);
  other.held = opened;
  const runtime = await createRuntime({
    defaultDecision: 'allow',
    approve: () => opened.then(() => 'once' as const),
    ...options,
    servers: { s: server.config({ share, start: 'lazy', ...more }), other: other.config() },
  });
  onTestFinished(() => runtime.close());
  onTestFinished(release);
  await runtime.connectAll();
  await runtime.connect('s');
  return { runtime, server, release };
}

const WAITS = [
  {
    what: 'its turn at the server',
    begin: async (share: string) => {
      const stage = await open(share, {}, { maxInFlight: 1 });
      const { opened, open: release } = gate();
      stage.server.held = opened;
      const first = stage.runtime.callTool('s', 'first', {}, { caller: caller('ada') }).catch(() => {});
      await waitUntil(() => stage.server.calls.length === 1);
      return { ...stage, release, first };
    },
  },
  {
    what: 'its turn at the runtime',
    begin: async (share: string) => {
      const stage = await open(share, { limits: { maxInFlight: 1 } });
      const first = stage.runtime.callTool('other', 'first', {}, { caller: caller('ada') }).catch(() => {});
      await waitUntil(() => stage.runtime.serverStatus('other').inFlight === 1);
      return { ...stage, first };
    },
  },
  {
    what: 'approval',
    begin: async (share: string) => ({
      ...(await open(share, { rules: [{ action: 'ask', caller: ['bob'] }] })),
      first: Promise.resolve(),
    }),
  },
];

const CHANGES = [
  { change: 'removed', apply: ({ runtime }: Stage) => runtime.removeServer('s') },
  { change: 'left out', apply: ({ runtime }: Stage) => runtime.setServers({}) },
  {
    change: 'replaced',
    apply: ({ runtime }: Stage) => runtime.setServers({ s: new TinyServer(TOOLS).config({ start: 'lazy' }) }),
  },
  { change: 'disabled', apply: ({ runtime }: Stage) => runtime.toggle('s', false) },
];

describe.each(['shared', 'agent', 'session'])('with share: %s, a call', (share) => {
  describe.each(WAITS)('that waits for $what', ({ begin }) => {
    it.each(CHANGES)('is not sent to a server that is $change', async ({ apply }) => {
      const stage = await begin(share);
      const { runtime, server, release, first } = stage;
      const waiting = runtime.callTool('s', 'second', {}, { caller: caller('bob') }).then(
        () => 'sent',
        ({ code }) => code,
      );
      await new Promise(setImmediate);
      const { connections } = server;
      await apply(stage);
      release();
      expect(await waiting).not.toBe('sent');
      await first;
      expect(server.calls).not.toContain('second');
      expect(server.connections).toBe(connections);
    });
  });
});

it('a call that waits for its turn does not act with credentials that were taken away', async () => {
  const config = { ...fixture('echo'), maxInFlight: 1 };
  const ofAda = { ada: { env: { API_KEY: 'key-of-ada' } } };
  const runtime = await createRuntime({
    defaultDecision: 'allow',
    servers: { s: { ...config, credentials: { ...ofAda, bob: { env: { API_KEY: 'old-key-of-bob' } } } } },
  });
  onTestFinished(() => runtime.close());
  await runtime.connectAll();
  const asBob = () => runtime.callTool('s', 'env', {}, { caller: caller('bob') });
  const first = runtime.callTool('s', 'sleep', { ms: 60_000 }, { caller: caller('ada') }).catch(() => {});
  await waitUntil(() => runtime.serverStatus('s').inFlight === 1);
  const waiting = expect(asBob()).rejects.toMatchObject({ code: 'RUNTIME_CLOSED', data: { sent: false } });
  await waitUntil(() => runtime.serverStatus('s').queued === 1);
  await runtime.setServers({ s: { ...config, credentials: { ...ofAda, '*': false } } });
  await Promise.all([first, waiting]);
  await expect(asBob()).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
});
