import { describe, expect, it } from 'vitest';
import { openNetwork, openStdio } from './ports.js';
import type { OpenPort } from './setting.js';
import { Stage } from './stage.js';
import { textOf } from './text-of.js';

const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];

const WAYS: Record<string, OpenPort> = {
  stdio: openStdio,
  http: openNetwork('http'),
  sse: openNetwork('sse'),
  websocket: openNetwork('websocket'),
};

// requirement C2
describe.each(Object.entries(WAYS))('handshake revisions over %s', (transport, open) => {
  it.each([true, false])('supports each one (express lane: %s)', async (expressLane) => {
    const facts = { reportedTransport: transport, carriesProgress: true, outlivesDrop: false };
    const stage = new Stage({ transport, era: 'legacy', expressLane, open, ...facts });
    try {
      const servers = await Promise.all(
        REVISIONS.map(
          async (revision) => [revision, await stage.server('echo', '--revision', revision)] as const,
        ),
      );
      const runtime = await stage.runtime(Object.fromEntries(servers));
      const versions = runtime.status().map(({ name, protocolVersion }) => [name, protocolVersion]);
      expect(versions).toEqual(REVISIONS.map((revision) => [revision, revision]));
      for (const revision of REVISIONS)
        expect(textOf(await runtime.callTool(revision, 'echo', { text: revision }))).toBe(revision);
    } finally {
      await stage.close();
    }
  });
});
