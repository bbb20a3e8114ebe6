import { describe, expect, it } from 'vitest';
import {
  type ClientResponder,
  ClientResponders,
} from '../../src/connection/server-requests/client-responders.js';

const responder = (more: Partial<ClientResponder> = {}): ClientResponder => ({
  capabilities: {},
  answers: {},
  ...more,
});

describe('a message of a server that belongs to no call', () => {
  it('is for no responder, or for the only one', () => {
    const all = new ClientResponders();
    expect(all.unambiguous).toBeUndefined();
    const one = responder();
    all.add(one);
    all.add(one);
    expect(all.unambiguous).toBe(one);
    all.remove(one);
    expect(all.unambiguous).toBe(one);
    all.remove(one);
    expect(all.unambiguous).toBeUndefined();
  });

  it('is for no responder if it could be for two', () => {
    const all = new ClientResponders();
    const [one, other] = [responder(), responder()];
    all.add(one);
    all.add(other);
    expect(all.unambiguous).toBeUndefined();
    all.remove(other);
    expect(all.unambiguous).toBe(one);
  });

  it('is for the only session: its latest responder without a pending request', () => {
    const all = new ClientResponders();
    const session = {};
    const first = responder({ session });
    const waiting = responder({ session, isWaiting: () => true });
    all.add(first);
    all.add(waiting);
    expect(all.unambiguous).toBe(first);
    all.add(responder({ session: {} }));
    expect(all.unambiguous).toBeUndefined();
  });
});
