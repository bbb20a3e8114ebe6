import { setImmediate as nextTurn } from 'node:timers/promises';
import { fixture } from '@turnbuckle/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';

let own: OwnDaemon | undefined;
afterEach(() => own?.close());

describe('many readers of the events', () => {
  it('cause no warning, and all of their streams end with the daemon', async () => {
    const warnings: string[] = [];
    const note = ({ message }: Error): void => void warnings.push(message);
    process.on('warning', note);
    try {
      const here = await ownDaemon({ servers: { up: fixture('echo') } });
      own = here;
      const streams = await Promise.all(Array.from({ length: 40 }, () => here.fetch('/api/events')));
      const texts = streams.map((stream) => stream.text());
      await here.post('/mcp/call', { server: 'up', tool_name: 'echo', arguments: { text: 'x' } });
      await nextTurn();
      await here.daemon.close(5_000);
      own = undefined;
      for (const text of await Promise.all(texts)) expect(text).toContain('call.settled');
      expect(warnings.filter((text) => text.includes('listeners'))).toEqual([]);
    } finally {
      process.off('warning', note);
    }
  });
});
