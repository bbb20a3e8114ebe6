/** Whatever several workers and callers do, in any order: the queue does the same as a simple model of it. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RequestQueue } from '../../src/queue/queue.js';
import type { Claim } from '../../src/queue/request-row.js';
import { openStewardDatabase } from '../../src/queue/steps.js';
import { PRIORITIES, type Priority, REQUEST_KINDS } from '../../src/requests/request.js';
import type { RequestState } from '../../src/requests/request-status.js';
import { makeRequest } from '../request-maker.js';

const LEASE_MS = 100;
const ERROR = { code: 'TOOL_FAILED', message: 'It failed.' } as const;
const MAX_LOSSES = 5;
const MAX_LOSSES_WITH_UNDO = 8;

interface ModelRequest {
  readonly id: string;
  readonly priority: number;
  state: RequestState;
  step: string | undefined;
  ending: 'cancel' | 'fail' | undefined;
  owner: string | undefined;
  leaseUntil: number;
  attempt: number;
  losses: number;
  energy: number;
}

/** The same in memory, for one process. */
class Model {
  readonly requests: ModelRequest[] = [];
  readonly refs = new Set<string>();
  paused = false;
  stopped = false;
  untaken = 0;

  enqueue(id: string, priority: Priority): void {
    if (this.requests.some((one) => one.id === id)) return;
    this.requests.push({
      id,
      priority: PRIORITIES.indexOf(priority),
      state: 'queued',
      step: undefined,
      ending: undefined,
      owner: undefined,
      leaseUntil: 0,
      attempt: 0,
      losses: 0,
      energy: 0,
    });
  }

  isOpen = ({ state }: ModelRequest): boolean => state === 'queued' || state === 'in_progress';

  claim(worker: string, now: number): ModelRequest | undefined {
    this.lose(({ leaseUntil }) => leaseUntil <= now);
    const candidates = this.requests
      .filter((one) => this.isOpen(one) && one.owner === undefined)
      .filter(({ ending }) => !this.stopped && (!this.paused || ending !== undefined));
    const rank = (one: ModelRequest): number => (one.ending === undefined ? 0 : 10) + one.priority;
    const best = Math.max(...candidates.map(rank));
    const found = candidates.find((one) => rank(one) === best);
    if (found === undefined) return undefined;
    Object.assign(found, { state: 'in_progress', owner: worker, leaseUntil: now + LEASE_MS });
    found.attempt += 1;
    return found;
  }

  owned({ id, owner, attempt }: Claim): ModelRequest | undefined {
    return this.requests.find(
      (one) => one.id === id && this.isOpen(one) && one.owner === owner && one.attempt === attempt,
    );
  }

  spend(request: ModelRequest, ref: string, amount: number): void {
    if (this.refs.has(ref)) return;
    this.refs.add(ref);
    request.energy += amount;
    this.untaken += amount;
  }

  lose(isLost: (one: ModelRequest) => boolean): void {
    for (const one of this.requests) {
      if (!this.isOpen(one) || one.owner === undefined || !isLost(one)) continue;
      one.owner = undefined;
      one.losses += 1;
      if (one.losses >= MAX_LOSSES && one.ending === undefined) one.ending = 'fail';
      else if (one.losses >= MAX_LOSSES_WITH_UNDO) one.state = 'failed';
    }
  }
}

const IDS = ['a', 'b', 'c', 'd'];
const WORKERS = ['w1', 'w2', 'w3'];
const id = fc.constantFrom(...IDS);
const worker = fc.constantFrom(...WORKERS);
const action = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('enqueue' as const),
      id,
      priority: fc.constantFrom(...PRIORITIES),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('claim' as const), worker }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom('step', 'complete', 'beginUndo', 'fail', 'finishCancel', 'release', 'renew'),
      // Any claim that was ever given out, also one that has ended.
      claim: fc.nat(),
      amount: fc.nat(5_000),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), id }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('exit' as const), worker }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('time' as const), ms: fc.nat(LEASE_MS) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('mode' as const),
      name: fc.constantFrom('paused' as const, 'stopped' as const),
      isOn: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('take' as const) }) },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

class Pair {
  readonly #queue: RequestQueue;
  readonly #model = new Model();
  readonly #claims: Claim[] = [];
  #now = 1_000;
  #taken = 0;

  constructor(queue: RequestQueue) {
    this.#queue = queue;
  }

  apply(one: Action): void {
    const [queue, model, now] = [this.#queue, this.#model, this.#now];
    switch (one.do) {
      case 'enqueue':
        queue.enqueue(makeRequest({}, { id: one.id, priority: one.priority }), now);
        return model.enqueue(one.id, one.priority);
      case 'claim':
        return this.#claim(one.worker);
      case 'cancel':
        return this.#cancel(one.id);
      case 'exit':
        queue.releaseOwner(one.worker, now);
        return model.lose(({ owner }) => owner === one.worker);
      case 'time':
        this.#now += one.ms;
        return;
      case 'mode':
        queue.setMode(one.name, one.isOn);
        model[one.name] = one.isOn;
        return;
      case 'take':
        this.#taken += queue.takeEnergy() * 1_000;
        model.untaken = 0;
        return;
      default:
        return this.#work(one);
    }
  }

  #claim(name: string): void {
    const claimed = this.#queue.claim({
      worker: name,
      kinds: REQUEST_KINDS,
      leaseMs: LEASE_MS,
      now: this.#now,
    });
    const expected = this.#model.claim(name, this.#now);
    expect(claimed?.claim).toEqual(expected && { id: expected.id, owner: name, attempt: expected.attempt });
    expect([claimed?.step, claimed?.ending]).toEqual([expected?.step, expected?.ending]);
    if (claimed !== undefined) this.#claims.push(claimed.claim);
  }

  #cancel(of: string): void {
    const known = this.#model.requests.find((one) => one.id === of);
    if (known === undefined) {
      expect(() => this.#queue.requestCancel(of, '', this.#now)).toThrow(/no request/);
      return;
    }
    this.#queue.requestCancel(of, '', this.#now);
    if (!this.#model.isOpen(known) || known.ending !== undefined) return;
    if (known.attempt === 0) known.state = 'cancelled';
    else Object.assign(known, { ending: 'cancel', losses: 0 });
  }

  #work(one: Extract<Action, { readonly claim: number }>): void {
    const claim = this.#claims[one.claim % Math.max(1, this.#claims.length)];
    if (claim === undefined) return;
    const owned = this.#model.owned(claim);
    const next = `s${one.amount % 3}`;
    const ref = `${claim.id}:${next}:${claim.attempt}`;
    const recorded = { now: this.#now, energy: [{ ref, amount: one.amount }] };
    if (one.do === 'renew') {
      expect(this.#queue.renew(claim, this.#now + LEASE_MS)).toBe(owned !== undefined);
      if (owned !== undefined) owned.leaseUntil = this.#now + LEASE_MS;
      return;
    }
    const outcome = {
      step: () => this.#queue.recordStep(claim, { ...recorded, next, progress: 1, message: '' }),
      complete: () => this.#queue.complete(claim, recorded),
      beginUndo: () => this.#queue.beginUndo(claim, { ...recorded, error: ERROR }),
      fail: () => this.#queue.fail(claim, { ...recorded, error: ERROR }),
      finishCancel: () => this.#queue.finishCancel(claim, recorded),
      release: () => this.#queue.release(claim, recorded),
    }[one.do]();
    if (owned === undefined) return expect(outcome).toBe('lost');
    if (owned.ending !== undefined && (one.do === 'step' || one.do === 'complete'))
      return expect(outcome).toBe('ending');
    expect(outcome).toBe('recorded');
    this.#model.spend(owned, ref, one.amount);
    if (one.do === 'step') Object.assign(owned, { step: next, losses: 0 });
    else if (one.do === 'beginUndo') {
      if (owned.ending === undefined) Object.assign(owned, { ending: 'fail', losses: 0 });
    } else if (one.do === 'release') owned.owner = undefined;
    else
      owned.state = ({ complete: 'completed', fail: 'failed', finishCancel: 'cancelled' } as const)[one.do];
  }

  compare(): void {
    const found = this.#queue
      .list()
      .map(({ requestId, state, energyConsumed }) => [requestId, state, Math.round(energyConsumed * 1_000)]);
    const { requests, isOpen, untaken } = this.#model;
    expect(found.toReversed()).toEqual(requests.map(({ id: of, state, energy }) => [of, state, energy]));
    expect(this.#queue.hasActiveWork()).toBe(requests.some(isOpen));
    const spent = requests.reduce((sum, { energy }) => sum + energy, 0);
    expect(Math.round(this.#taken) + untaken).toBe(spent);
  }
}

// requirement E1, E8
it('the queue does what its model does', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 30, maxLength: 120, size: 'max' }), async (actions) => {
      const database = await openStewardDatabase(':memory:');
      try {
        const pair = new Pair(new RequestQueue(database));
        for (const one of actions) {
          pair.apply(one);
          pair.compare();
        }
      } finally {
        database.close();
      }
    }),
    { numRuns: 150 },
  );
});
