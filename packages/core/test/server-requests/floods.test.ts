import { expect, it } from 'vitest';
import { NotificationGate } from '../../src/connection/server-requests/notification-gate.js';
import { form, openAsked, WAYS } from './asked.js';

it.each(WAYS.filter(({ era }) => era === 'legacy'))(
  'a thousand concurrent requests do not block the host: $title',
  async (way) => {
    let seen = 0;
    const asked = await openAsked(way, {
      handlers: {
        elicitation: () => {
          seen += 1;
          return { action: 'decline' };
        },
      },
      limits: { notificationsPerSecond: 20 },
    });
    try {
      const params = form({ name: { type: 'string' } });
      const flood = asked.runtime.callTool(
        'asker',
        'ask',
        { kind: 'elicitation', params, times: 1_000, atOnce: true },
        { signal: AbortSignal.timeout(1_500) },
      );
      await expect(flood).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
      expect(seen).toBeLessThanOrEqual(5);
      // Requests above the rate are dropped without an event.
      expect(asked.events.length).toBeLessThan(500);
      expect(await asked.runtime.callTool('asker', 'echo', { text: 'alive' })).toMatchObject({
        content: [{ text: 'alive' }],
      });
    } finally {
      await asked.close();
    }
  },
);

it('a flood of requests leaves room for responses and notifications', () => {
  const gate = new NotificationGate(3);
  const passed: unknown[] = [];
  const pass = (message: object): void =>
    gate.passAny({ jsonrpc: '2.0', ...message } as never, (one) => passed.push(one));
  for (let id = 0; id < 10; id += 1) pass({ id, method: 'roots/list' });
  pass({ id: 1, result: {} });
  pass({ method: 'notifications/message' });
  gate.stop();
  expect(passed).toHaveLength(5);
  expect(gate.dropped).toBe(7);
});
