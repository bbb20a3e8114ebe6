/** Calls that wait for their client take a place only as long as they do, whenever they, or their questions, end. */
import { createRandom } from '@turnbuckle/testing';
import type { CancelSignal, Respondent } from 'turnbuckle';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ParkedCalls } from '../../src/mcp/parked-calls.js';
import type { SurfaceRequest, SurfaceResult } from '../../src/mcp/surface.js';

const CLIENT = { capabilities: { elicitation: { form: {} } } };
const DONE = { content: [{ type: 'text', text: 'done' }] };
const WAIT_MS = 300_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** When the server asks, and when it is done whatever was answered; without an end it waits for the answers. */
interface Plan {
  readonly asksAt: readonly number[];
  readonly endsAt?: number | undefined;
  readonly fails?: boolean | undefined;
  /** Whether it ends when it is told to. */
  readonly isDeaf?: boolean | undefined;
}

function performing({ asksAt, endsAt, fails, isDeaf }: Plan) {
  return async (respondent: Respondent, signal: CancelSignal): Promise<SurfaceResult> => {
    const over = new AbortController();
    const ask = async (ms: number): Promise<unknown> => {
      await later(ms);
      const asked = { id: undefined, params: { message: 'Who?' }, signal: over.signal };
      return respondent.answers?.elicitation?.(asked as never);
    };
    const questions = Promise.allSettled(asksAt.map(ask));
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => isDeaf !== true && reject(new Error('aborted')));
    });
    await Promise.race([endsAt === undefined ? questions : later(endsAt), aborted]);
    if (fails === true) throw new Error('No');
    return DONE;
  };
}

const requestOf = (more: object = {}): SurfaceRequest => ({
  method: 'tools/call',
  params: { name: 'x', ...more },
  caller: { id: 'ada', capabilities: [] },
  era: 'modern',
});

const stateOf = (result: SurfaceResult): string | undefined =>
  typeof result === 'object' && result.resultType === 'input_required'
    ? String(result.requestState)
    : undefined;

describe('a call that waits for its client', () => {
  it('is delivered when it ends right after it asked, and takes no place', async () => {
    const parked = new ParkedCalls();
    const given = parked.start(requestOf(), CLIENT, performing({ asksAt: [0], endsAt: 5 }));
    await vi.advanceTimersByTimeAsync(50);
    expect(await given).toEqual(DONE);
    expect(parked.size).toBe(0);
  });

  it('loses its place when its time is up, also when it does not end', async () => {
    const parked = new ParkedCalls();
    const plan = { asksAt: [0], endsAt: 10 * WAIT_MS, isDeaf: true };
    const given = parked.start(requestOf(), CLIENT, performing(plan));
    await vi.advanceTimersByTimeAsync(50);
    expect(stateOf(await given)).toBeDefined();
    expect(parked.size).toBe(1);
    await vi.advanceTimersByTimeAsync(WAIT_MS);
    expect(parked.size).toBe(0);
  });

  it.each(Array.from({ length: 10 }, (_, seed) => seed))(
    'is delivered to who waits for it, and leaves no place taken, whatever ends when (seed %i)',
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
            return String(thrown).includes('not one that is waited for') ? 'over meanwhile' : 'failed';
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
          isDeaf: random() < 0.1,
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
