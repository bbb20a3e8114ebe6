/** Requests that a lane does not send. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { Cancellation } from '../../src/async/cancel-signal.js';
import { ChannelLane } from '../../src/connection/lanes/channel-lane.js';
import type { LaneRequest } from '../../src/connection/lanes/lane.js';
import { IgnoredMessages } from '../../src/connection/protocol/ignored-messages.js';
import { NotificationGate } from '../../src/connection/server-requests/notification-gate.js';

function openLane(): { lane: ChannelLane; sent: JSONRPCMessage[] } {
  const sent: JSONRPCMessage[] = [];
  const channel = {
    start: async () => {},
    close: async () => {},
    send: async (message: JSONRPCMessage) => void sent.push(message),
  };
  const lane = new ChannelLane(channel, {
    server: 'demo',
    maxBytes: 1_000_000,
    gate: new NotificationGate(100),
    ignored: new IgnoredMessages(() => {}),
    onDefect: (error) => {
      throw error;
    },
  });
  return { lane, sent };
}

const request = (more: Partial<LaneRequest> = {}): LaneRequest => ({
  method: 'tools/call',
  params: { name: 'echo' },
  timeoutMs: 60_000,
  maxTotalMs: 60_000,
  ...more,
});

const cancelled = new Cancellation();
cancelled.cancel();

describe('a lane', () => {
  it.each([
    ['an AbortSignal', AbortSignal.abort()],
    ['a Cancellation', cancelled],
  ])('sends nothing for a call that was cancelled before, by %s', async (_name, signal) => {
    const { lane, sent } = openLane();
    await expect(lane.request(request({ signal }))).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
    expect(sent).toEqual([]);
    // The place is free again: the next request gets it, and its own answer.
    const next = lane.request(request());
    const [message] = sent;
    const id = message !== undefined && 'id' in message ? message.id : undefined;
    lane.close();
    expect(id).toBeGreaterThanOrEqual(1_000_000_000);
    next.catch(() => {});
  });

  it('refuses a request for which it has no number', async () => {
    const { lane, sent } = openLane();
    const abort = new AbortController();
    const { signal } = abort;
    const pending = Array.from({ length: 65_536 }, () => lane.request(request({ signal })));
    await expect(lane.request(request())).rejects.toMatchObject({
      code: 'OVERLOADED',
      data: { sent: false },
    });
    expect(sent).toHaveLength(65_536);
    abort.abort();
    await Promise.allSettled(pending);
  });
});
