/**
 * A memory budget for large JSON. Parsed values take up to twenty times the memory of their text, so only a limited
 * amount is held at a time, across all senders and callers. Further texts wait in turn, with a timeout.
 */
import { getHeapStatistics } from 'node:v8';

export interface MemoryLimits {
  /** Bytes of parsed values; a single one may exceed it. */
  readonly maxHeldBytes: number;
  /** Characters of waiting texts. */
  readonly maxWaitingCharacters: number;
  readonly waitMs: number;
}

/** A text to be parsed. */
export interface MemoryRequest {
  readonly length: number;
  /** The maximum that its value can take, in bytes. */
  readonly bytes: number;
  /** Its owner: waiting owners are served round-robin. */
  readonly owner: string;
}

interface QueuedReservation extends MemoryRequest {
  readonly resolve: (room: MemoryReservation | undefined) => void;
  readonly timer: NodeJS.Timeout;
}

const { heap_size_limit: HEAP } = getHeapStatistics();
const MIB = 1_024 * 1_024;

const DEFAULTS: MemoryLimits = {
  maxHeldBytes: Math.min(HEAP / 4, 512 * MIB),
  maxWaitingCharacters: Math.min(HEAP / 8, 256 * MIB),
  waitMs: 30_000,
};

export class MemoryBudget {
  readonly #limits: MemoryLimits;
  #heldBytes = 0;
  #queue: QueuedReservation[] = [];
  /** When each waiting owner was last admitted. */
  readonly #lastServed = new Map<string, number>();
  #servedCount = 0;

  constructor(limits: Partial<MemoryLimits> = {}) {
    this.#limits = { ...DEFAULTS, ...limits };
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Undefined if none is free in time, or if too much is waiting already: for this owner, or in total. */
  reserve(wish: MemoryRequest): Promise<MemoryReservation | undefined> {
    if (this.#queue.length === 0 && this.#fits(wish)) return Promise.resolve(this.#grant(wish));
    const lengthOf = (some: readonly QueuedReservation[]): number =>
      some.reduce((sum, { length }) => sum + length, 0);
    const own = lengthOf(this.#queue.filter(({ owner }) => owner === wish.owner));
    // Leave enough for the next one.
    const left = this.#limits.maxWaitingCharacters - lengthOf(this.#queue);
    if (own + wish.length > left) return Promise.resolve(undefined);
    return new Promise((reserve) => {
      const timer = setTimeout(() => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        reserve(undefined);
        this.#grantNext();
      }, this.#limits.waitMs).unref();
      const waiting: QueuedReservation = { ...wish, resolve: reserve, timer };
      this.#queue.push(waiting);
    });
  }

  /** For reservations only. */
  adjust(bytes: number): void {
    this.#heldBytes += bytes;
    if (bytes < 0) this.#grantNext();
  }

  #fits({ bytes }: MemoryRequest): boolean {
    return this.#heldBytes === 0 || this.#heldBytes + bytes <= this.#limits.maxHeldBytes;
  }

  #grant({ bytes }: MemoryRequest): MemoryReservation {
    this.#heldBytes += bytes;
    return new MemoryReservation(this, bytes);
  }

  /** Nothing overtakes the first in line: otherwise a large text would wait forever. */
  #grantNext(): void {
    for (let next = this.#nextInLine(); next !== undefined && this.#fits(next); next = this.#nextInLine()) {
      this.#queue.splice(this.#queue.indexOf(next), 1);
      clearTimeout(next.timer);
      this.#servedCount += 1;
      this.#lastServed.set(next.owner, this.#servedCount);
      next.resolve(this.#grant(next));
    }
    if (this.#queue.length === 0) this.#lastServed.clear();
  }

  #nextInLine(): QueuedReservation | undefined {
    const lastOf = ({ owner }: QueuedReservation): number => this.#lastServed.get(owner) ?? 0;
    return this.#queue.reduce<QueuedReservation | undefined>(
      (first, one) => (first === undefined || lastOf(one) < lastOf(first) ? one : first),
      undefined,
    );
  }
}

/** For all values in this process. */
export const memoryBudget = new MemoryBudget();

const reservations = new WeakMap<object, MemoryReservation>();
let hasReservations = false;

/**
 * The memory of one value, until it is released: by the owner of the value, or at the end of a turn in which it is
 * not claimed.
 */
export class MemoryReservation {
  readonly #budget: MemoryBudget;
  #bytes: number;
  #releaseTimer: NodeJS.Immediate | undefined;

  constructor(all: MemoryBudget, bytes: number) {
    this.#budget = all;
    this.#bytes = bytes;
  }

  /** It took less than estimated. */
  shrinkTo(bytes: number): void {
    const less = Math.max(this.#bytes - bytes, 0);
    this.#bytes -= less;
    this.#budget.adjust(-less);
  }

  /** The value is passed on; the receiver may claim its reservation before this turn ends. */
  attachTo(value: object): void {
    hasReservations = true;
    reservations.set(value, this);
    this.claim();
    this.#releaseTimer = setImmediate(() => this.release());
  }

  claim(): void {
    clearImmediate(this.#releaseTimer);
  }

  release(): void {
    this.claim();
    this.shrinkTo(0);
  }
}

/** The reservation of a value that was just passed on; the caller must release it. Usually there is none. */
export function claimReservation(value: object): MemoryReservation | undefined {
  const room = hasReservations ? reservations.get(value) : undefined;
  room?.claim();
  return room;
}

/** `to` is made from members of `from`, and takes over its reservation. */
export function shareReservation(from: object, to: object): void {
  const room = hasReservations ? reservations.get(from) : undefined;
  if (room !== undefined) reservations.set(to, room);
}

/** Processes a value that was just passed on, and passes the result on under the same reservation. */
export function withReservationOf<Result extends object>(
  value: object,
  work: () => Promise<Result> | Result,
): Promise<Result> | Result {
  const room = claimReservation(value);
  return room === undefined ? work() : runWithReservation(room, work);
}

async function runWithReservation<Result extends object>(
  room: MemoryReservation,
  work: () => Promise<Result> | Result,
): Promise<Result> {
  try {
    const result = await work();
    room.attachTo(result);
    return result;
  } catch (error) {
    room.release();
    throw error;
  }
}
