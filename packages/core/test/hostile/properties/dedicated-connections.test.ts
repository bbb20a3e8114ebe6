import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Connection } from '../../../src/connection/connection.js';
import { IdleTimer } from '../../../src/connection/idle-timer.js';
import {
  type DedicatedConnection,
  DedicatedConnections,
} from '../../../src/servers/dedicated-connections.js';

interface Made {
  readonly whose: string | undefined;
  readonly idle: IdleTimer;
  users: number;
  isClosed: boolean;
  isGone: boolean;
  gone: () => void;
}

const CALLER = { callerId: 'a', identity: 'a' };

/** A step: a call starts or ends in a session of an agent, or a closing connection has closed. */
const step = fc.record({
  what: fc.constantFrom('call', 'call', 'call', 'answer', 'gone'),
  who: fc.constantFrom(undefined, 'a', 'a', 'a', 'b', 'c', 'd'),
  run: fc.nat(12),
});

class Bench {
  readonly made = new Map<Connection, Made>();
  readonly max: number;
  readonly apart: DedicatedConnections;
  #whose: string | undefined;

  constructor(max: number) {
    this.max = max;
    this.apart = new DedicatedConnections({ server: 's', max, connect: () => this.#connect() });
  }

  #connect(): DedicatedConnection {
    const idle = new IdleTimer({ idleMs: 0, onIdle: () => {} });
    let gone = (): void => {};
    const ended = new Promise<void>((resolve) => {
      gone = resolve;
    });
    const made: Made = { whose: this.#whose, idle, users: 0, isClosed: false, isGone: false, gone };
    const close = (): Promise<void> => {
      expect(made.users, 'nothing is ended that is in use').toBe(0);
      made.isClosed = true;
      return ended;
    };
    const connection = { idle, close } as unknown as Connection;
    this.made.set(connection, made);
    return { connection, tools: () => undefined, relist: () => Promise.resolve() };
  }

  held = (whose: string | undefined): Made[] =>
    [...this.made.values()].filter((one) => one.whose === whose && !one.isClosed);

  call(whose: string | undefined, run: number): boolean {
    const key = `${whose} ${run}`;
    this.#whose = whose;
    try {
      const connection =
        this.apart.find(key)?.connection ??
        this.apart.add(key, { ownerId: whose, agent: undefined, connectionOf: CALLER });
      const made = this.made.get(connection);
      if (made === undefined) throw new Error('Nobody made it');
      made.users += 1;
      connection.idle.enter();
      return true;
    } catch (error) {
      expect(error).toMatchObject({ code: 'OVERLOADED' });
      return false;
    }
  }

  answer(whose: string | undefined): void {
    const made = this.held(whose).find(({ users }) => users > 0);
    if (made === undefined) return;
    made.users -= 1;
    made.idle.leave();
  }

  /** Lets all closing connections of this agent finish. */
  async gone(whose: string | undefined): Promise<void> {
    for (const made of this.made.values()) {
      if (made.whose !== whose || !made.isClosed) continue;
      made.isGone = true;
      made.gone();
    }
    for (let hop = 0; hop < 4; hop += 1) await Promise.resolve();
  }
}

describe('the connections of agents and sessions', () => {
  it('never exceed the limit, are never all held by one agent, and are denied to a new agent only if all are in use', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 20 }),
        fc.array(step, { maxLength: 80 }),
        async (max, steps) => {
          const bench = new Bench(max);
          const places = max - Math.floor(max / 8);
          for (const { what, who, run } of steps) {
            if (what === 'answer') bench.answer(who);
            else if (what === 'gone') await bench.gone(who);
            else {
              const isNew = bench.held(who).length === 0;
              const others = ['a', 'b', 'c', 'd'].filter((id) => id !== who && bench.held(id).length > 0);
              const share = Math.max(1, Math.ceil(places / (others.length + 2)));
              const could = others.some((id) => bench.held(id).some(({ users }) => users === 0));
              const isIn = bench.call(who, run);
              const closing = [...bench.made.values()].filter(({ isClosed, isGone }) => isClosed && !isGone);
              const leaving = closing.filter((one) => one.whose === who).length >= share;
              if (isNew && who !== undefined && could && !leaving && closing.length <= max)
                expect(isIn).toBe(true);
            }
            expect(bench.apart.size).toBeLessThanOrEqual(max);
            for (const id of ['a', 'b', 'c', 'd'])
              expect(bench.held(id).length).toBeLessThanOrEqual(Math.max(1, Math.ceil(places / 2)));
          }
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('count until they have closed: no agent holds more than twice its share', () => {
    const bench = new Bench(64);
    let calls = 0;
    for (let run = 0; run < 200; run += 1) {
      if (!bench.call('a', run)) continue;
      calls += 1;
      bench.answer('a');
    }
    expect(calls).toBe(56);
    expect(bench.call('b', 1)).toBe(true);
  });
});
