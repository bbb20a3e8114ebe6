import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  accepts,
  CONNECTION_STATES,
  type ConnectionEvent,
  describeState,
  transition,
} from '../../../src/connection/state.js';

const RUNS = { numRuns: 10_000 };
const EVENTS: ConnectionEvent[] = [
  'open',
  'opened',
  'retry-scheduled',
  'gave-up',
  'refused-auth',
  'lost',
  'disconnect',
  'close',
];
const event = fc.constantFrom(...EVENTS);
const state = fc.constantFrom(...CONNECTION_STATES);

// requirement C5
describe('the states of a connection', () => {
  it('only change by an event that the state accepts', () => {
    fc.assert(
      fc.property(state, event, (from, what) => {
        const to = transition(from, what);
        expect(CONNECTION_STATES).toContain(to);
        if (!accepts(from, what)) expect(to).toBe(from);
      }),
      RUNS,
    );
  });

  it('stay closed after any event, and reach ready only from connecting', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        let now = transition('idle', 'open');
        let closed = false;
        for (const what of events) {
          const before = now;
          now = transition(before, what);
          if (now === 'ready' && before !== 'ready') expect(before).toBe('connecting');
          closed ||= what === 'close';
          if (closed) expect(now).toBe('closed');
        }
      }),
      RUNS,
    );
  });

  it('always have a public status, and never report "connected" when they are not', () => {
    const facts = fc.record({ enabled: fc.boolean(), wasReady: fc.boolean(), attempts: fc.nat(20) });
    fc.assert(
      fc.property(state, facts, (now, known) => {
        const words = describeState(now, known);
        expect(['connected', 'failed', 'needs-auth', 'pending', 'disabled']).toContain(words.status);
        expect(['disconnected', 'connecting', 'connected', 'reconnecting', 'error']).toContain(words.state);
        expect(words.status === 'connected').toBe(now === 'ready' && known.enabled);
        expect(words.status === 'disabled').toBe(!known.enabled);
        expect(words.state === 'connected').toBe(now === 'ready');
      }),
      RUNS,
    );
  });
});
