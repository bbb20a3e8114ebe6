/** Parked calls take a slot only while they wait, whenever they or their questions end. */
import { collectGarbage, createRandom } from '@turnbuckle/testing';
import type { CancelSignal, ClientResponder } from 'turnbuckle/host';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type DispatcherRequest,
  type DispatcherResult,
  isResponseText,
} from '../../src/mcp/dispatcher-request.js';
import { ParkedCalls } from '../../src/mcp/modern/parked-calls.js';

const CLIENT = { capabilities: { elicitation: { form: {} } } };
const DONE = { content: [{ type: 'text', text: 'done' }] };
const WAIT_MS = 300_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** When the server asks, and when it ends regardless of the answers; without an end it waits for them. */
interface Plan {
  readonly asksAt: readonly number[];
  readonly endsAt?: number | undefined;
  readonly fails?: boolean | undefined;
  /** It does not end when it is cancelled. */
  readonly ignoresCancel?: boolean | undefined;
}

function performing({ asksAt, endsAt, fails, ignoresCancel }: Plan) {
  return async (responder: ClientResponder, signal: CancelSignal): Promise<DispatcherResult> => {
    const over = new AbortController();
    const ask = async (ms: number): Promise<unknown> => {
      await later(ms);
      const asked = { id: undefined, params: { message: 'Who?' }, signal: over.signal };
      return responder.answers?.elicitation?.(asked as never);
    };
    const questions = Promise.allSettled(asksAt.map(ask));
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => ignoresCancel !== true && reject(new Error('aborted')));
    });
    await Promise.race([endsAt === undefined ? questions : later(endsAt), aborted]);
    if (fails === true) throw new Error('No');
    return DONE;
  };
}

const requestOf = (more: object = {}): DispatcherRequest => ({
  method: 'tools/call',
  params: { name: 'x', ...more },
  caller: { id: 'ada', capabilities: [] },
  view: '',
  era: 'modern',
});

const stateOf = (result: DispatcherResult): string | undefined =>
  !isResponseText(result) && result.resultType === 'input_required' ? String(result.requestState) : undefined;

describe('a call that waits for its client', () => {
  it('is delivered when it ends right after it asked, and takes no place', async () => {
    const parked = new ParkedCalls();
    const given = parked.start(requestOf(), CLIENT, performing({ asksAt: [0], endsAt: 5 }));
    await vi.advanceTimersByTimeAsync(50);
    expect(await given).toEqual(DONE);
    expect(parked.size).toBe(0);
  });

  it('loses its slot when its time is up, even if it does not end', async () => {
    const parked = new ParkedCalls();
    const plan = { asksAt: [0], endsAt: 10 * WAIT_MS, ignoresCancel: true };
    const given = parked.start(requestOf(), CLIENT, performing(plan));
    await vi.advanceTimersByTimeAsync(50);
    expect(stateOf(await given)).toBeDefined();
    expect(parked.size).toBe(1);
    await vi.advanceTimersByTimeAsync(WAIT_MS);
    expect(parked.size).toBe(0);
  });

  it.each(Array.from({ length: 10 }, (_, seed) => seed))(
    'is delivered to its client, and leaves no slot taken, in any order of events (seed %i)',
    async (seed) => {
      const random = createRandom(seed);
      const below = (most: number): number => Math.floor(random() * most);
      const parked = new ParkedCalls();
      const outcomes: string[] = [];
      const follow = async (plan: Plan): Promise<string> => {
        let given = await parked.start(requestOf(), CLIENT, performing(plan));
        for (let state = stateOf(given); state !== undefined; state = stateOf(given)) {
          if (random() < 0.1) return 'left';
          await later(below(60));
          const answer = { action: 'decline' };
          const keys = Object.keys(Object(Object(given).inputRequests));
          const inputResponses = Object.fromEntries(keys.map((key) => [key, answer]));
          try {
            given = await parked.resume(requestOf({ requestState: state, inputResponses }));
          } catch (thrown) {
            return String(thrown).includes('Unknown or expired requestState') ? 'over meanwhile' : 'failed';
          }
        }
        expect(given).toEqual(DONE);
        return 'done';
      };
      const count = 100;
      for (let index = 0; index < count; index += 1) {
        const plan = {
          asksAt: Array.from({ length: below(4) }, () => below(60)),
          endsAt: random() < 0.7 ? below(80) : undefined,
          fails: random() < 0.1,
          ignoresCancel: random() < 0.1,
        };
        void follow(plan).then(
          (outcome) => outcomes.push(outcome),
          () => outcomes.push('failed'),
        );
      }
      await vi.advanceTimersByTimeAsync(2_000);
      expect(outcomes).toHaveLength(count);
      expect(outcomes).toContain('done');
      await vi.advanceTimersByTimeAsync(WAIT_MS);
      expect(parked.size).toBe(0);
    },
  );
});

describe('the params of a call that waits for its client', () => {
  const MIB = 1_048_576;
  const PARTS = 20_000;
  /** What makes them large. */
  const LARGE: Readonly<Record<string, () => object>> = {
    text: () => ({ arguments: { x: 'a'.repeat(2 * MIB) } }),
    parts: () => ({ arguments: { x: Array.from({ length: PARTS }, () => [1]) } }),
    keys: () => ({
      arguments: Object.fromEntries(Array.from({ length: PARTS }, (_, index) => [`k${index}`, 1])),
    }),
    meta: () => ({ _meta: { x: 'a'.repeat(2 * MIB) } }),
  };
  beforeEach(() => void vi.useRealTimers());

  const used = (): number => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };

  /** Starts a call that asks and ends only on request: its requestState while it is parked, `refused` if it may not be. */
  function park(parked: ParkedCalls, request: DispatcherRequest, { client = CLIENT, over = NEVER } = {}) {
    return new Promise<string>((resolve, reject) => {
      const perform = async (responder: ClientResponder): Promise<DispatcherResult> => {
        const asked = { id: 'q', params: { message: 'Who?' }, signal: new AbortController().signal };
        const answer = responder.answers?.elicitation?.(asked as never);
        Promise.resolve(answer).then(undefined, () => resolve('refused'));
        await over;
        return DONE;
      };
      parked.start(request, client, perform).then((result) => resolve(String(stateOf(result))), reject);
    });
  }
  const NEVER = new Promise<void>(() => {});

  it.each(Object.entries(LARGE))('are not held once it has ended: %s', async (_, make) => {
    const parked = new ParkedCalls();
    const count = 10;
    let end = (): void => {};
    const before = used();
    for (let index = 0; index < count; index += 1) {
      const over = new Promise<void>((resolve) => {
        end = resolve;
      });
      const client = { capabilities: { ...CLIENT.capabilities, experimental: make() } };
      expect(await park(parked, requestOf(make()), { client, over })).toMatch(/^turnbuckle:/);
      end();
    }
    await later(20);
    expect(parked.size).toBe(count);
    expect(used() - before).toBeLessThan(count * 0.2 * MIB);
    parked.close();
  });

  it.each(Object.entries(LARGE))('are held only so far while it goes on: %s', async (_, make) => {
    const parked = new ParkedCalls();
    const params = make();
    let held = 0;
    while (held < 100 && (await park(parked, requestOf(params))) !== 'refused') held += 1;
    // A single caller gets half of the limit.
    expect(held).toBeGreaterThan(2);
    expect(held).toBeLessThan(50);
    expect(parked.size).toBe(held);
    // The request of another caller has its slot.
    const bob = { ...requestOf(params), caller: { id: 'bob', capabilities: [] } };
    expect(await park(parked, bob)).toMatch(/^turnbuckle:/);
    parked.close();
  });

  it.each(Object.entries(LARGE))('are distinguished by all of their content: %s', async (_, make) => {
    const parked = new ParkedCalls();
    const state = await park(parked, requestOf(make()), { over: later(500) });
    const inputResponses = { q: { action: 'decline' } };
    const come = (more: object) => parked.resume(requestOf({ ...more, requestState: state, inputResponses }));
    const { arguments: args = {} } = make() as { arguments?: object };
    for (const other of [
      { ...make(), arguments: { ...args, y: 1 } },
      { ...make(), more: 1 },
    ])
      await expect(come(other)).rejects.toThrow('Unknown or expired requestState');
    const both = await Promise.allSettled([come(make()), come(make())]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(parked.size).toBe(0);
  });
});
